"""The search that solves a next release problem: a few plain knapsacks.

Fitness is the worse of two distances, one that grows with the cost and one that shrinks with the value. With c the
least cost at which the first one is no less than the second one for the best value within that cost, a best solution is
the best one within c or within c - 1: who costs more is further by the first distance, who costs less by the second
one. Ties are broken by cost, then by value.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from systola.errors import InputError
from systola.exact.knapsack_search import KnapsackSearch, Sack
from systola.model.encodings import Array, Solutions
from systola.model.population import ranks_above
from systola.model.problem import record_of, space_of
from systola.problems.next_release import NextRelease
from systola.reading import is_whole
from systola.run.search import Found, Saved, Search

_HALVING, _CHEAPEST, _RICHEST = range(3)  # what the knapsack at work is for
_BEST, _INNER = "best", "inner."


class ReleaseSearch(Search):
    """Knapsacks one after the other; a step is one of theirs.

    Parameters
    ----------
    problem
        What is solved.
    memory
        Bytes for the states of a knapsack.
    """

    def __init__(self, problem: NextRelease, memory: int) -> None:
        self.problem, self._memory = problem, memory
        self._record = record_of(problem)
        self._costs, self._values = problem.costs, problem.values
        self.step = self.evaluations = 0
        self._stage, self._before = _HALVING, 0
        self._low, self._high = -1, int(self._costs.sum())
        self._best: Found | None = None
        self._sack: KnapsackSearch | None = None
        self._asked = self._proven = False

    @property
    def backend(self) -> str:
        return "cpu"

    def compile(self) -> None:
        KnapsackSearch(self.problem, Sack(self._costs, self._values, 0), 1).compile()

    def start(self, solutions: Solutions = ()) -> None:
        n = len(self._costs)
        for decisions in (np.zeros(n, np.uint8), np.ones(n, np.uint8)):
            self._note(decisions)
        if len(solutions):
            self.inject(solutions)
        self._next()

    def inject(self, solutions: Solutions) -> None:
        encoding, space = self.problem.encoding, space_of(self.problem)
        for decisions in encoding.load(space, encoding.store(space, solutions)):
            self._note(decisions.astype(np.uint8))

    def _note(self, decisions: Array) -> None:
        chosen = decisions.astype(np.int64)
        measures = np.array([self._costs @ chosen, self._values @ chosen], np.int64)
        self.evaluations += 1
        if self._best is None or ranks_above(self._record, measures, self._best.measures):
            self._best = Found(measures, decisions, self.step)

    def _distances(self, cost: int, value: int) -> tuple[int, int]:
        problem = self.problem
        far_cost = (problem.parts - problem.share) * cost * problem.all_value
        return far_cost, problem.share * (problem.all_value - value) * problem.all_cost

    def _next(self) -> None:
        """Open the knapsack that comes next."""
        if self._stage == _HALVING and self._high - self._low <= 1:
            self._stage = _CHEAPEST
        if self._stage == _HALVING:
            self._open(Sack(self._values, self._costs, (self._low + self._high) // 2))
        elif self._stage == _CHEAPEST:  # what is left out is as dear as can be
            self._open(Sack(self._costs, self._values, int(self._values.sum()) - self._least_value()))
        else:
            assert self._best is not None
            self._open(Sack(self._values, self._costs, int(self._best.measures[0])))

    def _least_value(self) -> int:
        """Of solutions that are as fit as the best one."""
        assert self._best is not None
        problem, (cost, value) = self.problem, self._best.measures.tolist()
        price = problem.share * problem.all_cost
        return max(0, problem.all_value - max(self._distances(cost, value)) // price) if price else 0

    def _open(self, sack: Sack) -> None:
        self._before = self.step
        self._sack = KnapsackSearch(self.problem, sack, self._memory)
        self._sack.start()

    def advance(self, steps: int, seconds: float = math.inf) -> int:
        first = self.step
        while not self.finished and self.step - first < steps and not self._asked:
            assert self._sack is not None
            sack = self._sack
            sack.advance(steps - (self.step - first), seconds)
            self.step = self._before + sack.step
            if sack.finished:
                self._close_sack(sack)
            elif seconds < math.inf:
                break
        self.evaluations = max(self.evaluations, self.step + 1)
        return self.step - first

    def _close_sack(self, sack: KnapsackSearch) -> None:
        chosen = sack.best().decisions
        self._note(1 - chosen if self._stage == _CHEAPEST else chosen)
        if not sack.is_proven():
            self.finished, self.ending = True, "memory"
            return
        if self._stage == _HALVING:
            middle, value = sack.sack.capacity, int(sack.best().measures[0])
            far_cost, far_value = self._distances(middle, value)
            self._low, self._high = (self._low, middle) if far_cost >= far_value else (middle, self._high)
        elif self._stage == _CHEAPEST:
            self._stage = _RICHEST
        else:
            self.finished = self._proven = True
            return
        self._next()

    def best(self) -> Found:
        assert self._best is not None
        return self._best

    def is_proven(self) -> bool:
        return self._proven

    def stop(self, at_once: bool = False) -> None:
        self._asked = True
        if self._sack:
            self._sack.stop(at_once)

    def save(self) -> Saved:
        assert self._sack is not None
        inner, arrays = self._sack.save()
        state = {
            "step": self.step,
            "stage": [self._stage, self._low, self._high, self._before, self.best().step, self.evaluations],
            "ended": [self.finished, self.ending, self._proven],
            "inner": inner,
        }
        return state, {_BEST: self.best().decisions, **{f"{_INNER}{name}": array for name, array in arrays.items()}}

    def restore(self, state: dict[str, Any], arrays: dict[str, Array]) -> None:
        numbers, ended, best = state.get("stage"), state.get("ended"), arrays.get(_BEST)
        fits = isinstance(numbers, list) and len(numbers) == 6 and all(is_whole(v, -1) for v in numbers)
        fits = fits and is_whole(state.get("step")) and isinstance(ended, list) and len(ended) == 3
        if not fits or best is None or best.shape != self._costs.shape or not isinstance(state.get("inner"), dict):
            raise InputError("the checkpoint must be one of an exact search like this one, but is not")
        assert isinstance(numbers, list)
        assert isinstance(ended, list)
        self._note(best.astype(np.uint8))
        self._stage, self._low, self._high, before, found_at, evaluations = numbers
        self._next()
        assert self._sack is not None
        own = {name.removeprefix(_INNER): array for name, array in arrays.items() if name.startswith(_INNER)}
        self._sack.restore(state["inner"], own)
        self.step, self._before, self.best().step, self.evaluations = state["step"], before, found_at, evaluations
        self.finished, self.ending, self._proven = bool(ended[0]), str(ended[1]), bool(ended[2])
