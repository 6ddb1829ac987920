"""What intrinsics are built of: loops, variables, functions by name. Made with llvmlite alone, no part of Numba's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import ir


def is_for_gpu(builder: Any) -> bool:
    """Whether this code is for a GPU, not for a CPU."""
    return str(builder.module.triple).startswith("nvptx")


def function_named(builder: Any, kind: Any, name: str) -> Any:
    """The function of this name, declared if it is not yet."""
    known = builder.module.globals.get(name)
    return ir.Function(builder.module, kind, name) if known is None else known


def new_variable(builder: Any, kind: Any) -> Any:
    """A place for a value, however often the code around it is passed; zero in the beginning."""
    with builder.goto_entry_block():
        place = builder.alloca(kind)
        builder.store(ir.Constant(kind, None), place)
    return place


def variable_of(builder: Any, value: Any) -> Any:
    """A place for a value, with this one in it."""
    place = new_variable(builder, value.type)
    builder.store(value, place)
    return place


@contextmanager
def loop(builder: Any, first: Any, last: Any, step: int = 1) -> Iterator[Any]:
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
