"""Compiled functions: kernels, which are kept on disk, and the helpers that they call."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

import numba
from numba.extending import register_jitable

from systola.cache import KernelCache
from systola.codegen import spare_machine_code

F = TypeVar("F", bound=Callable[..., Any])


def inlined(function: F) -> F:
    """For helpers that kernels call: plain Python when interpreted, inlined without reference counts when compiled."""
    made: F = register_jitable(forceinline=True, _nrt=False)(function)
    return made


def called(function: F) -> F:
    """As `inlined`, but for helpers so large that a call is nothing beside them: compiled once, not at every call."""
    made: F = register_jitable(_nrt=False)(function)
    return made


def kernel(*, parallel: bool = False) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function on its first call, without the GIL, and keep the result on disk."""

    def compile_lazily(function: Callable[..., Any]) -> Any:
        # Numba compiles parallel loops with NumPy's errors; whatever is around them with Python's compiles all twice.
        dispatcher = numba.njit(parallel=parallel, nogil=True, error_model="numpy")(function)
        if not numba.config.DISABLE_JIT:
            dispatcher._cache = KernelCache(function)
            spare_machine_code(dispatcher)
        return dispatcher

    return compile_lazily


_lost = False


def _look_at_threads() -> None:
    global _lost
    with suppress(ValueError):  # no threads were started before the fork: this process can start its own
        _lost = numba.threading_layer() == "omp" and sys.platform == "linux"


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_look_at_threads)


def threads_are_lost() -> bool:
    """Whether a parallel kernel would end this process: GNU OpenMP does so where it was forked with threads."""
    return _lost
