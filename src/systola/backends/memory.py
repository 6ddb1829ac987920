"""Zeroed arrays for populations, on large pages where the system has them.

A step touches every column of a population; with small pages each column needs its own entry in the processor's table
of pages, which has fewer entries than a long solution has words.
"""

from __future__ import annotations

import mmap
from contextlib import suppress
from typing import Any, Literal

import numpy as np

from systola.model.encodings import Array

_LARGE_PAGE = 1 << 21


def zeros(shape: tuple[int, ...], dtype: Any, order: Literal["C", "F"]) -> Array:
    """As numpy.zeros."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    if size < _LARGE_PAGE // 4 or not hasattr(mmap, "MADV_HUGEPAGE"):
        return np.zeros(shape, dtype, order)
    try:
        block = mmap.mmap(-1, size + 2 * _LARGE_PAGE)
    except OSError:
        raise MemoryError from None
    with suppress(OSError):  # a system without large pages has small ones
        block.madvise(mmap.MADV_HUGEPAGE)
    held = np.frombuffer(block, np.uint8)
    first = -held.ctypes.data % _LARGE_PAGE
    made: Array = held[first : first + size].view(dtype).reshape(shape, order=order)
    return made
