"""One contract suite over every problem; and it notices each kind of mistake."""

import numpy as np
import pytest

import systola as sy
from conftest import Balance, OneMax, small_knapsack, small_multi_knapsack, small_release
from systola.contracts import check_problem


def customers():
    return sy.CustomerRelease.from_requests(
        np.array([5, 7, 3, 9]), np.array([2, 4, 1, 3, 5]), [[0, 1], [1, 2], [3], [2, 4]], [(0, 3)], 9
    )


PROBLEMS = [
    small_knapsack(1),
    small_knapsack(63),
    small_knapsack(64),
    small_knapsack(150),
    small_release(7),
    small_release(130, weight=0.9),
    sy.MMDP(6),
    sy.MMDP(48),
    sy.MMDP(66),
    sy.MMDP(192),
    sy.MMDP(300),
    OneMax(20),
    Balance(np.random.default_rng(1).random(20)),
    customers(),
    small_multi_knapsack(12, 3),
    small_multi_knapsack(64, 15),
    small_multi_knapsack(150, 20),
    sy.MultiKnapsack([3, 4], [[0, 0]], [0]),
]


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda p: f"{type(p).__name__}-{p.space.n}")
def test_contract(problem):
    check_problem(problem, trials=120, seed=3)


class Tour(sy.Problem):
    encoding = sy.Permutation("n")
    n: int

    def evaluate(self, x):
        return x[0] + 2 * x[-1]


class Dice(sy.Problem):
    encoding = sy.Integers("n", 1, 6)
    sense = sy.MINIMISE
    n: int

    def evaluate(self, x):
        return np.sum(x)


@pytest.mark.parametrize("problem", [Tour(7), Dice(3)])
def test_contract_of_other_encodings(problem):
    check_problem(problem)
    result = sy.solve(problem, sy.RS(size=50), stop=sy.Iterations(40))
    assert problem.encoding.store(problem.space, result.solution[None]).shape == (1, problem.n)
    assert result.objective == {"Tour": 2 * 6 + 5, "Dice": 3}[type(problem).__name__]


class WrongFlip(OneMax):
    def flip(self, x, row, i, tally):
        tally[0] += 1


class WrongRun(sy.Knapsack):
    def flip_run(self, x, row, first, last, tally):
        tally[0] += last - first


class WrongWeigh(sy.MultiKnapsack):
    def weigh(self, tally, measures):
        measures[0] = 7


class WrongRepair(sy.MultiKnapsack):
    def repair(self, x, row, tally, ranking):
        pass


class WrongConstruct(sy.MultiKnapsack):
    def construct(self, space, x, row, tally, seed, step, cell):
        tally[0] += 1


class WrongCross(sy.Knapsack):
    def cross(self, x, scores, marks, h, v, n, plan, cell, trial, row_h, row_v):
        trial[row_h] = scores[h]
        trial[row_v] = scores[v]


class WrongRemark(sy.Knapsack):
    def remark(self, x, marks, h, v, a, b, m, keep_h, keep_v):
        marks[h, 1] += 1


moods = iter(range(10**6))


class Moody(OneMax):
    def evaluate(self, x):
        return next(moods)


class Negative(OneMax):
    def violation(self, measures):
        return -1


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda: WrongFlip(9), "flip"),
        (lambda: WrongRun(np.arange(9), np.arange(9), 5), "flip_run"),
        (lambda: WrongWeigh(np.arange(9), np.ones((2, 9), int), np.array([4, 5])), "weigh"),
        (lambda: WrongRepair(np.arange(9), np.ones((2, 9), int), np.array([4, 5])), "repair"),
        (lambda: WrongConstruct(np.arange(9), np.ones((2, 9), int), np.array([4, 5])), "construct"),
        (lambda: Moody(9), "function"),
        (lambda: Negative(9), "negative"),
        (lambda: WrongCross(np.arange(9), np.arange(9), 5), "cross"),
        (lambda: WrongRemark(np.arange(9), np.arange(9), 5), "remark"),
    ],
)
def test_mistakes_are_found(make, word):
    with pytest.raises(sy.CheckFailed, match=word):
        check_problem(make())
