"""Random moves: every one leads to a solution, can be undone, and every kind of neighbour can be reached."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import systola as sy
from systola.model.elementary_moves import NO_MOVE, kinds_of, make_move, undo_move
from systola.model.rng import draw
from systola.operators.random_moves import draw_move

LOW = np.array([0, -3, 5, 0, 0, 2, -1], np.int32)
HIGH = np.array([0, 3, 900, 1, 4, 3, 2], np.int32)
ENCODINGS = {
    "order": lambda n: sy.Permutation(n),
    "bits": lambda n: sy.Binary(n),
    "digits": lambda n: sy.Integers(n, np.resize(LOW, n), np.resize(HIGH, n)),
}


def solution(encoding, space, seed):
    """A random one, as rows of storage."""
    draws = np.random.default_rng(seed)
    if isinstance(encoding, sy.Permutation):
        return encoding.store(space, [draws.permutation(space.n)])
    if isinstance(encoding, sy.Binary):
        return encoding.store(space, [draws.integers(0, 2, space.n)])
    return encoding.store(space, [draws.integers(space.low, space.high, endpoint=True)])


@pytest.mark.parametrize("name", ENCODINGS)
@given(n=st.integers(1, 200), seed=st.integers(0, 2**32))
def test_a_move_leads_to_another_solution_and_back(name, n, seed):
    encoding = ENCODINGS[name](n)
    space = encoding.space(None)
    rows = solution(encoding, space, seed)
    for kind in range(kinds_of(space)):
        before = rows.copy()
        made, i, j, k = draw_move(space, rows[0], kind, *draw(seed, 0, 0, 0, kind)[:3])
        assert made in (kind, NO_MOVE)
        make_move(space, rows[0], made, i, j, k)
        assert encoding.are_valid(space, rows).all()
        assert (rows != before).any() == (made != NO_MOVE)
        undo_move(space, rows[0], made, i, j, k)
        assert (rows == before).all()


def neighbours(name, n, kind, rows, draws=4000):
    encoding = ENCODINGS[name](n)
    space = encoding.space(None)
    found = set()
    for k in range(draws):
        x = rows.copy()
        made, *move = draw_move(space, x[0], kind, *draw(7, 0, 0, kind, k)[:3])
        make_move(space, x[0], made, *move)
        found.add(tuple(int(value) for value in encoding.load(space, x)[0]))
    return found


def rotated(x, a, b, c):
    return (*x[:a], *x[b:c], *x[a:b], *x[c:])


def test_all_neighbours_of_an_order_are_drawn():
    n = 7
    x = tuple(range(n))
    rows = np.array([x], np.int32)
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    swapped = {tuple(j if v == i else i if v == j else v for v in x) for i, j in pairs}
    reversed_ = {(*x[:i], *x[i : j + 1][::-1], *x[j + 1 :]) for i, j in pairs}
    blocks = {
        rotated(x, a, b, c)
        for a in range(n)
        for c in range(a + 2, n + 1)
        for b in range(a + 1, c)
        if min(b - a, c - b) <= 3
    }
    assert neighbours("order", n, 0, rows) == swapped
    assert neighbours("order", n, 2, rows) == reversed_
    assert neighbours("order", n, 1, rows) == blocks


def test_all_flips_and_exchanges_are_drawn():
    n, encoding = 9, sy.Binary(9)
    x = np.array([0, 1, 0, 0, 1, 0, 0, 0, 1])
    rows = encoding.store(encoding.space(None), [x])
    flips = {tuple(int(v) for v in x ^ (np.arange(n) == i)) for i in range(n)}
    exchanges = {
        tuple(int(v) for v in x ^ (np.arange(n) == i) ^ (np.arange(n) == j))
        for i in np.flatnonzero(x)
        for j in np.flatnonzero(1 - x)
    }
    assert neighbours("bits", n, 0, rows) == flips
    assert neighbours("bits", n, 1, rows) == exchanges


@pytest.mark.parametrize("value", [0, 1])
def test_there_is_no_exchange_among_equal_bits(value):
    encoding = sy.Binary(70)
    space = encoding.space(None)
    rows = encoding.store(space, [np.full(70, value)])
    assert draw_move(space, rows[0], 1, *draw(1, 0, 0, 0, 0)[:3])[0] == NO_MOVE


def test_all_values_are_drawn_and_near_ones_more_often():
    encoding = sy.Integers(1, 0, 100)
    space = encoding.space(None)
    rows = encoding.store(space, [[40]])
    drawn = [
        [int(draw_move(space, rows[0], kind, *draw(3, 0, 0, kind, k)[:3])[3]) for k in range(6000)] for kind in (0, 1)
    ]
    assert set(drawn[0]) == set(range(101)) - {40}
    assert set(drawn[1]) >= set(range(30, 51)) - {40}
    near = [sum(abs(value - 40) <= 3 for value in values) for values in drawn]
    assert near[1] > 4 * near[0]
