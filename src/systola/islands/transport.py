"""How messages get from deme to deme, and how those who run them agree when to end.

A worker is whoever runs some of the demes, one after the other: a thread, or a process of MPI. The
contract: a full mailbox makes `post` return False; it never blocks the sender.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol, TypeVar

from systola.islands.meeting import Meeting
from systola.islands.message import Message
from systola.model.encodings import Array

END, BREAK = 1, 2  # halt: after this round of synchronous demes, or at once


class Vote(NamedTuple):
    """What a worker says; what all have said is the largest of each number."""

    halt: int = 0
    more: int = 0  # whether a deme has something left to do
    begun: int = 0  # checkpoints that are to be begun
    closed: int = 0  # those for which nothing is left to do
    whole: int = 0  # of these, those that are there to resume from

    @property
    def over(self) -> bool:
        """Whether all end now: someone wants to halt, or all are done."""
        return self.halt > 0 or not self.more


class Transport(Protocol):
    """One worker's end."""

    def post(self, message: Message) -> bool:
        """Send a message; false if there is no slot free for it."""

    def is_ready(self, deme: int, step: int) -> bool:
        """Whether a deme may import after this step; only a replay holds it back."""

    def collect(self, deme: int, step: int) -> list[Message]:
        """What has arrived for a deme, in the order of arrival."""

    def flush(self) -> None:
        """Wait until all that anybody has posted has arrived. All workers call it."""

    def waiting(self, deme: int) -> list[Message]:
        """What has arrived for a deme and was not collected."""

    def restore(self, messages: list[Message]) -> None:
        """What was waiting when a checkpoint was made."""

    def agree(self, vote: Vote) -> Vote | None:
        """What all have said by now, if that is known. Never waits; all learn the same end sooner or later."""

    def exchange(self, vote: Vote, importing: Mapping[int, int]) -> tuple[Vote, dict[int, list[Message]]]:
        """What all say now, and what anybody has posted until now to these demes, which have made so many steps.

        All workers call it and wait for each other. Nothing is handed out if one of them wants to halt at once.
        """

    def send_part(self, part: bytes) -> None:
        """Something for the first worker."""

    def collect_parts(self) -> list[bytes]:
        """To the first worker since it last asked."""


T = TypeVar("T")  # what processes tell each other


class World(Protocol):
    """The processes that share the demes of a run."""

    rank: int
    size: int
    job: str  # what all of them call it

    def connect(self, owners: Sequence[int], slots: int, rate: int, row: Array) -> Transport:
        """This process's end of a transport for solutions like this row, between demes with these ranks."""

    def survives(self, error: BaseException) -> bool:
        """Whether others have failed and those left may go on without them; rank and size are then new ones."""

    def check_same_run(self, digest: int) -> None:
        """Before the first step: an error if another process has failed, or is about to make another run."""

    def allgather(self, mine: T) -> list[T]:
        """What every process has to tell, in the order of ranks."""

    def gather(self, mine: T) -> list[T]:
        """The same for rank 0 alone; nothing for others."""

    def broadcast(self, told: T) -> T:
        """What rank 0 tells."""

    def barrier(self) -> None:
        """Until all are here."""


class Mailboxes:
    """The transport between threads of one process: a mailbox for each deme."""

    def __init__(self, workers: int, slots: int, rate: int) -> None:
        self.workers = workers
        self._slots = slots // rate  # messages
        self._lock = threading.Lock()
        self._mail: dict[int, list[Message]] = defaultdict(list)
        self._underway: dict[int, int] = defaultdict(int)  # by sender
        self._barrier = threading.Barrier(workers)
        self._round = Meeting(workers, self._hand_out)
        self._said: dict[int, Vote] = {}
        self._counted = Vote()
        self._importing: dict[int, int] = {}  # demes, and the steps that they have made
        self._handed: dict[int, list[Message]] = {}
        self._given_up = False
        self._parts: list[bytes] = []

    def post(self, message: Message) -> bool:
        with self._lock:
            if self._underway[message.source] >= self._slots:
                return False
            self._underway[message.source] += 1
            self._mail[message.target].append(message)
            return True

    def is_ready(self, deme: int, step: int) -> bool:
        return True

    def collect(self, deme: int, step: int) -> list[Message]:
        if not self._mail.get(deme):
            return []
        with self._lock:
            box = self._mail.pop(deme)
            for message in box:
                self._underway[message.source] -= 1
        return box

    def flush(self) -> None:
        self._barrier.wait()

    def waiting(self, deme: int) -> list[Message]:
        with self._lock:
            return list(self._mail.get(deme, ()))

    def restore(self, messages: list[Message]) -> None:
        with self._lock:
            for message in messages:
                self._underway[message.source] += 1
                self._mail[message.target].append(message)

    def agree(self, vote: Vote) -> Vote:
        with self._lock:
            self._said[threading.get_ident()] = vote
            return self._sum_up()

    def _sum_up(self) -> Vote:
        """What all have said by now; with the lock held."""
        told = _largest(self._said)
        if self._given_up:
            return told._replace(halt=BREAK)
        return told if len(self._said) == self.workers else told._replace(more=1)

    def exchange(self, vote: Vote, importing: Mapping[int, int]) -> tuple[Vote, dict[int, list[Message]]]:
        with self._lock:
            self._said[threading.get_ident()] = vote
            self._importing.update(importing)
        self._round.wait()
        return self._counted, {deme: self._handed[deme] for deme in importing if deme in self._handed}

    def _hand_out(self) -> None:
        """When all are here, and before anybody goes on and posts again: one barrier a round is enough."""
        self._counted = _largest(self._said)
        importing, self._importing = self._importing, {}
        halted = self._counted.halt == BREAK
        self._handed = {} if halted else {deme: self.collect(deme, step) for deme, step in importing.items()}

    def send_part(self, part: bytes) -> None:
        with self._lock:
            self._parts.append(part)

    def collect_parts(self) -> list[bytes]:
        with self._lock:
            parts, self._parts = self._parts, []
        return parts

    def abort(self) -> None:
        """After an error: nobody waits any longer."""
        self._given_up = True
        self._barrier.abort()
        self._round.abort()


def _largest(said: dict[int, Vote]) -> Vote:
    return Vote(*(max(numbers) for numbers in zip(*said.values(), strict=True)))
