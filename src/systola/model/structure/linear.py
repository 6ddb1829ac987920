"""Linear sums over bits, as an objective or as constraints whose left sides are kept."""

from __future__ import annotations

from dataclasses import dataclass
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from systola.errors import InputError
from systola.jit.compile import inlined
from systola.jit.dispatch import Implementation
from systola.model.elementary_moves import EXCHANGE_BITS
from systola.model.encodings import Array, Binary
from systola.model.rng import below
from systola.model.structure.gains import nothing_changes
from systola.model.structure.matrices import Matrix, by_rows, read_matrix
from systola.model.structure.part import Function, Part, field_or_made
from systola.model.structure.repairs import NONE

if TYPE_CHECKING:
    from systola.model.problem import Problem

_ROWS_LOOKED_AT = 64  # for one that is broken
_RELATIONS = ("<=", ">=", "==")


def _total_of_sum(self: Any, problem: Any, x: Any) -> Any:
    total = self.coefficients[0] * 0
    for i in range(len(x)):
        if x[i]:
            total += self.coefficients[i]
    return total


def _delta_of_sum(self: Any, problem: Any, space: Any, x: Any, move: Any, kept: Any) -> Any:
    kind, i, j, _ = move
    change = self.coefficients[i] * (1 - 2 * np.int64(x[i]))
    if kind == EXCHANGE_BITS:
        change += self.coefficients[j] * (1 - 2 * np.int64(x[j]))
    return change


def _add_gains(self: Any, problem: Any, space: Any, x: Any, kept: Any, gains: Any) -> None:
    for i in range(len(x)):
        gains[i] += self.weight * self.coefficients[i] * (1 - 2 * np.int64(x[i]))


@inlined
def _excess(self: Any, r: Any, left: Any) -> Any:
    """By how much row r is broken: below its least value or above its largest one."""
    return max(self.least[r] - left, left - self.largest[r], left * 0)


@inlined
def _left_side(self: Any, r: Any, x: Any) -> Any:
    """What row r adds up to."""
    left = self.values[0] * 0
    for q in range(self.starts[r], self.starts[r + 1]):
        if x[self.columns[q]]:
            left += self.values[q]
    return left


def _total(self: Any, problem: Any, x: Any) -> Any:
    total = self.values[0] * 0
    for r in range(self.least.shape[0]):
        total += _excess(self, r, _left_side(self, r, x))
    return total


def _init(self: Any, problem: Any, x: Any, kept: Any) -> Any:
    total = self.values[0] * 0
    for r in range(self.least.shape[0]):
        left = _left_side(self, r, x)
        kept[self.at + r] = left
        total += _excess(self, r, left)
    return total


@inlined
def _change(self: Any, x: Any, i: Any, kept: Any) -> Any:
    change = self.values[0] * 0
    sign = 1 - 2 * np.int64(x[i])
    for q in range(self.of_starts[i], self.of_starts[i + 1]):
        r = self.of_rows[q]
        left = kept[self.at + r]
        change += _excess(self, r, left + sign * self.of_values[q]) - _excess(self, r, left)
    return change


@inlined
def _add(self: Any, i: Any, kept: Any, sign: Any) -> None:
    for q in range(self.of_starts[i], self.of_starts[i + 1]):
        kept[self.at + self.of_rows[q]] += sign * self.of_values[q]


def _delta(self: Any, problem: Any, space: Any, x: Any, move: Any, kept: Any) -> Any:
    kind, i, j, _ = move
    change = _change(self, x, i, kept)
    if kind == EXCHANGE_BITS:  # the second flip is measured with the first one made
        sign = 1 - 2 * np.int64(x[i])
        _add(self, i, kept, sign)
        change += _change(self, x, j, kept)
        _add(self, i, kept, -sign)
    return change


def _update(self: Any, problem: Any, space: Any, x: Any, move: Any, kept: Any) -> None:
    kind, i, j, _ = move
    _add(self, i, kept, 2 * np.int64(x[i]) - 1)
    if kind == EXCHANGE_BITS:
        _add(self, j, kept, 2 * np.int64(x[j]) - 1)


def _draw_repair(self: Any, x: Any, kept: Any, r0: Any, r1: Any) -> Any:
    """A decision in a broken row, of the rows from one drawn at random on; only so many are looked at."""
    rows = np.int64(self.least.shape[0])
    row = below(r0, rows)
    for _ in range(min(rows, np.int64(_ROWS_LOOKED_AT))):
        left = kept[self.at + row]
        if left < self.least[row] or left > self.largest[row]:
            first, count = self.starts[row], self.starts[row + 1] - self.starts[row]
            entry = below(r1, count) if count > 0 else np.int64(0)
            for _ in range(count):
                i, value = self.columns[first + entry], self.values[first + entry]
                grows = (value > 0) == (x[self.columns[first + entry]] == 0)
                if grows == (left < self.least[row]):
                    return np.int64(i)
                entry = entry + 1 if entry + 1 < count else np.int64(0)
        row = row + 1 if row + 1 < rows else np.int64(0)
    return np.int64(NONE)


