"""What a solution is worth, from the definitions in docs/methods.md: plain Python integers, nothing of systola's.

A twin holds data as lists. `judge` gives the objectives, in the problem's own sense, and by how much constraints are
broken; `merit` makes one number of several objectives, larger is better; `solutions` are all of them, if they are few.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations, product

Judged = tuple[list[int], int]
MOST = 10_000  # solutions that are tried one by one


def picked(values: Sequence[int], x: Sequence[int]) -> int:
    """The sum of those that are taken."""
    return sum(value for value, taken in zip(values, x, strict=True) if taken)


class Bits:
    n: int

    def valid(self, x: Sequence[int]) -> bool:
        return len(x) == self.n and set(x) <= {0, 1}

    def solutions(self) -> Iterator[tuple[int, ...]] | None:
        return product((0, 1), repeat=self.n) if 2**self.n <= MOST else None


class Order:
    n: int

    def valid(self, x: Sequence[int]) -> bool:
        return sorted(x) == list(range(self.n))

    def solutions(self) -> Iterator[tuple[int, ...]] | None:
        return permutations(range(self.n)) if self.n <= 7 else None


class Profits(Bits):
    """A selection with a profit for each decision."""

    profits: list[int]
    senses = (1,)

    @property
    def n(self) -> int:
        return len(self.profits)


@dataclass
class Knapsack(Profits):
    profits: list[int]
    weights: list[int]
    capacity: int

    def judge(self, x: Sequence[int]) -> Judged:
        profit = picked(self.profits, x)
        weight = picked(self.weights, x)
        return [profit], max(0, weight - self.capacity)


@dataclass
class MultiKnapsack(Profits):
    profits: list[int]
    weights: list[list[int]]
    capacities: list[int]

    def judge(self, x: Sequence[int]) -> Judged:
        profit = picked(self.profits, x)
        loads = [picked(row, x) for row in self.weights]
        return [profit], max(0, *(load - most for load, most in zip(loads, self.capacities, strict=True)))


@dataclass
class MMDP(Bits):
    n: int
    senses = (1,)

    def judge(self, x: Sequence[int]) -> Judged:
        value = {0: 1_000_000, 1: 0, 2: 360_384, 3: 640_576, 4: 360_384, 5: 0, 6: 1_000_000}
        return [sum(value[sum(x[k : k + 6])] for k in range(0, self.n, 6))], 0  # in millionths


@dataclass
class NextRelease(Bits):
    costs: list[int]
    values: list[int]
    share: int  # the weight is share / parts
    parts: int
    senses = (-1, 1)

    @property
    def n(self) -> int:
        return len(self.costs)

    def judge(self, x: Sequence[int]) -> Judged:
        cost = picked(self.costs, x)
        value = picked(self.values, x)
        return [cost, value], 0

    def merit(self, objectives: Sequence[int]) -> int:
        cost, value = objectives
        all_cost, all_value = max(1, sum(self.costs)), max(1, sum(self.values))
        far = max((self.parts - self.share) * cost * all_value, self.share * (all_value - value) * all_cost)
        return -far


@dataclass
class CustomerRelease(Profits):
    profits: list[int]
    costs: list[int]
    requests: list[list[int]]
    dependencies: list[tuple[int, int]]  # (a, b): b needs a
    budget: int

    def judge(self, x: Sequence[int]) -> Judged:
        profit = picked(self.profits, x)
        released = {r for asked, chosen in zip(self.requests, x, strict=True) if chosen for r in asked}
        while more := {a for a, b in self.dependencies if b in released and a not in released}:
            released |= more
        return [profit], max(0, sum(self.costs[r] for r in released) - self.budget)


@dataclass
class QuadraticAssignment(Order):
    flows: list[list[int]]
    distances: list[list[int]]
    senses = (-1,)

    @property
    def n(self) -> int:
        return len(self.flows)

    def judge(self, x: Sequence[int]) -> Judged:
        pairs = product(range(self.n), repeat=2)
        return [sum(self.flows[i][k] * self.distances[x[i]][x[k]] for i, k in pairs)], 0


@dataclass
class Flowshop(Order):
    times: list[list[int]]
    due: list[int]
    release: list[int]
    objectives: str
    weights: list[int]

    @property
    def n(self) -> int:
        return len(self.times)

    @property
    def senses(self) -> tuple[int, ...]:
        return (-1,) * len(self.weights)

    def judge(self, x: Sequence[int]) -> Judged:
        machines = len(self.times[0])
        before = [0] * machines  # completions of the job before
        done = {}
        for job in x:
            now = self.release[job]
            for machine in range(machines):
                now = max(now, before[machine]) + self.times[job][machine]
                before[machine] = now
            done[job] = now
        measures = {"makespan": max(done.values()), "flowtime": sum(done[j] - self.release[j] for j in done)}
        if self.due:
            measures["tardiness"] = sum(max(0, done[j] - self.due[j]) for j in done)
            measures["tardy"] = sum(done[j] > self.due[j] for j in done)
        return [measures[name] for name in self.objectives.split(",")], 0

    def merit(self, objectives: Sequence[int]) -> int:
        return -sum(w * v for w, v in zip(self.weights, objectives, strict=True))


@dataclass
class GeneralizedAssignment:
    costs: list[list[int]]
    loads: list[list[int]]
    capacities: list[int]
    maximise: bool

    @property
    def n(self) -> int:
        return len(self.costs[0])

    @property
    def senses(self) -> tuple[int, ...]:
        return (1 if self.maximise else -1,)

    def valid(self, x: Sequence[int]) -> bool:
        return len(x) == self.n and all(0 <= agent < len(self.costs) for agent in x)

    def solutions(self) -> Iterator[tuple[int, ...]] | None:
        agents = len(self.costs)
        return product(range(agents), repeat=self.n) if agents**self.n <= MOST else None

    def judge(self, x: Sequence[int]) -> Judged:
        cost = sum(self.costs[agent][job] for job, agent in enumerate(x))
        broken = 0
        for agent, most in enumerate(self.capacities):
            load = sum(self.loads[agent][job] for job, who in enumerate(x) if who == agent)
            broken += max(0, load - most)
        return [cost], broken
