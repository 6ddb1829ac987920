"""What messages cost between the processes of an MPI job, measured with the transport that islands use."""

from __future__ import annotations

import time
from collections.abc import Callable
from math import ceil, log2
from statistics import median
from typing import Any

import numpy as np

from systola.islands.message import Message, message_size
from systola.islands.mpi import MpiWorld, find_world

_RATE = 2  # solutions in a message
_ROW = np.zeros(1600, np.int32)  # as those of the paper's largest instance
_REPEATS = 400
_WARM_UP = 40
_TAG = 8


def measure_messages(world: MpiWorld) -> dict[str, float]:
    """Fields of `Machine` for messages of two solutions with 1,600 items each.

    All processes of the job call this, and all get the same: medians, of what passes between ranks 0 and 1, and of
    barriers of all. Nothing else should run on their cores.
    """
    size = message_size(_RATE, _ROW)
    empty, full = (_time_journey(world, bytes_) for bytes_ in (0, size))
    export, take, probe = _time_handling(world)
    costs = {
        "latency": empty,
        "byte_seconds": max(0.0, full - empty) / size,
        "export_seconds": export,
        "import_seconds": take,
        "probe_seconds": probe,
        "barrier_seconds": _time_barrier(world),
    }
    return dict(world.allgather(costs)[0])


def find_message_costs() -> tuple[int, dict[str, float]]:
    """The rank of this process, and what messages cost in its job; nothing if it has no other process."""
    world = find_world()
    return (world.rank, measure_messages(world)) if world else (0, {})


def _repeat(act: Callable[[], float]) -> float:
    for _ in range(_WARM_UP):
        act()
    return median(act() for _ in range(_REPEATS))


def _timed(act: Callable[[], Any]) -> float:
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


def _time_journey(world: MpiWorld, size: int) -> float:
    """Half of the time there and back."""
    room, communicator, other = np.zeros(size, np.uint8), world.communicator, 1 - world.rank

    def there_and_back() -> float:
        began = time.perf_counter()
        if world.rank == 0:
            communicator.Send(room, dest=other, tag=_TAG)
        communicator.Recv(room, source=other, tag=_TAG)
        if world.rank == 1:
            communicator.Send(room, dest=other, tag=_TAG)
        return (time.perf_counter() - began) / 2

    return _repeat(there_and_back) if world.rank < 2 else 0.0


def _time_handling(world: MpiWorld) -> tuple[float, float, float]:
    """What rank 0 needs to post a message, to take one that is there, and to see that there is none."""
    # Slots enough for all: that a message was taken is not always known at once, and the other waits for the next one.
    transport = world.connect(range(world.size), (_WARM_UP + _REPEATS) * _RATE, _RATE, _ROW)
    probing = _repeat(lambda: _timed(lambda: transport.collect(world.rank, 0)))
    message = Message(1 - world.rank, world.rank, 0, 0, np.zeros(_RATE, np.uint8), np.stack([_ROW] * _RATE))
    posting, taking = [], []
    for _ in range(_WARM_UP + _REPEATS):
        world.barrier()  # both have emptied their boxes
        if world.rank < 2:
            posting.append(_timed(lambda: transport.post(message)))
        world.communicator.Barrier()
        came = False
        while world.rank < 2 and not came:
            began = time.perf_counter()
            came = bool(transport.collect(world.rank, 0))
            took = time.perf_counter() - began
        if world.rank < 2:
            taking.append(took)
    transport.flush()  # before its buffers go, the other may still read from them
    return median(posting[_WARM_UP:] or [0.0]), median(taking[_WARM_UP:] or [0.0]), probing


def _time_barrier(world: MpiWorld) -> float:
    """Of each level of its tree."""
    return _repeat(lambda: _timed(world.communicator.Barrier)) / ceil(log2(world.size))
