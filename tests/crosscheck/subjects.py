"""Problems of systola beside their plain twins, in sizes where words of 64 bits and short loops go wrong; engines."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import plain

import systola as sy


@dataclass
class Subject:
    """A problem, what tells its worth plainly, and in which units objectives are told."""

    problem: sy.Problem
    twin: Any
    scale: int = 1


def _numbers(draws: random.Random, n: int, low: int, high: int) -> list[int]:
    return [draws.randint(low, high) for _ in range(n)]


def _table(draws: random.Random, rows: int, columns: int, low: int, high: int) -> list[list[int]]:
    return [_numbers(draws, columns, low, high) for _ in range(rows)]


def _knapsack(n: int, draws: random.Random) -> Subject:
    weights = _numbers(draws, n, 1, 50)
    twin = plain.Knapsack(_numbers(draws, n, 1, 50), weights, max(1, sum(weights) // 3))
    return Subject(sy.Knapsack(twin.profits, twin.weights, twin.capacity), twin)


def _multi_knapsack(n: int, draws: random.Random) -> Subject:
    weights = _table(draws, 3, n, 0, 50)
    twin = plain.MultiKnapsack(_numbers(draws, n, 1, 50), weights, [2 * sum(row) // 5 for row in weights])
    return Subject(sy.MultiKnapsack(twin.profits, twin.weights, twin.capacities), twin)


def _mmdp(n: int, draws: random.Random) -> Subject:
    n = max(6, n // 6 * 6)
    return Subject(sy.MMDP(n), plain.MMDP(n), 1_000_000)


def _next_release(n: int, draws: random.Random) -> Subject:
    share = draws.choice((0, 3, 5, 10))
    twin = plain.NextRelease(_numbers(draws, n, 1, 20), _numbers(draws, n, 0, 90), share, 10)
    return Subject(sy.NextRelease(twin.costs, twin.values, share / 10), twin)


def _customer_release(n: int, draws: random.Random) -> Subject:
    requirements = n + 3
    costs = _numbers(draws, requirements, 0, 20)
    requests = [draws.sample(range(requirements), draws.randint(0, 3)) for _ in range(n)]
    dependencies = [(a, b) for b in range(requirements) for a in range(b) if draws.random() < 1 / requirements]
    twin = plain.CustomerRelease(_numbers(draws, n, 0, 50), costs, requests, dependencies, sum(costs) // 3)
    made = sy.CustomerRelease.from_requests(twin.profits, costs, requests, dependencies, twin.budget)
    return Subject(made, twin)


def _quadratic(n: int, draws: random.Random) -> Subject:
    twin = plain.QuadraticAssignment(_table(draws, n, n, 0, 30), _table(draws, n, n, -9, 30))
    return Subject(sy.QuadraticAssignment(twin.flows, twin.distances), twin)


def _symmetric_quadratic(n: int, draws: random.Random) -> Subject:
    flows, distances = _table(draws, n, n, 0, 30), _table(draws, n, n, 0, 30)
    for table in (flows, distances):
        for i in range(n):
            for k in range(i):
                table[i][k] = table[k][i]
    return Subject(sy.QuadraticAssignment(flows, distances), plain.QuadraticAssignment(flows, distances))


def _flowshop(n: int, draws: random.Random, objectives: str, weights: list[int], released: bool) -> Subject:
    times = _table(draws, n, 3, 0, 40)
    span = 20 * (n + 2)
    due = _numbers(draws, n, 20, span) if "tard" in objectives else []
    release = _numbers(draws, n, 0, span // 2) if released else [0] * n
    twin = plain.Flowshop(times, due, release, objectives, weights)
    return Subject(sy.Flowshop(times, due=due, release=release, objectives=objectives, weights=weights), twin)


def _makespan(n: int, draws: random.Random) -> Subject:
    return _flowshop(n, draws, "makespan", [1], False)


def _released(n: int, draws: random.Random) -> Subject:
    return _flowshop(n, draws, "makespan", [1], True)


def _due(n: int, draws: random.Random) -> Subject:
    return _flowshop(n, draws, "makespan,tardiness", [1, 2], False)


def _flowtime(n: int, draws: random.Random) -> Subject:
    return _flowshop(n, draws, "flowtime,tardy,makespan", [1, 30, 2], True)


def _assignment(n: int, draws: random.Random) -> Subject:
    return _generalized(n, draws, False)


def _profitable_assignment(n: int, draws: random.Random) -> Subject:
    return _generalized(n, draws, True)


def _generalized(n: int, draws: random.Random, maximise: bool) -> Subject:
    loads = _table(draws, 3, n, 1, 20)
    capacities = [max(max(row), sum(row) // 3 + 1) for row in loads]
    twin = plain.GeneralizedAssignment(_table(draws, 3, n, -5, 40), loads, capacities, maximise)
    return Subject(sy.GeneralizedAssignment(twin.costs, loads, capacities, maximise), twin)


Maker = Callable[[int, random.Random], Subject]
BINARY: dict[str, Maker] = {
    "knapsack": _knapsack,
    "multi-knapsack": _multi_knapsack,
    "mmdp": _mmdp,
    "next-release": _next_release,
    "customer-release": _customer_release,
}
ORDERS: dict[str, Maker] = {
    "quadratic": _quadratic,
    "symmetric-quadratic": _symmetric_quadratic,
    "makespan": _makespan,
    "released": _released,
    "makespan-tardiness": _due,
    "flowtime-tardy-makespan": _flowtime,
}
INTEGERS: dict[str, Maker] = {"assignment": _assignment, "profitable-assignment": _profitable_assignment}
SIZES: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(BINARY, (12, 1, 63, 64, 65)),
    **dict.fromkeys(ORDERS, (6, 1, 2, 3, 13)),
    **dict.fromkeys(INTEGERS, (6, 1, 2, 3, 20)),
}

# With names and small populations; presets by name alone.
ANY_ENGINES: dict[str, Any] = {
    "rs": sy.RS(size=16),
    "cellular": sy.Cellular(size=9, radius=2),
    "cellular-torus": sy.Cellular(size=9, topology="L5", selection="tournament", replacement="better"),
    "ssga": sy.SteadyState(size=8),
    "hill": sy.HillClimbing(),
    "hill-restart": sy.HillClimbing(on_local_optimum="restart"),
    "tabu": sy.Tabu(),
    "sa": sy.SimulatedAnnealing(chains=3, epoch=5),
    "ils": sy.IteratedLocalSearch(chains=3, patience=5),
    "pls": sy.PLS(),
    "auto": "auto",
}
BINARY_ENGINES: dict[str, Any] = {
    **{f"sgs-{flavour.lower()}": sy.SGS(flavour) for flavour in "TEVB"},
    **{
        sy.SNS(*options).name: sy.SNS(*options)
        for options in ((a, b, c) for a in (False, True) for b in (False, True) for c in (False, True))
    },
    "sga": sy.SGA(size=12),
    "ega": sy.EGA(size=12),
    "ga": sy.GA(size=12),
    **ANY_ENGINES,
}
ORDER_ENGINES: dict[str, Any] = {
    **{
        f"cellular-{crossover}-{search}": sy.Cellular(
            size=9, radius=2, crossover=crossover, local_search=search, local_search_interval=1
        )
        for crossover, search in (("order", "best-swap"), ("cycle", "descent"))
    },
    "memetic": "memetic",
    **ANY_ENGINES,
}
SCHEDULES = ("makespan", "released", "makespan-tardiness", "flowtime-tardy-makespan")
ENGINES: dict[str, Any] = {"ig": sy.IteratedGreedy(), **BINARY_ENGINES, **ORDER_ENGINES}


def pairs_of(problems: dict[str, Maker]) -> list[tuple[str, str]]:
    """Names of problems and engines that go together, problem by problem."""
    found = []
    for name in problems:
        engines = BINARY_ENGINES if name in BINARY else ORDER_ENGINES if name in ORDERS else ANY_ENGINES
        found += [(name, engine) for engine in engines]
        found += [(name, "ig")] if name in SCHEDULES else []
    return found
