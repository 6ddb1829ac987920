"""Data that break a rule, by the rule; and the linear relaxation."""

import numpy as np
import pytest

import systola as sy
from conftest import small_multi_knapsack


@pytest.mark.parametrize(
    ("data", "rule"),
    [
        (([1, 2], [[1, 2, 3]], [4]), "row of 2"),
        (([1, 2], [1, 2], [4]), "row of 2"),
        (([1, 2], [[1, 2]], [4, 5]), "needs a capacity"),
        (([1, -2], [[1, 2]], [4]), "`profit >= 0` must hold, but got -2"),
        (([1, 2], [[1, -2]], [4]), "`weight >= 0` must hold, but got -2"),
        (([1, 2], [[1, 2]], [-4]), "`capacity >= 0` must hold, but got -4"),
        (([1.5, 2], [[1, 2]], [4]), "whole number"),
        (([2**62, 2**62], [[1, 2]], [4]), "each profit must be below"),
        (([1, 2], [[2**62, 2**62]], [4]), "each weight must be below"),
        (([1, 2], [[2**30, 2**30]], [4]), "the sum of all profits, and that of each row of weights, must be below"),
    ],
)
def test_bad_data(data, rule):
    with pytest.raises(sy.InputError, match=rule):
        sy.MultiKnapsack(*data)


def test_no_solution_beats_the_bound():
    problem = small_multi_knapsack(10, 3)
    every = (np.arange(2**10)[:, None] >> np.arange(10)) & 1
    feasible = every[(every @ problem.weights.T <= problem.capacities).all(axis=1)]
    best = (feasible @ problem.profits).max()
    assert best <= problem.bound()
    result = sy.solve(problem, seed=1)
    assert (result.objective, result.bound) == (best, problem.bound())
    assert result.gap == pytest.approx(1 - best / problem.bound())
