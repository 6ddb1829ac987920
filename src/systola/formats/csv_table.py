"""Tables in CSV files: a header, then rows of as many cells, each known by its line.

Cells may be quoted. Commas, semicolons or tabs are between them, whichever the header has.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from systola.errors import InputError
from systola.formats.text import located, read_text, shown, whole_number
from systola.model.encodings import Array

NAMES = frozenset({"", "name", "names", "label", "labels", "id"})  # headings of the column of names, for all problems
_SIGNS = ",;\t"
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_WHOLE = re.compile(r"[+-]?[0-9]{1,18}")
_LONGEST = 60  # characters of a number: converting millions of digits takes minutes


@dataclass(frozen=True)
class CsvTable:
    """A header and rows, without blanks around cells.

    Attributes
    ----------
    name
        Of the file.
    header
        Headings as they are written.
    rows, lines
        The cells of each row, and the line of the file in which it ends.
    head
        Where the header is, for messages.
    """

    name: str
    header: tuple[str, ...]
    rows: list[list[str]] = field(repr=False)
    lines: list[int] = field(repr=False)
    head: str

    def find(self, *headings: str) -> int | None:
        """The column with one of these headings, in lower case; an InputError if there are two."""
        found = [k for k, heading in enumerate(self.header) if heading.casefold() in headings]
        if len(found) > 1:
            both = " and ".join(shown(self.header[k]) for k in found[:2])
            raise InputError(f"a table must have one column {headings[0]!r}, but has {both} ({self.head})")
        return found[0] if found else None

    def part(self, rows: Sequence[int]) -> CsvTable:
        """The table with only these rows."""
        return replace(self, rows=[self.rows[k] for k in rows], lines=[self.lines[k] for k in rows])

    def texts(self, column: int) -> list[str]:
        """The cells of a column."""
        return [row[column] for row in self.rows]

    def names(self, column: int) -> list[str]:
        """The cells of a column as names: none empty, all different."""
        seen: dict[str, int] = {}
        for name, line in zip(self.texts(column), self.lines, strict=True):
            if not name:
                raise InputError(f"each row must have a name, but one has none ({self.name}, line {line})")
            if name in seen:
                raise InputError(
                    f"a name must come once, but {shown(name)} of line {seen[name]} comes again "
                    f"({self.name}, line {line})"
                )
            seen[name] = line
        return list(seen)

    def whole_numbers(self, column: int) -> NDArray[np.int64]:
        """The cells of a column as whole numbers."""
        numbers = np.empty(len(self.rows), np.int64)
        for k, (text, line) in enumerate(zip(self.texts(column), self.lines, strict=True)):
            if _WHOLE.fullmatch(text):
                numbers[k] = int(text)
                continue
            with located(f"{self.name}, line {line}"):
                if _NUMBER.fullmatch(text) and not text.lstrip("+-").isdigit():
                    what = self.header[column]
                    raise InputError(f"each `{what}` must be a whole number, but got {shown(text)}; use smaller units")
                numbers[k] = whole_number(text, self.header[column] or "number")
        return numbers

    def numbers(self, column: int) -> Array:
        """The cells of a column as numbers: whole ones if all are."""
        texts = self.texts(column)
        if all(map(_WHOLE.fullmatch, texts)):
            return np.array([int(text) for text in texts], np.int64)
        values = np.empty(len(texts), np.float64)
        for k, (text, line) in enumerate(zip(texts, self.lines, strict=True)):
            if len(text) > _LONGEST or not _NUMBER.fullmatch(text):
                raise InputError(
                    f"each `{self.header[column]}` must be a number, but got {shown(text)} ({self.name}, line {line})"
                )
            values[k] = float(text)
        if not np.isfinite(values).all():
            k = int(np.argmin(np.isfinite(values)))
            raise InputError(
                f"each `{self.header[column]}` must be a number of 64 bits, but got {shown(texts[k])} "
                f"({self.name}, line {self.lines[k]})"
            )
        return values

    def are_numbers(self, column: int) -> bool:
        """Whether all cells of a column look like numbers."""
        return all(len(text) <= _LONGEST and _NUMBER.fullmatch(text) for text in self.texts(column))


def read_csv(path: str | Path) -> CsvTable:
    """Read a table.

    Parameters
    ----------
    path
        The file: UTF-8, a header, then one row or more. Rows without any text are left out, and so are columns.

    Raises
    ------
    InputError
        If it is no such file; what is wrong in a row names its line.
    """
    path = Path(path)
    text = read_text(path)
    lines: list[int] = []
    rows: list[list[str]] = []
    for line, cells in _cells(text, path.name):
        if any(cells):
            lines.append(line)
            rows.append(cells)
    if not rows:
        raise InputError(f"a table must begin with a header of its columns, but the file is empty ({path.name})")
    header, rows, place, lines = rows[0], rows[1:], f"{path.name}, line {lines[0]}", lines[1:]
    if not rows:
        raise InputError(f"a table must have a row after its header, but has none ({place})")
    width = len(header)
    for cells, line in zip(rows, lines, strict=True):
        if len(cells) < width or any(cells[width:]):
            raise InputError(
                f"each row must have {width} cells as the header has, but one has {len(cells)} "
                f"({path.name}, line {line})"
            )
    used = [k for k in range(width) if header[k] or any(cells[k] for cells in rows)]
    if len(used) < width or any(len(cells) > width for cells in rows):
        header = [header[k] for k in used]
        rows = [[cells[k] for k in used] for cells in rows]
    table = CsvTable(path.name, tuple(header), rows, lines, place)
    seen: set[str] = set()
    for heading in header:
        if heading.casefold() in seen:
            again = shown(heading)
            raise InputError(f"each column must have its own heading, but {again} comes again ({place})")
        seen.add(heading.casefold())
    if all(_NUMBER.fullmatch(heading) for heading in header if len(heading) <= _LONGEST):
        raise InputError(f"a table must begin with a header of its columns, but begins with numbers; add one ({place})")
    return table


def _cells(text: str, name: str) -> Iterator[tuple[int, list[str]]]:
    """The cells of each row, without blanks around them, and the line in which it ends."""
    begin = text.lstrip("\n").partition("\n")[0]
    sign = max(_SIGNS, key=begin.count)
    reader = csv.reader(_lines(text), delimiter=sign, skipinitialspace=True, strict=True)
    try:
        for cells in reader:
            yield reader.line_num, [cell.strip() for cell in cells]
    except csv.Error as error:
        raise InputError(f"a table must be CSV, but it is not: {error} ({name}, line {reader.line_num})") from None


def _lines(text: str) -> Iterable[str]:
    """One after the other: a list of them all would be another copy of the text."""
    begin = 0
    while begin < len(text):
        end = text.find("\n", begin)
        end = len(text) if end < 0 else end + 1
        yield text[begin:end]
        begin = end
