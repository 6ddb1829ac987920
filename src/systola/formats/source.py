"""Where an instance comes from, as a command line says it: plain data, which any process can open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from systola.errors import InputError
from systola.formats.catalog import look_up_with
from systola.formats.instance import Instance
from systola.formats.library import Library
from systola.formats.own import find_problem
from systola.model.source import is_code


@dataclass(frozen=True)
class Source:
    """An INSTANCE and what goes with it.

    Attributes
    ----------
    spec
        As for `open_instance`, or ``FILE.py:NAME``.
    problem
        What the file holds, if it is said.
    data
        A file with the data of a problem of one's own.
    given
        Values for what files leave open; those that an instance has no use for are left alone.
    code
        Whether the spec may be Python code: only where the user has named it.
    """

    spec: str
    problem: str | None = None
    data: str | None = None
    given: Mapping[str, Any] = field(default_factory=dict)
    code: bool = False

    def look_up(self) -> Instance | Library:
        """The instance, or all that its file holds if it names none of several."""
        if self.code and is_code(self.spec):
            if self.problem is not None:
                raise InputError(f"{self.spec} says itself which problem it is, but got --problem {self.problem}")
            return find_problem(self.spec, self.data, self.given)
        if self.data is not None:
            raise InputError(
                f"--data is for a problem of your own, FILE.py:NAME, but the instance is {self.spec}; leave it out, or "
                f"solve {self.data} itself"
            )
        return look_up_with(self.spec, self.problem, self.given)

    def open(self) -> Instance:
        """The instance."""
        found = self.look_up()
        return found.choose(None) if isinstance(found, Library) else found
