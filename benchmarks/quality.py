"""How often SGS finds the optimum, and the order of the algorithms: the claims of Tables 3 and 5.

Runs are kept in a store and can be interrupted. Prints a table and exits with 1 when a claim fails.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np

from systola.formats.catalog import open_instance
from systola.lab.experiment import do_jobs, plan
from systola.lab.store import Store

SMALL = [f"knapsack:{n}-{r}" for n in (100, 200, 500) for r in (1000, 10000)]
LARGE = ["knapsack:1000-1000", "knapsack:1000-10000"]
MMDP = ["mmdp:300", "mmdp:600"]
FLAVOURS = ["sgs-t", "sgs-e", "sgs-v", "sgs-b"]
OTHERS = ["rs", "sga", "ega"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", default="results/quality.sqlite")
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--large-runs", type=int, default=10)
    parser.add_argument("--other-runs", type=int, default=5, help="of RS, SGA and EGA")
    args = parser.parse_args()
    jobs = plan(SMALL + MMDP, FLAVOURS, args.runs) + plan(LARGE, FLAVOURS, args.large_runs)
    jobs += plan(SMALL + MMDP, OTHERS, args.other_runs)
    Path(args.store).parent.mkdir(parents=True, exist_ok=True)
    with Store(args.store) as store:
        rows = do_jobs(
            jobs, store, "quality", on_done=lambda done, of, job: print(f"\r{done}/{of}", end="", file=sys.stderr)
        )
    errors: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        errors[row["instance"]][row["algorithm"]].append(open_instance(row["instance"]).best_known - row["objective"])
    failed = []
    print(f"\n{'instance':<22}" + "".join(f"{name:>18}" for name in OTHERS + FLAVOURS) + "   (mean error, hits/runs)")
    for name in SMALL + LARGE + MMDP:
        cells = []
        for algorithm in OTHERS + FLAVOURS:
            values = errors[name][algorithm]
            hits = sum(abs(v) < 1e-9 for v in values)
            cells.append(f"{np.mean(values):>10.4g} {hits:>3}/{len(values):<3}" if values else "-")
            must = {"sgs-v", "sgs-b"} | ({"sgs-e"} if name in MMDP else set())
            if algorithm in must and hits < len(values):
                failed.append(f"{algorithm} missed the optimum of {name} {len(values) - hits} times")
        print(f"{name:<22}" + "".join(f"{c:>18}" for c in cells))
        mean = {a: np.mean(v) for a, v in errors[name].items() if v}
        if "rs" in mean and mean["rs"] < max(mean.values()):
            failed.append(f"RS is not the worst on {name}")
    if not np.mean([np.mean(errors[n]["sgs-t"]) for n in SMALL + LARGE]) > 0:
        failed.append("SGS_T is not clearly worse")
    print("\n".join(failed) if failed else "all claims hold")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
