"""Systolic Neighborhood Search, section 6: our own speed-up beside the published seconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

from systola.lab.published import load_figures
from systola.lab.reproductions.timing import Seconds
from systola.lab.tables import Cell, Table

TIMED = ("ga-cpu", "sns", "sns-r-mr", "sns-exp", "sns-exp-r-mr")


def speed_table(number: int, instances: Sequence[str], seconds: Mapping[str, Seconds]) -> Table:
    """Seconds in each way that runs were timed, and how many times as quick the last is as the first."""
    printed = load_figures("sns", number).figures
    labels = list(seconds)
    rows = []
    for name in instances:
        for algorithm in TIMED:
            if (name, algorithm) not in seconds[labels[0]]:
                continue
            each = [fmean(seconds[label][name, algorithm]) for label in labels]
            theirs = printed.get((name, algorithm))
            cells = [f"{value:.3f}" for value in each]
            cells += [f"{each[0] / each[-1]:.2f}", "–" if theirs is None else f"{theirs[0]:.3f}"]
            rows.append((Cell(f"{name}, {algorithm}"), *map(Cell, cells)))
    notes = (
        "One run of each, one at a time; compiling is not counted. Published: the paper's GPU, but for ga-cpu, which "
        "is one core of its CPU. These are different machines.",
    )
    header = ("", *labels, "times as quick", "published")
    return Table(f"Table {number}: our own speed-up, seconds a run", header, tuple(rows), notes)
