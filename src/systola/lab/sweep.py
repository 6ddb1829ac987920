"""A problem with several objectives, solved once for each of several weights: aggregation, as in Luong et al. 2011."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from itertools import combinations, pairwise
from math import comb, gcd, lcm
from typing import Any, cast

import numpy as np

from systola.engines.engine import Engine
from systola.errors import InputError
from systola.jit.dispatch import Implementation
from systola.model.encodings import Array
from systola.model.names import label, labels_of
from systola.model.notebook import rows_html
from systola.model.problem import Problem, senses_of
from systola.problems.flowshop import Flowshop
from systola.run.result import Result
from systola.solve import solve

Weight = float | tuple[float, ...]
"""The share of the second of two objectives; or the share of each objective."""

_AGGREGATED: dict[type[Problem], type[Problem]] = {}
_FINEST = 1000  # a share is a fraction with at most this denominator


@dataclass(frozen=True)
class Sweep:
    """Results by weight, and the front: the non-dominated objectives of those with the least violation."""

    weights: tuple[Weight, ...]
    results: tuple[Result, ...]
    front: tuple[tuple[Any, ...], ...]

    def _repr_html_(self) -> str:
        """For notebooks: the front."""
        names = [f"objective {k + 1}" for k in range(len(self.front[0]) if self.front else 0)]
        return rows_html(
            f"Front of {len(self.weights)} weights", names, [[f"{v:,.10g}" for v in p] for p in self.front]
        )


def sweep_weights(
    problem: Problem, engine: Engine | None = None, weights: int | Sequence[Weight] = 11, **options: Any
) -> Sweep:
    """Solve for each weight, and keep what none of the others dominates.

    Parameters
    ----------
    problem
        One with several objectives. If it has a field `weight`, as `NextRelease` has, that is set; a `Flowshop` gets
        `weights`; any other problem is solved by the weighted sum of its objectives, each in its own sense and unit.
    engine
        What solves each of them, such as `Tabu()`; by default the one recommended for the weighted problem.
    weights
        The weights themselves, or how many, evenly spread: 0.0, 0.1, ..., 1.0 if there are two objectives, as the SGS
        paper has them, and shares of the objectives that add up to 1 if there are more.
    options
        Those of `solve`, the same for every weight.

    Raises
    ------
    InputError
        If the problem has one objective, or a weight is not one for its objectives.
    """
    senses = senses_of(problem)
    if len(senses) < 2:
        raise InputError(f"a sweep needs a problem with several objectives, but {type(problem).__name__} has one")
    if isinstance(weights, int):
        weights = spread_weights(len(senses), weights)
    if not len(weights):
        raise InputError("a sweep needs at least one of the weights, but got none")
    shares = [_read_shares(weight, len(senses)) for weight in weights]
    results: list[Result] = []
    labels = labels_of(problem)
    for weight, each in zip(weights, shares, strict=True):
        weighted = _weigh(problem, weight, each)
        label(weighted, labels.decisions, labels.values)
        try:
            result = solve(weighted, engine, **options)
        except KeyboardInterrupt:  # before this run began: those before it are not lost
            if not results:
                raise
            break
        results.append(result)
        if result.stop == "interrupted":
            break
    done = tuple(weights[: len(results)])
    least = min(result.violation for result in results)
    return Sweep(done, tuple(results), _front([r.objective for r in results if r.violation == least], senses))


def spread_weights(objectives: int, count: int) -> list[Weight]:
    """So many weights, evenly spread.

    Of two objectives the share of the second, in equal steps. Of more, shares on the coarsest lattice that has enough
    points (Das and Dennis 1998); if it has more, those that are far from each other, the corners first.
    """
    if count < 2:
        raise InputError(f"a sweep needs at least 2 weights, but got {count}")
    if objectives == 2:
        return [k / (count - 1) for k in range(count)]
    parts = next(h for h in range(1, count + 1) if _points(objectives, h) >= count)
    lattice = np.array(_lattice(objectives, parts))
    chosen = [int(k) for k in np.flatnonzero((lattice == parts).any(axis=1))][:count]
    distances = np.min([((lattice - lattice[k]) ** 2).sum(axis=1) for k in chosen], axis=0)
    while len(chosen) < count:
        chosen.append(int(np.argmax(distances)))
        distances = np.minimum(distances, ((lattice - lattice[chosen[-1]]) ** 2).sum(axis=1))
    return [tuple(float(v) / parts for v in lattice[k]) for k in sorted(chosen)]


def spell_weight(weight: Weight) -> str:
    """A weight for people."""
    return " ".join(f"{share:.3f}" for share in weight) if isinstance(weight, tuple) else f"{weight:.3f}"


def _points(objectives: int, parts: int) -> int:
    return comb(parts + objectives - 1, objectives - 1)


def _lattice(objectives: int, parts: int) -> list[tuple[int, ...]]:
    """All ways to share so many parts among the objectives."""
    found = []
    for bars in combinations(range(parts + objectives - 1), objectives - 1):
        ends = (-1, *bars, parts + objectives - 1)
        found.append(tuple(b - a - 1 for a, b in pairwise(ends)))
    return found


def _read_shares(weight: Weight, objectives: int) -> tuple[float, ...]:
    """The share of each objective; they need not add up to 1."""
    one = isinstance(weight, (int, float, np.integer, np.floating))
    shares = (1.0 - float(cast(float, weight)), float(cast(float, weight))) if one else tuple(cast(Any, weight))
    right = len(shares) == objectives and all(isinstance(s, (int, float, np.number)) and s >= 0 for s in shares)
    if one and objectives == 2 and not right:
        raise InputError(f"`0 <= weight <= 1` must hold, but got {weight}")
    if not right or not 0 < sum(shares) < float("inf"):
        raise InputError(
            f"a weight must be {objectives} numbers of 0 or more, not all 0, one for each objective, but got {weight!r}"
        )
    return tuple(float(share) for share in shares)


def _weigh(problem: Problem, weight: Weight, shares: tuple[float, ...]) -> Problem:
    """The problem with these shares of its objectives."""
    plain = cast(Any, problem)
    if hasattr(problem, "weight") and len(shares) == 2:
        second = weight if isinstance(weight, (int, float)) else shares[1] / sum(shares)
        return cast(Problem, replace(plain, weight=second))
    whole = _whole(shares)
    if isinstance(problem, Flowshop):
        return cast(Problem, replace(plain, weights=whole))
    given = {f.name: getattr(problem, f.name) for f in fields(plain) if f.init}
    return _aggregated(type(problem))(**given, aggregation=whole * np.array(senses_of(problem)))  # type: ignore[call-arg]


def _whole(shares: tuple[float, ...]) -> Array:
    """The shares as whole numbers, so that a weighted sum of whole objectives stays one."""
    parts = [Fraction(share / sum(shares)).limit_denominator(_FINEST) for share in shares]
    unit = lcm(*(part.denominator for part in parts))
    numbers = [int(part * unit) for part in parts]
    return np.array(numbers, np.int64) // max(1, gcd(*numbers))


def _aggregated(kind: type[Problem]) -> type[Problem]:
    """The same problem with the weighted sum of its objectives as fitness."""
    if kind in _AGGREGATED:
        return _AGGREGATED[kind]

    def unset() -> Array:
        return np.zeros(0, np.int64)

    body = {
        "__annotations__": {"aggregation": "Array"},
        "__doc__": kind.__doc__,
        "__module__": kind.__module__,
        "aggregation": field(default_factory=unset, repr=False),
        "fitness": _FITNESS,
    }
    _AGGREGATED[kind] = cast(type[Problem], type(f"Weighted{kind.__name__}", (kind,), body))
    return _AGGREGATED[kind]


def _weighted_sum(self: Any, measures: Any) -> Any:
    total = self.aggregation[0] * measures[0]
    for k in range(1, len(self.aggregation)):
        total += self.aggregation[k] * measures[k]
    return total


_FITNESS: Implementation = _weighted_sum


def _front(points: list[Any], senses: tuple[int, ...]) -> tuple[tuple[Any, ...], ...]:
    gains = np.array(points, float) * np.array(senses)
    kept = {
        tuple(points[k])
        for k in range(len(points))
        if not any((other >= gains[k]).all() and (other > gains[k]).any() for other in gains)
    }
    return tuple(sorted(kept))
