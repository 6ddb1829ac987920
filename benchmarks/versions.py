"""Two versions of systola side by side: equal answers first, then ratios of interleaved pairs of runs.

    python benchmarks/versions.py BEFORE [AFTER] [--pairs 20] [--threads 1 2] [--only sgs]

BEFORE and AFTER are folders with a checkout each (AFTER: this one). Each gets a process of its own that stays warm;
only one of them works at a time, and they take turns in who comes first. Where memory and code happen to lie makes a
process some per cent faster or slower, so the pairs are shared by several pairs of processes. A ratio is after /
before, the median of the pairs, with the interval of the median that a sign test at 95 % leaves.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from scipy.stats import binom

HERE = Path(__file__).resolve().parent
# Instance, algorithm, iterations: a third of a second to a second each.
WORKLOADS = {
    "sgs knapsack 1000": ("knapsack:1000-1000", "sgs-b", 250),
    "sgs knapsack 100": ("knapsack:100-1000", "sgs-b", 4000),
    "sgs mmdp": ("mmdp:600", "sgs-b", 600),
    "sns mkp": ("mkp:500x10", "sns-exp", 1500),
    "memetic qap": ("qap:grid-5x6", "auto", 20),
    "tabu qap": ("qap:grid-5x6", "tabu", 20000),
    "tabu flowshop": ("flowshop:ta081", "tabu", 250),
    "pls flowshop": ("flowshop:50x20", "pls", 500),
    "auto gap": ("gap:e-20x400", "auto", 4),
    "sga nrp": ("nrp:100-20", "sga", 6000),
    "cellular maxcut": ("own", "cellular", 60),
    "islands gap": ("gap:e-20x400", "islands", 2000),
}


def serve() -> None:
    """Runs what a line of standard input names, and answers with a line."""
    import time
    import warnings

    import numpy as np

    import systola as sy
    from systola.engines.catalog import make_engine
    from systola.formats.catalog import open_instance

    sys.path.append(str(HERE.parent / "examples"))
    from max_cut import MaxCut

    warnings.simplefilter("ignore")

    def own() -> sy.Problem:
        rng = np.random.default_rng(1)
        return MaxCut(200, rng.integers(0, 200, (1000, 2)), rng.integers(1, 10, 1000))

    problems: dict[str, sy.Problem] = {}
    for line in sys.stdin:
        name, threads = json.loads(line)
        spec, algorithm, iterations = WORKLOADS[name]
        if spec not in problems:
            problems[spec] = own() if spec == "own" else open_instance(spec).problem
        problem = problems[spec]
        islands = sy.Islands(demes=4, synchronous=True)
        engine = islands if algorithm == "islands" else make_engine(algorithm, problem, {})
        began = time.perf_counter()
        result = sy.solve(problem, engine, stop=sy.Iterations(iterations), seed=1, threads=threads)
        seconds = time.perf_counter() - began
        front = None if result.front is None else np.asarray(result.front).tolist()
        answer = [np.asarray(result.objective).tolist(), np.asarray(result.solution).tolist(), front]
        print(json.dumps([seconds, answer]), flush=True)


class Version:
    """A process of its own that solves with the systola of one folder."""

    def __init__(self, folder: Path, cache: Path) -> None:
        environment = dict(os.environ, PYTHONPATH=str(folder / "src"), SYSTOLA_CACHE_DIR=str(cache))
        command = [sys.executable, str(Path(__file__).resolve()), "--serve"]
        self._process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def run(self, name: str, threads: int) -> tuple[float, object]:
        self._process.stdin.write(json.dumps([name, threads]) + "\n")
        self._process.stdin.flush()
        seconds, answer = json.loads(self._process.stdout.readline())
        return seconds, answer

    def close(self) -> None:
        self._process.stdin.close()
        self._process.wait()


def interval(values: list[float]) -> tuple[float, float]:
    """Where the median lies at 95 %, by the sign test."""
    ordered = sorted(values)
    outside = max(int(binom.ppf(0.025, len(values), 0.5)), 1)
    return ordered[outside - 1], ordered[len(values) - outside]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before", type=Path, nargs="?")
    parser.add_argument("after", type=Path, nargs="?", default=HERE.parent)
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--processes", type=int, default=5, help="of each version, one after the other")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--only", default="", help="workloads whose name has this")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve()
        return
    if options.before is None:
        parser.error("BEFORE, a folder with a checkout, is missing")
    names = [name for name in WORKLOADS if options.only in name]
    pairs: dict[tuple[str, int], list[tuple[float, float]]] = {
        (name, threads): [] for name in names for threads in options.threads
    }
    others = set()
    with tempfile.TemporaryDirectory() as caches:
        for turn in range(options.processes):
            print(f"processes {turn + 1} of {options.processes}", file=sys.stderr, flush=True)
            before = Version(options.before, Path(caches) / "before")
            after = Version(options.after, Path(caches) / "after")
            for (name, threads), measured in pairs.items():
                if before.run(name, threads)[1] != after.run(name, threads)[1]:
                    others.add((name, threads))
                for k in range(options.pairs // options.processes):
                    if k % 2:
                        late, early = after.run(name, threads)[0], before.run(name, threads)[0]
                    else:
                        early, late = before.run(name, threads)[0], after.run(name, threads)[0]
                    measured.append((early, late))
            before.close()
            after.close()
    slower = []
    print(f"{'':20} {'threads':>7} {'before':>8} {'after':>8} {'after / before':>15}")
    for (name, threads), measured in pairs.items():
        ratios = [late / early for early, late in measured]
        low, high = interval(ratios)
        times = [statistics.median(values) for values in zip(*measured, strict=True)]
        if low > 1.03:
            slower.append(name)
        print(
            f"{name:20} {threads:7} {times[0]:8.3f} {times[1]:8.3f}   {statistics.median(ratios):.3f}"
            f" [{low:.3f}, {high:.3f}]{'  OTHER ANSWER' if (name, threads) in others else ''}",
        )
    if slower:
        raise SystemExit("slower: " + ", ".join(slower))


if __name__ == "__main__":
    main()
