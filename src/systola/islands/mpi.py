"""Demes shared by the processes of an MPI job (mpi4py, an extra).

Messages are sent synchronously from a bounded number of slots. A slot is free again when the send is complete, that
is, when the receiver has begun to receive it: so what is on its way is bounded, which buffered sends
(MPI_Ibsend, as in the paper) do not give. Nothing ever waits, but for `flush`, `exchange` and `barrier`.
"""

from __future__ import annotations

import os
import re
import secrets
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from systola.errors import InputError, MissingExtra, SystolaError
from systola.islands.message import Message, message_size, pack, unpack
from systola.islands.transport import BREAK, T, Vote
from systola.model.encodings import Array

if TYPE_CHECKING:
    from mpi4py import MPI

_TAG, _PART = 7, 9
_MOST_PROBES = 16  # messages received at a time: whoever is flooded must get on with its own work
_NAP_SECONDS = 30e-6
_PATIENCE_SECONDS = 5.0  # with others that may have the same error to tell
_SIZES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_SIZE")


_opened: list[MpiWorld] = []  # none or one


def job_size() -> int:
    """How many processes the job has, as whoever launched it says; 1 if nobody did."""
    return max(_tasks_of_slurm(), *(_environment_number(name) or 1 for name in _SIZES), 1)


def job_rank() -> int:
    """The rank of this process; 0 if it is alone."""
    return _opened[0].rank if _opened else 0


def _tasks_of_slurm() -> int:
    told = _environment_number("SLURM_STEP_NUM_TASKS" if "SLURM_STEP_NUM_TASKS" in os.environ else "SLURM_NTASKS")
    return told if told is not None and "SLURM_PROCID" in os.environ else 1


def _environment_number(name: str) -> int | None:
    """A number that the environment tells; None if it tells none."""
    text = os.environ.get(name, "")
    return int(text) if re.fullmatch("[0-9]{1,9}", text) else None


def find_world() -> MpiWorld | None:
    """All processes of this job, if there are several; an error says what is missing."""
    if job_size() == 1:
        return None
    if not _opened:
        try:
            from mpi4py import MPI
        except (ImportError, RuntimeError) as error:  # mpi4py without a library raises RuntimeError
            reason = str(error).splitlines()[0]
            what = f"a run on several processes ({reason}; an MPI library must be there, too)"
            raise MissingExtra(what, "mpi") from None
        _opened.append(MpiWorld(MPI.COMM_WORLD))
    world = _opened[0]
    if _tasks_of_slurm() > 1 and world.size == 1:
        raise InputError(
            f"srun has started {_tasks_of_slurm()} tasks, but each of them is alone in its MPI world; choose the MPI "
            "that mpi4py was built for with srun --mpi=..."
        )
    return world if world.size > 1 else None


def leave(code: int) -> None:
    """After others have failed, end without MPI's last meeting, for which it would wait in vain."""
    if _opened and _opened[0].degraded:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def fail(show: Callable[[], None], code: int) -> None:
    """Before this process ends with an error: show it, once if others have the same, and end the others, too."""
    world = _opened[0] if _opened and _opened[0].size > 1 else None
    if world is None:
        show()
        return
    if not world.has_met:
        world.join_meeting(code, None, time.monotonic() + _PATIENCE_SECONDS)
    if world.reporter in (None, world.rank):
        show()
        sys.stdout.flush()
        sys.stderr.flush()
    if world.reporter is None:
        world.communicator.Abort(code)
    world.barrier(time.monotonic() + _PATIENCE_SECONDS)  # until it is shown


class FailedElsewhere(SystolaError):
    """Another process of the job has failed, and says why."""

    def __init__(self, code: int) -> None:
        super().__init__("another process of this job has failed")
        self.exit_code = code


