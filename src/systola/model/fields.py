"""The data of a problem as kernels can see them: numbers and arrays.

Tables of pandas, graphs of networkx and sparse matrices of SciPy become arrays, too. None of these packages is
imported: whoever passes a value of one has imported it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast

import numpy as np

from systola.errors import InputError
from systola.model.encodings import Array
from systola.model.names import Axes

if TYPE_CHECKING:
    import networkx
    import pandas


class _Sparse(Protocol):
    """A sparse matrix of SciPy."""

    shape: tuple[int, ...]

    def toarray(self) -> Array: ...


# What a field of a problem may be given.
Data: TypeAlias = (
    "float | str | Array | Sequence[Data] | pandas.DataFrame | pandas.Series | networkx.Graph | _Sparse | None"
)

MOST_BYTES = 2**31  # of a dense array made of something sparse
_SHOWN = 40  # characters of a wrong value in a message


def plain(value: Data, where: str) -> Any:
    """Numbers and C-ordered arrays of the few types that kernels are compiled for."""
    if isinstance(value, str) or value is None:
        return value
    try:
        array: Array = np.asarray(value)
    except ValueError:
        raise InputError(f"{where} must be a number or an array of numbers, but its rows differ in length") from None
    if array.dtype.kind in "Of" and not isinstance(value, np.ndarray):  # what NumPy makes of large integers
        numbers = np.asarray(value, object).ravel()
        if len(numbers) and all(isinstance(number, int) for number in numbers):
            raise InputError(f"{where} must fit into 64 bits, but got {max(numbers, key=abs)}")
    if array.dtype.kind not in "biuf":
        raise InputError(f"{where} must be a number or an array of numbers, but got {type(value).__name__}")
    if array.ndim == 0:
        number = array.item()
        if isinstance(number, int) and not -(2**63) <= number < 2**63:
            raise InputError(f"{where} must fit into 64 bits, but got {number}")
        return number
    if array.dtype.kind == "f" and array.dtype != np.float64:
        array = array.astype(np.float64)
    if array.dtype.kind in "iu" and array.dtype.itemsize < 8 and array.dtype not in (np.int32, np.uint8):
        array = array.astype(np.int64)
    return np.ascontiguousarray(array)


def unpack(value: Data, where: str) -> tuple[Any, Axes]:
    """The array in a value, and the labels along its axes; what is of none of these packages as it is."""
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(value, (pandas.DataFrame, pandas.Series)):
        return _from_pandas(value, where)
    networkx = sys.modules.get("networkx")
    if networkx is not None and isinstance(value, networkx.Graph):
        return _from_graph(value, where)
    sparse = sys.modules.get("scipy.sparse")
    if sparse is not None and sparse.issparse(value):
        matrix = cast("_Sparse", value)
        _check_size(matrix.shape, where, "give its `indptr`, `indices` and `data` as fields instead")
        return matrix.toarray(), ()
    return value, ()


def _from_pandas(table: pandas.DataFrame | pandas.Series, where: str) -> tuple[Array, Axes]:
    columns = [(where, table)] if table.ndim == 1 else [(f"column {k!r} of {where}", c) for k, c in table.items()]
    if not columns:
        raise InputError(f"{where} must have a column of numbers, but the table has none")
    arrays = [_column(column, what) for what, column in columns]
    if table.ndim == 1:
        return arrays[0], (_labels(table.index),)
    return np.stack(arrays, axis=1), (_labels(table.index), _labels(table.columns))


def _column(column: pandas.Series, what: str) -> Array:
    """The numbers of a Series; an InputError if something else is in it, or something is missing."""
    if column.dtype == object:  # may hold numbers all the same
        column = column.infer_objects()
    kind = getattr(column.dtype, "numpy_dtype", column.dtype)  # types with missing values are made of plain ones
    if getattr(kind, "kind", "O") not in "biuf":
        raise InputError(
            f"{what} must hold numbers, but holds {column.dtype}; leave it out, or make it the index, whose labels are "
            "names"
        )
    missing = column.isna().to_numpy()
    if missing.any():
        at = str(column.index[int(missing.argmax())])
        raise InputError(f"{what} must have a number in each row, but has none in row {at[:_SHOWN]!r}; fill or drop it")
    array: Array = column.to_numpy(dtype=kind)
    return array


def _labels(index: pandas.Index) -> tuple[str, ...] | None:
    """What the entries of an index are called; None if they are only counted, or not told apart."""
    if isinstance(index, sys.modules["pandas"].RangeIndex):
        return None
    return _different(index)


def _different(labels: Iterable[Any]) -> tuple[str, ...] | None:
    names = tuple(map(str, labels))
    return names if len(set(names)) == len(names) else None


def _from_graph(graph: networkx.Graph, where: str) -> tuple[Array, Axes]:
    """The weights of a graph's edges as a square matrix in the order of its nodes; 0 where there is no edge."""
    numbers = {node: k for k, node in enumerate(graph)}
    n = len(numbers)
    _check_size((n, n), where, "give its edges as an array of pairs instead")
    ends, weights = [], []
    for a, b, weight in graph.edges(data="weight", default=1):
        if isinstance(weight, bool) or not isinstance(weight, (int, float, np.integer, np.floating)):
            raise InputError(f"{where}: the weight of the edge {a!r} to {b!r} must be a number, but got {weight!r}")
        ends.append((numbers[a], numbers[b]))
        weights.append(weight)
    try:
        worth: Array = np.array(weights, None if weights else np.int64)
    except OverflowError:
        raise InputError(f"{where}: the weights of edges must fit into 64 bits, but one does not") from None
    if worth.dtype.kind not in "if":
        raise InputError(f"{where}: the weights of edges must fit into 64 bits, but one does not")
    pairs = np.array(ends, np.int64).reshape(-1, 2)
    matrix: Array = np.zeros((n, n), worth.dtype)
    np.add.at(matrix, (pairs[:, 0], pairs[:, 1]), worth)  # parallel edges add up
    if not graph.is_directed():
        other = pairs[:, 0] != pairs[:, 1]
        np.add.at(matrix, (pairs[other, 1], pairs[other, 0]), worth[other])
    labels = _different(graph) if list(graph) != list(range(n)) else None
    return matrix, (labels, labels)


def _check_size(shape: tuple[int, ...], where: str, instead: str) -> None:
    size = 8
    for length in shape:
        size *= int(length)
    if size > MOST_BYTES:
        raise InputError(
            f"{where} must fit into {MOST_BYTES >> 30} GB as an array, but would take {size / 2**30:.1f} GB; {instead}"
        )
