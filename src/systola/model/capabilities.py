"""What a problem can do faster than by `evaluate`: what it keeps of a solution, and the functions that keep it.

A problem lists them, ``capabilities = (Flips(flip), ...)``; the functions are plain Python in Numba's subset whose
first argument is the record of the problem's fields, and their names are free. Engines ask for capabilities and fall
back to `evaluate`. The other parameters of each function are those of `model.incremental`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from systola.errors import InputError
from systola.model import incremental, objective
from systola.model.encodings import Array, Binary, Encoding, Integers, Permutation

if TYPE_CHECKING:
    from systola.model.integer_program import IntegerProgram
    from systola.model.problem import Problem

Function = Callable[..., Any]


class Buffer(NamedTuple):
    """Room for numbers: how many, and of which type; in an engine's design None stands for that of the measures."""

    size: int
    dtype: Any


BufferOf = Buffer | Callable[[Any], Buffer]  # the same for all instances of a problem, or a function of the instance


class Capability:
    """Base of all capabilities."""

    encodings: ClassVar[tuple[type[Encoding], ...]] = (Binary, Integers, Permutation)
    implements: ClassVar[dict[str, Function]] = {}  # fields with functions: what kernels call in their place

    def functions(self) -> dict[str, Function]:
        """What it implements, by the name that kernels call it by."""
        given = ((called.__name__, getattr(self, name)) for name, called in self.implements.items())
        return {name: function for name, function in given if function is not None}

    def check(self, owner: str) -> None:
        """InputError if a function is none, or has other parameters than it will be called with."""
        for name, called in self.implements.items():
            function = getattr(self, name)
            if function is None and getattr(type(self), name, called) is None:
                continue  # an optional one
            where = f"{type(self).__name__}.{name} of {owner}"
            if not isinstance(function, FunctionType):
                raise InputError(f"{where} must be a plain function, but got {function!r}")
            wanted, given = (inspect.signature(f).parameters for f in (called, function))
            if len(given) != len(wanted):
                raise InputError(
                    f"{where} must take {len(wanted)} arguments, ({', '.join(wanted)}), but takes ({', '.join(given)})"
                )


@dataclass(frozen=True)
class EvaluationState(Capability):
    """Numbers kept of each solution, from which its measures follow; what the moves below change.

    Without it the state is the measures themselves.

    Parameters
    ----------
    buffer
        How many numbers, and of which type; or a function of the problem that says so.
    init
        ``(self, x, row, state)``: the state of the stored solution x[row].
    measures
        ``(self, state, measures)``: writes the measures that follow from a state.
    """

    implements = {"init": incremental.init_state, "measures": incremental.measures_from_state}
    buffer: BufferOf
    init: Function
    measures: Function


@dataclass(frozen=True)
class Flips(Capability):
    """Binary: what flipping a decision does to the state.

    Parameters
    ----------
    flip
        ``(self, x, row, i, state)``: changes the state as if decision i of the packed x[row] were flipped.
    run
        ``(self, x, row, first, last, state)``: flips the decisions first <= i < last, solution and state; optional,
        where that is faster than one by one.
    word
        ``(self, x, row, word, ones, state)``: the same for the one bits of `ones` in one word of the solution.
    """

    encodings = (Binary,)
    implements = {"flip": incremental.flip, "run": incremental.flip_run, "word": incremental.flip_word}
    flip: Function
    run: Function | None = None
    word: Function | None = None


@dataclass(frozen=True)
class Reassignments(Capability):
    """Integers: ``(self, x, row, i, value, state)`` changes the state as if decision i of x[row] were `value`."""

    encodings = (Integers,)
    implements = {"reassign": incremental.reassign}
    reassign: Function


@dataclass(frozen=True)
class Swaps(Capability):
    """Permutations: ``(self, x, row, i, j, state)`` changes the state as if decisions i and j were exchanged."""

    encodings = (Permutation,)
    implements = {"swap": incremental.swap}
    swap: Function


@dataclass(frozen=True)
class Insertions(Capability):
    """Permutations: ``(self, x, row, i, j, state)`` changes the state as if what is in place i came to place j."""

    encodings = (Permutation,)
    implements = {"insert": incremental.insert}
    insert: Function


