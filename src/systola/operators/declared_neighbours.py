"""Neighbours of a solution whose structure is declared: each is measured by what its move changes.

A lane has the plain decisions and what is kept of the present solution for itself: parts may write there meanwhile.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from systola.jit.dispatch import Implementation, dispatched
from systola.jit.stop_flag import must_leave
from systola.model.elementary_moves import FLIP, REASSIGN, REVERSE, ROTATE, SWAP
from systola.model.encodings import decode
from systola.model.moves import value_of_rank
from systola.model.structure.part import add_delta


@dispatched
def elementary_move(engine: Any, x: Any, i: Any, j: Any) -> Any:
    """The move (i, j) of a neighbourhood as an elementary move of the plain decisions x."""


def _flip(self: Any, x: Any, i: Any, j: Any) -> Any:
    return np.int64(FLIP), np.int64(j), np.int64(0), np.int64(0)


def _reassign(self: Any, x: Any, i: Any, j: Any) -> Any:
    value = value_of_rank(np.int64(j), np.int64(self.low[i]), np.int64(x[i]))
    return np.int64(REASSIGN), np.int64(i), np.int64(x[i]), np.int64(value)


def _swap(self: Any, x: Any, i: Any, j: Any) -> Any:
    return np.int64(SWAP), np.int64(i), np.int64(j), np.int64(0)


def _insert(self: Any, x: Any, i: Any, j: Any) -> Any:
    if i < j:
        return np.int64(ROTATE), np.int64(i), np.int64(i + 1), np.int64(j + 1)
    return np.int64(ROTATE), np.int64(j), np.int64(i), np.int64(i + 1)


def _reverse(self: Any, x: Any, i: Any, j: Any) -> Any:
    return np.int64(REVERSE), np.int64(i), np.int64(j), np.int64(0)


def evaluate_moves_by_parts(self: Any, s: Any, lane: Any, i: Any, first: Any, last: Any, fresh: Any, at: Any) -> None:
    """The implementation of `evaluate_moves`."""
    population, lanes = s.population, s.lanes
    x, kept = lanes.decisions[lane], lanes.state[at]
    if fresh:
        decode(s.space, population.x, 0, lanes.decisions, lane)
        for k in range(kept.shape[0]):
            kept[k] = population.state[0, k]
    for j in range(first, last):
        if must_leave(lanes.stop):
            return
        new = lanes.trial[at + j - first]
        for k in range(new.shape[0]):
            new[k] = population.scores[0, k]
        add_delta(s.problem.structure, s.problem, s.space, x, elementary_move(self, x, i, j), kept, new)


ELEMENTARY: dict[str, Implementation] = {
    "flip": _flip,
    "reassign": _reassign,
    "swap": _swap,
    "insertion": _insert,
    "reversal": _reverse,
}
