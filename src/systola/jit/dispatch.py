"""Functions dispatched on the type of their first argument, a record; for a step, on the type of its problem.

They are called alike in plain Python, in a kernel for the CPU and in a kernel for CUDA. Interpreted, a call looks its
implementation up in a table; compiled, Numba's `overload` asks the same table at compile time: a call costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import Any, TypeVar, cast

from numba import types
from numba.extending import overload, register_jitable

from systola.errors import InputError
from systola.jit.digest import digest_of_functions
from systola.jit.private import CALLED, COUNTING, INLINED
from systola.jit.records import Record, RecordType

Implementation = Callable[..., Any]
F = TypeVar("F", bound=Implementation)

_implementations: dict[tuple[str, str], Implementation] = {}
_BY_PROBLEM = "problem"  # a field that only the record of a step has: what it does goes by the problem's type


_helpers: dict[Implementation, str] = {}


def register_helpers(helpers: Iterable[Any], small: bool = False) -> None:
    """Let kernels call these plain functions, which users' methods and operators call; they need no decorator.

    Small ones are inlined, and must not allocate.

    Numba compiles a function once in a process. One whose constants have changed since would go on with the old ones.
    """
    for helper in helpers:
        digest, _ = digest_of_functions({helper.__name__: helper})
        if helper not in _helpers:
            _helpers[helper] = digest
            options = INLINED if small else {}
            register_jitable(**options)(helper) if options else register_jitable(helper)
        elif _helpers[helper] != digest:
            raise InputError(
                f"a constant that {helper.__name__}() uses has changed since it was compiled; run its definition again"
            )


def register(function: str, record: RecordType, implementation: Implementation) -> None:
    """Say what the dispatched function of this name does for records of this type."""
    _implementations[function, record.__name__] = implementation


def register_each(function: str, implementations: Mapping[RecordType, Implementation]) -> None:
    """Say what the dispatched function of this name does for records of each of these types."""
    for record, implementation in implementations.items():
        register(function, record, implementation)


def implementation_of(function: str, record: Record) -> Implementation:
    """What a dispatched function does for this record, or for a step's problem; a TypeError names what is missing."""
    name = type(getattr(record, _BY_PROBLEM, record)).__name__
    try:
        return _implementations[function, name]
    except KeyError:
        raise TypeError(f"{name} has no {function}") from None


def has_implementation(function: str, record: RecordType) -> bool:
    """Whether a dispatched function is implemented for records of this type."""
    return (function, record.__name__) in _implementations


def dispatched(declared: F) -> F:
    """Dispatch a function that is declared by its name, arguments and docstring; inlined, no allocation."""
    return _dispatch(declared, INLINED)


def dispatched_call(declared: F) -> F:
    """As `dispatched`, but not inlined: for implementations so long that a call is nothing beside them, and that would
    be compiled once for each place that calls them."""
    return _dispatch(declared, CALLED)


def dispatched_objective(declared: F) -> F:
    """As `dispatched`, for users' code: it may allocate, and a division by zero raises as in Python."""
    return _dispatch(declared, {"error_model": "python", **COUNTING})


def dispatched_small(declared: F) -> F:
    """As `dispatched_objective`, for small functions of users that kernels call very often: they must not allocate."""
    return _dispatch(declared, {"error_model": "python", **INLINED})


def _dispatch(declared: F, options: dict[str, Any]) -> F:
    name = declared.__name__

    @wraps(declared)
    def interpreted(first: Record, *rest: Any) -> Any:
        return implementation_of(name, first)(first, *rest)

    def choose(first: types.Type, *rest: Any) -> Implementation | None:
        if not isinstance(first, types.BaseNamedTuple):
            return None
        if _BY_PROBLEM in first.fields:
            first = first.types[first.fields.index(_BY_PROBLEM)]
        return _implementations.get((name, first.instance_class.__name__))

    overload(interpreted, strict=False, jit_options=options)(choose)
    return cast("F", interpreted)
