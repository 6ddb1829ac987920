"""A result as a table: its solution, its front or its trace, for CSV files and for pandas."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from systola.errors import InputError, MissingExtra
from systola.model.encodings import Array
from systola.model.names import Labels
from systola.run.trace import Trace

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class Table:
    """Columns with headings, and rows."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    def to_csv(self) -> str:
        """As a text with commas; what is true or false as 1 or 0."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        for row in self.rows:
            writer.writerow([int(cell) if isinstance(cell, bool) else cell for cell in row])
        return text.getvalue()

    def to_frame(self) -> pandas.DataFrame:
        """As a DataFrame."""
        try:
            import pandas
        except ImportError:
            raise MissingExtra("a table of pandas", "pandas") from None
        return pandas.DataFrame(list(self.rows), columns=list(self.columns))


def solution_table(labels: Labels, solution: Array) -> Table:
    """A row for each decision, with its value."""
    decisions, values = labels.of_decisions(len(solution)), labels.of_values(solution)
    return Table((labels.decision, labels.value), tuple(zip(decisions, values, strict=True)))


def front_table(labels: Labels, front: list[list[Any]] | None, solutions: Array | None) -> Table:
    """A row for each solution: its objectives, then its decisions."""
    if not front:
        raise InputError(
            "a table of a front needs an engine that looks for one, but this result has none; solve with PLS"
        )
    objectives = _objectives(len(front[0]))
    if solutions is None:
        return Table(objectives, tuple(map(tuple, front)))
    decisions = tuple(map(str, labels.of_decisions(solutions.shape[1])))
    rows = ((*worth, *labels.of_values(row)) for worth, row in zip(front, solutions, strict=True))
    return Table((*objectives, *(f"{labels.decision} {name}" for name in decisions)), tuple(rows))


def trace_table(trace: Trace) -> Table:
    """A row for each sample of the search."""
    samples = trace.samples
    several = len(samples[0].objective) if samples and isinstance(samples[0].objective, list) else 1
    rows = tuple(
        (s.step, s.evaluations, s.seconds, *(s.objective if several > 1 else [s.objective]), s.violation)
        for s in samples
    )
    return Table(("step", "evaluations", "seconds", *_objectives(several), "violation"), rows)


def _objectives(count: int) -> tuple[str, ...]:
    return ("objective",) if count == 1 else tuple(f"objective {k + 1}" for k in range(count))
