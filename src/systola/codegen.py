"""Machine code for kernels only.

Numba optimises every function that a kernel calls, with all that this one calls in turn, and makes machine code of it,
though it is the kernel, with all of them linked into it and optimised once more, that runs. While one of our kernels is
compiled, functions without a wrapper for Python, which nothing but compiled code can call, are only made smaller and
left so for linking. That saves a third of the time or so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from numba.core.codegen import CPUCodeLibrary
from numba.core.cpu import CPUContext, CPUTargetOptions
from numba.core.errors import NumbaError, UnsupportedError
from numba.core.options import TargetOptions

try:
    from numba import _dynfunc
except ImportError:
    _dynfunc = None

from systola.errors import SystolaError

_kernels_under_way = 0


@contextmanager
def _kernel() -> Iterator[None]:
    global _kernels_under_way
    _kernels_under_way += 1  # under Numba's own lock
    try:
        yield
    finally:
        _kernels_under_way -= 1


def spare_machine_code(dispatcher: Any) -> None:
    """Compile what this dispatcher calls for linking only. Whatever cannot be compiled is a NumbaError then."""
    compile_all: Callable[..., Any] = dispatcher._compiler.compile

    def compile_sparingly(args: Any, return_type: Any) -> Any:
        try:
            with _kernel():
                return compile_all(args, return_type)
        except (NumbaError, SystolaError):
            raise
        except Exception as error:  # Numba's assertions, its errors about bytecode and about what was left undone
            raise UnsupportedError(f"{error}") from error

    dispatcher._compiler.compile = compile_sparingly


def _has(module: Any, name: str) -> bool:
    try:
        module.get_function(name)
    except NameError:
        return False
    return True


def _is_for_linking_only(library: Any) -> bool:
    return getattr(library, "_for_linking_only", False)


_get_executable = CPUContext.get_executable
_finalize_final_module = CPUCodeLibrary._finalize_final_module
_optimize_final_module = CPUCodeLibrary._optimize_final_module


def _get_executable_sparingly(self: Any, library: Any, fndesc: Any, env: Any) -> Any:
    if not _kernels_under_way or _has(library._final_module, fndesc.llvm_cpython_wrapper_name):
        return _get_executable(self, library, fndesc, env)
    library._for_linking_only = True
    name = fndesc.qualname.split(".")[-1]
    return _dynfunc.make_function(fndesc.lookup_module(), name, f"compiled wrapper for {name!r}", 0, env, (library,))


def _optimize_sparingly(self: Any) -> None:
    if not _is_for_linking_only(self):
        _optimize_final_module(self)
        return
    codegen = self._codegen  # the first of the two rounds that Numba makes
    passes, builder = codegen._module_pass_manager(
        loop_vectorize=codegen._loopvect, slp_vectorize=False, opt=codegen._opt_level, cost="cheap"
    )
    passes.run(self._final_module, builder)


def _finalize_sparingly(self: Any) -> None:
    if not _is_for_linking_only(self):
        _finalize_final_module(self)
        return
    self._finalize_dynamic_globals()
    self._verify_declare_only_symbols()
    self._finalized = True


CPUTargetOptions.noalias = TargetOptions.Mapping("noalias")
if _dynfunc is not None:
    CPUContext.get_executable = _get_executable_sparingly
    CPUCodeLibrary._optimize_final_module = _optimize_sparingly
    CPUCodeLibrary._finalize_final_module = _finalize_sparingly
