"""What a lane does; the same for every backend, which only decides how many lanes there are and who runs them."""

from __future__ import annotations

from typing import Any

from systola.engines.engine import begin
from systola.engines.population import assess, note
from systola.kernel import inlined
from systola.problem import count, mark


@inlined
def edge(total: Any, lanes: Any, lane: Any) -> Any:
    """Where the share of this lane begins, of `total` rows or cells; that of the lane before ends there."""
    return total * lane // lanes.step.shape[0]


@inlined
def start_lane(
    engine: Any, space: Any, problem: Any, population: Any, lanes: Any, seed: Any, given: Any, rows: Any, lane: Any
) -> None:
    """Draw this lane's share of rows (those below `given` are there already), measure and mark it, note the best."""
    for row in range(edge(rows, lanes, lane), edge(rows, lanes, lane + 1)):
        if row >= given:
            begin(engine, space, problem, population, lanes, seed, row, lane)
        assess(space, problem, population.x, row, lanes, lane, population.scores[row])
        if population.marks.shape[1] > 0:
            mark(problem, population.x, row, population.marks)
        if population.tally.shape[1] > 0:
            count(problem, population.x, row, population.scores[row], population.tally[row])
        note(problem, lanes, lane, population.x, row, population.scores[row], 0, row)
