"""What every backend holds for a run: the arrays, allocated once, and how they are saved and restored."""

from __future__ import annotations

import dataclasses
import mmap
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numba.core.errors import NumbaError
from numpy.typing import DTypeLike

from systola.engines.engine import Design, refuse_if_too_large, too_large
from systola.errors import InputError, ObjectiveError, SystolaError
from systola.jit.compile import Call
from systola.jit.stop_flag import new_flag
from systola.model.capabilities import Buffer, EvaluationState, Segments, buffer_of, capability
from systola.model.encodings import Array
from systola.model.linked import Link, linked
from systola.model.population import NEVER, ROW_PADDING, Best, Lanes, Population, Standing
from systola.model.problem import Problem, is_declared, space_of
from systola.model.structure.declare import kept_size
from systola.operators.evaluation import choose_full_evaluation

_GROWING = ("population.memory", "population.x")
_NO_TABLE = Buffer(2, np.int32)  # not of one column, which Numba takes for another type
_PAGE_ROWS, _STAGGER = 512, 40  # of 8 bytes: a page, and five cache lines
_LARGE_PAGE = 1 << 21
IMMIGRATION = "immigration"  # the kernel that only demes and races need


@dataclass(frozen=True)
class Setup:
    """A problem, the design of an engine for it, and a seed: what a backend runs."""

    problem: Problem
    design: Design  # for the problem `in_kernels`
    measures: int
    dtype: Any  # of the measures
    seed: int
    link: Link | None = None  # where the problem's functions are, if kernels call them by address

    @property
    def in_kernels(self) -> Problem:
        """The problem as kernels see it."""
        return linked(self.problem, self.link) if self.link else self.problem


class Session(Protocol):
    """A run on a backend. Steps count from 1."""

    backend: str
    threads: int
    lanes: int
    memory: int  # bytes
    accepts_immigrants: bool  # between two steps
    reserved: int  # cores that kernels leave to others for now

    def kernels(self) -> dict[str, Call]:
        """What can be compiled apart, by what it is for: what takes longest first. Nothing, if nothing can."""
        ...

    def compile(self) -> None:
        """Compile all that a run needs, or load it from disk."""

    def give(self, rows: Array) -> None:
        """Rows of storage that the first population begins with."""

    def start(self, low: int, high: int) -> None:
        """Make the part of the first population that falls to the lanes low <= lane < high."""

    def sweep(self, step: int, steps: int, low: int, high: int) -> int:
        """Make `steps` steps from `step` on, of the lanes low <= lane < high; how many were made before a stop."""

    def compile_immigration(self) -> None:
        """Compile what `accept_immigrant` needs, if it can be called."""

    def accept_immigrant(self, step: int, row: Array) -> None:
        """Accept a solution, a row of storage, before this step, as the best of another deme."""

    def ask_to_stop(self, at_once: bool) -> None:
        """Let kernels at work end after this step, or within it; any thread may call it, at any moment."""

    def is_left(self) -> bool:
        """Whether a step, or the start, was left unfinished because of that."""

    def best(self) -> Best:
        """The best solution so far."""

    def faults(self) -> tuple[int, Array | None]:
        """How often the objective was not a finite number, and the decisions of one such case."""

    def population(self) -> Population:
        """The population, copied to the host."""

    def standing(self) -> Standing:
        """How good the population is; not copied where it is in the host's memory."""

    def save(self) -> dict[str, Array]:
        """All that a run needs to go on, between two steps; the same for every backend."""

    def restore(self, arrays: dict[str, Array]) -> None:
        """The inverse of `save`."""


def memory_of(setup: Setup, lanes: int, chunk: int) -> int:
    """Bytes that a session with so many lanes, which take up to `chunk` cells together, allocates."""
    prefix = _prefix_of(setup)
    space = space_of(setup.problem)
    x = setup.problem.encoding.empty(space, 1)
    state = _bytes_of(state_buffer(setup))
    row: int = x.nbytes + 8 * setup.measures + _bytes_of(prefix) + state * setup.design.keeps_state
    lane: int = 5 * x.nbytes + 24 * setup.measures + 24 + 2 * setup.problem.encoding.blank(space, 1).nbytes + 2 * state
    table = _table_of(setup, chunk)
    lane += _bytes_of(table) + 4 * setup.design.scratch + 8
    neighbourhood_state = _neighbourhood_state_of(setup)
    shared: int = setup.design.slots.nbytes + _bytes_of(neighbourhood_state)
    shared += 8 * (setup.design.memory_size + setup.design.candidates * (setup.measures + 1))
    return rows_in_memory(setup.design) * row + lanes * lane + shared


