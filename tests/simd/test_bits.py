"""Packed bits against plain lists."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from systola.jit.compile import kernel
from systola.simd.bits import bit, count_ones, lowest_one, pack, segment_mask, toggle, unpack, words_for

decisions = st.lists(st.integers(0, 1), min_size=1, max_size=200)


@kernel
def compiled_counts(word):
    return count_ones(word), lowest_one(word)


@given(decisions)
def test_round_trip(x):
    words = pack(np.array([x]))
    assert words.shape == (1, words_for(len(x)))
    assert unpack(words, len(x))[0].tolist() == x
    assert [int(bit(words, 0, i)) for i in range(len(x))] == x


@given(decisions, st.data())
def test_toggle(x, data):
    i = data.draw(st.integers(0, len(x) - 1))
    words = pack(np.array([x]))
    toggle(words, 0, i)
    x[i] ^= 1
    assert unpack(words, len(x))[0].tolist() == x


@given(st.integers(0, 2**64 - 1))
def test_counts(value):
    word = np.uint64(value)
    zeros = len(bin(value)) - 1 - len(bin(value).rstrip("0")) + 1 if value else 64
    expected = (bin(value).count("1"), zeros)
    assert (count_ones(word), lowest_one(word)) == expected
    assert compiled_counts(word) == expected


@given(st.integers(0, 300), st.integers(0, 300), st.integers(0, 4))
def test_segment_mask(first, last, word):
    first, last = sorted((first, last))
    expected = sum(1 << (p - 64 * word) for p in range(64 * word, 64 * word + 64) if first <= p < last)
    assert int(segment_mask(word, first, last)) == expected
