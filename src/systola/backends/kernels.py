"""CUDA kernels: a thread finds its lane and does what a lane does. `grid` is Numba's, found when compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from systola.backends.lane import start_lane, step_lane
from systola.backends.step import at_step
from systola.backends.threads import thread_number
from systola.engines.engine import end_step, reduce_lanes
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


def gather(engine: Any, base: Any, stride: Any) -> None:
    """Each thread brings what its share of lanes has found to the first of them."""
    lane = thread_number()
    if lane < stride:
        reduce_lanes(engine, base, lane, stride)


def close(engine: Any, base: Any, step: Any) -> None:
    """One thread does what is done once in a step; population.memory[LACKING] says whether there was room for it."""
    if thread_number() == 0:
        done = end_step(engine, at_step(engine, base, step))
        base.population.memory[OUT_OF_ROOM] = 0 if done else 1


def scout(problem: Any, lanes: Any, scouts: Any) -> None:
    """Each thread finds the best of its share of lanes."""
    k = thread_number()
    if k < scouts.shape[0]:
        scouts[k] = best_lane(problem, lanes, k, np.int64(scouts.shape[0]))


def crown(problem: Any, lanes: Any, scouts: Any, best: Any) -> None:
    """One thread picks among the scouts' lanes."""
    if thread_number() == 0:
        chosen = scouts[0]
        for k in range(1, scouts.shape[0]):
            if comes_first(problem, lanes, scouts[k], chosen):
                chosen = scouts[k]
        copy_best(lanes, chosen, best)


KERNELS: dict[str, Callable[..., None]] = {
    "start": start,
    "sweep": sweep,
    "gather": gather,
    "close": close,
    "scout": scout,
    "crown": crown,
}