def _bytes_of(buffer: Buffer) -> int:
    return int(buffer.size * np.dtype(buffer.dtype).itemsize)


def _prefix_of(setup: Setup) -> Buffer:
    """What is kept of each solution for segments, if the engine uses it."""
    segments = capability(setup.problem, Segments) if setup.design.uses_prefix else None
    return buffer_of(setup.problem, segments.prefix) if segments else Buffer(0, np.int32)


def state_buffer(setup: Setup) -> Buffer:
    """What is kept of each solution for moves: for declared parts, the problem's state, or the measures."""
    if is_declared(setup.problem):
        return Buffer(max(2, kept_size(setup.problem)), setup.dtype)
    state = capability(setup.problem, EvaluationState)
    return buffer_of(setup.problem, state.buffer) if state else Buffer(setup.measures, setup.dtype)


def rows_in_memory(design: Design) -> int:
    """Rows of a population with spare ones at the end.

    Where memory runs over rows, columns must not start at the same place of their pages: they would share cache sets.
    """
    rows = design.rows + ROW_PADDING
    return rows + (0 if design.order == "C" else (_STAGGER - rows) % _PAGE_ROWS)


def _table_of(setup: Setup, chunk: int) -> Buffer:
    """A lane's table; where neighbours come one at a time, less may be enough. Without a type it has the measures'."""
    design = setup.design
    table = design.table or _NO_TABLE
    size = design.single if design.single and chunk == 1 else table.size
    return _typed(setup, Buffer(size, table.dtype))


def _neighbourhood_state_of(setup: Setup) -> Buffer:
    return _typed(setup, setup.design.neighbourhood_state or _NO_TABLE)


def _typed(setup: Setup, buffer: Buffer) -> Buffer:
    return Buffer(buffer.size, setup.dtype if buffer.dtype is None else buffer.dtype)


def allocate(setup: Setup, lanes: int, chunk: int) -> tuple[Population, Lanes, Best]:
    """Arrays of a session, in the host's memory; a lane takes up to `chunk` cells together."""
    problem, design = setup.problem, setup.design
    choose_full_evaluation(setup.in_kernels)
    space, encoding = space_of(problem), problem.encoding
    prefix, kept = _prefix_of(setup), state_buffer(setup)
    rows = rows_in_memory(design)
    one = encoding.empty(space, 1)
    table, neighbourhood_state = _table_of(setup, chunk), _neighbourhood_state_of(setup)
    refuse_if_too_large(memory_of(setup, lanes, chunk))
    try:
        population = Population(
            _zeros((rows, *one.shape[1:]), one.dtype, design.order),
            _zeros((rows, setup.measures), setup.dtype, design.order),
            _zeros((rows, prefix.size), prefix.dtype, design.order),
            _zeros((rows, kept.size if design.keeps_state else 0), kept.dtype, "C"),
            design.slots.copy(),
            np.zeros(neighbourhood_state.size, neighbourhood_state.dtype),
            np.zeros(max(2, design.memory_size), np.int64),
            _zeros((max(2, design.candidates), setup.measures), setup.dtype, "F"),
            _zeros((max(2, design.candidates),), np.int64, "C"),
        )
        workspace = Lanes(
            np.full(lanes, NEVER, np.int64),
            np.zeros(lanes, np.int64),
            np.zeros((lanes, setup.measures), setup.dtype),
            encoding.empty(space, lanes),
            encoding.empty(space, lanes),
            encoding.empty(space, lanes),
            encoding.empty(space, lanes),
            np.zeros((2 * lanes * chunk, setup.measures), setup.dtype, order="F"),
            np.zeros((2 * lanes * chunk, kept.size), kept.dtype),
            np.zeros(2 * lanes * chunk, np.uint8),
            encoding.blank(space, lanes),
            np.zeros((lanes, table.size), table.dtype),
            np.zeros((lanes, max(2, design.scratch)), np.int32),
            np.full(lanes, NEVER, np.int64),
            np.zeros(lanes, np.int64),
            encoding.blank(space, lanes),
            new_flag(),
        )
    except MemoryError:
        raise too_large(memory_of(setup, lanes, chunk)) from None
    best = Best(
        np.full(1, NEVER, np.int64),
        np.zeros(1, np.int64),
        np.zeros((1, setup.measures), setup.dtype),
        encoding.empty(space, 1),
    )
    return population, workspace, best


def total_size(*records: Any) -> int:
    """Bytes of all arrays in records."""
    return sum(array.nbytes for record in records for array in record)


