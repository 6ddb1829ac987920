"""Massively multimodal deceptive problem (Goldberg, Deb, Horn 1992): k blocks of six bits, valued by their ones."""

from __future__ import annotations

from dataclasses import field
from typing import Any

import numpy as np

from systola.bits import bit, count_ones
from systola.encodings import Array, Binary
from systola.errors import InputError
from systola.kernel import inlined
from systola.problem import Problem

# Table 2 of Pedemonte, Luna, Alba 2014, in millionths.
BLOCK_VALUES = np.array([1_000_000, 0, 360_384, 640_576, 360_384, 0, 1_000_000], np.int32)
_STRIDE = 8  # blocks between two marks: 48 bits, at most two words
_MARK_BITS = 6 * _STRIDE
_PAIRS = np.array(
    [BLOCK_VALUES[int(p & 63).bit_count()] + BLOCK_VALUES[int(p >> 6).bit_count()] for p in range(4096)],
    np.int32,
)


@inlined
def _bits_from(x: Any, row: Any, first: Any) -> Any:
    """At least 48 bits of x[row] from position `first` on, as far as there are any."""
    w = first >> 6
    s = first & 63
    word = x[row, w] >> np.uint64(s)
    if s > 16 and w + 1 < x.shape[1]:
        word |= x[row, w + 1] << np.uint64(64 - s)
    return word


@inlined
def _value_below(pairs: Any, x: Any, row: Any, marks: Any, block: Any) -> Any:
    """Value of the blocks below `block`: the mark before it, then two blocks at a time."""
    k = block // _STRIDE
    value = np.int64(marks[row, k])
    rest = block - k * _STRIDE
    if rest:
        word = _bits_from(x, row, k * _MARK_BITS) & ((np.uint64(1) << np.uint64(6 * rest)) - np.uint64(1))
        # Blocks past the last wanted one read as zero ones and would count as 1, so they are taken off again.
        while rest > 0:
            value += pairs[np.int64(word & np.uint64(4095))]
            word >>= np.uint64(12)
            rest -= 2
        if rest < 0:
            value -= 1_000_000
    return value


@inlined
def _block(x: Any, row: Any, k: Any) -> Any:
    return _bits_from(x, row, 6 * k) & np.uint64(63)


@inlined
def _inside(k: Any, a: Any, b: Any) -> Any:
    """The bits of block k that lie in a <= position < b."""
    low = max(a - 6 * k, 0)
    high = min(b - 6 * k, 6)
    if high <= low:
        return np.uint64(0)
    return ((np.uint64(1) << np.uint64(high)) - np.uint64(1)) & ~((np.uint64(1) << np.uint64(low)) - np.uint64(1))


@inlined
def _cut(values: Any, x: Any, h: Any, v: Any, k: Any, a: Any, b: Any) -> Any:
    """Gain of each child in block k, which an end of the segment cuts, so that it mixes the parents."""
    bh = _block(x, h, k)
    bv = _block(x, v, k)
    swapped = (bh ^ bv) & _inside(k, a, b)
    if swapped == np.uint64(0):
        return np.int64(0), np.int64(0)
    return (
        np.int64(values[count_ones(bh ^ swapped)] - values[count_ones(bh)]),
        np.int64(values[count_ones(bv ^ swapped)] - values[count_ones(bv)]),
    )


