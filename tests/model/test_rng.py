"""Philox against its published vectors, and the map to ranges."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import systola as sy
from systola.jit.compile import kernel
from systola.model.rng import below, check_seed, draw, philox

U = np.uint64
# Known answers of the authors' library (kat_vectors, philox4x32 10).
VECTORS = [
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]
compiled_philox = kernel(philox)
compiled_draw = kernel(draw)


@pytest.mark.parametrize(("counter", "key", "expected"), VECTORS)
@pytest.mark.parametrize("function", [philox, compiled_philox])
def test_known_answers(function, counter, key, expected):
    assert tuple(map(int, function(*map(U, counter), *map(U, key)))) == expected


@settings(deadline=None)
@given(*[st.integers(0, 2**64 - 1)] * 2, *[st.integers(0, 2**32 - 1)] * 2)
def test_interpreted_equals_compiled(seed, step, cell, k):
    args = (U(seed), 1, step % 2**40, cell, k)
    assert tuple(map(int, draw(*args))) == tuple(map(int, compiled_draw(*args)))


def test_arguments_all_matter():
    base = (3, 1, 5, 7, 11)
    numbers = {tuple(map(int, draw(*base)))}
    for position in range(5):
        changed = list(base)
        changed[position] += 1
        numbers.add(tuple(map(int, draw(*changed))))
    assert len(numbers) == 6


@given(st.integers(0, 2**32 - 1), st.integers(1, 2**31))
def test_below_stays_below(number, bound):
    assert 0 <= below(U(number), bound) < bound


def test_below_is_uniform():
    from scipy.stats import chisquare

    counts = np.zeros(10, int)
    for k in range(5000):
        for number in compiled_draw(U(1), 1, 0, 0, k):
            counts[below(number, 10)] += 1
    assert chisquare(counts).pvalue > 1e-4


@pytest.mark.parametrize("bad", [-1, 2**64, 1.5, "one", None, True])
def test_bad_seeds(bad):
    with pytest.raises(sy.InputError, match="seed"):
        check_seed(bad)
