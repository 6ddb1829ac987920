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
    """How a format writes each part.

    Attributes
    ----------
    heading
        Of a section.
    paragraph
        A note or a sentence.
    tables
        A table, of which some formats make several.
    picture
        A picture, or what stands for it.
    provenance
        Names and values.
    command
        What to type.
    """

    heading: Callable[[str], str]
    paragraph: Callable[[str], str]
    tables: Callable[[Table], Sequence[str]]
    picture: Callable[[Picture], str]
    provenance: Callable[[Sequence[tuple[str, str]]], str]
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
