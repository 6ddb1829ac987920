"""One of the searches in a race."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from systola.engines.engine import Design
from systola.reading import Json, is_number, is_whole
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
        Makes the search and compiles it.
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

    def prepare(self) -> None:
        """Open the search; any thread may do so, once."""
        try:
            self.search = self.open()
        except Exception as error:
            self.failure = error
        self.ready.set()


def is_saved_racer(row: Json) -> bool:
    """Whether this can be what `save` tells of a racer: its step, turns, seconds and verdict."""
    if not isinstance(row, list) or len(row) != 4 or not isinstance(row[3], str):
        return False
    return is_whole(row[0], -1) and is_whole(row[1], 0, ROUNDS) and is_number(row[2])
