"""An engine says which solutions meet in a cell, what the cell does, and where the result goes.

Host side: a frozen dataclass of parameters that a user writes. `prepare` turns it into a `Design` for one problem:
sizes, and the record by which kernels know the engine. Kernel side: the verbs below.
"""

from __future__ import annotations

import os
from collections.abc import Callable
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
from systola.verbs import Body, body_of, give_body, large_verb, verb


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


@large_verb
def conclude(engine: Any, space: Any, problem: Any, population: Any, lanes: Any, seed: Any, step: Any) -> Any:
    """What is done once in a step, after all of its cells; after the start, too, as step 0.

    False if the population has no room for what the step has found: it grows, and the same is asked again.
    """
    return body_of("conclude", engine)(engine, space, problem, population, lanes, seed, step)


@verb
def rally(engine: Any, problem: Any, lanes: Any, lane: Any, stride: Any) -> Any:
    """With many lanes, before `conclude`: what it needs of lane, lane + stride, ... is brought to the first of them."""
    return body_of("rally", engine)(engine, problem, lanes, lane, stride)


def begin_uniformly(
    self: Any, space: Any, problem: Any, population: Any, lanes: Any, seed: Any, row: Any, lane: Any
) -> None:
    """The body of `begin` for most engines."""
    sample(space, population.x, row, seed, START, 0, row)


def _share_nothing(self: Any, step: Any) -> Any:
    return 0, 0, 0


def _conclude_nothing(self: Any, space: Any, problem: Any, population: Any, lanes: Any, seed: Any, step: Any) -> Any:
    return True


def _rally_nobody(self: Any, problem: Any, lanes: Any, lane: Any, stride: Any) -> None:
    pass


def equip(
    record: Any,
    advance: Body,
    *,
    phase: Body = _share_nothing,
    begin: Body = begin_uniformly,
    conclude: Body = _conclude_nothing,
    rally: Body = _rally_nobody,
) -> None:
    """Give records of this type the bodies of an engine's verbs."""
    bodies = {"advance": advance, "phase": phase, "begin": begin, "conclude": conclude, "rally": rally}
    for name, body in bodies.items():
        give_body(name, record, body)


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
    scratch: int = 0  # how many integers a lane has room for
    single: int = 0  # how many numbers of a table are enough where a lane has one neighbour at a time
    outlook: Tables | None = None  # of the problem, if all cells look around one solution
    most_lanes: int = 2**31  # on a GPU, where a lane is a thread
    remembered: int = 0  # how many numbers the engine remembers from step to step
    sections: int = 0  # parts that grow, of the rows after the first: all as large as each other
    near: int = 0  # how many neighbours that were measured are kept until the step is concluded
    holders: Callable[[Array], Array | None] | None = (
        None  # rows of solutions by what is remembered; None: it cannot be
    )

    def room(self) -> int:
        """Rows of a section that grows."""
        return (self.rows - 1) // self.sections


class Engine(Protocol):
    """What `solve` needs of an engine."""

    @property
    def name(self) -> str:
        """As on the command line."""
        ...

    def prepare(self, problem: Problem) -> Design:
        """Lay the engine out for this problem, or say why it cannot."""
        ...
