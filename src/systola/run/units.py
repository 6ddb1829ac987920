"""What `evaluate` returned, in the problem's own units, as people read it."""

from __future__ import annotations

from typing import Any

from systola.model.encodings import Array
from systola.model.objective import violation
from systola.model.problem import Problem, record_of, senses_of


def objective_of(problem: Problem, measures: Array) -> Any:
    """Measures in the problem's own units: a number, or a list for several objectives."""
    scale = problem.scale
    values = [m.item() if scale == 1 else m.item() / scale for m in measures[: len(senses_of(problem))]]
    return values if len(values) > 1 else values[0]


def violation_of(problem: Problem, measures: Array) -> float:
    """By how much the constraints are broken, in the problem's own units."""
    return float(violation(record_of(problem), measures)) / problem.scale


def reaches(problem: Problem, measures: Array, target: float) -> bool:
    """Whether a solution with these measures is feasible and at least as good as the target."""
    objective = objective_of(problem, measures)
    first = objective[0] if isinstance(objective, list) else objective
    better_side = first >= target if senses_of(problem)[0] > 0 else first <= target
    return bool(better_side) and violation_of(problem, measures) == 0
