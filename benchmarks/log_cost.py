"""What a log costs: the seconds inside its writer, counted, as a part of the run.

    python benchmarks/log_cost.py [--seconds 20]

SGS on knapsack 1000-1000, islands of steady-state populations on the threads of this process, and a tabu search.
"""

from __future__ import annotations

import argparse
import tempfile
import warnings
from pathlib import Path

import systola as sy
from systola.formats import open_instance
from systola.run.log import RunLog

CASES = {
    "sgs-b, knapsack:1000-1000": ("knapsack:1000-1000", sy.SGS("B")),
    "islands, gap:e-20x400": ("gap:e-20x400", sy.Islands(sy.SteadyState(), demes=4)),
    "tabu, qap:uniform-60": ("qap:uniform-60", sy.Tabu()),
}


def main() -> None:
    """Print a line for each case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0)
    seconds = parser.parse_args().seconds
    warnings.simplefilter("ignore")
    print(f"{'case':<28} {'seconds':>8} {'frames':>7} {'inside':>9} {'share':>8} {'bytes':>9}")
    with tempfile.TemporaryDirectory() as folder:
        for name, (spec, engine) in CASES.items():
            path = Path(folder) / "run.log"
            path.unlink(missing_ok=True)
            log = RunLog(path)
            result = sy.solve(open_instance(spec).problem, engine, stop=sy.Seconds(seconds), log=log)
            share = log.costs.inside / result.seconds
            size = path.stat().st_size
            print(f"{name:<28} {result.seconds:8.2f} {log.frames:7d} {log.costs.inside:7.3f} s {share:8.2%} {size:9,d}")


if __name__ == "__main__":
    main()
