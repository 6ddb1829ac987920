"""Encodings: what goes in comes out, what is no solution is refused, and draws are valid and uniform."""

from math import factorial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit
from scipy.stats import chisquare

import systola as sy
from systola.model.encodings import Bits, Order, decode, sample
from systola.model.rng import START, STEP
from systola.simd.bits import words_for


def draw_solutions(encoding, space, seed, count):
    """Random solutions as plain decisions, as a run with this seed draws them."""
    x = encoding.empty(space, count)
    for row in range(count):
        sample(space, x, row, seed, START, 0, row)
    return encoding.load(space, x)


class Holder:
    """Stands for a problem: fields by name."""

    def __init__(self, **fields):
        vars(self).update(fields)


BINARY, PERMUTATION = sy.Binary("n"), sy.Permutation("n")


def digits(low, high):
    encoding = sy.Integers("n", "low", "high")
    return encoding, encoding.space(Holder(n=len(low), low=np.array(low), high=np.array(high)))


SPACES = [
    (BINARY, Bits(1)),
    (BINARY, Bits(64)),
    (BINARY, Bits(130)),
    digits([-3, 0, 7], [3, 0, 8]),
    (PERMUTATION, Order(1)),
    (PERMUTATION, Order(9)),
]
EACH_SPACE = pytest.mark.parametrize(("encoding", "space"), SPACES, ids=lambda value: repr(value)[:24])


# Store and load


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 200), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_bits_there_and_back(n, rows, seed):
    solutions = np.random.default_rng(seed).integers(0, 2, (rows, n))
    stored = BINARY.store(Bits(n), solutions)
    assert stored.shape == (rows, words_for(n))
    assert stored.dtype == np.uint64
    assert BINARY.load(Bits(n), stored).tolist() == solutions.tolist()
    assert [sum(int(word).bit_count() for word in row) for row in stored] == solutions.sum(axis=1).tolist()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(-(2**31), 2**31 - 1), st.integers(0, 1000)), min_size=1, max_size=9), st.data())
def test_integers_there_and_back(bounds, data):
    low = [a for a, _ in bounds]
    high = [min(a + width, 2**31 - 1) for a, width in bounds]
    encoding, space = digits(low, high)
    solution = [data.draw(st.integers(a, b)) for a, b in zip(low, high, strict=True)]
    stored = encoding.store(space, np.array(solution))
    assert stored.dtype == np.int32
    assert encoding.load(space, stored).tolist() == [solution]


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 60).flatmap(lambda n: st.permutations(range(n))))
def test_permutations_there_and_back(order):
    space = Order(len(order))
    assert PERMUTATION.load(space, PERMUTATION.store(space, np.array(order))).tolist() == [order]


@EACH_SPACE
def test_loading_copies(encoding, space):
    stored = encoding.store(space, draw_solutions(encoding, space, 1, 3))
    loaded = encoding.load(space, stored)
    before = loaded.copy()
    stored[...] = 0
    assert np.array_equal(loaded, before)


@EACH_SPACE
def test_shapes_agree(encoding, space):
    solutions = draw_solutions(encoding, space, 1, 3)
    assert encoding.store(space, solutions).shape == encoding.empty(space, 3).shape
    assert encoding.store(space, solutions).dtype == encoding.empty(space, 3).dtype
    assert encoding.load(space, encoding.empty(space, 0)).shape == (0, space.n)
    blank = encoding.blank(space, 3)
    assert blank.shape == solutions.shape
    assert blank.dtype == solutions.dtype


@EACH_SPACE
def test_what_kernels_reveal_is_what_is_loaded(encoding, space):
    stored = encoding.store(space, draw_solutions(encoding, space, 5, 4))
    decisions = encoding.blank(space, 2)
    for row, loaded in enumerate(encoding.load(space, stored)):
        decode(space, stored, row, decisions, 1)
        assert decisions[1].tolist() == loaded.tolist()
    assert not decisions[0].any()


