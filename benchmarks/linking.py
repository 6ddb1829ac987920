"""What calls by address cost: kernels shared by problems with nothing but methods, beside kernels of their own.

    python benchmarks/linking.py [--repeats 5]

Runs take turns, on one thread, with a counted budget; all must find the same. Least times, and their ratio.
"""

from __future__ import annotations

import argparse
import warnings
from unittest.mock import patch

import systola as sy
from own_cases import MAKERS

EVALUATIONS = {"tsp200": 1_000_000, "setcover": 100_000, "qubo": 30_000, "maxsat": 400_000, "colouring": 400_000}
ENGINES = {"sa": sy.SimulatedAnnealing(), "tabu": sy.Tabu(ties="random")}


def run(problem: sy.Problem, engine: str, evaluations: int) -> tuple[float, float]:
    """Seconds, and what was found."""
    result = sy.solve(problem, ENGINES[engine], stop=sy.Evaluations(evaluations), threads=1, callback=lambda _: False)
    return result.seconds, result.objective


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    warnings.simplefilter("ignore", sy.InfeasibleWarning)
    print(f"{'':12}{'':6}{'shared':>8}{'own':>8}{'shared / own':>14}")
    for name, evaluations in EVALUATIONS.items():
        problem = MAKERS[name](1)[0].problem
        for engine in ENGINES:
            shared, own = [], []
            for _ in range(options.repeats + 1):  # the first of each compiles
                shared.append(run(problem, engine, evaluations))
                with patch("systola.assembly.link", lambda *_: None):
                    own.append(run(problem, engine, evaluations))
            if len({found for _, found in shared + own}) > 1:
                raise SystemExit(f"{name}, {engine}: not all runs found the same")
            one, other = (min(seconds for seconds, _ in runs[1:]) for runs in (shared, own))
            print(f"{name:12}{engine:6}{one:8.3f}{other:8.3f}{one / other:14.2f}", flush=True)


if __name__ == "__main__":
    main()
