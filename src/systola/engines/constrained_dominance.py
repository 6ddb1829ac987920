"""Constrained dominance among rows of measures, one by one and in blocks.

Of two solutions the one that breaks the constraints less dominates the other, whatever their objectives; of two that
break them equally, one that is at least as good in every objective and better in one. A solution *weakly dominates*
another if it dominates it, or equals it in objectives and violation. `self` is the record of an engine with `count`
objectives whose senses are `signs`. Where a problem has no constraints nothing of them is left in compiled code, as
every violation is the constant 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from systola.jit.compile import called, inlined
from systola.model.objective import violation
from systola.model.population import NEVER
from systola.pareto.dominance import exceed
from systola.simd.rows import VECTOR_WIDTH

_CHUNK = 64


@inlined
def _is_as_good(self: Any, scores: Any, row: Any, other: Any, at: Any) -> Any:
    """Whether scores[row] are at least as good as other[at] in every objective."""
    as_good = True
    for k in range(self.count):
        as_good = as_good and self.signs[k] * scores[row, k] >= self.signs[k] * other[at, k]
    return as_good


@inlined
def weakly_dominates(self: Any, problem: Any, scores: Any, row: Any, other: Any, at: Any) -> Any:
    """Whether scores[row] dominate or equal other[at]: with less violation; or with no more, and as good objectives."""
    mine, theirs = violation(problem, scores[row]), violation(problem, other[at])
    return mine < theirs or (not theirs < mine and _is_as_good(self, scores, row, other, at))


@called
def find_weak_dominator(self: Any, problem: Any, scores: Any, first: Any, last: Any, other: Any, at: Any) -> Any:
    """The first of the rows first <= row < last, all of the same violation, that weakly dominates other[at], or NEVER.

    Rows are taken in chunks without a branch, which compilers turn into vectors.
    """
    row = np.int64(first)
    if row < last:
        mine, theirs = violation(problem, scores[row]), violation(problem, other[at])
        if mine < theirs:
            return row
        if theirs < mine:
            return np.int64(NEVER)
    while row < last:
        end = min(row + _CHUNK, last)
        found = False
        if self.count == 2:
            s0, s1 = self.signs[0], self.signs[1]
            v0, v1 = s0 * other[at, 0], s1 * other[at, 1]
            for r in range(row, end):
                found |= (s0 * scores[r, 0] >= v0) & (s1 * scores[r, 1] >= v1)
        elif self.count == 3:
            s0, s1, s2 = self.signs[0], self.signs[1], self.signs[2]
            v0, v1, v2 = s0 * other[at, 0], s1 * other[at, 1], s2 * other[at, 2]
            for r in range(row, end):
                found |= (s0 * scores[r, 0] >= v0) & (s1 * scores[r, 1] >= v1) & (s2 * scores[r, 2] >= v2)
        else:
            for r in range(row, end):
                found |= _is_as_good(self, scores, r, other, at)
        if found:
            while not _is_as_good(self, scores, row, other, at):
                row += 1
            return row
        row = np.int64(end)
    return np.int64(NEVER)


@inlined
def is_weakly_dominated(self: Any, problem: Any, scores: Any, first: Any, last: Any, other: Any, at: Any) -> Any:
    """Whether one of the rows first <= row < last, all of the same violation, weakly dominates other[at]."""
    return find_weak_dominator(self, problem, scores, first, last, other, at) != NEVER


@inlined
def compare_objectives(
    self: Any, scores: Any, row: Any, trial: Any, rooms: Any, at: Any, count: Any, above: Any
) -> Any:
    """A bit for each neighbour of a block: whether scores[row] are not as good; if `above`, whether it is as good."""
    wanted = np.int64((1 << count) - 1 if above else 0)
    spare = trial.shape[0] // rooms > VECTOR_WIDTH  # on a GPU the next rows are another thread's
    for k in range(self.count):
        sign = self.signs[k]
        exceeding = exceed(trial, at, count, k, sign, sign * scores[row, k], above, spare)
        wanted = wanted & exceeding if above else wanted | exceeding
    return wanted


@inlined
def compare_violations(problem: Any, scores: Any, row: Any, trial: Any, at: Any, count: Any) -> Any:
    """A bit for each neighbour of a block that breaks the constraints less than scores[row], and for each that does so
    more."""
    here = violation(problem, scores[row])
    less, more = np.int64(0), np.int64(0)
    for q in range(count):
        there = violation(problem, trial[at + q])
        less |= np.int64(there < here) << q
        more |= np.int64(there > here) << q
    return less, more
