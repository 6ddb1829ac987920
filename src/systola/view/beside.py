"""The page of a run that goes on: served by a process beside it.

A thread would share the interpreter with the run, its memory and its signals: to read a long log would hold up the
loop, and a failure could end it. A process of lower priority takes what the run leaves.
"""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path

from systola.errors import InputError
from systola.run.child_process import ChildProcess, lead_own_group
from systola.view.browser import open_browser
from systola.view.logs import Logs
from systola.view.server import PageServer

_NICENESS = 10


class PageBeside:
    """A page that shows logs while this process does something else; it ends with this process.

    Parameters
    ----------
    paths
        Logs, or where they will be.
    browser
        Whether to open it.
    """

    def __init__(self, paths: Sequence[Path], browser: bool) -> None:
        self._process: ChildProcess[None] = ChildProcess(_serve, list(paths), browser)
        told: tuple[str, str] | None = self._process.receive()
        self.url, self.trouble = told or ("", f"the page cannot be served: {self._process.explain()}")

    def linger(self, is_over: Callable[[], bool]) -> None:
        """Wait until the user presses Enter, or for what `is_over` tells."""
        while not is_over():
            with suppress(InterruptedError):
                if select.select([sys.stdin], [], [], 0.1)[0]:
                    sys.stdin.readline()
                    return

    def close(self) -> None:
        """Let viewers have what is left of the logs, and end."""
        if self.url:
            self._process.send(None)
            self._process.receive()
        self._process.end()


def _serve(pipe: Connection, paths: list[Path], browser: bool) -> None:
    lead_own_group()
    with suppress(OSError):
        os.nice(_NICENESS)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (1, 2):  # what a browser prints is none of the run's
        os.dup2(nothing, stream)
    try:
        server = PageServer(Logs(paths))
    except InputError as error:
        pipe.send(("", str(error)))
        return
    with server:
        pipe.send((server.url, ""))
        if browser:
            open_browser(server.url)
        pipe.recv()
