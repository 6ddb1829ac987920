"""Problems with a table of gains: bits and integers, parts of all kinds that have one, alone and together."""

import numpy as np

import systola as sy
from model.declared_problems import Colouring, MaxSat, Qubo


class Sum(sy.Problem):
    """A linear sum and nothing else."""

    encoding = sy.Binary("costs")
    sense = sy.MINIMISE
    costs: np.ndarray
    structure = sy.Linear("costs", weight=3)


class Mixed(sy.Problem):
    """Terms, a quadratic form and a linear sum over the same bits."""

    encoding = sy.Binary("n")
    n: int
    triples: np.ndarray
    q: np.ndarray
    costs: np.ndarray

    def odd(self, x, k):
        total = 0
        for i in self.triples[k]:
            total += x[i]
        return k * (total % 2)

    structure = [sy.Terms(odd, "triples", weight=-2), sy.Quadratic("q"), sy.Linear("costs", weight=5)]


class HalfMixed(Mixed):
    """The same with weights that are no whole numbers."""

    sense = sy.MINIMISE
    structure = [sy.Terms(Mixed.odd, "triples", weight=0.3), sy.Quadratic("q", weight=-0.7), sy.Linear("costs")]


class Levels(sy.Problem):
    """Integers with bounds that differ, and terms that read one to three of them."""

    encoding = sy.Integers("n", "low", "high")
    n: int
    low: np.ndarray
    high: np.ndarray
    triples: np.ndarray
    factors: np.ndarray

    def apart(self, x, k):
        a, b, c = self.triples[k]
        return self.factors[k] * abs(x[a] - 2 * x[b] + x[c])

    def least(self, x, k):
        return (x[k] - self.low[k]) * (k % 3)

    def alone(self):
        return [[k] for k in range(self.n)]

    structure = [sy.Terms(apart, "triples"), sy.Terms(least, alone, weight=-2)]


class LeastLevels(Levels):
    """The same, as small as possible."""

    sense = sy.MINIMISE


def gain_problems(seed, n=9):
    """One of each kind."""
    draws = np.random.default_rng(seed)
    triples = draws.integers(0, n, (2 * n, 3))
    q, costs = draws.integers(-20, 21, (n, n)), draws.integers(-9, 10, n)
    sparse = np.where(draws.random((n, n)) < 0.1, q, 0)
    low = draws.integers(-3, 3, n)
    bounds = low, low + draws.integers(0, 4, n)
    scale = draws.integers(-5, 6, 2 * n)
    edges = np.array([draws.choice(n, 2, replace=False) for _ in range(3 * n)])
    return {
        "terms over bits": MaxSat(n, draws.integers(-n, n + 1, (3 * n, 3))),
        "a dense quadratic form": Qubo(q),
        "a sparse quadratic form": Qubo(sparse),
        "a linear sum": Sum(costs),
        "several parts": Mixed(n, triples, q, costs),
        "terms over integers": Colouring(n, 2, edges),
        "bounds that differ": Levels(n, *bounds, triples, scale),
        "bounds that differ, minimised": LeastLevels(n, *bounds, triples, scale),
        "a quadratic form of floats": Qubo(q / 7.0),
        "a sparse form of floats": Qubo(sparse / 7.0),
        "weights of floats": HalfMixed(n, triples, q, costs),
        "floats over integers": Levels(n, *bounds, triples, scale / 7.0),
    }
