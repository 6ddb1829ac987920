"""Several runs that differ by their seeds only: the best of them, and all that they have found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from systola.errors import InputError
from systola.model.encodings import Array
from systola.model.objective import fitness
from systola.model.problem import Problem, can_compare, record_of, senses_of
from systola.run.probing import evaluate_interpreted
from systola.run.result import Result

Worth = tuple[float, Any]  # less violation is better, then more fitness


def best_of_runs(run: Callable[..., Result], problem: Problem, seeds: range, pool: int) -> Result:
    """The best result of these seeds, the first of equals; an interrupted run is the last one."""
    if not can_compare(problem):
        raise InputError(
            f"the best of several runs is asked for, but {type(problem).__name__} has no `fitness` by which its "
            "objectives could be compared; make the runs one by one"
        )
    runs: list[Result] = []
    for seed in seeds:
        runs.append(run(seed=seed))
        if runs[-1].stop in ("interrupted", "callback"):
            break
    worths = [_worth(problem, result.violation, result.objective, result.solution) for result in runs]
    best = runs[max(range(len(runs)), key=lambda k: (-worths[k][0], worths[k][1], -k))]
    return replace(best, runs=runs, pool=_join(problem, runs, pool) if pool else None)


def _worth(problem: Problem, violation: float, objective: float | list[float], solution: Array) -> Worth:
    if not hasattr(problem, "fitness") and not isinstance(objective, list):
        return violation, senses_of(problem)[0] * objective
    value = evaluate_interpreted(problem, solution)
    return violation, fitness(record_of(problem), np.array(value if isinstance(value, tuple) else (value,)))


def _join(problem: Problem, runs: list[Result], count: int) -> list[dict[str, Any]]:
    """The best of all pools, each solution once."""
    found = {entry["solution"].tobytes(): entry for result in runs for entry in result.pool or ()}

    def rank(entry: dict[str, Any]) -> Worth:
        violation, value = _worth(problem, entry["violation"], entry["objective"], entry["solution"])
        return violation, -value

    return sorted(found.values(), key=rank)[:count]
