"""Moves as numbers: a number for each move and a move for each number, in order, as far as 64 bits go."""

from itertools import combinations, product
from math import comb, isqrt

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numba import njit

import systola as sy
from systola.model import moves
from systola.model.moves import FlipMoves, InsertionMoves, ReassignmentMoves, ReversalMoves, SwapMoves

MOST = 2**63 - 1
# The largest sizes whose moves can be numbered.
LARGEST = [
    FlipMoves(MOST),
    FlipMoves(2**32, 2),
    FlipMoves(3810779, 3),
    SwapMoves(2**32),
    ReversalMoves(2**32),
    InsertionMoves(3037000500),
]
LENGTHS = st.integers(1, 10**6)
BOUNDS = st.lists(st.tuples(st.integers(-(2**31), 2**31 - 1), st.integers(0, 2**32)), min_size=1, max_size=40)


def few_reassignments(bounds):
    return ReassignmentMoves([low for low, _ in bounds], [min(low + width, 2**31 - 1) for low, width in bounds])


def many_reassignments(n, seed):
    return ReassignmentMoves(0, np.random.default_rng(seed).integers(0, 5, n))


NEIGHBOURHOODS = st.one_of(
    st.builds(FlipMoves, LENGTHS, st.integers(1, 3)),
    st.builds(SwapMoves, LENGTHS),
    st.builds(ReversalMoves, LENGTHS),
    st.builds(InsertionMoves, LENGTHS),
    BOUNDS.map(few_reassignments),
    st.builds(many_reassignments, LENGTHS, st.integers(0, 2**32 - 1)),
    st.sampled_from(LARGEST),
).filter(lambda neighbourhood: neighbourhood.size > 0)


def draw_ascending(data, n, k):
    return tuple(sorted(data.draw(st.sets(st.integers(0, n - 1), min_size=k, max_size=k))))


def draw_move(data, neighbourhood):
    """A move that is not found through its number."""
    if isinstance(neighbourhood, InsertionMoves):
        i, j = data.draw(st.permutations(draw_ascending(data, neighbourhood.n, 2)))
        return (j, i) if j == i - 1 else (i, j)
    if isinstance(neighbourhood, ReassignmentMoves):
        widths = np.diff(neighbourhood.starts)
        i = data.draw(st.sampled_from(np.flatnonzero(widths)))
        return i, data.draw(st.integers(0, int(widths[i]) - 1))
    return draw_ascending(data, neighbourhood.n, getattr(neighbourhood, "k", 2))


# There and back


@settings(max_examples=400, deadline=None)
@given(NEIGHBOURHOODS, st.data())
def test_numbers_there_and_back(neighbourhood, data):
    last = neighbourhood.size - 1
    for number in (0, last, data.draw(st.integers(0, last))):
        move = neighbourhood.move(number)
        assert all(type(part) is int for part in move)
        assert neighbourhood.number(*move) == number


@settings(max_examples=400, deadline=None)
@given(NEIGHBOURHOODS, st.data())
def test_moves_there_and_back(neighbourhood, data):
    move = draw_move(data, neighbourhood)
    number = neighbourhood.number(*move)
    assert type(number) is int
    assert neighbourhood.move(number) == move


@settings(max_examples=200, deadline=None)
@given(NEIGHBOURHOODS, st.data())
def test_moves_ascend_with_their_numbers(neighbourhood, data):
    number = data.draw(st.integers(0, neighbourhood.size - 1))
    some = sorted({0, max(number - 1, 0), number, min(number + 1, neighbourhood.size - 1), neighbourhood.size - 1})
    found = [neighbourhood.move(each) for each in some]
    assert found == sorted(found)


# Where a root is next to a whole number, floats go wrong first: at the first and the last move of a row.
@settings(max_examples=400, deadline=None)
@given(st.integers(2, 2**32) | st.just(2**31) | st.just(2**32), st.data())
def test_rows_of_pairs(n, data):
    for i in (0, n - 2, data.draw(st.integers(0, n - 2))):
        first = comb(n, 2) - comb(n - i, 2)
        assert SwapMoves(n).move(first) == (i, i + 1)
        assert SwapMoves(n).move(first + n - 2 - i) == (i, n - 1)


