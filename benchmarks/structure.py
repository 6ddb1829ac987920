"""How good the default engine is on problems that declare their structure: `structure = sy.Chain(...)` and the like.

Each run is `sy.solve(problem, stop=sy.Seconds(5), seed=s)`, or with 10 s where TARGETS says so, on two threads; the
median of five seeds is set beside elkai, HiGHS, the tabu search of dwave-samplers, PyVRP, a bound, or the best known
value, which ends a run that meets it. Every solution is measured anew by a plain Python objective before it counts.
Kernels are compiled by a first, shorter run. Each problem runs in a process of its own.

python benchmarks/structure.py --only tsp500 routing100 --generator 1 2 3
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator

import systola as sy
from goals import Outcome, Settings, Target, report, run, solve
from own_references import NoReference
from structure_cases import MAKERS
from structure_references import reference

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
                known = reference(case, seed, settings.seconds, settings.references)
            except NoReference as missing:
                yield f"{case.name}: skipped, {missing}"
                break
            if k == 0 and seed == seeds[0]:
                yield f"{case.name}: {known[1]} {known[0]:,}"
                solve(case, 0, min(1.0, settings.seconds), settings)  # compiles
            yield run(case, seed, known, TARGETS[name].unit, settings)


if __name__ == "__main__":
    report(__doc__, TARGETS, outcomes, _REFERENCE)
