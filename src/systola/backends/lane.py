"""What a lane does; the same for every backend, which only decides how many lanes there are and who runs them."""

from __future__ import annotations

from typing import Any

from systola.encodings import sample
from systola.engines.engine import advance
from systola.engines.population import assess, note
from systola.kernel import inlined
from systola.problem import mark
from systola.rng import START


@inlined
def start_lane(
    space: Any, problem: Any, population: Any, lanes: Any, seed: Any, given: Any, rows: Any, lane: Any
) -> None:
    """Draw this lane's share of rows (those below `given` are there already), measure and mark it, note the best."""
    count = lanes.step.shape[0]
    for row in range(rows * lane // count, rows * (lane + 1) // count):
        if row >= given:
            sample(space, population.x, row, seed, START, 0, row)
        assess(space, problem, population.x, row, lanes, lane, population.scores[row])
        if population.marks.shape[1] > 0:
            mark(problem, population.x, row, population.marks)
        note(problem, lanes, lane, population.x, row, population.scores[row], 0, row)


@inlined
def sweep_lane(
    engine: Any,
    space: Any,
    problem: Any,
    population: Any,
    lanes: Any,
    seed: Any,
    cells: Any,
    step: Any,
    shared: Any,
    lane: Any,
) -> None:
    """One step of this lane's share of cells."""
    count = lanes.step.shape[0]
    first = cells * lane // count
    last = cells * (lane + 1) // count
    advance(engine, space, problem, population, lanes, seed, step, shared, first, last, lane)
