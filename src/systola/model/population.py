"""The arrays that engines work on, and the few things every engine does with them.

Solutions never move: a population is rows, and what flows through a grid is row numbers. Work is cut into *lanes*,
a fixed number of them whatever the number of threads (on a GPU one for each cell); each lane remembers the best
solution it saw and when, so that the best of a run does not depend on who computed what.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload

from systola.jit.compile import inlined
from systola.jit.located import call_with_two
from systola.model.encodings import Array, decode
from systola.model.linked import is_linked
from systola.model.objective import evaluate, fitness, prefers, violation, write_measures

NEVER = -1
OUT_OF_ROOM = 0  # index in an engine's `memory` of the flag for "no room to end this step"
ROW_PADDING = 8  # spare rows of populations and plans, so that kernels may compute whole vectors past the end


class Population(NamedTuple):
    """Rows of solutions and what is known of them."""

    x: Array  # [rows, words or decisions]
    scores: Array  # [rows, measures]
    prefix: Array  # [rows, numbers] prefix sums, for engines and problems that keep any
    state: Array  # [rows, numbers] what moves change, likewise
    slots: Array  # which row is where, for engines that exchange rows
    neighbourhood_state: Array  # what the problem keeps of the current solution of a local search
    memory: Array  # what the engine remembers from step to step
    candidates: Array  # [candidates, measures] neighbours that a step has found worth keeping
    candidate_moves: Array  # [candidates] the numbers of the moves to them


class Standing(NamedTuple):
    """What of a population says how good it is now, for pictures."""

    scores: Array
    slots: Array
    memory: Array


class Lanes(NamedTuple):
    """Workspace and memory of each lane."""

    step: Array  # [lanes] when the lane's best was found, NEVER at first
    cell: Array  # [lanes] where
    score: Array  # [lanes, measures] its measures
    best: Array  # [lanes, words or decisions] the solution
    child: Array  # [lanes, words or decisions] a child under construction
    marked: Array  # [lanes, words or decisions] which of its decisions will change, or a second child
    spare: Array  # [lanes, words or decisions] a solution on the way to another
    trial: Array  # [2 * lanes * chunk, measures] of children not yet accepted, of `chunk` cells at a time
    state: Array  # [2 * lanes * chunk, numbers] likewise
    kept: Array  # [2 * lanes * chunk] which children are
    decisions: Array  # [lanes, n] plain decisions, as `evaluate` gets them
    table: Array  # [lanes, numbers] the problem's table of the solution that is searched around
    scratch: Array  # [lanes, numbers] room for integers: a tabu list, or what else an engine has a lane remember
    move: Array  # [lanes] the number of the best move that the lane has found in this step, NEVER if none
    faults: Array  # [lanes] how often the objective raised or was not a finite number
    faulty: Array  # [lanes, n] the first such decisions
    stop: Array  # the stop flag of all lanes


class Best(NamedTuple):
    """The best of all lanes: one row each."""

    step: Array
    cell: Array
    score: Array
    best: Array


def try_evaluate(problem: Any, x: Any, measures: Any) -> bool:
    """Measure plain decisions; false when the objective raised, which interpreted code lets through."""
    write_measures(evaluate(problem, x), measures)
    return True


@overload(try_evaluate, strict=False)  # type: ignore[untyped-decorator]
def _try_evaluate(problem: Any, x: Any, measures: Any) -> Any:
    def call(problem: Any, x: Any, measures: Any) -> bool:
        return bool(call_with_two(problem.evaluate_at, problem.data_at, x, measures))

    def catch(problem: Any, x: Any, measures: Any) -> bool:
        # Numba loses what is raised in a parallel loop, so it is caught here and looked into on the host.
        try:
            write_measures(evaluate(problem, x), measures)
            return True
        except Exception:
            return False

    return call if is_linked(problem) else catch


@inlined
def are_finite(measures: Any) -> Any:
    """Whether all are finite numbers, which no NaN is."""
    finite = True
    for k in range(measures.shape[0]):
        finite = finite and -np.inf < measures[k] and measures[k] < np.inf
    return finite


@inlined
def note_fault(s: Any, x: Any, row: Any, lane: Any) -> None:
    """The objective raised for the stored solution x[row], or was not a finite number."""
    lanes = s.lanes
    if lanes.faults[lane] == 0:
        decode(s.space, x, row, lanes.faulty, lane)  # once more: `evaluate` may have changed what it was given
    lanes.faults[lane] += 1


@inlined
def evaluate_plain(s: Any, x: Any, row: Any, lane: Any, measures: Any) -> None:
    """Measure the stored solution x[row] with the plain objective."""
    problem, space, lanes = s.problem, s.space, s.lanes
    decode(space, x, row, lanes.decisions, lane)
    valid = try_evaluate(problem, lanes.decisions[lane], measures)
    if not (valid and are_finite(measures)):
        note_fault(s, x, row, lane)


@inlined
def copy_state(population: Any, row: Any, state: Any) -> None:
    """What is kept of the solution in a row, as a start for another one."""
    for k in range(state.shape[0]):
        state[k] = population.state[row, k]


@inlined
def copy_row(population: Any, source: Any, target: Any) -> None:
    """A solution, with its measures and state, takes another row, too."""
    for k in range(population.x.shape[1]):
        population.x[target, k] = population.x[source, k]
    for k in range(population.scores.shape[1]):
        population.scores[target, k] = population.scores[source, k]
    for k in range(population.state.shape[1]):
        population.state[target, k] = population.state[source, k]


@inlined
def keep_trial(population: Any, lanes: Any, row: Any, trial: Any) -> None:
    """The measures and state of a trial become those of the solution in a row."""
    for k in range(population.scores.shape[1]):
        population.scores[row, k] = lanes.trial[trial, k]
    for k in range(population.state.shape[1]):
        population.state[row, k] = lanes.state[trial, k]


@inlined
def replace_row(s: Any, target: Any, solutions: Any, row: Any, trial: Any) -> None:
    """solutions[row], with the measures and state of a trial, takes the place of an individual."""
    population, lanes = s.population, s.lanes
    for k in range(population.x.shape[1]):
        population.x[target, k] = solutions[row, k]
    keep_trial(population, lanes, target, trial)


@inlined
def ranks_above(problem: Any, new: Any, old: Any) -> Any:
    """Whether measures `new` make a better answer than `old`: less violation, then fitness, then preference."""
    broken, less = violation(problem, new), violation(problem, old)  # compared: their difference could wrap around
    if broken != less:
        return broken < less
    here, there = fitness(problem, new), fitness(problem, old)
    return here > there or (here == there and prefers(problem, new, old))


@inlined
def update_best(s: Any, lane: Any, x: Any, row: Any, measures: Any, step: Any, cell: Any) -> None:
    """Remember x[row] if it is the best answer that this lane has seen."""
    problem, lanes = s.problem, s.lanes
    if lanes.step[lane] != NEVER and not ranks_above(problem, measures, lanes.score[lane]):
        return
    lanes.step[lane] = step
    lanes.cell[lane] = cell
    for k in range(measures.shape[0]):
        lanes.score[lane, k] = measures[k]
    for w in range(x.shape[1]):
        lanes.best[lane, w] = x[row, w]


@inlined
def comes_first(problem: Any, lanes: Any, one: Any, other: Any) -> Any:
    """Whether lane `one` holds the better answer; among equals the earlier, then the lower cell."""
    if lanes.step[one] == NEVER or lanes.step[other] == NEVER:
        return lanes.step[one] != NEVER
    if ranks_above(problem, lanes.score[one], lanes.score[other]):
        return True
    if ranks_above(problem, lanes.score[other], lanes.score[one]):
        return False
    return lanes.step[one] < lanes.step[other] or (
        lanes.step[one] == lanes.step[other] and lanes.cell[one] < lanes.cell[other]
    )


@inlined
def best_lane(problem: Any, lanes: Any, first: Any, stride: Any) -> Any:
    """The lane with the best answer among first, first + stride, ..."""
    chosen = first
    for lane in range(first + stride, lanes.step.shape[0], stride):
        if comes_first(problem, lanes, np.int64(lane), chosen):
            chosen = np.int64(lane)
    return chosen


@inlined
def copy_best(lanes: Any, lane: Any, best: Any) -> None:
    """Write the answer of a lane into the one record of the run."""
    best.step[0] = lanes.step[lane]
    best.cell[0] = lanes.cell[lane]
    for k in range(lanes.score.shape[1]):
        best.score[0, k] = lanes.score[lane, k]
    for w in range(lanes.best.shape[1]):
        best.best[0, w] = lanes.best[lane, w]