# Refusals


@pytest.mark.parametrize(
    ("encoding", "space", "solutions", "rule"),
    [
        (BINARY, Bits(3), [0, 1], "needs 3 decisions a solution"),
        (BINARY, Bits(3), [[[0, 1, 1]]], "needs 3 decisions a solution"),
        (BINARY, Bits(3), 1, "needs 3 decisions a solution"),
        (BINARY, Bits(3), [0, 2, 1], "0 or 1, but got 2"),
        (BINARY, Bits(3), [0, -1, 1], "0 or 1, but got -1"),
        (BINARY, Bits(3), [0, 0.5, 1], "whole numbers"),
        (BINARY, Bits(3), [0, float("nan"), 1], "whole numbers"),
        pytest.param(BINARY, Bits(3), ["0", "1", "1"], "whole numbers"),
        pytest.param(BINARY, Bits(3), [None] * 3, "whole numbers"),
        (*digits([0, 0], [5, 5]), [5, 6], r"0 <= x\[1\] <= 5 must hold, but got 6 in solution 0"),
        (*digits([0, 0], [5, 5]), [[0, 0], [-1, 0]], r"0 <= x\[0\] <= 5 must hold, but got -1 in solution 1"),
        (*digits([0, 0], [5, 5]), [2**40, 0], "must hold, but got 1099511627776"),
        (*digits([0, 0], [5, 5]), [0.5, 0], "whole numbers"),
        (PERMUTATION, Order(3), [0, 1, 1], r"each of 0\.\.2 once, but solution 0 does not"),
        (PERMUTATION, Order(3), [[0, 1, 2], [1, 2, 3]], "solution 1 does not"),
        (PERMUTATION, Order(3), [2, 1], "needs 3 decisions"),
    ],
)
def test_what_is_no_solution(encoding, space, solutions, rule):
    with pytest.raises(sy.InputError, match=rule):
        encoding.store(space, solutions)


@pytest.mark.parametrize("encoding", [BINARY, PERMUTATION, sy.Integers("n", 0, 3)], ids=repr)
def test_lengths(encoding):
    assert encoding.space(Holder(n=4)).n == 4
    assert encoding.space(Holder(n=np.int32(4))).n == 4
    assert encoding.space(Holder(n=np.zeros((4, 2)))).n == 4
    assert type(encoding)(7).space(None).n == 7
    for n in (0, -1, 2.0, "4", True, None, np.zeros((0, 3))):
        with pytest.raises(sy.InputError, match="a length of at least 1"):
            encoding.space(Holder(n=n))


def test_bounds_of_integers():
    space = sy.Integers(3, [0, 1, 2], 7).space(None)
    assert (space.low.tolist(), space.high.tolist()) == ([0, 1, 2], [7, 7, 7])
    space = sy.Integers("n", -1, "most").space(Holder(n=2, most=np.array([5, 6])))
    assert (space.low.tolist(), space.high.tolist()) == ([-1, -1], [5, 6])
    with pytest.raises(sy.InputError, match="decision 1 has low 3 and high 2"):
        sy.Integers(2, 3, [3, 2]).space(None)


@pytest.mark.parametrize(
    "high",
    [
        pytest.param(2**40),
        pytest.param(2.5),
        pytest.param([1, 2]),
        pytest.param("missing"),
    ],
    ids=["too large", "fraction", "wrong length", "missing field"],
)
def test_bad_bounds_of_integers(high):
    with pytest.raises(sy.InputError):
        sy.Integers(3, 0, high).space(Holder())


