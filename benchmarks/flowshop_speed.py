"""Tabu search over all insertions of a flowshop with three objectives, against straightforward C, in one run.

Both walk from the same order of jobs with the same tenure, and must be at the same order, with the same best solution,
after the iterations timed. Then the growth over the sizes of Luong, Melab, Talbi 2011.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numba
import numpy as np

import baseline
import systola as sy
from systola.backends.cpu import CpuSession
from systola.backends.session import Setup
from systola.engines.walk import BEST, CURRENT
from systola.formats.catalog import open_instance
from systola.model.problem import bind

SOURCE = Path(__file__).parent / "c" / "flowshop.c"
SIZES = {
    "20-10": "ta011",
    "20-20": "ta021",
    "50-10": "ta041",
    "50-20": "ta051",
    "100-10": "ta071",
    "100-20": "ta081",
    "200-10": "ta091",
    "200-20": "ta101",
}
TENURE = 20


def open_shop(name: str) -> sy.Flowshop:
    problem = open_instance(f"flowshop:{SIZES[name]}?objectives=makespan,tardiness,tardy").problem
    assert isinstance(problem, sy.Flowshop)
    return problem


def open_run(problem: sy.Flowshop, threads: int, order: Any) -> CpuSession:
    bind(type(problem))
    design = sy.Tabu(tenure=TENURE, tenure_range=0).prepare(problem)
    session = CpuSession(Setup(problem, design, 4, np.int64, 1), threads)
    session.give(order[None].astype(np.int32))
    session.start(0, session.lanes)
    session.sweep(1, 1, 0, session.lanes)
    return session


def run_c(problem: sy.Flowshop, order: Any, iterations: int, flags: list[str]) -> dict[str, Any]:
    binary = baseline.build(flags, SOURCE)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "shop.txt"
        jobs = [" ".join(map(str, [due, *times])) for due, times in zip(problem.due, problem.times, strict=True)]
        shape = " ".join(map(str, problem.times.shape))
        path.write_text("\n".join([shape, *jobs, " ".join(map(str, order))]) + "\n")
        done = subprocess.run([binary, path, str(iterations), str(TENURE)], capture_output=True, text=True, check=True)
    outcome: dict[str, Any] = json.loads(done.stdout)
    return outcome


def verify(problem: sy.Flowshop, order: Any, iterations: int, threads: int) -> None:
    """After some iterations both are at the same order and have seen the same best sum of objectives."""
    wanted = run_c(problem, order, iterations, ["-O3"])
    session = open_run(problem, threads, order)
    session.sweep(2, iterations - 1, 0, session.lanes)
    population = session.population()
    if population.x[CURRENT].tolist() != wanted["order"] or population.scores[BEST, :3].sum() != wanted["best"]:
        raise SystemExit("the walks differ: nothing is timed")


def pace(session: CpuSession, step: int, steps: int) -> float:
    began = time.perf_counter()
    session.sweep(step, steps, 0, session.lanes)
    return (time.perf_counter() - began) / steps


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", choices=SIZES, default="200-20")
    parser.add_argument("--threads", type=int, default=numba.config.NUMBA_NUM_THREADS)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--c-iterations", type=int, default=6)
    parser.add_argument("--iterations", type=int, default=200)
    options = parser.parse_args()

    problem = open_shop(options.size)
    order = np.random.default_rng(1).permutation(len(problem.times))
    verify(problem, order, max(2, options.c_iterations), options.threads)
    session = open_run(problem, options.threads, order)
    alone = open_run(problem, 1, order)
    ours, single, step = [], [], 2
    theirs: dict[str, list[float]] = {"-O3": [], "-O3 -march=native": []}
    for _ in range(options.repeats):
        for flags, seconds in theirs.items():
            outcome = run_c(problem, order, options.c_iterations, flags.split())
            seconds.append(outcome["seconds"] / options.c_iterations)
        ours.append(pace(session, step, options.iterations))
        single.append(pace(alone, step, options.iterations // 2))
        step += options.iterations
    mine = statistics.median(ours)
    print(f"{options.size}, three objectives: {1e3 * mine:.3f} ms an iteration on {options.threads} threads,")
    print(f"  {1e3 * statistics.median(single):.3f} ms on one; equal walks verified")
    for flags, seconds in theirs.items():
        median = statistics.median(seconds)
        print(f"  C {flags}: {1e3 * median:.1f} ms, {median / mine:.1f} times as long")
    print("growth:    ms an iteration   ns a neighbour   neighbours")
    for size in SIZES:
        problem = open_shop(size)
        jobs = len(problem.times)
        session = open_run(problem, options.threads, np.arange(jobs))
        steps = max(20, 400_000 // jobs**2)
        median = statistics.median(pace(session, 2 + steps * k, steps) for k in range(3))
        print(f"{size:>8} {1e3 * median:>16.4f} {1e9 * median / (jobs - 1) ** 2:>16.1f} {(jobs - 1) ** 2:>12,}")


if __name__ == "__main__":
    main()