class MpiWorld:
    """A communicator. Where MPI can tolerate faults (ULFM, as Open MPI does), it shrinks to those who are left."""

    def __init__(self, communicator: MPI.Comm) -> None:
        self.communicator = communicator
        self.rank: int = communicator.Get_rank()
        self.size: int = communicator.Get_size()
        self.degraded = False
        self.has_met = False
        self.reporter: int | None = None  # who says why the job ends, if all know that it does
        self._meeting = communicator.Dup()
        self.job: str = communicator.bcast(secrets.token_hex(8))  # what all processes call it

    def connect(self, owners: Sequence[int], slots: int, rate: int, row: Array) -> MpiTransport:
        return MpiTransport(self.communicator, owners, slots, rate, row)

    def survives(self, error: BaseException) -> bool:
        """Whether this error says that a process has failed and the others may go on; then they are all there is."""
        from mpi4py import MPI

        kinds = ("ERR_PROC_FAILED", "ERR_PROC_FAILED_PENDING", "ERR_REVOKED")
        known = [getattr(MPI, kind) for kind in kinds if hasattr(MPI, kind)]
        if not isinstance(error, MPI.Exception) or error.Get_error_class() not in known:
            return False
        self.communicator.Revoke()  # whoever has not noticed yet does so now
        self.communicator = self.communicator.Shrink()
        self.rank, self.size = self.communicator.Get_rank(), self.communicator.Get_size()
        self.degraded = True
        return True

    def check_same_run(self, digest: int) -> None:
        """Before the first step: an error if another process has failed, or is about to make another run."""
        code, same = self.join_meeting(0, digest, None)
        if code:
            raise FailedElsewhere(code)
        if not same:
            self.reporter = 0
            raise InputError(
                "all processes of a job must make the same run, but they have different instances, algorithms, "
                "parameters, budgets or checkpoints; start all of them with the same options and files"
            )

    def join_meeting(self, code: int, digest: int | None, until: float | None) -> tuple[int, bool]:
        """Meet the others: the exit code of those that have failed, and whether the digests of others are the same.

        Nobody knows the reporter if they have not come in time.
        """
        from mpi4py import MPI

        least = -(2**62)
        failing = self.size - self.rank if code else 0
        digests = [least, least] if digest is None else [digest, -digest]
        mine, found = np.array([code, failing, *digests], np.int64), np.zeros(4, np.int64)
        request = self._meeting.Iallreduce(mine, found, op=MPI.MAX)
        if not _sleep_until(request.Test, until):
            return code, True
        self.has_met = True
        if found[0]:
            self.reporter = self.size - int(found[1])
        return int(found[0]), bool(found[2] == -found[3] or found[2] == least)

    def allgather(self, mine: T) -> list[T]:
        told: list[T] = self.communicator.allgather(mine)
        return told

    def gather(self, mine: T) -> list[T]:
        return self.communicator.gather(mine) or []

    def broadcast(self, told: T) -> T:
        known: T = self.communicator.bcast(told)
        return known

    def barrier(self, until: float | None = None) -> None:
        _sleep_until(self.communicator.Ibarrier().Test, until)


def _sleep_until(is_met: Callable[[], bool], until: float | None = None) -> bool:
    """Ranks that spin take the cores from others, so they sleep; whether it was met in time."""
    while not is_met():
        if until is not None and time.monotonic() > until:
            return False
        time.sleep(_NAP_SECONDS)
    return True


