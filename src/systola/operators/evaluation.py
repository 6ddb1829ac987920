"""Full and delta evaluation: measures of a changed solution from those of its parent, as far as the problem can.

`choose_delta_evaluation` registers what fits the problem: its declared parts, its capabilities (flips, reassignments,
swaps), or its plain objective.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from systola.jit.dispatch import Implementation, dispatched_call, register
from systola.model.capabilities import Capability, EvaluationState, Flips, Reassignments, Swaps, offers
from systola.model.encodings import Bits, Digits, Order
from systola.model.incremental import flip, init_state, measures_from_state, reassign, state_of, swap
from systola.model.population import copy_state, evaluate_plain
from systola.model.problem import Problem, is_declared, record_type_of, space_of
from systola.operators.decisions import FEW, count_differing
from systola.operators.declared import evaluate_delta_by_parts, evaluate_full_by_parts, evaluate_swap_by_parts
from systola.simd.bits import lowest_one, toggle


@dispatched_call
def evaluate_full(s: Any, x: Any, row: Any, lane: Any, state: Any, measures: Any) -> Any:
    """Full evaluation: measures and state of x[row], from scratch."""


@dispatched_call
def evaluate_delta(s: Any, parent: Any, children: Any, child: Any, lane: Any, state: Any, measures: Any) -> Any:
    """Delta evaluation: measures and state of children[child], which differs little from the one in row `parent`."""


@dispatched_call
def evaluate_swap(s: Any, row: Any, i: Any, j: Any, lane: Any, state: Any, measures: Any) -> Any:
    """Measures and state of the individual in this row with decisions i and j exchanged; itself it stays as it is."""


def _evaluate_full_plainly(s: Any, x: Any, row: Any, lane: Any, state: Any, measures: Any) -> None:
    evaluate_plain(s, x, row, lane, measures)
    state_of(s.problem, x, row, measures, state)


def _evaluate_full_by_state(s: Any, x: Any, row: Any, lane: Any, state: Any, measures: Any) -> None:
    init_state(s.problem, x, row, state)
    measures_from_state(s.problem, state, measures)


def _evaluate_delta_by_flips(
    s: Any, parent: Any, children: Any, child: Any, lane: Any, state: Any, measures: Any
) -> None:
    x, problem, lanes = s.population.x, s.problem, s.lanes
    copy_state(s.population, parent, state)
    for w in range(x.shape[1]):
        lanes.spare[lane, w] = x[parent, w]
    for w in range(x.shape[1]):
        differing = x[parent, w] ^ children[child, w]
        while differing != np.uint64(0):
            i = (w << 6) + lowest_one(differing)
            flip(problem, lanes.spare, lane, i, state)
            toggle(lanes.spare, lane, i)
            differing &= differing - np.uint64(1)
    measures_from_state(problem, state, measures)


def _evaluate_delta_by_reassignments(
    s: Any, parent: Any, children: Any, child: Any, lane: Any, state: Any, measures: Any
) -> None:
    x, problem, space, lanes = s.population.x, s.problem, s.space, s.lanes
    if FEW * count_differing(space, x, parent, children, child) > space.n:
        evaluate_full(s, children, child, lane, state, measures)
        return
    copy_state(s.population, parent, state)
    for i in range(space.n):
        lanes.spare[lane, i] = x[parent, i]
    for i in range(space.n):
        wanted = children[child, i]
        if wanted != lanes.spare[lane, i]:
            reassign(problem, lanes.spare, lane, i, wanted, state)
            lanes.spare[lane, i] = wanted
    measures_from_state(problem, state, measures)


def _evaluate_delta_by_swaps(
    s: Any, parent: Any, children: Any, child: Any, lane: Any, state: Any, measures: Any
) -> None:
    x, problem, space, lanes = s.population.x, s.problem, s.space, s.lanes
    differing = count_differing(space, x, parent, children, child)
    if FEW * differing > space.n:
        evaluate_full(s, children, child, lane, state, measures)
        return
    copy_state(s.population, parent, state)
    if differing > 0:
        place = lanes.decisions[lane]
        for i in range(space.n):
            lanes.spare[lane, i] = x[parent, i]
            place[x[parent, i]] = i
        for i in range(space.n):
            wanted, there = children[child, i], lanes.spare[lane, i]
            if wanted != there:
                j = np.int64(place[wanted])
                swap(problem, lanes.spare, lane, i, j, state)
                lanes.spare[lane, j] = there
                place[there] = j
                lanes.spare[lane, i] = wanted
    measures_from_state(problem, state, measures)


def _evaluate_delta_plainly(
    s: Any, parent: Any, children: Any, child: Any, lane: Any, state: Any, measures: Any
) -> None:
    # States are not kept then, and `state` may have no room: the lane has some.
    lanes = s.lanes
    evaluate_full(s, children, child, lane, lanes.state[lane], measures)


def _evaluate_swap_by_state(s: Any, row: Any, i: Any, j: Any, lane: Any, state: Any, measures: Any) -> None:
    copy_state(s.population, row, state)
    swap(s.problem, s.population.x, row, i, j, state)
    measures_from_state(s.problem, state, measures)


def _evaluate_swap_plainly(s: Any, row: Any, i: Any, j: Any, lane: Any, state: Any, measures: Any) -> None:
    x = s.population.x
    lanes = s.lanes
    for k in range(x.shape[1]):
        lanes.spare[lane, k] = x[row, k]
    lanes.spare[lane, i], lanes.spare[lane, j] = lanes.spare[lane, j], lanes.spare[lane, i]
    evaluate_full(s, lanes.spare, lane, lane, lanes.state[lane], measures)


def choose_full_evaluation(problem: Problem) -> None:
    """A state of the problem's own gives the measures, too, and faster than the plain objective."""
    function: Implementation = _evaluate_full_by_state if offers(problem, EvaluationState) else _evaluate_full_plainly
    register("evaluate_full", record_type_of(problem), evaluate_full_by_parts if is_declared(problem) else function)


_BY_MOVES: dict[type, tuple[type[Capability], Implementation]] = {
    Bits: (Flips, _evaluate_delta_by_flips),
    Digits: (Reassignments, _evaluate_delta_by_reassignments),
    Order: (Swaps, _evaluate_delta_by_swaps),
}


def choose_delta_evaluation(problem: Problem) -> bool:
    """Choose how solutions of this problem are evaluated; whether that needs the state of all solutions."""
    choose_full_evaluation(problem)
    if is_declared(problem):
        register("evaluate_delta", record_type_of(problem), evaluate_delta_by_parts)
        register("evaluate_swap", record_type_of(problem), evaluate_swap_by_parts)
        return True
    moves, function = _BY_MOVES[type(space_of(problem))]
    offered = offers(problem, moves)
    record = record_type_of(problem)
    register("evaluate_delta", record, function if offered else _evaluate_delta_plainly)
    register("evaluate_swap", record, _evaluate_swap_by_state if offers(problem, Swaps) else _evaluate_swap_plainly)
    return offered
