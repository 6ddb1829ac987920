"""Signals that ask a process to end: SIGINT (Ctrl-C), SIGTERM (schedulers, `timeout`), SIGHUP (a closed terminal).

While a run has something to lose they are noted instead of obeyed, so that it ends well. Python calls handlers in the
main thread and between two instructions of its own, for which a kernel or the compiler can make it wait for minutes.
But the number of a signal is written into a pipe at once, and a thread that reads it tells the run.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import FrameType
from typing import Any

from systola.errors import SystolaError

_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
_PATIENCE = 1.5  # seconds after which a process that is told to end does so, whatever its main thread is at
INTERRUPTED = 3  # exit code
BEHIND = "systola, behind"  # the name of threads that a command does not wait for when it has ended


def _do_nothing() -> None:
    pass


class Interrupted(KeyboardInterrupt):
    """What signals raise.

    A class of its own: if a plain KeyboardInterrupt passes through code that is executed from a string, as that of
    dataclasses and named tuples is, Python ends the process by SIGINT afterwards, whatever exit code it was to have.
    """


@dataclass
class Interruption:
    """Whether a signal has asked to end; `tell` is called then, from another thread."""

    tell: Callable[[], None] = _do_nothing
    asked: bool = False
    handled: int = 0  # how often the main thread has come to know


_holds: list[Interruption | None] = []  # the innermost last; with None, signals raise Interrupted
_before: dict[int, Any] = {}  # handlers, while ours are there
_exits = False  # whether a process that does not come to its end is ended
_raised = False  # whether a signal has raised Interrupted in the program that is under way
_patience: list[threading.Timer] = []  # what ends the program that is under way if it does not come to its end


@contextmanager
def held_signals(tell: Callable[[], None] = _do_nothing) -> Iterator[Interruption]:
    """Note signals; a second one raises KeyboardInterrupt. Only in the main thread, which signals are for."""
    hold = Interruption(tell)
    with _entered(hold):
        yield hold


@contextmanager
def interruptible() -> Iterator[None]:
    """Within `held_signals`: while there is nothing to lose, a signal raises KeyboardInterrupt all the same."""
    if any(hold.asked for hold in _holds if hold):
        raise Interrupted
    with _entered(None):
        yield


@contextmanager
def ended_by_signals(for_good: bool) -> Iterator[None]:
    """For a whole program: signals raise KeyboardInterrupt wherever they are not held.

    If that does not end it in time (the compiler may be at work), or on a second signal, it ends at once. `for_good`
    says that the process ends afterwards, so that signals have nothing to say any more. What passes through a class
    that is being made, or through the import of an extension module, may come out as another exception: it counts as
    the interruption that it was.
    """
    global _exits, _raised
    with _entered(None, for_good):
        _exits, _raised = True, False
        try:
            yield
        except SystolaError:
            raise
        except Exception as error:
            if _raised:
                raise Interrupted from error
            raise
        finally:
            _exits = False


@contextmanager
def called_on(name: str, call: Callable[[], None]) -> Iterator[None]:
    """Call this on a signal that asks for something else than to end; only in the main thread, as above."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, name):
        yield
        return
    number = getattr(signal, name)
    before = signal.signal(number, lambda number, frame: call())
    try:
        yield
    finally:
        signal.signal(number, before)


@contextmanager
def _entered(hold: Interruption | None, for_good: bool = False) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _holds.append(hold)
    try:
        if len(_holds) > 1:
            yield
        else:
            with _handled(for_good):
                yield
    finally:
        _holds.pop()


@contextmanager
def _handled(for_good: bool) -> Iterator[None]:
    """Handlers and the thread that is told at once; signals that are ignored (nohup) stay so."""
    ours = [number for number in _SIGNALS if signal.getsignal(number) not in (signal.SIG_IGN, None)]
    written, read = socket.socketpair()
    written.setblocking(False)
    before = {number: signal.signal(number, _handle) for number in ours}
    _before.update(before)
    others = signal.set_wakeup_fd(written.fileno(), warn_on_full_buffer=False)
    watcher = threading.Thread(target=_watch, args=(read, others), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(others)
        _before.clear()
        for number, handler in before.items():
            signal.signal(number, signal.SIG_IGN if for_good else handler)
        written.close()
        watcher.join()
        read.close()
        while _patience:
            timer = _patience.pop()
            if not for_good:  # who called the program goes on
                timer.cancel()


def _hand_back() -> None:
    """In a process that was forked while signals are held: they are not its own, and nobody there would be told."""
    if _before:
        signal.set_wakeup_fd(-1)
    for number, handler in _before.items():
        signal.signal(number, handler)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_hand_back)


def _handle(number: int, frame: FrameType | None) -> None:
    global _raised
    hold = _holds[-1]
    if hold is None:
        if _exits and len(_holds) > 1:  # the compiler is at work: what is raised in its finalizers is only printed
            _leave()
        _raised = True
        raise Interrupted
    hold.asked = True  # should the watcher be late
    hold.handled += 1
    if hold.handled > 1:
        _raised = True
        raise Interrupted


def _watch(pipe: socket.socket, others: int) -> None:
    arrived = 0
    while number := pipe.recv(1):
        if others >= 0:  # an event loop wants to know, too
            os.write(others, number)
        if number[0] not in _SIGNALS:
            continue
        arrived += 1
        if arrived > 1 and _exits:
            _leave()
        for hold in _holds:
            if hold:
                hold.asked = True
                hold.tell()
        if _exits and _holds[-1] is None:
            timer = threading.Timer(_PATIENCE, _leave)
            timer.daemon = True
            _patience.append(timer)
            timer.start()


def _leave() -> None:
    # Not by `write` of sys.stderr: the main thread may be within that, where it raises, or makes another thread wait.
    with suppress(OSError, ValueError):
        show_cursor = "\x1b[?25h" if sys.stderr.isatty() else ""  # which a progress display had hidden
        os.write(sys.stderr.fileno(), f"{show_cursor}systola: interrupted\n".encode())
    os._exit(INTERRUPTED)