@settings(max_examples=400, deadline=None)
@given(st.integers(3, 3810779) | st.just(3810779), st.data())
def test_rows_of_triples(n, data):
    for i in (0, n - 3, data.draw(st.integers(0, n - 3))):
        first = comb(n, 3) - comb(n - i, 3)
        assert FlipMoves(n, 3).move(first) == (i, i + 1, i + 2)
        assert FlipMoves(n, 3).move(first + comb(n - 1 - i, 2) - 1) == (i, n - 2, n - 1)


# Against enumeration


def other_pairs(n):
    return [(i, j) for i, j in product(range(n), repeat=2) if j not in (i, i - 1)]


def in_order(neighbourhood):
    return [neighbourhood.move(number) for number in range(neighbourhood.size)]


@pytest.mark.parametrize("n", range(1, 9))
def test_order_of_moves(n):
    for k in (1, 2, 3):
        assert in_order(FlipMoves(n, k)) == list(combinations(range(n), k))
    assert in_order(SwapMoves(n)) == in_order(ReversalMoves(n)) == list(combinations(range(n), 2))
    assert in_order(InsertionMoves(n)) == other_pairs(n)


def test_swaps_are_numbered_as_in_the_paper():
    for n in range(2, 9):
        m = comb(n, 2)
        for i, j in combinations(range(n), 2):
            f = i * (n - 1) + (j - 1) - i * (i + 1) // 2
            assert SwapMoves(n).number(i, j) == f
            assert SwapMoves(n).move(f)[0] == n - 2 - (isqrt(8 * (m - f - 1) + 1) - 1) // 2
            assert SwapMoves(n).move(f)[1] == f - i * (n - 1) + i * (i + 1) // 2 + 1


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=8))
def test_order_of_reassignments(widths):
    neighbourhood = ReassignmentMoves(-2, [width - 2 for width in widths])
    assert in_order(neighbourhood) == [(i, rank) for i, width in enumerate(widths) for rank in range(width)]


@settings(max_examples=60, deadline=None)
@given(LENGTHS, st.integers(2, 2**32), st.data())
def test_equal_alphabets_are_numbered_as_in_the_paper(n, k, data):
    neighbourhood = ReassignmentMoves(np.full(n, -(2**31)), k - 1 - 2**31)
    number = data.draw(st.integers(0, n * (k - 1) - 1))
    assert neighbourhood.size == n * (k - 1)
    assert neighbourhood.move(number) == divmod(number, k - 1)
    assert neighbourhood.others == k - 1
    assert moves.reassignment_of(number, neighbourhood.starts, 0) == divmod(number, k - 1)  # the search says the same


# Neighbours


def neighbours(neighbourhood, x):
    before = list(x)
    found = [neighbourhood.apply(x, number).tolist() for number in range(neighbourhood.size)]
    assert list(x) == before
    assert len({tuple(neighbour) for neighbour in found} | {tuple(before)}) == neighbourhood.size + 1
    return found


def with_values(x, move, value):
    return [value(each) if i in move else each for i, each in enumerate(x)]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 1), min_size=1, max_size=7))
def test_flips(x):
    for k in (1, 2, 3):
        expected = [with_values(x, move, lambda bit: 1 - bit) for move in combinations(range(len(x)), k)]
        assert neighbours(FlipMoves(len(x), k), np.array(x)) == expected


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(-5, 5), st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=5))
def test_reassignments(decisions):
    low = [a for a, _, _ in decisions]
    x = [a + below for a, below, _ in decisions]
    high = [a + below + above for a, below, above in decisions]
    expected = [
        with_values(x, (i,), lambda _, value=value: value)
        for i in range(len(x))
        for value in range(low[i], high[i] + 1)
        if value != x[i]
    ]
    assert neighbours(ReassignmentMoves(low, high), x) == expected


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 7).flatmap(lambda n: st.permutations(range(n))))
def test_neighbours_of_permutations(x):
    swapped, reversed_, inserted = [], [], []
    for i, j in combinations(range(len(x)), 2):
        swapped.append([*x[:i], x[j], *x[i + 1 : j], x[i], *x[j + 1 :]])
        reversed_.append([*x[:i], *x[i : j + 1][::-1], *x[j + 1 :]])
    for i, j in other_pairs(len(x)):
        rest = x[:i] + x[i + 1 :]
        inserted.append([*rest[:j], x[i], *rest[j:]])
    assert neighbours(SwapMoves(len(x)), x) == swapped
    assert neighbours(ReversalMoves(len(x)), x) == reversed_
    assert neighbours(InsertionMoves(len(x)), x) == inserted


