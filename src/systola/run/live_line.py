"""A live line in a notebook: what a run does, while it goes on. IPython is asked only if it runs this program."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from html import escape
from typing import Any

from systola.run.execution import Callback, Progress

_WAITING = "getting ready; kernels are compiled once, and later starts take them from the cache"


def live_line(title: str) -> Callback | None:
    """A callback that shows progress below the cell of a notebook; None where there is no notebook."""
    line = open_line()
    if line is None:
        return None

    def show(progress: Progress) -> None:
        line.show(f"{title}: {tell(progress)}", progress.fraction)

    show(Progress("compiling", 0, 0, 0.0))  # there is something to compile before the run can tell
    return show


def open_line() -> Line | None:
    """A line below the cell of a notebook that is executed; None where there is no notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return Line(ipython.display.display) if ipython and hasattr(shell, "kernel") else None


class Line:
    """A line that is shown in the place of the one before; `display` is that of IPython."""

    def __init__(self, display: Callable[..., Any]) -> None:
        self._display, self._handle = display, None

    def show(self, words: str, fraction: float | None = None) -> None:
        """These words, and how much is done, if that is known."""
        part = "" if fraction is None else f'<progress max="1" value="{fraction:.3f}"></progress> '
        data = {"text/plain": words, "text/html": f"<div>{part}{escape(words)}</div>"}
        with suppress(Exception):  # a page that cannot be reached is no reason to lose a run
            if self._handle is None:
                self._handle = self._display(data, raw=True, display_id=True)
            else:
                self._handle.update(data, raw=True)


def tell(progress: Progress) -> str:
    """A progress in words."""
    if progress.stage == "compiling":
        return _WAITING
    best = _number(progress.objective)
    if progress.violation:
        best += f" (infeasible by {progress.violation:,.6g})"
    return f"best {best}, step {progress.step:,}, {progress.evaluations:,} solutions, {progress.seconds:.1f} s"


def _number(value: float | Sequence[float] | None) -> str:
    if isinstance(value, (list, tuple)):
        return f"({', '.join(map(_number, value))})"
    return "-" if value is None else f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"
