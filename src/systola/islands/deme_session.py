"""Steps of one deme, on one thread and without the interpreter's lock, an immigrant accepted before each of them."""

from __future__ import annotations

from typing import Any

from systola.backends.cpu import CpuSession
from systola.backends.session import Setup
from systola.engines.migration import empty_pool
from systola.jit.compile import kernel
from systola.model.encodings import Array
from systola.model.problem import space_of
from systola.model.rng import MIGRATE, draw


def _draw_for_deme(seed: Any, step: Any, deme: Any, k: Any) -> Any:
    """Random numbers for what a deme decides outside of its steps."""
    return draw(seed, MIGRATE, step, deme, k)


draw_for_deme = kernel(_draw_for_deme)


class DemeSession(CpuSession):
    """A run of one lane on one thread, with a pool of immigrants."""

    def __init__(self, setup: Setup, compiled: bool, places: int) -> None:
        super().__init__(setup, 1, compiled, lanes=1)
        row = setup.problem.encoding.empty(space_of(setup.problem), 1)[0]
        self.pool = self._pool = empty_pool(places, row)
        self.memory += sum(array.nbytes for array in self.pool)

    def row(self, place: int) -> Array:
        """A solution of the population."""
        copied: Array = self._population.x[place].copy()
        return copied

    @property
    def best_bytes(self) -> bytes:
        """Another one whenever there is a better solution than before."""
        measures: bytes = self._lanes.score[0].tobytes()
        return measures
