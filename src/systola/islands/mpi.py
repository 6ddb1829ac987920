"""Demes shared by the processes of an MPI job (mpi4py, an extra).

Parcels travel by synchronous sends from a bounded number of slots. A slot is free again when the send is complete, that
is, when the receiver has begun to take the parcel in: so what is on its way is bounded, which buffered sends
(MPI_Ibsend, as in the paper) do not give. Nothing ever waits, but for `gather`, `agree_now` and `wait`.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from systola.encodings import Array
from systola.errors import InputError, MissingExtra
from systola.islands.parcel import Parcel, pack, size_of_parcel, unpack

_TAG = 7
_MOST_PROBES = 16  # messages taken in at a time: whoever is flooded must get on with its own work
_NAP_SECONDS = 30e-6
_SIZES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_SIZE")
_RANKS = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID")


_opened: list[MpiWorld] = []  # none or one


def told_size() -> int:
    """How many processes the job has, as whoever launched it says; 1 if nobody did."""
    return max(_tasks_of_slurm(), *(_told(name) or 1 for name in _SIZES), 1)


def told_rank() -> int:
    """The rank of this process, as MPI or whoever launched it says; 0 if nobody did."""
    if _opened:
        return _opened[0].rank
    if told_size() == 1:
        return 0  # a process alone has nobody who would speak for it, whatever a scheduler calls it
    told = (_told(name) for name in _RANKS)
    return next((rank for rank in told if rank is not None), 0)


def _tasks_of_slurm() -> int:
    told = _told("SLURM_STEP_NUM_TASKS" if "SLURM_STEP_NUM_TASKS" in os.environ else "SLURM_NTASKS")
    return told if told is not None and "SLURM_PROCID" in os.environ else 1


def _told(name: str) -> int | None:
    """A number that the environment tells; None if it tells none."""
    text = os.environ.get(name, "")
    return int(text) if re.fullmatch("[0-9]{1,9}", text) else None


def find_world() -> MpiWorld | None:
    """All processes of this job, if there are several; an error says what is missing."""
    if told_size() == 1:
        return None
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:  # mpi4py without a library raises RuntimeError
        reason = str(error).splitlines()[0]
        raise MissingExtra(f"a run on several processes ({reason}; an MPI library must be there, too)", "mpi") from None
    world = MpiWorld(MPI.COMM_WORLD)
    if _tasks_of_slurm() > 1 and world.size == 1:
        raise InputError(
            f"srun has started {_tasks_of_slurm()} tasks, but each of them is alone in its MPI world; choose the MPI "
            "that mpi4py was built for with srun --mpi=..."
        )
    _opened[:] = [world]
    return world if world.size > 1 else None


def leave(code: int) -> None:
    """After others have failed, end without MPI's last meeting, for which it would wait in vain."""
    if _opened and _opened[0].wounded:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


class MpiWorld:
    """A communicator. Where MPI can tolerate faults (ULFM, as Open MPI does), it shrinks to those who are left."""

    def __init__(self, communicator: Any) -> None:
        self.communicator = communicator
        self.rank: int = communicator.Get_rank()
        self.size: int = communicator.Get_size()
        self.wounded = False

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
        self.wounded = True
        return True

    def share(self, mine: Any) -> list[Any]:
        told: list[Any] = self.communicator.allgather(mine)
        return told

    def wait(self) -> None:
        _sleep_until(self.communicator.Ibarrier().Test)


def _sleep_until(is_met: Callable[[], bool]) -> None:
    """Ranks that spin take the cores from others, so they sleep."""
    while not is_met():
        time.sleep(_NAP_SECONDS)


class MpiTransport:
    """One process's end of a transport; `owners` has the rank of each deme."""

    def __init__(self, communicator: Any, owners: Sequence[int], slots: int, rate: int, row: Array) -> None:
        from mpi4py import MPI

        self._mpi = MPI
        self._world = communicator.Dup()
        self._control = communicator.Dup()
        self._rank, self._owners = self._world.Get_rank(), owners
        self._parcels, self._bytes, self._row = slots // rate, size_of_parcel(rate, row), row
        self._sends: dict[tuple[int, int], list[tuple[Any, Any]]] = defaultdict(list)
        self._mail: dict[int, list[Parcel]] = defaultdict(list)
        self._local: dict[tuple[int, int], int] = defaultdict(int)
        self._taking: list[tuple[Any, Any]] = []
        self._vote: tuple[Any, Any, Any] | None = None
        self._over = False

    def post(self, parcel: Parcel) -> bool:
        link = parcel.source, parcel.target
        rank = self._owners[parcel.target]
        if rank == self._rank:
            if self._local[link] >= self._parcels:
                return False
            self._local[link] += 1
            self._mail[parcel.target].append(parcel)
            return True
        self._sends[link] = [send for send in self._sends[link] if not send[0].Test()]
        if len(self._sends[link]) >= self._parcels:
            return False
        room = np.zeros(self._bytes, np.uint8)
        pack(parcel, room)
        self._sends[link].append((self._world.Issend([room, self._mpi.BYTE], dest=rank, tag=_TAG), room))
        return True

    def is_ready(self, deme: int, step: int) -> bool:
        return True

    def collect(self, deme: int, step: int) -> list[Parcel]:
        self._probe()
        box = self._mail.pop(deme, [])
        for parcel in box:
            if self._owners[parcel.source] == self._rank:
                self._local[parcel.source, deme] -= 1
        return box

    def _probe(self) -> None:
        """Take in some of what is there, for whichever deme of this process it is."""
        for _ in range(_MOST_PROBES):
            message = self._world.Improbe(source=self._mpi.ANY_SOURCE, tag=_TAG)
            if message is None:
                break
            room = np.zeros(self._bytes, np.uint8)
            self._taking.append((message.Irecv([room, self._mpi.BYTE]), room))
        while self._taking and self._taking[0][0].Test():
            _, room = self._taking.pop(0)
            parcel = unpack(room, self._row)
            self._mail[parcel.target].append(parcel)

    def gather(self) -> None:
        """My parcels have been taken in, then all ranks say so of theirs; until then, take in what comes."""

        def all_taken() -> bool:
            self._probe()
            return not self._taking and all(send[0].Test() for sends in self._sends.values() for send in sends)

        _sleep_until(all_taken)
        self._sends.clear()
        barrier = self._control.Ibarrier()

        def all_here() -> bool:
            self._probe()
            return bool(barrier.Test()) and not self._taking

        _sleep_until(all_here)

    def agree(self, halt: bool, done: bool) -> bool:
        """One vote is always under way, of what each rank said when it began; all learn its outcome in the same one."""
        if self._over:
            return True
        if self._vote is None:
            self._vote = self._begin_vote(halt, done)
        request, _, found = self._vote
        if request.Test():
            self._vote = None
            self._over = bool(found[0] or not found[1])
        return self._over

    def agree_now(self, halt: bool, done: bool) -> bool:
        request, _, found = self._begin_vote(halt, done)
        _sleep_until(request.Test)
        return bool(found[0] or not found[1])

    def _begin_vote(self, halt: bool, done: bool) -> tuple[Any, Any, Any]:
        mine, found = np.array([halt, not done], np.int32), np.zeros(2, np.int32)
        return self._control.Iallreduce(mine, found, op=self._mpi.MAX), mine, found
