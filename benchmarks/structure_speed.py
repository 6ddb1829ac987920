"""Moves a second of searches on declared structure, beside the same search in straightforward C on one thread.

Three searches: one-flip tabu search on a dense quadratic binary problem, iterated 2-opt with lists of candidates, and
one-flip tabu search on satisfiability, where the gains are sums of terms. A step is a flip, or a kick with the descent
that follows, and costs the same differences in C and in systola. Random numbers differ, so what either reports is
costed again from scratch instead of compared. Runs of C and of systola take turns, on one thread.

python benchmarks/structure_speed.py --only qubo tour
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import baseline
import systola as sy
from own_cases import Case
from structure_cases import maxsat, qubo, tsp

FOLDER = Path(__file__).parent / "c"
FLAGS = ["-O3", "-march=native"]


@dataclass(frozen=True)
class Rate:
    """What a run of C found, and how fast it went."""

    best: int
    seconds: float
    steps_per_second: float
    moves_per_second: float


@dataclass(frozen=True)
class Search:
    """A search in C: its file, an instance, how it is handed over, and how many steps make about a second."""

    source: str
    make: Callable[[int], Case]
    numbers: Callable[[Any, int, int], list[Any]]  # of the problem, steps and the seed: what the program reads
    wide: bool  # whether it writes numbers of 64 bits, and not a byte for each decision
    steps: int
    builds: dict[str, list[str]]
    engine: Any  # of systola, that makes the same steps, in one chain


def _numbers_of_qubo(problem: Any, steps: int, seed: int) -> list[Any]:
    return [[len(problem.q), steps, seed], problem.q]


def _numbers_of_tour(problem: Any, steps: int, seed: int) -> list[Any]:
    return [[len(problem.distances), 10, steps, seed], problem.distances]


def _numbers_of_clauses(problem: Any, steps: int, seed: int) -> list[Any]:
    return [[problem.n, *problem.clauses.shape, steps, seed], problem.clauses]


_PLAIN: dict[str, list[str]] = {"C": []}
TABU = sy.IteratedTabu(chains=1)
TWO_OPT = sy.TourSearch(chains=1, candidates=10, longest=0)
SEARCHES = {
    "qubo": Search("qubo_tabu.c", lambda seed: qubo(250, seed), _numbers_of_qubo, False, 5_000_000, _PLAIN, TABU),
    "qubo2500": Search("qubo_tabu.c", lambda seed: qubo(2500, seed), _numbers_of_qubo, False, 500_000, _PLAIN, TABU),
    "tour": Search("two_opt.c", lambda seed: tsp(500, seed), _numbers_of_tour, True, 500_000, _PLAIN, TWO_OPT),
    "tour2000": Search("two_opt.c", lambda seed: tsp(2000, seed), _numbers_of_tour, True, 500_000, _PLAIN, TWO_OPT),
    "maxsat": Search(
        "maxsat_tabu.c",
        lambda seed: maxsat(100, 430, seed),
        _numbers_of_clauses,
        False,
        3_000_000,
        {"C, clauses evaluated": [], "C, true literals counted": ["-DCOUNTS"]},
        TABU,
    ),
}


def run_c(search: Search, flags: list[str], case: Case, steps: int, seed: int) -> Rate:
    """One run of C, once its solution is known to be worth what it reports."""
    binary = baseline.build([*FLAGS, *flags], FOLDER / search.source)
    numbers = [np.asarray(part, np.int64).ravel() for part in search.numbers(case.problem, steps, seed)]
    report, raw = baseline.exchange(binary, numbers, [])
    solution = np.frombuffer(raw, "<i8" if search.wide else np.uint8).tolist()
    value, broken = case.plain(solution)
    if broken or value != report["best"]:
        raise SystemExit(f"{binary.name} reports {report['best']} for a solution that is worth {value}")
    seconds = report["seconds"]
    return Rate(value, seconds, report["steps"] / seconds, report["moves"] / seconds)


def run_systola(search: Search, case: Case, seconds: float, seed: int) -> float:
    """Steps a second: both engines count one as an evaluation."""
    result = sy.solve(case.problem, search.engine, stop=sy.Seconds(seconds), seed=seed, threads=1)
    if case.plain(result.solution.tolist()) != (result.objective, 0):
        raise SystemExit(f"systola reports {result.objective} for a solution of {case.name} that is worth less")
    return result.evaluations / result.seconds


def compare(name: str, seconds: float, repeats: int) -> dict[str, Any]:
    """Medians of runs that take turns."""
    search = SEARCHES[name]
    case = search.make(1)
    mine: list[float] = []
    theirs: dict[str, list[Rate]] = {build: [] for build in search.builds}
    run_systola(search, case, min(1.0, seconds), 0)  # compiles
    for seed in range(1, repeats + 1):
        for build, flags in search.builds.items():
            theirs[build].append(run_c(search, flags, case, search.steps, seed))
        mine.append(run_systola(search, case, seconds, seed))
    found: dict[str, Any] = {
        build: {
            "moves_per_second": statistics.median(rate.moves_per_second for rate in rates),
            "steps_per_second": statistics.median(rate.steps_per_second for rate in rates),
            "seconds": statistics.median(rate.seconds for rate in rates),
            "best": [rate.best for rate in rates],
        }
        for build, rates in theirs.items()
    }
    median = statistics.median(mine)
    ratio = {build: median / found[build]["steps_per_second"] for build in theirs}
    found["systola"] = {"steps_per_second": median, "ratio": ratio}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=2.0, help="of each run of systola")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=list(SEARCHES), default=list(SEARCHES), metavar="NAME")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    found = {name: compare(name, args.seconds, args.repeats) for name in args.only}
    if args.json:
        print(json.dumps(found))
        return
    for name, rows in found.items():
        for who, row in rows.items():
            line = f"{name:<10}{who:<28}{row['steps_per_second'] / 1e3:10.1f} k steps/s"
            if "ratio" in row:
                ratios = ", ".join(f"{ratio:.2f} x {build}" for build, ratio in row["ratio"].items())
                print(f"{line}   {ratios}")
            else:
                print(f"{line}{row['moves_per_second'] / 1e6:10.1f} M moves/s   best {row['best']}")


if __name__ == "__main__":
    main()
