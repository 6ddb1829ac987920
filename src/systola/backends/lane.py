"""What a lane does; the same for every backend, which only decides how many lanes there are and who runs them."""

from __future__ import annotations

from typing import Any

from systola.engines.engine import begin
from systola.increments import count, mark, weigh
from systola.kernel import inlined
from systola.population import assess, note
from systola.problem import Problem
from systola.verbs import body_of, give_body, verb


@inlined
def edge(total: Any, lanes: Any, lane: Any) -> Any:
    """Where the share of this lane begins, of `total` rows or cells; that of the lane before ends there."""
    return total * lane // lanes.step.shape[0]


@verb
def gauge(problem: Any, space: Any, population: Any, lanes: Any, row: Any, lane: Any) -> Any:
    """Measures of population.x[row], and its tally if one is kept."""
    return body_of("gauge", problem)(problem, space, population, lanes, row, lane)


def _gauge_by_evaluation(problem: Any, space: Any, population: Any, lanes: Any, row: Any, lane: Any) -> None:
    assess(space, problem, population.x, row, lanes, lane, population.scores[row])
    if population.tally.shape[1] > 0:
        count(problem, population.x, row, population.scores[row], population.tally[row])


def _gauge_by_tally(problem: Any, space: Any, population: Any, lanes: Any, row: Any, lane: Any) -> None:
    count(problem, population.x, row, population.scores[row], lanes.tally[lane])
    weigh(problem, lanes.tally[lane], population.scores[row])
    for k in range(population.tally.shape[1]):
        population.tally[row, k] = lanes.tally[lane, k]


def choose_gauge(problem: Problem) -> None:
    """A tally of the problem's own gives the measures, too, and faster than the plain objective."""
    give_body("gauge", type(problem)._record, _gauge_by_tally if problem.tallies() else _gauge_by_evaluation)


@inlined
def start_lane(
    engine: Any, space: Any, problem: Any, population: Any, lanes: Any, seed: Any, given: Any, rows: Any, lane: Any
) -> None:
    """Draw this lane's share of rows (those below `given` are there already), measure and mark it, note the best."""
    for row in range(edge(rows, lanes, lane), edge(rows, lanes, lane + 1)):
        if row >= given:
            begin(engine, space, problem, population, lanes, seed, row, lane)
        gauge(problem, space, population, lanes, row, lane)
        if population.marks.shape[1] > 0:
            mark(problem, population.x, row, population.marks)
        note(problem, lanes, lane, population.x, row, population.scores[row], 0, row)
