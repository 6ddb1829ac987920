"""An engine says which solutions meet in a cell, what the cell does, and where the result goes.

Host side: a frozen dataclass of parameters that a user writes. `prepare` turns it into a `Design` for one problem:
sizes, and the record by which kernels know the engine. Kernel side: the verbs below.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np

try:
    import resource
except ImportError:  # not on Windows
    resource = None  # type: ignore[assignment]

from systola.errors import InputError
from systola.jit.dispatch import Body, body_of, give_body, large_verb, verb
from systola.jit.stop_flag import must_leave
from systola.model.capabilities import Buffer
from systola.model.encodings import Array, sample
from systola.model.problem import Problem
from systola.model.rng import START


@verb
def phase(engine: Any, step: Any) -> Any:
    """Three numbers that all cells share in a step; computed once a step, not once a cell."""
    return body_of("phase", engine)(engine, step)


@verb
def advance(engine: Any, s: Any, first: Any, last: Any, lane: Any) -> Any:
    """What the cells first <= cell < last do in the step s; by default one after the other.

    A cell writes only rows that no other cell touches, so cells may be taken in any order.
    """
    return body_of("advance", engine)(engine, s, first, last, lane)


@verb
def do_cell(engine: Any, s: Any, cell: Any, lane: Any) -> Any:
    """What one cell does in the step s."""
    return body_of("do_cell", engine)(engine, s, cell, lane)


@verb
def begin(engine: Any, s: Any, row: Any, lane: Any) -> Any:
    """Write the first solution of this row into population.x[row]."""
    return body_of("begin", engine)(engine, s, row, lane)


@large_verb
def conclude(engine: Any, s: Any) -> Any:
    """What is done once in the step s, after all of its cells; after the start, too, as step 0.

    False if the population has no room for what the step has found: it grows, and the same is asked again.
    """
    return body_of("conclude", engine)(engine, s)


@verb
def rally(engine: Any, s: Any, lane: Any, stride: Any) -> Any:
    """With many lanes, before `conclude`: what it needs of lane, lane + stride, ... is brought to the first of them."""
    return body_of("rally", engine)(engine, s, lane, stride)


def begin_uniformly(self: Any, s: Any, row: Any, lane: Any) -> None:
    """The body of `begin` for most engines."""
    space, population, seed = s.space, s.population, s.seed
    sample(space, population.x, row, seed, START, 0, row)


def _do_each_cell(self: Any, s: Any, first: Any, last: Any, lane: Any) -> None:
    for cell in range(first, last):
        if must_leave(s.lanes.stop):
            return
        do_cell(self, s, cell, lane)


def _share_nothing(self: Any, step: Any) -> Any:
    return 0, 0, 0


def _conclude_nothing(self: Any, s: Any) -> Any:
    return True


def _rally_nobody(self: Any, s: Any, lane: Any, stride: Any) -> None:
    pass


def equip(record: Any, **bodies: Body) -> None:
    """Give records of this type the bodies of an engine's verbs: at least `do_cell`, or `advance` in its stead."""
    for name, body in {**_PLAIN_BODIES, **bodies}.items():
        give_body(name, record, body)


_PLAIN_BODIES: dict[str, Body] = {
    "advance": _do_each_cell,
    "phase": _share_nothing,
    "begin": begin_uniformly,
    "conclude": _conclude_nothing,
    "rally": _rally_nobody,
}


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
    steps: int  # default budget
    slots: Array = field(default_factory=lambda: np.zeros(1, np.int32))  # see Population
    uses_prefix: bool = False  # whether the engine uses the problem's prefix sums
    keeps_state: bool = False  # and keeps the state of each solution
    shape: tuple[int, int] | None = None  # of the grid, for pictures
    order: Literal["C", "F"] = "C"  # memory order of the population on a CPU
    table: Buffer | None = None  # of the problem, if local search uses it: one for each lane
    scratch: int = 0  # how many integers a lane has room for
    single: int = 0  # table size where a lane evaluates one neighbour at a time, as on a GPU
    outlook: Buffer | None = None  # of the problem, if all cells look around one solution
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
