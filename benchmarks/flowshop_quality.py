"""Quality on flowshops at equal seconds: makespan against best known values; fronts against pymoo's NSGA-II.

Makespan: what systola recommends, on instances ta031 to ta060, or others. Fronts: Pareto local search and NSGA-II
with order crossover and inversion, on the same instances with makespan and tardiness; hypervolumes of each seed.
"""

from __future__ import annotations

import argparse
import csv
import statistics
import time
from pathlib import Path
from typing import Any

import numba
import numpy as np

import systola as sy
from systola.formats.catalog import open_instance
from systola.lab.indicators import hypervolume


def measure_makespans(best: dict[str, int], names: list[str], seconds: float) -> None:
    gaps = []
    for name in names:
        problem = open_instance(f"flowshop:{name}").problem
        result = sy.solve(problem, stop=sy.Stop(seconds=seconds, target=best[name]))
        gaps.append(100 * (result.objective / best[name] - 1))
        print(f"{name}: {result.objective} of {best[name]}, {gaps[-1]:.3f} % above, {result.seconds:.1f} s", flush=True)
    print(f"mean {statistics.fmean(gaps):.3f} % above the best known values, {seconds:g} s each")


@numba.njit(cache=False)
def _evaluate(times: Any, due: Any, orders: Any, out: Any) -> None:
    machines = times.shape[1]
    free = np.zeros(machines, np.int64)
    for r in range(len(orders)):
        free[:] = 0
        late = 0
        now = 0
        for job in orders[r]:
            now = 0
            for k in range(machines):
                now = max(now, free[k]) + times[job, k]
                free[k] = now
            late += max(0, now - due[job])
        out[r, 0], out[r, 1] = now, late


def run_nsga2(problem: sy.Flowshop, seconds: float, seed: int) -> Any:
    """Objectives that NSGA-II ends with; its objective is compiled, too, so that it is not held up by Python."""
    from pymoo.algorithms.moo.nsga2 import NSGA2
    from pymoo.core.problem import Problem
    from pymoo.operators.crossover.ox import OrderCrossover
    from pymoo.operators.mutation.inversion import InversionMutation
    from pymoo.operators.sampling.rnd import PermutationRandomSampling
    from pymoo.optimize import minimize
    from pymoo.termination.max_time import TimeBasedTermination

    class Shop(Problem):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(n_var=len(problem.times), n_obj=2, xl=0, xu=len(problem.times) - 1, vtype=int)

        def _evaluate(self, x: Any, out: Any, *args: Any, **kwargs: Any) -> None:
            found = np.empty((len(x), 2), np.int64)
            _evaluate(problem.times, problem.due, np.ascontiguousarray(x, np.int64), found)
            out["F"] = found

    algorithm = NSGA2(
        pop_size=100,
        sampling=PermutationRandomSampling(),
        crossover=OrderCrossover(),
        mutation=InversionMutation(),
        eliminate_duplicates=True,
    )
    return minimize(Shop(), algorithm, TimeBasedTermination(seconds), seed=seed, verbose=False).F


def compare_fronts(names: list[str], seconds: float, seeds: int) -> None:
    for name in names:
        problem = open_instance(f"flowshop:{name}?objectives=makespan,tardiness").problem
        assert isinstance(problem, sy.Flowshop)
        sy.solve(problem, sy.PLS(), stop=sy.Iterations(1))
        run_nsga2(problem, 0.1, 1)
        wins, ratios = 0, []
        for seed in range(1, seeds + 1):
            began = time.perf_counter()
            mine = np.array(sy.solve(problem, sy.PLS(), stop=sy.Seconds(seconds), seed=seed).front, float)
            took = time.perf_counter() - began
            theirs = np.array(run_nsga2(problem, max(seconds, took), seed), float)
            volumes = hypervolume({"mine": mine, "theirs": theirs})
            wins += volumes["mine"] > volumes["theirs"]
            ratios.append(volumes["mine"] / volumes["theirs"])
        print(f"{name}: larger hypervolume in {wins} of {seeds} seeds, {min(ratios):.2f} to {max(ratios):.2f} times")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--best", type=Path, help="CSV with the columns name and best_known.")
    parser.add_argument("--names", nargs="*", default=[f"ta{k:03d}" for k in range(31, 61)])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--fronts", nargs="*", default=["ta051", "ta081"])
    parser.add_argument("--front-seconds", type=float, default=10.0)
    parser.add_argument("--seeds", type=int, default=10)
    options = parser.parse_args()
    if options.best:
        with options.best.open() as lines:
            best = {row["name"]: int(row["best_known"]) for row in csv.DictReader(lines)}
        measure_makespans(best, options.names, options.seconds)
    if options.fronts:
        compare_fronts(options.fronts, options.front_seconds, options.seeds)


if __name__ == "__main__":
    main()
