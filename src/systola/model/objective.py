"""What a solution is worth: the functions that every problem has, dispatched on its type.

`evaluate` returns one number, or a tuple of numbers, the solution's *measures*; the others compare measures.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numba import types
from numba.extending import overload

from systola.jit.dispatch import Implementation, dispatched, dispatched_objective

MOST_MEASURES = 4  # in a returned tuple
Returned: TypeAlias = "float | np.generic | tuple[float | np.generic, ...]"  # by `evaluate`


@dispatched_objective
def evaluate(problem: Any, x: Any) -> Any:
    """The measures of plain decisions x: a number or a tuple."""


@dispatched
def fitness(problem: Any, measures: Any) -> Any:
    """One number from the measures, larger is better: what an engine compares."""


@dispatched
def violation(problem: Any, measures: Any) -> Any:
    """By how much the constraints are broken; zero when feasible."""


@dispatched
def better(problem: Any, new: Any, old: Any) -> Any:
    """Whether measures `new` beat `old` in a cell: strictly larger fitness, unless the problem breaks ties."""


@dispatched
def prefers(problem: Any, new: Any, old: Any) -> Any:
    """Whether measures `new` make a better answer than `old` of the same fitness; a total order, by default none."""


def fitness_up(self: Any, measures: Any) -> Any:
    """The fitness of one objective that is maximised."""
    return measures[0]


def fitness_down(self: Any, measures: Any) -> Any:
    """The fitness of one objective that is minimised."""
    return -measures[0]


def _no_violation(self: Any, measures: Any) -> Any:
    return 0


def _indifferent(self: Any, new: Any, old: Any) -> Any:
    return False


def _strictly_better(self: Any, new: Any, old: Any) -> Any:
    return fitness(self, new) > fitness(self, old)


def write_measures(value: Any, measures: Any) -> None:
    """Write what `evaluate` returned, a number or a tuple, into a row of measures."""
    if isinstance(value, tuple):
        for k in range(len(value)):
            measures[k] = value[k]
    else:
        measures[0] = value


@overload(write_measures, strict=False)  # type: ignore[untyped-decorator]
def _write_measures(value: Any, measures: Any) -> Any:
    def one(value: Any, measures: Any) -> None:
        measures[0] = value

    def two(value: Any, measures: Any) -> None:
        measures[0] = value[0]
        measures[1] = value[1]

    def three(value: Any, measures: Any) -> None:
        measures[0] = value[0]
        measures[1] = value[1]
        measures[2] = value[2]

    def four(value: Any, measures: Any) -> None:
        measures[0] = value[0]
        measures[1] = value[1]
        measures[2] = value[2]
        measures[3] = value[3]

    return (one, two, three, four)[len(value) - 1] if isinstance(value, types.BaseTuple) else one


DEFAULTS: dict[str, Implementation] = {"violation": _no_violation, "better": _strictly_better, "prefers": _indifferent}
