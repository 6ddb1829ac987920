"""Walks from neighbour to neighbour: what hill climbing and tabu search have in common.

All neighbours of the present solution are measured in a step, cut into runs of moves; each lane brings its best
allowed move, and the best of these is made. The present solution is row 0, the best one so far row 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from systola.engines.engine import Design, implement
from systola.engines.migration import enable_migration, replace_if_better
from systola.engines.picture import Walks
from systola.jit.compile import called, inlined
from systola.jit.dispatch import Implementation, dispatched, register
from systola.jit.records import Record, RecordType
from systola.jit.stop_flag import must_leave
from systola.model.capabilities import Buffer
from systola.model.objective import better, fitness, prefers
from systola.model.population import NEVER, copy_row, ranks_above, update_best
from systola.model.problem import Problem
from systola.model.rng import CHANCE, draw
from systola.operators.evaluation import choose_delta_evaluation
from systola.operators.neighbourhoods import NeighbourhoodPlan
from systola.operators.neighbours import (
    evaluate_current,
    evaluate_moves,
    is_move,
    is_tabu,
    move_of,
    row_begin,
    row_end,
)
from systola.simd.rows import VECTOR_WIDTH

CURRENT, BEST = 0, 1  # rows of the population
TABU_LIST = 1  # where the tabu list begins in memory
_REDUCED_LANES = 256  # lanes that `end_step` looks at
_MAX_THREADS = 1 << 16


@inlined
def best_trial_of(lanes: Any, lane: Any) -> Any:
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
def _comes_first(self: Any, s: Any, one: Any, other: Any) -> Any:
    """Which of two equally good moves is made, by their numbers: the earlier one, or the one that chance has put first.

    Chance puts all moves of a step in an order, so that the choice does not depend on who is compared with whom.
    """
    if self.random_ties:
        mine, _, _, _ = draw(s.seed, CHANCE, s.step, one, one >> 32)
        theirs, _, _, _ = draw(s.seed, CHANCE, s.step, other, other >> 32)
        if mine != theirs:
            return mine < theirs
    return one < other


@inlined
def _is_better_move(self: Any, s: Any, one: Any, other: Any) -> Any:
    """Whether the move of lane `one` is to be made rather than that of the other: fitter, or as fit and first."""
    problem, lanes = s.problem, s.lanes
    if lanes.move[one] == NEVER or lanes.move[other] == NEVER:
        return lanes.move[one] != NEVER
    if self.first:
        return lanes.move[one] < lanes.move[other]
    mine, theirs = lanes.trial[best_trial_of(lanes, one)], lanes.trial[best_trial_of(lanes, other)]
    if _is_fitter(problem, mine, theirs):
        return True
    return not _is_fitter(problem, theirs, mine) and _comes_first(self, s, lanes.move[one], lanes.move[other])


@called
def best_move_lane(self: Any, s: Any, first: Any, stride: Any, last: Any) -> Any:
    """The lane with the best move of first, first + stride, ... below `last`."""
    chosen = np.int64(first)
    for lane in range(first + stride, last, stride):
        if _is_better_move(self, s, np.int64(lane), chosen):
            chosen = np.int64(lane)
    return chosen


@inlined
def best_lane_of_all(self: Any, s: Any) -> Any:
    """The lane with the best move, after `reduce_lanes`."""
    return best_move_lane(self, s, 0, 1, min(_REDUCED_LANES, s.lanes.step.shape[0]))


def _reduce_moves(self: Any, s: Any, lane: Any, stride: Any) -> None:
    """The implementation of `reduce_lanes`: the best move of these lanes."""
    lanes = s.lanes
    chosen = best_move_lane(self, s, lane, stride, lanes.step.shape[0])
    if chosen != lane:
        lanes.move[lane] = lanes.move[chosen]
        for k in range(lanes.trial.shape[1]):
            lanes.trial[best_trial_of(lanes, lane), k] = lanes.trial[best_trial_of(lanes, chosen), k]


@dispatched
def examine(engine: Any, s: Any, lane: Any, trial: Any, number: Any, i: Any, j: Any) -> Any:
    """What becomes of a neighbour that has been measured, in lanes.trial[trial]; whether the lane has seen enough."""


@dispatched
def prefilter(engine: Any, s: Any, at: Any, count: Any) -> Any:
    """A quick look at `count` neighbours, measured in lanes.trial from row `at` on: one bits for those to consider."""


def _keep_all(self: Any, s: Any, at: Any, count: Any) -> Any:
    """The implementation of `prefilter` that leaves out none."""
    return np.int64(-1)


def _keep_best_move(self: Any, s: Any, lane: Any, trial: Any, number: Any, i: Any, j: Any) -> Any:
    """The implementation of `examine` where one move is made: keep it if it is the best one that is allowed."""
    problem, population, lanes, step = s.problem, s.population, s.lanes, s.step
    best_trial = best_trial_of(lanes, lane)
    measures = lanes.trial[trial]
    if lanes.move[lane] != NEVER and not _is_fitter(problem, measures, lanes.trial[best_trial]):
        # Numbers rise: among equals the move that is kept is the earlier one.
        if not self.random_ties or _is_fitter(problem, lanes.trial[best_trial], measures):
            return False
        if not _comes_first(self, s, number, lanes.move[lane]):
            return False
    if self.climbing:
        if not better(problem, measures, population.scores[CURRENT]):
            return False
    elif is_tabu(self, population.x, i, j, population.memory, TABU_LIST, step) and not ranks_above(
        problem, measures, population.scores[BEST]
    ):
        return False
    lanes.move[lane] = number
    for k in range(lanes.trial.shape[1]):
        lanes.trial[best_trial, k] = lanes.trial[trial, k]
    return self.first


def explore(self: Any, s: Any, first: Any, last: Any, lane: Any) -> None:
    """Measure the neighbours with these numbers and find the best move among them."""
    lanes = s.lanes
    lanes.move[lane] = NEVER
    if first >= last:
        return
    share = lanes.trial.shape[0] // lanes.step.shape[0]
    width = min(VECTOR_WIDTH, share - 1)
    at = lane * share
    number = np.int64(first)
    i, j = move_of(self, number)
    fresh = True
    while number < last:
        end = min(j + width, row_end(self, i))
        evaluate_moves(self, s, lane, i, j, end, fresh, at)
        if must_leave(lanes.stop):  # after it: what it has left out is not to be examined
            return
        fresh = False
        wanted = prefilter(self, s, at, end - j)
        for place in range(j, end):
            if number < last and is_move(self, i, place):
                if wanted & 1 and examine(self, s, lane, at + place - j, number, i, place):
                    return
                number += 1
            wanted >>= 1
        j = end
        while number < last and j == row_end(self, i):
            i += 1
            j = row_begin(self, i)
            fresh = True


@called
def init_walk(self: Any, s: Any) -> None:
    """Before the first step: evaluate the current solution; nothing is tabu."""
    population = s.population
    evaluate_current(self, s)
    copy_row(population, CURRENT, BEST)
    for k in range(population.memory.shape[0]):
        population.memory[k] = 0


@called
def keep_best(s: Any) -> None:
    """After a move: remember the solution if it is the best so far."""
    problem, population, step = s.problem, s.population, s.step
    update_best(s, 0, population.x, CURRENT, population.scores[CURRENT], step, 0)
    if ranks_above(problem, population.scores[CURRENT], population.scores[BEST]):
        copy_row(population, CURRENT, BEST)


def _current_row(self: Any, number: Any, step: Any) -> Any:
    """The implementation of `migration_slot`: where the walk is."""
    return CURRENT


def _move_to_immigrant(self: Any, s: Any, immigrants: Any, which: Any, elite: Any) -> None:
    """The implementation of `accept_immigrant`: go on from one that is better than all that was found here.

    The tabu list stays.
    """
    population = s.population
    if replace_if_better(s, immigrants, which, BEST):
        copy_row(population, BEST, CURRENT)
        evaluate_current(self, s)


def implement_walk(record: RecordType, neighbourhood: NeighbourhoodPlan, end_step: Implementation) -> None:
    """What engines do that make the best move of all; `end_step` makes it."""
    neighbourhood.implement(record)
    implement(record, step_cells=explore, end_step=end_step, reduce_lanes=_reduce_moves)
    enable_migration(record, migration_slot=_current_row, accept_immigrant=_move_to_immigrant)
    register("prefilter", record, _keep_all)
    register("examine", record, _keep_best_move)


def design_walk(problem: Problem, neighbourhood: NeighbourhoodPlan, record: Record, steps: int) -> Design:
    """The design of an engine that walks."""
    work = neighbourhood.work
    return Design(
        record=record,
        cells=neighbourhood.size,
        rows=2,
        started=1,
        per_step=neighbourhood.size,
        keeps_state=choose_delta_evaluation(problem) or neighbourhood.by_state,
        steps=steps,
        table=work,
        single=neighbourhood.single,
        neighbourhood_state=neighbourhood.neighbourhood_state or Buffer(2, np.int32),
        max_lanes=_MAX_THREADS,
        memory_size=TABU_LIST + neighbourhood.tabu_size,
        layout=Walks(1, BEST),
    )
