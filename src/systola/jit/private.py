"""The one place with private parts of Numba: what its documentation does not promise.

Any release may change them. So each is looked up and compared with what is expected, and where one is missing or of
another shape, the slower public way is taken, with the same numbers:

- Helpers for linking only. Numba makes machine code of every function that a kernel calls, though it is the kernel,
  with all of them linked into it and optimised once more, that runs. While one of our kernels is compiled, functions
  that only compiled code can call are made smaller and left so for linking: a third less time. Else that is done, too.
- One implementation of a helper for all callers. Numba compiles one for each set of flags that callers have, though
  those of ours depend on two of these only. Else some are compiled twice.
- Options of helpers: inlined always, no reference counts, arrays that share no memory. Else they do without.
- A cache of our own. Else compiled kernels are not kept.
- What compiled code needs, without what the compiler needs. Else starts with compiled kernels take longer.
- Calling what was compiled without looking types up. Else Numba looks them up at every call.
- Addresses of what was compiled. Else kernels are compiled anew for each problem of a user's.
- Pickling users' functions as they are. Else no other process compiles kernels beside ours.
"""

from __future__ import annotations

import inspect
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import types
from numba.core.errors import NumbaError, UnsupportedError

from systola.errors import SystolaError
from systola.jit.garbage import collection_paused
from systola.jit.shapes import (
    Argument,
    CodeLibrary,
    Compiled,
    Description,
    Dispatcher,
    Environment,
    Keeper,
    Module,
    OverloadTemplate,
    Signature,
    Target,
)


def _find(module: str, name: str) -> Any:
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError):
        return None


def _takes(function: Callable[..., Any] | None, *parameters: str) -> bool:
    """Whether this is a function with just these parameters."""
    if function is None:
        return False
    try:
        return tuple(inspect.signature(function).parameters) == parameters
    except (TypeError, ValueError):
        return False


@cache  # `compiled_for` asks for each kernel of each deme
def _has_method(owner: type | None, name: str, *parameters: str) -> bool:
    return _takes(getattr(owner, name, None), "self", *parameters)


_CompileResult = _find("numba.core.compiler", "CompileResult")
_Context = _find("numba.core.cpu", "CPUContext")
_Flags = _find("numba.core.compiler", "Flags")
_Library = _find("numba.core.codegen", "CPUCodeLibrary")
_Mapping: Any = getattr(_find("numba.core.options", "TargetOptions"), "Mapping", None)
_NullCache = _find("numba.core.caching", "NullCache")
_Options = _find("numba.core.cpu", "CPUTargetOptions")
_cloudpickle = _find("numba", "cloudpickle")
_dumps = _find("numba.core.serialize", "dumps")
_make_function = _find("numba._dynfunc", "make_function")
_runtime = _find("numba.core.runtime", "rtsys")
_Runtime: Any = type(_runtime)


# Options of helpers


def _known(**wanted: bool) -> dict[str, bool]:
    return {name: value for name, value in wanted.items() if hasattr(_Options, name)}


if _Options is not None and _has_method(_Mapping, "__init__", "flag_name", "apply") and hasattr(_Flags, "noalias"):
    _Options.noalias = _Mapping("noalias")  # a flag of the compiler that no option sets

# For `register_jitable`, for the `jit_options` of `overload`, and for `njit`. What is called must say that it is not
# inlined: else Numba inlines it wherever its caller is.
# Nothing outside of compiled code, such as C, calls them.
COUNTING = _known(_nrt=True, no_cfunc_wrapper=True)  # references are counted
CALLED = _known(forceinline=False, _nrt=False, no_cfunc_wrapper=True)
INLINED = _known(forceinline=True, _nrt=False, no_cfunc_wrapper=True)
UNALIASED = _known(forceinline=False, noalias=True, _nrt=False, no_cfunc_wrapper=True)


# One implementation of a helper

_Stack = _find("numba.core.targetconfig", "ConfigStack")
_Template = _find("numba.core.typing.templates", "_OverloadFunctionTemplate")
_get_impl = getattr(_Template, "_get_impl", None)


def _get_impl_for_all(self: OverloadTemplate, args: Signature, kws: dict[str, types.Type]) -> Any:
    assert _get_impl is not None
    flags = _Stack.top_or_none()
    if type(flags) is not _Flags or "forceinline" not in getattr(self, "_jit_options", ()):
        return _get_impl(self, args, kws)
    # Whether it is inlined and counts references is its own affair; this is what it has from its caller.
    key = self.context, tuple(args), tuple(kws.items()), flags.error_model, str(flags.fastmath)
    return self._impl_cache[key] if key in self._impl_cache else self._build_impl(key, args, kws)


