"""A problem of your own in ten lines: the largest cut of a graph."""

import numpy as np

import systola as sy


class MaxCut(sy.Problem):
    encoding = sy.Binary("n")
    n: int
    edges: np.ndarray
    weights: np.ndarray

    def evaluate(self, x):
        total = 0
        for k in range(len(self.weights)):
            if x[self.edges[k, 0]] != x[self.edges[k, 1]]:
                total += self.weights[k]
        return total


if __name__ == "__main__":
    draws = np.random.default_rng(1)
    pairs = np.array([(i, j) for i in range(60) for j in range(i) if draws.random() < 0.2])
    result = sy.solve(MaxCut(60, pairs, draws.integers(1, 10, len(pairs))), seed=1)
    print(f"cut {result.objective} after {result.evaluations:,} solutions in {result.seconds:.2f} s")
