"""Parts of a declared objective: what a part is worth, and what a move does to that, without looking at the rest.

Each part of a problem has a record of its own, which the problem's record holds as `structure`; functions below are
dispatched on its type. Several parts are one: `Both` of two of them. In all functions `x` are plain decisions, which
are left as they are, a move is (kind, i, j, k) as in `model.elementary_moves`, and `kept` are numbers that are kept of
one solution and brought up to date when a move is made, of which a part has those from its field `at` on.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numba import types
from numba.extending import overload

from systola.errors import InputError
from systola.jit.digest import digest_of_functions
from systola.jit.dispatch import (
    Implementation,
    dispatched,
    dispatched_call,
    dispatched_objective,
    has_implementation,
    register,
    register_helpers,
)
from systola.jit.records import Record, record_type
from systola.model.encodings import Array, Encoding

if TYPE_CHECKING:
    from systola.model.problem import Problem

COMMON = ("at", "measure", "weight")  # fields of every part's record


@dispatched_objective
def part_total(part: Any, problem: Any, x: Any) -> Any:
    """What a part is worth, from scratch."""


@dispatched
def init_part(part: Any, problem: Any, x: Any, kept: Any) -> Any:
    """As `part_total`, and writes what is kept."""


@dispatched
def part_delta(part: Any, problem: Any, space: Any, x: Any, move: Any, kept: Any) -> Any:
    """By how much a part would be worth more after a move."""


@dispatched
def update_part(part: Any, problem: Any, space: Any, x: Any, move: Any, kept: Any) -> Any:
    """A move of x has been made: bring what is kept up to date."""


@dispatched_objective
def structure_total(part: Any, problem: Any, x: Any, measure: Any) -> Any:
    """The sum of all parts that add to a measure, from scratch."""


@dispatched_call
def init_structure(part: Any, problem: Any, x: Any, kept: Any, measures: Any) -> Any:
    """Add what all parts are worth to their measures, and write what is kept."""


@dispatched
def add_delta(part: Any, problem: Any, space: Any, x: Any, move: Any, kept: Any, measures: Any) -> Any:
    """Add to the measures what a move would change."""


@dispatched
def update_structure(part: Any, problem: Any, space: Any, x: Any, move: Any, kept: Any) -> Any:
    """A move of x has been made: bring all that is kept up to date."""


class Both(NamedTuple):
    """Two parts as one."""

    one: Any
    other: Any


def _total_of_both(self: Any, problem: Any, x: Any, measure: Any) -> Any:
    return structure_total(self.one, problem, x, measure) + structure_total(self.other, problem, x, measure)


def _init_both(self: Any, problem: Any, x: Any, kept: Any, measures: Any) -> None:
    init_structure(self.one, problem, x, kept, measures)
    init_structure(self.other, problem, x, kept, measures)


def _add_both(self: Any, problem: Any, space: Any, x: Any, move: Any, kept: Any, measures: Any) -> None:
    add_delta(self.one, problem, space, x, move, kept, measures)
    add_delta(self.other, problem, space, x, move, kept, measures)


def _update_both(self: Any, problem: Any, space: Any, x: Any, move: Any, kept: Any) -> None:
    update_structure(self.one, problem, space, x, move, kept)
    update_structure(self.other, problem, space, x, move, kept)


def _total_of_one(self: Any, problem: Any, x: Any, measure: Any) -> Any:
    return self.weight * part_total(self, problem, x) if measure == self.measure else 0


def _init_one(self: Any, problem: Any, x: Any, kept: Any, measures: Any) -> None:
    measures[self.measure] += self.weight * init_part(self, problem, x, kept)


def _add_one(self: Any, problem: Any, space: Any, x: Any, move: Any, kept: Any, measures: Any) -> None:
    measures[self.measure] += self.weight * part_delta(self, problem, space, x, move, kept)


def _nothing_kept(self: Any, problem: Any, x: Any, kept: Any) -> Any:
    return part_total(self, problem, x)


def _nothing_to_update(self: Any, problem: Any, space: Any, x: Any, move: Any, kept: Any) -> None:
    pass


def _update_one(self: Any, problem: Any, space: Any, x: Any, move: Any, kept: Any) -> None:
    update_part(self, problem, space, x, move, kept)


register("structure_total", Both, _total_of_both)
register("init_structure", Both, _init_both)
register("add_delta", Both, _add_both)
register("update_structure", Both, _update_both)
_OF_ONE: dict[str, Implementation] = {
    "structure_total": _total_of_one,
    "init_structure": _init_one,
    "add_delta": _add_one,
    "update_structure": _update_one,
    "init_part": _nothing_kept,
    "update_part": _nothing_to_update,
}

Function = Callable[..., Any]
Source: TypeAlias = "str | Function | Array | float | None"  # of data: the name of a field, a function of the instance


@dataclass(frozen=True, kw_only=True)
class Part(ABC):
    """Base of all parts.

    Parameters
    ----------
    weight
        What its value is multiplied with.
    objective
        The number of the objective that it adds to.
    hard
        Whether it is no objective but a constraint: its value, never negative, is added to the violation.
    """

    encodings: ClassVar[tuple[type[Encoding], ...]]
    takes: ClassVar[dict[str, tuple[str, ...]]] = {}  # functions that a user gives, with their parameters after `self`

    weight: float = 1
    objective: int = 0
    hard: bool = False

    def given(self) -> dict[str, FunctionType]:
        """The functions that a user gave, by their name here."""
        return {name: getattr(self, name) for name in self.takes if getattr(self, name) is not None}

    def makers(self) -> dict[str, FunctionType]:
        """Functions of the instance that make data."""
        return {}

    @abstractmethod
    def data(self, problem: Problem) -> dict[str, Any]:
        """The fields of its record beside those that all have."""

    @abstractmethod
    def implementations(self, problem: Problem, data: dict[str, Any]) -> tuple[str, dict[str, Implementation]]:
        """A name for its way, and what the functions of this module and its own do for it."""

    @property
    def has_gains(self) -> bool:
        """Whether it keeps a table of gains."""
        return False

    def size(self, problem: Problem) -> int:
        """How many numbers it keeps of a solution."""
        return 0

    def room(self, problem: Problem) -> int:
        """How many of these, the last ones, are only room to work in."""
        return 0

    def describe(self, problem: Problem) -> str:
        """What a move costs, for people."""
        return ""

    def check(self, owner: str, objectives: int) -> None:
        """InputError if a function is none, or has other parameters than it will be called with."""
        where = f"{type(self).__name__} of {owner}"
        for name, wanted in self.takes.items():
            function = getattr(self, name)
            if function is None:
                continue
            if not isinstance(function, FunctionType):
                raise InputError(f"`{name}` in {where} must be a plain function, but got {function!r}")
            given = list(inspect.signature(function).parameters)
            if len(given) != 1 + len(wanted):
                raise InputError(
                    f"`{name}` in {where} must take (self, {', '.join(wanted)}), but takes ({', '.join(given)})"
                )
        if not isinstance(self.hard, bool):
            raise InputError(f"`hard` in {where} must be True or False, but got {self.hard!r}")
        if isinstance(self.weight, bool) or not isinstance(self.weight, (int, float, np.integer, np.floating)):
            raise InputError(f"`weight` in {where} must be a number, but got {self.weight!r}")
        if self.hard and self.weight <= 0:
            raise InputError(f"`weight > 0` must hold for what is hard in {where}, but got {self.weight}")
        if not isinstance(self.objective, int) or not 0 <= self.objective < objectives:
            raise InputError(
                f"`objective` in {where} must be a number below {objectives}, the objectives that `sense` has, but got "
                f"{self.objective!r}"
            )


def signed(value: Any) -> Any:
    """What a user's function returned, as a number that differences can be taken of: no truth value, none unsigned."""
    return np.int64(value) if isinstance(value, (bool, np.bool_, np.unsignedinteger)) else value


