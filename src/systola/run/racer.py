"""The searches in a race, and how they get ready while the first one runs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from numba.core.errors import NumbaError

from systola.engines.engine import Design
from systola.reading import Json, is_number, is_whole
from systola.run.compilers import Compilers, Job
from systola.run.engine_search import EngineSearch

ROUNDS = 2


@dataclass
class Racer:
    """A search in a race, and how it has fared so far.

    Parameters
    ----------
    name
        Of its engine.
    design
        What the engine has planned for the problem.
    open
        Makes the search; it is not compiled yet.
    """

    name: str
    design: Design
    open: Callable[[], EngineSearch]
    search: EngineSearch | None = field(default=None, init=False)
    failure: Exception | None = field(default=None, init=False)
    ready: threading.Event = field(default_factory=threading.Event, init=False)
    turns: int = field(default=0, init=False)  # that counted
    seconds: float = field(default=0.0, init=False)
    started: bool = field(default=False, init=False)
    verdict: str = field(default="", init=False)  # why it is out

    jobs: list[Job] = field(default_factory=list, init=False)  # of kernels that are to be compiled for it

    def list_jobs(self) -> None:
        """Open the search, and see what is to be compiled for it."""
        try:
            self.search = self.search or self.open()
            self.jobs = self.search.jobs()
        except Exception as error:
            self.failure = error

    def prepare(self) -> None:
        """Have a search that is compiled; any thread may do so, once."""
        try:
            if self.failure is None:
                self.search = self.search or self.open()
                self.search.compile()
        except Exception as error:
            self.failure = error

    def complete(self) -> None:
        """Have also what it takes solutions of others by, for which a winner would stop otherwise."""
        if self.search and self.failure is None:
            with suppress(NumbaError):  # it takes none, then
                self.search.session.compile_immigration()

    @property
    def is_served(self) -> bool:
        """Whether other processes have done what they do for it."""
        return all(job.over.is_set() for job in self.jobs)


def prepare_behind(racers: Sequence[Racer], compilers: Compilers, closed: threading.Event) -> None:
    """Have the others of a race ready, whose first one runs already; by other processes, if there can be any."""
    first, *others = racers
    for racer in (*others, first):
        racer.list_jobs()
        compilers.begin(racer.jobs)
        if racer.is_served and not _get_ready(racer, racers, closed):
            return
    for racer in others:
        if not _get_ready(racer, racers, closed):
            return
    compilers.end()


def _get_ready(racer: Racer, racers: Sequence[Racer], closed: threading.Event) -> bool:
    """As soon as other processes are done; before the last one, also what only the first one still needs."""
    for job in racer.jobs:
        job.over.wait()
    if closed.is_set():
        return False
    if not racer.ready.is_set():
        racer.prepare()
        racer.complete()
        if all(other.ready.is_set() for other in racers if other is not racer):
            for job in racers[0].jobs:
                job.over.wait()
            racers[0].complete()
        racer.ready.set()
    return True


def is_saved_racer(row: Json) -> bool:
    """Whether this can be what `save` tells of a racer: its step, turns, seconds and verdict."""
    if not isinstance(row, list) or len(row) != 4 or not isinstance(row[3], str):
        return False
    return is_whole(row[0], -1) and is_whole(row[1], 0, ROUNDS) and is_number(row[2])
