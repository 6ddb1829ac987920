"""Atomic operations on arrays of int64, and giving way to others: what threads meet by in compiled code.

Interpreted there is one thread, and all of this is plain arithmetic. Tried on Linux and x86-64; other systems and
processors by design only.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from systola.jit.emit import Context, function_named, is_for_gpu

# What tells a processor that this is a loop which waits; nothing for those not listed.
_PAUSES: dict[str, tuple[str, list[int]]] = {
    **dict.fromkeys(("x86_64", "AMD64"), ("llvm.x86.sse2.pause", [])),
    **dict.fromkeys(("aarch64", "arm64"), ("llvm.aarch64.hint", [1])),
}
_GIVE_WAY = types.ExternalFunction("SwitchToThread" if sys.platform == "win32" else "sched_yield", types.int32())


def _pointer(context: Context, builder: ir.IRBuilder, array_type: types.Array, array: ir.Value, index: ir.Value) -> Any:
    return builder.gep(context.make_array(array_type)(context, builder, array).data, [index])


@intrinsic  # type: ignore[untyped-decorator]
def _load(typing: Any, array: Any, index: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load_atomic(_pointer(context, builder, signature.args[0], *args), "acquire", 8)

    return types.int64(array, types.intp), generate


@intrinsic  # type: ignore[untyped-decorator]
def _peek(typing: Any, array: Any, index: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _pointer(context, builder, signature.args[0], *args)
        if is_for_gpu(builder):
            return builder.load(pointer)  # nobody writes to it while a kernel runs there
        return builder.load_atomic(pointer, "monotonic", 8)

    return types.int64(array, types.intp), generate


@intrinsic  # type: ignore[untyped-decorator]
def _store(typing: Any, array: Any, index: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _pointer(context, builder, signature.args[0], *args[:2])
        builder.store_atomic(args[2], pointer, "release", 8)
        return context.get_dummy_value()

    return types.none(array, types.intp, types.int64), generate


@intrinsic  # type: ignore[untyped-decorator]
def _fetch_add(typing: Any, array: Any, index: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _pointer(context, builder, signature.args[0], *args[:2])
        return builder.atomic_rmw("add", pointer, args[2], "seq_cst")

    return types.int64(array, types.intp, types.int64), generate


@intrinsic  # type: ignore[untyped-decorator]
def _pause(typing: Any) -> Any:
    def generate(context: Any, builder: Any, _: Any, args: Any) -> Any:
        if platform.machine() in _PAUSES:
            name, numbers = _PAUSES[platform.machine()]
            word = ir.IntType(32)
            signature = ir.FunctionType(ir.VoidType(), [word] * len(numbers))
            function = function_named(builder, signature, name)
            builder.call(function, [word(number) for number in numbers])
        return context.get_dummy_value()

    return types.none(), generate


def load(array: Any, index: Any) -> Any:
    """array[index], read anew each time: whatever its writer wrote before it can be seen then."""
    return array[index]


def peek(array: Any, index: Any) -> Any:
    """array[index], read anew each time, and nothing said of what else was written: cheaper in a loop than `load`."""
    return array[index]


def store(array: Any, index: Any, value: Any) -> None:
    """Set array[index]; who reads it by `load` sees all that was written before."""
    array[index] = value


def fetch_add(array: Any, index: Any, value: Any) -> Any:
    """Add to array[index]; its value before."""
    before = array[index]
    array[index] += value
    return before


def pause() -> None:
    """Wait a few cycles."""


def give_way() -> None:
    """Let another thread have this core, if one wants it."""


@overload(load, strict=False)  # type: ignore[untyped-decorator]
def _load_compiled(array: Any, index: Any) -> Callable[..., Any]:
    return lambda array, index: _load(array, index)


@overload(peek, strict=False)  # type: ignore[untyped-decorator]
def _peek_compiled(array: Any, index: Any) -> Callable[..., Any]:
    return lambda array, index: _peek(array, index)


@overload(store, strict=False)  # type: ignore[untyped-decorator]
def _store_compiled(array: Any, index: Any, value: Any) -> Callable[..., Any]:
    return lambda array, index, value: _store(array, index, value)


@overload(fetch_add, strict=False)  # type: ignore[untyped-decorator]
def _fetch_add_compiled(array: Any, index: Any, value: Any) -> Callable[..., Any]:
    return lambda array, index, value: _fetch_add(array, index, value)


@overload(pause)  # type: ignore[untyped-decorator]
def _pause_compiled() -> Callable[..., Any]:
    return lambda: _pause()


@overload(give_way)  # type: ignore[untyped-decorator]
def _give_way_compiled() -> Callable[..., Any]:
    def give_way_compiled() -> None:
        _GIVE_WAY()

    return give_way_compiled
