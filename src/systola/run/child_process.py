"""A process of our own with a pipe to it. It ends with the process that started it, whatever ends that one."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from multiprocessing import connection, resource_tracker
from multiprocessing.connection import Connection
from types import FrameType, ModuleType
from typing import Any, Generic, TypeVar

from systola.errors import InputError

_STOPPING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
_LAST_BREATH = 2.0  # seconds from the end of a pipe to that of the process
_UNGUARDED = 87  # the exit code of one whose script starts a run when it is imported


Message = TypeVar("Message")  # what it is told, of any type that can be pickled


class ChildProcess(Generic[Message]):
    """Spawned, never forked: a fork after threads were started can hang.

    Parameters
    ----------
    serve
        What it does, a function of a module: it is given its end of the pipe, and the arguments.
    imports_main
        Whether it needs what is defined in the user's script. It executes that script then, all that is not under
        `if __name__ == "__main__":`.
    """

    def __init__(self, serve: Callable[..., None], *arguments: Any, imports_main: bool = False) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self._process = context.Process(target=_begin, args=(theirs,), daemon=True)
        resource_tracker.ensure_running()  # which unblocks signals when it starts
        # Ctrl-C goes to all processes of a terminal, `timeout` signals them all, too: children leave it to us.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, _STOPPING)
        try:
            with nullcontext() if imports_main else _without_main():
                self._process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        self._is_ended = False
        self._newest: Message | None = None  # not told yet
        self._lock = threading.Lock()
        self._courier: threading.Thread | None = None
        theirs.close()  # so that its death is the end of the pipe
        self.send((serve, arguments))  # not by its start, which would wait for ever if it dies before it has read all

    def send(self, message: Message | tuple[Callable[..., None], tuple[Any, ...]]) -> None:
        """Tell it something; if it has died, the end of the pipe will tell."""
        with suppress(OSError):
            self.pipe.send(message)

    def post(self, message: Message) -> None:
        """Tell it something as soon as it listens, without waiting for that; or only what is posted after it.

        A pipe holds little. Who waits until there is room, while the other one waits, too, waits for ever.
        """
        with self._lock:
            self._newest = message
            if self._courier is None:
                self._courier = threading.Thread(target=self._deliver, daemon=True)
                self._courier.start()

    def _deliver(self) -> None:
        while True:
            with self._lock:
                message, self._newest = self._newest, None
                if message is None:
                    self._courier = None
                    return
            self.send(message)

    def receive(self) -> Any:
        """What it says, which is never None; None if it is dead."""
        try:
            return self.pipe.recv()
        except (EOFError, OSError):
            return None

    def explain(self) -> str:
        """Why a dead one died."""
        connection.wait([self._process.sentinel], _LAST_BREATH)
        self.end()
        code = self.exit_code
        if code is None:
            return "it closed its pipe"
        return f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"

    def refuse_unguarded(self) -> None:
        """An InputError if it has ended because the user's script starts a run when it is imported."""
        if self.exit_code == _UNGUARDED:
            raise InputError(
                "workers are processes that import your script, and it starts a run when it is imported; put that part "
                'of it under `if __name__ == "__main__":`'
            )

    @property
    def exit_code(self) -> int | None:
        """Of one that has ended."""
        return self._process.exitcode

    def end(self) -> None:
        """At once: it keeps nothing. What it has started ends, too, if it leads a group of its own."""
        if self._is_ended:
            return
        self._is_ended = True
        if self._process.pid is not None and hasattr(os, "killpg"):
            with suppress(OSError):  # there is no such group
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()
        self._process.join()
        with self._lock:
            courier, self._newest = self._courier, None
        if courier:
            courier.join()  # nobody listens any more: it has noticed
        self.pipe.close()


@contextmanager
def _without_main() -> Iterator[None]:
    """What is spawned meanwhile knows nothing of the user's script."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _begin(pipe: Connection) -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with suppress(EOFError, OSError, KeyboardInterrupt):
        serve, arguments = pipe.recv()
        serve(pipe, *arguments)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None  # spawned
    parent.join()
    if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


def refuse_while_importing() -> None:
    """End a process whose script starts a run when it is imported, before it starts processes of its own."""
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        sys.exit(_UNGUARDED)


def lead_own_group() -> None:
    """In a child: signals of the terminal do not reach it, and what it starts ends with it, and can be signalled.

    Signals that ask to end are unblocked again, since whatever is started here inherits what is blocked; here they
    do nothing.
    """
    if hasattr(os, "setpgid"):
        os.setpgid(0, 0)
    for number in _STOPPING:
        signal.signal(number, _leave_it_to_the_parent)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPPING)


def _leave_it_to_the_parent(number: int, frame: FrameType | None) -> None:
    pass
