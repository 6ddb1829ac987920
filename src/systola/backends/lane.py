"""What a lane does; the same for every backend, which only decides how many lanes there are and who runs them."""

from __future__ import annotations

from typing import Any

from systola.engines.engine import init_row, step_cells
from systola.jit.compile import inlined
from systola.jit.stop_flag import must_leave
from systola.model.incremental import init_prefix
from systola.model.population import update_best
from systola.operators.evaluation import evaluate_full


@inlined
def edge(total: Any, lanes: Any, lane: Any) -> Any:
    """Where the share of this lane begins, of `total` rows or cells; that of the lane before ends there."""
    return total * lane // lanes.step.shape[0]


@inlined
def step_lane(engine: Any, s: Any, cells: Any, lane: Any) -> None:
    """This lane's share of the cells makes the step s, unless the host asks to stop at once."""
    if not must_leave(s.lanes.stop):
        step_cells(engine, s, edge(cells, s.lanes, lane), edge(cells, s.lanes, lane + 1), lane)


@inlined
def start_lane(engine: Any, s: Any, given: Any, rows: Any, lane: Any) -> None:
    """Draw this lane's share of rows (those below `given` are there already), measure and mark it, note the best.

    The very first row is made even if the host asks to stop: a run has an answer to give.
    """
    lanes = s.lanes
    for row in range(edge(rows, lanes, lane), edge(rows, lanes, lane + 1)):
        if row > 0 and must_leave(lanes.stop):
            return
        start_row(engine, s, given, row, lane)


@inlined
def start_row(engine: Any, s: Any, given: Any, row: Any, lane: Any) -> None:
    """One row of the first population."""
    population, lanes = s.population, s.lanes
    if row >= given:
        init_row(engine, s, row, lane)
    evaluate_full(s, population.x, row, lane, lanes.state[lane], population.scores[row])
    for k in range(population.state.shape[1]):
        population.state[row, k] = lanes.state[lane, k]
    if population.prefix.shape[1] > 0:
        init_prefix(s.problem, population.x, row, population.prefix)
    update_best(s, lane, population.x, row, population.scores[row], 0, row)
