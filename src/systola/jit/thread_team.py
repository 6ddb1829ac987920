"""Threads of our own: they enter a kernel beside the caller, and sleep while there is nothing to do."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from systola.jit.private import compiled_for
from systola.jit.shapes import Dispatcher
from systola.jit.team import ASLEEP, BROKEN, EXIT, STOP, member, new_team, publish

Kernel = Callable[..., int]
_WAKE_SECONDS = 1.0  # a sleeping thread looks for orders so often, should it miss being woken


class ThreadTeam:
    """The threads of one kernel, the caller's included.

    `work(*args, team, me)` is the kernel: thread 0 is the caller, who gives orders by `execute`; the others carry them
    out. A kernel that raises, in whichever thread, breaks up the team, and `execute` raises the same.
    """

    def __init__(self, work: Kernel, args: tuple[Any, ...], threads: int) -> None:
        self._work, self._args, self._team = work, args, new_team(threads)
        self._process = os.getpid()
        self._failures: list[BaseException] = []
        self._threads: list[threading.Thread] = []
        self._wakers: list[threading.Semaphore] = []
        self._end = weakref.finalize(self, _stop, self._team, self._wakers)

    @property
    def is_stopped(self) -> bool:
        """Whether it can take no orders any more: a fork does not copy threads, and a failure ends them."""
        return os.getpid() != self._process or bool(self._team[BROKEN])

    def execute(self, kind: int, threads: int, *rest: int) -> int:
        """Carry out an order with so many threads of the team; what the kernel returns.

        With more than one, the kernel must let them meet before it returns.
        """
        while len(self._threads) + 1 < threads:
            self._start_thread()
        try:
            _send_order(self._team, self._wakers[: threads - 1], (kind, threads, *rest))
            outcome = self._work(*self._args, self._team, np.int64(0))
        except BaseException:
            self._team[BROKEN] = 1
            self.stop()
            raise
        if self._team[BROKEN]:
            self.stop()
            raise self._failures[0]
        return int(outcome)

    def use_compiled(self, dispatcher: Dispatcher) -> None:
        """Call what was compiled without looking types up again: that takes as long as some steps."""
        if not numba.config.DISABLE_JIT:
            self._work = compiled_for(dispatcher, (*self._args, self._team, np.int64(0)))

    def _start_thread(self) -> None:
        """One more thread; not before it is needed, since the kernel may still have to be compiled."""
        self._wakers.append(threading.Semaphore(0))
        me = len(self._wakers)
        args = (self._work, self._args, self._team, me, self._wakers[-1], self._failures)
        self._threads.append(threading.Thread(target=_run_thread, args=args, daemon=True))
        self._threads[-1].start()

    def stop(self) -> None:
        """End the threads."""
        if os.getpid() == self._process:
            self._end()
            for thread in self._threads:
                thread.join()


def _send_order(team: NDArray[np.int64], wakers: list[threading.Semaphore], order: tuple[int, ...]) -> None:
    """Give these threads an order, and wake those of them who sleep."""
    publish(team, order, 1 + len(wakers))
    with threading.Lock():  # a full fence: all see the order before we look who sleeps
        pass
    for me, waker in enumerate(wakers, 1):
        if team[member(me) + ASLEEP]:
            waker.release()


def _stop(team: NDArray[np.int64], wakers: list[threading.Semaphore]) -> None:
    _send_order(team, wakers, (STOP, 1))


def _run_thread(
    work: Kernel,
    args: tuple[Any, ...],
    team: NDArray[np.int64],
    me: int,
    waker: threading.Semaphore,
    failures: list[BaseException],
) -> None:
    try:
        while work(*args, team, np.int64(me)) != EXIT:
            waker.acquire(timeout=_WAKE_SECONDS)
            team[member(me) + ASLEEP] = 0
    except BaseException as error:  # the caller raises it
        failures.append(error)
        team[BROKEN] = 1
