"""Walks from neighbour to neighbour: what hill climbing and tabu search have in common.

All neighbours of the present solution are measured in a step, cut into runs of moves; each lane brings its best
allowed move, and the best of these is made. The present solution is row 0, the best one so far row 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from systola.engines.engine import Design
from systola.engines.immigration import settle
from systola.jit.compile import called, inlined
from systola.jit.dispatch import body_of, verb
from systola.jit.stop_flag import must_leave
from systola.model.capabilities import Buffer
from systola.model.objective import better, fitness, prefers
from systola.model.population import NEVER, copy_row, note, ranks_above
from systola.model.problem import Problem
from systola.operators.appraisal import choose_appraisal
from systola.operators.neighbourhoods import Neighbourhood
from systola.operators.neighbours import (
    is_banned,
    is_move,
    locate,
    observe,
    row_begin,
    row_end,
    survey,
)
from systola.simd.rows import VECTOR

NOW, BEST = 0, 1  # rows of the population
LISTED = 1  # where the list of bans begins in memory
_RALLIED = 256  # lanes that `conclude` looks at
_MOST_THREADS = 1 << 16


@inlined
def seat_of(lanes: Any, lane: Any) -> Any:
    """Where a lane keeps the measures of its best move: the last of its rows of trials."""
    share = lanes.trial.shape[0] // lanes.step.shape[0]
    return (lane + 1) * share - 1


@inlined
def _is_fitter(problem: Any, one: Any, other: Any) -> Any:
    """Whether one of two moves is to be made rather than the other, by their measures.

    Not by `better`, which need not be an order: then the choice would depend on who is compared with whom first.
    """
    here, there = fitness(problem, one), fitness(problem, other)  # compared: their difference could wrap around
    return here > there or (here == there and prefers(problem, one, other))


@inlined
def _goes_before(problem: Any, lanes: Any, one: Any, other: Any, by_number: Any) -> Any:
    """Whether the move of lane `one` is to be made rather than that of the other: fitter, or as fit and earlier."""
    if lanes.move[one] == NEVER or lanes.move[other] == NEVER:
        return lanes.move[one] != NEVER
    if by_number:
        return lanes.move[one] < lanes.move[other]
    mine, theirs = lanes.trial[seat_of(lanes, one)], lanes.trial[seat_of(lanes, other)]
    if _is_fitter(problem, mine, theirs):
        return True
    return lanes.move[one] < lanes.move[other] and not _is_fitter(problem, theirs, mine)


@called
def elect_move(problem: Any, lanes: Any, first: Any, stride: Any, last: Any, by_number: Any) -> Any:
    """The lane with the best move of first, first + stride, ... below `last`."""
    chosen = np.int64(first)
    for lane in range(first + stride, last, stride):
        if _goes_before(problem, lanes, np.int64(lane), chosen, by_number):
            chosen = np.int64(lane)
    return chosen


@inlined
def elect_of_all(self: Any, problem: Any, lanes: Any) -> Any:
    """The lane with the best move, after `rally`."""
    return elect_move(problem, lanes, 0, 1, min(_RALLIED, lanes.step.shape[0]), self.first)


def rally_moves(self: Any, s: Any, lane: Any, stride: Any) -> None:
    """The body of `rally`."""
    problem, lanes = s.problem, s.lanes
    chosen = elect_move(problem, lanes, lane, stride, lanes.step.shape[0], self.first)
    if chosen != lane:
        lanes.move[lane] = lanes.move[chosen]
        for k in range(lanes.trial.shape[1]):
            lanes.trial[seat_of(lanes, lane), k] = lanes.trial[seat_of(lanes, chosen), k]


@verb
def consider(engine: Any, s: Any, lane: Any, trial: Any, number: Any, i: Any, j: Any) -> Any:
    """What becomes of a neighbour that has been measured, in lanes.trial[trial]; whether the lane has seen enough."""
    return body_of("consider", engine)(engine, s, lane, trial, number, i, j)


@verb
def sieve(engine: Any, s: Any, at: Any, count: Any) -> Any:
    """A quick look at `count` neighbours, measured in lanes.trial from row `at` on: one bits for those to consider."""
    return body_of("sieve", engine)(engine, s, at, count)


def keep_all(self: Any, s: Any, at: Any, count: Any) -> Any:
    """The body of `sieve` that leaves out none."""
    return np.int64(-1)


def keep_best_move(self: Any, s: Any, lane: Any, trial: Any, number: Any, i: Any, j: Any) -> Any:
    """The body of `consider` where one move is made: keep it if it is the best one that is allowed."""
    problem, population, lanes, step = s.problem, s.population, s.lanes, s.step
    seat = seat_of(lanes, lane)
    measures = lanes.trial[trial]
    if lanes.move[lane] != NEVER and not _is_fitter(problem, measures, lanes.trial[seat]):
        return False
    if self.climbing:
        if not better(problem, measures, population.scores[NOW]):
            return False
    elif is_banned(self, population.x, i, j, population.memory, LISTED, step) and not ranks_above(
        problem, measures, population.scores[BEST]
    ):
        return False
    lanes.move[lane] = number
    for k in range(lanes.trial.shape[1]):
        lanes.trial[seat, k] = lanes.trial[trial, k]
    return self.first


def advance(self: Any, s: Any, first: Any, last: Any, lane: Any) -> None:
    """Measure the neighbours with these numbers and find the best move among them."""
    lanes = s.lanes
    lanes.move[lane] = NEVER
    if first >= last:
        return
    share = lanes.trial.shape[0] // lanes.step.shape[0]
    width = min(VECTOR, share - 1)
    at = lane * share
    number = np.int64(first)
    i, j = locate(self, number)
    fresh = True
    while number < last:
        if must_leave(lanes.stop):
            return
        end = min(j + width, row_end(self, i))
        survey(self, s, lane, i, j, end, fresh, at)
        fresh = False
        wanted = sieve(self, s, at, end - j)
        for place in range(j, end):
            if number < last and is_move(self, i, place):
                if wanted & 1 and consider(self, s, lane, at + place - j, number, i, place):
                    return
                number += 1
            wanted >>= 1
        j = end
        while number < last and j == row_end(self, i):
            i += 1
            j = row_begin(self, i)
            fresh = True


@called
def set_out(self: Any, s: Any) -> None:
    """Before the first step: look around, and nothing is banned."""
    population = s.population
    observe(self, s)
    copy_row(population, NOW, BEST)
    for k in range(population.memory.shape[0]):
        population.memory[k] = 0


@called
def arrive(s: Any) -> None:
    """After a move: remember the solution if it is the best so far."""
    problem, population, step = s.problem, s.population, s.step
    note(s, 0, population.x, NOW, population.scores[NOW], step, 0)
    if ranks_above(problem, population.scores[NOW], population.scores[BEST]):
        copy_row(population, NOW, BEST)


def stand(self: Any, number: Any, step: Any) -> Any:
    """The body of `berth`: where the walk is."""
    return NOW


def go_elsewhere(self: Any, s: Any, guests: Any, which: Any, elite: Any) -> None:
    """The body of `admit`: go on from a guest that is better than what was ever found here; bans stay."""
    population = s.population
    if settle(s, guests, which, BEST):
        copy_row(population, BEST, NOW)
        observe(self, s)


def design_walk(problem: Problem, neighbourhood: Neighbourhood, record: Any, steps: int) -> Design:
    """The design of an engine that walks."""
    work = neighbourhood.work
    return Design(
        record=record,
        cells=neighbourhood.size,
        rows=2,
        started=1,
        per_step=neighbourhood.size,
        keeps_state=choose_appraisal(problem) or neighbourhood.by_state,
        steps=steps,
        table=work,
        single=neighbourhood.single,
        outlook=neighbourhood.outlook or Buffer(2, np.int32),
        most_lanes=_MOST_THREADS,
        remembered=LISTED + neighbourhood.bans,
    )
