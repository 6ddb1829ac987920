"""Time per solution of SGS_B against the number of decisions, plotted. A tenth of the paper's budget at each size."""

from __future__ import annotations

import argparse
import statistics

import systola as sy
from systola.formats.catalog import open_instance

SIZES = (100, 200, 500, 1000, 2000, 4000)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--plot", default="", help="write a picture to this file (extra plots)")
    args = parser.parse_args()
    curves: dict[str, list[float]] = {"knapsack": [], "mmdp": []}
    for size in SIZES:
        for kind, spec in (("knapsack", f"knapsack:{size}-1000"), ("mmdp", f"mmdp:{size // 6 * 6}")):
            problem = open_instance(spec).problem
            steps = max(sy.SGS().prepare(problem).steps // 10, 20)
            times = []
            for _ in range(args.repeats):
                run = sy.solve(problem, sy.SGS("B"), stop=sy.Iterations(steps), threads=args.threads)
                times.append(1e9 * run.seconds / run.evaluations)
            curves[kind].append(statistics.median(times))
        print(f"l = {size:<5}" + "".join(f"  {k} {v[-1]:7.2f} ns a solution" for k, v in curves.items()), flush=True)
    if args.plot:
        from matplotlib.figure import Figure

        figure = Figure(figsize=(6, 3.5), layout="constrained")
        axes = figure.subplots()
        for kind, values in curves.items():
            axes.plot(SIZES, values, marker="o", label=kind)
        axes.set(xscale="log", xlabel="decisions l", ylabel="ns a solution", ylim=(0, None))
        axes.legend(frameon=False)
        figure.savefig(args.plot, dpi=150)


if __name__ == "__main__":
    main()
