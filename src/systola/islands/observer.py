"""How demes get on, by what they have noted themselves: others may be at work in their sessions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from systola.engines.picture import worth_of
from systola.engines.topology import near_square
from systola.islands.deme import Deme
from systola.islands.plan import Plan
from systola.model.population import ranks_above
from systola.model.problem import record_of, space_of
from systola.run.budget import Budget, Spent
from systola.run.execution import Progress
from systola.run.search import Found
from systola.run.units import objective_of, violation_of

_MOST_SIDE = 32  # blocks of demes along each side of a picture
_MOST_LINKS = 1000  # on which migrations are told of


@dataclass
class Observer:
    """Looks at the demes of this process from the outside."""

    plan: Plan
    budget: Budget  # in steps
    clock: Callable[[], float]
    _sent: dict[tuple[int, int], int] = field(default_factory=dict)  # messages, up to the last picture

    def progress(self, stage: str, demes: Sequence[Deme]) -> Progress | None:
        """What a callback is told; None as long as no deme has a solution."""
        started = [deme for deme in demes if deme.history]
        if not started:
            return None
        problem, seconds, step = self.plan.problem, self.clock(), max(deme.step for deme in started)
        leader = self._leader(started)
        measures = leader.latest[2]
        return Progress(
            stage,
            step,
            sum(deme.search.evaluations for deme in demes),
            seconds,
            objective_of(problem, measures),
            violation_of(problem, measures),
            self.budget.fraction(Spent(step, seconds=seconds)),
            sum(deme.search.memory for deme in demes),
            best=lambda: self._found(leader),
            picture=lambda: self._picture(started),
        )

    def _leader(self, demes: Sequence[Deme]) -> Deme:
        leader = demes[0]
        for deme in demes[1:]:
            if ranks_above(record_of(self.plan.problem), deme.latest[2], leader.latest[2]):
                leader = deme
        return leader

    def _found(self, leader: Deme) -> Found:
        problem = self.plan.problem
        step, _, measures = leader.latest
        return Found(measures, lambda: problem.encoding.load(space_of(problem), leader.best_row[None])[0], step)

    def _picture(self, demes: Sequence[Deme]) -> dict[str, Any]:
        """The torus, or blocks of it where it is large: the best of each, and who sent how many solutions to whom."""
        height, width = near_square(len(self.plan))
        rows, columns = min(height, _MOST_SIDE), min(width, _MOST_SIDE)

        def block_of(number: int) -> int:
            i, j = divmod(number, width)
            return i * rows // height * columns + j * columns // width

        members: dict[int, list[Deme]] = defaultdict(list)
        for deme in demes:
            members[block_of(deme.number)].append(deme)
        best: list[float | None] = [None] * (rows * columns)
        iterations: list[int | None] = [None] * (rows * columns)
        measures = np.array([self._leader(inside).latest[2] for inside in members.values()])
        name, worth = worth_of(self.plan.problem, measures)
        for (block, inside), value in zip(members.items(), worth, strict=True):
            best[block], iterations[block] = value, max(deme.step for deme in inside)
        moved: dict[tuple[int, int], int] = defaultdict(int)
        for deme in demes:
            for target, count in deme.messages_sent.items():
                link = deme.number, target
                ends = block_of(deme.number), block_of(target)
                if ends[0] != ends[1]:
                    moved[ends] += (count - self._sent.get(link, 0)) * deme.islands.rate
                self._sent[link] = count
        busiest = sorted(((count, ends) for ends, count in moved.items() if count > 0), reverse=True)[:_MOST_LINKS]
        return {
            "type": "demes",
            "name": name,
            "rows": rows,
            "columns": columns,
            "best": best,
            "iterations": iterations,
            "migrations": [[source, target, count] for count, (source, target) in busiest],
        }