@dataclass(frozen=True)
class Reversals(Capability):
    """Permutations: ``(self, x, row, i, j, state)`` changes the state as if places i, ..., j were reversed; i < j."""

    encodings = (Permutation,)
    implements = {"reverse": incremental.reverse}
    reverse: Function


@dataclass(frozen=True)
class SwapTable(Capability):
    """Permutations: a table of the gain in fitness of every swap, kept up to date while a solution is searched around.

    Parameters
    ----------
    buffer
        Its size and type (integers), at least n * padded(n) numbers; what comes after these is yours.
    fill
        ``(self, x, row, table)``: the table of x[row]; table[i * padded(n) + j], i < j, is a gain.
    swap
        ``(self, x, row, i, j, table)``: exchanges decisions i and j of x[row], and brings the table up to date.
    gains
        ``(self, x, row, i, gains)``: gains[j] of all swaps with decision i at once; optional.
    """

    encodings = (Permutation,)
    implements = {"fill": incremental.fill_swap_table, "swap": incremental.make_swap, "gains": incremental.swap_gains}
    buffer: BufferOf
    fill: Function
    swap: Function
    gains: Function | None = None


@dataclass(frozen=True)
class InsertionBlocks(Capability):
    """Permutations: neighbours in which one item is put elsewhere, measured several at a time.

    Parameters
    ----------
    prepared, work
        Sizes of what is kept of the solution that all start from, and of what each lane works with.
    single
        A function of the problem: how many numbers of `work` are enough for one place at a time (as on a GPU).
    prepare, remove, evaluate
        See `prepare_insertions`, `remove_item` and `evaluate_insertions` in `model.incremental`.
    """

    encodings = (Permutation,)
    implements = {
        "prepare": incremental.prepare_insertions,
        "remove": incremental.remove_item,
        "evaluate": incremental.evaluate_insertions,
    }
    prepared: BufferOf
    work: BufferOf
    single: Callable[[Any], int]
    prepare: Function
    remove: Function
    evaluate: Function


@dataclass(frozen=True)
class BestInsertion(Capability):
    """Permutations: where an item is put best into an incomplete order; what iterated greedy works with.

    Parameters
    ----------
    work
        Size of what each lane works with.
    find
        ``(self, x, count, item, work, measures)``: the best place; see `best_insertion` in `model.incremental`.
    temperature
        A function of the problem: the unit of iterated greedy's acceptance criterion, a small loss of fitness.
    """

    encodings = (Permutation,)
    implements = {"find": incremental.best_insertion}
    work: BufferOf
    find: Function
    temperature: Callable[[Any], float] = lambda problem: 1.0


@dataclass(frozen=True)
class Segments(Capability):
    """Binary: prefix sums, by which a segment that two solutions exchange need not be looked at.

    Parameters
    ----------
    prefix
        How many numbers are kept of each solution, and of which type.
    span
        For how many decisions each of them stands.
    init, cross, update
        See `init_prefix`, `cross_segments` and `update_prefix` in `model.incremental`.
    """

    encodings = (Binary,)
    implements = {
        "init": incremental.init_prefix,
        "cross": incremental.cross_segments,
        "update": incremental.update_prefix,
    }
    prefix: BufferOf
    span: int
    init: Function
    cross: Function
    update: Function


@dataclass(frozen=True)
class Repair(Capability):
    """Binary: ``(self, x, row, state, data)`` makes x[row] feasible in place, and keeps its state.

    `data` is an array that `data`, a function of the problem, returns once a run: the order in which decisions are
    looked at, say.
    """

    encodings = (Binary,)
    implements = {"repair": incremental.repair}
    repair: Function
    data: Callable[[Any], Array] = lambda problem: np.zeros(2, np.int32)


@dataclass(frozen=True)
class Seeding(Capability):
    """Binary: a function of the problem that says how likely each decision is to be one in a good solution."""

    encodings = (Binary,)
    probabilities: Callable[[Any], Array]


@dataclass(frozen=True)
class Construction(Capability):
    """``(self, space, x, row, state, seed, step, cell)`` writes a random solution into x[row], and its state."""

    implements = {"construct": incremental.construct}
    construct: Function


