"""One stored solution, decision by decision: the same calls for bits, integers and permutations.

Integers and permutations are arrays, and may be indexed as such; bits are packed, 64 in a word.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from systola.jit.compile import inlined
from systola.jit.dispatch import body_of, give_body, verb
from systola.model.encodings import Bits, Digits, Order
from systola.model.rng import below, numbers
from systola.simd.bits import segment_mask


@verb
def get(space: Any, x: Any, i: Any) -> Any:
    """Decision i."""
    return body_of("get", space)(space, x, i)


@verb
def put(space: Any, x: Any, i: Any, value: Any) -> Any:
    """Set decision i."""
    return body_of("put", space)(space, x, i, value)


@verb
def graft(space: Any, x: Any, source: Any, first: Any, last: Any) -> Any:
    """Copy the decisions first <= i < last of `source` into x."""
    return body_of("graft", space)(space, x, source, first, last)


@verb
def mingle(space: Any, one: Any, two: Any, child: Any, sibling: Any, key: Any) -> Any:
    """Each decision of `child` from `one` or `two` by the toss of a coin, that of `sibling` from the other."""
    return body_of("mingle", space)(space, one, two, child, sibling, key)


@verb
def redraw(space: Any, x: Any, i: Any, number: Any) -> Any:
    """Set decision i to another of its values, by a random number; to its only one if it has no other."""
    return body_of("redraw", space)(space, x, i, number)


@inlined
def copy(x: Any, source: Any) -> None:
    """All of a stored solution."""
    for k in range(x.shape[0]):
        x[k] = source[k]


def _get_bit(space: Any, x: Any, i: Any) -> Any:
    return np.int64((x[i >> 6] >> np.uint64(i & 63)) & np.uint64(1))


def _put_bit(space: Any, x: Any, i: Any, value: Any) -> None:
    place = np.uint64(i & 63)
    x[i >> 6] = (x[i >> 6] & ~(np.uint64(1) << place)) | (np.uint64(value) << place)


def _graft_bits(space: Any, x: Any, source: Any, first: Any, last: Any) -> None:
    for w in range(first >> 6, (last + 63) >> 6):
        mask = segment_mask(w, first, last)
        x[w] = (x[w] & ~mask) | (source[w] & mask)


def _mingle_bits(space: Any, one: Any, two: Any, child: Any, sibling: Any, key: Any) -> None:
    for w in range(child.shape[0]):
        r0, r1, _, _ = numbers(key, w)
        coins = r0 | (r1 << np.uint64(32))
        child[w] = (one[w] & coins) | (two[w] & ~coins)
        sibling[w] = (two[w] & coins) | (one[w] & ~coins)


def _redraw_bit(space: Any, x: Any, i: Any, number: Any) -> None:
    x[i >> 6] ^= np.uint64(1) << np.uint64(i & 63)


def _get_number(space: Any, x: Any, i: Any) -> Any:
    return np.int64(x[i])


def _put_number(space: Any, x: Any, i: Any, value: Any) -> None:
    x[i] = value


def _graft_numbers(space: Any, x: Any, source: Any, first: Any, last: Any) -> None:
    for i in range(np.uint64(first), np.uint64(last)):  # unsigned, so that the copy is one of vectors
        x[i] = source[i]


def _mingle_numbers(space: Any, one: Any, two: Any, child: Any, sibling: Any, key: Any) -> None:
    coins = np.uint64(0)
    for i in range(space.n):
        if i & 31 == 0:
            coins, _, _, _ = numbers(key, i >> 5)
        first = (coins >> np.uint64(i & 31)) & np.uint64(1) == np.uint64(0)
        child[i] = one[i] if first else two[i]
        sibling[i] = two[i] if first else one[i]


def _redraw_number(space: Any, x: Any, i: Any, number: Any) -> None:
    others = np.int64(space.high[i]) - np.int64(space.low[i])
    if others > 0:
        value = np.int64(space.low[i]) + below(number, others)
        x[i] = value + 1 if value >= x[i] else value


for _name, _bits, _numbers in (
    ("get", _get_bit, _get_number),
    ("put", _put_bit, _put_number),
    ("graft", _graft_bits, _graft_numbers),
):
    give_body(_name, Bits, _bits)
    give_body(_name, Digits, _numbers)
    give_body(_name, Order, _numbers)
give_body("mingle", Bits, _mingle_bits)
give_body("mingle", Digits, _mingle_numbers)
give_body("redraw", Bits, _redraw_bit)
give_body("redraw", Digits, _redraw_number)