@settings(max_examples=60, deadline=None)
@given(st.integers(-(2**31), 2**31 - 2), st.data())
def test_ranks_and_values(low, data):
    present, value = data.draw(st.lists(st.integers(low, 2**31 - 1), min_size=2, max_size=2, unique=True))
    rank = moves.rank_of_value(value, low, present)
    assert moves.value_of_rank(rank, low, present) == value
    assert rank == value - low - (present < value)


def test_types_of_neighbours():
    assert FlipMoves(2).apply([False, True], 0).dtype == np.uint8
    assert SwapMoves(2).apply([0, 1], 0).dtype == np.int32
    assert ReassignmentMoves(0, [1, 1]).apply(np.array([0.0, 1.0]), 0).dtype == np.int32


def test_bounds_are_copied():
    high = np.array([3, 3], np.int32)
    neighbourhood = ReassignmentMoves(0, high)
    high[0] = 0
    assert neighbourhood.apply([0, 0], 2).tolist() == [3, 0]


def test_numpy_numbers_are_numbers():
    assert InsertionMoves(np.int32(10**6)).size == (10**6 - 1) ** 2
    assert SwapMoves(np.uint8(200)).move(np.uint16(19899)) == (198, 199)
    assert SwapMoves(200).number(np.uint8(198), np.uint64(199)) == 19899


# Compiled


@njit
def compiled_places(number, n, starts, others):
    return (
        moves.pair_of(number, n),
        moves.triple_of(number, n),
        moves.insertion_of(number, n),
        moves.reassignment_of(number, starts, others),
    )


@njit
def compiled_numbers(i, j, k, n, starts):
    return (
        moves.number_of_pair(i, j, n),
        moves.number_of_triple(i, j, k, n),
        moves.number_of_insertion(i, k, n),
        moves.number_of_insertion(k, i, n),
        moves.number_of_reassignment(i, j, starts),
        moves.value_of_rank(i, k, j),
        moves.rank_of_value(j, i, k),
    )


@njit
def compiled_changes(x, i, j):
    moves.swap_in(x[0], i, j)
    moves.insert_in(x[1], i, j)
    moves.insert_in(x[2], j, i)
    moves.reverse_in(x[3], i, j)


@settings(max_examples=200, deadline=None)
@given(st.integers(3, 3810779), st.sampled_from([np.int32, np.int64]), st.data())
def test_compiled_numbers_are_the_interpreted_ones(n, kind, data):
    most = min(comb(n, 2), comb(n, 3))  # so that a number is that of a move in each of the neighbourhoods
    starts = np.array([0, *sorted(data.draw(st.lists(st.integers(0, most), max_size=9))), most])
    number, others = data.draw(st.integers(0, most - 1)), data.draw(st.integers(0, 9))
    assert compiled_places(number, kind(n), starts, others) == compiled_places.py_func(number, n, starts, others)
    i, j, k = draw_ascending(data, n, 3)
    starts = np.arange(n + 1)
    assert compiled_numbers(kind(i), kind(j), kind(k), n, starts) == compiled_numbers.py_func(i, j, k, n, starts)


@njit
def compiled_extremes(number, n):
    return moves.pair_of(number, n), moves.number_of_pair(*moves.pair_of(number, n), n)


@njit
def compiled_triple(number, n):
    return moves.triple_of(number, n), moves.number_of_triple(*moves.triple_of(number, n), n)


@settings(max_examples=200, deadline=None)
@given(st.integers(0, comb(2**32, 2) - 1), st.integers(0, comb(3810779, 3) - 1))
@example(0, 0)
@example(comb(2**32, 2) - 1, comb(3810779, 3) - 1)
def test_compiled_numbers_as_far_as_they_go(number, other):
    assert compiled_extremes(number, 2**32) == (SwapMoves(2**32).move(number), number)
    assert compiled_triple(other, 3810779) == (FlipMoves(3810779, 3).move(other), other)


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 40), st.data())
def test_compiled_changes_are_the_interpreted_ones(n, data):
    i, j = draw_ascending(data, n, 2)
    x = np.tile(np.arange(n, dtype=np.int32), (4, 1))
    plain = x.copy()
    compiled_changes(x, i, j)
    compiled_changes.py_func(plain, i, j)
    assert x.tolist() == plain.tolist()


# Refusals


