"""What a second thread gives where steps are short, on a quiet machine and with one core busy: `benchmarks/threads.py`.

Systolic grids of such sizes that a step takes about so long on one thread. Runs on one thread, on two, and on as many
as pay, which is what a run does that is not told how many, take turns; printed are medians and how many times faster
than one thread they are.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import statistics
import time

import numpy as np

import systola as sy
from systola.backends.cpu import CpuSession
from systola.backends.session import Setup
from systola.formats.catalog import open_instance


def open_session(cells: int, threads: int | None) -> CpuSession:
    problem = open_instance("knapsack:100-1000").problem
    design = sy.SGS("B", length=cells, width=1).prepare(problem)
    session = CpuSession(Setup(problem, design, 2, np.int64, 1), threads)
    session.compile()
    session.start(0, session.lanes)
    return session


def pace(session: CpuSession, steps: int) -> float:
    """Seconds of a step, from the same state each time."""
    state = session.save()
    began = time.perf_counter()
    session.sweep(1, steps, 0, session.lanes)
    took = time.perf_counter() - began
    session.restore(state)
    return took / steps


def find_size(wanted: float) -> int:
    cells = 64
    while pace(open_session(cells, 1), 2000) < wanted:
        cells = cells * 5 // 4
    return cells


def spin() -> None:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    while True:
        pass


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--microseconds", type=float, nargs="+", default=[5, 60])
    parser.add_argument("--pairs", type=int, default=20)
    args = parser.parse_args()
    for busy in (False, True):
        load = multiprocessing.get_context("spawn").Process(target=spin, daemon=True)
        if busy:
            load.start()
            time.sleep(1)
        for wanted in args.microseconds:
            cells = find_size(wanted * 1e-6)
            sessions = {threads: open_session(cells, threads) for threads in (1, 2, None)}
            steps = max(1000, int(0.1 / (wanted * 1e-6)))
            seconds: dict[int | None, list[float]] = {threads: [] for threads in sessions}
            for _ in range(args.pairs):
                for threads, session in sessions.items():
                    seconds[threads].append(pace(session, steps))
            one, two, free = (statistics.median(taken) for taken in seconds.values())
            state = "one core busy" if busy else "quiet"
            print(
                f"{state:14} {one * 1e6:7.1f} us a step on one thread, {two * 1e6:7.1f} on two: {one / two:.2f}x;"
                f" {free * 1e6:7.1f} on as many as pay: {one / free:.2f}x"
            )
        if busy:
            load.kill()


if __name__ == "__main__":
    main()
