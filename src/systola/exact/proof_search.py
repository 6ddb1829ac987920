"""The search of an engine and of an exact method side by side."""

from __future__ import annotations

import math
import time
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
# How long the exact method has to be of use: a part of the seconds there are, and at least so many. It has been if it
# has found a better solution, or if its bound has closed that part of the gap.
_TRIAL, _LEAST_TRIAL = 0.25, 1.0
_CLOSED = 0.25


class ProofSearch(Search):
    """Steps are those of the engine; after each call it is seen what the exact method has told.

    An exact method that gets nowhere on a large problem is ended early, so that the engine has its core, too.

    Parameters
    ----------
    search
        Of the engine.
    prover
        The exact method.
    name
        Of the engine.
    seconds
        The budget, endless if there is none.
    """

    step = same_as("search.step", int)
    evaluations = same_as("search.evaluations", int)
    per_step = same_as("search.per_step", int)
    whole = same_as("search.whole", bool)
    backend = same_as("search.backend", str)
    threads = same_as("search.threads", int)
    memory = same_as("search.memory", int)

    def __init__(self, search: EngineSearch, prover: ProgramSearch, name: str, seconds: float = math.inf) -> None:
        self.problem, self.search, self.prover, self._name = search.problem, search, prover, name
        self._record = record_of(self.problem)
        self._best: Found | None = None
        self._trial = max(_TRIAL * seconds, _LEAST_TRIAL)
        self._first_bound: float | None = None
        self._was_ahead = self._is_given_up = False

    def compile(self) -> None:
        self.prover.launch()  # it gets ready while kernels are compiled
        self.search.on_kernel = self.on_kernel
        self.search.compile()

    def start(self, solutions: Solutions = ()) -> None:
        self.search.start(solutions)
        self._enter([self.search.best().decisions])

    def _enter(self, known: Solutions) -> None:
        """The exact method begins, with what is known."""
        self.prover.start(known)
        self._compare()

    def advance(self, steps: int, seconds: float = math.inf) -> int:
        # The other one needs a core: threads that wait for each other would wait for that one, too.
        self.search.session.reserved = int(self._is_proving)
        made = self.search.advance(steps, seconds)
        if self._is_proving:
            self.prover.advance(2**62, 0.0)
        self._compare()
        if self._is_proving and time.perf_counter() - self.prover.began > self._trial:
            self._trial = math.inf  # it is judged once
            if not self.finished and not self._is_of_use():
                self._is_given_up = True
                self.prover.close()
        return made

    @property
    def _is_proving(self) -> bool:
        return not self.prover.finished and not self._is_given_up

    def _is_of_use(self) -> bool:
        """Whether the exact method has found something better, or its bound comes nearer fast enough.

        One that tells nothing before its end is given the benefit of the doubt.
        """
        bound, first = self.bound(), self._first_bound
        if self._was_ahead or not self.prover.tells_on_the_way:
            return True
        return bound is not None and first is not None and abs(bound - first) >= _CLOSED * abs(self._worth() - first)

    def _worth(self) -> float:
        """Of the best solution, in the units of bounds."""
        return float(self.best().measures[0]) / self.problem.scale

    def _compare(self) -> None:
        """Note the best solution, and give it to whoever has a worse one."""
        mine, theirs = self.search.best(), self.prover.best()
        if ranks_above(self._record, mine.measures, theirs.measures):
            if self._best is None or ranks_above(self._record, mine.measures, self._best.measures):
                self._best = Found(mine.measures, mine.decisions, mine.step)
                if self._is_proving:
                    self.prover.inject([self._best.decisions])
        elif self._best is None or ranks_above(self._record, theirs.measures, self._best.measures):
            self._was_ahead = self._best is not None
            self._best = Found(theirs.measures, theirs.decisions, self.step)
            if self.search.session.accepts_immigrants:
                with suppress(InputError):  # an engine that takes none
                    self.search.inject([theirs.decisions])
        if self._first_bound is None:
            self._first_bound = self.bound()
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
        self._enter([arrays[_BEST]])

    def race(self) -> list[dict[str, Any]]:
        proven, best = self.is_proven(), self.prover.best()
        verdict = (
            "proved it best" if proven else f"bound {self.bound()}" if self.bound() is not None else "no bound yet"
        )
        if self._is_given_up:
            verdict += ", ended early"
        ahead = ranks_above(self._record, best.measures, self.search.best().measures)
        return [
            {"algorithm": self._name, "verdict": "behind" if ahead else "ahead"},
            {"algorithm": "exact", "verdict": verdict},
        ]
