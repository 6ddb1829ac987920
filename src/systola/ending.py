"""How runs at work are asked to end: by a signal, or when their seconds are over."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from systola.backends.session import Session

_GRACE_SECONDS = 0.1  # that a step has to end by itself


def ask_to_stop(sessions: Iterable[Session]) -> None:
    """Let sessions end after the step under way, if it ends soon, or within it; any thread may call it."""
    sessions = list(sessions)
    for session in sessions:
        session.ask_to_stop(at_once=False)

    def insist() -> None:
        for session in sessions:
            session.ask_to_stop(at_once=True)

    _call_later(_GRACE_SECONDS, insist)


@contextmanager
def time_limit(seconds: float | None, ask: Callable[[], None]) -> Iterator[None]:
    """Ask when so many seconds are over, if the time is limited."""
    if seconds is None:
        yield
        return
    timer = _call_later(min(max(0.0, seconds), threading.TIMEOUT_MAX), ask)
    try:
        yield
    finally:
        timer.cancel()


def _call_later(seconds: float, call: Callable[[], Any]) -> threading.Timer:
    timer = threading.Timer(seconds, call)
    timer.daemon = True
    timer.start()
    return timer


def attach_result(error: BaseException, result: Any) -> None:
    """What a run had found when its callback raised this error, as its attribute `result`."""
    with suppress(AttributeError):  # an error that has no room for it
        error.result = result  # type: ignore[attr-defined]
