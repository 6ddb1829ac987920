"""How good the default engine is on problems of a user's own, which have `evaluate` and nothing else.

Each run is `sy.solve(problem, stop=sy.Seconds(5), seed=s)`, on two threads; the median of five seeds is set beside
elkai, HiGHS, a long tabu search or the best known value. Every solution is measured anew by a plain Python objective
before it counts. Kernels are compiled by a first, shorter run. Each problem runs in a process of its own.

python benchmarks/own_problems.py --only tsp100 qubo --generator 1 2 3
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import systola as sy
from apart import Lost, rows_apart
from own_cases import MAKERS, Case
from own_references import NoReference, reference, usual_file
from systola.model.problem import senses_of

# The goals: the median excess, in per cent or in clauses and clashes.
TARGETS = {
    "tsp100": (5.0, "%"),
    "tsp200": (8.0, "%"),
    "tsp500": (25.0, "%"),
    "setcover": (10.0, "%"),
    "qubo": (0.5, "%"),
    "maxsat": (1.0, " clauses"),
    "colouring": (1.0, " clashes"),
    "wt100": (0.5, "%"),
}
_COMPILING = 300.0  # seconds; a process that is silent for longer than this and ten budgets is given up


@dataclass(frozen=True)
class Settings:
    """What all runs have in common."""

    engine: str
    seconds: float
    threads: int
    references: Path


@dataclass(frozen=True)
class Outcome:
    """One run; `value` is None where nothing feasible was found."""

    instance: str
    seed: int
    value: int | None
    reference: int
    whose: str
    excess: float | None  # above the reference; None where that is 0 and was not met, or nothing was found
    used: float  # seconds of the run over the budget
    waited: float  # the same with all that `solve` does before and after
    engine: str


def outcomes(name: str, generator: int, seeds: list[int], settings: Settings) -> Iterator[Outcome | str]:
    """All runs of a problem, and sentences about what is missing."""
    cases: list[Case] = MAKERS[name](generator)
    if not cases:
        yield f"{name}: skipped, the instances of the OR-Library are not in ../shared/instances/wt"
    warnings.simplefilter("ignore", sy.InfeasibleWarning)  # an infeasible solution is a row
    for k, case in enumerate(cases):
        try:
            value, whose = reference(case, settings.references)
        except NoReference as missing:
            yield f"{case.name}: skipped, {missing}"
            continue
        if k == 0:
            yield f"{case.name}: {whose} {value:,}"
            solve(case, 0, min(1.0, settings.seconds), settings)  # compiles
        for seed in seeds:
            yield _run(case, seed, value, whose, settings)


def solve(case: Case, seed: int, seconds: float, settings: Settings) -> sy.Result:
    return sy.solve(case.problem, settings.engine, stop=sy.Seconds(seconds), seed=seed, threads=settings.threads)


def _run(case: Case, seed: int, best: int, whose: str, settings: Settings) -> Outcome:
    start = time.perf_counter()
    result = solve(case, seed, settings.seconds, settings)
    waited = time.perf_counter() - start
    value, broken = case.plain(result.solution.tolist())
    if value != result.objective or (broken == 0) != result.feasible:
        raise SystemExit(
            f"{case.name}, seed {seed}: {result.objective} was reported (feasible: {result.feasible}), but the plain "
            f"objective gives {value} and {broken} broken constraints"
        )
    unit = TARGETS[_kind(case.name)][1]
    return Outcome(
        case.name,
        seed,
        None if broken else value,
        best,
        whose,
        None if broken else excess(senses_of(case.problem)[0] * (best - value), best, unit),
        result.seconds / settings.seconds,
        waited / settings.seconds,
        result.algorithm,
    )


def excess(worse: int, best: int, unit: str) -> float | None:
    """How much worse than the best, in per cent of it or as it is; None if it is a share of nothing."""
    if unit != "%":
        return float(worse)
    if best == 0:
        return 0.0 if worse == 0 else None
    return 100.0 * worse / abs(best)


def _kind(name: str) -> str:
    return name.partition("-")[0]


@dataclass(frozen=True)
class Row:
    """A line of the table: of several instances the mean of each seed, then the median over seeds."""

    problem: str
    generator: int
    target: float
    unit: str
    median: float
    values: list[float]  # the excess of each seed
    missed: int  # runs without a feasible solution, or above a best known value of 0: no share of it can be told
    used: float  # the largest
    waited: float
    engines: list[str]

    @property
    def holds(self) -> bool:
        return self.median <= self.target and not self.missed

    @property
    def text(self) -> str:
        mark = "ok" if self.holds else "MISSED"
        values = " ".join("inf" if math.isinf(v) else f"{v:.2f}".rstrip("0").rstrip(".") for v in self.values)
        missed = f" ({self.missed} runs without a share)" if self.missed else ""
        return (
            f"{self.problem + '@' + str(self.generator):<13}{f'<= {self.target:g}{self.unit}':<14}{self.median:>9.2f}  "
            f"{mark:<8}{self.used:>6.3f}{self.waited:>8.3f}  {'/'.join(self.engines):<14}{values}{missed}"
        )


HEAD = f"{'problem':<13}{'target':<14}{'median':>9}  {'':<8}{'used':>6}{'waited':>8}  {'engine':<14}excess by seed"


def summary(name: str, generator: int, found: list[Outcome]) -> Row:
    """One row of many runs."""
    target, unit = TARGETS[name]
    by_seed = []
    for seed in sorted({o.seed for o in found}):
        shares = [o.excess for o in found if o.seed == seed and o.excess is not None]
        by_seed.append(statistics.mean(shares) if shares else math.inf)
    return Row(
        name,
        generator,
        target,
        unit,
        statistics.median(by_seed),
        by_seed,
        sum(o.excess is None for o in found),
        max(o.used for o in found),
        max(o.waited for o in found),
        sorted({o.engine for o in found}),
    )


def measure(
    name: str,
    generator: int,
    seeds: list[int],
    settings: Settings,
    verbose: bool,
    make: Callable[..., Iterator[Outcome | str]] = outcomes,
    silent: float = _COMPILING,
) -> list[Outcome]:
    """The runs of one problem, in a process of their own."""
    found: list[Outcome] = []
    patience = silent + 10 * settings.seconds
    try:
        for row in rows_apart(make, (name, generator, seeds, settings), patience):
            if isinstance(row, Outcome):
                found.append(row)
            if verbose or not isinstance(row, Outcome):
                print(row, flush=True)
    except Lost as lost:
        print(f"{name}@{generator}: {lost}", flush=True)
    return found


def options(description: str | None, names: Iterable[str], seconds: float | None) -> argparse.ArgumentParser:
    """What the command line takes."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", default="auto", help="a name as on the command line of systola")
    parser.add_argument("--seconds", type=float, default=seconds)
    parser.add_argument("--seeds", type=int, default=5, help="how many")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--generator", type=int, nargs="+", default=[1], help="seeds of the instances")
    parser.add_argument("--only", nargs="+", choices=list(names), default=list(names), metavar="NAME")
    parser.add_argument("--references", type=Path, default=usual_file(), help="where references are kept")
    parser.add_argument("--json", type=Path, help="all runs, to this file")
    parser.add_argument("--verbose", action="store_true", help="a line for each run")
    return parser


def main() -> None:
    args = options(__doc__, MAKERS, 5.0).parse_args()
    settings = Settings(args.engine, args.seconds, args.threads, args.references)
    seeds = list(range(1, args.seeds + 1))
    rows, runs = [], []
    for generator in args.generator:
        for name in args.only:
            found = measure(name, generator, seeds, settings, args.verbose)
            runs += [{"problem": name, "generator": generator, **asdict(o)} for o in found]
            if found:
                rows.append(summary(name, generator, found))
                print(HEAD, rows[-1].text, sep="\n", flush=True)
    print("", HEAD, *(row.text for row in rows), sep="\n")
    if args.json:
        args.json.write_text(json.dumps({"seconds": args.seconds, "threads": args.threads, "runs": runs}, indent=1))


if __name__ == "__main__":
    main()
