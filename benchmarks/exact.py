"""Exact where exact is better: Pisinger's classes of knapsacks, and linear problems with HiGHS alone beside.

First every class in all sizes and ranges, three instances of a series each: how many are proven, the longest time, and
the largest gap of those that are not. With --quick one size and range. Then, for each instance that is named, `exact`,
and SciPy's HiGHS with the same seconds; where both are proven their answers must be equal.
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_matrix

import systola as sy
from systola.formats import open_instance
from systola.formats.knapsack_classes import CLASSES
from systola.model.integer_program import FREE, program_of

NUMBERS = (10, 50, 90)


def classes(sizes: list[int], spreads: list[int], seconds: float) -> None:
    sy.solve(open_instance("knapsack:pisinger-1-10-10").problem, "exact")  # compiles
    print("| class | items | range | proven | longest, s | largest gap |\n|---|---|---|---|---|---|")
    for kind in CLASSES:
        for items in sizes:
            for spread in spreads:
                specs = [f"knapsack:pisinger-{kind}-{items}-{spread}@{number}" for number in NUMBERS]
                runs = [sy.solve(open_instance(spec).problem, "exact", stop=sy.Seconds(seconds)) for spec in specs]
                proven = sum(run.proven for run in runs)
                longest, gap = max(run.seconds for run in runs), max(run.gap for run in runs)
                print(
                    f"| {kind} | {items:,} | {spread:,} | {proven} of {len(runs)} | {longest:.2f} | {gap:.2g} |",
                    flush=True,
                )


def beside(spec: str, seconds: float) -> None:
    problem = open_instance(spec).problem
    ours = sy.solve(problem, "exact", stop=sy.Seconds(seconds))
    program = program_of(problem)
    rows, columns, values = program.entries
    matrix = csr_matrix((values.astype(float), (rows, columns)), shape=(len(program.least), len(program.costs)))
    least = np.where(program.least == -FREE, -np.inf, program.least)
    largest = np.where(program.largest == FREE, np.inf, program.largest)
    sign = -1 if program.maximise else 1
    whole = np.arange(len(program.costs)) < len(program.costs) - program.continuous
    found = milp(
        sign * program.costs,
        integrality=whole.astype(int),
        bounds=Bounds(0, 1),
        constraints=[LinearConstraint(matrix, least, largest)],
        options={"time_limit": seconds, "mip_rel_gap": 0.0},
    )
    theirs = None if found.x is None else round(sign * found.fun)
    if ours.proven and found.status == 0 and ours.objective * problem.scale != theirs:
        raise SystemExit(f"{spec}: {ours.objective} is proven here, but HiGHS alone says {theirs}")
    state = "proven" if ours.proven else f"gap {ours.gap:.3%}" if ours.gap is not None else "infeasible"
    other = "proven" if found.status == 0 else "not proven"
    print(f"| {spec} | {ours.objective} | {state} | {ours.seconds:.2f} | {theirs} | {other} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("instances", nargs="*", default=["mkp:40x5", "gap:c-5x40"])
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--quick", action="store_true", help="classes of 1,000 items with a range of 1,000 only")
    options = parser.parse_args()
    if options.quick:
        classes([1000], [1000], 1.0)
    else:
        classes([100, 1000, 10_000, 100_000], [1000, 10_000, 100_000, 1_000_000], options.seconds)
        million = "knapsack:pisinger-1-1000000-1000000@50"
        result = sy.solve(open_instance(million).problem, "exact", stop=sy.Seconds(options.seconds))
        print(f"| 1 | 1,000,000 | 1,000,000 | {result.proven:d} of 1 | {result.seconds:.2f} | {result.gap:.2g} |")
    print("\n| instance | exact | | s | HiGHS alone | |\n|---|---|---|---|---|---|")
    for spec in options.instances:
        beside(spec, options.seconds)


if __name__ == "__main__":  # the solver's process imports this file
    main()
