"""Problems as a user would write them, with `evaluate` only, random instances of them, and plain objectives.

Where the gallery has the same problem, its data are taken, but not its structure.

The plain objectives are written anew on Python's lists and integers, and share no line with `evaluate`: what a run
reports counts only if they agree.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import systola as sy
from tabucol import tabucol
from walksat import walksat

sys.path.append(str(Path(__file__).parents[1] / "examples/gallery"))

from graph_colouring import Colouring as DeclaredColouring
from weighted_tardiness import Tardiness as DeclaredTardiness

SHARED = Path(__file__).parents[1] / "../shared/instances"  # instances that are not ours to pass on
_STREAMS = ("tsp", "setcover", "qubo", "maxsat", "colouring")  # of random numbers, one for each generator


class TSP(sy.Problem):
    encoding = sy.Permutation("distances")
    sense = sy.MINIMISE
    distances: np.ndarray

    def evaluate(self, tour):
        n = len(tour)
        length = 0
        for k in range(n):
            length += self.distances[tour[k], tour[(k + 1) % n]]
        return length


class SetCovering(sy.Problem):
    encoding = sy.Binary("costs")
    sense = sy.MINIMISE
    costs: np.ndarray
    starts: np.ndarray  # the columns that cover row r are members[starts[r]:starts[r + 1]]
    members: np.ndarray

    def evaluate(self, x):
        cost = 0
        for j in range(len(self.costs)):
            cost += self.costs[j] * x[j]
        uncovered = 0
        for r in range(len(self.starts) - 1):
            covered = 0
            for k in range(self.starts[r], self.starts[r + 1]):
                if x[self.members[k]]:
                    covered = 1
                    break
            uncovered += 1 - covered
        return cost, uncovered

    def violation(self, measures):
        return measures[1]


class QUBO(sy.Problem):
    encoding = sy.Binary("q")
    q: np.ndarray

    def evaluate(self, x):
        total = 0
        for i in range(len(x)):
            if x[i]:
                for j in range(len(x)):
                    if x[j]:
                        total += self.q[i, j]
        return total


class MaxSat(sy.Problem):
    encoding = sy.Binary("n")
    n: int
    clauses: np.ndarray  # a row each; 3 is the third variable, -3 its negation

    def evaluate(self, x):
        satisfied = 0
        for c in range(len(self.clauses)):
            for k in range(3):
                literal = self.clauses[c, k]
                if (literal > 0) == (x[abs(literal) - 1] == 1):
                    satisfied += 1
                    break
        return satisfied


class Colouring(DeclaredColouring):
    structure = None

    def evaluate(self, colour):
        clashes = 0
        for e in range(len(self.edges)):
            if colour[self.edges[e, 0]] == colour[self.edges[e, 1]]:
                clashes += 1
        return clashes


class WeightedTardiness(DeclaredTardiness):
    structure = None

    def evaluate(self, order):
        clock = 0
        total = 0
        for k in range(len(order)):
            job = order[k]
            clock += self.times[job]
            total += self.weights[job] * max(clock - self.due[job], 0)
        return total


@dataclass(frozen=True)
class Case:
    """An instance with its plain objective: `plain(solution)` gives the objective, and the constraints broken."""

    name: str
    problem: sy.Problem
    plain: Callable[[list[int]], tuple[int, int]]
    known: int | None = None  # the best value, where it is known by construction or from a library
    whose: str = "best known"  # whose that is
    unit: int = 1  # how much of the objective makes one of what is counted


def _random(stream: str, seed: int) -> np.random.Generator:
    return np.random.default_rng([seed, _STREAMS.index(stream)])


def tsp(n: int, seed: int) -> Case:
    """Cities in a square of 10,000, distances rounded, as elkai asks for."""
    places = _random("tsp", seed).random((n, 2)) * 10_000
    distances = np.rint(np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1))).astype(np.int64)
    table = distances.tolist()

    def plain(tour: list[int]) -> tuple[int, int]:
        legs = zip(tour, [*tour[1:], tour[0]], strict=True)
        return sum(table[a][b] for a, b in legs), int(sorted(tour) != list(range(n)))

    return Case(f"tsp{n}", TSP(distances), plain)


def set_covering(rows: int, columns: int, seed: int, density: float = 0.02) -> Case:
    """Like Beasley's: costs 1..100, every column covers a row, every row is covered at least twice."""
    random = _random("setcover", seed)
    covers = random.random((rows, columns)) < density
    for r in range(rows):
        covers[r, random.choice(columns, 2, replace=False)] = True
    for j in np.flatnonzero(~covers.any(axis=0)):
        covers[random.integers(rows), j] = True
    costs = random.integers(1, 101, columns)
    by_row = [np.flatnonzero(row) for row in covers]
    starts = np.cumsum([0] + [len(row) for row in by_row])
    sets, prices = [set(row.tolist()) for row in by_row], costs.tolist()

    def plain(x: list[int]) -> tuple[int, int]:
        chosen = {j for j, bit in enumerate(x) if bit}
        return sum(prices[j] for j in chosen), sum(not (row & chosen) for row in sets)

    return Case("setcover", SetCovering(costs, starts, np.concatenate(by_row)), plain)


