"""Single decisions of a stored solution against plain lists, for bits, integers and permutations."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from systola.model.encodings import Bits, Digits, Order
from systola.operators.decisions import copy, copy_segment, get, put, resample, uniform_mix
from systola.simd.bits import pack, unpack

KINDS = ("bits", "integers", "order")
each = pytest.mark.parametrize("kind", KINDS)


def stored(kind, x):
    """The space and the storage of a list."""
    n = len(x)
    if kind == "bits":
        return Bits(n), pack(np.array([x]))[0]
    space = Order(n) if kind == "order" else Digits(n, np.full(n, -50, np.int32), np.full(n, 50, np.int32))
    return space, np.array(x, np.int32)


def plain(space, row):
    if not isinstance(space, Bits):
        return row.tolist()
    assert (row == pack(unpack(row[None], space.n))[0]).all()  # nothing past the last decision
    return unpack(row[None], space.n)[0].tolist()


def some(data, kind, n):
    """A list that this kind can store."""
    if kind == "order":
        return data.draw(st.permutations(range(n)))
    values = st.integers(0, 1) if kind == "bits" else st.integers(-50, 50)
    return data.draw(st.lists(values, min_size=n, max_size=n))


@each
@settings(deadline=None)
@given(st.integers(1, 140), st.data())
def test_get_and_put(kind, n, data):
    x, other = some(data, kind, n), some(data, kind, n)
    space, row = stored(kind, x)
    assert [get(space, row, i) for i in range(n)] == x
    i = data.draw(st.integers(0, n - 1))
    put(space, row, i, other[i])
    assert plain(space, row) == [*x[:i], other[i], *x[i + 1 :]]


@each
@settings(deadline=None)
@given(st.integers(1, 140), st.data())
def test_graft(kind, n, data):
    x, source = some(data, kind, n), some(data, kind, n)
    first, last = sorted(data.draw(st.tuples(st.integers(0, n), st.integers(0, n))))
    space, row = stored(kind, x)
    _, given_ = stored(kind, source)
    given_.setflags(write=False)
    copy_segment(space, row, given_, first, last)
    assert plain(space, row) == x[:first] + source[first:last] + x[last:]


@each
@settings(deadline=None)
@given(st.integers(1, 140), st.data())
def test_copy(kind, n, data):
    space, row = stored(kind, some(data, kind, n))
    source = some(data, kind, n)
    copy(row, stored(kind, source)[1])
    assert plain(space, row) == source


@pytest.mark.parametrize("kind", ["bits", "integers"])
@settings(deadline=None)
@given(st.integers(1, 140), st.integers(0, 2**40), st.data())
def test_mingle(kind, n, step, data):
    """Each place has both values; a key is always the same tosses, whatever the values."""
    one, two = some(data, kind, n), some(data, kind, n)
    space, first = stored(kind, one)
    _, second = stored(kind, two)
    first.setflags(write=False)
    second.setflags(write=False)
    _, child = stored(kind, [0] * n)
    _, sibling = stored(kind, [0] * n)
    uniform_mix(space, first, second, child, sibling, (1, 4, step, 3))
    zeros, ones = stored(kind, [0] * n)[1], stored(kind, [1] * n)[1]
    _, coins = stored(kind, [0] * n)
    uniform_mix(space, zeros, ones, coins, stored(kind, [0] * n)[1], (1, 4, step, 3))
    tossed = plain(space, coins)
    assert plain(space, child) == [b if c else a for a, b, c in zip(one, two, tossed, strict=True)]
    assert plain(space, sibling) == [a if c else b for a, b, c in zip(one, two, tossed, strict=True)]


limits = st.one_of(st.integers(-3, 3), st.integers(-(2**31), 2**31 - 1))


@settings(deadline=None)
@given(st.tuples(limits, limits).map(sorted), st.integers(0, 2**32 - 1), st.data())
def test_redraw_of_integers(ends, number, data):
    """Always another value, within the bounds, as far as there is another; neighbours stay."""
    low, high = ends
    value = data.draw(st.integers(low, high))
    space = Digits(3, np.array([0, low, 0], np.int32), np.array([9, high, 9], np.int32))
    x = np.array([4, value, 5], np.int32)
    resample(space, x, 1, np.uint64(number))
    assert x[[0, 2]].tolist() == [4, 5]
    assert low <= x[1] <= high
    assert (x[1] == value) == (low == high)


@pytest.mark.parametrize("value", [-1, 0, 2, 3])
def test_redraw_reaches_all_other_values(value):
    space = Digits(1, np.array([-1], np.int32), np.array([3], np.int32))
    reached = set()
    for number in range(0, 2**32, 2**28):
        x = np.array([value], np.int32)
        resample(space, x, 0, np.uint64(number))
        reached.add(int(x[0]))
    assert reached == {-1, 0, 1, 2, 3} - {value}


@settings(deadline=None)
@given(st.lists(st.integers(0, 1), min_size=1, max_size=140), st.integers(0, 2**32 - 1), st.data())
def test_redraw_of_bits(x, number, data):
    i = data.draw(st.integers(0, len(x) - 1))
    space, row = stored("bits", x)
    resample(space, row, i, np.uint64(number))
    assert plain(space, row) == [*x[:i], 1 - x[i], *x[i + 1 :]]
