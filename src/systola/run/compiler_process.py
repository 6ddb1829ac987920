"""A process that compiles kernels beside this one. Numba's compiler is locked: a process compiles one at a time.

What it compiles it leaves on disk, where we find it. It is given problem and engine by value, so that it executes no
file of the user's, and it never starts another one. Whatever goes wrong with it, we compile the kernel ourselves.
"""

from __future__ import annotations

import os
import pickle
import queue
import struct
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass, fields
from types import FunctionType
from typing import Any, BinaryIO, cast

from systola.backends.cpu import CpuSession
from systola.backends.session import Setup
from systola.engines.engine import Engine
from systola.jit.compile import compile_for
from systola.jit.digest import digest_of_functions
from systola.jit.private import pickle_by_value
from systola.model.linked import Link, LinkKind, linked
from systola.model.problem import Problem, bind, is_declared
from systola.model.structure.declare import functions_of, structure_record

_PROGRAM = "import sys; sys.path[:] = {path!r}; from systola.run.compiler_process import serve; serve()"
_SIZE = struct.Struct("<Q")
_OVER = b"."
_CLASS = ("encoding", "sense", "scale", "capabilities", "structure", "evaluate", "fitness", "violation")


@dataclass(frozen=True)
class KernelPlan:
    """What kernels are made for."""

    problem: Problem
    engine: Engine
    measures: int
    dtype: Any
    link: LinkKind | None = None  # if kernels call the problem's functions by address

    def setup(self) -> Setup:
        """As a run has it; the seed is no type."""
        bind(type(self.problem))
        if is_declared(self.problem):  # which tells kernels what its parts do
            object.__setattr__(self.problem, "structure", structure_record(self.problem))
        link = Link(self.link) if self.link else None
        seen = linked(self.problem, link) if link else self.problem
        return Setup(self.problem, self.engine.prepare(seen), self.measures, self.dtype, 1, link)


class CompilerProcess:
    """One such process. It starts at once, which takes it half a second or more, and waits for tasks."""

    def __init__(self) -> None:
        flags = ["-B"] if sys.flags.dont_write_bytecode else []
        self._process = subprocess.Popen(
            [sys.executable, *flags, "-c", _PROGRAM.format(path=sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # signals of the terminal are for us
        )

    def compile(self, plan: bytes, name: str) -> bool:
        """Wait until it has compiled this kernel of a described plan, or has failed to; False if it is dead."""
        writer, reader = cast("BinaryIO", self._process.stdin), cast("BinaryIO", self._process.stdout)
        with suppress(OSError, ValueError):  # dead or ended
            for part in (plan, name.encode()):
                writer.write(_SIZE.pack(len(part)))
                writer.write(part)
            writer.flush()
            return bool(reader.read(1))
        return False

    def end(self) -> None:
        """At once: what it has not finished is lost."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            with suppress(OSError, ValueError):
                cast("BinaryIO", stream).close()


def describe(plan: KernelPlan) -> bytes | None:
    """A plan for another process; None if it cannot be told."""
    try:
        return pickle_by_value(
            (_flat(plan.problem), plan.engine, plan.measures, plan.dtype, plan.link), _modules_of(plan)
        )
    except Exception:  # whatever a user's class holds on to
        return None


def _modules_of(plan: KernelPlan) -> set[str]:
    """Where users' code is that the plan needs."""
    cls = type(plan.problem)
    written: dict[str, Any] = {name: getattr(cls, name, None) for name in ("evaluate", "fitness", "violation")}
    for entry in cls.capabilities:
        written |= entry.functions()
    written |= functions_of(cls) | {f.name: getattr(plan.engine, f.name) for f in fields(cast("Any", plan.engine))}
    functions = {name: function for name, function in written.items() if isinstance(function, FunctionType)}
    _, helpers = digest_of_functions(functions)
    owners = [*functions.values(), *helpers, type(plan.engine)]
    return {owner.__module__ for owner in owners if owner.__module__.partition(".")[0] != "systola"}


def _flat(problem: Problem) -> Problem | tuple[Any, ...]:
    """The problem; or, if its class is a user's, what of class and object kernels and engines need."""
    cls = type(problem)
    if cls.__module__.partition(".")[0] == "systola":
        return problem
    parts = {name: getattr(cls, name) for name in _CLASS if hasattr(cls, name)}
    if is_declared(problem):  # from which these follow
        parts = {name: value for name, value in parts.items() if name not in ("evaluate", "violation")}
    types = {f.name: f.type for f in fields(cast("Any", cls))}
    return cls.__name__, parts, types, {name: value for name, value in vars(problem).items() if name in types}


def _round(told: Problem | tuple[Any, ...]) -> Problem:
    """The inverse of `_flat`."""
    if isinstance(told, Problem):
        return told
    name, parts, types, values = told
    cls = type(name, (Problem,), {**parts, "__annotations__": types, "__module__": __name__})
    problem: Problem = object.__new__(cls)
    vars(problem).update(values)
    return problem


# In the process


def serve() -> None:
    """Compile what is asked for, until nobody asks any more."""
    asked: queue.SimpleQueue[tuple[bytes, bytes]] = queue.SimpleQueue()
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what users' code prints is no answer
    threading.Thread(target=_listen, args=(sys.stdin.buffer, asked), daemon=True).start()
    sessions: dict[bytes, CpuSession] = {}
    while True:
        described, name = asked.get()
        with suppress(Exception):  # whoever asked does not find it, then, and tries it, too
            if described not in sessions:
                problem, *rest = pickle.loads(described)
                sessions[described] = CpuSession(KernelPlan(_round(problem), *rest).setup(), 1)
            compile_for(sessions[described].kernels()[name.decode()])
        answers.write(_OVER)
        answers.flush()


def _listen(stream: BinaryIO, asked: queue.SimpleQueue[tuple[bytes, bytes]]) -> None:
    """What is asked for; when the other process has ended, however it did, so does this one."""
    with suppress(OSError, struct.error):
        while True:
            parts = []
            for _ in range(2):
                (size,) = _SIZE.unpack(stream.read(_SIZE.size))
                parts.append(stream.read(size))
            asked.put((parts[0], parts[1]))
    os._exit(1)
