"""Whoever waits for kernels to be compiled is told so: on standard error, and by the logger "systola"."""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

LOG = logging.getLogger("systola")
LOG.addHandler(logging.NullHandler())  # else warnings would be printed where nobody has set up logging
_PATIENCE_SECONDS = 2.0  # from the cache it takes less


@dataclass
class Compiling:
    """How long it took, and what is being compiled."""

    seconds: float = 0.0
    name: str = ""
    tells: bool = False
    began: float = field(default_factory=time.perf_counter)

    def tell_of_kernel(self, what: str) -> None:
        """Which kernel is next; of the first ones nobody is told on standard error, who need not wait for long."""
        LOG.info("compiling for %s: %s", self.name, what)
        if self.tells and time.perf_counter() - self.began > _PATIENCE_SECONDS:
            _say(f"systola: compiling {what}")


@contextmanager
def telling_of_compiling(name: str, tells: bool) -> Iterator[Compiling]:
    """Say what is being compiled if that takes a while, and somebody is to be told; afterwards, how long it took."""
    took = Compiling(name=name, tells=tells)

    def tell() -> None:
        LOG.info("compiling the kernels for %s", name)
        if tells:
            _say(f"systola: compiling the kernels for {name}, once; later starts take them from the cache")

    timer = threading.Timer(_PATIENCE_SECONDS, tell)
    timer.daemon = True
    timer.start()
    try:
        yield took
    finally:
        timer.cancel()
        took.seconds = time.perf_counter() - took.began
    LOG.info("kernels for %s are ready after %.1f s", name, took.seconds)


def _say(sentence: str) -> None:
    with suppress(OSError, ValueError):  # a screen that fails is no reason to lose a run
        print(sentence, file=sys.stderr, flush=True)
