"""Lines of 32-bit integers, whole vectors long, added and compared in single instructions.

A compiler cannot know that a total and the line added to it lie apart in memory, so it would add number by number.
Compiled for a CPU these functions say it in vector instructions; anywhere else they are the plain loops below.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from systola.bits import lowest_one

VECTOR = 16
_LINE = ir.VectorType(ir.IntType(32), VECTOR)


def padded(length: int) -> int:
    """The next whole number of vectors."""
    return -(-length // VECTOR) * VECTOR


def add_line(total: Any, lines: Any, i: Any, factor: Any) -> None:
    """Add `factor` times lines[i] to total."""
    for k in range(total.shape[0]):
        total[k] = np.int32(total[k] + np.int32(factor) * lines[i, k])


def add_marked(total: Any, lines: Any, first: Any, marked: Any, factor: Any) -> None:
    """Add `factor` times lines[first + k] to total, for each one bit k of a word."""
    while marked != np.uint64(0):
        add_line(total, lines, first + lowest_one(marked), factor)
        marked &= marked - np.uint64(1)


def largest(total: Any) -> Any:
    """The largest number of total, or 0 if none is positive."""
    most = np.int32(0)
    for k in range(total.shape[0]):
        most = max(most, total[k])
    return most


def largest_with(total: Any, lines: Any, i: Any) -> Any:
    """`largest` of total plus lines[i]."""
    most = np.int32(0)
    for k in range(total.shape[0]):
        most = max(most, np.int32(total[k] + lines[i, k]))
    return most


def _is_vector(total: Any) -> bool:
    return isinstance(total, types.Array) and total.layout == "C" and total.dtype == types.int32


def _pointer(context: Any, builder: Any, kind: Any, value: Any, place: Any) -> Any:
    """Where the vector begins that holds the number `place` of an array's data."""
    data = context.make_array(kind)(context, builder, value).data
    return builder.bitcast(builder.gep(data, [place]), _LINE.as_pointer())


def _largest(builder: Any, line: Any, other: Any) -> Any:
    return builder.select(builder.icmp_signed(">", line, other), line, other)


@contextmanager
def _while_not(builder: Any, variable: Any, end: Any) -> Iterator[None]:
    """Repeat what is built inside until a variable has the value `end`."""
    test, body, after = (builder.append_basic_block(name) for name in ("while.test", "while.body", "while.end"))
    builder.branch(test)
    builder.position_at_end(test)
    builder.cbranch(builder.icmp_unsigned("!=", builder.load(variable), end), body, after)
    builder.position_at_end(body)
    yield
    builder.branch(test)
    builder.position_at_end(after)


def _spread(builder: Any, number: Any) -> Any:
    """A vector that is this number in every place."""
    one = builder.insert_element(ir.Constant(_LINE, ir.Undefined), number, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(one, one, ir.Constant(_LINE, [0] * VECTOR))


def _reduce(builder: Any, line: Any) -> Any:
    name = f"llvm.vector.reduce.smax.v{VECTOR}i32"
    function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(ir.IntType(32), [_LINE]), name)
    return builder.call(function, [line])


