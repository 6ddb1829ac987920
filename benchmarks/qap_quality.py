"""In how many runs the recommended engine meets the best known value of quadratic assignment files, and how soon.

python benchmarks/qap_quality.py ../shared/instances/qap/nug*.dat --seconds 60
"""

from __future__ import annotations

import argparse
import statistics
from pathlib import Path

import systola as sy
from listed import listed
from systola.formats.catalog import open_instance


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "files", nargs="+", help="QAPLIB files with their .sln or a BEST.csv beside them, or qap:grid-5x6 and the like"
    )
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=60.0)
    args = parser.parse_args()
    print(f"{'instance':<20}{'best known':>12}{'hits':>8}{'worst gap':>12}{'mean s':>9}{'most s':>9}")
    for spec in args.files:
        found = open_instance(spec)
        known = found.best_known if found.best_known is not None else listed(spec)
        if known is None:
            raise SystemExit(f"no best known value of {spec}")
        sy.solve(found.problem, stop=sy.Iterations(1))  # compiles
        stop = sy.Seconds(args.seconds) | sy.Target(known)
        results = [sy.solve(found.problem, stop=stop, seed=seed) for seed in range(1, args.runs + 1)]
        hits = sum(r.objective <= known for r in results)
        worst = max(r.objective for r in results) / max(known, 1) - 1 if known else 0.0
        seconds = [r.seconds for r in results]
        print(
            f"{Path(found.name).stem:<20}{known:>12}{hits:>5}/{args.runs}{worst:>12.3%}"
            f"{statistics.mean(seconds):>9.2f}{max(seconds):>9.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
