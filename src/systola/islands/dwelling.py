"""Steps of one deme, on one thread and without the interpreter's lock, with one guest let in before each of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np

from systola.backends.cpu import CpuSession
from systola.backends.lane import edge
from systola.backends.session import Work
from systola.encodings import Array
from systola.engines.engine import advance, conclude, phase
from systola.engines.immigration import admit
from systola.kernel import kernel
from systola.rng import MIGRATE, draw
from systola.stop_flag import LEFT, is_asked

HEAD, COUNT, INJECTED = range(3)  # of a pool's state


class Pool(NamedTuple):
    """Solutions that have arrived: a queue that runs in circles."""

    guests: Array  # [places, words or decisions]
    elite: Array  # [places] whether it was the best of its deme
    state: Array  # where the oldest is, how many there are, how many were let in


def _dwell(
    engine: Any,
    space: Any,
    problem: Any,
    population: Any,
    lanes: Any,
    pool: Any,
    seed: Any,
    cells: Any,
    step: Any,
    steps: Any,
) -> Any:
    """`steps` steps from `step` on; how many were made before the host asked to stop."""
    for t in range(step, step + steps):
        if is_asked(lanes.stop):
            return t - step
        if t == 1:
            conclude(engine, space, problem, population, lanes, seed, 0)
        if pool.state[COUNT] > 0:
            which = pool.state[HEAD]
            admit(engine, space, problem, population, lanes, pool.guests, which, pool.elite[which] != 0, seed, t)
            pool.state[HEAD] = (which + 1) % pool.guests.shape[0]
            pool.state[COUNT] -= 1
            pool.state[INJECTED] += 1
        shared = phase(engine, t)
        for k in range(lanes.step.shape[0]):
            lane = np.int64(k)
            first, last = edge(cells, lanes, lane), edge(cells, lanes, lane + 1)
            advance(engine, space, problem, population, lanes, seed, t, shared, first, last, lane)
        if lanes.stop[LEFT] != 0:
            return t - step
        conclude(engine, space, problem, population, lanes, seed, t)
    return steps


def _toss(seed: Any, step: Any, deme: Any, k: Any) -> Any:
    """Random numbers for what a deme decides outside of its steps."""
    return draw(seed, MIGRATE, step, deme, k)


dwell = kernel(_dwell)
toss = kernel(_toss)


class Dwelling(CpuSession):
    """A run of one lane on one thread, with a pool of guests."""

    def __init__(self, work: Work, compiled: bool, places: int) -> None:
        super().__init__(work, 1, compiled, lanes=1)
        row = work.problem.encoding.empty(work.problem.space, 1)[0]
        self.pool = make_pool(places, row)
        self.memory += sum(array.nbytes for array in self.pool)
        self._dwell: Any = dwell if compiled else _dwell

    def dwell(self, step: int, steps: int) -> int:
        """Make `steps` steps from `step` on; how many were made before a stop."""
        args = (
            self._work.design.record,
            self._space,
            self._record,
            self._population,
            self._lanes,
            self.pool,
            np.uint64(self._work.seed),
            self._work.design.cells,
            step,
            steps,
        )
        with self.blamed():
            made: int = self._dwell(*args)
        if self._dwell is dwell and not numba.config.DISABLE_JIT:
            # Types stay what they are; looking them up takes as long as some steps.
            self._dwell = dwell.get_overload(tuple(numba.typeof(arg) for arg in args))
        return made

    def row(self, place: int) -> Array:
        """A solution of the population."""
        copied: Array = self._population.x[place].copy()
        return copied

    @property
    def mark(self) -> bytes:
        """Another one whenever there is a better solution than before."""
        measures: bytes = self._lanes.score[0].tobytes()
        return measures


def make_pool(places: int, row: Array) -> Pool:
    """An empty pool for solutions like this one."""
    return Pool(np.zeros((places, *row.shape), row.dtype), np.zeros(places, np.uint8), np.zeros(3, np.int64))


def put_in(pool: Pool, row: Array, elite: bool) -> bool:
    """Add a solution; whether it took the place of the oldest one, because the pool is full."""
    places = len(pool.guests)
    full = bool(pool.state[COUNT] == places)
    if full:
        pool.state[HEAD] = (pool.state[HEAD] + 1) % places
        pool.state[COUNT] -= 1
    at = int(pool.state[HEAD] + pool.state[COUNT]) % places
    pool.guests[at] = row
    pool.elite[at] = elite
    pool.state[COUNT] += 1
    return full
