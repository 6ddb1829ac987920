"""Shared by all tests."""

from __future__ import annotations

import dataclasses
import signal
import sys
from pathlib import Path

import numpy as np

import systola as sy

sys.path.insert(0, str(Path(__file__).parent))

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell lets what it starts in the background ignore Ctrl-C, and processes that tests start would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def small_knapsack(n: int = 40, seed: int = 0) -> sy.Knapsack:
    draws = np.random.default_rng(seed)
    weights = draws.integers(1, 50, n)
    return sy.Knapsack(draws.integers(1, 50, n), weights, int(weights.sum() // 3))


def small_release(n: int = 40, seed: int = 0, weight: float = 0.3) -> sy.NextRelease:
    draws = np.random.default_rng(seed)
    return sy.NextRelease(draws.integers(1, 20, n), draws.integers(0, 90, n), weight)


def small_multi_knapsack(n: int = 40, m: int = 3, seed: int = 0, tightness: float = 0.4) -> sy.MultiKnapsack:
    draws = np.random.default_rng(seed)
    weights = draws.integers(0, 50, (m, n))
    return sy.MultiKnapsack(draws.integers(1, 50, n), weights, (tightness * weights.sum(axis=1)).astype(int))


class OneMax(sy.Problem):
    """Only the objective, no incremental methods: the plain path."""

    encoding = sy.Binary("n")
    n: int

    def evaluate(self, x):
        total = 0
        for i in range(self.n):
            total += x[i]
        return total


class Balance(sy.Problem):
    """A float objective to minimise."""

    encoding = sy.Binary("weights")
    sense = sy.MINIMISE
    weights: np.ndarray

    def evaluate(self, x):
        left = 0.0
        right = 0.0
        for i in range(len(self.weights)):
            if x[i]:
                left += self.weights[i]
            else:
                right += self.weights[i]
        return abs(left - right) + 0.1 * left


def binary_problems() -> list[sy.Problem]:
    """One of each kind of binary problem, for contracts that hold for all."""
    draws = np.random.default_rng(5)
    return [small_knapsack(), sy.MMDP(36), small_release(), OneMax(30), Balance(draws.random(33))]


def story(result: sy.Result) -> tuple[object, ...]:
    """All of a result that must not depend on who computed it."""
    return (
        result.objective,
        result.violation,
        result.solution.tolist(),
        result.found_at,
        result.iterations,
        result.evaluations,
        result.stop,
        [(s.step, s.evaluations, s.objective, s.violation) for s in result.trace.samples],
    )


def changed(kind, capability, **functions):
    """What a class of problems lists, with other functions in one capability."""
    return tuple(
        dataclasses.replace(entry, **functions) if isinstance(entry, capability) else entry
        for entry in kind.capabilities
    )