def qubo(n: int, seed: int) -> Case:
    """Symmetric and dense, entries -100..100, to be maximised."""
    upper = np.triu(_random("qubo", seed).integers(-100, 101, (n, n)))
    q = upper + np.triu(upper, 1).T
    table = q.tolist()

    def plain(x: list[int]) -> tuple[int, int]:
        chosen = [i for i, bit in enumerate(x) if bit]
        return sum(table[i][j] for i in chosen for j in chosen), 0

    return Case("qubo", QUBO(q), plain)


def maxsat(n: int, clauses: int, seed: int) -> Case:
    """Uniform random 3-SAT, drawn until WalkSAT satisfies it: a planted solution would make it easier."""
    random = _random("maxsat", seed)
    while True:
        variables = np.array([random.choice(n, 3, replace=False) + 1 for _ in range(clauses)])
        literals = variables * random.choice([-1, 1], (clauses, 3))
        if walksat(literals, n, 2_000_000, random) == clauses:
            break
    rows = literals.tolist()

    def plain(x: list[int]) -> tuple[int, int]:
        true = {(v + 1) if bit else -(v + 1) for v, bit in enumerate(x)}
        return sum(any(literal in true for literal in row) for row in rows), 0

    return Case("maxsat", MaxSat(n, literals), plain, known=clauses)


def colouring(n: int, p: float, colours: int, seed: int) -> Case:
    """A random graph, drawn until TabuCol colours it without a clash: at n = 120, p = 0.1, 5 colours three of four."""
    random = _random("colouring", seed)
    first, second = np.triu_indices(n, 1)
    while True:
        there = random.random(len(first)) < p
        edges = np.column_stack([first[there], second[there]])
        if tabucol(edges, n, colours, 300_000, random) == 0:
            break
    pairs = edges.tolist()

    def plain(colour: list[int]) -> tuple[int, int]:
        return sum(colour[a] == colour[b] for a, b in pairs), sum(not 0 <= c < colours for c in colour)

    return Case("colouring", Colouring(n, colours - 1, edges), plain, known=0)


def weighted_tardiness(times: list[int], weights: list[int], due: list[int], name: str, known: int | None) -> Case:
    def plain(order: list[int]) -> tuple[int, int]:
        ends, clock = {}, 0
        for job in order:
            clock += times[job]
            ends[job] = clock
        late = (weights[job] * max(0, end - due[job]) for job, end in ends.items())
        return sum(late), int(sorted(order) != list(range(len(times))))

    return Case(name, WeightedTardiness(times, weights, due), plain, known)


def wt100(seed: int, folder: Path = SHARED) -> list[Case]:
    """One of the five of each of the 25 groups of the OR-Library's wt100; no case if the files are not there."""
    data, best = folder / "wt/wt100.txt", folder / "wt/wtbest100b.txt"
    if not data.exists() or not best.exists():
        return []
    numbers = np.array(data.read_text().split(), np.int64).reshape(-1, 3, 100)
    known = [int(word) for word in best.read_text().split()]
    picked = range((seed - 1) % 5, len(numbers), 5)
    return [weighted_tardiness(*numbers[k].tolist(), f"wt100-{k + 1}", known[k]) for k in picked]


MAKERS: dict[str, Callable[[int], list[Any]]] = {
    "tsp100": lambda seed: [tsp(100, seed)],
    "tsp200": lambda seed: [tsp(200, seed)],
    "tsp500": lambda seed: [tsp(500, seed)],
    "setcover": lambda seed: [set_covering(100, 1000, seed)],
    "qubo": lambda seed: [qubo(250, seed)],
    "maxsat": lambda seed: [maxsat(100, 430, seed)],
    "colouring": lambda seed: [colouring(120, 0.1, 5, seed)],
    "wt100": wt100,
}