_IS_SHARED = (
    _has_method(_Template, "_get_impl", "args", "kws")
    and _has_method(_Template, "_build_impl", "cache_key", "args", "kws")
    and hasattr(_Stack, "top_or_none")
    and all(hasattr(_Flags, name) for name in ("error_model", "fastmath", "forceinline"))
)
if _IS_SHARED:
    _Template._get_impl = _get_impl_for_all


# Kernels


def prepare(dispatcher: Dispatcher, keeper: Keeper) -> None:
    """Keep what it compiles, and compile what it calls for linking only. What cannot be compiled is a NumbaError."""
    is_kept = _IS_KEPT and isinstance(getattr(dispatcher, "_cache", None), _NullCache)
    if is_kept:
        dispatcher._cache = _Cache(keeper)
    compile_all: Callable[[Any], Any] = dispatcher.compile

    def compile_sparingly(signature: Signature) -> Any:
        if not is_kept:
            keeper.refuse()
        try:
            with _kernel(), collection_paused():
                return compile_all(signature)
        except (NumbaError, SystolaError):
            raise
        except Exception as error:  # Numba's assertions, its errors about bytecode and about what was left undone
            raise UnsupportedError(f"{error}") from error

    dispatcher.compile = compile_sparingly


_found: dict[Any, Any] = {}  # what was compiled, by dispatcher and kinds of arguments


def compiled_for(dispatcher: Dispatcher, arguments: tuple[Any, ...]) -> Any:
    """What was compiled for such arguments, to be called with no others; or the dispatcher, which looks at them."""
    if not _has_method(type(dispatcher), "get_overload", "sig"):
        return dispatcher
    key = dispatcher, kind_of(arguments)  # many demes have arguments of the same kinds, and Numba's look takes its time
    if key not in _found:
        _found[key] = dispatcher.get_overload(tuple(numba.typeof(argument) for argument in arguments))
    return _found[key]


_Convention = _find("numba.core.callconv", "CPUCallConv")
_IS_CALLED_BY_ADDRESS = (
    _has_method(_find("numba.core.codegen", "JITCodeLibrary"), "get_pointer_to_function", "name")
    and _has_method(_Convention, "get_function_type", "restype", "argtypes")
    and _has_method(_Convention, "call_function", "builder", "callee", "resty", "argtys", "args", "attrs")
    and _has_method(_Convention, "return_status_propagate", "builder", "status")
    and _has_method(_Context, "get_abi_sizeof", "ty")
    and _has_method(_Context, "get_value_type", "ty")
    and all(hasattr(_CompileResult, part) for part in ("fndesc", "library", "signature"))
)


class Entry(NamedTuple):
    """Where compiled code begins in memory, and what it returns; nowhere if there is none."""

    address: int = 0
    result: types.Type | None = None


def entry_of(dispatcher: Dispatcher, arguments: tuple[Any, ...]) -> Entry | None:
    """Of what was compiled for such arguments; None if it cannot be told.

    It is to be called as Numba's functions call each other, as long as the dispatcher lives.
    """
    overloads: dict[Signature, Any] = getattr(dispatcher, "overloads", {})
    found = overloads.get(tuple(numba.typeof(argument) for argument in arguments))
    if found is None or not _IS_CALLED_BY_ADDRESS or not hasattr(found.fndesc, "llvm_func_name"):
        return None
    address = found.library.get_pointer_to_function(found.fndesc.llvm_func_name)
    return Entry(address, found.signature.return_type) if address else None


def kind_of(value: Argument) -> Any:
    """Equal for values of the same type as Numba sees them."""
    if isinstance(value, tuple):
        return type(value), *map(kind_of, value)
    if isinstance(value, np.ndarray):
        flags = value.flags
        return value.dtype, value.ndim, flags.c_contiguous, flags.f_contiguous, flags.writeable, flags.aligned
    return type(value)


# The cache

_IS_KEPT = (
    _has_method(_NullCache, "load_overload", "sig", "target_context")
    and _has_method(_NullCache, "save_overload", "sig", "cres")
    and _has_method(_CompileResult, "_reduce")
    and hasattr(_CompileResult, "_rebuild")
    and _has_method(_Context, "refresh")
    and _has_method(_Context, "codegen")
    and _has_method(_find("numba.core.codegen", "CPUCodegen"), "magic_tuple")
    and hasattr(_Library, "has_dynamic_globals")
    and _takes(_dumps, "obj")
)


def _get_ready_to_load(target: Target) -> None:
    """What compiled code needs of Numba. What the compiler needs beside that takes a quarter of a second to import."""
    if _has_method(_Runtime, "initialize", "ctx"):
        _runtime.initialize(target)
    else:
        target.refresh()


