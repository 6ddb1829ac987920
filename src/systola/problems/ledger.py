"""Two totals in one 64-bit integer, for problems whose measures are sums over the chosen decisions.

Decision i adds first[i] to one total and second[i] to another. Both ride in one number, first * 2**32 + second:
linear arithmetic on it is exact for both halves as long as the totals of all decisions fit, which `entries_of` checks.
Marks are running totals, marks[row, w] over the decisions below 64*w, so any segment costs two partial words.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from systola.bits import WORD, count_ones, lowest_one, ones_below, words_for
from systola.encodings import Array
from systola.kernel import inlined
from systola.problems.limits import NARROW, exact_sum, refuse_beyond

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


@inlined
def add_marks(entries: Any, x: Any, row: Any, marks: Any) -> None:
    """Running totals of x[row]; the last mark is the total of all."""
    marks[row, 0] = 0
    for w in range(x.shape[1]):
        marks[row, w + 1] = marks[row, w] + _sum_difference(np.uint64(0), x[row, w], w, entries)


@inlined
def lead_below(entries: Any, x: Any, marks: Any, h: Any, v: Any, i: Any) -> Any:
    """By how much the total of x[v] leads that of x[h] over the decisions below i."""
    w = i >> 6
    lead = marks[v, w] - marks[h, w]
    if i & 63:
        below = ones_below(i & 63)
        lead += _sum_difference(x[h, w] & below, x[v, w] & below, w, entries)
    return lead


@inlined
def _add_leads(
    entries: Any, x: Any, marks: Any, h: Any, v: Any, n: Any, cuts: Any, cell: Any, sign: Any, leads: Any, row: Any
) -> None:
    """Add sign times `lead_below` the cuts of n neighbouring pairs, all cuts in one word, to leads[row + k].

    Loops over pairs have no branches and unsigned indices, so that they become vector code; which bits they must look
    at is found first: where any two of the pairs differ.
    """
    mark = np.uint64(cuts[cell] >> 6)
    word = np.uint64(min(np.int64(cuts[cell] >> 6), x.shape[1] - 1))  # a cut at the very end needs no bits
    base = word << np.uint64(6)
    differing = np.uint64(0)
    for k in range(n):
        differing |= (x[h + k, word] ^ x[v + k, word]) & ones_below(cuts[cell + k] & 63)
        leads[row + k] += sign * (marks[v + k, mark] - marks[h + k, mark])
    while differing != np.uint64(0):
        bit = np.uint64(lowest_one(differing))
        differing &= differing - np.uint64(1)
        place = np.int64(base + bit)
        entry = sign * entries[base + bit]
        for k in range(n):
            gained = np.int64((x[v + k, word] >> bit) & np.uint64(1)) - np.int64((x[h + k, word] >> bit) & np.uint64(1))
            leads[row + k] += entry * gained if place < cuts[cell + k] else np.int64(0)


@inlined
def cross_run(
    entries: Any,
    x: Any,
    marks: Any,
    h: Any,
    v: Any,
    n: Any,
    plan: Any,
    cell: Any,
    trial: Any,
    row_h: Any,
    row_v: Any,
) -> None:
    """`cross` for measures that are the two halves of the totals."""
    h = np.uint64(h)
    v = np.uint64(v)
    n = np.uint64(n)
    cell = np.uint64(cell)
    row_h = np.uint64(row_h)
    row_v = np.uint64(row_v)
    firsts = plan[:, 0]
    lasts = plan[:, 1]
    turns = plan[:, 2]
    leads = trial[:, 0]
    for k in range(n):
        leads[row_h + k] = 0
    _add_leads(entries, x, marks, h, v, n, lasts, cell, 1, leads, row_h)
    _add_leads(entries, x, marks, h, v, n, firsts, cell, -1, leads, row_h)
    end = np.uint64(x.shape[1])
    word = np.uint64(turns[cell] >> 6)
    first_turn = np.uint64(turns[cell])
    for k in range(n):
        turn = turns[cell + k]
        entry = entries[first_turn + k]
        bit_h = (x[h + k, word] >> np.uint64(turn & 63)) & np.uint64(1)
        bit_v = (x[v + k, word] >> np.uint64(turn & 63)) & np.uint64(1)
        swapped = (firsts[cell + k] <= turn) & (turn < lasts[cell + k])
        was_h = bit_v if swapped else bit_h
        was_v = bit_h if swapped else bit_v
        lead = leads[row_h + k]
        total_h = marks[h + k, end] + lead + entry * (1 - 2 * np.int64(was_h))
        total_v = marks[v + k, end] - lead + entry * (1 - 2 * np.int64(was_v))
        trial[row_h + k, 0] = first_of(total_h)
        trial[row_h + k, 1] = second_of(total_h)
        trial[row_v + k, 0] = first_of(total_v)
        trial[row_v + k, 1] = second_of(total_v)


@inlined
def move_marks(
    entries: Any, x: Any, marks: Any, h: Any, v: Any, a: Any, b: Any, m: Any, keep_h: Any, keep_v: Any
) -> None:
    """Marks of the kept children, from those of the parents; x holds the parents still."""
    start = lead_below(entries, x, marks, h, v, a)
    lead = lead_below(entries, x, marks, h, v, b) - start
    bit_h = (x[h, m >> 6] >> np.uint64(m & 63)) & np.uint64(1)
    bit_v = (x[v, m >> 6] >> np.uint64(m & 63)) & np.uint64(1)
    if a <= m < b:
        bit_h, bit_v = bit_v, bit_h
    own_h = np.int64(keep_h != 0)
    own_v = np.int64(keep_v != 0)
    turn_h = own_h * entries[m] * (1 - 2 * np.int64(bit_h))
    turn_v = own_v * entries[m] * (1 - 2 * np.int64(bit_v))
    inner = (b + 63) >> 6  # the first mark that is not below b
    for w in range((a >> 6) + 1, inner):
        ahead = marks[v, w] - marks[h, w] - start
        marks[h, w] += own_h * ahead
        marks[v, w] -= own_v * ahead
    for w in range(max(inner, (a >> 6) + 1), x.shape[1] + 1):
        marks[h, w] += own_h * lead
        marks[v, w] -= own_v * lead
    for w in range((m >> 6) + 1, x.shape[1] + 1):
        marks[h, w] += turn_h
        marks[v, w] += turn_v
