"""What intrinsics are built of: loops, variables, functions by name. Made with llvmlite alone, no part of Numba's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from llvmlite import ir
from numba import types


class Context(Protocol):
    """What Numba knows of the code that is built."""

    def make_array(self, kind: types.Array) -> Any:
        """A class whose instances are views of arrays of this type: their data, shape and strides."""

    def get_constant(self, kind: types.Type, value: bool | int) -> ir.Constant:
        """A number of this type."""

    def get_dummy_value(self) -> ir.Value:
        """What a function without a value returns."""

    def get_value_type(self, kind: types.Type) -> ir.Type:
        """How values of this type are held."""

    def get_abi_sizeof(self, kind: ir.Type) -> int:
        """How many bytes such a value takes in memory."""

    @property
    def call_conv(self) -> Any:
        """How compiled functions call each other."""


def is_for_gpu(builder: ir.IRBuilder) -> bool:
    """Whether this code is for a GPU, not for a CPU."""
    return str(builder.module.triple).startswith("nvptx")


def function_named(builder: ir.IRBuilder, kind: ir.FunctionType, name: str) -> Any:
    """The function of this name, declared if it is not yet."""
    known = builder.module.globals.get(name)
    return ir.Function(builder.module, kind, name) if known is None else known


def new_variable(builder: ir.IRBuilder, kind: ir.Type) -> Any:
    """A place for a value, however often the code around it is passed; zero in the beginning."""
    with builder.goto_entry_block():
        place = builder.alloca(kind)
        builder.store(ir.Constant(kind, None), place)
    return place


def variable_of(builder: ir.IRBuilder, value: ir.Value) -> Any:
    """A place for a value, with this one in it."""
    place = new_variable(builder, value.type)
    builder.store(value, place)
    return place


@contextmanager
def loop(builder: ir.IRBuilder, first: ir.Value | int, last: ir.Value, step: int = 1) -> Iterator[Any]:
    """Repeat what is built inside for each number first, first + step, ... below last."""
    test, body, after = (builder.append_basic_block(name) for name in ("for.test", "for.body", "for.end"))
    before = builder.block
    builder.branch(test)
    builder.position_at_end(test)
    number = builder.phi(last.type)
    builder.cbranch(builder.icmp_signed("<", number, last), body, after)
    builder.position_at_end(body)
    yield number
    number.add_incoming(first if isinstance(first, ir.Value) else ir.Constant(last.type, first), before)
    number.add_incoming(builder.add(number, ir.Constant(last.type, step), flags=["nsw"]), builder.block)
    builder.branch(test)
    builder.position_at_end(after)
