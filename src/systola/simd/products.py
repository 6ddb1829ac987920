"""Products of lines of integers, added to another line in vector instructions.

As in `rows`: compiled for a CPU these are vectors, anywhere else the plain loops below. All lines may be parts of one
array, where the total lies apart from the others.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from systola.jit.emit import function_named, loop
from systola.jit.private import INLINED
from systola.simd.rows import VECTOR_WIDTH, is_list, is_vector, narrow, pointer, spread

_COUNTS = ir.VectorType(ir.IntType(32), VECTOR_WIDTH)


def add_products(total: Any, a: Any, one: Any, b: Any, two: Any, sign: Any) -> None:
    """Add sign * (a - one[k]) * (b - two[k]) to total[k], for each k of total, a whole number of vectors."""
    for k in range(total.shape[0]):
        product = (np.int64(a) - np.int64(one[k])) * (np.int64(b) - np.int64(two[k]))
        total[k] = narrow(np.int64(total[k]) + sign * product, total)


def add_gathered(total: Any, a: Any, one: Any, b: Any, two: Any, x: Any, sign: Any) -> None:
    """Add sign * (a - one[k]) * (b - two[x[k]]) to total[k], for each k of x.

    `total` and `one` have whole vectors of room; what comes after the numbers asked for is of no account.
    """
    for k in range(x.shape[0]):
        product = (np.int64(a) - np.int64(one[k])) * (np.int64(b) - np.int64(two[x[k]]))
        total[k] = narrow(np.int64(total[k]) + sign * product, total)


@intrinsic  # type: ignore[untyped-decorator]
def _add_product_vectors(typing: Any, total: Any, a: Any, one: Any, b: Any, two: Any, sign: Any) -> Any:
    kind = total.dtype
    size = kind.bitwidth // 8

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        total, a, one, b, two, sign = args
        length = context.make_array(signature.args[0])(context, builder, total).nitems
        wide = ir.VectorType(ir.IntType(kind.bitwidth), VECTOR_WIDTH)
        minuends = spread(builder, builder.mul(a, sign)), spread(builder, b)
        signs = spread(builder, sign)

        def read(array: Any, of: Any, place: Any) -> Any:
            line = builder.load(pointer(context, builder, of, array, place), align=of.dtype.bitwidth // 8)
            if of.dtype.bitwidth > kind.bitwidth:
                return builder.trunc(line, wide)  # sums are right wherever they fit
            return builder.sext(line, wide)

        with loop(builder, 0, length, VECTOR_WIDTH) as k:
            first = builder.mul(signs, read(one, signature.args[2], k))
            second = read(two, signature.args[4], k)
            product = builder.mul(builder.sub(minuends[0], first), builder.sub(minuends[1], second))
            place = pointer(context, builder, signature.args[0], total, k)
            builder.store(builder.add(builder.load(place, align=size), product), place, align=size)
        return context.get_dummy_value()

    return types.void(total, kind, one, kind, two, kind), generate


@intrinsic  # type: ignore[untyped-decorator]
def _add_gathered_vectors(typing: Any, total: Any, a: Any, one: Any, b: Any, two: Any, x: Any, sign: Any) -> Any:
    kind = total.dtype

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        total, a, one, b, two, x, sign = args
        of = signature.args
        wide = ir.VectorType(ir.IntType(kind.bitwidth), VECTOR_WIDTH)
        minuends = spread(builder, builder.mul(a, sign)), spread(builder, b)
        signs = spread(builder, sign)

        def fit(line: Any) -> Any:
            return builder.trunc(line, wide) if line.type.element.width > kind.bitwidth else builder.sext(line, wide)

        number = context.make_array(of[5])(context, builder, x).nitems
        table = context.make_array(of[4])(context, builder, two).data
        start = spread(builder, builder.ptrtoint(table, ir.IntType(64)))
        cell = table.type.pointee
        name = f"llvm.masked.gather.v{VECTOR_WIDTH}{cell.intrinsic_name}.v{VECTOR_WIDTH}p0"
        looked_up = ir.VectorType(cell, VECTOR_WIDTH)
        places = ir.VectorType(cell.as_pointer(), VECTOR_WIDTH)
        mask = ir.VectorType(ir.IntType(1), VECTOR_WIDTH)
        signature_ = ir.FunctionType(looked_up, [places, ir.IntType(32), mask, looked_up])
        gather = function_named(builder, signature_, name)
        numbers = spread(builder, builder.trunc(number, ir.IntType(32)))
        none = ir.Constant(looked_up, [0] * VECTOR_WIDTH)
        with loop(builder, 0, number, VECTOR_WIDTH) as k:
            counted = builder.add(
                spread(builder, builder.trunc(k, ir.IntType(32))), ir.Constant(_COUNTS, list(range(VECTOR_WIDTH)))
            )
            wanted = builder.icmp_signed("<", counted, numbers)
            index = builder.load(pointer(context, builder, of[5], x, k), align=4)
            # Places as numbers: llvmlite has no vector of indices.
            address = ir.VectorType(ir.IntType(64), VECTOR_WIDTH)
            offset = builder.mul(builder.sext(index, address), ir.Constant(address, [cell.width // 8] * VECTOR_WIDTH))
            index = builder.inttoptr(builder.add(start, offset), places)
            found = builder.call(gather, [index, ir.Constant(ir.IntType(32), cell.width // 8), wanted, none])
            line = builder.load(pointer(context, builder, of[2], one, k), align=of[2].dtype.bitwidth // 8)
            product = builder.mul(
                builder.sub(minuends[0], builder.mul(signs, fit(line))), builder.sub(minuends[1], fit(found))
            )
            place = pointer(context, builder, of[0], total, k)
            size = kind.bitwidth // 8
            builder.store(builder.add(builder.load(place, align=size), product), place, align=size)
        return context.get_dummy_value()

    return types.void(total, kind, one, kind, two, x, kind), generate


@overload(add_products, strict=False, jit_options=INLINED)  # type: ignore[untyped-decorator]
def _compile_add_products(total: Any, a: Any, one: Any, b: Any, two: Any, sign: Any) -> Any:
    if is_list(total) and is_list(one) and is_list(two):
        return lambda total, a, one, b, two, sign: _add_product_vectors(
            total, narrow(a, total), one, narrow(b, total), two, narrow(sign, total)
        )
    return add_products


@overload(add_gathered, strict=False, jit_options=INLINED)  # type: ignore[untyped-decorator]
def _compile_add_gathered(total: Any, a: Any, one: Any, b: Any, two: Any, x: Any, sign: Any) -> Any:
    if is_list(total) and is_list(one) and is_list(two) and is_vector(x):
        return lambda total, a, one, b, two, x, sign: _add_gathered_vectors(
            total, narrow(a, total), one, narrow(b, total), two, x, narrow(sign, total)
        )
    return add_gathered
