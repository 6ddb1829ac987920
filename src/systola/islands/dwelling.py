"""Steps of one deme, on one thread and without the interpreter's lock, with one guest let in before each of them."""

from __future__ import annotations

from typing import Any

from systola.backends.cpu import CpuSession
from systola.backends.session import Work
from systola.engines.migration import make_pool
from systola.jit.compile import kernel
from systola.model.encodings import Array
from systola.model.problem import space_of
from systola.model.rng import MIGRATE, draw


def _toss(seed: Any, step: Any, deme: Any, k: Any) -> Any:
    """Random numbers for what a deme decides outside of its steps."""
    return draw(seed, MIGRATE, step, deme, k)


toss = kernel(_toss)


class Dwelling(CpuSession):
    """A run of one lane on one thread, with a pool of guests."""

    def __init__(self, work: Work, compiled: bool, places: int) -> None:
        super().__init__(work, 1, compiled, lanes=1)
        row = work.problem.encoding.empty(space_of(work.problem), 1)[0]
        self.pool = self._pool = make_pool(places, row)
        self.memory += sum(array.nbytes for array in self.pool)

    def row(self, place: int) -> Array:
        """A solution of the population."""
        copied: Array = self._population.x[place].copy()
        return copied

    @property
    def mark(self) -> bytes:
        """Another one whenever there is a better solution than before."""
        measures: bytes = self._lanes.score[0].tobytes()
        return measures
