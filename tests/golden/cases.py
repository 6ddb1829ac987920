"""Small runs of every engine on every problem that it takes, and the digest of what each run found.

The digest covers numbers only (trace, decisions, objectives, fronts), not names, parameters or sources: a change of
names or of structure must leave all of them as they are. Instances are made by arithmetic, not drawn by a library.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np

import systola as sy
from model.declared_problems import MaxSat, Routes, Tour
from model.gain_problems import LeastLevels
from own_problems import Balance, Colouring, RoundTrip, imbalance

DIGESTS = Path(__file__).with_name("digests.txt")


def spread(seed: int, low: int, high: int, *shape: int) -> np.ndarray:
    """Numbers low <= number <= high that look random: a linear congruential generator, its upper bits."""
    state, values = seed, []
    for _ in range(int(np.prod(shape))):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        values.append(low + (state >> 33) % (high - low + 1))
    return np.array(values, np.int64).reshape(shape)


class Cut(sy.Problem):
    """A user's own problem over bits: only the objective."""

    encoding = sy.Binary("n")
    n: int
    edges: np.ndarray
    weights: np.ndarray

    def evaluate(self, x):
        total = 0
        for k in range(len(self.weights)):
            if x[self.edges[k, 0]] != x[self.edges[k, 1]]:
                total += self.weights[k]
        return total


class Partition(Balance):
    """Floats, minimised, with a constraint."""

    def evaluate(self, x):
        chosen = 0
        for i in range(len(x)):
            chosen += x[i]
        return imbalance(self.weights, x), chosen

    def violation(self, measures):
        return max(measures[1] - 14, 0)


class TwoSums(sy.Problem):
    """A user's own problem with two objectives."""

    encoding = sy.Binary("n")
    sense = (sy.MAXIMISE, sy.MINIMISE)
    n: int
    gains: np.ndarray
    costs: np.ndarray

    def evaluate(self, x):
        gain = 0
        cost = 0
        for i in range(self.n):
            if x[i]:
                gain += self.gains[i]
                cost += self.costs[i]
        return gain, cost

    def fitness(self, measures):
        return measures[0] - measures[1]