@pytest.mark.parametrize(
    "neighbourhood", [FlipMoves(4), SwapMoves(4), ReversalMoves(4), InsertionMoves(4), ReassignmentMoves(0, [2, 3])]
)
def test_numbers_out_of_range(neighbourhood):
    for number in (-1, neighbourhood.size, 2**70, 1.0, True, None, "1"):
        with pytest.raises(sy.InputError, match=f"but got {number!r}, and there are {neighbourhood.size} moves"):
            neighbourhood.move(number)
        with pytest.raises(sy.InputError, match="`0 <= number < size` must hold"):
            neighbourhood.apply([0, 1, 1, 0], number)


@pytest.mark.parametrize(
    "neighbourhood", [FlipMoves(1, 2), SwapMoves(1), ReversalMoves(1), InsertionMoves(1), ReassignmentMoves(3, [3])]
)
def test_no_moves(neighbourhood):
    assert neighbourhood.size == 0
    with pytest.raises(sy.InputError, match="there are 0 moves"):
        neighbourhood.move(0)


@pytest.mark.parametrize(
    ("neighbourhood", "move"),
    [
        *(
            (pairs, move)
            for pairs in (FlipMoves(4, 2), SwapMoves(4), ReversalMoves(4))
            for move in ((2, 1), (2, 2), (-1, 2), (2, 4))
        ),
        (FlipMoves(4), (4,)),
        (FlipMoves(4), (-1,)),
        (FlipMoves(4), (0, 1)),
        (FlipMoves(4, 3), (0, 1)),
        (FlipMoves(4, 3), (0, 2, 1)),
        (SwapMoves(4), (0, 1.0)),
        (SwapMoves(4), (False, True)),
        *((InsertionMoves(4), move) for move in ((0, 0), (1, 0), (3, 2), (0, 4), (4, 0), (-1, 1), (0, -1), (0, 1.0))),
        *((ReassignmentMoves(0, [2, 0]), move) for move in ((0, 2), (0, -1), (1, 0), (2, 0), (-1, 0), (0, None))),
    ],
)
def test_what_is_no_move(neighbourhood, move):
    with pytest.raises(sy.InputError, match="but got"):
        neighbourhood.number(*move)


@pytest.mark.parametrize("kind", [FlipMoves, SwapMoves, ReversalMoves, InsertionMoves])
def test_lengths(kind):
    for n in (0, -1, 2.0, True, None, "4"):
        with pytest.raises(sy.InputError, match="`n` must be a whole number of at least 1"):
            kind(n)


def test_what_cannot_be_numbered():
    assert all(MOST - 10**13 < neighbourhood.size <= MOST for neighbourhood in LARGEST)
    for kind, n, *k in [(FlipMoves, 2**63), (FlipMoves, 2**32 + 1, 2), (FlipMoves, 3810780, 3), (SwapMoves, 2**32 + 1)]:
        with pytest.raises(sy.InputError, match="must fit into 63 bits"):
            kind(n, *k)
    with pytest.raises(sy.InputError, match="choose a smaller `n`"):
        InsertionMoves(3037000501)


@pytest.mark.parametrize("k", [0, 4, 2.0, True, None])
def test_flips_at_once(k):
    with pytest.raises(sy.InputError, match="`k` must be 1, 2 or 3"):
        FlipMoves(9, k)


def test_bad_bounds():
    with pytest.raises(sy.InputError, match="decision 1 has low 3 and high 2"):
        ReassignmentMoves(3, [3, 2])
    for high in ([1, 2], [], 2**31, 0.5, [[1, 2, 3]]):
        with pytest.raises(sy.InputError, match="`high` must"):
            ReassignmentMoves([0, 0, 0], high)


@pytest.mark.parametrize(
    ("neighbourhood", "x", "rule"),
    [
        (FlipMoves(3), [0, 1], "needs 3 decisions"),
        (FlipMoves(3), [0, 1, 2], "0 or 1"),
        (SwapMoves(3), [0, 1, 1], "each of 0..2 once"),
        (ReassignmentMoves(0, [2, 2]), [0, 3], "must hold, but got 3"),
        (SwapMoves(3), [[0, 1, 2], [2, 1, 0]], "for one solution, but got 2"),
    ],
)
def test_moves_need_a_solution(neighbourhood, x, rule):
    with pytest.raises(sy.InputError, match=rule):
        neighbourhood.apply(x, 0)
