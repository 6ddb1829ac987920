"""Massively multimodal deceptive problem (Goldberg, Deb, Horn 1992): blocks of six bits, valued by their ones.

Prefix sums are the values of the blocks before every eighth block. Between two of them lie 48 bits, a *window*, whose
blocks are valued all at once: the ones of each block are counted side by side in the fields of one word.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any

import numpy as np

from systola.errors import InputError
from systola.jit.compile import inlined
from systola.model.capabilities import Buffer, Flips, Segments
from systola.model.drawing import Drawing
from systola.model.encodings import Array, Binary
from systola.model.problem import Problem
from systola.problems.drawings import draw_blocks
from systola.simd.bits import bit, count_ones, ones_below

# Table 2 of Pedemonte, Luna, Alba 2014, in millionths: by the number of ones.
_UNIFORM, _MIDDLE, _BESIDE = 1_000_000, 640_576, 360_384
BLOCK_VALUES = np.array([_UNIFORM, 0, _BESIDE, _MIDDLE, _BESIDE, 0, _UNIFORM], np.int64)
_SHADES = {_UNIFORM: 2, _MIDDLE: 0, _BESIDE: 5, 0: 9}  # colours of drawings, by value

_WINDOW = 48
_BLOCKS = 8  # in a window
_FIELD = sum(1 << (6 * k) for k in range(_BLOCKS))  # the lowest bit of each block
_L = np.uint64(_FIELD)
_PAIR = np.uint64(0b010101 * _FIELD)
_TWO = np.uint64(0b000011 * _FIELD)


@inlined
def _window(x: Any, row: Any, k: Any) -> Any:
    """The 48 bits of window k of x[row], as far as there are any, then anything."""
    end = x.shape[1] - 1
    first = k * _WINDOW
    word = np.uint64(min(first >> 6, end))
    after = np.uint64(min((first >> 6) + 1, end))
    shift = np.uint64(first & 63)
    return (x[row, word] >> shift) | ((x[row, after] << np.uint64(1)) << (np.uint64(63) - shift))


@inlined
def _value_of_blocks(window: Any, blocks: Any) -> Any:
    """Value of the first blocks of a window."""
    pairs = window - ((window >> np.uint64(1)) & _PAIR)
    ones = (pairs & _TWO) + ((pairs >> np.uint64(2)) & _TWO) + ((pairs >> np.uint64(4)) & _TWO)
    odd = ones & _L
    mixed = ((ones >> np.uint64(1)) ^ (ones >> np.uint64(2))) & _L
    wanted = ones_below(6 * blocks) & _L
    uniform = count_ones(wanted & ~(odd | mixed))  # 0 or 6 ones
    middle = count_ones(wanted & odd & (ones >> np.uint64(1)))  # 3 ones
    beside = count_ones(wanted & mixed & ~odd)  # 2 or 4 ones
    return _UNIFORM * uniform + _MIDDLE * middle + _BESIDE * beside


@inlined
def _value_of_block(block: Any) -> Any:
    """Value of one block, by comparisons: a table would need gathers."""
    ones = count_ones(block)
    value = _UNIFORM if (ones == 0) | (ones == 6) else 0
    value = _MIDDLE if ones == 3 else value
    return _BESIDE if (ones == 2) | (ones == 4) else value


@inlined
def _block_number(place: Any) -> Any:
    """place // 6 for 0 <= place < 54."""
    return (place * 43) >> 8


@inlined
def _clip(place: Any) -> Any:
    return min(max(place, 0), 6)


@inlined
def _gains(bh: Any, bv: Any, swapped: Any) -> Any:
    """What the two children gain in a block in which the parents exchange the bits `swapped`."""
    change = (bh ^ bv) & swapped
    return (
        _value_of_block(bh ^ change) - _value_of_block(bh),
        _value_of_block(bv ^ change) - _value_of_block(bv),
    )


# What the children gain, by part. No branches, to become vector code over many pairs of parents h and v.


@inlined
def _changes(x: Any, prefix: Any, h: Any, v: Any, a: Any, b: Any, m: Any, windows: Any) -> Any:
    """What the children gain, by part; a, b, m lie in these windows.

    (lead of v before the first whole block, lead within the whole blocks, then for each child the gains of the
    blocks cut at a and at b, and of the flip of bit m). No branches, to become vector code over many pairs of parents.
    """
    wa, wb, wm = windows
    in_a = a - _WINDOW * wa
    cut_a = _block_number(in_a)
    first = _block_number(in_a + 5)
    in_b = b - _WINDOW * wb
    cut_b = _block_number(in_b)
    window_h = _window(x, h, wa)
    window_v = _window(x, v, wa)
    start = np.int64(prefix[v, wa]) - np.int64(prefix[h, wa])
    start += _value_of_blocks(window_v, first) - _value_of_blocks(window_h, first)
    # A block that a cuts ends the exchange there, or where b cuts it, too.
    block = _WINDOW * wa + 6 * cut_a
    swapped = ones_below(_clip(b - block)) & ~ones_below(in_a - 6 * cut_a)
    swapped = swapped if first > cut_a else np.uint64(0)
    shift = np.uint64(6 * cut_a)
    cut_ah, cut_av = _gains((window_h >> shift) & np.uint64(63), (window_v >> shift) & np.uint64(63), swapped)
    window_h = _window(x, h, wb)
    window_v = _window(x, v, wb)
    whole = _BLOCKS * wb + cut_b >= _BLOCKS * wa + first
    lead = np.int64(prefix[v, wb]) - np.int64(prefix[h, wb]) - start
    lead += _value_of_blocks(window_v, cut_b) - _value_of_blocks(window_h, cut_b)
    lead = lead if whole else np.int64(0)
    swapped = ones_below(in_b - 6 * cut_b) if whole else np.uint64(0)
    shift = np.uint64(6 * cut_b)
    cut_bh, cut_bv = _gains((window_h >> shift) & np.uint64(63), (window_v >> shift) & np.uint64(63), swapped)
    in_m = m - _WINDOW * wm
    turned = _block_number(in_m)
    block = _WINDOW * wm + 6 * turned
    shift = np.uint64(6 * turned)
    bh = (_window(x, h, wm) >> shift) & np.uint64(63)
    bv = (_window(x, v, wm) >> shift) & np.uint64(63)
    change = (bh ^ bv) & ones_below(_clip(b - block)) & ~ones_below(_clip(a - block))
    bh ^= change
    bv ^= change
    turn = np.uint64(1) << np.uint64(in_m - 6 * turned)
    turn_h = _value_of_block(bh ^ turn) - _value_of_block(bh)
    turn_v = _value_of_block(bv ^ turn) - _value_of_block(bv)
    return start, lead, cut_ah, cut_av, cut_bh, cut_bv, turn_h, turn_v


