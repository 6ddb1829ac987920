"""Vector code against the plain loops, on lines of any whole number of vectors."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from systola.lines import VECTOR, add_line, add_marked, largest, largest_with, padded


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
    lines = np.array(draws.integers(-(10**6), 10**6, (70, VECTOR * vectors)), np.int32, order=order)
    total = draws.integers(-(10**6), 10**6, VECTOR * vectors).astype(np.int32)
    wide = total.copy()
    i = int(draws.integers(70))
    assert compiled(total, lines, i, factor, first, np.uint64(marked)) == plain(
        wide, lines, i, factor, first, np.uint64(marked)
    )
    assert total.tolist() == wide.tolist()


def test_padded():
    assert [padded(n) for n in (1, 15, 16, 17)] == [16, 16, 16, 32]
