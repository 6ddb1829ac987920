"""A quadratic form over bits, given as a matrix: the gain of every flip is kept, and updated in O(degree)."""

from __future__ import annotations

from dataclasses import dataclass
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from systola.errors import InputError
from systola.jit.compile import inlined
from systola.jit.dispatch import Implementation, dispatched
from systola.model.elementary_moves import EXCHANGE_BITS
from systola.model.encodings import Binary
from systola.model.structure.gains import nothing_changes
from systola.model.structure.matrices import by_rows, read_matrix
from systola.model.structure.part import Function, Part, field_or_made

if TYPE_CHECKING:
    from systola.model.problem import Problem

_DENSE = 0.25  # share of entries from which on a matrix is kept whole


@dispatched
def add_coupling(part: Any, i: Any, kept: Any, sign: Any) -> Any:
    """Add what the couplings of decision i to the others are, times a sign, to the slopes that are kept."""


@dispatched
def coupling(part: Any, i: Any, j: Any) -> Any:
    """What two different decisions add if both are one."""


def _add_dense(self: Any, i: Any, kept: Any, sign: Any) -> None:
    n = self.diagonal.shape[0]
    at = self.at
    for j in range(n):
        kept[at + j] += sign * self.matrix[i, j]


def _add_sparse(self: Any, i: Any, kept: Any, sign: Any) -> None:
    for q in range(self.starts[i], self.starts[i + 1]):
        kept[self.at + self.columns[q]] += sign * self.values[q]


def _coupling_dense(self: Any, i: Any, j: Any) -> Any:
    return self.matrix[i, j]


def _coupling_sparse(self: Any, i: Any, j: Any) -> Any:
    low, high = self.starts[i], self.starts[i + 1]
    while low < high:
        middle = (low + high) >> 1
        if self.columns[middle] < j:
            low = middle + 1
        else:
            high = middle
    return self.values[low] if low < self.starts[i + 1] and self.columns[low] == j else self.diagonal[i] * 0


def _total_dense(self: Any, problem: Any, x: Any) -> Any:
    total = self.diagonal[0] * 0
    for i in range(len(x)):
        if x[i]:
            total += self.diagonal[i]
            for j in range(i):
                if x[j]:
                    total += self.matrix[i, j]
    return total


def _total_sparse(self: Any, problem: Any, x: Any) -> Any:
    total = self.diagonal[0] * 0
    for i in range(len(x)):
        if x[i]:
            total += self.diagonal[i]
            for q in range(self.starts[i], self.starts[i + 1]):
                if self.columns[q] < i and x[self.columns[q]]:
                    total += self.values[q]
    return total


def _init(self: Any, problem: Any, x: Any, kept: Any) -> Any:
    """Kept is the slope of each decision: what it adds when it is one, and takes away when it is not."""
    n = self.diagonal.shape[0]
    for i in range(n):
        kept[self.at + i] = self.diagonal[i]
    total = self.diagonal[0] * 0
    for i in range(n):
        if x[i]:
            total += kept[self.at + i]  # its slope so far counts the ones before it
            add_coupling(self, i, kept, 1)
    return total


@inlined
def _gain(self: Any, x: Any, i: Any, kept: Any) -> Any:
    return kept[self.at + i] * (1 - 2 * np.int64(x[i]))


def _delta(self: Any, problem: Any, space: Any, x: Any, move: Any, kept: Any) -> Any:
    kind, i, j, _ = move
    change = _gain(self, x, i, kept)
    if kind == EXCHANGE_BITS:  # of a one and a zero: their coupling was counted in the gain of j, but is not there
        change += _gain(self, x, j, kept) + coupling(self, i, j) * (1 - 2 * np.int64(x[i])) * (1 - 2 * np.int64(x[j]))
    return change


