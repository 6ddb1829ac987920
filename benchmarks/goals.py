"""What `own_problems.py` and `structure.py` share: goals, runs, the table of them, and the command line."""

from __future__ import annotations

import argparse
import json
import math
import statistics
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import systola as sy
from apart import Lost, rows_apart
from own_cases import Case
from own_references import usual_file
from systola.model.problem import senses_of


@dataclass(frozen=True)
class Target:
    """A goal: the median excess of the seeds, in per cent or counted; that of every seed where `all_seeds`."""

    excess: float
    unit: str = "%"
    seconds: float = 5.0
    all_seeds: bool = False
    met: int = 0  # how many instances must be solved as well as the reference

    @property
    def text(self) -> str:
        goal = "feasible" if math.isinf(self.excess) else f"<= {self.excess:g}{self.unit}"
        return goal + (" always" if self.all_seeds else "") + (f", {self.met} met" if self.met else "")


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


Outcomes = Callable[[str, int, list[int], Settings], Iterator[Outcome | str]]
"""Of a problem, a generator and seeds: all runs, and sentences about what is missing."""


def solve(case: Case, seed: int, seconds: float, settings: Settings) -> sy.Result:
    """A run that ends early where it meets a best known value."""
    stop = sy.Stop(seconds=seconds, target=case.known if case.whose == "best known" else None)
    return sy.solve(case.problem, settings.engine, stop=stop, seed=seed, threads=settings.threads)


def run(case: Case, seed: int, reference: tuple[int, str], unit: str, settings: Settings) -> Outcome:
    """One run, judged by the plain objective; `reference` is the value to compare with, and whose it is."""
    best, whose = reference
    start = time.perf_counter()
    result = solve(case, seed, settings.seconds, settings)
    waited = time.perf_counter() - start
    objective, broken = case.plain(result.solution.tolist())
    if objective != result.objective or (broken == 0) != result.feasible:
        raise SystemExit(
            f"{case.name}, seed {seed}: {result.objective} was reported (feasible: {result.feasible}), but the plain "
            f"objective gives {objective} and {broken} broken constraints"
        )
    value = objective // case.unit
    worse = senses_of(case.problem)[0] * (best - value)
    return Outcome(
        case.name,
        seed,
        None if broken else value,
        best,
        whose,
        None if broken else excess(worse, best, unit),
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


@dataclass(frozen=True)
class Row:
    """A line of the table: of several instances the mean of each seed, then the median over seeds."""

    problem: str
    generator: int
    target: Target
    values: list[float]  # the excess of each seed
    met: list[int]  # instances of each seed that are as good as the reference
    missed: int  # runs without a feasible solution, or above a best known value of 0: no share of it can be told
    used: float  # the largest
    waited: float
    engines: list[str]

    @property
    def judged(self) -> float:
        return max(self.values) if self.target.all_seeds else statistics.median(self.values)

    @property
    def holds(self) -> bool:
        enough = statistics.median(self.met) >= self.target.met
        return self.judged <= self.target.excess and enough and not self.missed

    @property
    def text(self) -> str:
        mark = "ok" if self.holds else "MISSED"
        values = " ".join("inf" if math.isinf(v) else f"{v:.3f}".rstrip("0").rstrip(".") for v in self.values)
        met = f" ({' '.join(map(str, self.met))} met)" if self.target.met else ""
        missed = f" ({self.missed} runs without a share)" if self.missed else ""
        return (
            f"{self.problem + '@' + str(self.generator):<14}{self.target.text:<18}{self.judged:>8.2f}  {mark:<8}"
            f"{self.used:>6.3f}{self.waited:>8.3f}  {'/'.join(self.engines):<14}{values}{met}{missed}"
        )


HEAD = f"{'problem':<14}{'target':<18}{'found':>8}  {'':<8}{'used':>6}{'waited':>8}  {'engine':<14}excess by seed"


def summary(name: str, generator: int, target: Target, found: list[Outcome]) -> Row:
    """One row of many runs."""
    values, met = [], []
    for seed in sorted({o.seed for o in found}):
        shares = [o.excess for o in found if o.seed == seed and o.excess is not None]
        values.append(statistics.mean(shares) if shares else math.inf)
        met.append(sum(share <= 0 for share in shares))
    return Row(
        name,
        generator,
        target,
        values,
        met,
        sum(o.excess is None for o in found),
        max(o.used for o in found),
        max(o.waited for o in found),
        sorted({o.engine for o in found}),
    )


def _measure(
    make: Outcomes, arguments: tuple[str, int, list[int], Settings], silent: float, verbose: bool
) -> list[Outcome]:
    """The runs of one problem, in a process of their own."""
    name, generator, _, settings = arguments
    found: list[Outcome] = []
    patience = silent + 10 * settings.seconds
    try:
        for row in rows_apart(make, arguments, patience):
            if isinstance(row, Outcome):
                found.append(row)
            if verbose or not isinstance(row, Outcome):
                print(row, flush=True)
    except Lost as lost:
        print(f"{name}@{generator}: {lost}", flush=True)
    return found


def _options(description: str | None, names: Iterable[str]) -> argparse.ArgumentParser:
    """What the command line takes."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", default="auto", help="a name as on the command line of systola")
    parser.add_argument("--seconds", type=float, help="of each run; by default those of its goal")
    parser.add_argument("--seeds", type=int, default=5, help="how many")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--generator", type=int, nargs="+", default=[1], help="seeds of the instances")
    parser.add_argument("--only", nargs="+", choices=list(names), default=list(names), metavar="NAME")
    parser.add_argument("--references", type=Path, default=usual_file(), help="where references are kept")
    parser.add_argument("--json", type=Path, help="all runs, to this file")
    parser.add_argument("--verbose", action="store_true", help="a line for each run")
    return parser


def report(description: str | None, targets: dict[str, Target], make: Outcomes, silent: float) -> None:
    """All that the command line asks for, as a table; a process that is silent for so many seconds is given up."""
    args = _options(description, targets).parse_args()
    seeds = list(range(1, args.seeds + 1))
    rows, runs = [], []
    for generator in args.generator:
        for name in args.only:
            settings = Settings(args.engine, args.seconds or targets[name].seconds, args.threads, args.references)
            found = _measure(make, (name, generator, seeds, settings), silent, args.verbose)
            runs += [{"problem": name, "generator": generator, "budget": settings.seconds, **asdict(o)} for o in found]
            if found:
                rows.append(summary(name, generator, targets[name], found))
                print(HEAD, rows[-1].text, sep="\n", flush=True)
    print("", HEAD, *(row.text for row in rows), sep="\n")
    if args.json:
        args.json.write_text(json.dumps({"threads": args.threads, "runs": runs}, indent=1))
