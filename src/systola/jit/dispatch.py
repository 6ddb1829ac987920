"""Verbs choose their body by the type of their first argument, a record; for a step, by the type of its problem.

A verb is called alike in plain Python, in a kernel for the CPU and in a kernel for CUDA. Interpreted, it looks its
body up in a table; compiled, Numba's `overload` asks the same table at compile time, so that a call costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from numba import types
from numba.extending import overload, register_jitable

from systola.errors import InputError
from systola.jit.digest import digest_of_functions
from systola.jit.private import CALLED, COUNTING, INLINED

Body = Callable[..., Any]
F = TypeVar("F", bound=Body)

_bodies: dict[tuple[str, str], Body] = {}
_BY_PROBLEM = "problem"  # a field that only the record of a step has: what it does goes by the problem's type


_helpers: dict[Body, str] = {}


def admit_helpers(helpers: Iterable[Any]) -> None:
    """Let kernels call these plain functions, which users' methods and operators call; they need no decorator.

    Numba compiles a function once in a process. One whose constants have changed since would go on with the old ones.
    """
    for helper in helpers:
        digest, _ = digest_of_functions({helper.__name__: helper})
        if helper not in _helpers:
            _helpers[helper] = digest
            register_jitable(helper)
        elif _helpers[helper] != digest:
            raise InputError(
                f"a constant that {helper.__name__}() uses has changed since it was compiled; run its definition again"
            )


def give_body(verb: str, record: Any, body: Body) -> None:
    """Say what `verb` does for records of this type."""
    _bodies[verb, record.__name__] = body


def body_of(verb: str, record: Any) -> Body:
    """The body of `verb` for this record, or for the problem of a step; a TypeError names what is missing."""
    name = type(getattr(record, _BY_PROBLEM, record)).__name__
    try:
        return _bodies[verb, name]
    except KeyError:
        raise TypeError(f"{name} has no {verb}") from None


def has_body(verb: str, record: Any) -> bool:
    """Whether `verb` means anything for records of this type."""
    return (verb, record.__name__) in _bodies


def verb(call: F) -> F:
    """Make a plain function that calls `body_of` a verb that compiled code can call, too: inlined, no allocation."""
    return _make_verb(call, INLINED)


def large_verb(call: F) -> F:
    """A verb whose bodies take their time, so that a call is nothing beside it; inlined wherever it is called, it would
    be compiled as often."""
    return _make_verb(call, CALLED)


def objective_verb(call: F) -> F:
    """A verb whose bodies are users' code: may allocate, and a division by zero raises as in Python."""
    return _make_verb(call, {"error_model": "python", **COUNTING})


def _make_verb(call: F, options: dict[str, Any]) -> F:
    name = call.__name__

    def choose(first: Any, *rest: Any) -> Body | None:
        if not isinstance(first, types.BaseNamedTuple):
            return None
        if _BY_PROBLEM in first.fields:
            first = first.types[first.fields.index(_BY_PROBLEM)]
        return _bodies.get((name, first.instance_class.__name__))

    overload(call, strict=False, jit_options=options)(choose)
    return call
