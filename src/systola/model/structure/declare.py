"""What a problem class declares by `structure`, and what follows from it: `evaluate`, `violation`, and a record."""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any

from systola.errors import InputError
from systola.jit.dispatch import Implementation, has_implementation, register
from systola.jit.records import Record
from systola.model import capabilities
from systola.model.capabilities import Capability
from systola.model.objective import MOST_MEASURES
from systola.model.structure.linear import Linear
from systola.model.structure.part import Part, combine, make_record, structure_total
from systola.model.structure.repairs import no_repair

if TYPE_CHECKING:
    from systola.model.problem import Problem

_INSTEAD = (  # of what is derived
    capabilities.EvaluationState,
    capabilities.Flips,
    capabilities.Reassignments,
    capabilities.Swaps,
    capabilities.Insertions,
    capabilities.Reversals,
    capabilities.SwapTable,
    capabilities.InsertionBlocks,
    capabilities.BestInsertion,
    capabilities.Segments,
    capabilities.Repair,
    capabilities.LocalSearch,
)


def evaluate_one(self: Any, x: Any) -> Any:
    """The measure of declared parts."""
    return structure_total(self.structure, self, x, 0)


def evaluate_two(self: Any, x: Any) -> Any:
    """The measures of declared parts."""
    return structure_total(self.structure, self, x, 0), structure_total(self.structure, self, x, 1)


def evaluate_three(self: Any, x: Any) -> Any:
    """The measures of declared parts."""
    structure = self.structure
    return (
        structure_total(structure, self, x, 0),
        structure_total(structure, self, x, 1),
        structure_total(structure, self, x, 2),
    )


def evaluate_four(self: Any, x: Any) -> Any:
    """The measures of declared parts."""
    structure = self.structure
    one, two = structure_total(structure, self, x, 0), structure_total(structure, self, x, 1)
    return one, two, structure_total(structure, self, x, 2), structure_total(structure, self, x, 3)


def violation_second(self: Any, measures: Any) -> Any:
    """What hard parts add up to, after one objective."""
    return measures[1]


def violation_third(self: Any, measures: Any) -> Any:
    """What hard parts add up to, after two objectives."""
    return measures[2]


def violation_fourth(self: Any, measures: Any) -> Any:
    """What hard parts add up to, after three objectives."""
    return measures[3]


_EVALUATE: tuple[Implementation, ...] = (evaluate_one, evaluate_two, evaluate_three, evaluate_four)
_VIOLATION: tuple[Implementation, ...] = (violation_second, violation_third, violation_fourth)


def parts_of(problem: Problem | type[Problem]) -> tuple[Part, ...]:
    """The parts that a problem, or its class, declares; none if it has an `evaluate` of its own."""
    cls = problem if isinstance(problem, type) else type(problem)
    listed: Any = cls.structure  # not checked yet
    return tuple(listed) if isinstance(listed, (list, tuple)) else () if listed is None else (listed,)


def declare(cls: type[Problem]) -> None:
    """Check what a class declares, and give it the methods that follow."""
    parts, owner = parts_of(cls), cls.__name__
    if not parts or any(not isinstance(part, Part) for part in parts):
        raise InputError(
            f"`structure` of {owner} must be a part such as Chain(...), or a list of them, but got "
            f"{cls.structure!r:.60}"
        )
    written = cls.__dict__.get("evaluate")
    if written is not None and written not in _EVALUATE:
        raise InputError(f"`evaluate` follows from `structure`, but {owner} has both; leave one of them out")
    if isinstance(cls.sense, str):
        raise InputError(f"`sense` of {owner} must be a constant where there is a `structure`, but is {cls.sense!r}")
    objectives = 1 if isinstance(cls.sense, int) else len(cls.sense)
    for part in parts:
        part.check(owner, objectives)
        if not isinstance(cls.encoding, part.encodings):
            wanted = " or ".join(e.__name__ for e in part.encodings)
            raise InputError(f"{type(part).__name__} is for the encoding {wanted}, but {owner} has {cls.encoding!r}")
    listed: list[Capability] = [c for c in cls.capabilities if isinstance(c, _INSTEAD)]
    if listed:
        raise InputError(
            f"what a move does follows from `structure`, but {owner} lists {type(listed[0]).__name__}; leave it out"
        )
    for k in range(objectives):
        if not any(part.objective == k and not is_hard(part) for part in parts):
            raise InputError(f"each objective needs a part, but objective {k} of {owner} has none; add one")
    hard = any(map(is_hard, parts))
    if hard and cls.__dict__.get("violation") not in (None, *_VIOLATION):
        raise InputError(f"`violation` follows from what is hard in `structure`, but {owner} has its own; leave it out")
    if objectives + hard > MOST_MEASURES:
        raise InputError(f"{owner} has {objectives} objectives and constraints: at most {MOST_MEASURES} together")
    cls.evaluate = _EVALUATE[objectives + hard - 1]  # type: ignore[attr-defined]
    if hard:
        cls.violation = _VIOLATION[objectives - 1]  # type: ignore[attr-defined]


def is_hard(part: Part) -> bool:
    """Whether a part is a constraint."""
    return part.hard or (isinstance(part, Linear) and part.is_constraint)


def has_repairs(problem: Problem) -> bool:
    """Whether there are constraints that know which decision to flip when they are broken."""
    return any(isinstance(part, Linear) and part.is_constraint for part in parts_of(problem))


def functions_of(cls: type[Problem]) -> dict[str, FunctionType]:
    """All functions that a user gave in the structure, by names that differ."""
    return {
        f"{k}.{name}": function
        for k, part in enumerate(parts_of(cls))
        for name, function in {**part.given(), **part.makers()}.items()
    }


def structure_record(problem: Problem) -> Record:
    """The parts of an instance as kernels see them."""
    parts = parts_of(problem)
    objectives = 1 if isinstance(problem.sense, int) else len(problem.sense)
    records, at = [], 0
    for part in parts:
        records.append(make_record(part, problem, at, objectives if is_hard(part) else part.objective))
        if not has_implementation("draw_repair", type(records[-1])):
            register("draw_repair", type(records[-1]), no_repair)
        at += part.size(problem)
    return combine(records)


def kept_size(problem: Problem) -> int:
    """How many numbers are kept of a solution."""
    return sum(part.size(problem) for part in parts_of(problem))
