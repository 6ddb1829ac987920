"""Reports and tables in LaTeX. Tables need booktabs and amssymb; reports are whole documents for pdflatex."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from systola.lab.blocks import Cell, Picture, Table
from systola.lab.writers.markup import Markup, write_parts
from systola.lab.writers.plain import one_line

if TYPE_CHECKING:
    from systola.lab.report import Report

_PREAMBLE = r"""\documentclass[a4paper,10pt]{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage[margin=20mm]{geometry}
\usepackage{amssymb,booktabs,graphicx}
\newcommand{\fit}[1]{\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{#1}}
\setlength{\parindent}{0pt}\setlength{\parskip}{4pt}
\raggedbottom\sloppy"""

_BOX = r"\begin{minipage}{\linewidth}\setlength{\parskip}{4pt}"
_ROWS = 45  # of a table on a page
_KNOWN = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{c: "\\" + c for c in "&%$#_{}"},
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "±": r"$\pm$",
    "×": r"$\times$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "≈": r"$\approx$",
    "−": "$-$",
    "–": "--",
    "—": "---",
    "’": "'",
    "…": r"\ldots{}",
    "·": r"\textperiodcentered{}",
    "\N{REPLACEMENT CHARACTER}": "?",
    "▲": r"$\blacktriangle$",
    "▽": r"$\triangledown$",
}


def write(report: Report, places: Mapping[Picture, str]) -> str:
    """A document with the whole report; `places` has the file of each picture, empty where there is none."""
    markup = Markup(
        heading=lambda title: rf"\subsection*{{{escape(title)}}}",
        paragraph=escape,
        tables=lambda table: [_place_table(part) for part in _pages(table)],
        picture=lambda picture: _place_picture(picture, places[picture]),
        provenance=_describe,
        # Braces part the hyphens: two together would be one dash.
        command=lambda command: rf"{{\raggedright\ttfamily {escape(command).replace('-', '-{}')}\par}}",
    )
    opening = [_PREAMBLE, r"\begin{document}", rf"\section*{{{escape(report.title)}}}"]
    return "\n\n".join([*opening, *write_parts(report, markup), r"\end{document}"]) + "\n"


def write_table(table: Table) -> str:
    """One table as a float, with its title as caption and its notes below."""
    parts = [r"\begin{table}", r"\centering", rf"\caption{{{escape(table.title)}}}", _tabular(table)]
    for note in table.notes:
        parts += ["", rf"\smallskip {escape(note)}"]
    return "\n".join([*parts, r"\end{table}"]) + "\n"


def escape(text: str) -> str:
    """A text as it is, whatever LaTeX would read in it; what its usual fonts do not have is spelled out."""
    return "".join(_KNOWN[c] if c in _KNOWN else _spell(c) for c in one_line(text))


def _spell(character: str) -> str:
    if ord(character) < 0x100 and character.isprintable():
        return character
    simple = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode()
    if simple and simple.isalnum():
        return simple
    return " " if unicodedata.category(character) == "Zs" else f"[U+{ord(character):04X}]"


def _describe(lines: Sequence[tuple[str, str]]) -> str:
    items = [rf"\item[{{{escape(name)}}}] {escape(value)}" for name, value in lines]
    return "\n".join([r"\begin{description}", *items, r"\end{description}"])


def _pages(table: Table) -> list[Table]:
    table.check()
    starts = range(0, max(len(table.rows), 1), _ROWS)
    pages = []
    for start in starts:
        rows = tuple(islice(table.rows, start, start + _ROWS))
        title = f"{table.title} (continued)" if start else table.title
        pages.append(Table(title, table.header, rows, table.notes if start == starts[-1] else ()))
    return pages


def _place_table(table: Table) -> str:
    # Not a float: in a report things stand where they are spoken of.
    notes = [rf"{{\footnotesize {escape(note)}}}" for note in table.notes]
    body = "\\\\[2pt]\n".join([rf"\textbf{{{escape(table.title)}}}", rf"\fit{{{_tabular(table)}}}"])
    return "\n\n".join([_BOX + "\n" + body, *notes]) + "\n" + r"\end{minipage}"


def _place_picture(picture: Picture, place: str) -> str:
    caption = rf"{{\footnotesize {escape(picture.caption)}}}"
    if not place:
        return caption
    file = rf"\fit{{\includegraphics{{\detokenize{{{place}}}}}}}"
    return _BOX + f"\n{file}\n\n{caption}\n" + r"\end{minipage}"


def _tabular(table: Table) -> str:
    table.check()
    return "\n".join(
        [
            rf"\begin{{tabular}}{{l{'r' * (len(table.header) - 1)}}}",
            r"\toprule",
            _line([escape(text) for text in table.header]),
            r"\midrule",
            *(_line([_mark(cell) for cell in row]) for row in table.rows),
            r"\bottomrule",
            r"\end{tabular}",
        ]
    )


def _line(texts: Sequence[str]) -> str:
    # A row that begins with a bracket would be an argument of the line before it.
    line = " & ".join(texts) + r" \\"
    return "{}" + line if line.startswith(("[", "*")) else line


def _mark(cell: Cell) -> str:
    return rf"\textbf{{{escape(cell.text)}}}" if cell.bold and cell.text else escape(cell.text)