@inlined
def _changes(values: Any, pairs: Any, x: Any, marks: Any, h: Any, v: Any, a: Any, b: Any, m: Any) -> Any:
    """What the children gain, by part.

    (lead of v before the first whole block, lead within the whole blocks, then for each child the gains of the
    blocks cut at a and at b, and of the flip of bit m).
    """
    first = (a + 5) // 6
    last = b // 6
    start = np.int64(0)
    lead = np.int64(0)
    if last >= first:
        start = _value_below(pairs, x, v, marks, first) - _value_below(pairs, x, h, marks, first)
        lead = _value_below(pairs, x, v, marks, last) - _value_below(pairs, x, h, marks, last) - start
    cut_ah = cut_av = cut_bh = cut_bv = np.int64(0)
    if a < 6 * first:
        cut_ah, cut_av = _cut(values, x, h, v, first - 1, a, b)
    if b > 6 * last and (last >= first):
        cut_bh, cut_bv = _cut(values, x, h, v, last, a, b)
    km = m // 6
    bh = _block(x, h, km)
    bv = _block(x, v, km)
    swapped = (bh ^ bv) & _inside(km, a, b)
    bh ^= swapped
    bv ^= swapped
    turned = np.uint64(1) << np.uint64(m - 6 * km)
    turn_h = np.int64(values[count_ones(bh ^ turned)] - values[count_ones(bh)])
    turn_v = np.int64(values[count_ones(bv ^ turned)] - values[count_ones(bv)])
    return start, lead, cut_ah, cut_av, cut_bh, cut_bv, turn_h, turn_v


class MMDP(Problem):
    """Deceptive blocks of six bits; the optimum, n / 6, is reached when each block is all zeros or all ones."""

    encoding = Binary("n")
    scale = 1_000_000
    n: int
    values: Array = field(init=False, repr=False)
    pairs: Array = field(init=False, repr=False)

    def check(self) -> None:
        if isinstance(self.n, bool) or not isinstance(self.n, int) or self.n < 6 or self.n % 6:
            raise InputError(f"the number of bits must be a positive multiple of 6, but got {self.n!r}")
        if self.n > 6 * 2000:
            raise InputError(f"at most 12000 bits fit the integer sums, but got {self.n}")
        self.derive(values=BLOCK_VALUES, pairs=_PAIRS)

    def evaluate(self, x):
        total = 0
        for k in range(self.n // 6):
            ones = 0
            for i in range(6 * k, 6 * k + 6):
                ones += x[i]
            total += self.values[ones]
        return total

    def flip(self, x, row, i, measures):
        ones = count_ones(_block(x, row, i // 6))
        measures[0] += self.values[ones + 1 - 2 * bit(x, row, i)] - self.values[ones]

    def marks(self) -> tuple[int, Any]:
        return self.n // 6 // _STRIDE + 1, np.int32

    def mark(self, x, row, marks):
        marks[row, 0] = 0
        for k in range(marks.shape[1] - 1):
            word = _bits_from(x, row, k * _MARK_BITS)
            value = np.int64(marks[row, k])
            for _ in range(_STRIDE // 2):
                value += self.pairs[np.int64(word & np.uint64(4095))]
                word >>= np.uint64(12)
            marks[row, k + 1] = value

    def cross(self, x, scores, marks, h, v, a, b, m, child_h, child_v):
        _, lead, cut_ah, cut_av, cut_bh, cut_bv, turn_h, turn_v = _changes(
            self.values, self.pairs, x, marks, h, v, a, b, m
        )
        child_h[0] = scores[h, 0] + lead + cut_ah + cut_bh + turn_h
        child_v[0] = scores[v, 0] - lead + cut_av + cut_bv + turn_v

    def remark(self, x, marks, h, v, a, b, m, keep_h, keep_v):
        start, lead, cut_ah, cut_av, cut_bh, cut_bv, turn_h, turn_v = _changes(
            self.values, self.pairs, x, marks, h, v, a, b, m
        )
        for k in range(min(a, m) // _MARK_BITS + 1, marks.shape[1]):
            at = k * _MARK_BITS
            change_h = np.int64(0)
            change_v = np.int64(0)
            if at >= b:
                change_h = lead + cut_ah + cut_bh
                change_v = cut_av + cut_bv - lead
            elif at > a:
                ahead = marks[v, k] - marks[h, k] - start
                change_h = ahead + cut_ah
                change_v = cut_av - ahead
            if at > m:
                change_h += turn_h
                change_v += turn_v
            if keep_h:
                marks[h, k] += change_h
            if keep_v:
                marks[v, k] += change_v
