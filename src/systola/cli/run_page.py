"""`systola solve --watch`: the page of a run, from before it begins until nobody wants it any more."""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from systola.cli.answer import note
from systola.errors import InputError
from systola.islands import mpi
from systola.run.log import log_of_rank
from systola.view.beside import PageBeside


class RunPage:
    """A page that shows the log of a run; none, unless it is `wanted`.

    Parameters
    ----------
    wanted
        Whether there is to be one.
    log
        The log that the user named; else one among the temporary files is shown.
    name
        What is solved.
    browser
        Whether to open the page.
    """

    def __init__(self, wanted: bool, log: str | None, name: str, browser: bool) -> None:
        self.log = log
        self._page: PageBeside | None = None
        if not wanted:
            if not browser:
                raise InputError("--no-browser is for the page of --watch; add that, or leave it out")
            return
        ranks = mpi.job_size()
        if log is None and ranks > 1:
            raise InputError(
                "--watch shows the logs of all processes of a job; add --log FILE, so that each writes one"
            )
        self.log = log or _temporary(name)
        if mpi.job_rank() > 0:
            return
        self._page = PageBeside([log_of_rank(Path(self.log), rank, ranks) for rank in range(ranks)], browser)
        if not self._page.url:
            note(f"{self._page.trouble}; the run goes on, and `systola watch {self.log}` can show it")
            return
        note(f"watch it at {self._page.url}")
        if log is None:
            note(f"its log is {self.log}; `systola watch` shows it again, and --log FILE writes it elsewhere")

    def __enter__(self) -> RunPage:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if self._page:
            self._page.close()

    def stay(self, is_over: Callable[[], bool]) -> None:
        """After the answer: somebody who sits at a terminal says when the page ends; nothing else waits for it."""
        terminals = all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))
        if self._page and self._page.url and terminals:
            note("the page stays until you press Enter or Ctrl-C")
            self._page.linger(is_over)


def _temporary(name: str) -> str:
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", Path(name).name).strip("-.")[:60] or "run"
    return str(Path(tempfile.mkdtemp(prefix="systola-")) / f"{plain}.log")
