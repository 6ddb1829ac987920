"""What people see on a terminal: live progress on standard error, so that standard output stays clean."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from systola.run.execution import Progress


def show_number(value: float | Sequence[float] | None) -> str:
    """An objective for people."""
    if isinstance(value, (list, tuple)):
        return "(" + ", ".join(show_number(v) for v in value) + ")"
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"


class Screen:
    """A live line for one run; quiet when standard error is not a terminal or `quiet` is set."""

    def __init__(self, title: str, quiet: bool = False) -> None:
        self._console = Console(stderr=True)
        self._title = title
        self._quiet = quiet
        self._live: Live | None = None
        self._last_stage = ""

    def __enter__(self) -> Screen:
        if not self._quiet and self._console.is_terminal:
            self._live = Live(console=self._console, refresh_per_second=8, transient=True)
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if self._live:
            self._live.stop()

    def update(self, progress: Progress) -> None:
        """Show where a run is; this is the callback of `solve`."""
        if self._quiet:
            return
        if self._live is None:
            stage = f"{progress.stage} {progress.kernel}".rstrip()
            if stage != self._last_stage and progress.stage in ("compiling", "starting", "running"):
                self._console.print(Text(f"{self._title}: {stage}{_size(progress)}"))
            self._last_stage = stage
            return
        self._live.update(self._line(progress))

    def _line(self, progress: Progress) -> Table:
        line = Table.grid(padding=(0, 1))
        cells: list[Any] = [Text(self._title, "bold")]  # a name may have brackets, which are no markup
        if progress.stage == "compiling":
            what = progress.kernel or "kernels"
            cells.append(f"compiling {what} (once; later starts take them from the cache){_size(progress)}")
        else:
            if progress.fraction is not None:
                cells.append(ProgressBar(total=1.0, completed=progress.fraction, width=24))
            rate = progress.evaluations / max(progress.seconds, 1e-9)
            best = show_number(progress.objective)
            if progress.violation:
                best += f" [red](infeasible by {show_number(progress.violation)})[/red]"
            cells += [
                f"best {best}",
                f"step {progress.step:,}",
                f"{_short(rate)} solutions/s",
                f"{progress.seconds:.1f} s",
            ]
        for _ in cells:
            line.add_column(no_wrap=True)
        line.add_row(*cells)
        return line


def _size(progress: Progress) -> str:
    """How much memory a large population takes."""
    large = progress.stage == "compiling" and progress.memory >= 2**27
    return f"; the population takes {progress.memory / 2**30:.1f} GiB" if large else ""


def _short(value: float) -> str:
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= size:
            return f"{value / size:.3g}{unit}"
    return f"{value:.0f}"


class Bar:
    """A bar for many runs; says nothing when quiet."""

    def __init__(self, title: str, quiet: bool = False) -> None:
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
            disable=quiet,
        )
        self._task = self._bar.add_task(title, total=None)

    def __enter__(self) -> Bar:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._bar.stop()

    def update(self, done: int, of: int) -> None:
        """So many runs are finished."""
        self._bar.update(self._task, completed=done, total=of)
