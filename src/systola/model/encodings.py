"""What a solution is: bits, integers or a permutation.

An encoding is declared on a problem class; its length is a number, or the name of the problem's field that holds it.
On the host it checks, packs and unpacks solutions; its `space` is the record by which kernels draw and read them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from systola.errors import InputError
from systola.jit.dispatch import dispatched, register_each
from systola.model.rng import below, draw
from systola.simd import bits

if TYPE_CHECKING:
    from systola.model.problem import Problem

Array = NDArray[Any]
Solutions = Array | Sequence[Array | Sequence[int]]  # rows of decisions, or one row


@dispatched
def sample(space: Any, x: Any, row: Any, seed: Any, purpose: Any, step: Any, cell: Any) -> Any:
    """Write a uniformly random solution into x[row]."""


@dispatched
def decode(space: Any, x: Any, row: Any, decisions: Any, lane: Any) -> Any:
    """Write the plain decisions of the stored solution x[row] into decisions[lane]."""


class Bits(NamedTuple):
    """Space of n packed bits."""

    n: int


class Digits(NamedTuple):
    """Space of integers, low[i] <= x[i] <= high[i]."""

    n: int
    low: Array
    high: Array


class Order(NamedTuple):
    """Space of the permutations of 0..n-1."""

    n: int


Space = Bits | Digits | Order


def _sample_bits(space: Any, x: Any, row: Any, seed: Any, purpose: Any, step: Any, cell: Any) -> None:
    words = x.shape[1]
    for k in range((words + 1) // 2):
        r0, r1, r2, r3 = draw(seed, purpose, step, cell, k)
        x[row, 2 * k] = r0 | (r1 << np.uint64(32))
        if 2 * k + 1 < words:
            x[row, 2 * k + 1] = r2 | (r3 << np.uint64(32))
    for w in range(space.n >> 6, words):
        x[row, w] &= bits.segment_mask(w, 0, space.n)


def _decode_bits(space: Any, x: Any, row: Any, decisions: Any, lane: Any) -> None:
    for w in range(x.shape[1]):
        word = x[row, w]
        for i in range(w << 6, min(space.n, (w + 1) << 6)):
            decisions[lane, i] = np.uint8(word & np.uint64(1))
            word = word >> np.uint64(1)


def _sample_digits(space: Any, x: Any, row: Any, seed: Any, purpose: Any, step: Any, cell: Any) -> None:
    for i in range(space.n):
        r0, _, _, _ = draw(seed, purpose, step, cell, i)
        x[row, i] = np.int64(space.low[i]) + below(r0, np.int64(space.high[i]) - np.int64(space.low[i]) + 1)


def _sample_order(space: Any, x: Any, row: Any, seed: Any, purpose: Any, step: Any, cell: Any) -> None:
    for i in range(space.n):
        r0, _, _, _ = draw(seed, purpose, step, cell, i)
        j = below(r0, i + 1)
        x[row, i] = x[row, j]  # Fisher and Yates, inside out
        x[row, j] = i


def _decode_row(space: Any, x: Any, row: Any, decisions: Any, lane: Any) -> None:
    for i in range(space.n):
        decisions[lane, i] = x[row, i]


register_each("sample", {Bits: _sample_bits, Digits: _sample_digits, Order: _sample_order})
register_each("decode", {Bits: _decode_bits, Digits: _decode_row, Order: _decode_row})


def _length(problem: Problem | None, n: int | str) -> int:
    value = getattr(problem, n) if isinstance(n, str) else n
    if isinstance(value, np.ndarray):
        value = value.shape[0]
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise InputError(f"a solution needs a length of at least 1, but {type(problem).__name__} says {value!r}")
    if value >= 2**31:
        raise InputError(f"a solution has fewer than 2**31 decisions, but {type(problem).__name__} says {value}")
    return int(value)


class Encoding(ABC):
    """What all encodings offer."""

    @abstractmethod
    def space(self, problem: Problem | None) -> Space:
        """The record by which kernels know the solutions of this problem."""

    @abstractmethod
    def store(self, space: Space, solutions: Solutions) -> Array:
        """Checked rows of decisions as rows of storage."""

    def load(self, space: Space, rows: Array) -> Array:
        """Rows of storage as rows of decisions."""
        return np.array(rows, np.int32)

    def empty(self, space: Space, rows: int) -> Array:
        """Storage for this many solutions, not initialised."""
        return np.empty((rows, space.n), np.int32)

    def blank(self, space: Space, rows: int) -> Array:
        """Rows of plain decisions, as `evaluate` gets them."""
        return np.zeros((rows, space.n), np.int32)

    @abstractmethod
    def are_valid(self, space: Space, rows: Array) -> Array:
        """Which rows of storage, from a file, hold solutions."""

    def example(self, space: Space) -> Array:
        """The plain decisions of one solution, whichever."""
        one: Array = self.blank(space, 1)[0]
        return one


def _as_rows(solutions: Solutions, n: int, what: str) -> Array:
    try:
        given = np.asarray(solutions)
        rows = np.atleast_2d(given)
    except ValueError:
        raise InputError(f"{what} needs {n} decisions a solution, but got rows of different lengths") from None
    if rows.dtype.kind not in "biuf":
        raise InputError(f"{what} needs whole numbers, but got {rows.dtype} values")
    if rows.ndim != 2 or rows.shape[1] != n:
        raise InputError(f"{what} needs {n} decisions a solution, but got an array of shape {given.shape}")
    if not (np.issubdtype(rows.dtype, np.integer) or rows.dtype == bool):
        if not np.all(np.equal(np.mod(rows, 1), 0)):
            raise InputError(f"{what} needs whole numbers, but got {rows.dtype} values such as {rows.flat[0]!r}")
        rows = rows.astype(np.int64)
    return rows


@dataclass(frozen=True)
class Binary(Encoding):
    """Zero or one for each of n decisions; `n` is a number or the name of a field."""

    n: int | str

    def space(self, problem: Problem | None) -> Bits:
        return Bits(_length(problem, self.n))

    def store(self, space: Space, solutions: Solutions) -> Array:
        rows = _as_rows(solutions, space.n, "a binary encoding")
        if not np.isin(rows, (0, 1)).all():
            raise InputError(f"binary decisions are 0 or 1, but got {rows[~np.isin(rows, (0, 1))][0]}")
        return bits.pack(rows)

    def load(self, space: Space, rows: Array) -> Array:
        return bits.unpack(rows, space.n)

    def empty(self, space: Space, rows: int) -> Array:
        return np.empty((rows, bits.words_for(space.n)), np.uint64)

    def blank(self, space: Space, rows: int) -> Array:
        return np.zeros((rows, space.n), np.uint8)

    def are_valid(self, space: Space, rows: Array) -> Array:
        surplus = 64 * rows.shape[1] - space.n  # bits of the last word that stand for nothing
        valid: Array = rows[:, -1] <= np.uint64(2**64 - 1) >> np.uint64(surplus)
        return valid


@dataclass(frozen=True)
class Integers(Encoding):
    """n integers with low <= x[i] <= high; bounds are numbers, arrays of length n, or names of fields."""

    n: int | str
    low: Any = 0
    high: Any = 1

    def space(self, problem: Problem | None) -> Digits:
        n = _length(problem, self.n)
        low, high = (self._bound(problem, name, n) for name in ("low", "high"))
        if (low > high).any():
            i = int(np.argmax(low > high))
            raise InputError(f"low <= high must hold, but decision {i} has low {low[i]} and high {high[i]}")
        return Digits(n, low, high)

    def example(self, space: Space) -> Array:
        assert isinstance(space, Digits)
        return np.array(space.low)

    def _bound(self, problem: Problem | None, name: str, n: int) -> Array:
        bound = getattr(self, name)
        if isinstance(bound, str):
            if not hasattr(problem, bound):
                raise InputError(f"`{name}` names the field {bound!r}, which {type(problem).__name__} does not have")
            bound = getattr(problem, bound)
        values = np.asarray(bound)
        if values.shape not in ((), (n,)) or values.dtype.kind not in "iu":
            raise InputError(f"`{name}` must be a whole number, or {n} of them, but got {bound!r}")
        if (values < -(2**31)).any() or (values >= 2**31).any():
            raise InputError(f"`{name}` must fit into 32 bits, but got {bound!r}")
        return np.ascontiguousarray(np.broadcast_to(values, (n,)), dtype=np.int32)

    def store(self, space: Space, solutions: Solutions) -> Array:
        assert isinstance(space, Digits)
        rows = _as_rows(solutions, space.n, "an integer encoding")
        outside = (rows < space.low) | (rows > space.high)
        if outside.any():
            r, i = np.argwhere(outside)[0]
            raise InputError(
                f"{space.low[i]} <= x[{i}] <= {space.high[i]} must hold, but got {rows[r, i]} in solution {r}"
            )
        return rows.astype(np.int32)

    def are_valid(self, space: Space, rows: Array) -> Array:
        assert isinstance(space, Digits)
        valid: Array = np.all((rows >= space.low) & (rows <= space.high), axis=1)
        return valid


@dataclass(frozen=True)
class Permutation(Encoding):
    """An order of 0..n-1."""

    n: int | str

    def space(self, problem: Problem | None) -> Order:
        return Order(_length(problem, self.n))

    def example(self, space: Space) -> Array:
        return np.arange(space.n, dtype=np.int32)

    def store(self, space: Space, solutions: Solutions) -> Array:
        rows = _as_rows(solutions, space.n, "a permutation")
        for r, row in enumerate(rows):
            if not np.array_equal(np.sort(row), np.arange(space.n)):
                raise InputError(f"a permutation has each of 0..{space.n - 1} once, but solution {r} does not")
        return rows.astype(np.int32)

    def are_valid(self, space: Space, rows: Array) -> Array:
        valid: Array = (np.sort(rows, axis=1) == np.arange(space.n)).all(axis=1)
        return valid
