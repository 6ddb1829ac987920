"""The paper's cellular run on quadratic assignment against straightforward sequential C and against peer libraries, and
the tabu search against robust tabu search in C, in one run.

The programs draw other random numbers, so answers are verified by cost: every solution is costed again from scratch.
Seconds of C are those of its generations; systola's those of the run, compiled before the clock starts.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import time
from pathlib import Path
from typing import Any

import numpy as np

import qap_baseline
import systola as sy
from systola.engines.presets import pugace
from systola.formats.catalog import open_instance
from systola.model.problem import space_of

CELLULAR_BUILDS = {"-O3": ["-O3"], "-O3 -march=native": ["-O3", "-march=native"]}
TABU_BUILDS = {
    f"{flags}{', hoisted' if hoist else ''}": [*flags.split(), "-DNUMBER=int", *hoist]
    for flags in ("-O3 -march=native", "-O3")
    for hoist in ([], ["-DHOIST"])
}


def timed(problem: Any, engine: Any, stop: Any, threads: int, seed: int = 1) -> tuple[float, Any]:
    began = time.perf_counter()
    result = sy.solve(problem, engine, stop=stop, seed=seed, threads=threads)
    seconds = time.perf_counter() - began
    x = result.solution
    if result.objective != int((problem.flows * problem.distances[np.ix_(x, x)]).sum()):
        raise SystemExit("systola's objective is not that of its solution")
    return seconds, result


def cellular(problem: Any, generations: int, c_generations: int, repeats: int, threads: int) -> dict[str, Any]:
    """The paper's run. C is timed over fewer generations; each of them costs it the same."""
    twin = qap_baseline.QuadraticAssignment(problem.flows, problem.distances)
    engine = pugace(problem)
    timed(problem, engine, sy.Iterations(2), threads)
    mine: list[float] = []
    theirs: dict[str, list[float]] = {}
    for seed in range(1, repeats + 1):
        mine.append(timed(problem, engine, sy.Iterations(generations), threads, seed)[0] / generations)
        for flags, options in CELLULAR_BUILDS.items():
            binary = qap_baseline.build_cellular(options)
            for delta in (False, True):
                made = qap_baseline.run_cellular(binary, twin, seed, generations=c_generations, block=64, delta=delta)
                name = f"{flags}, local search by {'differences' if delta else 'full evaluation'}"
                theirs.setdefault(name, []).append(made.seconds / made.generations)
    median = statistics.median(mine)
    return {
        "generations": generations,
        "seconds": median * generations,
        "c_seconds": {name: statistics.median(t) * generations for name, t in theirs.items()},
        "ratio": {name: statistics.median(t) / median for name, t in theirs.items()},
    }


