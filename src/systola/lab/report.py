"""Reports to hand on: one set of sentences, tables and pictures, written as text, Markdown, LaTeX or one HTML file.

An HTML report needs nothing beside it: styles, pictures and the script that sorts its tables are in the file, which
may fetch nothing. Markdown and LaTeX have their pictures in a folder beside them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path

from systola.errors import InputError
from systola.files import write_atomically
from systola.lab.blocks import Block, Cell, Picture, Provenance, Section, Table
from systola.lab.style import figure_bytes
from systola.lab.writers import html, latex, markdown, text

__all__ = ["Block", "Cell", "Picture", "Provenance", "Report", "Section", "Table"]

_ENDINGS = {".txt": "", ".md": ".svg", ".tex": ".pdf", ".html": ""}  # of a report, and of its pictures


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """Sentences, tables and pictures, where they come from, and the command that makes them again.

    Attributes
    ----------
    title
        What it is about.
    sections
        Its parts, each with a heading.
    provenance
        Parameters, seeds, versions, machine and date.
    command
        What to type to make it again.
    notes
        What a reader must know, one sentence each; shown before all sections.
    """

    title: str
    sections: tuple[Section, ...]
    provenance: Provenance = field(default_factory=Provenance)
    command: str = ""
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Report: {self.title}>"

    def to_text(self) -> str:
        """For a terminal: at most 120 columns; pictures are told by their captions."""
        return text.write(self)

    def to_markdown(self, pictures: str = "") -> str:
        """Markdown with tables; `pictures` is the folder of its pictures, and they are told by captions without."""
        return markdown.write(self, _places(self, pictures, ".svg"))

    def to_latex(self, pictures: str = "") -> str:
        """A whole document for pdflatex with booktabs, amssymb and graphicx; `pictures` as for Markdown."""
        return latex.write(self, _places(self, pictures, ".pdf"))

    def to_html(self) -> str:
        """One page that needs no other file, with tables that can be sorted."""
        return html.write(self)

    def save(self, path: str | PathLike[str]) -> list[Path]:
        """Write the report as text, Markdown, LaTeX or HTML, by the ending of its name.

        Pictures of ``report.md`` and ``report.tex`` are written first, into the folder ``report-pictures`` beside it.

        Returns
        -------
        list of Path
            The files, the report last.

        Raises
        ------
        InputError
            If the ending is another one, or a file cannot be written.
        MissingExtra
            If there are pictures and Matplotlib is not installed.
        """
        target = check_report(path)
        kind = target.suffix.lower()
        folder = f"{target.stem}-pictures"
        writers: dict[str, Callable[[], str]] = {
            ".txt": self.to_text,
            ".html": self.to_html,
            ".md": lambda: self.to_markdown(folder),
            ".tex": lambda: self.to_latex(folder),
        }
        whole = writers[kind]()
        files: list[tuple[Path, bytes]] = []
        if _ENDINGS[kind]:
            for picture, place in _places(self, folder, _ENDINGS[kind]).items():
                if place:
                    files.append((target.parent / place, _picture_bytes(picture, _ENDINGS[kind])))
        files.append((target, whole.encode("utf-8", "replace")))
        try:
            if len(files) > 1:
                (target.parent / folder).mkdir(exist_ok=True)
            for file, content in files:
                write_atomically(file, content)
        except OSError as error:
            raise InputError(
                f"a report goes into a folder that can be written, but {str(path)!r}: {error.strerror}"
            ) from None
        return [file for file, _ in files]

    def _repr_html_(self) -> str:
        return html.fragment(self)


def check_report(path: str | PathLike[str]) -> Path:
    """The file that a report goes to; InputError if its name has another ending than that of a report."""
    target = Path(path)
    if target.suffix.lower() not in _ENDINGS:
        raise InputError(f"the name of a report ends in {', '.join(_ENDINGS)}, but got {str(path)!r}")
    return target


def _places(report: Report, folder: str, ending: str) -> dict[Picture, str]:
    """The file of each picture; none without a folder, or if a picture that is an SVG text would have to be another."""
    pictures = [block for section in report.sections for block in section.blocks if isinstance(block, Picture)]
    places = {}
    for number, picture in enumerate(pictures, 1):
        words = "-".join(re.findall("[a-z0-9]+", picture.caption.lower()))[:40].strip("-")
        possible = folder and (ending == ".svg" or not isinstance(picture.drawn, str))
        places[picture] = f"{folder}/{number:02d}-{words or 'picture'}{ending}" if possible else ""
    return places


def _picture_bytes(picture: Picture, ending: str) -> bytes:
    if isinstance(picture.drawn, str):
        return picture.drawn.encode()
    return figure_bytes(picture.drawn, ending[1:])
