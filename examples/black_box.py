"""An objective that is a program of its own, evaluated by two workers; and the same run by ask and tell."""

import subprocess
import sys

import numpy as np

import systola as sy

SIMULATION = """
import sys
heights = [int(word) for word in sys.argv[1:]]
water = sum(max(0, min(max(heights[:i + 1]), max(heights[i:])) - heights[i]) for i in range(len(heights)))
print(water - 0.1 * sum(heights))
"""


class Basin(sy.Problem):
    """The most water behind walls that are as low as possible, by a program that is told the heights."""

    encoding = sy.Integers("walls", 0, 9)
    sense = sy.MAXIMISE
    walls: int

    def evaluate(self, x):
        told = subprocess.run(
            [sys.executable, "-c", SIMULATION, *map(str, x)], capture_output=True, check=True, text=True
        )
        return float(told.stdout)


def ask_and_tell(problem, stop):
    """As another program might do it, which calls nothing of the problem but `evaluate`."""
    search = sy.ask_and_tell(problem, stop=stop, seed=1)
    while not search.over:
        solutions = search.ask(10)
        search.tell(solutions, [problem.evaluate(x) for x in solutions])
    return search.result()


if __name__ == "__main__":
    basin, stop = Basin(8), sy.Evaluations(120)
    result = sy.solve(basin, workers=2, evaluation_seconds=60, stop=stop, seed=1)
    print(f"{result.objective} of {result.evaluations} solutions: walls of {result.solution.tolist()}")
    other = ask_and_tell(basin, stop)
    print("ask and tell finds the same:", np.array_equal(result.solution, other.solution))
