"""An engine says which solutions meet in a cell, what the cell does, and where the result goes.

Host side: a frozen dataclass of parameters that a user writes. `prepare` turns it into a `Design` for one problem:
sizes, and the record by which kernels know the engine. Kernel side: the functions below, dispatched on that record.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

import numpy as np

from systola.jit.records import RecordType

try:
    import resource
except ImportError:  # not on Windows
    resource = None  # type: ignore[assignment]

from systola.engines.picture import Layout
from systola.errors import InputError
from systola.jit.dispatch import Implementation, dispatched, dispatched_call, register
from systola.jit.stop_flag import must_leave
from systola.model.capabilities import Buffer, Opening
from systola.model.encodings import Array, sample
from systola.model.problem import Problem
from systola.model.rng import START

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


@dispatched
def step_constants(engine: Any, step: Any) -> Any:
    """Three numbers that all cells share in a step; computed once a step, not once a cell."""


@dispatched
def step_cells(engine: Any, s: Any, first: Any, last: Any, lane: Any) -> Any:
    """What the cells first <= cell < last do in the step s; by default one after the other.

    A cell writes only rows that no other cell touches, so cells may be taken in any order.
    """


@dispatched
def do_cell(engine: Any, s: Any, cell: Any, lane: Any) -> Any:
    """What one cell does in the step s."""


@dispatched
def init_row(engine: Any, s: Any, row: Any, lane: Any) -> Any:
    """Write the first solution of this row into population.x[row]."""


@dispatched_call
def end_step(engine: Any, s: Any) -> Any:
    """What is done once at the end of the step s, after all of its cells; after the start, too, as step 0.

    False if the population has no room for what the step has found: it grows, and the same is asked again.
    """


@dispatched
def reduce_lanes(engine: Any, s: Any, lane: Any, stride: Any) -> Any:
    """With many lanes, before `end_step`: reduce what it needs of lane, lane + stride, ... to the first of them."""


def sample_row(self: Any, s: Any, row: Any, lane: Any) -> None:
    """The implementation of `init_row` for most engines: a uniform random solution."""
    space, population, seed = s.space, s.population, s.seed
    sample(space, population.x, row, seed, START, 0, row)


def _do_each_cell(self: Any, s: Any, first: Any, last: Any, lane: Any) -> None:
    for cell in range(first, last):
        if must_leave(s.lanes.stop):
            return
        do_cell(self, s, cell, lane)


def _no_constants(self: Any, step: Any) -> Any:
    return 0, 0, 0


def _no_end(self: Any, s: Any) -> Any:
    return True


def _no_reduction(self: Any, s: Any, lane: Any, stride: Any) -> None:
    pass


def implement(record: RecordType, **functions: Implementation) -> None:
    """Register what an engine with records of this type does: at least `do_cell`, or `step_cells` in its stead."""
    for name, function in {**_DEFAULTS, **functions}.items():
        register(name, record, function)


_DEFAULTS: dict[str, Implementation] = {
    "step_cells": _do_each_cell,
    "step_constants": _no_constants,
    "init_row": sample_row,
    "end_step": _no_end,
    "reduce_lanes": _no_reduction,
}


def check_number(name: str, value: float | None, low: float, high: float, whole: bool = True) -> None:
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
    layout: Layout | None = None  # how rows are to be looked at; None: as individuals, side by side
    order: Literal["C", "F"] = "C"  # memory order of the population on a CPU
    table: Buffer | None = None  # of the problem, if local search uses it: one for each lane
    scratch: int = 0  # how many integers a lane has room for
    single: int = 0  # table size where a lane evaluates one neighbour at a time, as on a GPU
    neighbourhood_state: Buffer | None = None  # of the problem, if all cells look around one solution
    max_lanes: int = 2**31  # on a GPU, where a lane is a thread
    memory_size: int = 0  # how many numbers the engine remembers from step to step
    opening: Opening | None = None  # of the problem, if the engine starts from that
    sections: int = 0  # parts that grow, of the rows after the first: all as large as each other
    candidates: int = 0  # how many evaluated neighbours are kept until the end of the step
    rows_in_use: Callable[[Array], Array | None] | None = (
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


# What a parameter of an engine may be.
Parameter: TypeAlias = "Array | np.generic | Callable[..., Any] | Engine | Sequence[Parameter] | float | str | None"


def parameters_of(engine: Engine | DataclassInstance) -> dict[str, Any]:
    """The parameters of an engine as plain data; arrays as nested lists."""
    values = {f.name: getattr(engine, f.name) for f in fields(engine)}  # type: ignore[arg-type]
    return {k: as_data(v) for k, v in values.items() if v is not None}


def as_data(value: Parameter) -> Any:
    """A parameter as plain data."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if callable(value):
        return f"{value.__module__}.{value.__qualname__}"
    if is_dataclass(value):
        return {"algorithm": getattr(value, "name", type(value).__name__), **parameters_of(value)}
    return [as_data(v) for v in value] if isinstance(value, (tuple, list)) else value
