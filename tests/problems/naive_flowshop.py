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


def idle_times(problem: Any, x: Sequence[int], place: int) -> int:
    """How long machines wait for the job in this place, one after the other, once they are free; 0 if there is none."""
    free = [0] * problem.times.shape[1]
    for k, job in enumerate(x):
        now, waited = int(problem.release[job]), 0
        for machine, time in enumerate(problem.times[job].tolist()):
            waited += max(0, now - free[machine])
            now = free[machine] = max(now, free[machine]) + time
        if k == place:
            return waited
    return 0


def best_place(problem: Any, x: Sequence[int], item: int) -> int:
    """The first of the best places for an item in an order; for the makespan alone, first of those that add the least
    idle time before the item and before the next one."""

    def worth(place: int) -> tuple[int, int]:
        longer = [*x[:place], item, *x[place:]]
        added = (
            idle_times(problem, longer, place) + idle_times(problem, longer, place + 1) - idle_times(problem, x, place)
        )
        return fitness_of(problem, longer), -added if problem.alone else 0

    return max(range(len(x) + 1), key=worth)
