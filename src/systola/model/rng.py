"""Random numbers as a pure function of (seed, purpose, step, cell, k): Philox 4x32-10, counter-based.

Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3 (SC 2011). No state, hence the same numbers
for any number of threads, interpreted or compiled, on a CPU or a GPU, and after a resume.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from systola.errors import InputError
from systola.jit.compile import inlined
from systola.simd.bits import lowest_one

# Purposes keep streams apart: no two of them ever share a number.
START = 0
STEP = 1
SELECT = 2
CHANCE = 3  # whether operators are applied at all
CROSS = 4
MUTATE = 5
SEARCH = 6
MIGRATE = 7

_LOW = np.uint64(0xFFFFFFFF)
_SHIFT = np.uint64(32)
_M0 = np.uint64(0xD2511F53)
_M1 = np.uint64(0xCD9E8D57)
_W0 = np.uint64(0x9E3779B9)
_W1 = np.uint64(0xBB67AE85)
_LN2 = 0.6931471805599453


@inlined
def philox(c0: Any, c1: Any, c2: Any, c3: Any, k0: Any, k1: Any) -> Any:
    """Ten rounds on a counter of four and a key of two 32-bit words (carried in uint64); four words out."""
    for _ in range(10):
        p0 = _M0 * c0
        p1 = _M1 * c2
        c0 = (p1 >> _SHIFT) ^ c1 ^ k0
        c1 = p1 & _LOW
        c2 = (p0 >> _SHIFT) ^ c3 ^ k1
        c3 = p0 & _LOW
        k0 = (k0 + _W0) & _LOW
        k1 = (k1 + _W1) & _LOW
    return c0, c1, c2, c3


@inlined
def draw(seed: Any, purpose: Any, step: Any, cell: Any, k: Any) -> Any:
    """Four independent 32-bit numbers (in uint64) for this cell in this step; k counts the calls."""
    seed = np.uint64(seed)
    step = np.uint64(step)
    return philox(
        np.uint64(k) & _LOW,
        np.uint64(cell) & _LOW,
        step & _LOW,
        (step >> _SHIFT) ^ (np.uint64(purpose) << np.uint64(24)),
        seed & _LOW,
        seed >> _SHIFT,
    )


@inlined
def numbers(key: Any, k: Any) -> Any:
    """Four independent 32-bit numbers from the stream of a key: (seed, purpose, step, cell); k counts the calls."""
    seed, purpose, step, cell = key
    return draw(seed, purpose, step, cell, k)


@inlined
def common(key: Any) -> Any:
    """The key to a stream that all cells of a step share."""
    seed, purpose, step, _ = key
    return seed, purpose, step, _LOW


@inlined
def below(number: Any, bound: Any) -> Any:
    """A 32-bit number mapped to 0..bound-1 (bias below bound / 2**32)."""
    return np.int64((np.uint64(number) * np.uint64(bound)) >> _SHIFT)


@inlined
def exponential(number: Any, other: Any) -> Any:
    """About an exponential variable of mean 1, from two 32-bit numbers.

    Of sums and products only, which are the same on every machine, as a logarithm is not.
    """
    halvings = lowest_one(np.uint64(number) | np.uint64(1 << 40))
    return _LN2 * (halvings + np.float64(other) / 4294967296.0)


def check_seed(seed: int) -> int:
    """A seed is an integer of 64 bits."""
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or not 0 <= int(seed) < 2**64:
        raise InputError(f"a seed must be an integer with 0 <= seed < 2**64, but got {seed!r}")
    return int(seed)
