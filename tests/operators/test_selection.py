"""Selections: who is chosen how often, and that the best is."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit
from scipy.stats import chisquare

import systola as sy
from systola.model.problem import record_of
from systola.model.rng import below, draw
from systola.operators.selection import at_random, best, proportional, tournament

LEVEL = 1e-3 / 100  # of significance, for the fewer than a hundred tests of chance here
KEYS = 20_000


class Worth(sy.Problem):
    encoding = sy.Binary("n")
    n: int

    def evaluate(self, x):
        return x[0]


class Cost(Worth):
    sense = sy.MINIMISE


class Patient(Worth):
    """Equals count as better, unlike anywhere else."""

    def better(self, new, old):
        return new[0] >= old[0]

    capabilities = (sy.TieBreak(better),)


compiled = {f.__name__: njit(f) for f in (at_random, tournament, best, proportional)}
BASE = 3  # the generation begins here; rows before it belong to another one


def shares(operator, problem, values, places):
    """How often each place is chosen."""
    scores = np.full((BASE + len(values), 1), 10**6, np.asarray(values).dtype)
    scores[BASE:, 0] = values
    places = np.array(places, np.int32)
    counts = dict.fromkeys(places.tolist(), 0)
    select = compiled[operator.__name__]
    for step in range(KEYS):
        row = select(None, record_of(problem), scores, BASE, places, (np.uint64(9), 2, step, step % 5))
        counts[row - BASE] += 1
    return list(counts.values())


def fits(counts, weights):
    """Whether counts are as theory says; what has no weight is never chosen."""
    counts, weights = np.array(counts), np.array(weights, float)
    assert (counts[weights == 0] == 0).all()
    counts, weights = counts[weights > 0], weights[weights > 0]
    return chisquare(counts, KEYS * weights / weights.sum()).pvalue > LEVEL


def test_random_takes_all_alike():
    assert fits(shares(at_random, Worth(2), [5, 1, 1, 9, 0, 2, 7], [6, 0, 3, 1, 4]), [1] * 5)


def test_tournament_takes_the_better_of_two():
    """With the k-th worst of m: all pairs whose better one it is, (2 k - 1) of m * m."""
    values, places = [30, 10, 0, 20, 99, 50], [0, 1, 3, 5]
    assert fits(shares(tournament, Worth(2), values, places), [5, 1, 3, 7])
    assert fits(shares(tournament, Cost(2), values, places), [3, 7, 5, 1])


def test_tournament_of_equals_takes_the_first():
    """All alike; and the problem's own order decides, not plain fitness."""
    assert fits(shares(tournament, Worth(2), [4, 4, 4], [0, 1, 2]), [1, 1, 1])
    scores, places = np.array([[4], [4], [4]]), np.array([2, 0, 1])
    for step in range(100):
        r0, r1, _, _ = draw(1, 2, step, 0, 0)
        args = (scores, 0, places, (1, 2, step, 0))
        assert tournament(None, record_of(Worth(2)), *args) == places[below(r0, 3)]
        assert tournament(None, record_of(Patient(2)), *args) == places[below(r1, 3)]


@pytest.mark.parametrize(
    ("problem", "values", "weights"),
    [
        (Worth(2), [30, 10, 0, 20, 99, 50], [30, 10, 20, 50]),
        (Worth(2), [3.5, 0.25, 0.0, 1.0, 99.0, 2.25], [3.5, 0.25, 1.0, 2.25]),
        (Cost(2), [30, 10, 0, 20, 99, 50], [1 / 30, 1 / 10, 1 / 20, 1 / 50]),
        (Worth(2), [3, 0, 9, 1, 9, 6], [3, 0, 1, 6]),
        (Worth(2), [3, -1, 9, 1, 9, 5], [4, 0, 2, 6]),
        (Cost(2), [3, -1, 9, 1, 9, 5], [2, 6, 4, 0]),
        (Cost(2), [3, 0, 9, 1, 9, 5], [2, 5, 4, 0]),
        (Worth(2), [7, 7, 7, 7, 7, 7], [1, 1, 1, 1]),
        (Cost(2), [7, 7, 7, 7, 7, 7], [1, 1, 1, 1]),
        (Worth(2), [0, 0, 7, 0, 7, 0], [1, 1, 1, 1]),
    ],
)
def test_proportional(problem, values, weights):
    """To fitness where all is positive, to the reciprocal of cost where all that is, else counted from the worst."""
    assert fits(shares(proportional, problem, values, [0, 1, 3, 5]), weights)


@pytest.mark.parametrize(("value", "number"), [(2.2250373366312806, 6), (4.879526040667718, 8), (0.1, 7)])
def test_proportional_of_equal_fractions(value, number):
    """Sums of fractions round: all alike must stay all alike."""
    assert fits(shares(proportional, Worth(2), [value] * number, range(number)), [1] * number)
    assert fits(shares(proportional, Cost(2), [value] * number, range(number)), [1] * number)


finite = st.floats(-1e12, 1e12).filter(lambda value: value == 0 or abs(value) > 1e-6)


@settings(deadline=None)
@given(
    st.lists(st.one_of(st.integers(-5, 5).map(float), finite), min_size=1, max_size=9),
    st.integers(0, 2**40),
    st.booleans(),
)
def test_proportional_never_takes_the_worst(values, step, costs):
    """Unless all are alike, or all are positive so that also the worst has a share; compiled as interpreted."""
    problem = (Cost if costs else Worth)(2)
    scores, places = np.array(values)[:, None], np.arange(len(values))
    key = (np.uint64(2), 2, step, 1)
    row = int(proportional(None, record_of(problem), scores, 0, places, key))
    assert row == compiled["proportional"](None, record_of(problem), scores, 0, places, key)
    if min(values) < max(values) and min(values) <= 0 <= max(values):
        assert values[row] != (max if costs else min)(values)


@settings(deadline=None)
@given(st.lists(st.integers(-3, 3), min_size=4, max_size=12), st.data(), st.integers(0, 99))
def test_best_takes_the_first_of_the_best(values, data, step):
    places = data.draw(st.lists(st.integers(0, len(values) - 1), min_size=1, max_size=4, unique=True))
    scores = np.array([0] * BASE + values)[:, None]
    for problem, top in ((Worth(2), max), (Cost(2), min)):
        wanted = next(p for p in places if values[p] == top(values[q] for q in places))
        args = (None, record_of(problem), scores, BASE, np.array(places, np.int32), (np.uint64(1), 2, step, 0))
        assert best(*args) == compiled["best"](*args) == BASE + wanted
