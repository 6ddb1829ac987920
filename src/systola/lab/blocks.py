"""What a report is made of: tables, pictures, sections, and where it comes from. None of them has a format yet."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import TYPE_CHECKING

import numba
import numpy
import scipy

from systola.errors import InputError
from systola.version import __version__

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Cell:
    """One cell of a table.

    Attributes
    ----------
    text
        What is shown.
    bold
        Whether it stands out.
    value
        By what a reader sorts the column; without, by the number that the text begins with, or by the text.
    infeasible
        The share of infeasible runs behind it. When a column is sorted, a larger share comes later, whichever way.
    """

    text: str
    bold: bool = False
    value: float | None = None
    infeasible: float = 0.0


@dataclass(frozen=True)
class Table:
    """A table without a format: see :func:`systola.lab.tables.render` and :class:`systola.lab.report.Report`.

    Attributes
    ----------
    title
        What the table shows.
    header
        The name of each column; the first column names the rows.
    rows
        The cells, as many in each row as the header has.
    notes
        What a reader must know to read it, one sentence each.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()

    def check(self) -> None:
        """Raise InputError if a row is not as long as the header."""
        for row in self.rows:
            if len(row) != len(self.header):
                raise InputError(
                    f"each row has as many cells as the header, {len(self.header)}, but one has {len(row)} "
                    f"(table {self.title!r}, row {row[0].text if row else ''!r})"
                )

    def _repr_html_(self) -> str:
        """For notebooks."""
        from systola.lab.writers.html import write_block  # which reads what this module makes

        return write_block(self)


@dataclass(frozen=True, eq=False)
class Picture:
    """A picture with its caption.

    Attributes
    ----------
    caption
        What it shows, in a sentence that tells it to whoever cannot see it.
    drawn
        A figure of Matplotlib, or an SVG text.
    """

    caption: str
    drawn: Figure | str

    def _repr_html_(self) -> str:
        """For notebooks."""
        from systola.lab.writers.html import write_block  # which reads what this module makes

        return write_block(self)


Block = str | Table | Picture
"""A part of a section; a text is a paragraph."""


@dataclass(frozen=True, eq=False)
class Section:
    """Paragraphs, tables and pictures below a heading."""

    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Provenance:
    """Where figures come from: what somebody needs to get them again, or to know why they differ.

    Attributes
    ----------
    parameters
        What was chosen, by its name: budgets, parameters of algorithms, numbers of runs.
    seeds
        The seeds of the runs, in words.
    versions
        Of systola and of what its numbers depend on.
    machine
        Processor, number of cores, system.
    date
        When the report was made.
    """

    parameters: Mapping[str, str] = field(default_factory=dict)
    seeds: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    machine: str = ""
    date: str = ""

    @classmethod
    def here(cls, parameters: Mapping[str, str] | None = None, seeds: str = "") -> Provenance:
        """That of a report made now, on this machine."""
        versions = {
            "systola": __version__,
            "Python": platform.python_version(),
            "NumPy": numpy.__version__,
            "Numba": numba.__version__,
            "SciPy": scipy.__version__,
        }
        system = f"{platform.system()} {platform.machine()}"
        machine = f"{_processor()}, {os.cpu_count()} cores, {system}"
        now = datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
        return cls(dict(parameters or {}), seeds, versions, machine, now)

    def lines(self) -> list[tuple[str, str]]:
        """Name and value of all that is known, in the order in which reports show it."""
        known = [*self.parameters.items(), ("seeds", self.seeds)]
        known.append(("versions", ", ".join(f"{name} {number}" for name, number in self.versions.items())))
        known += [("machine", self.machine), ("date", self.date)]
        return [(name, value) for name, value in known if value]


def _processor() -> str:
    try:
        with open("/proc/cpuinfo") as file:  # Linux: elsewhere Python knows as much
            for line in file:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
