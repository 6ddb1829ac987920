"""Processes that do tasks side by side, and end with the process that started them, whatever ends that one."""

from __future__ import annotations

import multiprocessing
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import connection
from multiprocessing.connection import Connection
from typing import Any, Generic, TypeVar

from systola.errors import SystolaError
from systola.run.child_process import ChildProcess, refuse_while_importing
from systola.run.signals import held_signals

Task = TypeVar("Task")
Outcome = TypeVar("Outcome")
_Answer = tuple[Any, Exception | None, str]  # an outcome, or else what was raised and where

_MOST_DEATHS = 3  # of workers: then something is wrong with all of them


@dataclass(frozen=True)
class Death(Generic[Task]):
    """A worker ended in the middle of a task."""

    task: Task
    why: str


class Request:
    """A signal asked to finish."""


def work(
    do: Callable[[Task], Outcome], tasks: Iterable[Task], count: int
) -> Generator[tuple[Task, Outcome] | Death[Task] | Request, None, None]:
    """Do tasks in so many processes; gives each with its outcome as it finishes, in any order.

    A worker that dies is told of and replaced; its task is not done again, for it may be what killed it. After a few
    deaths no other is started. A request to finish (Ctrl-C, SIGTERM, SIGHUP) is the last item; a second ends at once.
    What a task raises is raised here. Close this when you leave it: that ends all workers.
    """
    refuse_while_importing()
    queue, deaths = iter(tasks), 0
    workers: list[_Worker[Task, Outcome]] = []
    with _requests() as requests:
        try:
            while True:
                while len(workers) < count and deaths < _MOST_DEATHS and (task := next(queue, None)) is not None:
                    workers.append(_Worker(do, task))
                if not workers:
                    return
                ready = connection.wait([requests, *(worker.pipe for worker in workers)])
                for worker in [worker for worker in workers if worker.pipe in ready]:
                    task = worker.task
                    answer = worker.listen()
                    if answer is None:
                        deaths += 1
                        workers.remove(worker)
                        why = worker.explain()
                        worker.refuse_unguarded()
                        yield Death(task, why)
                        continue
                    outcome, error, trace = answer
                    if error is not None:
                        raise error from (None if isinstance(error, SystolaError) else RuntimeError(trace))
                    following = next(queue, None)
                    if following is None:
                        workers.remove(worker)
                        worker.end()
                    else:
                        worker.give(following)
                    yield task, outcome
                if requests in ready:
                    yield Request()
                    return
        finally:
            for worker in workers:
                worker.end()


@contextmanager
def _requests() -> Iterator[Connection]:
    """Something to read as soon as a signal asks to finish."""
    reader, writer = multiprocessing.Pipe(duplex=False)

    def tell() -> None:
        with suppress(OSError):  # too late: the work is done
            writer.send(None)

    with reader, writer, held_signals(tell):
        yield reader


class _Worker(Generic[Task, Outcome]):
    """A process with a task."""

    def __init__(self, do: Callable[[Task], Outcome], task: Task) -> None:
        self._child: ChildProcess[Task] = ChildProcess(_serve, do, imports_main=True)
        self.pipe, self.end, self.explain = self._child.pipe, self._child.end, self._child.explain
        self.refuse_unguarded = self._child.refuse_unguarded
        self.give(task)

    def give(self, task: Task) -> None:
        self.task = task
        self._child.send(task)

    def listen(self) -> _Answer | None:
        """Its answer; None if it is dead."""
        answer: _Answer | None = self._child.receive()
        return answer


def _serve(pipe: Connection, do: Callable[[Any], Any]) -> None:
    while True:
        task = pipe.recv()
        answer: _Answer
        try:
            answer = (do(task), None, "")
        except Exception as error:
            answer = (None, error, traceback.format_exc())
        pipe.send(answer)
