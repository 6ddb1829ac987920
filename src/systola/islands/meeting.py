"""Where the threads of synchronous demes wait for each other: a barrier as MPI has it, waited at in compiled code.

Python's own barrier puts threads to sleep and wakes them one by one under the interpreter's lock, which takes as long
as a stretch of iterations. Here who waits looks at a number for a while, without that lock, and sleeps only after it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from systola.jit.atomics import give_way, load, pause
from systola.jit.compile import Call, compile_for, kernel

_SPINS, _LOOKS = 500, 2000  # looks at the number before giving way to others; and before going to sleep


@kernel
def _watch(passed: Any, seen: Any) -> Any:
    """Whether passed[0] has become another number than `seen` while one looked at it."""
    for look in range(_LOOKS):
        if load(passed, 0) != seen:
            return True
        pause()
        if look > _SPINS:
            give_way()
    return False


def compile_waiting() -> None:
    """Compile what is waited in: before the time of a run begins."""
    if not numba.config.DISABLE_JIT:
        compile_for(Call(_watch, (np.zeros(1, np.int64), np.int64(0))))


class Meeting:
    """A barrier for some threads, again and again; the last to come does something before all go on."""

    def __init__(self, threads: int, action: Callable[[], None] = lambda: None) -> None:
        self._threads, self._action = threads, action
        self._passed = np.zeros(1, np.int64)  # meetings that are over
        self._arrived = 0
        self._sleep = threading.Condition()
        self._broken = False

    def wait(self) -> None:
        """Until all are here; a BrokenBarrierError if one of them will not come."""
        with self._sleep:
            if self._broken:
                raise threading.BrokenBarrierError
            seen = self._passed[0]
            self._arrived += 1
            if self._arrived == self._threads:
                self._arrived = 0
                self._action()
                self._passed[0] = seen + 1
                self._sleep.notify_all()
                return
        if not _watch(self._passed, seen):
            with self._sleep:
                self._sleep.wait_for(lambda: self._passed[0] != seen)
        if self._broken:
            raise threading.BrokenBarrierError

    def abort(self) -> None:
        """Nobody waits any longer."""
        with self._sleep:
            self._broken = True
            self._passed[0] += 1
            self._sleep.notify_all()