class MpiTransport:
    """One process's end of a transport; `owners` has the rank of each deme."""

    def __init__(self, communicator: MPI.Comm, owners: Sequence[int], slots: int, rate: int, row: Array) -> None:
        from mpi4py import MPI

        self._mpi = MPI
        self._world = communicator.Dup()
        self._control = communicator.Dup()
        self._rank, self._owners = self._world.Get_rank(), owners
        self._slots, self._bytes, self._row = slots // rate, message_size(rate, row), row
        self._sends: dict[int, list[tuple[Any, Any]]] = defaultdict(list)  # by deme that sends
        self._mail: dict[int, list[Message]] = defaultdict(list)
        self._local: dict[int, int] = defaultdict(int)  # under way to demes of this process, by deme that sends
        self._taking: list[tuple[Any, Any]] = []
        self._vote: tuple[Any, Any, Any] | None = None
        self._over: Vote | None = None
        self._parts: list[bytes] = []  # handed in to rank 0
        self._giving: list[tuple[Any, Any]] = []
        self._getting: list[tuple[Any, Any]] = []

    def post(self, message: Message) -> bool:
        source, rank = message.source, self._owners[message.target]
        self._sends[source] = [send for send in self._sends[source] if not send[0].Test()]
        if self._local[source] + len(self._sends[source]) >= self._slots:
            return False
        if rank == self._rank:
            self._local[source] += 1
            self._mail[message.target].append(message)
            return True
        room = np.zeros(self._bytes, np.uint8)
        pack(message, room)
        self._sends[source].append((self._world.Issend([room, self._mpi.BYTE], dest=rank, tag=_TAG), room))
        return True

    def is_ready(self, deme: int, step: int) -> bool:
        return True

    def collect(self, deme: int, step: int) -> list[Message]:
        self._probe()
        box = self._mail.pop(deme, [])
        for message in box:
            if self._owners[message.source] == self._rank:
                self._local[message.source] -= 1
        return box

    def waiting(self, deme: int) -> list[Message]:
        return list(self._mail.get(deme, ()))

    def restore(self, messages: list[Message]) -> None:
        for message in messages:
            self._mail[message.target].append(message)
            if self._owners[message.source] == self._rank:
                self._local[message.source] += 1

    def _probe(self) -> None:
        """Take in some of what is there, for whichever deme of this process it is."""
        for _ in range(_MOST_PROBES):
            probed = self._world.Improbe(source=self._mpi.ANY_SOURCE, tag=_TAG)
            if probed is None:
                break
            room = np.zeros(self._bytes, np.uint8)
            self._taking.append((probed.Irecv([room, self._mpi.BYTE]), room))
        while self._taking and self._taking[0][0].Test():
            _, room = self._taking.pop(0)
            message = unpack(room, self._row)
            self._mail[message.target].append(message)

    def send_part(self, part: bytes) -> None:
        room = np.frombuffer(part, np.uint8)
        self._giving = [send for send in self._giving if not send[0].Test()]
        self._giving.append((self._world.Issend([room, self._mpi.BYTE], dest=0, tag=_PART), room))

    def collect_parts(self) -> list[bytes]:
        self._take_parts()
        parts, self._parts = self._parts, []
        return parts

    def _take_parts(self) -> None:
        if self._rank > 0:
            return
        status = self._mpi.Status()
        while (probed := self._world.Improbe(source=self._mpi.ANY_SOURCE, tag=_PART, status=status)) is not None:
            room = np.zeros(status.Get_count(self._mpi.BYTE), np.uint8)
            self._getting.append((probed.Irecv([room, self._mpi.BYTE]), room))
        done = [got for got in self._getting if got[0].Test()]
        self._getting = [got for got in self._getting if all(got is not other for other in done)]
        self._parts += [room.tobytes() for _, room in done]

    def flush(self) -> None:
        """Wait until my messages have been received and all ranks say so of theirs; meanwhile receive what comes."""

        def all_taken() -> bool:
            self._probe()
            self._take_parts()
            sends = [*self._giving, *(send for sends in self._sends.values() for send in sends)]
            return not self._taking and not self._getting and all(send[0].Test() for send in sends)

        _sleep_until(all_taken)
        self._sends.clear()
        self._giving.clear()
        barrier = self._control.Ibarrier()

        def all_here() -> bool:
            self._probe()
            self._take_parts()
            return bool(barrier.Test()) and not self._taking and not self._getting

        _sleep_until(all_here)

    def agree(self, vote: Vote) -> Vote | None:
        """One poll is always under way, of what each rank said when it began; all learn its outcome in the same one."""
        if self._over is not None:
            return self._over
        if self._vote is None:
            self._vote = self._begin_vote(vote)
        request, _, found = self._vote
        if not request.Test():
            return None
        self._vote = None
        told = Vote(*found.tolist())
        if told.over:
            self._over = told
        return told

    def exchange(self, vote: Vote, importing: Mapping[int, int]) -> tuple[Vote, dict[int, list[Message]]]:
        self.flush()
        arrived = {deme: self.collect(deme, step) for deme, step in importing.items()}
        request, _, found = self._begin_vote(vote)  # all have collected before anybody sends again
        _sleep_until(request.Test)
        told = Vote(*found.tolist())
        if told.halt == BREAK:
            self.restore([message for messages in arrived.values() for message in messages])
            return told, {}
        return told, arrived

    def _begin_vote(self, vote: Vote) -> tuple[Any, Any, Any]:
        mine, found = np.array(vote, np.int64), np.zeros(len(vote), np.int64)
        return self._control.Iallreduce(mine, found, op=self._mpi.MAX), mine, found
