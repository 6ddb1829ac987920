"""Vector code against the plain loops, on lines of any whole number of vectors."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from systola.simd.products import add_gathered, add_products
from systola.simd.rows import (
    VECTOR_WIDTH,
    add_line,
    add_marked,
    largest,
    largest_allowed,
    largest_with,
    least,
    narrow,
    padded,
    part,
)


@njit
def compiled(total, lines, i, factor, first, marked):
    add_line(total, lines, i, factor)
    add_marked(total, lines, first, marked, factor)
    return largest(total), largest_with(total, lines, i)


def plain(total, lines, i, factor, first, marked):
    add_line(total, lines, i, factor)
    add_marked(total, lines, first, marked, factor)
    return largest(total), largest_with(total, lines, i)


@settings(deadline=None)
@given(
    st.integers(1, 4),
    st.integers(0, 2**64 - 1),
    st.integers(-3, 3),
    st.integers(0, 6),
    st.sampled_from("CF"),
    st.randoms(use_true_random=False),
)
def test_vectors_equal_loops(vectors, marked, factor, first, order, random):
    draws = np.random.default_rng(random.getrandbits(32))
    lines = np.array(draws.integers(-(10**6), 10**6, (70, VECTOR_WIDTH * vectors)), np.int32, order=order)
    total = draws.integers(-(10**6), 10**6, VECTOR_WIDTH * vectors).astype(np.int32)
    wide = total.copy()
    i = int(draws.integers(70))
    assert compiled(total, lines, i, factor, first, np.uint64(marked)) == plain(
        wide, lines, i, factor, first, np.uint64(marked)
    )
    assert total.tolist() == wide.tolist()


def products(total, at, length, a, one, i, b, two, j, sign):
    add_products(part(total, at, length), a, part(one, i, length), b, part(two, j, length), sign)


def allowed(total, at, low, high, one, i, two, j, now, floor):
    return largest_allowed(part(total, at, high), low, part(one, i, high), part(two, j, high), now, floor)


compiled_products, compiled_allowed = njit(products), njit(allowed)


@njit
def compiled_limits(total, value):
    return least(total), narrow(value, total)


WIDTHS = {"32": np.int32, "64": np.int64}
BOTH = pytest.mark.parametrize("width", list(WIDTHS))


def wrapped(value, kind):
    """A whole number as it comes out of a sum that wraps."""
    limits = np.iinfo(kind)
    return (value - int(limits.min)) % 2**limits.bits + int(limits.min)


def some_numbers(draws, kind, size):
    """Small ones, and the largest that there are."""
    limits = np.iinfo(kind)
    wide = draws.integers(limits.min, limits.max, size, dtype=kind, endpoint=True)
    return np.where(draws.random(size) < 0.5, wide, draws.integers(-9, 10, size)).astype(kind)


def both_ways(compiled, loop, total, *args):
    """What the vector code and the plain loop make of the same total; the loop wraps without a warning."""
    other = total.copy()
    compiled(total, *args)
    with np.errstate(over="ignore"):
        loop(other, *args)
    return total.tolist(), other.tolist()


@pytest.mark.parametrize("kinds", ["32 32 32", "64 64 64", "64 32 32", "64 32 64", "64 64 32"])
@settings(deadline=None, max_examples=50)
@given(
    st.integers(0, 3), st.integers(0, 40), st.integers(0, 40), st.integers(0, 40), st.sampled_from([1, -1]), st.data()
)
def test_products_are_added(kinds, vectors, at, i, j, sign, data):
    """Vectors, loops and exact numbers agree, however large the numbers are and wherever the lines begin."""
    kind, of_one, of_two = (WIDTHS[name] for name in kinds.split())
    draws = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    length = VECTOR_WIDTH * vectors
    total, one, two = (some_numbers(draws, k, length + 40) for k in (kind, of_one, of_two))
    a, b = some_numbers(draws, kind, 2)
    wanted = total.tolist()
    for k in range(length):
        product = sign * (int(a) - int(one[i + k])) * (int(b) - int(two[j + k]))
        wanted[at + k] = wrapped(wanted[at + k] + product, kind)
    lines = one.tolist(), two.tolist()
    got = both_ways(compiled_products, products, total, at, length, a, one, i, b, two, j, sign)
    assert got == (wanted, wanted)
    assert (one.tolist(), two.tolist()) == lines


def gathered(total, a, one, i, b, two, j, x, row, sign):
    room, number = total.shape[0], x.shape[1]
    add_gathered(total, a, part(one, i, room), b, part(two, j, number), x[row], sign)


compiled_gathered = njit(gathered)


@pytest.mark.parametrize("kinds", ["32 32 32", "64 64 64", "64 32 32"])
@settings(deadline=None, max_examples=50)
@given(st.integers(1, 40), st.integers(0, 40), st.integers(0, 40), st.sampled_from([1, -1]), st.data())
def test_products_with_numbers_that_are_looked_up(kinds, number, i, j, sign, data):
    """As many as asked for; what comes after them in the last vector is of no account, but nothing else changes."""
    kind, of_one, of_two = (WIDTHS[name] for name in kinds.split())
    draws = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    room = -(-number // VECTOR_WIDTH) * VECTOR_WIDTH
    total, one = some_numbers(draws, kind, room + 5), some_numbers(draws, of_one, room + 40)
    two = some_numbers(draws, of_two, number + 40)
    x = np.full((3, number), 2**31 - 1, np.int32)  # a look beyond the row would be far away
    x[1] = draws.permutation(number)
    a, b = some_numbers(draws, kind, 2)
    wanted = total.tolist()
    for k in range(number):
        product = sign * (int(a) - int(one[i + k])) * (int(b) - int(two[j + x[1, k]]))
        wanted[k] = wrapped(wanted[k] + product, kind)
    for got in both_ways(compiled_gathered, gathered, total, a, one, i, b, two, j, x, 1, sign):
        assert got[:number] == wanted[:number]
        assert got[room:] == wanted[room:]


@BOTH
@settings(deadline=None, max_examples=50)
@given(st.integers(1, 3), st.permutations(range(4)), st.booleans(), st.sampled_from([1, -1]), st.data())
def test_products_within_one_array(width, vectors, order, squared, sign, data):
    """The table of a problem is all in one: the total and both lines, which may be the same, lie apart in it."""
    kind, length = WIDTHS[width], VECTOR_WIDTH * vectors
    draws = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    table = some_numbers(draws, kind, 5 + 4 * length)
    at, i, j, _ = (5 + place * length for place in order)
    j = i if squared else j
    a, b = some_numbers(draws, kind, 2)
    wanted = table.tolist()
    for k in range(length):
        product = sign * (int(a) - int(table[i + k])) * (int(b) - int(table[j + k]))
        wanted[at + k] = wrapped(int(table[at + k]) + product, kind)
    other = table.copy()
    compiled_products(table, at, length, a, table, i, b, table, j, sign)
    with np.errstate(over="ignore"):
        products(other, at, length, a, other, i, b, other, j, sign)
    assert table.tolist() == wanted
    assert other.tolist() == wanted


@BOTH
@settings(deadline=None, max_examples=150)
@given(st.integers(1, 3), st.integers(0, 48), st.integers(0, 48), st.integers(0, 3), st.booleans(), st.data())
def test_largest_allowed(width, vectors, low, high, now, wide, data):
    """Of the places asked for, and of no other, the largest number that is free or above the floor."""
    kind, length = WIDTHS[width], VECTOR_WIDTH * vectors
    draws = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    low, high = min(low, length), min(high, length)
    at, i, j = (int(p) for p in draws.integers(0, 3, 3) * VECTOR_WIDTH)
    total = (
        some_numbers(draws, kind, length + 2 * VECTOR_WIDTH)
        if wide
        else draws.integers(-9, 9, length + 32).astype(kind)
    )
    until = draws.integers(0, 3, length + 2 * VECTOR_WIDTH).astype(np.int32)
    again = draws.integers(0, 3, length + 2 * VECTOR_WIDTH).astype(np.int32)
    floor = int(draws.choice([*total[:3], 0, 5, np.iinfo(kind).max, np.iinfo(kind).min]))
    free = [
        int(total[at + k])
        for k in range(low, high)
        if until[i + k] < now or again[j + k] < now or int(total[at + k]) > floor
    ]
    wanted = max(free, default=np.iinfo(kind).min)
    args = (total, at, low, high, until, i, again, j, now, floor)
    assert compiled_allowed(*args) == wanted
    assert allowed(*args) == wanted


@BOTH
def test_numbers_as_wide_as_an_array(width):
    kind = WIDTHS[width]
    total = np.zeros(2, kind)
    assert compiled_limits(total, 7) == (np.iinfo(kind).min, 7)
    assert least(total) == np.iinfo(kind).min
    assert narrow(np.int64(7), total).dtype == kind


def test_padded():
    assert [padded(n) for n in (1, 15, 16, 17)] == [16, 16, 16, 32]


@njit
def compiled_part(array, at, length):
    found = part(array, at, length)
    found[0] = 7
    return part(found, 1, length - 1).sum(), found.shape[0]


@pytest.mark.parametrize("step", [1, 2], ids=["next to each other", "with gaps, as on a GPU"])
@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_a_part_is_where_the_array_has_it(kind, step):
    array = np.arange(40, dtype=kind)[::step]
    wanted = array.tolist()
    assert compiled_part(array, 3, 5) == (sum(wanted[4:8]), 5)
    wanted[3] = 7
    assert array.tolist() == part(array, 0, 40).tolist() == wanted
