"""The best solutions that a search holds when it ends, all of them different."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cmp_to_key
from typing import Any

import numpy as np

from systola.model.encodings import Array
from systola.model.objective import Returned
from systola.model.population import Population, ranks_above
from systola.model.problem import Problem, record_of, space_of
from systola.run.search import Found
from systola.run.units import objective_of, violation_of

_SPARE = 4  # times as many are evaluated anew as are wanted: a row may have been overwritten since it was measured


def best_different(
    problem: Problem,
    populations: Sequence[Population],
    best: Found,
    count: int,
    evaluate: Callable[[Array], Returned] | None,
) -> list[dict[str, Any]]:
    """Up to `count` solutions, the best one first.

    They are evaluated anew; without `evaluate`, what the search knows of them is taken.
    """
    encoding, space, record = problem.encoding, space_of(problem), record_of(problem)
    found = {best.decisions.tobytes(): (best.measures, best.decisions)}
    for population in populations:
        sound = encoding.are_valid(space, population.x) & population.x.any(axis=1)  # rows without a solution are zeros
        for measures, decisions in zip(
            population.scores[sound], encoding.load(space, population.x[sound]), strict=True
        ):
            found.setdefault(decisions.tobytes(), (measures, decisions))

    def compare(one: tuple[Array, Array], other: tuple[Array, Array]) -> int:
        return int(ranks_above(record, other[0], one[0])) - int(ranks_above(record, one[0], other[0]))

    ranked = sorted(found.values(), key=cmp_to_key(compare))[: _SPARE * count]
    if evaluate:
        again = [(evaluate(decisions), decisions) for _, decisions in ranked]
        ranked = [
            (np.array(value if isinstance(value, tuple) else (value,), best.measures.dtype), decisions)
            for value, decisions in again
        ]
        ranked = sorted(ranked, key=cmp_to_key(compare))
    return [
        {
            "objective": objective_of(problem, measures),
            "violation": violation_of(problem, measures),
            "solution": decisions,
        }
        for measures, decisions in ranked[:count]
    ]
