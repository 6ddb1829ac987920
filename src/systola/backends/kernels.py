"""CUDA kernels: a thread finds its lane and does what a lane does. `grid` is Numba's, found when compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from systola.backends.lane import start_lane, step_lane
from systola.backends.step import at_step
from systola.backends.threads import thread_number
from systola.engines.engine import end_step, reduce_lanes
from systola.jit.dispatch import Implementation
from systola.model.population import OUT_OF_ROOM, best_lane, comes_first, copy_best


def start(engine: Any, base: Any, given: Any, rows: Any, low: Any, high: Any) -> None:
    """The first population, lanes low <= lane < high."""
    lane = low + thread_number()
    if lane < high:
        start_lane(engine, base, given, rows, lane)


def sweep(engine: Any, base: Any, cells: Any, step: Any, low: Any, high: Any) -> None:
    """One step, lanes low <= lane < high."""
    lane = low + thread_number()
    if lane < high:
        step_lane(engine, at_step(engine, base, step), cells, lane)


def reduce(engine: Any, base: Any, stride: Any) -> None:
    """Each thread reduces its share of lanes to the first of them."""
    lane = thread_number()
    if lane < stride:
        reduce_lanes(engine, base, lane, stride)


def end(engine: Any, base: Any, step: Any) -> None:
    """One thread ends the step; population.memory[OUT_OF_ROOM] says whether there was room for it."""
    if thread_number() == 0:
        done = end_step(engine, at_step(engine, base, step))
        base.population.memory[OUT_OF_ROOM] = 0 if done else 1


def reduce_best_partial(problem: Any, lanes: Any, partial: Any) -> None:
    """Each thread finds the best of its share of lanes."""
    k = thread_number()
    if k < partial.shape[0]:
        partial[k] = best_lane(problem, lanes, k, np.int64(partial.shape[0]))


def reduce_best(problem: Any, lanes: Any, partial: Any, best: Any) -> None:
    """One thread picks the best of the partial results."""
    if thread_number() == 0:
        chosen = partial[0]
        for k in range(1, partial.shape[0]):
            if comes_first(problem, lanes, partial[k], chosen):
                chosen = partial[k]
        copy_best(lanes, chosen, best)


KERNELS: dict[str, Implementation] = {
    "start": start,
    "sweep": sweep,
    "reduce_lanes": reduce,
    "end_step": end,
    "reduce_best_partial": reduce_best_partial,
    "reduce_best": reduce_best,
}
