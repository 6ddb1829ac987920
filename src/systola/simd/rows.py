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
from numba.extending import intrinsic, lower_builtin, overload, type_callable

from systola.jit.compile import inlined
from systola.jit.emit import Context, function_named, loop, new_variable, variable_of
from systola.jit.private import INLINED
from systola.simd.bits import lowest_one

VECTOR_WIDTH = 16
_LINE = ir.VectorType(ir.IntType(32), VECTOR_WIDTH)
_WHOLE = (types.int32, types.int64)


@inlined
def padded(length: int) -> int:
    """The next whole number of vectors."""
    return -(-length // VECTOR_WIDTH) * VECTOR_WIDTH


def narrow(value: Any, like: Any) -> Any:
    """A whole number as wide as those of an array: compiled code computes with 64 bits, which halves its vectors."""
    return like.dtype.type(value)


@overload(narrow, strict=False)  # type: ignore[untyped-decorator]
def _narrow(value: Any, like: Any) -> Any:
    if like.dtype == types.int32:
        return lambda value, like: np.int32(value)
    return lambda value, like: np.int64(value)


@inlined
def unsigned(place: Any) -> Any:
    """The same place in an array. Of a signed one compiled code asks, at every access, whether it counts from the end,
    which takes as long as simple loops themselves."""
    return np.uint64(place)


def part(array: Any, at: Any, length: Any) -> Any:
    """The numbers array[at], ..., array[at + length - 1], where they are: all of them must exist.

    Compiled, that is a place and a length, without a look at bounds, and does not keep the array alive.
    """
    return array[at : at + length]


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


def largest_allowed(total: Any, low: Any, one: Any, two: Any, now: Any, floor: Any) -> Any:
    """The largest total[k], k >= low, of those where one[k] or two[k] is below `now`, or which are above `floor`, a
    number that total could hold; the least there is if there are none. Lines have whole vectors of room."""
    found = least(total)
    for k in range(low, total.shape[0]):
        value = total[k]
        if (one[k] < now or two[k] < now or value > floor) and value > found:
            found = value
    return found


def least(total: Any) -> Any:
    """The least number that an array can hold."""
    return np.iinfo(total.dtype).min


@overload(least, strict=False)  # type: ignore[untyped-decorator]
def _least(total: Any) -> Any:
    number = types.int32 if total.dtype == types.int32 else types.int64
    value = number.minval
    return lambda total: number(value)


def is_vector(total: types.Type) -> bool:
    """Whether Numba's type is that of 32-bit integers without gaps."""
    return isinstance(total, types.Array) and total.layout == "C" and total.dtype == types.int32


def is_list(array: types.Type) -> bool:
    """Whether Numba's type is that of one line of integers without gaps."""
    return isinstance(array, types.Array) and array.layout == "C" and array.ndim == 1 and array.dtype in _WHOLE


def pointer(context: Context, builder: ir.IRBuilder, kind: types.Array, value: ir.Value, place: ir.Value) -> Any:
    """Where the vector begins that holds the number `place` of an array's data."""
    data = context.make_array(kind)(context, builder, value).data
    line = ir.VectorType(ir.IntType(kind.dtype.bitwidth), VECTOR_WIDTH)
    return builder.bitcast(builder.gep(data, [place]), line.as_pointer())


# By hand, since helpers that count no references must not return arrays.
@type_callable(part)  # type: ignore[untyped-decorator]
def _type_part(context: Any) -> Any:
    return lambda array, at, length: array if isinstance(array, types.Array) and array.ndim == 1 else None


@lower_builtin(part, types.Array, types.Integer, types.Integer)  # type: ignore[untyped-decorator]
def _build_part(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    at, length = (context.cast(builder, args[k], signature.args[k], types.int64) for k in (1, 2))
    made = context.make_array(signature.args[0])(context, builder, args[0])
    if signature.args[0].layout == "C":
        made.data = builder.gep(made.data, [at])
    else:
        offset = builder.mul(at, builder.extract_value(made.strides, 0))
        first = builder.gep(builder.bitcast(made.data, ir.IntType(8).as_pointer()), [offset])
        made.data = builder.bitcast(first, made.data.type)
    made.nitems = length
    made.shape = builder.insert_value(made.shape, length, 0)
    for owner in ("meminfo", "parent"):
        setattr(made, owner, ir.Constant(getattr(made, owner).type, None))
    return made._getvalue()


def _largest(builder: ir.IRBuilder, line: ir.Value, other: ir.Value) -> Any:
    return builder.select(builder.icmp_signed(">", line, other), line, other)


@contextmanager
def _while_not(builder: ir.IRBuilder, variable: ir.Value, end: ir.Value) -> Iterator[None]:
    """Repeat what is built inside until a variable has the value `end`."""
    test, body, after = (builder.append_basic_block(name) for name in ("while.test", "while.body", "while.end"))
    builder.branch(test)
    builder.position_at_end(test)
    builder.cbranch(builder.icmp_unsigned("!=", builder.load(variable), end), body, after)
    builder.position_at_end(body)
    yield
    builder.branch(test)
    builder.position_at_end(after)


def spread(builder: ir.IRBuilder, number: ir.Value) -> Any:
    """A vector that is this number in every place."""
    line = ir.VectorType(number.type, VECTOR_WIDTH)
    one = builder.insert_element(ir.Constant(line, ir.Undefined), number, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(one, one, ir.Constant(_LINE, [0] * VECTOR_WIDTH))


def _reduce(builder: ir.IRBuilder, line: ir.Value) -> Any:
    number = line.type.element
    name = f"llvm.vector.reduce.smax.v{VECTOR_WIDTH}{number.intrinsic_name}"
    function = function_named(builder, ir.FunctionType(number, [line.type]), name)
    return builder.call(function, [line])


@intrinsic  # type: ignore[untyped-decorator]
def _add_vectors(typing: Any, total: Any, lines: Any, i: Any, factor: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        total, lines, i, factor = args
        size = context.make_array(signature.args[0])(context, builder, total).nitems
        factors = spread(builder, factor)
        first = builder.mul(i, size)
        with loop(builder, 0, size, VECTOR_WIDTH) as k:
            at = pointer(context, builder, signature.args[0], total, k)
            line = builder.load(pointer(context, builder, signature.args[1], lines, builder.add(first, k)), align=4)
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
        rest = new_variable(builder, marked.type)
        sum_ = new_variable(builder, _LINE)
        with loop(builder, 0, size, VECTOR_WIDTH) as k:
            # One vector of the total at a time, so that it stays in a register while lines are added.
            builder.store(marked, rest)
            builder.store(ir.Constant(_LINE, [0] * VECTOR_WIDTH), sum_)
            with _while_not(builder, rest, zero):
                word = builder.load(rest)
                i = builder.add(first, builder.cttz(word, ir.Constant(ir.IntType(1), True)))
                place = builder.add(builder.mul(i, size), k)
                line = builder.load(pointer(context, builder, signature.args[1], lines, place), align=4)
                builder.store(builder.add(builder.load(sum_), line), sum_)
                builder.store(builder.and_(word, builder.sub(word, ir.Constant(word.type, 1))), rest)
            at = pointer(context, builder, signature.args[0], total, k)
            added = builder.mul(builder.load(sum_), spread(builder, factor))
            builder.store(builder.add(builder.load(at, align=4), added), at, align=4)
        return context.get_dummy_value()

    return types.void(total, lines, types.int64, types.uint64, types.int32), generate


@intrinsic  # type: ignore[untyped-decorator]
def _largest_of_vectors(typing: Any, total: Any, lines: Any, i: Any) -> Any:
    with_line = lines != types.none

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        total, lines, i = args
        size = context.make_array(signature.args[0])(context, builder, total).nitems
        most = variable_of(builder, ir.Constant(_LINE, [0] * VECTOR_WIDTH))
        first = builder.mul(i, size)
        with loop(builder, 0, size, VECTOR_WIDTH) as k:
            line = builder.load(pointer(context, builder, signature.args[0], total, k), align=4)
            if with_line:
                place = pointer(context, builder, signature.args[1], lines, builder.add(first, k))
                line = builder.add(line, builder.load(place, align=4))
            builder.store(_largest(builder, line, builder.load(most)), most)
        return _reduce(builder, builder.load(most))

    return types.int32(total, lines, types.int64), generate


@intrinsic  # type: ignore[untyped-decorator]
def _largest_of_allowed(typing: Any, total: Any, low: Any, one: Any, two: Any, now: Any, floor: Any) -> Any:
    kind = total.dtype

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        total, low, one, two, now, floor = args
        high = context.make_array(signature.args[0])(context, builder, total).nitems

        def read(array: Any, of: int, place: Any) -> Any:
            at = pointer(context, builder, signature.args[of], array, place)
            return builder.load(at, align=signature.args[of].dtype.bitwidth // 8)

        line = ir.VectorType(ir.IntType(kind.bitwidth), VECTOR_WIDTH)
        none = ir.Constant(line, [kind.minval] * VECTOR_WIDTH)
        most = variable_of(builder, none)
        moments, floors = spread(builder, now), spread(builder, floor)
        lows, highs = (spread(builder, builder.trunc(v, ir.IntType(32))) for v in (low, high))
        start = builder.and_(low, ir.Constant(low.type, -VECTOR_WIDTH))
        with loop(builder, start, high, VECTOR_WIDTH) as k:
            value = read(total, 0, k)
            free = builder.or_(
                builder.icmp_signed("<", read(one, 2, k), moments),
                builder.icmp_signed("<", read(two, 3, k), moments),
            )
            free = builder.or_(free, builder.icmp_signed(">", value, floors))
            places = builder.add(
                spread(builder, builder.trunc(k, ir.IntType(32))), ir.Constant(_LINE, list(range(VECTOR_WIDTH)))
            )
            free = builder.and_(free, builder.icmp_signed(">=", places, lows))
            free = builder.and_(free, builder.icmp_signed("<", places, highs))
            value = builder.select(free, value, none)
            builder.store(_largest(builder, value, builder.load(most)), most)
        return _reduce(builder, builder.load(most))

    return kind(total, types.int64, one, two, types.int32, kind), generate


@overload(largest_allowed, strict=False, jit_options=INLINED)  # type: ignore[untyped-decorator]
def _compile_largest_allowed(total: Any, low: Any, one: Any, two: Any, now: Any, floor: Any) -> Any:
    if is_list(total) and is_list(one) and is_list(two) and one.dtype == two.dtype == types.int32:
        return lambda total, low, one, two, now, floor: _largest_of_allowed(
            total, low, one, two, np.int32(now), narrow(floor, total)
        )
    return largest_allowed


@overload(add_line, strict=False, jit_options=INLINED)  # type: ignore[untyped-decorator]
def _compile_add_line(total: Any, lines: Any, i: Any, factor: Any) -> Any:
    if is_vector(total) and is_vector(lines):
        return lambda total, lines, i, factor: _add_vectors(total, lines, np.int64(i), np.int32(factor))
    return add_line


@overload(add_marked, strict=False, jit_options=INLINED)  # type: ignore[untyped-decorator]
def _compile_add_marked(total: Any, lines: Any, first: Any, marked: Any, factor: Any) -> Any:
    if is_vector(total) and is_vector(lines):
        return lambda total, lines, first, marked, factor: _add_marked_vectors(
            total, lines, np.int64(first), np.uint64(marked), np.int32(factor)
        )
    return add_marked


@overload(largest, strict=False, jit_options=INLINED)  # type: ignore[untyped-decorator]
def _compile_largest(total: Any) -> Any:
    if is_vector(total):
        return lambda total: _largest_of_vectors(total, None, np.int64(0))
    return largest


@overload(largest_with, strict=False, jit_options=INLINED)  # type: ignore[untyped-decorator]
def _compile_largest_with(total: Any, lines: Any, i: Any) -> Any:
    if is_vector(total) and is_vector(lines):
        return lambda total, lines, i: _largest_of_vectors(total, lines, np.int64(i))
    return largest_with
