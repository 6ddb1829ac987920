"""Matrices as users give them, dense, sparse or as triples, made rows of entries."""

from __future__ import annotations

from typing import NamedTuple, Protocol, TypeAlias, cast

import numpy as np

from systola.errors import InputError
from systola.model.encodings import Array


class _Sparse(Protocol):
    """A sparse matrix of SciPy."""

    shape: tuple[int, int]

    def tocoo(self) -> _Triple: ...


class _Triple(Protocol):
    """One that has its entries as three arrays."""

    row: Array
    col: Array
    data: Array


Matrix: TypeAlias = "Array | _Sparse | tuple[Array, Array, Array]"


class Entries(NamedTuple):
    """A sparse matrix by rows: row r has the columns columns[starts[r]:starts[r + 1]], sorted, with these values."""

    starts: Array
    columns: Array
    values: Array

    def transposed(self, n: int) -> Entries:
        """The same by columns, of which there are n."""
        rows = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        return by_rows(self.columns, rows, self.values, n)


def by_rows(rows: Array, columns: Array, values: Array, count: int) -> Entries:
    """Entries sorted by row, then column; those of the same place are added."""
    order = np.lexsort((columns, rows))
    rows, columns, values = rows[order], columns[order], values[order]
    new = np.ones(len(rows), bool)
    new[1:] = (rows[1:] != rows[:-1]) | (columns[1:] != columns[:-1])
    at = np.flatnonzero(new)
    sums = np.add.reduceat(values, at) if len(at) else values
    starts = np.searchsorted(rows[at], np.arange(count + 1)).astype(np.int64)
    return Entries(starts, columns[at].astype(np.int64), sums)


def read_matrix(given: Matrix, n: int, where: str) -> tuple[Array, Array, Array]:
    """Rows, columns and values of a matrix with n columns: dense, sparse as SciPy has it, or such a triple itself."""
    if hasattr(given, "tocoo"):
        sparse = cast("_Sparse", given).tocoo()
        triple = sparse.row, sparse.col, sparse.data
    elif isinstance(given, tuple) and len(given) == 3:
        triple = given
    else:
        dense = np.atleast_2d(np.asarray(given))
        if dense.ndim != 2 or dense.shape[1] != n:
            raise InputError(f"{where} must have {n} columns, one for each decision, but has shape {np.shape(given)}")
        rows, columns = np.nonzero(dense)
        triple = rows, columns, dense[rows, columns]
    rows, columns, values = (np.atleast_1d(np.asarray(part)) for part in triple)
    if values.dtype.kind not in "biuf" or rows.dtype.kind not in "iu" or columns.dtype.kind not in "iu":
        raise InputError(f"{where} must be a matrix, dense, sparse or (rows, columns, values), but got {given!r:.60}")
    if not len(rows) == len(columns) == len(values):
        raise InputError(
            f"{where} must be three arrays of one length, but got {len(rows)}, {len(columns)} and {len(values)}"
        )
    if len(rows) and (rows.min() < 0 or columns.min() < 0 or columns.max() >= n):
        raise InputError(f"{where} must have columns 0..{n - 1} and no negative rows, but has others")
    kind = np.float64 if values.dtype.kind == "f" else np.int64
    return rows.astype(np.int64), columns.astype(np.int64), values.astype(kind)
