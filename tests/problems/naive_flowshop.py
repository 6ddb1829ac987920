"""The obvious twin of a flowshop's measures, for orders of some of the jobs, too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def measures_of(problem: Any, x: Sequence[int]) -> list[int]:
    """The four measures in the problem's order: a job begins when it and the machine are both ready."""
    times, limits, release = problem.times.tolist(), problem.limits.tolist(), problem.release.tolist()
    free = [0] * len(times[0])
    done = {}
    for job in x:
        now = release[job]
        for machine, time in enumerate(times[job]):
            now = free[machine] = max(now, free[machine]) + time
        done[job] = now
    late = [max(0, done[job] - limits[job]) for job in x]
    found = [free[-1], sum(late), sum(lateness > 0 for lateness in late), sum(done[job] - release[job] for job in x)]
    return [found[which] for which in problem.order.tolist()]


def fitness_of(problem: Any, x: Sequence[int]) -> int:
    """Minus the weighted sum of the objectives."""
    return -sum(f * m for f, m in zip(problem.factors.tolist(), measures_of(problem, x), strict=True))


def moved(x: Sequence[int], i: int, j: int) -> list[int]:
    """The item in place i is taken out and put in place j."""
    rest = [*x[:i], *x[i + 1 :]]
    return [*rest[:j], x[i], *rest[j:]]


def best_place(problem: Any, x: Sequence[int], item: int) -> int:
    """The first of the best places for an item in an order."""
    return max(range(len(x) + 1), key=lambda place: fitness_of(problem, [*x[:place], item, *x[place:]]))
