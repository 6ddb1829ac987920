"""Functions of a user behind addresses: kernels for one such problem serve all whose functions return the same kinds.

`evaluate`, `fitness` and `violation` of a problem without capabilities and structure are compiled apart (by
`backends.linking`), and engines' kernels get a record of addresses in place of the problem's data. So an edited
`evaluate`, or another problem, needs no new kernels but its own. The answers are the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from numba import types

from systola.jit.dispatch import Implementation, register
from systola.jit.located import call_real, call_whole
from systola.jit.records import RecordType, record_type
from systola.model.incremental import with_defaults
from systola.model.objective import DEFAULTS
from systola.model.problem import Problem

_STEM = "Linked"
_FIELDS = ("evaluate_at", "fitness_at", "violation_at", "data_at", "sign")

FitnessKind = Literal["objective", "whole", "real"]
ViolationKind = Literal["none", "whole", "real"]


def _objective_fitness(self: Any, measures: Any) -> Any:
    return self.sign * measures[0]


def _whole_fitness(self: Any, measures: Any) -> Any:
    return call_whole(self.fitness_at, self.data_at, measures)


def _real_fitness(self: Any, measures: Any) -> Any:
    return call_real(self.fitness_at, self.data_at, measures)


def _whole_violation(self: Any, measures: Any) -> Any:
    return call_whole(self.violation_at, self.data_at, measures)


def _real_violation(self: Any, measures: Any) -> Any:
    return call_real(self.violation_at, self.data_at, measures)


_FITNESS: dict[FitnessKind, Implementation] = {
    "objective": _objective_fitness,
    "whole": _whole_fitness,
    "real": _real_fitness,
}
_VIOLATION: dict[ViolationKind, Implementation] = {
    "none": DEFAULTS["violation"],
    "whole": _whole_violation,
    "real": _real_violation,
}


@dataclass(frozen=True)
class LinkKind:
    """What kernels of linked problems depend on: whose functions compare solutions, and what these return."""

    fitness: FitnessKind
    violation: ViolationKind

    @cache  # noqa: B019 - there are nine of them
    def record(self) -> Any:
        """The type of the records of such problems; dispatched functions know it then."""
        made = record_type(f"{_STEM}_{self.fitness}_{self.violation}", _FIELDS)
        chosen = {"fitness": _FITNESS[self.fitness], "violation": _VIOLATION[self.violation]}
        for name, function in with_defaults({**DEFAULTS, **chosen}).items():
            register(name, made, function)
        return made


@dataclass(frozen=True, eq=False)
class Link:
    """Where the functions and the data of a problem are.

    Parameters
    ----------
    kind
        What kernels are compiled for.
    fields
        Of the record: addresses, and whether the objective is maximised; zeros where kernels are only compiled.
    held
        What lies there, and must not be freed before.
    """

    kind: LinkKind
    fields: tuple[int, ...] = (0,) * len(_FIELDS)
    held: tuple[Any, ...] = ()


def is_linked(record: types.BaseNamedTuple) -> bool:
    """Whether kernels of this type get addresses."""
    kind: RecordType = record.instance_class
    return kind.__name__.startswith(f"{_STEM}_") and kind._fields == _FIELDS  # type: ignore[attr-defined]


def linked(problem: Problem, link: Link) -> Problem:
    """The problem, as kernels see it that are given addresses."""
    twin = object.__new__(type(problem))
    fields = dict(zip(_FIELDS, link.fields, strict=True))
    vars(twin).update(vars(problem) | {"_record_type": link.kind.record()} | fields)
    return twin
