"""Tabu lists of each neighbourhood: what a move makes tabu, and which moves would bring it back.

The implementations of `set_tabu` and `is_tabu` (`operators.neighbours`). A list has a number for each attribute: a
value in a place, or of two values which comes first; it is the last step in which that must not come back.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from systola.jit.compile import inlined
from systola.model.moves import value_of_rank


def set_places_tabu(self: Any, x: Any, i: Any, j: Any, until: Any, at: Any, one: Any, two: Any) -> None:
    until[at + np.int64(x[0, i]) * self.n + i] = one
    until[at + np.int64(x[0, j]) * self.n + j] = two


def are_places_tabu(self: Any, x: Any, i: Any, j: Any, until: Any, at: Any, now: Any) -> Any:
    one = until[at + np.int64(x[0, i]) * self.n + j] >= now
    return one and until[at + np.int64(x[0, j]) * self.n + i] >= now


def set_precedence_tabu(self: Any, x: Any, i: Any, j: Any, until: Any, at: Any, one: Any, two: Any) -> None:
    # Not a place, as items that are neighbours change places by a move of either of them.
    before = i if i < j else i - 1
    until[at + np.int64(x[0, before]) * self.n + x[0, before + 1]] = one


def is_precedence_tabu(self: Any, x: Any, i: Any, j: Any, until: Any, at: Any, now: Any) -> Any:
    taken = np.int64(x[0, i])
    found = False
    for k in range(i + 1, j + 1):
        found = found or until[at + np.int64(x[0, k]) * self.n + taken] >= now
    for k in range(j, i):
        found = found or until[at + taken * self.n + x[0, k]] >= now
    return found


def set_decision_tabu(self: Any, x: Any, i: Any, j: Any, until: Any, at: Any, one: Any, two: Any) -> None:
    until[at + j] = one


def is_decision_tabu(self: Any, x: Any, i: Any, j: Any, until: Any, at: Any, now: Any) -> Any:
    return until[at + j] >= now


@inlined
def _value_at(self: Any, i: Any, value: Any) -> Any:
    """Where a tabu list has this value of decision i."""
    return self.starts[i] + i + value - self.low[i]


def set_value_tabu(self: Any, x: Any, i: Any, j: Any, until: Any, at: Any, one: Any, two: Any) -> None:
    until[at + _value_at(self, i, x[0, i])] = one


def is_value_tabu(self: Any, x: Any, i: Any, j: Any, until: Any, at: Any, now: Any) -> Any:
    return until[at + _value_at(self, i, value_of_rank(j, self.low[i], x[0, i]))] >= now


def set_decisions_tabu(self: Any, x: Any, i: Any, j: Any, until: Any, at: Any, one: Any, two: Any) -> None:
    until[at + i] = one
    until[at + j] = two


def are_decisions_tabu(self: Any, x: Any, i: Any, j: Any, until: Any, at: Any, now: Any) -> Any:
    return until[at + i] >= now or until[at + j] >= now
