"""A problem with its name and what is known of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from systola.errors import InputError
from systola.model.encodings import Array
from systola.model.problem import Problem


class UnfitOptions(InputError):
    """A file has the format, but options ask for what it cannot give: no other format has to be tried."""


@dataclass(frozen=True, eq=False)
class Instance:
    """A problem with its name and what is known of it.

    Attributes
    ----------
    name
        Short, for tables.
    problem
        The problem itself.
    best_known
        The best objective known, in the problem's own sense and units; None if none is.
    source
        Where the data come from.
    notes
        What a user should know of the data, such as parts of a file that the problem leaves out.
    kind
        The problem as the command line names it, such as ``knapsack``.
    solution
        Decisions that reach `best_known`, if they are known.
    fields
        Values that its file leaves open and that were given beside it, such as a capacity.
    """

    name: str
    problem: Problem
    best_known: int | float | None
    source: str
    notes: tuple[str, ...] = ()
    kind: str = ""
    solution: Array | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)


def check_sizes(most: int, **sizes: int) -> None:
    """An InputError unless each size of a generated instance is at least 1, and their product at most so large."""
    for name, number in sizes.items():
        if number < 1:
            raise InputError(f"`{name} >= 1` must hold, but got {number}")
    if math.prod(sizes.values()) > most:
        got = " * ".join(map(str, sizes.values()))
        raise InputError(f"`{' * '.join(sizes)} <= {most}` must hold, but got {got}")
