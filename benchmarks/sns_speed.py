"""SNSexp against straightforward sequential C on the multidimensional knapsack, in one run; all variants; growth.

Both start from systola's first mesh and must hold the same solutions in the same cells after the steps timed. The C
program runs with full evaluation and with partial evaluation as the paper describes, in two builds each.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from itertools import product
from typing import Any

import numpy as np

import sns_baseline
import systola as sy
from systola.backends.cpu import CpuSession
from systola.backends.session import Setup
from systola.formats.catalog import open_instance
from systola.model.problem import space_of

BUILDS = {
    f"{name} {flags}{', ?:' if branch else ''}": [*flags.split(), *define, *branch]
    for name, define in (("full", []), ("partial", ["-DPARTIAL"]))
    for flags in ("-O3", "-O3 -march=native")
    for branch in ([], ["-DBRANCH"])
}


def open_run(problem: sy.Problem, engine: sy.SNS, threads: int) -> tuple[CpuSession, Any]:
    design = engine.prepare(problem)
    session = CpuSession(Setup(problem, design, 2, np.int64, 1), threads)
    session.compile()
    session.start(0, session.lanes)
    return session, design


def cells_of(problem: sy.Problem, session: CpuSession, design: Any, step: int) -> np.ndarray:
    population = session.population()
    (rows,) = sy.SNS.rows_of_cells(design, population.slots, step)
    return problem.encoding.load(space_of(problem), population.x[rows.ravel()])


def against_c(spec: str, steps: int, c_steps: int, repeats: int, threads: int) -> dict[str, Any]:
    problem = open_instance(spec).problem
    twin = sns_baseline.MultiKnapsack(problem.profits, problem.weights, problem.capacities)
    engine = sy.SNS(exponential=True)
    session, design = open_run(problem, engine, threads)
    first = cells_of(problem, session, design, 0)
    session.sweep(1, c_steps, 0, session.lanes)
    ours = cells_of(problem, session, design, c_steps)
    binaries = {name: sns_baseline.build(flags) for name, flags in BUILDS.items()}
    times: dict[str, list[float]] = {name: [] for name in binaries}
    mine: list[float] = []
    for _ in range(repeats):
        session, design = open_run(problem, engine, threads)
        began = time.perf_counter()
        session.sweep(1, steps, 0, session.lanes)
        mine.append((time.perf_counter() - began) / steps / design.cells)
        for name, binary in binaries.items():
            outcome = sns_baseline.run(binary, twin, design.shape[0], c_steps, first, False)
            if not np.array_equal(outcome.solutions, ours):
                sys.exit(f"systola and C ({name}) disagree after {c_steps} steps")
            times[name].append(outcome.seconds / c_steps / design.cells)
    median = statistics.median(mine)
    return {
        "instance": spec,
        "threads": threads,
        "systola_ns": 1e9 * median,
        "c_ns": {name: 1e9 * statistics.median(t) for name, t in times.items()},
        "ratio": {name: statistics.median(t) / median for name, t in times.items()},
    }


def rate(problem: sy.Problem, engine: sy.SNS, threads: int) -> float:
    """Evaluations a second over the first tenth of the paper's budget, at least three steps."""
    session, design = open_run(problem, engine, threads)
    steps = max(3, design.steps // 10)
    began = time.perf_counter()
    session.sweep(1, steps, 0, session.lanes)
    return steps * design.cells / (time.perf_counter() - began)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--instance", default="mkp:500x30", help="such as mknapcb9.txt#1")
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--c-steps", type=int, default=25)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    found = against_c(args.instance, args.steps, args.c_steps, args.repeats, args.threads)
    problem = open_instance(args.instance).problem
    found["per_second"] = {
        engine.name + " repaired" * engine.repair: rate(problem, engine, args.threads)
        for engine in [*(sy.SNS(*o) for o in product((False, True), repeat=3)), sy.SNS(True, True, True, True, True)]
    }
    found["growth"] = {
        f"{n}x{m}": rate(open_instance(f"mkp:{n}x{m}").problem, sy.SNS(exponential=True), args.threads)
        for n, m in ((100, 5), (250, 5), (500, 5), (1000, 5), (2000, 5), (500, 10), (500, 30), (500, 60), (500, 100))
    }
    if args.json:
        print(json.dumps(found))
        return
    print(
        f"{args.instance}, sns-exp, {args.threads} threads: {found['systola_ns']:.1f} ns an evaluation; equal answers"
    )
    for name, ratio in found["ratio"].items():
        print(f"    C {name:<32} {found['c_ns'][name]:8.0f} ns   {ratio:6.1f}x")
    for title in ("per_second", "growth"):
        print({"per_second": "evaluations/s of every variant", "growth": "evaluations/s of sns-exp by size"}[title])
        for name, speed in found[title].items():
            print(f"    {name:<24} {speed / 1e6:8.2f} M")


if __name__ == "__main__":
    main()
