"""Moves drawn at random, of several kinds for each encoding; see `model.elementary_moves`.

How far a move reaches is drawn by its magnitude, so that short moves are as likely as long ones. Nothing but whole
numbers is computed: the same move on every machine.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from systola.jit.compile import inlined
from systola.jit.dispatch import dispatched, register_each
from systola.model.elementary_moves import EXCHANGE, FLIP, NO_MOVE, REASSIGN, ROTATE
from systola.model.encodings import Bits, Digits, Order
from systola.model.moves import value_of_rank
from systola.model.rng import below
from systola.simd.bits import lowest_one, segment_mask

_LONGEST_BLOCK = 3  # items of a rotation's shorter part, as in or-opt


@dispatched
def draw_move(space: Any, x: Any, kind: Any, r0: Any, r1: Any, r2: Any) -> Any:
    """A move of this kind from the stored solution x, by three random numbers of 32 bits; NO_MOVE if it gives none."""


@inlined
def _nothing() -> Any:
    return np.int64(NO_MOVE), np.int64(0), np.int64(0), np.int64(0)


@inlined
def _reach(number: Any, other: Any, most: Any) -> Any:
    """A number of 1..most: first its magnitude is drawn, then the number itself."""
    magnitudes = np.int64(1)
    while (np.int64(1) << (magnitudes - 1)) < most:
        magnitudes += 1
    return 1 + below(other, min(most, np.int64(1) << below(number, magnitudes)))


def _draw_in_order(space: Any, x: Any, kind: Any, r0: Any, r1: Any, r2: Any) -> Any:
    n = np.int64(space.n)
    if n < 2:
        return _nothing()
    # Of one number the upper bits say where, the lower ones how large the magnitude is.
    reach = _reach((r0 << np.uint64(16)) & np.uint64(0xFFFFFFFF), r1, n - 1)
    i = below(r0, n - reach)
    j = i + reach
    if kind != ROTATE:
        return np.int64(kind), i, j, np.int64(0)
    length = 1 + below(r2, min(reach, _LONGEST_BLOCK))
    # Either the first items go to the end or the last ones to the beginning.
    middle = i + length if r2 & np.uint64(1) else j + 1 - length
    return np.int64(kind), i, middle, j + 1


@inlined
def _next_bit(space: Any, x: Any, start: Any, wanted: Any) -> Any:
    """The first place from `start` on, around the end, whose bit is as wanted, 0 or 1; n if there is none."""
    n = np.int64(space.n)
    words = (n + 63) >> 6
    same = np.uint64(0) if wanted == 1 else ~np.uint64(0)
    word = start >> 6
    found = (x[word] ^ same) & segment_mask(word, start, n)
    for _ in range(words):
        if found != np.uint64(0):
            break
        word = word + 1 if word + 1 < words else np.int64(0)
        found = (x[word] ^ same) & segment_mask(word, np.int64(0), n)
    return (word << 6) + lowest_one(found) if found != np.uint64(0) else n


def _draw_in_bits(space: Any, x: Any, kind: Any, r0: Any, r1: Any, r2: Any) -> Any:
    n = np.int64(space.n)
    i = below(r0, n)
    if kind == FLIP:
        # Half of the flips are of a one: where ones are few, uniform draws would hardly ever remove any.
        if r2 & np.uint64(1):
            one = _next_bit(space, x, i, np.int64(1))
            i = one if one < n else i
        return np.int64(kind), i, np.int64(0), np.int64(0)
    one = _next_bit(space, x, i, np.int64(1))
    zero = _next_bit(space, x, below(r1, n), np.int64(0))
    if one == n or zero == n:
        return _nothing()
    return np.int64(kind), one, zero, np.int64(0)


def _draw_in_digits(space: Any, x: Any, kind: Any, r0: Any, r1: Any, r2: Any) -> Any:
    n = np.int64(space.n)
    i = below(r0, n)
    low, high, old = np.int64(space.low[i]), np.int64(space.high[i]), np.int64(x[i])
    if kind == EXCHANGE:
        j = below(r1, n)
        other = np.int64(x[j])
        fits = low <= other and other <= high and np.int64(space.low[j]) <= old and old <= np.int64(space.high[j])
        return (np.int64(kind), i, j, np.int64(0)) if fits and other != old else _nothing()
    if low == high:
        return _nothing()
    if kind == REASSIGN:
        return np.int64(kind), i, old, value_of_rank(below(r1, high - low), low, old)
    upwards = old == low or (old < high and (r2 & np.uint64(1)) != np.uint64(0))
    reach = _reach(r1, r2, high - old if upwards else old - low)
    return np.int64(kind), i, old, old + reach if upwards else old - reach


register_each("draw_move", {Order: _draw_in_order, Bits: _draw_in_bits, Digits: _draw_in_digits})
