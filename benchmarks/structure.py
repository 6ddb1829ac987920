"""How good the default engine is on problems that declare their structure: `structure = sy.Chain(...)` and the like.

Each run is `sy.solve(problem, stop=sy.Seconds(5), seed=s)`, or with 10 s where TARGETS says so, on two threads; the
median of five seeds is set beside elkai, HiGHS, the tabu search of dwave-samplers, PyVRP, a bound, or the best known
value. Every solution is measured anew by a plain Python objective before it counts. Kernels are compiled by a first,
shorter run. Each problem runs in a process of its own.

python benchmarks/structure.py --only tsp500 routing100 --generator 1 2 3
"""

from __future__ import annotations

import json
import math
import statistics
import time
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass

import systola as sy
from own_problems import Outcome, Settings, excess, measure, options, solve
from own_references import NoReference
from structure_cases import MAKERS, StructureCase
from structure_references import reference
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


_REFERENCE = 1800.0  # seconds; a process that is silent for longer than this and ten budgets is given up
_FEASIBLE = Target(math.inf, seconds=10.0)
TARGETS = {
    "tsp200": Target(2.0),
    "tsp500": Target(3.0),
    "tsp2000": Target(6.0),
    "kroA200": Target(1.0),
    "pcb442": Target(3.0),
    "pr1002": Target(4.0),
    "pr2392": Target(6.0),
    "ftv170": Target(3.0),
    "rbg323": Target(3.0),
    "setcover": Target(1.0),
    "qubo250": Target(0.0, all_seeds=True),
    "qubo2500": Target(0.0, all_seeds=True),
    "maxsat": Target(0, " clauses"),
    "colouring": Target(0, " clashes"),
    "wt100": Target(0.02, met=110),
    "la02": Target(0.0, seconds=10.0),
    "ft10": Target(1.5, seconds=10.0),
    "la21": Target(2.0, seconds=10.0),
    "ta01": Target(3.0, seconds=10.0),
    "routing100": Target(5.0, seconds=10.0),
    "routing150": Target(5.0, seconds=10.0),
    "routing200": Target(5.0, seconds=10.0),
    "facility": Target(1.0),
    "bins": Target(1, " bins"),
    "tsptw": _FEASIBLE,
    "timetable": _FEASIBLE,
}


def outcomes(name: str, generator: int, seeds: list[int], settings: Settings) -> Iterator[Outcome | str]:
    """All runs of a problem, and sentences about what is missing."""
    cases = MAKERS[name](generator)
    if not cases:
        yield f"{name}: skipped, its instances are not in ../shared/instances"
    warnings.simplefilter("ignore", sy.InfeasibleWarning)  # an infeasible solution is a row
    for k, case in enumerate(cases):
        for seed in seeds:
            try:
                value, whose = reference(case, seed, settings.seconds, settings.references)
            except NoReference as missing:
                yield f"{case.name}: skipped, {missing}"
                break
            if k == 0 and seed == seeds[0]:
                yield f"{case.name}: {whose} {value:,}"
                solve(case, 0, min(1.0, settings.seconds), settings)  # compiles
            yield _run(name, case, seed, value, whose, settings)


def _run(name: str, case: StructureCase, seed: int, best: int, whose: str, settings: Settings) -> Outcome:
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
        None if broken else excess(worse, best, TARGETS[name].unit),
        result.seconds / settings.seconds,
        waited / settings.seconds,
        result.algorithm,
    )


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


def summary(name: str, generator: int, found: list[Outcome]) -> Row:
    """One row of many runs."""
    values, met = [], []
    for seed in sorted({o.seed for o in found}):
        shares = [o.excess for o in found if o.seed == seed and o.excess is not None]
        values.append(statistics.mean(shares) if shares else math.inf)
        met.append(sum(share <= 0 for share in shares))
    return Row(
        name,
        generator,
        TARGETS[name],
        values,
        met,
        sum(o.excess is None for o in found),
        max(o.used for o in found),
        max(o.waited for o in found),
        sorted({o.engine for o in found}),
    )


def main() -> None:
    args = options(__doc__, MAKERS, None).parse_args()
    seeds = list(range(1, args.seeds + 1))
    rows, runs = [], []
    for generator in args.generator:
        for name in args.only:
            settings = Settings(args.engine, args.seconds or TARGETS[name].seconds, args.threads, args.references)
            found = measure(name, generator, seeds, settings, args.verbose, outcomes, _REFERENCE)
            runs += [{"problem": name, "generator": generator, "budget": settings.seconds, **asdict(o)} for o in found]
            if found:
                rows.append(summary(name, generator, found))
                print(HEAD, rows[-1].text, sep="\n", flush=True)
    print("", HEAD, *(row.text for row in rows), sep="\n")
    if args.json:
        args.json.write_text(json.dumps({"threads": args.threads, "runs": runs}, indent=1))


if __name__ == "__main__":
    main()
