"""Mutations against obvious ones on lists; solutions stay solutions, and all places are alike."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit
from scipy.stats import binomtest, chisquare

from systola.model.encodings import Bits, Digits, Order
from systola.model.rng import numbers
from systola.operators.mutation import insertion, inversion, random_value, shake, swap, two_places
from systola.simd.bits import pack, unpack

LEVEL = 1e-3 / 100  # of significance, for the fewer than a hundred tests of chance here

keys = st.tuples(
    st.integers(0, 2**64 - 1).map(np.uint64), st.integers(0, 6), st.integers(0, 2**40), st.integers(0, 2**32 - 1)
)
compiled = {f.__name__: njit(f) for f in (random_value, swap, insertion, inversion, shake)}


def mutated(operator, space, x, key):
    """A mutated copy of a list."""
    if isinstance(space, Bits):
        words = pack(np.array([x]))
        operator(None, space, words[0], key)
        assert (words == pack(unpack(words, space.n))).all()  # nothing past the last decision
        return unpack(words, space.n)[0].tolist()
    row = np.array(x, np.int32)
    operator(None, space, row, key)
    return row.tolist()


def swapped(x, i, j):
    y = list(x)
    y[i], y[j] = y[j], y[i]
    return y


def inserted(x, i, j):
    y = list(x)
    y.insert(j, y.pop(i))
    return y


def inverted(x, i, j):
    i, j = min(i, j), max(i, j)
    return [*x[:i], *x[i : j + 1][::-1], *x[j + 1 :]]


TWINS = {swap: swapped, insertion: inserted, inversion: inverted}
each = pytest.mark.parametrize("operator", list(TWINS), ids=lambda f: f.__name__)


@each
@settings(deadline=None)
@given(st.integers(1, 40).flatmap(lambda n: st.permutations(range(n))), keys)
def test_of_permutations(operator, x, key):
    """As on lists, compiled and interpreted, and a permutation again; another one unless there is no other."""
    space = Order(len(x))
    y = mutated(operator, space, x, key)
    assert sorted(y) == sorted(x)
    assert y == TWINS[operator](x, *two_places(len(x), key))
    assert y != x or len(x) == 1
    assert mutated(compiled[operator.__name__], space, x, key) == y


@each
@settings(deadline=None)
@given(st.lists(st.integers(0, 1), min_size=1, max_size=150), keys)
def test_of_bits_and_integers(operator, x, key):
    n = len(x)
    wanted = TWINS[operator](x, *two_places(n, key))
    assert mutated(operator, Bits(n), x, key) == wanted
    assert mutated(operator, Digits(n, np.zeros(n, np.int32), np.ones(n, np.int32)), x, key) == wanted


@st.composite
def bounded(draw):
    """Bounds and a list within them, some of only one value, some as wide as 32 bits."""
    n = draw(st.integers(1, 12))
    ends = [
        sorted(draw(st.tuples(*[st.one_of(st.integers(-3, 3), st.integers(-(2**31), 2**31 - 1))] * 2)))
        for _ in range(n)
    ]
    return np.array(ends, np.int32).T, [draw(st.integers(*pair)) for pair in ends]


@settings(deadline=None)
@given(bounded(), keys)
def test_random_value_of_integers(case, key):
    """One decision changes, to a value within its bounds; none if the one drawn has no other value."""
    (low, high), x = case
    space = Digits(len(x), np.ascontiguousarray(low), np.ascontiguousarray(high))
    y = mutated(random_value, space, x, key)
    changed = [i for i in range(len(x)) if x[i] != y[i]]
    assert len(changed) == 1 or (changed == [] and (low == high).any())
    assert ((low <= y) & (y <= high)).all()
    assert mutated(compiled["random_value"], space, x, key) == y


@each
@settings(deadline=None)
@given(bounded(), keys)
def test_of_integers_with_bounds_that_differ(operator, case, key):
    """As on lists, but a value that is out of the bounds of its new place becomes the nearest one within."""
    (low, high), x = case
    space = Digits(len(x), np.ascontiguousarray(low), np.ascontiguousarray(high))
    wanted = TWINS[operator](x, *two_places(len(x), key))
    assert mutated(operator, space, x, key) == np.clip(wanted, low, high).tolist()


@settings(deadline=None)
@given(bounded(), keys)
def test_a_shaken_solution_keeps_bounds_that_differ(case, key):
    (low, high), x = case
    y = mutated(shake, Digits(len(x), np.ascontiguousarray(low), np.ascontiguousarray(high)), x, key)
    assert ((low <= y) & (y <= high)).all()


@settings(deadline=None)
@given(st.lists(st.integers(0, 1), min_size=1, max_size=150), keys)
def test_random_value_of_bits(x, key):
    y = mutated(random_value, Bits(len(x)), x, key)
    assert sum(a != b for a, b in zip(x, y, strict=True)) == 1
    assert mutated(compiled["random_value"], Bits(len(x)), x, key) == y


def every_key(number):
    return ((np.uint64(3), 5, step, step % 11) for step in range(1, number + 1))


@pytest.mark.parametrize("n", [2, 3, 7])
def test_all_pairs_of_places_are_alike(n):
    places = njit(lambda key: two_places(n, key))
    counts = dict.fromkeys(permutations(range(n), 2), 0)
    for key in every_key(20_000):
        counts[places(key)] += 1
    assert chisquare(list(counts.values())).pvalue > LEVEL


@each
def test_all_results_are_alike(operator):
    """Of each pair of places one result, in proportion to how many pairs lead to it."""
    x = list(range(5))
    expected = {}
    for pair in permutations(range(5), 2):
        result = tuple(TWINS[operator](x, *pair))
        expected[result] = expected.get(result, 0) + 1000
    counts = dict.fromkeys(expected, 0)
    for key in every_key(20_000):
        counts[tuple(mutated(compiled[operator.__name__], Order(5), x, key))] += 1
    assert chisquare(list(counts.values()), list(expected.values())).pvalue > LEVEL


def test_all_places_and_other_values_are_alike():
    space = Digits(4, np.array([0, -2, 5, 0], np.int32), np.array([3, 1, 8, 3], np.int32))
    x = [0, 1, 7, 2]
    counts = {(i, v): 0 for i in range(4) for v in range(space.low[i], space.high[i] + 1) if v != x[i]}
    for key in every_key(12_000):
        y = mutated(compiled["random_value"], space, x, key)
        (place,) = (i for i in range(4) if x[i] != y[i])
        counts[place, y[place]] += 1
    assert len(counts) == 12
    assert chisquare(list(counts.values())).pvalue > LEVEL


def test_all_bits_are_alike():
    counts = np.zeros(70)
    for key in every_key(14_000):
        counts += mutated(compiled["random_value"], Bits(70), [0] * 70, key)
    assert counts.sum() == 14_000
    assert chisquare(counts).pvalue > LEVEL


def shaken(x, key):
    """1, 2, 4, ... exchanges of any two places, as many as the first number has zeros at its end, up to n / 2."""
    n, coins = len(x), int(numbers(key, 0)[0])
    zeros = next((k for k in range(20) if coins >> k & 1), 20)
    y = list(x)
    for k in range(min(2**zeros, max(1, n // 2))):
        i, j = (int(r) * n >> 32 for r in numbers(key, 1 + k)[:2])
        y[i], y[j] = y[j], y[i]
    return y


@settings(deadline=None)
@given(st.integers(1, 40).flatmap(lambda n: st.permutations(range(n))), keys)
def test_shake(x, key):
    assert mutated(shake, Order(len(x)), x, key) == shaken(x, key)
    assert mutated(compiled["shake"], Order(len(x)), x, key) == shaken(x, key)
    assert sorted(shaken(x, key)) == list(range(len(x)))


def test_how_hard_it_shakes():
    """Half of all shakes are single exchanges, a quarter two, ..., none more than n / 2."""
    x = list(range(1000))
    moved = [
        sum(a != b for a, b in zip(x, mutated(shake, Order(1000), x, (7, 5, 1, c)), strict=True)) for c in range(400)
    ]
    assert max(moved) <= 1000
    single = sum(m <= 2 for m in moved)
    assert binomtest(single, 400, 0.5).pvalue > LEVEL
