"""The parts of a report in their order, for formats that are text; each says how it marks them up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from systola.lab.blocks import Picture, Table

if TYPE_CHECKING:
    from systola.lab.report import Report


@dataclass(frozen=True)
class Markup:
    """How a format writes each part."""

    heading: Callable[[str], str]  # of a section
    paragraph: Callable[[str], str]
    tables: Callable[[Table], Sequence[str]]  # a table, of which some formats make several
    picture: Callable[[Picture], str]  # or what stands for it
    provenance: Callable[[Sequence[tuple[str, str]]], str]  # names and values
    command: Callable[[str], str]


def write_parts(report: Report, markup: Markup) -> list[str]:
    """All of a report that comes after its title."""
    parts = [markup.paragraph(note) for note in report.notes]
    for section in report.sections:
        parts.append(markup.heading(section.title))
        for block in section.blocks:
            if isinstance(block, Table):
                parts += markup.tables(block)
            elif isinstance(block, Picture):
                parts.append(markup.picture(block))
            else:
                parts.append(markup.paragraph(block))
    lines = report.provenance.lines()
    if lines:
        parts += [markup.heading("Where it comes from"), markup.provenance(lines)]
    if report.command:
        parts += [markup.heading("Make it again"), markup.command(report.command)]
    return parts
