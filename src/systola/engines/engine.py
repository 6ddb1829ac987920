"""An engine says which solutions meet in a cell, what the cell does, and where the result goes.

Host side: a frozen dataclass of parameters that a user writes. `prepare` turns it into a `Design` for one problem:
sizes, and the record by which kernels know the engine. Kernel side: the three verbs below.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np

try:
    import resource
except ImportError:  # not on Windows
    resource = None  # type: ignore[assignment]

from systola.encodings import Array, sample
from systola.errors import InputError
from systola.increments import Tables
from systola.problem import Problem
from systola.rng import START
from systola.verbs import body_of, verb


@verb
def phase(engine: Any, step: Any) -> Any:
    """Three numbers that all cells share in a step; computed once a step, not once a cell."""
    return body_of("phase", engine)(engine, step)


@verb
def advance(
    engine: Any,
    space: Any,
    problem: Any,
    population: Any,
    lanes: Any,
    seed: Any,
    step: Any,
    shared: Any,
    first: Any,
    last: Any,
    lane: Any,
) -> Any:
    """What the cells first <= cell < last do in one step.

    Steps count from 1. A cell writes only rows that no other cell touches, so cells may be taken in any order.
    """
    return body_of("advance", engine)(engine, space, problem, population, lanes, seed, step, shared, first, last, lane)


@verb
def begin(engine: Any, space: Any, problem: Any, population: Any, lanes: Any, seed: Any, row: Any, lane: Any) -> Any:
    """Write the first solution of this row into population.x[row]."""
    return body_of("begin", engine)(engine, space, problem, population, lanes, seed, row, lane)


def begin_uniformly(
    self: Any, space: Any, problem: Any, population: Any, lanes: Any, seed: Any, row: Any, lane: Any
) -> None:
    """The body of `begin` for most engines."""
    sample(space, population.x, row, seed, START, 0, row)


def check_number(name: str, value: Any, low: float, high: float, whole: bool = True) -> None:
    """A parameter must be a number in a range; InputError says which."""
    kind = (int, np.integer) if whole else (int, float, np.integer, np.floating)
    if isinstance(value, bool) or not isinstance(value, kind) or not low <= value <= high:
        what = "whole number" if whole else "number"
        raise InputError(f"`{name}` must be a {what} with {low} <= {name} <= {high}, but got {value!r}")


def too_large(size: int) -> InputError:
    """The error for a population of so many bytes."""
    return InputError(
        f"the population needs {size / 2**30:.1f} GiB, more than this machine gives; choose a smaller grid (length, "
        "width) or population (size)"
    )


def refuse_if_too_large(size: int) -> None:
    """Say so before memory is asked for that the machine does not have."""
    try:
        most = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return  # the system does not tell
    limit = resource.getrlimit(resource.RLIMIT_AS)[0] if resource else -1
    if size > (min(most, limit) if limit >= 0 else most):
        raise too_large(size)


@dataclass(frozen=True)
class Design:
    """An engine laid out for one problem."""

    record: Any  # what kernels see
    cells: int  # work items of a step
    rows: int  # solutions in memory
    started: int  # of these, drawn and measured before the first step
    per_step: int  # solutions made and measured in a step
    slots: Array  # see Population
    marked: bool  # whether the engine uses the problem's marks
    tallied: bool  # and its tallies
    steps: int  # default budget
    shape: tuple[int, int] | None = None  # of the grid, for pictures
    order: Literal["C", "F"] = "C"  # memory order of the population on a CPU
    table: Tables | None = None  # of the problem, if local search uses it: one for each lane
    memory: int = 0  # how many numbers a lane's tabu list has


class Engine(Protocol):
    """What `solve` needs of an engine."""

    @property
    def name(self) -> str:
        """As on the command line."""
        ...

    def prepare(self, problem: Problem) -> Design:
        """Lay the engine out for this problem, or say why it cannot."""
        ...
