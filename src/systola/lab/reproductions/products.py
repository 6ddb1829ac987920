"""What a reproduction makes: tables, and pictures that are drawn when they are wanted."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from systola.errors import InputError
from systola.lab.published import load_text
from systola.lab.tables import Cell, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Name = int | str  # the number of a table; `figure-5`; the name of a part or a study


@dataclass(frozen=True, eq=False)
class Sketch:
    """A picture that can be drawn, and what it shows in a sentence."""

    caption: str
    draw: Callable[[], Figure]


Product = Table | Sketch
Made = dict[Name, tuple[Product, ...]]


def figure(number: int) -> str:
    """The name of a figure."""
    return f"figure-{number}"


def spell(name: Name) -> str:
    """The name of a product for people."""
    if isinstance(name, int):
        return f"Table {name}"
    return f"Figure {name.removeprefix('figure-')}" if name.startswith("figure-") else name


def in_order(made: Made) -> Made:
    """Tables by number, then figures by number, then everything else."""

    def place(name: Name) -> tuple[int, int]:
        if isinstance(name, int):
            return 0, name
        return (1, int(name.removeprefix("figure-"))) if name.startswith("figure-") else (2, 0)

    return {name: made[name] for name in sorted(made, key=place)}


def text_table(paper: str, number: int, about: str, notes: Sequence[str] = ()) -> Table:
    """A table of words as published."""
    printed = load_text(paper, number)
    rows = tuple(tuple(Cell(text) for text in row) for row in printed.rows)
    notes = (*notes, *(f"Paper: {note}" for note in printed.notes))
    return Table(f"Table {number} as published: {about}", printed.header, rows, notes)


def pick(wanted: Iterable[str], known: Sequence[str], what: str, prefix: str = "") -> tuple[str, ...]:
    """Those of the known names that are wanted, in their order; a prefix may be left out."""
    chosen = set()
    for name in wanted:
        full = next((k for k in known if name.lower() in (k.lower(), k.lower().removeprefix(prefix))), None)
        if full is None:
            near = difflib.get_close_matches(name, known, n=1)
            meant = f"; did you mean {near[0]!r}?" if near else ";"
            raise InputError(f"there is no {what} {name!r} here{meant} there are {', '.join(known)}")
        chosen.add(full)
    return tuple(name for name in known if name in chosen)
