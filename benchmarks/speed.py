"""SGS_B against straightforward sequential C, in one run: equal answers first, then ratios of medians.

The C program runs a number of steps from systola's own population at several moments of the run, because its speed,
like ours, depends on how far the population has converged. After them both must hold the same solutions in the same
cells. Then systola's whole run is timed, and each C build from the same moments, interleaved.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time

import numpy as np

import baseline
import systola as sy
from systola.backends.cpu import CpuSession
from systola.backends.session import Setup
from systola.formats.catalog import open_instance
from systola.model.problem import space_of

BUILDS = {
    "-O3": ["-O3"],
    "-O3 -march=native": ["-O3", "-march=native"],
    "-O3, if": ["-O3", "-DBRANCH"],
    "-O3 -march=native, if": ["-O3", "-march=native", "-DBRANCH"],
}
MOMENTS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8)


def open_run(problem: sy.Problem, threads: int) -> tuple[CpuSession, object]:
    design = sy.SGS("B").prepare(problem)
    measures = 2 if isinstance(problem, sy.Knapsack) else 1
    session = CpuSession(Setup(problem, design, measures, np.int64, 1), threads)
    session.compile()
    session.start(0, session.lanes)
    return session, design


def cells_of(problem: sy.Problem, session: CpuSession, design, step: int) -> tuple[np.ndarray, np.ndarray]:
    population = session.population()
    x = problem.encoding.load(space_of(problem), population.x)
    h, v = sy.SGS.rows_of_cells(design, population.slots, step)
    return x[h.ravel()], x[v.ravel()]


def measure(spec: str, c_steps: int, repeats: int, threads: int) -> dict[str, object]:
    problem = open_instance(spec).problem
    if isinstance(problem, sy.Knapsack):
        twin: baseline.Problem = baseline.Knapsack(problem.profits, problem.weights, problem.capacity)
    else:
        twin = baseline.MMDP(space_of(problem).n)
    binaries = {name: baseline.build(flags) for name, flags in BUILDS.items() if "if" not in name or spec[0] == "k"}

    # Equal answers, at every moment.
    session, design = open_run(problem, threads)
    tau, total, step, starts = design.shape[0], design.steps, 0, []
    for moment in MOMENTS:
        ahead = int(moment * total) - step
        session.sweep(step + 1, ahead, 0, session.lanes)
        step += ahead
        horizontal, vertical = cells_of(problem, session, design, step)
        starts.append((horizontal, vertical))
        outcome = baseline.run(binaries["-O3"], twin, tau, c_steps, horizontal, vertical)
        # The C program counts its steps from its own first cell: compare after the same number of steps.
        session.sweep(step + 1, c_steps, 0, session.lanes)
        step += c_steps
        ours = cells_of(problem, session, design, step)
        theirs = (outcome.horizontal, outcome.vertical)
        if not all(np.array_equal(a, b) for a, b in zip(ours, theirs, strict=True)):
            sys.exit(f"{spec}: systola and C disagree after {c_steps} steps from step {step - c_steps}")

    # C's evaluation of the first population is no step; its share is measured with no steps and taken off.
    per_step: dict[str, list[float]] = {name: [] for name in binaries}
    ours_per_step: list[float] = []
    for _ in range(repeats):
        session, _ = open_run(problem, threads)
        began = time.perf_counter()
        session.sweep(1, total, 0, session.lanes)
        ours_per_step.append((time.perf_counter() - began) / total)
        for name, binary in binaries.items():
            pieces = []
            for horizontal, vertical in starts:
                whole = baseline.run(binary, twin, tau, c_steps, horizontal, vertical).seconds
                idle = baseline.run(binary, twin, tau, 0, horizontal, vertical).seconds
                pieces.append((whole - idle) / c_steps)
            # Mean over the run: each moment stands for the stretch up to the next one.
            edges = np.diff([*MOMENTS, 1.0])
            per_step[name].append(float(np.dot(pieces, edges)))
    mine = statistics.median(ours_per_step)
    return {
        "instance": spec,
        "threads": threads,
        "systola_ns_per_cell": 1e9 * mine / design.cells,
        "systola_solutions_per_second": 2 * design.cells / mine,
        "c_ns_per_cell": {k: 1e9 * statistics.median(v) / design.cells for k, v in per_step.items()},
        "ratio": {k: statistics.median(v) / mine for k, v in per_step.items()},
        "spread": [min(ours_per_step) / mine, max(ours_per_step) / mine],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--instances", nargs="+", default=["knapsack:1000-1000", "mmdp:1500"])
    parser.add_argument("--c-steps", type=int, default=6)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    rows = [measure(spec, args.c_steps, args.repeats, args.threads) for spec in args.instances]
    if args.json:
        print(json.dumps(rows))
        return
    for row in rows:
        print(
            f"{row['instance']}, SGS_B, {row['threads']} threads: {row['systola_ns_per_cell']:.1f} ns a cell, "
            f"{row['systola_solutions_per_second'] / 1e6:.1f} M solutions/s; equal answers checked"
        )
        for name in row["ratio"]:
            print(f"    C {name:<24} {row['c_ns_per_cell'][name]:8.0f} ns a cell   {row['ratio'][name]:7.1f}x")


if __name__ == "__main__":
    main()
