"""Objectives that take 5 ms and cannot be compiled: what workers bring, and how far a few hundred evaluations lead.

Speed: one worker against a plain loop over the same evaluations, two workers against one, in turns; and that all of
them, and ask and tell, make the same run. Quality: the default engine beside random search and a steady-state genetic
algorithm, which makes one solution at a time, after the same number of evaluations.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import systola as sy

MARKS = (100, 200, 400)
MILLISECONDS = 5


class Slow(sy.Problem):
    """Ones with weights, after a sleep that stands for a simulation."""

    encoding = sy.Binary("n")
    n: int

    def evaluate(self, x: Any) -> int:
        time.sleep(MILLISECONDS / 1000)
        return int((x * (np.arange(self.n) * 7 % 11 + 1)).sum())


def story(result: sy.Result) -> tuple[Any, ...]:
    """All of a run that must not depend on who evaluates."""
    samples = [(s.step, s.evaluations, s.objective) for s in result.trace.samples]
    return result.objective, result.solution.tolist(), result.evaluations, samples


def collect(problem: sy.Problem, engine: sy.Cellular, stop: sy.Stop) -> tuple[list[Any], sy.Result]:
    """All solutions that a run evaluates, by ask and tell."""
    search, solutions = sy.ask_and_tell(problem, engine, stop=stop), []
    while not search.over:
        asked = search.ask()
        solutions += list(asked)
        search.tell(asked, [int((x * (np.arange(len(x)) * 7 % 11 + 1)).sum()) for x in asked])
    return solutions, search.result()


def time_loop(problem: Slow, solutions: list[Any]) -> float:
    began = time.perf_counter()
    for x in solutions:
        problem.evaluate(x)
    return time.perf_counter() - began


def measure_speed(repeats: int) -> None:
    problem, stop = Slow(60), sy.Evaluations(800)
    engine = sy.Cellular(size=20, topology="L5", selection="tournament", mutation_probability=1.0)
    solutions, told = collect(problem, engine, stop)
    loops: list[float] = []
    runs: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(repeats):
        loops.append(time_loop(problem, solutions))
        for workers, seconds in runs.items():
            result = sy.solve(problem, engine, stop=stop, workers=workers)
            assert story(result) == story(told), "workers change the run"
            seconds.append(result.seconds)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sy.SlowObjectiveWarning)
        assert story(sy.solve(problem, engine, stop=stop)) == story(told), "ask and tell makes another run"
    one = [loop / run for loop, run in zip(loops, runs[1], strict=True)]
    two = [slow / fast for slow, fast in zip(runs[1], runs[2], strict=True)]
    print(f"{len(solutions)} evaluations of {MILLISECONDS} ms; load of the machine {os.getloadavg()[0]:.1f}")
    print("plain loop, 1 worker, 2 workers, ask and tell: the same run, bit for bit")
    print(f"1 worker over a plain loop   {statistics.median(one):.3f}   ({min(one):.3f} to {max(one):.3f})")
    print(f"2 workers over 1 worker      {statistics.median(two):.3f}   ({min(two):.3f} to {max(two):.3f})")


class Bits(sy.Problem):
    encoding = sy.Binary("n")
    sense = sy.MINIMISE
    evaluate = None
    n: int


class Order(sy.Problem):
    encoding = sy.Permutation("n")
    sense = sy.MINIMISE
    evaluate = None
    n: int


class Levels(sy.Problem):
    encoding = sy.Integers("n", 0, "high")
    sense = sy.MINIMISE
    evaluate = None
    n: int
    high: int


Objective = Callable[[Any], float]


def problems(draws: np.random.Generator) -> dict[str, tuple[sy.Problem, Objective]]:
    """Problems whose objectives do not look alike, with an objective each."""
    coefficients = draws.integers(-100, 101, (40, 40))
    near = np.array([[i, *draws.choice(np.delete(np.arange(30), i), 4, replace=False)] for i in range(30)])
    worth = draws.random((30, 32))
    profits, weights = draws.integers(10, 100, 50), draws.integers(10, 100, 50)
    capacity = weights.sum() // 3
    places = draws.random((20, 2))
    distances = np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1))
    flows, lengths = draws.integers(0, 50, (15, 15)), draws.integers(0, 50, (15, 15))
    times = draws.integers(1, 100, (20, 5))
    costs, loads = draws.integers(10, 100, (20, 5)), draws.integers(5, 25, (20, 5))
    optimum, mixed = draws.integers(0, 20, 10), draws.normal(size=(10, 10))

    def knapsack(x: Any) -> float:
        excess = (x * weights).sum() - capacity
        return float(5 * excess if excess > 0 else -(x * profits).sum())

    def makespan(x: Any) -> float:
        ends = np.zeros(6)
        for job in x:
            for machine in range(5):
                ends[machine + 1] = max(ends[machine], ends[machine + 1]) + times[job, machine]
            ends[0] = 0
        return float(ends[-1])

    def assignment(x: Any) -> float:
        used = np.bincount(x, weights=loads[np.arange(20), x], minlength=5)
        return float(costs[np.arange(20), x].sum() + 10 * np.maximum(used - 54, 0).sum())

    return {
        "QUBO, 40 bits": (Bits(40), lambda x: float(x @ coefficients @ x)),
        "NK, 30 bits, k = 4": (Bits(30), lambda x: -worth[np.arange(30), (x[near] << np.arange(5)).sum(1)].sum()),
        "knapsack, 50 items": (Bits(50), knapsack),
        "TSP, 20 cities": (Order(20), lambda x: float(distances[x, np.roll(x, -1)].sum())),
        "QAP, 15 facilities": (Order(15), lambda x: float((flows * lengths[np.ix_(x, x)]).sum())),
        "flowshop, 20 x 5": (Order(20), makespan),
        "assignment, 20 to 5": (Levels(20, 4), assignment),
        "quadratic, 10 levels of 20": (Levels(10, 19), lambda x: float((((x - optimum) @ mixed) ** 2).sum())),
    }


def follow(problem: sy.Problem, objective: Objective, engine: Any, seed: int) -> list[float]:
    """The best value after each of MARKS evaluations; what was known already is none."""
    search = sy.ask_and_tell(problem, engine, seed=seed, stop=sy.Evaluations(5 * MARKS[-1]))
    values: list[float] = []
    while not search.over and len(values) < MARKS[-1]:
        asked = search.ask()
        told = [objective(x) for x in asked]
        values += told
        search.tell(asked, told)
    return [min(values[:mark]) for mark in MARKS]


def measure_quality(seeds: int) -> None:
    engines = {"default": "black-box", "random": sy.RS(size=20), "ssga": sy.SteadyState(size=20)}
    print(f"\nbest of {' / '.join(map(str, MARKS))} evaluations, median of {seeds} seeds, minimised")
    wins, cases = 0, 0
    for name, (problem, objective) in problems(np.random.default_rng(5)).items():
        cells = []
        found = {}
        for label, engine in engines.items():
            runs = [follow(problem, objective, engine, seed) for seed in range(1, seeds + 1)]
            found[label] = np.median(runs, axis=0)
            cells.append(f"{label} " + " / ".join(f"{value:,.4g}" for value in found[label]))
        wins += int((found["default"] < found["random"]).sum())
        cases += len(MARKS)
        print(f"{name:<28}" + "   ".join(f"{cell:<34}" for cell in cells), flush=True)
    print(f"the default is better than random search in {wins} of {cases} medians")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seeds", type=int, default=15)
    parser.add_argument("--part", choices=("speed", "quality", "both"), default="both")
    args = parser.parse_args()
    if args.part != "quality":
        measure_speed(args.repeats)
    if args.part != "speed":
        measure_quality(args.seeds)


if __name__ == "__main__":
    main()
