"""What a problem builds to start from, checked against its `evaluate`."""

from __future__ import annotations

import numpy as np

from systola.errors import CheckFailed, InputError
from systola.model.capabilities import Opening
from systola.model.contracts.cases import measure
from systola.model.objective import better
from systola.model.problem import Problem, record_of, space_of


def check_opening(problem: Problem, own: Opening) -> None:
    """They are solutions, the same in each run, and each is better than the one before."""
    if not own.pays(problem):
        return
    built, again = ([np.asarray(x) for x in own.solutions(problem, lambda: False)] for _ in range(2))
    if len(built) != len(again) or not all(map(np.array_equal, built, again)):
        raise CheckFailed("Opening.solutions gives others when it is called again")
    measures = []
    for x in built:
        try:
            problem.encoding.store(space_of(problem), [x])
        except InputError as error:
            raise CheckFailed(f"Opening.solutions gives what is no solution: {error}") from error
        measures.append(measure(problem, x))
    for k in range(1, len(built)):
        if not better(record_of(problem), measures[k], measures[k - 1]):
            raise CheckFailed(
                f"Opening.solutions gives {built[k].tolist()} after {built[k - 1].tolist()}, which is as good or "
                "better: give only what is better than all before"
            )
