"""All that compile the kernels of a run: this process, and others beside it where there are cores for them."""

from __future__ import annotations

import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numba

from systola.jit.cache import cache_folder
from systola.jit.compile import Call, compile_for, is_compiled, key_of
from systola.run.compiler_process import CompilerProcess, KernelPlan, describe

Tell = Callable[[str], None]  # is told which kernel is next: "kernel 2 of 4: ..."


# What other processes compile at the moment, also for runs that are over: the next one must not begin it anew.
_under_way: dict[Any, threading.Event] = {}
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_under_way.clear)  # nobody would tell a fork that it is over


def tell_nobody(what: str) -> None:
    """For those who need not know what is compiled."""


@dataclass(eq=False)
class Job:
    """A kernel that is to be compiled."""

    call: Call
    name: str  # in its session
    engine: str
    plan: bytes | None  # for another process, if it can be told
    over: threading.Event = field(default_factory=threading.Event)  # another process has done it, or nobody will
    is_begun: bool = False  # by another process, for a run before this one

    def finish(self) -> None:
        """Have it here: from disk, if another process has compiled it; else it is compiled now."""
        compile_for(self.call)


class Compilers:
    """Processes that compile kernels, and this one.

    Parameters
    ----------
    most
        How many of them work at the same time, this one included.
    """

    def __init__(self, most: int) -> None:
        usable = bool(sys.executable) and not getattr(sys, "frozen", False) and not numba.config.DISABLE_JIT
        self._others = most - 1 if usable else 0
        self._waiting: deque[Job] = deque()
        self._idle: list[CompilerProcess] = []
        self._at_work: list[CompilerProcess] = []
        self._lock = threading.Lock()
        self._is_ended = False
        self._begun = self._known = 0  # jobs

    @property
    def busy(self) -> int:
        """How many other processes are at work."""
        return len(self._at_work)

    def start_ahead(self) -> None:
        """Start a process now, which takes it a while: there will be something to compile."""
        if self._others and not self._idle and cache_folder() is not None:
            with suppress(OSError):
                self._idle.append(CompilerProcess())

    def jobs(self, plan: KernelPlan, kernels: dict[str, Call]) -> list[Job]:
        """Those of a session's kernels that are neither loaded nor on disk."""
        missing = {name: call for name, call in kernels.items() if not is_compiled(call)}
        told = describe(plan) if missing and self._others and cache_folder() is not None else None
        made = []
        for name, call in missing.items():
            begun = _under_way.get(key_of(call))
            made.append(Job(call, name, plan.engine.name, told, begun or threading.Event(), begun is not None))
        return made

    def compile(self, jobs: Sequence[Job], tell: Tell) -> None:
        """Do all of these jobs: the first one here, others wherever there is time."""
        self._known += len(jobs)
        mine = jobs[0] if jobs else None
        if mine:
            self._announce(mine, tell)
            self._hand_out(jobs[1:])
        while mine:
            mine.finish()
            mine.over.set()
            if mine := self._next(jobs):
                self._announce(mine, tell)
        for job in jobs:
            job.over.wait()
            if not is_compiled(job.call):
                self._announce(job, tell)
            job.finish()

    def _announce(self, job: Job, tell: Tell) -> None:
        self._begun = min(self._begun + 1, self._known)
        tell(f"kernel {self._begun} of {self._known}: {job.name} of {job.engine}")

    def begin(self, jobs: Sequence[Job]) -> None:
        """Let other processes do these jobs, in this order; `over` tells of each."""
        self._known += len(jobs)
        self._hand_out(jobs)

    def _hand_out(self, jobs: Sequence[Job]) -> None:
        jobs = [job for job in jobs if not job.is_begun]
        with self._lock:
            self._waiting.extend(jobs)
        wanted = min(self._others, sum(job.plan is not None for job in jobs)) - self.busy
        with suppress(OSError):  # there can be no more processes
            for _ in range(0 if self._is_ended else wanted):
                process = self._idle.pop() if self._idle else CompilerProcess()
                self._at_work.append(process)
                threading.Thread(target=self._serve, args=(process,), daemon=True).start()
        if not self.busy:
            self._leave()

    def end(self) -> None:
        """Begin nothing more. Others finish the kernel they are at: a short run after this one needs it, too."""
        self._is_ended = True
        self._leave()
        for process in self._idle:
            process.end()
        self._idle.clear()

    def _leave(self) -> None:
        """Nobody else does what waits."""
        with self._lock:
            left, self._waiting = self._waiting, deque()
        for job in left:
            job.over.set()

    def _next(self, among: Sequence[Job] | None = None) -> Job | None:
        """A job that waits: one of these, or one that another process can do."""
        with self._lock:
            for job in self._waiting:
                if job in among if among is not None else job.plan is not None:
                    self._waiting.remove(job)
                    return job
        return None

    def _serve(self, process: CompilerProcess) -> None:
        """Let a process do one job after the other; what a dead one has not done is left to us."""
        alive = True
        while alive and (job := self._next()):
            self._begun += 1
            _under_way[key_of(job.call)] = job.over
            alive = process.compile(job.plan or b"", job.name)
            _under_way.pop(key_of(job.call), None)
            job.over.set()
        self._at_work.remove(process)
        process.end()
        if not self.busy:
            self._leave()


@dataclass(frozen=True)
class Workshop:
    """The compilers of a run, and what one of its searches is about."""

    compilers: Compilers
    plan: KernelPlan