@dataclass(frozen=True)
class Opening(Capability):
    """Good solutions to start from, which the problem builds when a run begins; iterated greedy starts from the best.

    Parameters
    ----------
    solutions
        A function of the problem and of ``must_end``, which says whether to give up: yields better and better
        solutions. The same ones in each run, but for those that it does not come to.
    pays
        A function of the problem: whether to start from these; by default always.
    compile
        A function that has at hand what they need, when the kernels of a run are compiled.
    """

    solutions: Callable[[Any, Callable[[], bool]], Iterable[Array]]
    pays: Callable[[Any], bool] = lambda problem: True
    compile: Callable[[], None] = lambda: None


@dataclass(frozen=True)
class LocalSearch(Capability):
    """Integers: the problem's own way to better solutions, one that is quick, one that takes its time, or both.

    Parameters
    ----------
    quick
        ``(self, x, state, work, key)``: makes one solution less infeasible, then better, in place.
    integers
        A function of the problem: how many integers `quick` needs to work with.
    search
        ``(self, x, state, data, work, length, key, stop)``: searches around one solution for `length` steps, and
        leaves the fittest one met.
    data
        A function of the problem, for `search`: an array of three dimensions that it goes by; None if this instance
        cannot be searched.
    work
        How much room `search` needs to work with.
    """

    encodings = (Integers,)
    implements = {"quick": incremental.quick_search, "search": incremental.search_around}
    quick: Function | None = None
    integers: Callable[[Any], int] = lambda problem: 0
    search: Function | None = None
    data: Callable[[Any], Array | None] = lambda problem: np.zeros((2, 2, 2), np.int32)
    work: BufferOf = lambda problem: Buffer(2, np.int64)


@dataclass(frozen=True)
class TieBreak(Capability):
    """How solutions of equal fitness compare.

    Parameters
    ----------
    better
        ``(self, new, old)``: whether measures `new` beat `old` in a cell, all considered; a larger fitness must.
    prefers
        ``(self, new, old)``: which of two answers of the same fitness is the better one; a total order.
    """

    implements = {"better": objective.better, "prefers": objective.prefers}
    better: Function | None = None
    prefers: Function | None = None


@dataclass(frozen=True)
class Bound(Capability):
    """A function of the problem: a value that no feasible solution beats, in its own sense and units, or None."""

    value: Callable[[Any], float | None]


@dataclass(frozen=True)
class Formulation(Capability):
    """A function of the problem: it as a linear program over zeros and ones, by which it can be solved exactly."""

    program: Callable[[Any], IntegerProgram]


C = TypeVar("C", bound=Capability)
_NEEDS: dict[type[Capability], tuple[type[Capability], ...]] = {
    Repair: (Flips,),
    LocalSearch: (Reassignments,),
}


def check_capabilities(owner: str, encoding: Encoding, listed: Sequence[Capability]) -> None:
    """InputError if what a class lists is no capability, not one for its encoding, incomplete, or there twice."""
    kinds: list[type[Capability]] = []
    if not isinstance(listed, (list, tuple)):
        raise InputError(f"capabilities of {owner} must be a list of such as Flips(...), but got {listed!r}")
    for entry in listed:
        kind = type(entry)
        if not isinstance(entry, Capability):
            hint = "; call it" if isinstance(entry, type) else ""
            raise InputError(f"capabilities of {owner} must be such as Flips(...), but one is {entry!r}{hint}")
        if not isinstance(encoding, kind.encodings):
            wanted = " or ".join(e.__name__ for e in kind.encodings)
            raise InputError(
                f"{kind.__name__} is for the encoding {wanted}, but {owner} has {encoding!r}; leave it out"
            )
        if kind in kinds:
            raise InputError(f"each kind of capability is listed once, but {owner} has {kind.__name__} twice")
        kinds.append(kind)
        entry.check(owner)
    for kind in kinds:
        for needed in _NEEDS.get(kind, ()):
            if needed not in kinds:
                raise InputError(f"{kind.__name__} needs {needed.__name__}, which {owner} does not list; add it")


def capability(problem: Problem, kind: type[C]) -> C | None:
    """What a problem lists of this kind; None if nothing."""
    return next((entry for entry in problem.capabilities if isinstance(entry, kind)), None)


def offers(problem: Problem, kind: type[Capability]) -> bool:
    """Whether a problem lists a capability of this kind."""
    return capability(problem, kind) is not None


def buffer_of(problem: Problem, buffer: BufferOf) -> Buffer:
    """The size and type for this instance."""
    return buffer if isinstance(buffer, Buffer) else Buffer(*buffer(problem))
