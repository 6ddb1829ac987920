"""The obvious twin of the steady-state genetic algorithm on generalized assignment: everything measured in full.

Random numbers are those of the engine.
"""

from __future__ import annotations

from typing import Any

from systola.model.rng import CHANCE, CROSS, MUTATE, SEARCH, SELECT, START, below, draw


def _numbers(seed: int, purpose: int, step: int, cell: int, k: int) -> list[int]:
    return [int(v) for v in draw(seed, purpose, step, cell, k)]


class Twin:
    """One population of lists."""

    def __init__(self, problem: Any, size: int, crossing: float, mutating: float, seed: int) -> None:
        self.costs, self.loads = problem.costs.tolist(), problem.loads.tolist()
        self.capacities, self.sign = problem.capacities.tolist(), problem.sign
        self.agents, self.jobs = len(self.capacities), len(self.costs[0])
        self.size, self.seed = size, seed
        self.crossing, self.mutating = round(crossing * 2**32), round(mutating * 2**32)
        self.population = [self.first(row) for row in range(size)]

    def cost(self, x: list[int]) -> int:
        return sum(self.costs[agent][job] for job, agent in enumerate(x))

    def load(self, x: list[int], agent: int) -> int:
        return sum(self.loads[agent][job] for job in range(self.jobs) if x[job] == agent)

    def unfitness(self, x: list[int]) -> int:
        return sum(max(0, self.load(x, agent) - self.capacities[agent]) for agent in range(self.agents))

    def rank(self, x: list[int]) -> tuple[int, int]:
        """Larger is better."""
        return -self.unfitness(x), self.sign * self.cost(x)

    def room(self, x: list[int], agent: int) -> int:
        return self.capacities[agent] - self.load(x, agent)

    def first(self, row: int) -> list[int]:
        x = [self.sampled(row, job) for job in range(self.jobs)]
        for turn in range(100):
            searched = self.local_search(x, 0, row * 100 + turn)
            gained = self.rank(searched) > self.rank(x)
            x = searched
            if not gained:
                break
        return x

    def sampled(self, row: int, job: int) -> int:
        return below(_numbers(self.seed, START, 0, row, job)[0], self.agents)

    def local_search(self, x: list[int], step: int, cell: int) -> list[int]:
        x = list(x)
        order: list[int] = []
        for i in range(self.agents):
            j = below(_numbers(self.seed, SEARCH, step, cell, 1 + i // 4)[i % 4], i + 1)
            order.append(i)
            order[i], order[j] = order[j], i
        start, second = (below(r, self.jobs) for r in _numbers(self.seed, SEARCH, step, cell, 0)[:2])
        if self.unfitness(x) > 0:
            for agent in order:
                if self.room(x, agent) < 0:
                    self.pass_on(x, agent, order, start)
        for t in range(self.jobs):
            job = (second + t) % self.jobs
            now = self.sign * self.costs[x[job]][job]
            for agent in order:
                if self.sign * self.costs[agent][job] > now and self.room(x, agent) >= self.loads[agent][job]:
                    x[job] = agent
                    break
        return x

    def pass_on(self, x: list[int], agent: int, order: list[int], start: int) -> None:
        for t in range(self.jobs):
            job = (start + t) % self.jobs
            if x[job] == agent and self.loads[agent][job] >= -self.room(x, agent):
                for other in order:
                    if self.room(x, other) >= self.loads[other][job]:
                        x[job] = other
                        return

    def select(self, step: int, turn: int) -> list[int]:
        r0, r1, _, _ = _numbers(self.seed, SELECT, step, turn, 0)
        one, two = (self.population[below(r, self.size)] for r in (r0, r1))
        return two if self.rank(two) > self.rank(one) else one

    def advance(self, step: int, immigrant: list[int] | None = None, elite: bool = False) -> None:
        """One iteration, with what may have come in."""
        if immigrant is not None and elite:
            child = list(immigrant)
        else:
            r0, r1, _, _ = _numbers(self.seed, CHANCE, step, 0, 0)
            one, two = self.select(step, 0), self.select(step, 1)
            two = two if immigrant is None else immigrant
            child = list(one)
            if r0 < self.crossing:
                point = 1 + below(_numbers(self.seed, CROSS, step, 0, 0)[0], max(1, self.jobs - 1))
                first, last = (point, self.jobs) if 2 * point >= self.jobs else (0, point)
                child[first:last] = two[first:last]
            if r1 < self.mutating:
                a, b, _, _ = _numbers(self.seed, MUTATE, step, 0, 0)
                i, j = below(a, self.jobs), below(b, max(1, self.jobs - 1))
                j = j + 1 if j >= i and self.jobs > 1 else j
                child[i], child[j] = child[j], child[i]
        child = self.local_search(child, step, 0)
        if child in self.population:
            return
        broken = [self.unfitness(x) for x in self.population]
        if self.unfitness(child) > 0 and self.unfitness(child) >= max(broken):
            return
        out = min(range(self.size), key=lambda k: (self.rank(self.population[k]), k))
        self.population[out] = child
