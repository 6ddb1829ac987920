"""Weighted clauses that cannot all hold: MaxSat. Solves for five seconds and draws max_sat.png."""

import numpy as np

import systola as sy
from picture import COLOURS, draw


class MaxSat(sy.Problem):
    encoding = sy.Binary("n")
    n: int
    clauses: np.ndarray  # a row each: 3 is the third variable, -3 its negation
    weights: np.ndarray

    def holds(self, x, k):
        for literal in self.clauses[k]:
            if (literal > 0) == (x[abs(literal) - 1] == 1):
                return self.weights[k]
        return 0

    def variables(self):  # of each clause
        return np.abs(self.clauses) - 1

    structure = sy.Terms(holds, variables)


def instance(n=1000, clauses=5000, seed=1):
    random = np.random.default_rng(seed)
    variables = np.array([random.choice(n, 3, replace=False) + 1 for _ in range(clauses)])
    return MaxSat(n, variables * random.choice([-1, 1], (clauses, 3)), random.integers(1, 11, clauses)), None


def paint(axes, total, samples):
    missing = [total - sample.objective for sample in samples]
    axes.step([1000 * sample.seconds for sample in samples], missing, where="post", color=COLOURS[0])
    axes.set(xlabel="Milliseconds", ylabel="Weight of clauses that do not hold", xscale="log", yscale="log")
    axes.grid(True, which="both")


if __name__ == "__main__":
    problem, _ = instance()
    result = sy.solve(problem, stop=sy.Seconds(5), seed=1)
    missing = problem.weights.sum() - result.objective
    print(f"clauses of weight {missing:,} of {problem.weights.sum():,} do not hold (engine: {result.algorithm})")
    title = f"5,000 clauses, 1,000 variables: weight {missing:,} does not hold"
    draw("max_sat.png", title, paint, problem.weights.sum(), result.trace.samples)
