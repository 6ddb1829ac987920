"""Processes that do tasks side by side, and end with the process that started them, whatever ends that one."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import connection, resource_tracker
from multiprocessing.connection import Connection
from typing import Any, Generic, TypeVar

from systola.errors import SystolaError
from systola.signals import held_signals

Task = TypeVar("Task")
Outcome = TypeVar("Outcome")
_Answer = tuple[Any, Exception | None, str]  # an outcome, or else what was raised and where

_STOPPING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
_MOST_DEATHS = 3  # of workers: then something is wrong with all of them
_LAST_BREATH = 2.0  # seconds from the end of a pipe to that of the process


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
                        yield Death(task, worker.explain())
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
    """A process with a task, and the pipe to it."""

    def __init__(self, do: Callable[[Task], Outcome], task: Task) -> None:
        context = multiprocessing.get_context("spawn")  # never fork after a parallel region
        self.pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(do, theirs), daemon=True)
        resource_tracker.ensure_running()  # which unblocks signals when it starts
        # Ctrl-C goes to all processes of a terminal, `timeout` signals them all, too: workers leave it to us.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, _STOPPING)
        try:
            self._process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        theirs.close()  # so that its death is the end of the pipe
        self.give(task)

    def give(self, task: Task) -> None:
        self.task = task
        with suppress(OSError):  # if it has died, the end of the pipe will tell
            self.pipe.send(task)

    def listen(self) -> _Answer | None:
        """Its answer; None if it is dead."""
        try:
            answer: _Answer = self.pipe.recv()
        except (EOFError, OSError):
            return None
        return answer

    def explain(self) -> str:
        """Why a dead one died."""
        self._process.join(_LAST_BREATH)
        code = self._process.exitcode
        self.end()
        if code is None:
            return "it closed its pipe"
        return f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"

    def end(self) -> None:
        """It keeps nothing, so that it may end anywhere."""
        self._process.kill()
        self._process.join()
        self.pipe.close()


def _serve(do: Callable[[Any], Any], pipe: Connection) -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        while True:
            task = pipe.recv()
            answer: _Answer
            try:
                answer = (do(task), None, "")
            except Exception as error:
                answer = (None, error, traceback.format_exc())
            pipe.send(answer)
    except (EOFError, OSError, KeyboardInterrupt):
        return


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None  # spawned
    parent.join()
    os._exit(1)