def _update(self: Any, problem: Any, space: Any, x: Any, move: Any, kept: Any) -> None:
    kind, i, j, _ = move
    add_coupling(self, i, kept, 2 * np.int64(x[i]) - 1)
    if kind == EXCHANGE_BITS:
        add_coupling(self, j, kept, 2 * np.int64(x[j]) - 1)


def _add_gains(self: Any, problem: Any, space: Any, x: Any, kept: Any, gains: Any) -> None:
    for i in range(self.diagonal.shape[0]):
        gains[i] += self.weight * _gain(self, x, i, kept)


def _after_dense(self: Any, problem: Any, space: Any, x: Any, i: Any, gains: Any) -> None:
    own = gains[i]
    factor = self.weight * (2 * np.int64(x[i]) - 1)
    for j in range(self.diagonal.shape[0]):
        gains[j] += factor * (1 - 2 * np.int64(x[j])) * self.matrix[i, j]
    gains[i] = own


def _after_sparse(self: Any, problem: Any, space: Any, x: Any, i: Any, gains: Any) -> None:
    factor = self.weight * (2 * np.int64(x[i]) - 1)
    for q in range(self.starts[i], self.starts[i + 1]):
        j = self.columns[q]
        gains[j] += factor * (1 - 2 * np.int64(x[j])) * self.values[q]


@dataclass(frozen=True)
class Quadratic(Part):
    """A quadratic form over bits: the sum of q[i, j] x[i] x[j].

    Parameters
    ----------
    matrix
        The name of a field, or a function of the instance, with the coefficients: an array, a sparse matrix of SciPy,
        or three arrays (rows, columns, values). Entries (i, j) and (j, i) are added; (i, i) is what i adds alone.
    """

    encodings = (Binary,)

    matrix: str | Function

    def makers(self) -> dict[str, FunctionType]:
        return {"matrix": self.matrix} if isinstance(self.matrix, FunctionType) else {}

    def data(self, problem: Problem) -> dict[str, Any]:
        n = problem.encoding.space(problem).n
        where = f"the matrix of Quadratic in {type(problem).__name__}"
        rows, columns, values = read_matrix(field_or_made(problem, self.matrix, "`matrix`"), n, where)
        if len(rows) and rows.max() >= n:
            raise InputError(f"{where} must have {n} rows, one for each decision, but has row {rows.max()}")
        alone = rows == columns
        diagonal = np.zeros(n, values.dtype)
        np.add.at(diagonal, rows[alone], values[alone])
        i, j, w = rows[~alone], columns[~alone], values[~alone]
        entries = by_rows(np.r_[i, j], np.r_[j, i], np.r_[w, w], n)
        if len(entries.values) < _DENSE * n * n:
            return {"diagonal": diagonal, **entries._asdict()}
        matrix = np.zeros((n, n), values.dtype)
        matrix[np.repeat(np.arange(n), np.diff(entries.starts)), entries.columns] = entries.values
        return {"diagonal": diagonal, "matrix": matrix}

    def implementations(self, problem: Problem, data: dict[str, Any]) -> tuple[str, dict[str, Implementation]]:
        dense = "matrix" in data
        return "QuadraticDense" if dense else "QuadraticSparse", {
            "part_total": _total_dense if dense else _total_sparse,
            "init_part": _init,
            "part_delta": _delta,
            "update_part": _update,
            "add_coupling": _add_dense if dense else _add_sparse,
            "coupling": _coupling_dense if dense else _coupling_sparse,
            "add_gains": _add_gains,
            "before_change": nothing_changes,
            "after_change": _after_dense if dense else _after_sparse,
        }

    @property
    def has_gains(self) -> bool:
        return True

    def size(self, problem: Problem) -> int:
        return int(problem.encoding.space(problem).n)

    def describe(self, problem: Problem) -> str:
        data = self.data(problem)
        return "a quadratic form; a flip is measured at once, and made in " + (
            "n additions" if "matrix" in data else f"{len(data['values']) / len(data['diagonal']):.1f} additions"
        )
