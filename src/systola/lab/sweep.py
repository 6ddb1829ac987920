"""A bi-objective problem with weights, solved once for each of several weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from systola.engines.engine import Engine
from systola.errors import InputError
from systola.model.names import label, labels_of
from systola.model.notebook import rows_html
from systola.model.problem import Problem, senses_of
from systola.run.result import Result
from systola.solve import solve


@dataclass(frozen=True)
class Sweep:
    """Results by weight, and the front: the non-dominated objectives of those with the least violation."""

    weights: tuple[float, ...]
    results: tuple[Result, ...]
    front: tuple[tuple[Any, ...], ...]

    def _repr_html_(self) -> str:
        """For notebooks: the front."""
        names = [f"objective {k + 1}" for k in range(len(self.front[0]) if self.front else 0)]
        return rows_html(
            f"Front of {len(self.weights)} weights", names, [[f"{v:,.10g}" for v in p] for p in self.front]
        )


def sweep_weights(
    problem: Problem, engine: Engine | None = None, weights: int | Sequence[float] = 11, **options: Any
) -> Sweep:
    """Solve for each weight, as the paper does for 0.0, 0.1, ..., 1.0; `weights` may be a number of equal steps.

    Options are those of `solve`, the same for every weight.
    """
    if not hasattr(problem, "weight"):
        raise InputError(f"a sweep needs a problem with a weight, but {type(problem).__name__} has none")
    if isinstance(weights, int):
        if weights < 2:
            raise InputError(f"a sweep needs at least 2 weights, but got {weights}")
        weights = [k / (weights - 1) for k in range(weights)]
    if not len(weights):
        raise InputError("a sweep needs at least one of the weights, but got none")
    results: list[Result] = []
    labels = labels_of(problem)
    for weight in weights:
        weighted = cast(Problem, replace(cast(Any, problem), weight=weight))
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
    return Sweep(
        done, tuple(results), _front([r.objective for r in results if r.violation == least], senses_of(problem))
    )


def _front(points: list[Any], senses: tuple[int, ...]) -> tuple[tuple[Any, ...], ...]:
    gains = np.array(points, float) * np.array(senses)
    kept = {
        tuple(points[k])
        for k in range(len(points))
        if not any((other >= gains[k]).all() and (other > gains[k]).any() for other in gains)
    }
    return tuple(sorted(kept))
