"""The instances of the gallery's pages: the default engine beside the tool that specialists take.

`structure.py` has goals and instances of its own; here are those of `examples/gallery`, which the pages show. Each run
of ours is `sy.solve(problem, stop=sy.Seconds(...), seed=s)` on two threads, and the median of five seeds counts. PyVRP
and the tabu search of dwave-samplers run twice on one thread, CP-SAT once with two workers, each for as many seconds as
ours. elkai and HiGHS end when they are done, HiGHS with the proven optimum; how long that took is told. Every solution
is measured by `evaluate`. The rows that are printed are those of the pages.

python benchmarks/gallery.py --only tsp job_shop
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

import gallery_models
import systola as sy
from own_references import NoReference, by_elkai
from structure_references import by_dwave, by_pyvrp, cover_by_highs, open_by_highs

sys.path.insert(0, str(Path(__file__).parents[1] / "examples/gallery"))

Finder = Callable[[Any, float], list[int]]


def _cut_by_dwave(problem: Any, seconds: float) -> list[int]:
    rows, columns, values = problem.form()
    q = np.zeros((problem.n, problem.n), np.int64)
    np.add.at(q, (rows, columns), values)
    return by_dwave(SimpleNamespace(problem=SimpleNamespace(q=q)), 1, seconds)


def _case(find: Callable[..., list[int]], *, timed: bool = False) -> Finder:
    """A finder of `structure_references.py`, which takes a case."""

    def by(problem: Any, seconds: float) -> list[int]:
        return find(SimpleNamespace(problem=problem, name="of the page"), *([seconds] if timed else []))

    return by


# Seconds of ours, the tool, and its function.
PAGES: dict[str, tuple[float, str, Finder]] = {
    "tsp": (5, "LKH (elkai), ten runs", _case(by_elkai)),
    "time_windows": (10, "CP-SAT, two workers", gallery_models.time_windows),
    "vehicle_routing": (10, "PyVRP, the better of two runs", _case(by_pyvrp, timed=True)),
    "max_cut": (5, "tabu search of dwave-samplers, the better of two runs", _cut_by_dwave),
    "max_sat": (5, "CP-SAT, two workers", gallery_models.max_sat),
    "graph_colouring": (5, "CP-SAT, two workers", gallery_models.graph_colouring),
    "set_covering": (5, "HiGHS, to the proven optimum", _case(cover_by_highs)),
    "bin_packing": (10, "CP-SAT, two workers", gallery_models.bin_packing),
    "weighted_tardiness": (5, "CP-SAT, two workers", gallery_models.weighted_tardiness),
    "job_shop": (10, "CP-SAT, two workers", gallery_models.job_shop),
    "facility_location": (5, "HiGHS, to the proven optimum", _case(open_by_highs)),
    "timetabling": (10, "CP-SAT, two workers", gallery_models.timetabling),
}


def shown(name: str, problem: Any, measures: Any) -> str:
    """An objective as the page tells it; measures are the objective, and the violation if there are constraints."""
    objective, violation = (*np.atleast_1d(measures).tolist(), 0)[:2]
    if violation:
        return f"infeasible, violation {violation:g}"
    if name == "bin_packing":
        return str(objective // problem.unit)
    return f"{int(problem.weights.sum()) - objective:,}" if name == "max_sat" else f"{objective:,}"


def rows_of(name: str, seeds: int, ours: bool, theirs: bool) -> list[str]:
    """The rows of a page's table."""
    problem = __import__(name).instance()[0]
    seconds, tool, find = PAGES[name]
    rows = []
    if ours:
        sy.solve(problem, stop=sy.Seconds(1), seed=99, threads=2)  # compiles
        runs = [sy.solve(problem, stop=sy.Seconds(seconds), seed=s, threads=2) for s in range(1, seeds + 1)]
        sign = 1 if problem.sense == sy.MINIMISE else -1
        runs.sort(key=lambda run: (run.violation, sign * run.objective))
        middle = shown(name, problem, problem.evaluate(runs[statistics.median_low(range(seeds))].solution))
        ends = [shown(name, problem, problem.evaluate(run.solution)) for run in (runs[0], runs[-1])]
        engines = ", ".join(sorted({run.algorithm for run in runs}))
        rows.append(
            f"| systola (`{engines}`), median of {seeds} seeds | {seconds:g} | {middle} ({' to '.join(ends)}) |"
        )
    if theirs:
        start = time.perf_counter()
        try:
            solution = find(problem, seconds)
            value = shown(name, problem, problem.evaluate(np.array(solution))) if solution else "none found"
        except NoReference as missing:
            return [*rows, f"{name}: {missing}"]
        took = seconds if "HiGHS" not in tool and "elkai" not in tool else time.perf_counter() - start
        rows.append(f"| {tool} | {took:.3g} | {value} |")
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=PAGES, default=list(PAGES), metavar="NAME")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--whose", choices=("both", "ours", "theirs"), default="both")
    args = parser.parse_args()
    warnings.simplefilter("ignore", sy.InfeasibleWarning)  # the row says so
    for name in args.only:
        print(
            f"{name}:",
            *rows_of(name, args.seeds, args.whose != "theirs", args.whose != "ours"),
            "",
            sep="\n",
            flush=True,
        )


if __name__ == "__main__":
    main()
