"""Digests of code and of data, so that an edit is noticed wherever it was made."""

from __future__ import annotations

import enum
import hashlib
import sys
from collections.abc import Callable, Mapping, Sequence
from types import CodeType, FunctionType, ModuleType
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

# What code may reach: data, functions, classes; whatever else a global name stands for counts by its type.
Reached: TypeAlias = (
    "NDArray[Any] | np.generic | complex | str | bytes | Sequence[Reached] | Mapping[Any, Reached] | type | "
    "Callable[..., Any] | None"
)


class _State(Protocol):
    """What a digest is computed with."""

    def update(self, data: bytes, /) -> None: ...


def digest_of_data(*values: Reached) -> str:
    """Digest of arrays, numbers, strings, None and (nested) tuples, lists and dicts of them."""
    state = hashlib.sha256()
    _feed_value(state, values, {})
    return state.hexdigest()[:16]


def digest_of_functions(functions: dict[str, FunctionType]) -> tuple[str, list[FunctionType]]:
    """Digest of what these functions do, with the helpers and constants that they reach; and the plain helpers."""
    state = hashlib.sha256()
    seen: dict[int, FunctionType] = {}
    for name in sorted(functions):
        state.update(name.encode())
        _feed_function(state, functions[name], seen)
    own = {id(f) for f in functions.values()}
    return state.hexdigest()[:12], [f for key, f in seen.items() if key not in own]


def _feed_function(state: _State, function: FunctionType, seen: dict[int, FunctionType]) -> None:
    if id(function) in seen:
        return
    if (function.__module__ or "").partition(".")[0] == "systola":
        # The name of the cache folder covers our own sources.
        state.update(f"{function.__module__}.{function.__qualname__}".encode())
        return
    seen[id(function)] = function
    # Compiled code remembers its module, so the same text in another module is another function.
    state.update(str(function.__module__).encode())
    _feed_code(state, function.__code__, function.__globals__, seen)
    _feed_value(state, function.__defaults__, seen)
    for cell in function.__closure__ or ():
        _feed_value(state, cell.cell_contents, seen)


def _feed_code(state: _State, code: CodeType, names: dict[str, Any], seen: dict[int, FunctionType]) -> None:
    state.update(code.co_code)
    state.update(repr((code.co_names, code.co_varnames)).encode())
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            _feed_code(state, constant, names, seen)
        else:
            state.update(repr(constant).encode())
    for name in code.co_names:
        if name not in names:
            continue
        value = names[name]
        state.update(name.encode())
        if isinstance(value, ModuleType):
            _feed_module(state, value, code.co_names, seen)
        else:
            _feed_value(state, value, seen)


def _feed_module(state: _State, module: ModuleType, names: tuple[str, ...], seen: dict[int, FunctionType]) -> None:
    """What code that says `module.helper`, or `package.module.helper`, reaches: its names that the module has."""
    if not _is_own(module):
        return
    for name in names:
        found = getattr(module, name, None)
        if isinstance(found, ModuleType):
            if found.__name__.startswith(f"{module.__name__}."):
                _feed_module(state, found, names, seen)
        elif found is not None:
            _feed_value(state, found, seen)


def _is_own(module: ModuleType) -> bool:
    root = module.__name__.split(".")[0]
    return root not in sys.stdlib_module_names and root not in {"numpy", "numba", "scipy", "systola"}


def _feed_value(state: _State, value: Reached, seen: dict[int, FunctionType]) -> None:
    function = getattr(value, "py_func", value)  # a jitted helper counts as the function it was made from
    if isinstance(function, FunctionType):
        _feed_function(state, function, seen)
    elif isinstance(value, np.ndarray):
        state.update(f"{value.dtype}{value.shape}".encode())
        state.update(np.ascontiguousarray(value).tobytes())
    elif isinstance(value, (tuple, list)):
        state.update(f"{type(value).__name__}{len(value)}".encode())
        for item in value:
            _feed_value(state, item, seen)
    elif isinstance(value, type) and issubclass(value, enum.Enum):
        _feed_value(state, {name: member.value for name, member in value.__members__.items()}, seen)
    elif isinstance(value, dict):
        state.update(f"dict{len(value)}".encode())
        for key in value:
            state.update(repr(key).encode())
            _feed_value(state, value[key], seen)
    elif isinstance(value, (bool, int, float, complex, str, bytes, np.generic, type(None))):
        state.update(f"{type(value).__name__}{value!r}".encode())
    else:
        state.update(f"{type(value).__module__}.{type(value).__qualname__}".encode())