def tabu(problem: Any, iterations: int, repeats: int) -> dict[str, Any]:
    """Moves a second of one thread: ours inside the engine, one individual after the other."""
    n = space_of(problem).n
    twin = qap_baseline.QuadraticAssignment(problem.flows, problem.distances)
    shared = {"size": 9, "topology": "L5", "selection": "random", "replacement": "better", "local_search_interval": 1}
    long = sy.Cellular(local_search="tabu", local_search_steps=iterations // 9 // 4, **shared)
    timed(problem, long, sy.Iterations(1), 1)
    mine, theirs = [], {name: [] for name in TABU_BUILDS}
    for seed in range(1, repeats + 1):
        steps = 6
        seconds, _ = timed(problem, long, sy.Iterations(steps), 1, seed)
        mine.append(exchanges(long, 9, steps, seed) * n * (n - 1) / 2 / seconds)
        for name, options in TABU_BUILDS.items():
            made = qap_baseline.run_tabu(qap_baseline.build_tabu(options), twin, iterations, seed)
            theirs[name].append(made.moves_per_second)
    median = statistics.median(mine)
    return {
        "moves_per_second": median,
        "c": {name: statistics.median(t) for name, t in theirs.items()},
        "ratio": {name: median / statistics.median(t) for name, t in theirs.items()},
    }


def exchanges(engine: Any, size: int, steps: int, seed: int) -> int:
    """How many exchanges the tabu searches of a run make, each with its doublings."""
    from systola.model.rng import SEARCH, draw
    from systola.simd.bits import lowest_one

    coins = (draw(seed, SEARCH, step, cell, 0)[0] for step in range(1, steps + 1) for cell in range(size))
    return sum(engine.local_search_steps << min(6, int(lowest_one(coin))) for coin in coins)


def deap_rate(problem: Any, population: int, generations: int) -> float:
    """Evaluations a second of DEAP: eaSimple with PMX and exchange, NumPy for the cost."""
    from deap import algorithms, base, creator, tools

    if not hasattr(creator, "PeerOrder"):
        creator.create("PeerCost", base.Fitness, weights=(-1.0,))
        creator.create("PeerOrder", list, fitness=creator.PeerCost)
    n = space_of(problem).n
    toolbox = base.Toolbox()
    toolbox.register("indices", random.sample, range(n), n)
    toolbox.register("individual", tools.initIterate, creator.PeerOrder, toolbox.indices)
    toolbox.register("population", tools.initRepeat, list, toolbox.individual)
    toolbox.register("evaluate", lambda p: (float((problem.flows * problem.distances[np.ix_(p, p)]).sum()),))
    toolbox.register("mate", tools.cxPartialyMatched)
    toolbox.register("mutate", tools.mutShuffleIndexes, indpb=2 / n)
    toolbox.register("select", tools.selTournament, tournsize=2)
    random.seed(1)
    individuals = toolbox.population(n=population)
    began = time.perf_counter()
    _, log = algorithms.eaSimple(individuals, toolbox, 0.9, 0.1, generations, verbose=False)
    return sum(log.select("nevals")) / (time.perf_counter() - began)


def pymoo_rate(problem: Any, population: int, generations: int) -> float:
    """Evaluations a second of pymoo: its GA with permutation operators, the cost of a population at once."""
    from pymoo.algorithms.soo.nonconvex.ga import GA
    from pymoo.core.problem import Problem
    from pymoo.operators.crossover.ox import OrderCrossover
    from pymoo.operators.mutation.inversion import InversionMutation
    from pymoo.operators.sampling.rnd import PermutationRandomSampling
    from pymoo.optimize import minimize

    n = space_of(problem).n

    class Assignment(Problem):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(n_var=n, n_obj=1, xl=0, xu=n - 1, vtype=int)

        def _evaluate(self, x: Any, out: dict[str, Any], *_: Any, **__: Any) -> None:
            order = x.astype(np.int64)
            out["F"] = (problem.flows * problem.distances[order[:, :, None], order[:, None, :]]).sum(axis=(1, 2))

    algorithm = GA(
        pop_size=population,
        sampling=PermutationRandomSampling(),
        crossover_probability=OrderCrossover(prob=0.9),
        mutation_probability=InversionMutation(prob=0.1),
        eliminate_duplicates=False,
    )
    began = time.perf_counter()
    result = minimize(Assignment(), algorithm, ("n_gen", generations + 1), seed=1, verbose=False)
    return int(result.algorithm.evaluator.n_eval) / (time.perf_counter() - began)


def scipy_quality(problem: Any, seconds: float) -> dict[str, float]:
    """Best of restarts of scipy's methods, and of ours, in the same seconds."""
    from scipy.optimize import quadratic_assignment

    best: dict[str, float] = {}
    for method in ("faq", "2opt"):
        draws = np.random.default_rng(1)
        began = time.perf_counter()
        while time.perf_counter() - began < seconds:
            options: dict[str, Any] = {"rng": draws}
            if method == "faq":
                options["P0"] = "randomized"
            found = quadratic_assignment(problem.flows, problem.distances, method=method, options=options)
            best[method] = min(best.get(method, np.inf), float(found.fun))
    sy.solve(problem, stop=sy.Iterations(1))
    best["systola"] = float(sy.solve(problem, stop=sy.Seconds(seconds)).objective)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--instance", default="qap:uniform-50", help="of the paper's run, such as lipa50b.dat")
    parser.add_argument("--tabu-instance", default="qap:uniform-30", help="such as tai30a.dat")
    parser.add_argument("--generations", type=int, default=5000)
    parser.add_argument("--c-generations", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=20.0, help="for each of scipy's methods and for ours")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    problem, searched = (open_instance(spec).problem for spec in (args.instance, args.tabu_instance))
    found: dict[str, Any] = {
        "cellular": cellular(problem, args.generations, args.c_generations, args.repeats, args.threads),
        "tabu": tabu(searched, 100_000, args.repeats),
        "peers": {"deap": deap_rate(problem, 512, 3), "pymoo": pymoo_rate(problem, 512, 3)},
        "scipy": scipy_quality(searched, args.seconds),
    }
    run = found["cellular"]
    ours = 2 * 2048 * run["generations"] / run["seconds"]
    found["peers"] = {name: {"per_second": rate, "ratio": ours / rate} for name, rate in found["peers"].items()}
    if args.json:
        print(json.dumps(found))
        return
    print(f"{Path(args.instance).name}, the paper's run, {args.threads} threads: {run['seconds']:.2f} s")
    for name, ratio in run["ratio"].items():
        print(f"    C {name:<55} {run['c_seconds'][name]:7.1f} s {ratio:6.1f}x")
    for name, peer in found["peers"].items():
        print(f"    {name:<57} {peer['per_second']:7.0f} /s {peer['ratio']:6.0f}x (ours {ours:,.0f} evaluations/s)")
    moves = found["tabu"]
    print(f"{Path(args.tabu_instance).name}, tabu search, one thread: {moves['moves_per_second'] / 1e6:.0f} M moves/s")
    for name, ratio in moves["ratio"].items():
        print(f"    C {name:<40} {moves['c'][name] / 1e6:7.0f} M {ratio:6.1f}x")
    print(f"{Path(args.tabu_instance).name}, best in {args.seconds:g} s")
    for name, cost in found["scipy"].items():
        print(f"    {name:<20} {cost:12.0f}")


if __name__ == "__main__":
    main()
