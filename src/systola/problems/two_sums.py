"""Two totals in one 64-bit integer, for problems whose measures are sums over the chosen decisions.

Decision i adds first[i] to one total and second[i] to another. Both ride in one number, first * 2**32 + second:
linear arithmetic on it is exact for both halves as long as the totals of all decisions fit, which `entries_of` checks.
Prefix sums are kept a word: prefix[row, w] is over the decisions below 64*w, so any segment costs two partial words.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from systola.jit.compile import inlined
from systola.model.capabilities import Buffer, Segments
from systola.model.encodings import Array
from systola.problems.limits import NARROW, exact_sum, refuse_beyond
from systola.simd.bits import WORD, count_ones, lowest_one, ones_below, words_for

_SHIFT = 32
_LOW = (1 << _SHIFT) - 1
_SPARSE = 6  # with more differing bits than this in a word, all 64 at once is faster


def entries_of(**columns: Array) -> Array:
    """The combined entry of each decision, of two columns of numbers, whose names messages tell."""
    for name, values in columns.items():
        refuse_beyond(NARROW, exact_sum(values), f"the sum of all {name}")
    first, second = columns.values()
    entries = np.zeros(words_for(len(first)) * WORD, np.int64)  # whole words, so that vector code needs no end
    entries[: len(first)] = (first << _SHIFT) + second
    return entries


@inlined
def first_of(total: Any) -> Any:
    """First half of a final total."""
    return total >> _SHIFT


@inlined
def second_of(total: Any) -> Any:
    """Second half of a final total."""
    return total & _LOW


@inlined
def _sum_difference(xh: Any, xv: Any, word: Any, entries: Any) -> Any:
    """Sum of the entries of xv less that of xh, over one word."""
    differing = xh ^ xv
    total = np.int64(0)
    base = np.uint64(word << 6)
    if count_ones(differing) > _SPARSE:
        for k in range(64):  # no branches, unsigned index: becomes vector code
            bit = np.uint64(k)
            gained = np.int64((xv >> bit) & np.uint64(1)) - np.int64((xh >> bit) & np.uint64(1))
            total += entries[base + bit] * gained
    else:
        while differing != np.uint64(0):
            bit = np.uint64(lowest_one(differing))
            entry = entries[base + bit]
            total += entry if (xv >> bit) & np.uint64(1) else -entry
            differing &= differing - np.uint64(1)
    return total


def _init_prefix(self: Any, x: Any, row: Any, prefix: Any) -> None:
    """Prefix sums of x[row], one a word; the last is the total of all."""
    prefix[row, 0] = 0
    for w in range(x.shape[1]):
        prefix[row, w + 1] = prefix[row, w] + _sum_difference(np.uint64(0), x[row, w], w, self.entries)


@inlined
def _lead_below(s: Any, h: Any, v: Any, i: Any) -> Any:
    """By how much the total of row v leads that of row h over the decisions below i."""
    entries, x, prefix = s.problem.entries, s.population.x, s.population.prefix
    w = i >> 6
    lead = prefix[v, w] - prefix[h, w]
    if i & 63:
        below = ones_below(i & 63)
        lead += _sum_difference(x[h, w] & below, x[v, w] & below, w, entries)
    return lead


@inlined
def _add_leads(s: Any, h: Any, v: Any, n: Any, cuts: Any, sign: Any, leads: Any) -> None:
    """Add sign times `_lead_below` the cuts of n neighbouring pairs, all cuts in one word, to `leads`.

    Loops over pairs have no branches and unsigned indices, so that they become vector code; which bits they must look
    at is found first: where any two of the pairs differ.
    """
    entries, x, prefix = s.problem.entries, s.population.x, s.population.prefix
    place_of_prefix = np.uint64(cuts[0] >> 6)
    word = np.uint64(min(np.int64(cuts[0] >> 6), x.shape[1] - 1))  # a cut at the very end needs no bits
    base = word << np.uint64(6)
    differing = np.uint64(0)
    for k in range(n):
        differing |= (x[h + k, word] ^ x[v + k, word]) & ones_below(cuts[k] & 63)
        leads[k] += sign * (prefix[v + k, place_of_prefix] - prefix[h + k, place_of_prefix])
    while differing != np.uint64(0):
        bit = np.uint64(lowest_one(differing))
        differing &= differing - np.uint64(1)
        place = np.int64(base + bit)
        entry = sign * entries[base + bit]
        for k in range(n):
            gained = np.int64((x[v + k, word] >> bit) & np.uint64(1)) - np.int64((x[h + k, word] >> bit) & np.uint64(1))
            leads[k] += entry * gained if place < cuts[k] else np.int64(0)


def _cross(s: Any, h: Any, v: Any, n: Any, plan: Any, cell: Any, row_h: Any, row_v: Any) -> None:
    """`cross_segments` for measures that are the two halves of the totals."""
    entries, x, prefix, trial = s.problem.entries, s.population.x, s.population.prefix, s.lanes.trial
    h, v, n, row_v = np.uint64(h), np.uint64(v), np.uint64(n), np.uint64(row_v)
    firsts, lasts, turns = plan[cell:, 0], plan[cell:, 1], plan[cell:, 2]
    leads = trial[row_h:, 0]
    row_h = np.uint64(row_h)
    for k in range(n):
        leads[k] = 0
    _add_leads(s, h, v, n, lasts, 1, leads)
    _add_leads(s, h, v, n, firsts, -1, leads)
    end = np.uint64(x.shape[1])
    word = np.uint64(turns[0] >> 6)
    first_turn = np.uint64(turns[0])
    for k in range(n):
        turn = turns[k]
        entry = entries[first_turn + k]
        bit_h = (x[h + k, word] >> np.uint64(turn & 63)) & np.uint64(1)
        bit_v = (x[v + k, word] >> np.uint64(turn & 63)) & np.uint64(1)
        swapped = (firsts[k] <= turn) & (turn < lasts[k])
        was_h = bit_v if swapped else bit_h
        was_v = bit_h if swapped else bit_v
        lead = leads[k]
        total_h = prefix[h + k, end] + lead + entry * (1 - 2 * np.int64(was_h))
        total_v = prefix[v + k, end] - lead + entry * (1 - 2 * np.int64(was_v))
        trial[row_h + k, 0] = first_of(total_h)
        trial[row_h + k, 1] = second_of(total_h)
        trial[row_v + k, 0] = first_of(total_v)
        trial[row_v + k, 1] = second_of(total_v)


def _update_prefix(s: Any, h: Any, v: Any, a: Any, b: Any, m: Any, keep_h: Any, keep_v: Any) -> None:
    """Prefix sums of the kept children, from those of the parents; the population holds the parents still."""
    entries, x, prefix = s.problem.entries, s.population.x, s.population.prefix
    start = _lead_below(s, h, v, a)
    lead = _lead_below(s, h, v, b) - start
    bit_h = (x[h, m >> 6] >> np.uint64(m & 63)) & np.uint64(1)
    bit_v = (x[v, m >> 6] >> np.uint64(m & 63)) & np.uint64(1)
    if a <= m < b:
        bit_h, bit_v = bit_v, bit_h
    own_h = np.int64(keep_h != 0)
    own_v = np.int64(keep_v != 0)
    turn_h = own_h * entries[m] * (1 - 2 * np.int64(bit_h))
    turn_v = own_v * entries[m] * (1 - 2 * np.int64(bit_v))
    inner = (b + 63) >> 6  # the first prefix that is not below b
    for w in range((a >> 6) + 1, inner):
        ahead = prefix[v, w] - prefix[h, w] - start
        prefix[h, w] += own_h * ahead
        prefix[v, w] -= own_v * ahead
    for w in range(max(inner, (a >> 6) + 1), x.shape[1] + 1):
        prefix[h, w] += own_h * lead
        prefix[v, w] -= own_v * lead
    for w in range((m >> 6) + 1, x.shape[1] + 1):
        prefix[h, w] += turn_h
        prefix[v, w] += turn_v


class _TwoSums(Protocol):
    """A problem with entries for each decision."""

    entries: Array


def _prefix(problem: _TwoSums) -> Buffer:
    return Buffer(len(problem.entries) // WORD + 1, np.int64)


SEGMENTS = Segments(_prefix, WORD, _init_prefix, _cross, _update_prefix)
