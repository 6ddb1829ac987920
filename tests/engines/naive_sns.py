"""The obvious twin of Systolic Neighborhood Search: rows of lists that are rotated, evaluated in full."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import ceil, log2
from typing import Any

Mesh = list[list[list[int]]]  # the solution of cell (i, j), from zero, is mesh[i][j]


def run(
    fitness: Callable[[list[int]], Any],
    first: Sequence[Sequence[int]],
    n: int,
    exponential: bool,
    moving: bool,
    decisions: Callable[[int, tuple[int, int], int], Sequence[int]] | None = None,
    rows: Sequence[int] | None = None,
) -> Iterator[Mesh]:
    """The mesh after step 0, step 1, and so on without end.

    `first` has the solution of cell (i, j) at i * n + j. `decisions(step, (i, j), count)` are those that a cell flips.
    With `rows` these are for rows whose number is below 0 only.
    """
    width = len(rows) if rows else ceil(log2(n)) if exponential else n
    assert len(first) == width * n
    mesh = [[[int(bit) for bit in first[i * n + j]] for j in range(n)] for i in range(width)]
    step = 0
    while True:
        after: Mesh = [[] for _ in range(width)]
        for i in range(width):
            for j in range(n):
                count = abs(rows[i]) if rows else 2**i if exponential else i + 1
                if decisions is None or (rows and rows[i] > 0):
                    flipped: Sequence[int] = [(j + k) % n for k in range(count)]
                else:
                    flipped = decisions(step, (i, j), count)
                    assert len(flipped) == count
                copy = list(mesh[i][j])
                for decision in flipped:
                    copy[decision] = 1 - copy[decision]
                after[i].append(copy if fitness(copy) > fitness(mesh[i][j]) else mesh[i][j])
        mesh = [[row[-1], *row[:-1]] for row in after]
        step += 1
        if moving and step % n == 0:
            mesh = [mesh[-1], *mesh[:-1]]
        yield mesh
