"""Moves that declared parts suggest, drawn at random: one more kind beside those of `random_moves`.

Bits: a flip that helps a broken linear constraint. Orders: a reversal, or a block of up to three items put elsewhere,
that brings an item next to one that it is linked to at little cost. Where items are in an order a lane remembers while
it proposes moves, in its room for integers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from systola.jit.dispatch import dispatched, dispatched_call, register, register_each
from systola.model.elementary_moves import FLIP, KINDS, NO_MOVE, REVERSE, ROTATE, touched
from systola.model.encodings import Bits, Digits, Order
from systola.model.problem import Problem, record_of, record_type_of, space_of
from systola.model.rng import below
from systola.model.structure.chain import Chain
from systola.model.structure.declare import has_repairs, parts_of
from systola.model.structure.part import Both, leaves_of
from systola.model.structure.repairs import NONE, draw_repair
from systola.operators.candidate_lists import fill_candidates

CANDIDATES = 10  # items that an item is brought next to
_LONGEST_BLOCK = 3


def is_guided(problem: Problem) -> bool:
    """Whether declared parts of a problem suggest moves."""
    return has_repairs(problem) or any(isinstance(part, Chain) for part in parts_of(problem))


def near_size(problem: Problem) -> int:
    """How many numbers the candidate lists of a problem have."""
    n = space_of(problem).n
    return n * min(CANDIDATES, n - 1) if any(isinstance(part, Chain) for part in parts_of(problem)) else 0


def prepare_guided(problem: Problem) -> None:
    """Register what parts of this problem have to say."""
    for part, record in zip(parts_of(problem), leaves_of(record_of(problem).structure), strict=True):
        register("fill_near", type(record), _fill_near_of_chain if isinstance(part, Chain) else _fill_nothing)
    register("fill_lists", record_type_of(problem), _fill_lists)


def prepare_unguided(problem: Problem) -> None:
    """Register that no part of this problem has anything to say."""
    register("fill_lists", record_type_of(problem), _no_lists)


@dispatched
def is_guided_kind(space: Any, kind: Any) -> Any:
    """Whether a kind of moves is the one after those of `random_moves`."""


def _is_fourth(space: Any, kind: Any) -> Any:
    return kind == 3


def _is_third(space: Any, kind: Any) -> Any:
    return kind == 2


register_each("is_guided_kind", {Order: _is_fourth, Digits: _is_fourth, Bits: _is_third})
assert {Order: 3, Bits: 2, Digits: 3} == KINDS  # what these count on


@dispatched_call
def fill_near(part: Any, s: Any, near: Any) -> Any:
    """Fill in the candidate lists of a chain; nothing for other parts."""


def _fill_near_of_chain(self: Any, s: Any, near: Any) -> None:
    n = np.int64(s.space.n)
    fill_candidates(self, s.problem, near, n, near.shape[0] // n, s.lanes.stop)


def _fill_nothing(self: Any, s: Any, near: Any) -> None:
    pass


def _fill_both(self: Any, s: Any, near: Any) -> None:
    fill_near(self.one, s, near)
    fill_near(self.other, s, near)


register("fill_near", Both, _fill_both)


@dispatched
def fill_lists(s: Any) -> Any:
    """Before the first step: candidate lists, where the problem has a chain."""


def _fill_lists(s: Any) -> None:
    if s.lanes.scratch.shape[1] >= s.space.n:
        fill_near(s.problem.structure, s, s.population.neighbourhood_state)


def _no_lists(s: Any) -> None:
    pass


@dispatched
def draw_guided(space: Any, s: Any, row: Any, lane: Any, r1: Any, r2: Any, r3: Any) -> Any:
    """A move that parts suggest for the solution in a row, by three random numbers of 32 bits."""


@dispatched
def begin_guided(space: Any, s: Any, row: Any, lane: Any) -> Any:
    """Before the first draw, and whenever the row has changed otherwise."""


@dispatched
def follow_move(space: Any, s: Any, row: Any, lane: Any, move: Any) -> Any:
    """A move of the solution in a row has been made."""


def _draw_flip(space: Any, s: Any, row: Any, lane: Any, r1: Any, r2: Any, r3: Any) -> Any:
    i = draw_repair(s.problem.structure, s.lanes.decisions[lane], s.population.state[row], r1, r2)
    return np.int64(FLIP if i != NONE else NO_MOVE), np.int64(i), np.int64(0), np.int64(0)


def _draw_link(space: Any, s: Any, row: Any, lane: Any, r1: Any, r2: Any, r3: Any) -> Any:
    n, near, place = np.int64(space.n), s.population.neighbourhood_state, s.lanes.scratch[lane]
    count = near.shape[0] // n
    item = below(r1, n)
    p, q = np.int64(place[item]), np.int64(place[near[item * count + below(r2, count)]])
    if abs(p - q) > 1:
        if r3 & np.uint64(1):
            # What lies between comes in reverse order, with the one of the two that is farther back.
            return np.int64(REVERSE), min(p + 1, q), max(q, p - 1), np.int64(0)
        length = 1 + below(r3, _LONGEST_BLOCK)
        if p < q:  # a block that the other begins comes after the item
            return np.int64(ROTATE), p + 1, q, min(q + length, n)
        return np.int64(ROTATE), max(q + 1 - length, np.int64(0)), q + 1, p  # one that it ends, before the item
    return np.int64(NO_MOVE), np.int64(0), np.int64(0), np.int64(0)


def _draw_nothing(space: Any, s: Any, row: Any, lane: Any, r1: Any, r2: Any, r3: Any) -> Any:
    return np.int64(NO_MOVE), np.int64(0), np.int64(0), np.int64(0)


def _locate_items(space: Any, s: Any, row: Any, lane: Any) -> None:
    if s.lanes.scratch.shape[1] < space.n:  # of an engine that does not ask for such moves
        return
    for p in range(space.n):
        s.lanes.scratch[lane, s.population.x[row, p]] = p


def _locate_touched(space: Any, s: Any, row: Any, lane: Any, move: Any) -> None:
    if s.lanes.scratch.shape[1] < space.n:
        return
    kind, i, j, k = move
    first, last, stride = touched(space, kind, i, j, k)
    for p in range(first, last, stride):
        s.lanes.scratch[lane, s.population.x[row, p]] = p


def _no_places(space: Any, s: Any, row: Any, lane: Any) -> None:
    pass


def _nothing_to_follow(space: Any, s: Any, row: Any, lane: Any, move: Any) -> None:
    pass


register_each("draw_guided", {Bits: _draw_flip, Order: _draw_link, Digits: _draw_nothing})
register("begin_guided", Order, _locate_items)
register("follow_move", Order, _locate_touched)
for _space in (Bits, Digits):
    register("begin_guided", _space, _no_places)
    register("follow_move", _space, _nothing_to_follow)
