"""How parcels get from deme to deme, and how those who run them agree when to end.

A worker is whoever runs some of the demes, one after the other: a thread, or a process of MPI. What every transport
counts on: a worker that does not collect keeps others from posting to it, never from going on.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Protocol

from systola.encodings import Array
from systola.islands.parcel import Parcel


class Transport(Protocol):
    """One worker's end."""

    def post(self, parcel: Parcel) -> bool:
        """Send a parcel; false if there is no slot free for it."""

    def is_ready(self, deme: int, step: int) -> bool:
        """Whether a deme may import after this step; only a replay holds it back."""

    def collect(self, deme: int, step: int) -> list[Parcel]:
        """What has arrived for a deme, in the order of arrival."""

    def gather(self) -> None:
        """Wait until all that anybody has posted has arrived. All workers call it."""

    def agree(self, halt: bool, done: bool) -> bool:
        """Whether all end now: someone wants to halt, or all are done. Never waits; all learn it sooner or later."""

    def agree_now(self, halt: bool, done: bool) -> bool:
        """The same, at once: all workers call it and wait for each other."""


class World(Protocol):
    """The processes that share the demes of a run."""

    rank: int
    size: int

    def connect(self, owners: Sequence[int], slots: int, rate: int, row: Array) -> Transport:
        """This process's end of a transport for solutions like this row, between demes with these ranks."""

    def survives(self, error: BaseException) -> bool:
        """Whether others have failed and those left may go on without them; rank and size are then new ones."""

    def share(self, mine: Any) -> list[Any]:
        """What every process has to tell, in the order of ranks."""

    def wait(self) -> None:
        """Until all are here."""


class Mailboxes:
    """The transport between threads of one process: a mailbox for each deme."""

    def __init__(self, workers: int, slots: int, rate: int) -> None:
        self.workers = workers
        self._slots = slots // rate  # parcels
        self._lock = threading.Lock()
        self._mail: dict[int, list[Parcel]] = defaultdict(list)
        self._underway: dict[tuple[int, int], int] = defaultdict(int)
        self._barrier = threading.Barrier(workers)
        self._halted = threading.Event()
        self._done: set[int] = set()
        self._halts, self._dones = 0, 0

    def post(self, parcel: Parcel) -> bool:
        with self._lock:
            link = parcel.source, parcel.target
            if self._underway[link] >= self._slots:
                return False
            self._underway[link] += 1
            self._mail[parcel.target].append(parcel)
            return True

    def is_ready(self, deme: int, step: int) -> bool:
        return True

    def collect(self, deme: int, step: int) -> list[Parcel]:
        if not self._mail.get(deme):
            return []
        with self._lock:
            box = self._mail.pop(deme)
            for parcel in box:
                self._underway[parcel.source, deme] -= 1
        return box

    def gather(self) -> None:
        self._barrier.wait()

    def agree(self, halt: bool, done: bool) -> bool:
        if halt:
            self._halted.set()
        if done:
            with self._lock:
                self._done.add(threading.get_ident())
        return self._halted.is_set() or len(self._done) == self.workers

    def agree_now(self, halt: bool, done: bool) -> bool:
        if self._barrier.wait() == 0:
            self._halts = self._dones = 0
        self._barrier.wait()
        with self._lock:
            self._halts += halt
            self._dones += done
        self._barrier.wait()
        return self._halts > 0 or self._dones == self.workers

    def give_up(self) -> None:
        """After an error: nobody waits any longer."""
        self._halted.set()
        self._barrier.abort()
