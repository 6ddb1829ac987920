"""Problems as users write them, which several tests solve: nothing but an objective, unless it says otherwise."""

from __future__ import annotations

import numpy as np

import systola as sy


class FirstBit(sy.Problem):
    """Whether the first decision is one."""

    encoding = sy.Binary("n")
    n: int

    def evaluate(self, x):
        return x[0]


class FirstPlace(sy.Problem):
    """What comes first."""

    encoding = sy.Permutation("n")
    n: int

    def evaluate(self, x):
        return x[0]


class Tour(sy.Problem):
    """A permutation with costs of what follows what, by arithmetic."""

    encoding = sy.Permutation("n")
    sense = sy.MINIMISE
    n: int

    def evaluate(self, x):
        total = 0
        for i in range(self.n):
            total += (x[i] * x[i - 1] + 3 * i * x[i]) % 17
        return total


class RoundTrip(sy.Problem):
    """The shortest way round."""

    encoding = sy.Permutation("distances")
    sense = sy.MINIMISE
    distances: np.ndarray

    def evaluate(self, x):
        total = 0
        for k in range(len(x)):
            total += self.distances[x[k - 1], x[k]]
        return total


class Colouring(sy.Problem):
    """How many edges have ends of the same colour; colours are 0..last."""

    encoding = sy.Integers("n", 0, "last")
    sense = sy.MINIMISE
    n: int
    last: int
    edges: np.ndarray

    def evaluate(self, x):
        clashes = 0
        for k in range(len(self.edges)):
            if x[self.edges[k, 0]] == x[self.edges[k, 1]]:
                clashes += 1
        return clashes


class Valley(sy.Problem):
    """Integers of different ranges, each near to a value of its own; some have only one value."""

    encoding = sy.Integers("low", "low", "high")
    sense = sy.MINIMISE
    low: np.ndarray
    high: np.ndarray
    middle: np.ndarray

    def evaluate(self, x):
        total = 0
        for i in range(len(self.middle)):
            total += (x[i] - self.middle[i]) ** 2
        return total


class Line(sy.Problem):
    """Neighbours in the order should be far apart: all moves of a permutation, two measures, no table."""

    encoding = sy.Permutation("n")
    n: int

    def evaluate(self, x):
        apart = 0
        for i in range(self.n - 1):
            apart += abs(x[i] - x[i + 1])
        return apart, x[0]

    def swap(self, x, row, i, j, state):
        for k in range(self.n - 1):
            here = x[row, j if k == i else i if k == j else k]
            there = x[row, j if k + 1 == i else i if k + 1 == j else k + 1]
            state[0] += abs(here - there) - abs(x[row, k] - x[row, k + 1])
        state[1] = x[row, j if i == 0 else i if j == 0 else 0]

    def insert(self, x, row, i, j, state):
        moved = x[row].tolist()
        moved.insert(j, moved.pop(i))
        state[0] = sum(abs(moved[k] - moved[k + 1]) for k in range(self.n - 1))
        state[1] = moved[0]

    def reverse(self, x, row, i, j, state):
        if i > 0:
            state[0] += abs(x[row, i - 1] - x[row, j]) - abs(x[row, i - 1] - x[row, i])
        else:
            state[1] = x[row, j]
        if j < self.n - 1:
            state[0] += abs(x[row, i] - x[row, j + 1]) - abs(x[row, j] - x[row, j + 1])

    capabilities = (sy.Swaps(swap), sy.Insertions(insert), sy.Reversals(reverse))


class OneMax(sy.Problem):
    """Only the objective, no incremental methods: the plain path."""

    encoding = sy.Binary("n")
    n: int

    def evaluate(self, x):
        total = 0
        for i in range(self.n):
            total += x[i]
        return total


def total(values, x):
    """What is chosen is worth together."""
    found = 0
    for i in range(len(values)):
        found += values[i] * x[i]
    return found


def imbalance(weights, x):
    """By how much what is chosen and what is not differ, and a little of what is chosen: floats."""
    left = 0.0
    right = 0.0
    for i in range(len(weights)):
        if x[i]:
            left += weights[i]
        else:
            right += weights[i]
    return abs(left - right) + 0.1 * left


class Balance(sy.Problem):
    """A float objective to minimise."""

    encoding = sy.Binary("weights")
    sense = sy.MINIMISE
    weights: np.ndarray

    def evaluate(self, x):
        return imbalance(self.weights, x)
