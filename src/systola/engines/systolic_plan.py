"""What each cell of a systolic grid exchanges and flips: Eqs. 1 to 3 of Pedemonte, Luna, Alba 2014."""

from __future__ import annotations

import numpy as np

from systola.model.encodings import Array


def crossover_plan(l: int, length: int, width: int) -> tuple[Array, Array]:  # noqa: E741 (the paper's l)
    """Eqs. 1 and 2 for every cell, as segments first <= i < last of 0-based decisions; each [width, length]."""
    i, j = np.meshgrid(np.arange(width), np.arange(length), indexing="ij")
    half = max(length // 2, 1)
    offset = (l // width) * i + (j // half) * (l // (2 * width))
    one = (1 + offset) % l
    two = (3 + offset + j % half) % l
    return np.minimum(one, two), np.maximum(one, two)


def mutation_plan(l: int, length: int, width: int) -> Array:  # noqa: E741
    """Eq. 3 for every cell: the 0-based decision to flip; [width, length]."""
    i, j = np.meshgrid(np.arange(width), np.arange(length), indexing="ij")
    return (i * (l // width) + j) % l


def count_alike(first: Array, last: Array, turn: Array, span: int) -> Array:
    """For each cell, how many from it on can be crossed together (see `cross`): same spans, flips in sequence."""
    breaks = np.diff(turn) != 1
    for column in (first, last, turn):
        breaks |= np.diff(column // span) != 0
    ends = np.append(np.flatnonzero(breaks) + 1, len(first))
    cells = np.arange(len(first))
    return ends[np.searchsorted(ends, cells, side="right")] - cells