@dataclass(frozen=True)
class Linear(Part):
    """A linear sum over bits; with a relation and a bound, constraints, whose violation is what rows are off by.

    Parameters
    ----------
    coefficients
        The name of a field, or a function of the instance: numbers, one for each decision. With a relation a matrix, a
        row for each constraint: an array, a sparse matrix of SciPy, or three arrays (rows, columns, values).
    relation : {"<=", ">=", "=="}, optional
        Between the sum of each row and its bound.
    bound
        A number, numbers, the name of a field, or a function of the instance.
    """

    encodings = (Binary,)

    coefficients: str | Function
    relation: str | None = None
    bound: str | float | Function | None = None

    def check(self, owner: str, objectives: int) -> None:
        super().check(owner, objectives)
        if self.relation is not None and self.relation not in _RELATIONS:
            raise InputError(
                f"the relation in Linear of {owner} must be one of {', '.join(_RELATIONS)}, but got {self.relation!r}"
            )
        if (self.relation is None) != (self.bound is None):
            raise InputError(f"a constraint has a relation and a bound, but Linear of {owner} has only one of them")

    @property
    def has_gains(self) -> bool:
        return not self.is_constraint

    @property
    def is_constraint(self) -> bool:
        """Whether there is a relation."""
        return self.relation is not None

    def makers(self) -> dict[str, FunctionType]:
        given = {"coefficients": self.coefficients, "bound": self.bound}
        return {name: value for name, value in given.items() if isinstance(value, FunctionType)}

    def data(self, problem: Problem) -> dict[str, Any]:
        n, owner = problem.encoding.space(problem).n, type(problem).__name__
        given = field_or_made(problem, self.coefficients, "`coefficients`")
        if not self.is_constraint:
            numbers = np.asarray(given)
            if numbers.shape != (n,) or numbers.dtype.kind not in "biuf":
                raise InputError(f"Linear of {owner} needs {n} coefficients, but got an array of shape {numbers.shape}")
            return {"coefficients": numbers.astype(np.float64 if numbers.dtype.kind == "f" else np.int64)}
        rows, columns, values = read_matrix(given, n, f"the matrix of Linear in {owner}")
        bounds = np.atleast_1d(np.asarray(field_or_made(problem, self.bound, "`bound`")))
        if bounds.dtype.kind not in "biuf" or bounds.ndim != 1:
            raise InputError(f"the bound of Linear in {owner} must be numbers, but got {self.bound!r}")
        count = max(len(bounds), int(rows.max()) + 1 if len(rows) else 1, _rows_of(given))
        if len(bounds) not in (1, count):
            raise InputError(
                f"the bound of Linear in {owner} must be one number or {count}, one for each row, but got {len(bounds)}"
            )
        floats = "f" in (values.dtype.kind, bounds.dtype.kind)
        kind: type = np.float64 if floats else np.int64
        entries = by_rows(rows, columns, values.astype(kind), count)
        by_columns = entries.transposed(n)
        bounds = np.broadcast_to(bounds, (count,)).astype(kind)
        least, largest = _limits(self.relation or "", bounds, entries.values)
        return {
            "starts": entries.starts,
            "columns": entries.columns,
            "values": entries.values if len(entries.values) else np.zeros(1, kind),
            "of_starts": by_columns.starts,
            "of_rows": by_columns.columns,
            "of_values": by_columns.values,
            "least": least,
            "largest": largest,
        }

    def implementations(self, problem: Problem, data: dict[str, Any]) -> tuple[str, dict[str, Implementation]]:
        if not self.is_constraint:
            return "LinearSum", {
                "part_total": _total_of_sum,
                "part_delta": _delta_of_sum,
                "add_gains": _add_gains,
                "before_change": nothing_changes,
                "after_change": nothing_changes,
            }
        return "Linear", {
            "part_total": _total,
            "init_part": _init,
            "part_delta": _delta,
            "update_part": _update,
            "draw_repair": _draw_repair,
        }

    def size(self, problem: Problem) -> int:
        return len(self.data(problem)["least"]) if self.is_constraint else 0

    def describe(self, problem: Problem) -> str:
        if not self.is_constraint:
            return "a linear sum; a move costs one or two additions"
        data = self.data(problem)
        columns = len(data["of_starts"]) - 1
        return f"{len(data['least'])} linear constraints; a flip changes {len(data['of_rows']) / columns:.1f} of them"


def _rows_of(given: Matrix) -> int:
    """How many rows a matrix says that it has."""
    shape: tuple[int, ...] = getattr(given, "shape", ())
    return int(shape[0]) if len(shape) == 2 else 0


def _limits(relation: str, bounds: Array, values: Array) -> tuple[Array, Array]:
    """The least and the largest sum that each row may have; where there is no such limit, one that no sum reaches."""
    if bounds.dtype.kind == "f":
        low, high = np.float64(-np.inf), np.float64(np.inf)
    else:
        reach = sum(abs(int(v)) for v in values)
        if reach + int(np.abs(bounds).max()) >= 2**61:
            raise InputError(
                f"sums of the constraints must stay below 2**61, but may reach {reach}; scale the data down"
            )
        low, high = np.int64(-reach - 1), np.int64(reach + 1)
    least = bounds if relation in (">=", "==") else np.full_like(bounds, low)
    largest = bounds if relation in ("<=", "==") else np.full_like(bounds, high)
    return least, largest
