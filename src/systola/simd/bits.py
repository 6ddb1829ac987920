"""Packed bits: 64 decisions in a word, least significant first; bits past the last decision are zero.

Written so that it means the same interpreted (NumPy scalars) and compiled: every operand is cast to uint64.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic, overload
from numpy.typing import NDArray

from systola.jit.compile import inlined

WORD = 64
_ONE = np.uint64(1)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


def words_for(n: int) -> int:
    """How many words hold n bits; at least two, because Numba takes arrays of one column for another type."""
    return max(2, (n + WORD - 1) // WORD)


def pack(decisions: NDArray[Any]) -> NDArray[np.uint64]:
    """Rows of 0/1 decisions to rows of words."""
    decisions = np.ascontiguousarray(decisions, dtype=np.uint8)
    padded = np.zeros((*decisions.shape[:-1], words_for(decisions.shape[-1]) * WORD), np.uint8)
    padded[..., : decisions.shape[-1]] = decisions
    return np.packbits(padded, axis=-1, bitorder="little").view(np.dtype("<u8")).astype(np.uint64)


def unpack(words: NDArray[np.uint64], n: int) -> NDArray[np.uint8]:
    """Rows of words to rows of n decisions."""
    raw = np.ascontiguousarray(words).astype("<u8").view(np.uint8)
    return np.unpackbits(raw, axis=-1, bitorder="little")[..., :n]


@intrinsic  # type: ignore[untyped-decorator]
def _ctpop(typing: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]
def _cttz(typing: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], context.get_constant(types.boolean, False))

    return types.uint64(types.uint64), generate


def count_ones(word: Any) -> Any:
    """Number of one bits in a word."""
    return np.int64(int(word).bit_count())


@overload(count_ones, strict=False)  # type: ignore[untyped-decorator]
def _count_ones(word: Any) -> Any:
    return lambda word: np.int64(_ctpop(np.uint64(word)))


def lowest_one(word: Any) -> Any:
    """Position of the lowest one bit; 64 for zero."""
    word = int(word)
    return np.int64((word & -word).bit_length() - 1 if word else WORD)


@overload(lowest_one, strict=False)  # type: ignore[untyped-decorator]
def _lowest_one(word: Any) -> Any:
    return lambda word: np.int64(_cttz(np.uint64(word)))


@inlined
def bit(x: Any, row: Any, i: Any) -> Any:
    """Decision i of the packed solution in this row."""
    return np.int64((x[row, i >> 6] >> np.uint64(i & 63)) & _ONE)


@inlined
def toggle(x: Any, row: Any, i: Any) -> None:
    """Flip decision i of the packed solution in this row."""
    x[row, i >> 6] ^= _ONE << np.uint64(i & 63)


@inlined
def ones_below(i: Any) -> Any:
    """A word whose lowest i bits (0 <= i < 64) are one."""
    return (_ONE << np.uint64(i)) - _ONE


@inlined
def segment_mask(word: Any, first: Any, last: Any) -> Any:
    """The bits of this word whose positions lie in first <= position < last."""
    low = first - (word << 6)
    high = last - (word << 6)
    mask = _ALL if high >= 64 else (ones_below(high) if high > 0 else np.uint64(0))
    if low > 0:
        mask = mask & ~ones_below(low) if low < 64 else np.uint64(0)
    return mask