@inlined
def _windows(a: Any, b: Any, m: Any) -> Any:
    return a // _WINDOW, b // _WINDOW, m // _WINDOW


def _init_prefix(self: Any, x: Any, row: Any, prefix: Any) -> None:
    """Values of the blocks before each window."""
    prefix[row, 0] = 0
    for k in range(prefix.shape[1] - 1):
        prefix[row, k + 1] = prefix[row, k] + _value_of_blocks(_window(x, row, k), _BLOCKS)


def _cross(s: Any, h: Any, v: Any, n: Any, plan: Any, cell: Any, row_h: Any, row_v: Any) -> None:
    """See `model.incremental.cross_segments`."""
    x, scores, prefix, trial = s.population.x, s.population.scores, s.population.prefix, s.lanes.trial
    windows = _windows(np.int64(plan[cell, 0]), np.int64(plan[cell, 1]), np.int64(plan[cell, 2]))
    h = np.uint64(h)
    v = np.uint64(v)
    cell = np.uint64(cell)
    row_h = np.uint64(row_h)
    row_v = np.uint64(row_v)
    for k in range(np.uint64(n)):
        a = np.int64(plan[cell + k, 0])
        b = np.int64(plan[cell + k, 1])
        m = np.int64(plan[cell + k, 2])
        _, lead, cut_ah, cut_av, cut_bh, cut_bv, turn_h, turn_v = _changes(x, prefix, h + k, v + k, a, b, m, windows)
        trial[row_h + k, 0] = scores[h + k, 0] + lead + cut_ah + cut_bh + turn_h
        trial[row_v + k, 0] = scores[v + k, 0] - lead + cut_av + cut_bv + turn_v


def _update_prefix(s: Any, h: Any, v: Any, a: Any, b: Any, m: Any, keep_h: Any, keep_v: Any) -> None:
    """See `model.incremental.update_prefix`."""
    x, prefix = s.population.x, s.population.prefix
    start, lead, cut_ah, cut_av, cut_bh, cut_bv, turn_h, turn_v = _changes(x, prefix, h, v, a, b, m, _windows(a, b, m))
    for k in range(min(a, m) // _WINDOW + 1, prefix.shape[1]):
        at = k * _WINDOW
        change_h = np.int64(0)
        change_v = np.int64(0)
        if at >= b:
            change_h = lead + cut_ah + cut_bh
            change_v = cut_av + cut_bv - lead
        elif at > a:
            ahead = prefix[v, k] - prefix[h, k] - start
            change_h = ahead + cut_ah
            change_v = cut_av - ahead
        if at > m:
            change_h += turn_h
            change_v += turn_v
        if keep_h:
            prefix[h, k] += change_h
        if keep_v:
            prefix[v, k] += change_v


class MMDP(Problem):
    """Deceptive blocks of six bits; the optimum, n / 6, is reached when each block is all zeros or all ones."""

    encoding = Binary("n")
    scale = 1_000_000
    n: int
    values: Array = field(init=False, repr=False)

    def check(self) -> None:
        if isinstance(self.n, bool) or not isinstance(self.n, int) or self.n < 6 or self.n % 6:
            raise InputError(f"the number of bits must be a positive multiple of 6, but got {self.n!r}")
        if self.n > 6 * 2000:
            raise InputError(f"at most 12000 bits fit the integer sums, but got {self.n}")
        self.derive(values=BLOCK_VALUES)

    def evaluate(self, x):
        total = 0
        for k in range(self.n // 6):
            ones = 0
            for i in range(6 * k, 6 * k + 6):
                ones += x[i]
            total += self.values[ones]
        return total

    def draw(self, x: Array) -> Drawing | None:
        """A square for each block: green if it is worth most, blue if it is where the deception leads."""
        ones = np.asarray(x, np.int64).reshape(-1, 6).sum(axis=1)
        shades = [_SHADES[int(BLOCK_VALUES[k])] for k in ones]
        solved = int((BLOCK_VALUES[ones] == _UNIFORM).sum())
        labels = [f"block {k + 1}: {count} ones" for k, count in enumerate(ones)]
        return draw_blocks(shades, labels, f"{solved:,} of {len(ones):,} blocks solved")

    def flip(self, x, row, i, state):
        ones = np.int64(0)
        for k in range(i // 6 * 6, i // 6 * 6 + 6):
            ones += bit(x, row, k)
        state[0] += self.values[ones + 1 - 2 * bit(x, row, i)] - self.values[ones]

    capabilities = (
        Flips(flip),
        Segments(lambda p: Buffer(p.n // _WINDOW + 1, np.int32), _WINDOW, _init_prefix, _cross, _update_prefix),
    )