@overload(signed, strict=False)  # type: ignore[untyped-decorator]
def _signed(value: Any) -> Any:
    if isinstance(value, types.Boolean) or (isinstance(value, types.Integer) and not value.signed):
        return lambda value: np.int64(value)
    return lambda value: value


def _call_one(user: Function) -> Implementation:
    def call(part: Any, problem: Any, a: Any) -> Any:
        return signed(user(problem, a))

    return call


def _call_two(user: Function) -> Implementation:
    def call(part: Any, problem: Any, a: Any, b: Any) -> Any:
        return signed(user(problem, a, b))

    return call


_CALLS = {1: _call_one, 2: _call_two}


def make_record(part: Part, problem: Problem, at: int, measure: int) -> Record:
    """The record of a part for this instance, and what its functions do registered for it."""
    data = part.data(problem)
    way, implementations = part.implementations(problem, data)
    given = part.given()
    digest, helpers = digest_of_functions(given) if given else ("", [])
    made = record_type(f"{way}_{digest}", [*COMMON, *data])
    if not has_implementation("part_total", made):
        register_helpers([*helpers, *given.values()], small=True)
        for name, function in {**_OF_ONE, **implementations}.items():
            register(name, made, function)
        for name, function in given.items():
            register(f"user_{name}", made, _CALLS[len(part.takes[name])](function))
    weight = int(part.weight) if float(part.weight).is_integer() else float(part.weight)
    record: Record = made(at, measure, weight, *data.values())
    return record


def combine(records: Sequence[Record]) -> Record:
    """Several parts as one."""
    whole = records[-1]
    for record in reversed(records[:-1]):
        whole = Both(record, whole)
    return whole


def leaves_of(structure: Record) -> list[Any]:
    """The records of single parts."""
    return [structure.one, *leaves_of(structure.other)] if isinstance(structure, Both) else [structure]


def field_or_made(problem: Problem, source: Source, what: str) -> Any:
    """What a part is given: the value of the field of this name, what a function makes of the instance, or itself."""
    if isinstance(source, str):
        if not hasattr(problem, source):
            raise InputError(
                f"{what} of {type(problem).__name__} names the field {source!r}, which it does not have; add it"
            )
        return getattr(problem, source)
    return source(problem) if callable(source) else source
