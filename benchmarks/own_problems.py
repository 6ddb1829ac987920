"""How good the default engine is on problems of a user's own, which have `evaluate` and nothing else.

Each run is `sy.solve(problem, stop=sy.Seconds(5), seed=s)`, on two threads; the median of five seeds is set beside
elkai, HiGHS, a long tabu search or the best known value. Every solution is measured anew by a plain Python objective
before it counts. Kernels are compiled by a first, shorter run. Each problem runs in a process of its own.

python benchmarks/own_problems.py --only tsp100 qubo --generator 1 2 3
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import systola as sy
from goals import Outcome, Settings, Target, report, run, solve
from own_cases import MAKERS, Case
from own_references import NoReference, reference

TARGETS = {
    "tsp100": Target(5.0),
    "tsp200": Target(8.0),
    "tsp500": Target(25.0),
    "setcover": Target(10.0),
    "qubo": Target(0.5),
    "maxsat": Target(1.0, " clauses"),
    "colouring": Target(1.0, " clashes"),
    "wt100": Target(0.5),
}
_COMPILING = 300.0  # seconds; a process that is silent for longer than this and ten budgets is given up


def outcomes(name: str, generator: int, seeds: list[int], settings: Settings) -> Iterator[Outcome | str]:
    """All runs of a problem, and sentences about what is missing."""
    cases: list[Case] = MAKERS[name](generator)
    if not cases:
        yield f"{name}: skipped, the instances of the OR-Library are not in ../shared/instances/wt"
    warnings.simplefilter("ignore", sy.InfeasibleWarning)  # an infeasible solution is a row
    for k, case in enumerate(cases):
        try:
            known = reference(case, settings.references)
        except NoReference as missing:
            yield f"{case.name}: skipped, {missing}"
            continue
        if k == 0:
            yield f"{case.name}: {known[1]} {known[0]:,}"
            solve(case, 0, min(1.0, settings.seconds), settings)  # compiles
        for seed in seeds:
            yield run(case, seed, known, TARGETS[name].unit, settings)


if __name__ == "__main__":
    report(__doc__, TARGETS, outcomes, _COMPILING)
