"""Reports and tables in Markdown, with tables as code hosts and MkDocs read them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from systola.lab.blocks import Cell, Picture, Table
from systola.lab.writers.markup import Markup, write_parts
from systola.lab.writers.plain import one_line

if TYPE_CHECKING:
    from systola.lab.report import Report


def write(report: Report, places: Mapping[Picture, str]) -> str:
    """The whole report; `places` has the file of each picture, empty where there is none."""
    markup = Markup(
        heading=lambda title: f"## {escape(title)}",
        paragraph=_paragraph,
        tables=lambda table: [write_table(table)],
        picture=lambda picture: _picture(picture, places[picture]),
        provenance=lambda lines: "\n".join(f"- {escape(name)}: {escape(value)}" for name, value in lines),
        command=lambda command: f"    {one_line(command)}",  # indented: no fence that a name could close
    )
    parts = [f"# {escape(report.title)}", *write_parts(report, markup)]
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def write_table(table: Table) -> str:
    """One table, its title before and its notes after it."""
    table.check()
    parts = [
        f"**{escape(table.title)}**",
        "",
        _line([escape(text) for text in table.header]),
        _line([":--", *["--:"] * (len(table.header) - 1)]),
        *(_line([_mark(cell) for cell in row]) for row in table.rows),
    ]
    for note in table.notes:
        parts += ["", _paragraph(note)]
    return "\n".join(parts) + "\n"


def escape(text: str) -> str:
    """A text as it is, whatever Markdown would read in it."""
    marked = "".join("\\" + c if c in "\\|*_`<[]" else c for c in one_line(text))
    return re.sub(r"&(?=[#\w])", "&amp;", marked)


def _paragraph(text: str) -> str:
    # At its beginning a line is a heading, a quotation, a list or a rule by other characters, too.
    return re.sub(
        r"^([#>+=~:-]|\d+(?=[.)]))", lambda m: ("\\" + m[0]) if not m[0].isdigit() else m[0] + "\\", escape(text)
    )


def _line(texts: Sequence[str]) -> str:
    return "| " + " | ".join(texts) + " |"


def _mark(cell: Cell) -> str:
    return f"**{escape(cell.text)}**" if cell.bold and cell.text else escape(cell.text)


def _picture(picture: Picture, place: str) -> str:
    caption = escape(picture.caption)
    return f"![{caption}](<{place}>)\n\n*{caption}*" if place else f"*Picture: {caption}*"