@intrinsic  # type: ignore[untyped-decorator]
def _add_vectors(typing: Any, total: Any, lines: Any, i: Any, factor: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        total, lines, i, factor = args
        size = context.make_array(signature.args[0])(context, builder, total).nitems
        factors = _spread(builder, factor)
        first = builder.mul(i, size)
        step = ir.Constant(size.type, VECTOR)
        with cgutils.for_range_slice(builder, ir.Constant(size.type, 0), size, step) as (k, _):
            at = _pointer(context, builder, signature.args[0], total, k)
            line = builder.load(_pointer(context, builder, signature.args[1], lines, builder.add(first, k)), align=4)
            sum_ = builder.add(builder.load(at, align=4), builder.mul(line, factors))
            builder.store(sum_, at, align=4)
        return context.get_dummy_value()

    return types.void(total, lines, types.int64, types.int32), generate


@intrinsic  # type: ignore[untyped-decorator]
def _add_marked_vectors(typing: Any, total: Any, lines: Any, first: Any, marked: Any, factor: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        total, lines, first, marked, factor = args
        size = context.make_array(signature.args[0])(context, builder, total).nitems
        zero = ir.Constant(marked.type, 0)
        rest = cgutils.alloca_once(builder, marked.type)
        sum_ = cgutils.alloca_once(builder, _LINE)
        step = ir.Constant(size.type, VECTOR)
        with cgutils.for_range_slice(builder, ir.Constant(size.type, 0), size, step) as (k, _):
            # One vector of the total at a time, so that it stays in a register while lines are added.
            builder.store(marked, rest)
            builder.store(ir.Constant(_LINE, [0] * VECTOR), sum_)
            with _while_not(builder, rest, zero):
                word = builder.load(rest)
                i = builder.add(first, builder.cttz(word, ir.Constant(ir.IntType(1), True)))
                place = builder.add(builder.mul(i, size), k)
                line = builder.load(_pointer(context, builder, signature.args[1], lines, place), align=4)
                builder.store(builder.add(builder.load(sum_), line), sum_)
                builder.store(builder.and_(word, builder.sub(word, ir.Constant(word.type, 1))), rest)
            at = _pointer(context, builder, signature.args[0], total, k)
            added = builder.mul(builder.load(sum_), _spread(builder, factor))
            builder.store(builder.add(builder.load(at, align=4), added), at, align=4)
        return context.get_dummy_value()

    return types.void(total, lines, types.int64, types.uint64, types.int32), generate


@intrinsic  # type: ignore[untyped-decorator]
def _largest_of_vectors(typing: Any, total: Any, lines: Any, i: Any) -> Any:
    with_line = lines != types.none

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        total, lines, i = args
        size = context.make_array(signature.args[0])(context, builder, total).nitems
        most = cgutils.alloca_once_value(builder, ir.Constant(_LINE, [0] * VECTOR))
        first = builder.mul(i, size)
        step = ir.Constant(size.type, VECTOR)
        with cgutils.for_range_slice(builder, ir.Constant(size.type, 0), size, step) as (k, _):
            line = builder.load(_pointer(context, builder, signature.args[0], total, k), align=4)
            if with_line:
                place = _pointer(context, builder, signature.args[1], lines, builder.add(first, k))
                line = builder.add(line, builder.load(place, align=4))
            builder.store(_largest(builder, line, builder.load(most)), most)
        return _reduce(builder, builder.load(most))

    return types.int32(total, lines, types.int64), generate


@overload(add_line, strict=False, jit_options={"forceinline": True, "_nrt": False})  # type: ignore[untyped-decorator]
def _compile_add_line(total: Any, lines: Any, i: Any, factor: Any) -> Any:
    if _is_vector(total) and _is_vector(lines):
        return lambda total, lines, i, factor: _add_vectors(total, lines, np.int64(i), np.int32(factor))
    return add_line


@overload(add_marked, strict=False, jit_options={"forceinline": True, "_nrt": False})  # type: ignore[untyped-decorator]
def _compile_add_marked(total: Any, lines: Any, first: Any, marked: Any, factor: Any) -> Any:
    if _is_vector(total) and _is_vector(lines):
        return lambda total, lines, first, marked, factor: _add_marked_vectors(
            total, lines, np.int64(first), np.uint64(marked), np.int32(factor)
        )
    return add_marked


@overload(largest, strict=False, jit_options={"forceinline": True, "_nrt": False})  # type: ignore[untyped-decorator]
def _compile_largest(total: Any) -> Any:
    if _is_vector(total):
        return lambda total: _largest_of_vectors(total, None, np.int64(0))
    return largest


@overload(largest_with, strict=False, jit_options={"forceinline": True, "_nrt": False})  # type: ignore[untyped-decorator]
def _compile_largest_with(total: Any, lines: Any, i: Any) -> Any:
    if _is_vector(total) and _is_vector(lines):
        return lambda total, lines, i: _largest_of_vectors(total, lines, np.int64(i))
    return largest_with