def _knapsack() -> sy.Problem:
    weights = spread(1, 1, 49, 70)
    return sy.Knapsack(spread(2, 1, 49, 70), weights, int(weights.sum() // 3))


def _multi_knapsack() -> sy.Problem:
    weights = spread(3, 0, 49, 3, 24)
    return sy.MultiKnapsack(spread(4, 1, 49, 24), weights, 2 * weights.sum(axis=1) // 5)


def _customers() -> sy.Problem:
    costs, asked = spread(7, 1, 9, 20), spread(6, 0, 19, 12, 4)
    return sy.CustomerRelease.from_requests(
        spread(8, 1, 30, 12).tolist(), costs.tolist(), asked.tolist(), [(0, 5), (3, 7)], int(costs.sum() // 2)
    )


def _symmetric(seed: int, n: int) -> np.ndarray:
    half = spread(seed, 0, 20, n, n)
    return half + half.T


def _flowshop(objectives: str) -> sy.Problem:
    return sy.Flowshop(spread(11, 1, 30, 9, 3), spread(12, 20, 120, 9), spread(13, 0, 30, 9), objectives)


def _assignment() -> sy.Problem:
    loads = spread(15, 5, 25, 3, 20)
    return sy.GeneralizedAssignment(spread(14, 10, 50, 3, 20), loads, 8 * loads.sum(axis=1) // 20)


def _levels() -> sy.Problem:
    low, triples = spread(28, -2, 2, 12), spread(29, 0, 11, 24, 3)
    return LeastLevels(12, low, low + spread(30, 0, 3, 12), triples, spread(31, -5, 5, 24))


def problems() -> dict[str, sy.Problem]:
    """One instance of each problem, and problems as users write them."""
    edges = spread(16, 0, 29, 60, 2)
    return {
        "knapsack": _knapsack(),
        "mmdp": sy.MMDP(18),
        "nrp": sy.NextRelease(spread(9, 1, 20, 24), spread(10, 0, 90, 24), 0.3),
        "customers": _customers(),
        "mkp": _multi_knapsack(),
        "qap": sy.QuadraticAssignment(_symmetric(17, 8), _symmetric(18, 8)),
        "makespan": _flowshop("makespan"),
        "flowshop": _flowshop("makespan,tardiness,flowtime"),
        "gap": _assignment(),
        "own-bits": Cut(30, edges, spread(19, 1, 9, 60)),
        "own-floats": Partition(spread(20, 1, 10**6, 33) / 10**5),
        "own-integers": Colouring(30, 3, edges),
        "own-order": RoundTrip(spread(21, 1, 99, 9, 9)),
        "own-front": TwoSums(12, spread(22, 1, 40, 12), spread(23, 1, 40, 12)),
        "own-chain": Tour(_symmetric(24, 9)),
        "own-terms": MaxSat(20, spread(25, -20, 20, 60, 3)),
        "own-levels": _levels(),
        "own-routes": Routes(10, 8, _symmetric(26, 9), spread(27, 1, 9, 8), 22),
    }


_SNS = {
    "sns": sy.SNS(),
    "sns-mr": sy.SNS(moving=True),
    "sns-r": sy.SNS(random=True),
    "sns-r-mr": sy.SNS(random=True, moving=True),
    "sns-exp": sy.SNS(True),
    "sns-exp-mr": sy.SNS(True, moving=True),
    "sns-exp-r": sy.SNS(True, random=True),
    "sns-exp-r-mr": sy.SNS(True, True, True),
    "sns-repair": sy.SNS(True, True, True, repair=True, seeded=True),
}


def engines() -> dict[str, Any]:
    """Every engine, small; some in more than one setting."""
    small = sy.SteadyState(size=12)
    return {
        "auto": "auto",
        "memetic": "memetic",
        "pugace": sy.Cellular(size=12, block=4, local_search="best-swap", local_search_interval=2),
        **{f"sgs-{flavour.lower()}": sy.SGS(flavour, length=8, width=6) for flavour in "TEVB"},
        "rs": sy.RS(20),
        "sga": sy.SGA(16),
        "ega": sy.EGA(16),
        "ga": sy.GA(16),
        "cellular": sy.Cellular(size=12),
        "cellular-torus": sy.Cellular(size=12, topology="L5", selection="tournament", replacement="better"),
        "cellular-sweep": sy.Cellular(size=12, update="line-sweep"),
        "cellular-tabu": sy.Cellular(size=9, local_search="tabu", local_search_interval=2, local_search_steps=8),
        "cellular-refine": sy.Cellular(
            size=9, replacement="searched", local_search="problem", local_search_interval=1, local_search_steps=60
        ),
        "ssga": small,
        "hill": sy.HillClimbing(),
        "hill-first": sy.HillClimbing(improvement="first"),
        "tabu": sy.Tabu(),
        "ig": sy.IteratedGreedy(size=3, rounds=2),
        "sa": sy.SimulatedAnnealing(chains=2, epoch=8),
        "ils": sy.IteratedLocalSearch(chains=2, patience=8),
        "tour": sy.TourSearch(chains=2, candidates=4),
        "its": sy.IteratedTabu(chains=2, moves=20),
        "pls": sy.PLS(),
        "pls-dominating": sy.PLS("dominating"),
        **_SNS,
        "islands": sy.Islands(small, 3, synchronous=True, export_every=8, import_every=4),
        "islands-mixed": sy.Islands(
            [sy.Cellular(size=12), small, sy.SteadyState(size=10)], synchronous=True, export_every=8, import_every=4
        ),
    }


STEPS = {"islands": 24, "islands-mixed": 24, "ssga": 40, "hill": 30, "tabu": 30, "hill-first": 30}


def run(problem: sy.Problem, engine: Any, name: str, backend: str, **rest: Any) -> sy.Result:
    """The run of a case."""
    return sy.solve(problem, engine, stop=sy.Iterations(STEPS.get(name, 5)), seed=11, backend=backend, **rest)


def _number(value: Any) -> str:
    value = float(value) if not isinstance(value, (int, np.integer)) else int(value)
    return str(int(value)) if value == value // 1 else value.hex()


def _flat(value: Any) -> list[str]:
    if isinstance(value, np.ndarray):
        value = value.tolist()
    return [text for item in value for text in _flat(item)] if isinstance(value, (list, tuple)) else [_number(value)]


def digest_of(result: sy.Result) -> str:
    """Of the numbers of a run that must not depend on who computed it."""
    numbers = [
        *(result.objective, result.violation, result.solution, result.found_at, result.iterations, result.evaluations),
        [(s.step, s.evaluations, s.objective, s.violation) for s in result.trace.samples],
        *((result.front, result.front_solutions) if result.front is not None else ()),
    ]
    return hashlib.sha256(" ".join(_flat(numbers)).encode()).hexdigest()[:16]


def pairs() -> list[tuple[str, str]]:
    """Problems and engines that go together."""
    made, built = problems(), engines()
    return [(problem, engine) for problem in made for engine in built if not refusal(built[engine], made[problem])]


def refusal(engine: Any, problem: sy.Problem) -> str:
    """Why an engine does not work on a problem, which it says before it begins; empty if it does."""
    try:
        sy.solve(problem, engine, stop=sy.Iterations(0), backend="python", callback=_leave)
    except sy.InputError as error:
        return str(error)
    except _Accepted:
        pass
    return ""


class _Accepted(Exception):
    pass


def _leave(progress: sy.Progress) -> None:
    raise _Accepted


def read_digests() -> dict[tuple[str, str], str]:
    """The digest of each pair; the same on every backend."""
    lines = [line.split() for line in DIGESTS.read_text().splitlines() if not line.startswith("#")]
    return {(problem, engine): digest for problem, engine, digest in lines}


def check(problem: str, engine: str, backend: str, **rest: Any) -> None:
    """The run of this problem and engine has the digest of the list."""
    result = run(problems()[problem], engines()[engine], engine, backend, **rest)
    assert digest_of(result) == read_digests()[problem, engine]
