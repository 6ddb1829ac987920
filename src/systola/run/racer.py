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
        self.ready.set()

    def wait(self) -> None:
        """Until other processes have compiled for it, or will not."""
        for job in self.jobs:
            job.over.wait()


def prepare_behind(racers: Sequence[Racer], compilers: Compilers, closed: threading.Event) -> None:
    """Have the others of a race ready, whose first one runs already; by other processes, if there can be any.

    What only the winner needs, to take the solutions of others, comes last.
    """
    for racer in (*racers[1:], racers[0]):
        racer.list_jobs()
    compilers.begin([job for racer in (*racers[1:], racers[0]) for job in racer.jobs])
    for racer in racers[1:]:
        racer.wait()
        if closed.is_set():
            return
        racer.prepare()
    for racer in racers:
        racer.wait()
        if closed.is_set():
            return
        if racer.search and racer.failure is None:
            with suppress(NumbaError):  # it takes no solutions, then
                racer.search.session.compile_immigration()
    compilers.end()


def is_saved_racer(row: Json) -> bool:
    """Whether this can be what `save` tells of a racer: its step, turns, seconds and verdict."""
    if not isinstance(row, list) or len(row) != 4 or not isinstance(row[3], str):
        return False
    return is_whole(row[0], -1) and is_whole(row[1], 0, ROUNDS) and is_number(row[2])
