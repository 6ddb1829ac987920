"""Evaluations by processes of our own: one that crashes or hangs costs no other."""

from __future__ import annotations

import importlib
import importlib.util
import math
import pickle
import sys
import time
from collections import deque
from multiprocessing import connection
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from systola.black_box.evaluation import Failure, Objective, Outcome
from systola.errors import InputError, ObjectiveError
from systola.model.encodings import Array
from systola.model.problem import Problem
from systola.run.child_process import ChildProcess, lead_own_group

_READY = "ready"
_SHORT_SECONDS = 0.05  # evaluations for which a worker has the next task before it is done with one
_MOST_FAILED_STARTS = 3  # one after the other, of workers that take the place of others


_Task = tuple[int, Array]  # the number of a solution, and its decisions


class _Worker:
    """A process, and what it is at."""

    def __init__(self, described: bytes) -> None:
        self.child: ChildProcess[bytes | Array] = ChildProcess(_serve, imports_main=True)
        self.child.send(described)
        self.is_ready = False
        self.tasks: deque[_Task] = deque()  # the first is the one that it is at
        self.since = 0.0

    def give(self, task: _Task) -> None:
        if not self.tasks:
            self.since = time.perf_counter()
        self.tasks.append(task)
        self.child.send(task[1])

    def take(self) -> tuple[int, float]:
        """It is done with a task: its number, and the seconds that it took."""
        now = time.perf_counter()
        took, self.since = now - self.since, now
        return self.tasks.popleft()[0], took


class Processes:
    """So many workers, each of which measures one solution at a time.

    Who has measured one would wait for the next as long as a message takes to and fro. Where evaluations are so short
    that this counts, and there are enough for all, a worker is given the next one while it is still at the last.

    Parameters
    ----------
    problem, compiled
        What is measured, and whether Numba can compile its objective.
    count
        Of workers.
    seconds
        How long an evaluation may take.
    """

    def __init__(self, problem: Problem, compiled: bool, count: int, seconds: float = math.inf) -> None:
        self._problem, self._compiled, self._count, self._seconds = problem, compiled, count, seconds
        self._described = b""
        self._workers: list[_Worker] = []
        self._tasks: deque[_Task] = deque()
        self._pace = math.inf  # seconds that an evaluation takes
        self._failed_starts = 0

    def open(self) -> None:
        """Start all workers, and wait until they are ready."""
        self._described = _describe(self._problem, self._compiled)
        self._workers = [_Worker(self._described) for _ in range(self._count)]
        while not all(worker.is_ready for worker in self._workers):
            for worker in self._heard_of(math.inf):
                self._listen(worker)

    def submit(self, number: int, decisions: Array) -> None:
        self._tasks.append((number, decisions))

    def gather(self, seconds: float) -> list[tuple[int, Outcome]]:
        outcomes: list[tuple[int, Outcome]] = []
        until = time.perf_counter() + seconds
        while not outcomes and (self._tasks or self._busy()):
            self._hand_out()
            now = time.perf_counter()
            limit = min((worker.since + self._seconds for worker in self._busy()), default=math.inf)
            for worker in self._heard_of(max(0.0, min(until, limit) - now)):
                outcomes += self._listen(worker)
            now = time.perf_counter()
            for worker in [worker for worker in self._busy() if now - worker.since >= self._seconds]:
                outcomes += self._give_up(worker, f"took longer than {self._seconds:g} s")
            if now >= until:
                break
        self._hand_out()  # before what has come is looked at: nobody is to wait for that
        return outcomes

    def _hand_out(self) -> None:
        ready = [worker for worker in self._workers if worker.is_ready]
        for depth in range(2 if self._pace < _SHORT_SECONDS else 1):
            for worker in ready:
                if len(self._tasks) > depth * self._count and len(worker.tasks) == depth:
                    worker.give(self._tasks.popleft())

    def _busy(self) -> list[_Worker]:
        return [worker for worker in self._workers if worker.tasks]

    def _heard_of(self, seconds: float) -> list[_Worker]:
        """Workers that say something, or are dead, as soon as there is one."""
        timeout = None if seconds == math.inf else seconds
        ready = connection.wait([worker.child.pipe for worker in self._workers], timeout)
        return [worker for worker in self._workers if worker.child.pipe in ready]

    def _listen(self, worker: _Worker) -> list[tuple[int, Outcome]]:
        message: Any = worker.child.receive()
        if message is None:
            if worker.is_ready:
                return self._give_up(worker, f"ended the process that called it ({worker.child.explain()})")
            return self._bury_unready(worker, worker.child.explain())
        if not worker.is_ready:
            if message != _READY:
                return self._bury_unready(worker, message)
            worker.is_ready, self._failed_starts = True, 0
            return []
        number, took = worker.take()
        self._pace = took if self._pace == math.inf else 0.9 * self._pace + 0.1 * took
        return [(number, message)]

    def _give_up(self, worker: _Worker, what: str) -> list[tuple[int, Outcome]]:
        """End a worker, start another one in its place, and say what became of its solution."""
        worker.child.end()
        self._workers[self._workers.index(worker)] = _Worker(self._described)
        if not worker.tasks:
            return []
        number, _ = worker.take()
        self._tasks.extendleft(reversed(worker.tasks))  # which it had not begun
        return [(number, Failure(what))]

    def _bury_unready(self, worker: _Worker, why: str) -> list[tuple[int, Outcome]]:
        """One that died when it started: at the beginning that is an error of the user's, later maybe bad luck."""
        worker.child.end()
        self._failed_starts += 1
        if not any(other.is_ready for other in self._workers) or self._failed_starts >= _MOST_FAILED_STARTS:
            worker.child.refuse_unguarded()
            raise ObjectiveError(f"a worker could not be started for {type(self._problem).__name__}: {why}")
        self._workers[self._workers.index(worker)] = _Worker(self._described)
        return []

    def close(self) -> None:
        for worker in self._workers:
            worker.child.end()
        self._workers, self._tasks = [], deque()


