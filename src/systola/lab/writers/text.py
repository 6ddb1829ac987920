"""Reports and tables for a terminal: at most 120 columns, whatever is in them."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len, chop_cells

from systola.lab.blocks import Table
from systola.lab.writers.markup import Markup, write_parts
from systola.lab.writers.plain import one_line

if TYPE_CHECKING:
    from systola.lab.report import Report

WIDTH = 120
_NAMES = 44  # columns for the names of rows: longer ones go on in the next line
_GAP = "  "


def write(report: Report) -> str:
    """The whole report."""
    markup = Markup(
        heading=lambda title: _headline(title, "-"),
        paragraph=_wrap,
        tables=lambda table: [write_table(table)],
        picture=lambda picture: _wrap(f"(Picture: {picture.caption})"),
        provenance=lambda lines: "\n".join(_named(name, value) for name, value in lines),
        command=one_line,  # it is to be copied: not wrapped
    )
    parts = [_headline(report.title, "="), *write_parts(report, markup)]
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def write_table(table: Table) -> str:
    """One table; columns that have no room stand below the others, with the names of the rows again."""
    table.check()
    lines = [[one_line(text) for text in table.header]]
    lines += [["*" * cell.bold + one_line(cell.text) for cell in row] for row in table.rows]
    columns = [list(column) for column in zip(*lines, strict=True)]
    parts = [_wrap(table.title)]
    for chosen in _stacks(columns):
        parts.append(_block([columns[0], *(columns[k] for k in chosen)]))
    if table.notes:
        parts.append("\n".join(_wrap(note) for note in table.notes))
    return "\n\n".join(parts) + "\n"


def _stacks(columns: list[list[str]]) -> list[list[int]]:
    """Which columns stand side by side, beside the names of the rows."""
    names = min(max(map(cell_len, columns[0])), _NAMES)
    stacks: list[list[int]] = [[]]
    room = WIDTH - names
    for k, column in enumerate(columns[1:], 1):
        width = len(_GAP) + min(max(map(cell_len, column)), WIDTH - names - len(_GAP))
        if width > room and stacks[-1]:
            stacks.append([])
            room = WIDTH - names
        stacks[-1].append(k)
        room -= width
    return stacks


def _block(columns: list[list[str]]) -> str:
    first, *rest = columns
    names = min(max(map(cell_len, first)), _NAMES)
    widths = [names, *(min(max(map(cell_len, column)), WIDTH - names - len(_GAP)) for column in rest)]
    lines = []
    for number, texts in enumerate(zip(*columns, strict=True)):
        chopped = [chop_cells(text, width) or [""] for text, width in zip(texts, widths, strict=True)]
        for k in range(max(map(len, chopped))):
            lines.append(_line([cell[k] if k < len(cell) else "" for cell in chopped], widths))
        if number == 0:
            lines.append("-" * (sum(widths) + len(_GAP) * len(rest)))
    return "\n".join(lines)


def _line(texts: Sequence[str], widths: Sequence[int]) -> str:
    first, *rest = [(text, " " * (width - cell_len(text))) for text, width in zip(texts, widths, strict=True)]
    return _GAP.join([first[0] + first[1], *(space + text for text, space in rest)]).rstrip()


def _wrap(text: str) -> str:
    return "\n".join(textwrap.wrap(one_line(text), WIDTH)) if cell_len(text) > WIDTH else one_line(text)


def _headline(title: str, under: str) -> str:
    told = _wrap(title)
    return f"{told}\n{under * min(max(map(cell_len, told.splitlines()), default=0), WIDTH)}"


def _named(name: str, value: str) -> str:
    label = f"{one_line(name)}: "
    return "\n".join(textwrap.wrap(label + one_line(value), WIDTH, subsequent_indent="  "))
