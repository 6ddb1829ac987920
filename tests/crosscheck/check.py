"""One run, its answer judged by plain Python."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache
from typing import Any

import subjects

import systola as sy

MAKERS = {**subjects.BINARY, **subjects.ORDERS, **subjects.INTEGERS}


@cache
def subject(name: str, n: int) -> subjects.Subject:
    """The instance of this size; always the same."""
    return MAKERS[name](n, random.Random(f"{name} {n}"))


@cache
def optimum(name: str, n: int) -> Any:
    """The largest merit of a feasible solution, of all of them; None if there are too many or none is feasible."""
    twin = subject(name, n).twin
    judged = map(twin.judge, twin.solutions() or ())
    return max((_merit(twin, objectives) for objectives, broken in judged if broken == 0), default=None)


def _merit(twin: Any, objectives: Sequence[int]) -> int:
    if hasattr(twin, "merit"):
        merit: int = twin.merit(objectives)
        return merit
    return twin.senses[0] * objectives[0]


def cross_check(name: str, n: int, engine: Any, steps: int, seed: int, backend: str) -> None:
    """Solve, and compare all that the result says with what plain Python says."""
    case = subject(name, n)
    try:
        result = sy.solve(case.problem, engine, stop=sy.Iterations(steps), seed=seed, backend=backend)
    except sy.InputError as error:
        if n == 1 and "at least two decisions" in str(error):
            return  # there is nothing to cross, nor a neighbour
        raise
    twin, x = case.twin, result.solution.tolist()
    assert twin.valid(x)
    objectives, broken = twin.judge(x)
    assert result.objective == _told(objectives, case.scale)
    assert result.violation == broken
    assert result.feasible == (broken == 0)
    best = optimum(name, n)
    if best is not None and result.feasible:
        assert _merit(twin, objectives) <= best
    if result.bound is not None:
        limit = twin.senses[0] * result.bound * case.scale
        assert best is None or best <= limit
        assert not result.feasible or twin.senses[0] * objectives[0] <= limit
    if result.front is not None:
        _check_front(case, result)


def _check_front(case: subjects.Subject, result: sy.Result) -> None:
    assert result.front_solutions is not None
    members = result.front_solutions.tolist()
    judged = [case.twin.judge(x) for x in members]
    assert all(map(case.twin.valid, members))
    for told, (objectives, _) in zip(result.front, judged, strict=True):
        assert told == [value if case.scale == 1 else value / case.scale for value in objectives]
    assert all(broken == 0 for _, broken in judged) or not result.feasible
    for one in judged:
        for other in judged:
            gains = [s * (a - b) for s, a, b in zip(case.twin.senses, one[0], other[0], strict=True)]
            assert one is other or min(gains) < 0  # neither dominates the other, nor are they alike


def _told(objectives: list[int], scale: int) -> Any:
    values = [value if scale == 1 else value / scale for value in objectives]
    return values if len(values) > 1 else values[0]
