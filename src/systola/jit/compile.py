"""Compiled functions: kernels, which are kept on disk, and the helpers that they call."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, NamedTuple, TypeVar, cast

import numba
from numba.extending import register_jitable

from systola.jit.cache import KernelCache
from systola.jit.private import CALLED, COUNTING, INLINED, UNALIASED, is_at_hand, kind_of, prepare
from systola.jit.shapes import Dispatcher

F = TypeVar("F", bound=Callable[..., Any])


def inlined(function: F) -> F:
    """For helpers that kernels call: plain Python when interpreted, inlined without reference counts when compiled."""
    return _helper(function, INLINED)


def called(function: F) -> F:
    """As `inlined`, but for helpers so large that a call is nothing beside them: compiled once, not at every call."""
    return _helper(function, CALLED)


def unaliased(function: F) -> F:
    """As `called`, but no two of its arrays share memory, or none is written; the compiler may count on that."""
    return _helper(function, UNALIASED)


def _helper(function: F, options: dict[str, bool]) -> F:
    made: F = register_jitable(**options)(function) if options else register_jitable(function)
    return made


def kernel(function: Callable[..., Any], *, counting: bool = True) -> Any:
    """Compile a function on its first call, without the GIL, and keep the result on disk.

    Without `counting` references it must make no arrays, only records of those that it was given: helpers, which do
    not count either, may return such a record then.
    """
    dispatcher = numba.njit(nogil=True, error_model="numpy", **(COUNTING if counting else CALLED))(function)
    if not numba.config.DISABLE_JIT:
        prepare(dispatcher, KernelCache(cast("FunctionType", function)))
    return dispatcher


class Call(NamedTuple):
    """A kernel, and arguments of the types that it is compiled for."""

    kernel: Dispatcher
    arguments: tuple[Any, ...]


def compile_for(call: Call) -> None:
    """Compile a kernel, or load it from disk, without calling it."""
    call.kernel.compile(tuple(numba.typeof(argument) for argument in call.arguments))


_compiled: set[tuple[Dispatcher, Any]] = set()  # many runs have arguments of the same kinds, and a look takes its time


def key_of(call: Call) -> tuple[Dispatcher, Any]:
    """Equal for calls that the same compiled code serves."""
    return call.kernel, kind_of(call.arguments)


def is_compiled(call: Call) -> bool:
    """Whether a kernel was compiled before, and is loaded or on disk."""
    key = key_of(call)
    if key not in _compiled and is_at_hand(call.kernel, tuple(numba.typeof(argument) for argument in call.arguments)):
        _compiled.add(key)
    return key in _compiled
