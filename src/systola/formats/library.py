"""A file that holds several problems, of which one is chosen by number or by name."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from systola.errors import InputError
from systola.formats.instance import Instance
from systola.formats.text import located, shown
from systola.model.problem import Problem


@dataclass(frozen=True, eq=False)
class Part:
    """One problem of a file.

    Attributes
    ----------
    make
        Makes the problem.
    sizes
        What a list of the file shows of it, such as the number of items.
    best_known, notes
        As in `Instance`.
    name
        Its own, or empty.
    """

    make: Callable[[], Problem]
    sizes: Mapping[str, int]
    best_known: int | float | None
    notes: tuple[str, ...] = ()
    name: str = ""


@dataclass(frozen=True, eq=False)
class Library:
    """The problems of a file, in its order.

    Attributes
    ----------
    path
        The file.
    format
        Its name, for the source of an instance.
    kind
        The problem as the command line names it.
    parts
        One or more; names differ in more than case.
    """

    path: Path
    format: str
    kind: str
    parts: tuple[Part, ...] = field(repr=False)

    def choose(self, word: str | None) -> Instance:
        """The problem with this name or number, counted from 1; None is the only one."""
        number = self._number(word)
        part = self.parts[number - 1]
        label = part.name or str(number)
        with located(f"{self.path.name}#{label}"):
            problem = part.make()
        source = f"{self.format}, file {self.path}, problem {number}"
        return Instance(f"{self.path.stem}#{label}", problem, part.best_known, source, part.notes, self.kind)

    def describe(self) -> dict[str, Any]:
        """What `systola instances show` shows: plain values only, fit for JSON."""
        return {
            "name": self.path.stem,
            "problem": self.kind,
            "source": f"{self.format}, file {self.path}",
            "problems": [
                {
                    "instance": f"{self.path}#{part.name or number}",
                    "number": number,
                    "name": part.name or None,
                    **part.sizes,
                    "best_known": part.best_known,
                }
                for number, part in enumerate(self.parts, 1)
            ],
        }

    def _number(self, word: str | None) -> int:
        count = len(self.parts)
        advice = f"`systola instances show {self.path}` lists them"
        if word is None:
            if count == 1:
                return 1
            example = f"{self.path}#{self.parts[0].name or 1}"
            raise InputError(
                f"one problem must be named, but {self.path.name} holds {count}: write {example}; {advice}"
            )
        names = {part.name.casefold(): number for number, part in enumerate(self.parts, 1) if part.name}
        number = names.get(word.casefold(), 0)
        if not number and re.fullmatch("[0-9]{1,18}", word):
            number = int(word)
        if 1 <= number <= count:
            return number
        near = difflib.get_close_matches(word.casefold(), names, 1)
        hint = f"did you mean {self.parts[names[near[0]] - 1].name}? " if near else ""
        rule = f"a problem of {self.path.name} must be a number from 1 to {count}" + (" or a name" if names else "")
        raise InputError(f"{rule}, but got {shown(word)}; {hint}{advice}")
