"""Merging batches of candidates into an archive of non-dominated vectors, against straightforward C, in one run.

Both get the same members and the same candidates, made as Pareto local search would make them: neighbours of members,
some a little better, most a little worse. Their archives must be equal before a clock starts. Repeats are interleaved.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numba
import numpy as np

import baseline
from baseline import Ints
from systola.pareto.archive import make_room, nondominated, sift

SOURCE = Path(__file__).parent / "c" / "archive.c"
BUILDS = {"-O3": ["-O3"], "-O3 -march=native": ["-O3", "-march=native"]}


def make_front(count: int, objectives: int, draws: np.random.Generator) -> Ints:
    """So many whole vectors none of which dominates another, or somewhat fewer."""
    sides = np.abs(draws.normal(size=(3 * count, objectives))) + 0.05
    sides /= np.linalg.norm(sides, axis=1, keepdims=True)
    points = np.rint(20_000 * (1.3 - sides) + draws.normal(0, 20, sides.shape)).astype(np.int64)
    return points[draws.permutation(np.flatnonzero(nondominated(points)))[:count]]


def make_candidates(members: Ints, count: int, drift: float, draws: np.random.Generator) -> Ints:
    """Neighbours of members: each objective changes by 2 % or so, and gets worse by `drift` on average."""
    parents = members[draws.integers(0, len(members), count)]
    return np.rint(parents * (1 + draws.normal(drift, 0.02, parents.shape))).astype(np.int64)


def run_c(flags: list[str], members: Any, candidates: Any, rounds: int) -> tuple[list[float], Any]:
    """Seconds of each round of the C program, and its archive."""
    kind = "int" if members.dtype == np.int32 else "long"
    binary = baseline.build([*flags, f"-DNUMBER={kind}", f"-DOBJECTIVES={members.shape[1]}"], SOURCE)
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "input.bin", Path(folder) / "output.bin"
        sizes = np.array([len(members), len(candidates)], np.int64)
        source.write_bytes(sizes.tobytes() + members.tobytes() + candidates.tobytes())
        done = subprocess.run([binary, source, target, str(rounds)], capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{binary.name} failed: {done.stderr.strip()}")
        archive = np.fromfile(target, members.dtype).reshape(-1, members.shape[1])
    return json.loads(done.stdout)["seconds"], archive


def compare(members: Any, candidates: Any, threads: int, repeats: int) -> dict[str, Any]:
    """Median seconds of C and of ours, with one thread and with several."""
    m, c, k = len(members), len(candidates), members.shape[1]
    room = make_room(m, c, k, members.dtype)
    stay, enter = np.zeros(m, np.uint8), np.zeros(c, np.uint8)
    ways: dict[str, Callable[..., None]] = {
        "1 thread": sift,
        f"{threads} threads": partial(sift, threads=threads),
    }
    _, theirs = run_c(BUILDS["-O3"], members, candidates, 1)
    for way, run in ways.items():
        stay[:], enter[:] = 9, 9
        run(members, candidates, k, room, stay, enter)
        mine = np.concatenate([members[stay == 1], candidates[enter == 1]])
        if not np.array_equal(mine[np.lexsort(mine.T)], theirs[np.lexsort(theirs.T)]):
            raise SystemExit(f"{way}: the archive is not that of the C program")
    seconds: dict[str, list[float]] = {}
    for _ in range(repeats):
        for flags, options in BUILDS.items():
            seconds.setdefault(f"C {flags}", []).append(statistics.median(run_c(options, members, candidates, 3)[0]))
        for way, run in ways.items():
            for _ in range(5):
                began = time.perf_counter()
                run(members, candidates, k, room, stay, enter)
                seconds.setdefault(way, []).append(time.perf_counter() - began)
    medians = {name: statistics.median(times) for name, times in seconds.items()}
    return {
        "objectives": k,
        "members": m,
        "candidates": c,
        "entered": int(enter.sum()),
        "stayed": int(stay.sum()),
        "seconds": medians,
        "ratio": {way: {flags: medians[f"C {flags}"] / medians[way] for flags in BUILDS} for way in ways},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--objectives", type=int, nargs="+", default=[3])
    parser.add_argument("--members", type=int, nargs="+", default=[10, 2000])
    parser.add_argument("--candidates", type=int, nargs="+", default=[1000, 10_000, 40_000])
    parser.add_argument("--drift", type=float, nargs="+", default=[0.01, 0.03])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--threads", type=int, default=min(2, numba.config.NUMBA_NUM_THREADS))
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    for objectives in args.objectives:
        for m in args.members:
            for c in args.candidates:
                for drift in args.drift:
                    draws = np.random.default_rng(1)
                    members = make_front(m, objectives, draws)
                    candidates = make_candidates(members, c, drift, draws)
                    whole = (vectors.astype(np.int32) for vectors in (members, candidates))
                    found = {"drift": drift, **compare(*whole, args.threads, args.repeats)}
                    print(json.dumps(found) if args.json else describe(found), flush=True)


def describe(found: dict[str, Any]) -> str:
    head = (
        f"{found['objectives']} objectives, {found['members']:,} members, {found['candidates']:,} candidates, "
        f"drift {found['drift']:g}: {found['entered']:,} enter, {found['stayed']:,} stay"
    )
    lines = [head] + [f"    {name:<24} {seconds * 1e3:10.3f} ms" for name, seconds in found["seconds"].items()]
    for way, ratios in found["ratio"].items():
        lines.append(f"    {way}: " + ", ".join(f"{ratio:.1f}x of C {flags}" for flags, ratio in ratios.items()))
    return "\n".join(lines)


if __name__ == "__main__":
    main()
