"""Evaluations by an executor of the user's: threads, processes, Dask, MPI, whatever has `submit`."""

from __future__ import annotations

import math
import queue
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from typing import Any

from systola.black_box.evaluation import Failure, Objective, Outcome
from systola.errors import InputError
from systola.model.encodings import Array
from systola.model.problem import Problem


def measure(objective: Objective, decisions: Array) -> Outcome:
    """What an executor is asked to do; the objective, with the problem's data, travels with each solution."""
    return objective.measure(decisions)


class ExecutorEvaluator:
    """The executor stays the user's: it is neither started nor ended here."""

    def __init__(self, problem: Problem, compiled: bool, executor: Executor) -> None:
        self._objective, self._executor = Objective(problem, compiled), executor
        self._under_way: set[Future[Any]] = set()
        self._done: queue.SimpleQueue[tuple[int, Future[Any]]] = queue.SimpleQueue()

    def open(self) -> None:
        pass

    def submit(self, number: int, decisions: Array) -> None:
        try:
            future = self._executor.submit(measure, self._objective, decisions)
        except RuntimeError as error:  # it is shut down, or broken
            raise InputError(f"the executor takes no evaluations: {error}; give `workers` one that does") from error
        self._under_way.add(future)
        future.add_done_callback(lambda done: self._done.put((number, done)))

    def gather(self, seconds: float) -> list[tuple[int, Outcome]]:
        if not self._under_way:
            return []
        outcomes = []
        try:
            timeout = None if seconds == math.inf else max(0.0, seconds)
            outcomes.append(self._read(*self._done.get(timeout=timeout)))
            while True:
                outcomes.append(self._read(*self._done.get_nowait()))
        except queue.Empty:
            return outcomes

    def _read(self, number: int, future: Future[Any]) -> tuple[int, Outcome]:
        self._under_way.discard(future)
        try:
            outcome: Outcome = future.result()
        except BrokenExecutor as error:
            raise InputError(
                f"the executor is broken ({error}), as when a process of it has died; with workers=N a crashed "
                "evaluation costs only that one"
            ) from error
        except (Exception, CancelledError) as error:  # what comes of sending things to and fro
            outcome = Failure(f"could not be called there: {type(error).__name__}: {error}")
        return number, outcome

    def close(self) -> None:
        for future in self._under_way:
            future.cancel()
        self._under_way.clear()