# Random solutions


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 150), st.integers(0, 2**64 - 1))
def test_random_bits_are_valid(n, seed):
    x = BINARY.empty(Bits(n), 3)
    x[...] = ~np.uint64(0)
    for row in (0, 2):
        sample(Bits(n), x, row, seed, START, 0, row)
    assert BINARY.store(Bits(n), BINARY.load(Bits(n), x)).tolist()[::2] == x.tolist()[::2]  # no bits past the last
    assert (x[1] == ~np.uint64(0)).all()


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.integers(-(10**6), 10**6), st.integers(0, 10**6)), min_size=1, max_size=12),
    st.integers(0, 2**64 - 1),
)
def test_random_integers_are_valid(bounds, seed):
    encoding, space = digits([a for a, _ in bounds], [a + width for a, width in bounds])
    encoding.store(space, draw_solutions(encoding, space, seed, 3))


def test_random_integers_over_the_widest_range():
    encoding, space = digits([-(2**31)] * 20, [2**31 - 1] * 20)
    solution = draw_solutions(encoding, space, 1, 1)[0]
    assert len(set(solution.tolist())) > 15


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 40), st.integers(0, 2**64 - 1))
def test_random_permutations_are_valid(n, seed):
    PERMUTATION.store(Order(n), draw_solutions(PERMUTATION, Order(n), seed, 3))


@EACH_SPACE
def test_draws_depend_on_seed_purpose_step_and_cell(encoding, space):
    if space.n == 1:
        pytest.skip("too few solutions to tell apart")
    drawn = set()
    keys = [(1, START, 0, 0), (2, START, 0, 0), (1, STEP, 0, 0), (1, START, 1, 0), (1, START, 0, 1)]
    for seed, purpose, step, cell in keys * 2:
        x = encoding.empty(space, 24)
        for row in range(24):
            sample(space, x, row, seed, purpose, step, cell + 100 * row)
        drawn.add(x.tobytes())
    assert len(drawn) == len(keys)


def check_uniform(counts):
    """One test of several at fixed seeds; a true generator fails one in a thousand."""
    counts = np.asarray(counts)
    assert chisquare(counts).pvalue > 1e-3
    assert counts.sum() > 5 * len(counts)


def test_bits_are_uniform():
    x = draw_solutions(BINARY, Bits(130), 3, 1000)
    ones = x.sum(axis=0)
    assert chisquare(np.stack([ones, 1000 - ones]).ravel()).pvalue > 1e-3
    for place in (0, 62, 126):  # neighbours are independent, also across words and draws
        check_uniform(np.bincount(x[:, place : place + 3] @ [1, 2, 4], minlength=8))


def test_integers_are_uniform():
    encoding, space = digits([-2, 0, 5], [2, 6, 5])
    x = draw_solutions(encoding, space, 3, 1500)
    check_uniform(np.bincount(x[:, 0] + 2, minlength=5))
    check_uniform(np.bincount(x[:, 1], minlength=7))
    check_uniform(np.bincount((x[:, 0] + 2) * 7 + x[:, 1], minlength=35))
    assert set(x[:, 2]) == {5}


def test_permutations_are_uniform():
    x = draw_solutions(PERMUTATION, Order(4), 3, 1500)
    _, counts = np.unique(x, axis=0, return_counts=True)
    assert len(counts) == factorial(4)
    check_uniform(counts)


@njit
def draw_all(space, x, seed):
    for row in range(x.shape[0]):
        sample(space, x, row, seed, START, 0, row)


@pytest.mark.parametrize(("encoding", "space"), SPACES[2::3], ids=lambda value: repr(value)[:24])
def test_compiled_draws_are_the_interpreted_ones(encoding, space):
    x = encoding.empty(space, 20)
    draw_all(space, x, np.uint64(2**64 - 1))
    assert encoding.load(space, x).tolist() == draw_solutions(encoding, space, 2**64 - 1, 20).tolist()


def test_compiled_draws_of_integers_are_the_interpreted_ones():
    encoding, space = digits([-3, 0, 7], [3, 0, 8])
    x = encoding.empty(space, 20)
    draw_all(space, x, np.uint64(5))
    assert encoding.load(space, x).tolist() == draw_solutions(encoding, space, 5, 20).tolist()
