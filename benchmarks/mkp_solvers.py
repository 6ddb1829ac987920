"""The recommended engine for the multidimensional knapsack: in the paper's budget, and against exact solvers in time.

First one run of the budget of section 5.4 on each instance, and the gap to the best known value where one is given.
Then, with --seconds, systola, OR-Tools CP-SAT and HiGHS one after the other, the same seconds and two threads each;
every solution is checked by systola's plain objective. Compiling is done before.
"""

from __future__ import annotations

import argparse
import csv
import re
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np

import systola as sy
from systola.formats.catalog import open_instance


def best_known(path: str | None) -> dict[str, float]:
    if path is None:
        return {}
    with open(path, newline="") as file:
        return {row["name"].split()[0]: float(row["best_known"]) for row in csv.DictReader(file) if row["best_known"]}


def key_of(spec: str) -> str:
    """mknapcb5-01 of mknapcb5.txt#1."""
    found = re.fullmatch(r"(.*?)(?:\.\w+)?(?:#(\d+))?", Path(spec).name)
    assert found
    return found[1] + (f"-{int(found[2]):02d}" if found[2] else "")


def checked(problem: sy.MultiKnapsack, x: np.ndarray) -> int:
    profit, excess = problem.evaluate(x)
    if excess:
        raise SystemExit("a solver's solution is infeasible")
    return int(profit)


def by_cpsat(problem: sy.MultiKnapsack, seconds: float, threads: int) -> int:
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    x = [model.new_bool_var(f"x{j}") for j in range(len(problem.profits))]
    for row, capacity in zip(problem.weights, problem.capacities, strict=True):
        model.add(cp_model.LinearExpr.weighted_sum(x, row.tolist()) <= int(capacity))
    model.maximize(cp_model.LinearExpr.weighted_sum(x, problem.profits.tolist()))
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = seconds
    solver.parameters.num_workers = threads
    solver.solve(model)
    return checked(problem, np.array([solver.value(v) for v in x]))


def by_highs(problem: sy.MultiKnapsack, seconds: float, threads: int) -> int:
    import highspy

    solver = highspy.Highs()
    for option, value in (("output_flag", False), ("time_limit", seconds), ("threads", threads)):
        solver.setOptionValue(option, value)
    x = [solver.addBinary(obj=-float(p)) for p in problem.profits]
    for row, capacity in zip(problem.weights, problem.capacities, strict=True):
        solver.addConstr(sum(float(w) * v for w, v in zip(row, x, strict=True)) <= float(capacity))
    solver.run()
    return checked(problem, np.round(np.array(solver.getSolution().col_value)).astype(int))


def by_systola(problem: sy.MultiKnapsack, seconds: float, threads: int) -> int:
    return checked(problem, sy.solve(problem, stop=sy.Seconds(seconds), seed=1, threads=threads).solution)


def apart(solver: Callable[..., int], problem: sy.MultiKnapsack, seconds: float, threads: int) -> int:
    """In a process of its own: OR-Tools and highspy bring libraries that clash."""
    data = (problem.profits, problem.weights, problem.capacities)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_solve, solver, data, seconds, threads).result()


def _solve(solver: Callable[..., int], data: tuple[np.ndarray, ...], seconds: float, threads: int) -> int:
    return solver(sy.MultiKnapsack(*data), seconds, threads)


SOLVERS = {"systola": by_systola, "CP-SAT": by_cpsat, "HiGHS": by_highs}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("instances", nargs="*", default=[f"mkp:{n}x{m}@1" for n in (250, 500) for m in (10, 30)])
    parser.add_argument("--best", help="a CSV file with columns name and best_known")
    parser.add_argument("--runs", type=int, default=1, help="seeds of the paper's budget")
    parser.add_argument("--seconds", type=float, help="also against the solvers, for so long each")
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    best = best_known(args.best)
    gaps, no_worse = [], 0
    for spec in args.instances:
        problem = open_instance(spec).problem
        runs = [sy.solve(problem, seed=seed) for seed in range(1, args.runs + 1)]
        mean = float(np.mean([run.objective for run in runs]))
        line = f"{key_of(spec):<14} {mean:>11,.1f} in {np.mean([run.seconds for run in runs]):5.1f} s"
        line += f", {1 - mean / runs[0].bound:7.3%} below the LP bound"
        known = best.get(key_of(spec))
        if known:
            gaps.append(1 - mean / known)
            line += f", {gaps[-1]:7.3%} below the best known {known:,.0f}"
        if args.seconds:
            values = {name: apart(solver, problem, args.seconds, args.threads) for name, solver in SOLVERS.items()}
            no_worse += values["systola"] >= max(values["CP-SAT"], values["HiGHS"])
            line += f"; {args.seconds:g} s each: " + ", ".join(f"{name} {value:,}" for name, value in values.items())
        print(line, flush=True)
    if gaps:
        print(f"mean gap to the best known: {np.mean(gaps):.3%}, largest {max(gaps):.3%}")
    if args.seconds:
        print(f"no worse than both solvers on {no_worse} of {len(args.instances)}")


if __name__ == "__main__":
    main()
