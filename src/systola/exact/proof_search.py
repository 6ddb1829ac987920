"""The search of an engine and of an exact method side by side."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Any

import numpy as np

from systola.errors import InputError
from systola.exact.program_search import ProgramSearch
from systola.model.encodings import Array, Solutions
from systola.model.population import Population, ranks_above
from systola.model.problem import record_of
from systola.run.engine_search import EngineSearch
from systola.run.search import Found, Saved, Search, same_as

_BEST = "proof.best"  # among saved arrays


class ProofSearch(Search):
    """Steps are those of the engine; after each call it is seen what the exact method has told.

    Parameters
    ----------
    search
        Of the engine.
    prover
        The exact method.
    name
        Of the engine.
    """

    step = same_as("search.step", int)
    evaluations = same_as("search.evaluations", int)
    per_step = same_as("search.per_step", int)
    whole = same_as("search.whole", bool)
    backend = same_as("search.backend", str)
    threads = same_as("search.threads", int)
    memory = same_as("search.memory", int)

    def __init__(self, search: EngineSearch, prover: ProgramSearch, name: str) -> None:
        self.problem, self.search, self.prover, self._name = search.problem, search, prover, name
        self._record = record_of(self.problem)
        self._best: Found | None = None

    def compile(self) -> None:
        self.prover.launch()  # it gets ready while kernels are compiled
        self.search.on_kernel = self.on_kernel
        self.search.compile()

    def start(self, solutions: Solutions = ()) -> None:
        self.search.start(solutions)
        self.prover.start([self.search.best().decisions])
        self._compare()

    def advance(self, steps: int, seconds: float = math.inf) -> int:
        # The other one needs a core: threads that wait for each other would wait for that one, too.
        self.search.session.reserved = 0 if self.prover.finished else 1
        made = self.search.advance(steps, seconds)
        self.prover.advance(2**62, 0.0)
        self._compare()
        return made

    def _compare(self) -> None:
        """Note the best solution, and give it to whoever has a worse one."""
        mine, theirs = self.search.best(), self.prover.best()
        if ranks_above(self._record, mine.measures, theirs.measures):
            if self._best is None or ranks_above(self._record, mine.measures, self._best.measures):
                self._best = Found(mine.measures, mine.decisions, mine.step)
                self.prover.inject([self._best.decisions])
        elif self._best is None or ranks_above(self._record, theirs.measures, self._best.measures):
            self._best = Found(theirs.measures, theirs.decisions, self.step)
            if self.search.session.accepts_immigrants:
                with suppress(InputError):  # an engine that takes none
                    self.search.inject([theirs.decisions])
        self.finished = self.whole and (self.is_proven() or (self.prover.finished and self.prover.failure is None))

    def best(self) -> Found:
        assert self._best is not None
        return self._best

    def bound(self) -> float | None:
        return self.prover.bound()

    def is_proven(self) -> bool:
        return self.prover.is_proven()

    @property
    def notes(self) -> list[str]:
        return self.prover.notes

    def inject(self, solutions: Solutions) -> None:
        self.search.inject(solutions)

    def stop(self, at_once: bool = False) -> None:
        self.search.stop(at_once)

    def close(self) -> None:
        self.prover.close()
        self.search.close()

    def picture(self) -> dict[str, Any] | None:
        return self.search.picture()

    def population(self) -> Population:
        return self.search.population()

    def save(self) -> Saved | None:
        """The engine's state and the best solution; the proof begins anew."""
        saved = self.search.save()
        return None if saved is None else (saved[0], {**saved[1], _BEST: np.array(self.best().decisions)})

    def restore(self, state: dict[str, Any], arrays: dict[str, Array]) -> None:
        if _BEST not in arrays or arrays[_BEST].ndim != 1:
            raise InputError("the checkpoint must be one of a search with a proof, but is not")
        self.search.restore(state, {name: array for name, array in arrays.items() if name != _BEST})
        self.prover.start([arrays[_BEST]])
        self._compare()

    def race(self) -> list[dict[str, Any]]:
        proven, best = self.is_proven(), self.prover.best()
        verdict = (
            "proved it best" if proven else f"bound {self.bound()}" if self.bound() is not None else "no bound yet"
        )
        ahead = ranks_above(self._record, best.measures, self.search.best().measures)
        return [
            {"algorithm": self._name, "verdict": "behind" if ahead else "ahead"},
            {"algorithm": "exact", "verdict": verdict},
        ]