def grow(setup: Setup, population: Population) -> tuple[Setup, Population]:
    """Twice the room for each section that grows; what is remembered of each row of a section grows, too."""
    design, room = setup.design, setup.design.room()
    rows, kept = 1 + 2 * room * design.sections, design.memory_size - room
    design = dataclasses.replace(design, rows=rows, memory_size=design.memory_size + room)
    arrays = {}
    for name in ("x", "scores", "prefix", "state"):
        old = getattr(population, name)
        new = _zeros((rows_in_memory(design), *old.shape[1:]), old.dtype, design.order)
        new[0] = old[0]
        for section in range(design.sections):
            new[1 + 2 * room * section :][:room] = old[1 + room * section :][:room]
        arrays[name] = new
    memory = np.zeros(design.memory_size, np.int64)
    memory[: kept + room] = population.memory
    return dataclasses.replace(setup, design=design), population._replace(**arrays, memory=memory)


def saved(population: Population, best: Best) -> dict[str, Array]:
    """A population and the best solution as named arrays. Other lanes' bests can never matter again."""
    return {
        **{f"population.{k}": np.ascontiguousarray(v) for k, v in population._asdict().items()},
        **{f"best.{k}": np.ascontiguousarray(v) for k, v in best._asdict().items()},
    }


def memory_size_of(arrays: dict[str, Array]) -> int:
    """How many numbers the engine remembers, in arrays from `saved`: by that it is known how far sections have grown.

    There are fewer of them than rows, or it is no such checkpoint, and room for it would be reserved in vain.
    """
    counts = [array.shape[0] if array.ndim else 0 for k, array in arrays.items() if k in _GROWING]
    return min(counts, default=0)


def restore(arrays: dict[str, Array], setup: Setup, population: Population, lanes: Lanes) -> None:
    """Write what `saved` gave into host arrays; the best solution goes to the first lane.

    Kernels trust that rows hold solutions and that numbers of rows are inside the population, so this is checked.
    """
    for name, values in population._asdict().items():
        values[...] = _fitting(arrays, f"population.{name}", values)
    for name in Best._fields:
        getattr(lanes, name)[0] = _fitting(arrays, f"best.{name}", getattr(lanes, name)[:1])[0]
    space, encoding, design = space_of(setup.problem), setup.problem.encoding, setup.design
    held = np.arange(0) if design.rows_in_use is None else design.rows_in_use(population.memory)
    if held is None or ((population.slots < 0) | (population.slots >= max(1, design.rows))).any():
        raise InputError("the checkpoint's population names rows that it does not have")
    valid = encoding.are_valid(space, population.x)
    written = population.x.any(axis=1)  # spare rows and those still to come are zeros
    if (
        not valid[: design.started].all()
        or not valid[held].all()
        or not valid[written].all()
        or not encoding.are_valid(space, lanes.best[:1]).all()
    ):
        raise InputError("the checkpoint's population must hold solutions of this problem, but one of them is none")
    if lanes.step[0] < 0:
        raise InputError("the checkpoint must have a best solution, but says that none was found")


def _fitting(arrays: dict[str, Array], name: str, like: Array) -> Array:
    source = arrays.get(name)
    if source is None or source.shape != like.shape or source.dtype != like.dtype:
        raise InputError(f"the checkpoint's {name} does not fit this problem and engine")
    return source


def find_fault(lanes: Lanes) -> tuple[int, Array | None]:
    """Total number of faults and one case."""
    total = int(lanes.faults.sum())
    return total, lanes.faulty[int(np.argmax(lanes.faults > 0))].copy() if total else None


@contextmanager
def as_objective_error(problem: Problem) -> Iterator[None]:
    """What is raised while kernels run comes from the user's code: say so, and keep where it was."""
    try:
        yield
    except (NumbaError, SystolaError):
        raise
    except Exception as error:
        raise ObjectiveError(f"{type(problem).__name__} raised {type(error).__name__}: {error}") from error


def _zeros(shape: tuple[int, ...], dtype: DTypeLike, order: Literal["C", "F"]) -> Array:
    """As numpy.zeros, but on large pages where the system has them.

    A step touches every column of a population; with small pages each column needs its own entry in the processor's
    table of pages, which has fewer entries than a long solution has words.
    """
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    if size < _LARGE_PAGE // 4 or not hasattr(mmap, "MADV_HUGEPAGE"):
        return np.zeros(shape, dtype, order)
    try:
        block = mmap.mmap(-1, size + 2 * _LARGE_PAGE)
    except OSError:
        raise MemoryError from None
    with suppress(OSError):  # a system without large pages has small ones
        block.madvise(mmap.MADV_HUGEPAGE)
    held = np.frombuffer(block, np.uint8)
    first = -held.ctypes.data % _LARGE_PAGE
    made: Array = held[first : first + size].view(dtype).reshape(shape, order=order)
    return made
