"""Elementary moves of each encoding: made in place, undone, and which decisions they touch.

Permutations: a swap, a rotation (which moves a block of items elsewhere: an insertion, or-opt), a reversal. Bits: a
flip, an exchange of a one and a zero. Integers: a new value, a value nearby, an exchange of two values. A move is four
whole numbers: its kind and three that mean something for that kind.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from systola.jit.compile import inlined
from systola.jit.dispatch import Implementation, dispatched, register
from systola.model.encodings import Bits, Digits, Order, Space
from systola.model.moves import reverse_in, swap_in

NO_MOVE = -1  # the kind of a draw that gave none
KINDS = {Order: 3, Bits: 2, Digits: 3}
SWAP, ROTATE, REVERSE = range(3)  # places i < j; places a < b < c, the items from b on come first; places i < j
FLIP, EXCHANGE_BITS = range(2)  # decision i; a one i and a zero j
REASSIGN, CREEP, EXCHANGE = range(3)  # decision i, its value now, its value then; the same; decisions i and j


def kinds_of(space: Space) -> int:
    """How many kinds of moves there are."""
    return KINDS[type(space)]


@dispatched
def make_move(space: Any, x: Any, kind: Any, i: Any, j: Any, k: Any) -> Any:
    """Make a move of the stored solution x, in place."""


@dispatched
def undo_move(space: Any, x: Any, kind: Any, i: Any, j: Any, k: Any) -> Any:
    """Take a move back that was made last."""


@dispatched
def make_plain_move(space: Any, x: Any, kind: Any, i: Any, j: Any, k: Any) -> Any:
    """As `make_move`, of plain decisions."""


@dispatched
def undo_plain_move(space: Any, x: Any, kind: Any, i: Any, j: Any, k: Any) -> Any:
    """As `undo_move`, of plain decisions."""


@dispatched
def touched(space: Any, kind: Any, i: Any, j: Any, k: Any) -> Any:
    """Which decisions a move changes: first, first + stride, ..., below last."""


@inlined
def rotate_in(x: Any, a: Any, b: Any, c: Any) -> None:
    """The items of a <= place < b come after those of b <= place < c."""
    reverse_in(x, a, b - 1)
    reverse_in(x, b, c - 1)
    reverse_in(x, a, c - 1)


@inlined
def _one(i: Any) -> Any:
    return np.int64(i), np.int64(i) + 1, np.int64(1)


@inlined
def _two(i: Any, j: Any) -> Any:
    first, last = min(np.int64(i), np.int64(j)), max(np.int64(i), np.int64(j))
    return first, last + 1, max(last - first, np.int64(1))


def _make_in_order(space: Any, x: Any, kind: Any, i: Any, j: Any, k: Any) -> None:
    if kind == SWAP:
        swap_in(x, i, j)
    elif kind == REVERSE:
        reverse_in(x, i, j)
    elif kind == ROTATE:
        rotate_in(x, i, j, k)


def _undo_in_order(space: Any, x: Any, kind: Any, i: Any, j: Any, k: Any) -> None:
    make_move(space, x, kind, i, i + k - j if kind == ROTATE else j, k)


def _touched_in_order(space: Any, kind: Any, i: Any, j: Any, k: Any) -> Any:
    if kind == SWAP:
        return _two(i, j)
    return np.int64(i), np.int64(k if kind == ROTATE else j + 1), np.int64(1)


def _flip_in_bits(space: Any, x: Any, kind: Any, i: Any, j: Any, k: Any) -> None:
    if kind != NO_MOVE:
        x[i >> 6] ^= np.uint64(1) << np.uint64(i & 63)
    if kind == EXCHANGE_BITS:
        x[j >> 6] ^= np.uint64(1) << np.uint64(j & 63)


def _flip_plainly(space: Any, x: Any, kind: Any, i: Any, j: Any, k: Any) -> None:
    if kind != NO_MOVE:
        x[i] ^= 1
    if kind == EXCHANGE_BITS:
        x[j] ^= 1


def _touched_in_bits(space: Any, kind: Any, i: Any, j: Any, k: Any) -> Any:
    return _two(i, j) if kind == EXCHANGE_BITS else _one(i)


def _make_in_digits(space: Any, x: Any, kind: Any, i: Any, j: Any, k: Any) -> None:
    if kind == EXCHANGE:
        swap_in(x, i, j)
    elif kind != NO_MOVE:
        x[i] = k


def _undo_in_digits(space: Any, x: Any, kind: Any, i: Any, j: Any, k: Any) -> None:
    if kind == EXCHANGE:
        swap_in(x, i, j)
    elif kind != NO_MOVE:
        x[i] = j


def _touched_in_digits(space: Any, kind: Any, i: Any, j: Any, k: Any) -> Any:
    return _two(i, j) if kind == EXCHANGE else _one(i)


_FUNCTIONS: dict[str, tuple[Implementation, Implementation, Implementation]] = {
    "make_move": (_make_in_order, _flip_in_bits, _make_in_digits),
    "undo_move": (_undo_in_order, _flip_in_bits, _undo_in_digits),
    "make_plain_move": (_make_in_order, _flip_plainly, _make_in_digits),
    "undo_plain_move": (_undo_in_order, _flip_plainly, _undo_in_digits),
    "touched": (_touched_in_order, _touched_in_bits, _touched_in_digits),
}
for _name, _functions in _FUNCTIONS.items():
    for _space, _function in zip((Order, Bits, Digits), _functions, strict=True):
        register(_name, _space, _function)
