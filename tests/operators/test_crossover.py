"""Crossovers against textbook ones on lists; they keep their parents, and their random choices are fair."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numba import njit
from scipy.stats import chisquare

from systola.model.encodings import Bits, Digits, Order
from systola.model.rng import below, draw
from systola.operators.crossover import cut, cycle, one_point, order, pmx, two_point, uniform
from systola.simd.bits import pack, unpack, words_for

LEVEL = 1e-3 / 1000  # of significance, for the fewer than a thousand tests of chance here

keys = st.tuples(
    st.integers(0, 2**64 - 1).map(np.uint64), st.integers(0, 6), st.integers(0, 2**40), st.integers(0, 2**32 - 1)
)
compiled = {f.__name__: njit(f) for f in (one_point, two_point, uniform, pmx, order, cycle)}


@st.composite
def two_orders(draw_):
    length = draw_(st.integers(1, 40))
    return tuple(draw_(st.permutations(range(length))) for _ in range(2))


@st.composite
def two_lists(draw_, most, values):
    length = draw_(st.integers(1, most))
    return tuple(draw_(st.lists(values, min_size=length, max_size=length)) for _ in range(2))


def guarded(rows, dtype):
    """Parents that cannot be written to."""
    made = [np.array(row, dtype) for row in rows]
    for row in made:
        row.setflags(write=False)
    return made


def cross(operator, space, parents, key):
    """The children of parents given as lists, as lists."""
    n = space.n
    if isinstance(space, Bits):
        one, two = guarded(pack(np.array(parents)), np.uint64)
        child, sibling = np.full((2, words_for(n)), 0x5555555555555555, np.uint64)
    else:
        one, two = guarded(parents, np.int32)
        child, sibling = np.full((2, n), -7, np.int32)
    work = np.full(n, -7, np.int64)
    operator(None, space, one, two, child, sibling, work, key)
    if isinstance(space, Bits):
        children = np.stack([child, sibling])
        assert (children == pack(unpack(children, n))).all()  # nothing past the last decision
        return unpack(children, n).tolist()
    return child.tolist(), sibling.tolist()


def partially_matched(keeper, giver, a, b):
    """Goldberg, Lingle: a value that the part brings in already is replaced by what that part mapped it to."""
    child = list(keeper)
    child[a:b] = giver[a:b]
    for i in [*range(a), *range(b, len(child))]:
        while child[i] in giver[a:b]:
            child[i] = keeper[giver.index(child[i])]
    return child


def ordered(keeper, giver, a, b):
    """Davis: behind the part that stays, and around, the values that are missing, as the other has them from there."""
    n = len(keeper)
    rest = [value for value in giver[b:] + giver[:b] if value not in keeper[a:b]]
    child = list(keeper)
    for k, value in enumerate(rest):
        child[(b + k) % n] = value
    return child


def cycled(keeper, giver, first):
    """Oliver, Smith, Holland: the places that are reached from the first one are exchanged."""
    child, i = list(keeper), first
    while True:
        child[i] = giver[i]
        i = keeper.index(giver[i])
        if i == first:
            return child


def cut_in_one(one, two, point):
    """The child begins as the parent from which it has the larger part."""
    heads_first = one[:point] + two[point:], two[:point] + one[point:]
    return heads_first if 2 * point >= len(one) else heads_first[::-1]


@pytest.mark.parametrize(("crossover", "plain"), [(pmx, partially_matched), (order, ordered)], ids=["pmx", "order"])
@settings(deadline=None)
@given(two_orders(), keys)
def test_between_two_points(crossover, plain, parents, key):
    a, b = cut(len(parents[0]), key)
    children = cross(crossover, Order(len(parents[0])), parents, key)
    assert list(children) == [plain(*pair, a, b) for pair in (parents, parents[::-1])]


@settings(deadline=None)
@given(two_orders(), keys)
def test_cycle(parents, key):
    first = below(draw(*key, 0)[0], len(parents[0]))
    children = cross(cycle, Order(len(parents[0])), parents, key)
    assert list(children) == [cycled(*pair, first) for pair in (parents, parents[::-1])]


@pytest.mark.parametrize("operator", [pmx, order, cycle], ids=lambda f: f.__name__)
@settings(deadline=None)
@given(two_orders(), keys)
def test_children_are_permutations(operator, parents, key):
    """Also compiled, which must give the same."""
    space = Order(len(parents[0]))
    children = cross(operator, space, parents, key)
    for child in children:
        assert sorted(child) == list(range(space.n))
    assert cross(compiled[operator.__name__], space, parents, key) == children


@pytest.mark.parametrize("operator", [pmx, order, cycle], ids=lambda f: f.__name__)
@settings(deadline=None)
@given(st.permutations(range(9)), keys)
def test_children_of_equals_are_equal(operator, parent, key):
    assert cross(operator, Order(9), (parent, parent), key) == (parent, parent)


def test_a_worked_case():
    """A classic one, with the part 3 <= i < 7: Goldberg's chains for PMX, Davis's wheel for OX."""
    one, two = [0, 1, 2, 3, 4, 5, 6, 7, 8], [3, 4, 1, 0, 7, 6, 5, 8, 2]
    key = next((1, 4, step, 0) for step in range(10**4) if cut(9, (1, 4, step, 0)) == (3, 7))
    assert cross(pmx, Order(9), (one, two), key)[0] == [3, 1, 2, 0, 7, 6, 5, 4, 8]
    assert cross(order, Order(9), (one, two), key)[0] == [1, 0, 7, 3, 4, 5, 6, 8, 2]


def spaces_of(parents):
    """Lists of zeros and ones, packed and as integers; or of integers only."""
    n = len(parents[0])
    digits = Digits(n, np.full(n, -5, np.int32), np.full(n, 5, np.int32))
    return (digits, Bits(n)) if set(parents[0]) | set(parents[1]) <= {0, 1} else (digits,)


pairs = st.one_of(two_lists(20, st.integers(-5, 5)), two_lists(150, st.integers(0, 1)))


@settings(deadline=None)
@given(pairs, keys)
@example(([0, 0], [1, 1]), (np.uint64(1), 4, 1, 0))  # both parts as large
def test_one_point(parents, key):
    n = len(parents[0])
    point = 1 + int(below(draw(*key, 0)[0], max(1, n - 1)))
    assert 1 <= point <= max(1, n - 1)
    for space in spaces_of(parents):
        assert tuple(cross(one_point, space, parents, key)) == cut_in_one(*parents, point)
        assert tuple(cross(compiled["one_point"], space, parents, key)) == cut_in_one(*parents, point)


@settings(deadline=None)
@given(pairs, keys)
def test_two_point(parents, key):
    one, two = parents
    a, b = cut(len(one), key)
    wanted = [one[:a] + two[a:b] + one[b:], two[:a] + one[a:b] + two[b:]]
    for space in spaces_of(parents):
        assert list(cross(two_point, space, parents, key)) == wanted
        assert list(cross(compiled["two_point"], space, parents, key)) == wanted


@settings(deadline=None)
@given(pairs, keys)
def test_uniform(parents, key):
    """Each place has both values, one in each child; compiled as interpreted."""
    for space in spaces_of(parents):
        children = list(cross(uniform, space, parents, key))
        for values in zip(*parents, *children, strict=True):
            assert values[:2] in (values[2:], values[:1:-1])
        assert list(cross(compiled["uniform"], space, parents, key)) == children


def every_key(number):
    return ((np.uint64(5), 4, step, step % 7) for step in range(1, number + 1))


@pytest.mark.parametrize("n", [2, 5, 8])
def test_all_pairs_of_points_are_alike(n):
    points = njit(lambda key: cut(n, key))
    counts = dict.fromkeys(combinations(range(n + 1), 2), 0)
    for key in every_key(20_000):
        counts[points(key)] += 1
    assert chisquare(list(counts.values())).pvalue > LEVEL


def test_all_single_points_are_alike():
    n = 9
    space = Digits(n, np.zeros(n, np.int32), np.ones(n, np.int32))
    parents = [0] * n, [1] * n
    counts = dict.fromkeys(range(1, n), 0)
    for key in every_key(8000):
        child = cross(compiled["one_point"], space, parents, key)[0]
        changes = [i for i in range(1, n) if child[i] != child[i - 1]]
        assert len(changes) == 1
        assert sum(child) < n / 2  # more of the first parent
        counts[changes[0]] += 1
    assert chisquare(list(counts.values())).pvalue > LEVEL


def test_all_cycles_are_alike():
    """A cycle is taken as often as it has places."""
    one, two = [0, 1, 2, 3, 4, 5], [1, 0, 3, 4, 2, 5]
    counts = {(0, 1): 0, (2, 3, 4): 0, (): 0}  # places that change; the last one is alike in both
    for key in every_key(6000):
        child, _ = cross(compiled["cycle"], Order(6), (one, two), key)
        counts[tuple(i for i in range(6) if child[i] != one[i])] += 1
    assert chisquare(list(counts.values()), [2000, 3000, 1000]).pvalue > LEVEL


@pytest.mark.parametrize("space", [Bits(70), Digits(70, np.zeros(70, np.int32), np.ones(70, np.int32))])
def test_coins_are_fair(space):
    """At every place, and for each two places independently of each other."""
    tosses = np.array(
        [cross(compiled["uniform"], space, ([0] * 70, [1] * 70), key)[0] for key in every_key(5000)], np.int64
    )
    for place in range(70):
        heads = int(tosses[:, place].sum())
        assert chisquare([heads, 5000 - heads]).pvalue > LEVEL
    agree = [int((tosses[:, i] == tosses[:, (i + d) % 70]).sum()) for i in range(70) for d in (1, 2, 32)]
    for count in agree:
        assert chisquare([count, 5000 - count]).pvalue > LEVEL
