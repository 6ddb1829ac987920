"""Private parts of Numba, as far as we use them, and who keeps kernels for us: what `jit.private` counts on."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, Protocol, TypeAlias

import numpy as np
from numba import types

Signature = tuple[types.Type, ...]  # of arguments
Key = tuple[Signature, tuple[str, ...]]
Argument: TypeAlias = "np.ndarray[Any, Any] | np.generic | float | tuple[Argument, ...]"  # of a kernel


class Dispatcher(Protocol):
    """What `njit` makes of a function: it compiles itself for the types that it is called with."""

    _cache: Any
    overloads: dict[Signature, Any]
    targetctx: Target
    compile: Callable[[Signature], Any]

    def __call__(self, *arguments: Any) -> Any: ...

    def get_overload(self, sig: Signature) -> Any: ...


class OverloadTemplate(Protocol):
    """A helper, as Numba resolves calls of it."""

    context: Any
    _impl_cache: dict[Any, Any]

    def _build_impl(self, cache_key: tuple[Any, ...], args: Signature, kws: dict[str, types.Type]) -> Any: ...


class Codegen(Protocol):
    _loopvect: bool
    _opt_level: int

    def magic_tuple(self) -> tuple[str, ...]: ...

    def _module_pass_manager(self, **options: Any) -> Any: ...


class Target(Protocol):
    """The processor that is compiled for."""

    def refresh(self) -> None: ...

    def codegen(self) -> Codegen: ...


class Module(Protocol):
    def get_function(self, name: str) -> Any: ...


class CodeLibrary(Protocol):
    """The machine code of a function, finished or not."""

    has_dynamic_globals: bool
    _codegen: Codegen
    _final_module: Module
    _finalized: bool
    _for_linking_only: bool  # ours

    def _finalize_dynamic_globals(self) -> None: ...

    def _verify_declare_only_symbols(self) -> None: ...


class Compiled(Protocol):
    library: CodeLibrary
    target_context: Target

    def _reduce(self) -> Any: ...


class Description(Protocol):
    """A function, as Numba names it in machine code."""

    qualname: str
    llvm_cpython_wrapper_name: str

    def lookup_module(self) -> ModuleType: ...


class Environment(Protocol):
    """The constants of a compiled function."""

    consts: list[Any]


class Keeper(Protocol):
    """Who keeps the kernels made of one function. A key is a signature and a description of the processor."""

    def load(self, key: Key, rebuild: Callable[[Any], Any]) -> Any:
        """What `rebuild` makes of what was kept under this key, or None."""

    def has(self, key: Key) -> bool:
        """Whether something was kept under this key."""

    def save(self, key: Key, dump: Callable[[], bytes]) -> None:
        """Keep what `dump` returns, a pickle of the key and of what `rebuild` needs."""

    def refuse(self) -> None:
        """Nothing can be kept with this version of Numba."""
