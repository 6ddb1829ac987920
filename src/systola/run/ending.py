"""How runs at work are asked to end: by a signal, or when their seconds are over."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from systola.run.search import Search

if TYPE_CHECKING:
    from systola.run.result import Result

_GRACE_SECONDS = 0.05  # that a step has to end by itself


def ask_to_stop(searches: Iterable[Search]) -> None:
    """Let searches end after the step under way, if it ends soon, or within it; any thread may call it."""
    searches = list(searches)
    for search in searches:
        search.stop(at_once=False)

    def insist() -> None:
        for search in searches:
            search.stop(at_once=True)

    _call_later(_GRACE_SECONDS, insist)


@contextmanager
def time_limit(seconds: float, ask: Callable[[], None]) -> Iterator[None]:
    """Ask when so many seconds are over, if the time is limited."""
    if seconds == math.inf:
        yield
        return
    timer = _call_later(min(seconds, threading.TIMEOUT_MAX), ask)
    try:
        yield
    finally:
        timer.cancel()


def _call_later(seconds: float, call: Callable[[], Any]) -> threading.Timer:
    timer = threading.Timer(seconds, call)
    timer.daemon = True
    timer.start()
    return timer


def attach_result(error: BaseException, result: Result) -> None:
    """What a run had found when its callback raised this error, as its attribute `result`."""
    with suppress(AttributeError):  # an error that has no room for it
        error.result = result  # type: ignore[attr-defined]