def _describe(problem: Problem, compiled: bool) -> bytes:
    """All that a worker needs to know, for it to unpickle when it can say what is wrong."""
    objective = Objective(problem, compiled)
    name, module = type(problem).__name__, objective.function.__module__
    file = getattr(sys.modules.get(module), "__file__", None)
    if module == "__main__" and file is None:
        raise InputError(
            f"workers are processes that import {name}.evaluate, but it was defined in a notebook or an interactive "
            "session, where they cannot; put the class into a file and import it from there, or give `workers` a "
            "concurrent.futures.ThreadPoolExecutor"
        )
    try:
        pickled = pickle.dumps(objective)
    except Exception as error:
        raise InputError(
            f"workers are sent {name}.evaluate by pickle, but it cannot be ({error}); define the class at the top of a "
            "module"
        ) from None
    return pickle.dumps((module, file, pickled))


def _serve(pipe: Connection) -> None:
    lead_own_group()
    try:
        objective = _load(pipe.recv())
    except Exception as error:
        pipe.send(f"{type(error).__name__}: {error}")
        return
    pipe.send(_READY)
    while True:
        pipe.send(objective.measure(pipe.recv()))


def _load(described: bytes) -> Objective:
    module, file, pickled = pickle.loads(described)
    if file is not None and module not in sys.modules:
        _import(module, file)
    objective: Objective = pickle.loads(pickled)
    return objective


def _import(module: str, file: str) -> None:
    """Import a module by its name, or from the file that it was loaded from, if it was so by hand."""
    try:
        importlib.import_module(module)
    except ImportError:
        spec = importlib.util.spec_from_file_location(module, Path(file))
        if spec is None or spec.loader is None:
            raise
        sys.modules[module] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[module])
