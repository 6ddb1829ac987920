"""How near the recommended engine comes to the best known cost of generalized assignment files, and to the bound.

python benchmarks/gap_quality.py ../shared/instances/gap/e*00 --seconds 60
"""

from __future__ import annotations

import argparse
import statistics
from pathlib import Path

import systola as sy
from listed import listed
from systola.formats.catalog import open_instance
from systola.model.problem import senses_of


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", help="files, problems of files as gap1.txt#2, or gap:e-20x400 and the like")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--threads", type=int)
    args = parser.parse_args()
    heads = ("best", "worst", "worst gap", "to bound", "s")
    print(f"{'instance':<16}{'best known':>12}{'bound':>10}" + "".join(f"{head:>11}" for head in heads))
    for spec in args.files:
        found = open_instance(spec)
        known = found.best_known if found.best_known is not None else listed(spec)
        sy.solve(found.problem, stop=sy.Iterations(1), threads=args.threads)  # compiles
        stop = sy.Seconds(args.seconds) if known is None else sy.Seconds(args.seconds) | sy.Target(known)
        results = [
            sy.solve(found.problem, stop=stop, seed=seed, threads=args.threads) for seed in range(1, args.runs + 1)
        ]
        bound, sign = found.problem.bound(), -senses_of(found.problem)[0]
        costs = sorted((r.objective for r in results if r.feasible), key=lambda c: sign * c)
        row = f"{Path(found.name).stem:<16}{known if known is not None else '-':>12}{bound:>10}"
        if len(costs) < len(results):
            print(f"{row}   infeasible in {len(results) - len(costs)} of {len(results)} runs", flush=True)
            continue
        gap = "-" if known is None else f"{sign * (costs[-1] - known) / abs(known):.4%}"
        print(
            f"{row}{costs[0]:>11}{costs[-1]:>11}{gap:>11}{sign * (costs[-1] / bound - 1):>11.4%}"
            f"{statistics.mean(r.seconds for r in results):>11.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
