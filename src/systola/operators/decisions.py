"""One stored solution, decision by decision: the same calls for bits, integers and permutations.

Integers and permutations are arrays, and may be indexed as such; bits are packed, 64 in a word.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from systola.jit.compile import inlined
from systola.jit.dispatch import Implementation, dispatched, register, register_each
from systola.model.encodings import Bits, Digits, Order
from systola.model.rng import below, numbers
from systola.simd.bits import segment_mask

FEW = 3  # of n decisions, up to n / 3 that differ are worth single moves


@dispatched
def get(space: Any, x: Any, i: Any) -> Any:
    """Decision i."""


@dispatched
def put(space: Any, x: Any, i: Any, value: Any) -> Any:
    """Set decision i."""


@dispatched
def put_nearest(space: Any, x: Any, i: Any, value: Any) -> Any:
    """Set decision i to a value that another decision had, or to the nearest one within its own bounds."""


@dispatched
def copy_segment(space: Any, x: Any, source: Any, first: Any, last: Any) -> Any:
    """Copy the decisions first <= i < last of `source` into x."""


@dispatched
def uniform_mix(space: Any, one: Any, two: Any, child: Any, sibling: Any, key: Any) -> Any:
    """Each decision of `child` from `one` or `two` by the toss of a coin, that of `sibling` from the other."""


@dispatched
def resample(space: Any, x: Any, i: Any, number: Any) -> Any:
    """Set decision i to another of its values, by a random number; to its only one if it has no other."""


@inlined
def count_differing(space: Any, x: Any, parent: Any, children: Any, child: Any) -> Any:
    """In how many decisions two solutions differ, of integers or permutations."""
    differing = np.int64(0)
    for i in range(space.n):
        differing += x[parent, i] != children[child, i]
    return differing


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


def _copy_segment_of_bits(space: Any, x: Any, source: Any, first: Any, last: Any) -> None:
    for w in range(first >> 6, (last + 63) >> 6):
        mask = segment_mask(w, first, last)
        x[w] = (x[w] & ~mask) | (source[w] & mask)


def _mix_bits(space: Any, one: Any, two: Any, child: Any, sibling: Any, key: Any) -> None:
    for w in range(child.shape[0]):
        r0, r1, _, _ = numbers(key, w)
        coins = r0 | (r1 << np.uint64(32))
        child[w] = (one[w] & coins) | (two[w] & ~coins)
        sibling[w] = (two[w] & coins) | (one[w] & ~coins)


def _resample_bit(space: Any, x: Any, i: Any, number: Any) -> None:
    x[i >> 6] ^= np.uint64(1) << np.uint64(i & 63)


def _get_number(space: Any, x: Any, i: Any) -> Any:
    return np.int64(x[i])


def _put_number(space: Any, x: Any, i: Any, value: Any) -> None:
    x[i] = value


def _put_within_bounds(space: Any, x: Any, i: Any, value: Any) -> None:
    x[i] = min(max(value, np.int64(space.low[i])), np.int64(space.high[i]))


def _copy_segment_of_numbers(space: Any, x: Any, source: Any, first: Any, last: Any) -> None:
    for i in range(np.uint64(first), np.uint64(last)):  # unsigned, so that the copy is one of vectors
        x[i] = source[i]


def _mix_numbers(space: Any, one: Any, two: Any, child: Any, sibling: Any, key: Any) -> None:
    coins = np.uint64(0)
    for i in range(space.n):
        if i & 31 == 0:
            coins, _, _, _ = numbers(key, i >> 5)
        first = (coins >> np.uint64(i & 31)) & np.uint64(1) == np.uint64(0)
        child[i] = one[i] if first else two[i]
        sibling[i] = two[i] if first else one[i]


def _resample_number(space: Any, x: Any, i: Any, number: Any) -> None:
    others = np.int64(space.high[i]) - np.int64(space.low[i])
    if others > 0:
        value = np.int64(space.low[i]) + below(number, others)
        x[i] = value + 1 if value >= x[i] else value


_OF_BITS_AND_NUMBERS: dict[str, tuple[Implementation, Implementation]] = {
    "get": (_get_bit, _get_number),
    "put": (_put_bit, _put_number),
    "copy_segment": (_copy_segment_of_bits, _copy_segment_of_numbers),
}
for _name, (_bits, _numbers) in _OF_BITS_AND_NUMBERS.items():
    register(_name, Bits, _bits)
    register(_name, Digits, _numbers)
    register(_name, Order, _numbers)
register_each("put_nearest", {Bits: _put_bit, Digits: _put_within_bounds, Order: _put_number})
register_each("uniform_mix", {Bits: _mix_bits, Digits: _mix_numbers})
register_each("resample", {Bits: _resample_bit, Digits: _resample_number})
