"""A search whose solutions are measured by workers: the batches are the engine's, whoever measures them."""

from __future__ import annotations

import math
import time
from concurrent.futures import Executor

import numpy as np

from systola.black_box.evaluation import Evaluator, Failure, Outcome, check_measures, shown
from systola.black_box.executor import ExecutorEvaluator
from systola.black_box.processes import Processes
from systola.black_box.search import AskingSearch
from systola.engines.engine import Engine
from systola.errors import InputError, ObjectiveError, SystolaError
from systola.model.encodings import Array
from systola.model.problem import Problem, space_of
from systola.run.child_process import refuse_while_importing
from systola.run.probing import compiles, kind_of_measures

_LOOK_SECONDS = 0.05  # from one look at whether to stop to the next
_TRIES = 2
_MOST_WORKERS = 1024


class WorkerSearch(AskingSearch):
    """An engine whose batches are measured by an evaluator.

    Parameters
    ----------
    problem, engine, seed, compiled
        As of an `AskingSearch`.
    workers, evaluation_seconds
        As for `solve`.

    Attributes
    ----------
    probe : array
        A solution by which it is seen what is measured.
    """

    def __init__(
        self,
        problem: Problem,
        engine: Engine,
        seed: int,
        compiled: bool,
        workers: int | Executor,
        evaluation_seconds: float | None = None,
    ) -> None:
        refuse_while_importing()
        check_workers(workers, evaluation_seconds)
        super().__init__(problem, engine, seed, compiled)
        self.probe = problem.encoding.example(space_of(problem))
        limit = math.inf if evaluation_seconds is None else evaluation_seconds
        self.compiles = compiled and compiles(problem, self.probe)
        self._evaluator: Evaluator
        if isinstance(workers, (int, np.integer)):
            self._evaluator = Processes(problem, self.compiles, int(workers), limit)
        else:
            self._evaluator = ExecutorEvaluator(problem, self.compiles, workers)
        self._count = int(workers) if isinstance(workers, (int, np.integer)) else 2  # who knows how many
        self._left = False
        self._largest = 0  # of the batches after the first population
        self._batch: dict[int, None] = {}  # what the workers were given
        self._failures: dict[int, int] = {}  # how often the evaluation of an entry has failed

    def compile(self) -> None:
        """Start the workers, and measure a solution to see what is measured."""
        self._evaluator.open()
        outcome: Outcome = Failure("")
        for _ in range(_TRIES):
            self._evaluator.submit(0, self.probe)
            found: list[tuple[int, Outcome]] = []
            while not found:
                found = self._evaluator.gather(math.inf)
            outcome = found[0][1]
            if not isinstance(outcome, Failure):
                break
        if isinstance(outcome, Failure):
            raise self._explain(outcome, self.probe)
        count, dtype = kind_of_measures(self.problem, outcome[0] if len(outcome) == 1 else outcome, self.compiles)
        check_measures(self.problem, self.probe, outcome, count, dtype)
        self.prepare(count, dtype)
        self.know(self.probe, outcome)

    def advance(self, steps: int, seconds: float = math.inf) -> int:
        made, until = 0, time.perf_counter() + seconds
        try:
            while not self._left and not (self._stopped and self.whole) and self.failure is None:
                made += super().advance(steps - made, until - time.perf_counter())
                self._submit()
                if not self.waiting or time.perf_counter() >= until:
                    break
                for entry, outcome in self._evaluator.gather(min(_LOOK_SECONDS, until - time.perf_counter())):
                    self._take(entry, outcome)
        except SystolaError as error:  # what was found so far is not lost for it
            self.failure = error
        return made

    def _submit(self) -> None:
        """Give the workers what is waited for, when that is something else than last time."""
        if self.waiting is not self._batch:
            self._batch = self.waiting
            self._failures.clear()
            if not self._starting:
                self._largest = max(self._largest, len(self.waiting))
            for entry in self.waiting:
                self._evaluator.submit(entry, self.decisions(entry))

    def _take(self, entry: int, outcome: Outcome) -> None:
        if isinstance(outcome, Failure):
            self._failures[entry] = self._failures.get(entry, 0) + 1
            if self._failures[entry] == _TRIES:
                raise self._explain(outcome, self.decisions(entry))
            self._evaluator.submit(entry, self.decisions(entry))
            return
        values = self.session.values.table.values
        check_measures(self.problem, self.decisions(entry), outcome, values.shape[1], values.dtype)
        self.tell(entry, outcome)

    def _explain(self, failure: Failure, decisions: Array) -> ObjectiveError:
        error = ObjectiveError(
            f"{type(self.problem).__name__}.evaluate {failure.what}, and so again when it was tried once more, for "
            f"the solution {shown(decisions)}"
        )
        if failure.trace:
            error.__cause__ = RuntimeError(failure.trace)
        return error

    @property
    def notes(self) -> list[str]:
        if not 0 < self._largest < self._count:
            return []
        amount = "one solution" if self._largest == 1 else f"{self._largest} solutions"
        return [
            f"{self.engine.name} makes at most {amount} at a time, so more workers than that have nothing to do; other "
            "engines make more, such as black-box"
        ]

    def stop(self, at_once: bool = False) -> None:
        super().stop(at_once)
        self._left = self._left or at_once

    def close(self) -> None:
        self._evaluator.close()


def check_workers(workers: int | Executor, evaluation_seconds: float | None) -> None:
    """An InputError if they are none."""
    count = isinstance(workers, (int, np.integer)) and not isinstance(workers, bool)
    if isinstance(workers, (int, np.integer)) and count and not 1 <= workers <= _MOST_WORKERS:
        raise InputError(f"`1 <= workers <= {_MOST_WORKERS}` must hold, but got {workers}")
    if not count and not callable(getattr(workers, "submit", None)):
        raise InputError(
            f"`workers` must be a number of processes, or an executor of concurrent.futures, but got {workers!r}"
        )
    if evaluation_seconds is None:
        return
    number = isinstance(evaluation_seconds, (int, float, np.integer, np.floating))
    if not number or isinstance(evaluation_seconds, bool) or not evaluation_seconds > 0:
        raise InputError(f"`evaluation_seconds > 0` must hold, but got {evaluation_seconds!r}")
    if not count:
        raise InputError("`evaluation_seconds` is for workers=N: an executor's evaluations cannot be ended from here")