class _Cache(_NullCache if _IS_KEPT else object):  # type: ignore[misc]
    """Numba's dispatchers ask it for what was compiled."""

    def __init__(self, keeper: Keeper) -> None:
        self._keeper = keeper

    def load_overload(self, sig: Signature, target_context: Target) -> Any:
        _get_ready_to_load(target_context)
        key = (sig, target_context.codegen().magic_tuple())
        return self._keeper.load(key, lambda payload: _CompileResult._rebuild(target_context, *payload))

    def has_overload(self, sig: Signature, target_context: Target) -> bool:
        return self._keeper.has((sig, target_context.codegen().magic_tuple()))

    def save_overload(self, sig: Signature, cres: Compiled) -> None:
        if cres.library.has_dynamic_globals:
            return  # it holds addresses of this process
        key = (sig, cres.target_context.codegen().magic_tuple())
        self._keeper.save(key, lambda: _dumps((key, cres._reduce())))


def is_at_hand(dispatcher: Dispatcher, signature: Signature) -> bool:
    """Whether this was compiled before, and is loaded or kept; False also where that cannot be told."""
    cache = getattr(dispatcher, "_cache", None)
    loaded = signature in getattr(dispatcher, "overloads", ())
    return loaded or (isinstance(cache, _Cache) and cache.has_overload(signature, dispatcher.targetctx))


def pickle_by_value(value: tuple[Any, ...], modules: set[str]) -> bytes:
    """A pickle in which what these modules define is contained, not named: others need not import them."""
    with ExitStack() as registered:
        for module in (sys.modules[name] for name in modules - {"__main__"} if name in sys.modules):
            _cloudpickle.register_pickle_by_value(module)
            registered.callback(_cloudpickle.unregister_pickle_by_value, module)
        made: bytes = _dumps(value)
    return made


# Helpers for linking only

_under_way = threading.local()


@contextmanager
def _kernel() -> Iterator[None]:
    _under_way.kernels = getattr(_under_way, "kernels", 0) + 1
    try:
        yield
    finally:
        _under_way.kernels -= 1


def _has(module: Module, name: str) -> bool:
    try:
        module.get_function(name)
    except NameError:
        return False
    return True


def _is_for_linking_only(library: CodeLibrary) -> bool:
    return getattr(library, "_for_linking_only", False)


_get_executable = getattr(_Context, "get_executable", None)
_finalize_final_module = getattr(_Library, "_finalize_final_module", None)
_optimize_final_module = getattr(_Library, "_optimize_final_module", None)


def _get_executable_sparingly(self: Target, library: CodeLibrary, fndesc: Description, env: Environment) -> Any:
    assert _get_executable is not None
    if not getattr(_under_way, "kernels", 0):
        return _get_executable(self, library, fndesc, env)
    try:
        # What comes from the cache is finished.
        if library._finalized or _has(library._final_module, fndesc.llvm_cpython_wrapper_name):
            return _get_executable(self, library, fndesc, env)
        name = fndesc.qualname.split(".")[-1]
        made = _make_function(fndesc.lookup_module(), name, f"compiled wrapper for {name!r}", 0, env, (library,))
    except (AttributeError, TypeError):
        return _get_executable(self, library, fndesc, env)
    library._for_linking_only = True
    return made


def _optimize_sparingly(self: CodeLibrary) -> None:
    assert _optimize_final_module is not None
    if not _is_for_linking_only(self):
        _optimize_final_module(self)
        return
    try:
        codegen = self._codegen  # the first of the two rounds that Numba makes
        passes, builder = codegen._module_pass_manager(
            loop_vectorize=codegen._loopvect, slp_vectorize=False, opt=codegen._opt_level, cost="cheap"
        )
        passes.run(self._final_module, builder)
    except (AttributeError, TypeError, ValueError):
        _optimize_final_module(self)


def _finalize_sparingly(self: CodeLibrary) -> None:
    assert _finalize_final_module is not None
    if not _is_for_linking_only(self):
        _finalize_final_module(self)
        return
    self._finalize_dynamic_globals()
    self._verify_declare_only_symbols()
    self._finalized = True


_IS_SPARING = (
    _make_function is not None
    and _has_method(_Context, "get_executable", "library", "fndesc", "env")
    and _has_method(_Library, "_optimize_final_module")
    and _has_method(_Library, "_finalize_final_module")
    and _has_method(_Library, "_finalize_dynamic_globals")
    and _has_method(_Library, "_verify_declare_only_symbols")
)
if _IS_SPARING:
    _Context.get_executable = _get_executable_sparingly
    _Library._optimize_final_module = _optimize_sparingly
    _Library._finalize_final_module = _finalize_sparingly
