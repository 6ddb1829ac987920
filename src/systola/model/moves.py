"""Moves as numbers: every move from a solution to a neighbour has a number of 0..size-1, and every such number a move.

So a thread that knows its own number knows its move, and a random number is a random move. Reassignments and swaps are
numbered as in Luong, Melab, Talbi: GPU-based approaches for multiobjective local search algorithms (EvoCOP 2011),
section 5.1. Everything is exact: where a root is needed, a float is the estimate and whole numbers decide.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from systola.errors import InputError
from systola.jit.compile import inlined
from systola.model.encodings import Binary, Encoding, Integers, Permutation, Solutions

Array = NDArray[Any]


@inlined
def _pairs(n: Any) -> Any:
    """n (n - 1) / 2; the even factor is halved first, so that nothing overflows which fits."""
    return (n >> 1) * ((n - 1) | 1)


@inlined
def _triples(n: Any) -> Any:
    """n (n - 1) (n - 2) / 6; the factor that three divides is divided first."""
    if n % 3 == 2:
        return _pairs(n) * ((n - 2) // 3)
    return (_pairs(n) // 3) * (n - 2)


# Numbers in lexicographic order are found from the end: if a, b and c positions lie behind those of i < j < k, then
# C(a, 3) + C(b, 2) + c moves come after, and a is the largest number with C(a, 3) <= that sum; likewise for pairs.


@inlined
def _behind_pair(after: Any) -> Any:
    """How many positions lie behind those of the pair after which so many others come."""
    b = np.int64(math.sqrt(2.0 * np.float64(after))) + 1  # right, or one too many: C(b, 2) is about (b - 1/2)^2 / 2
    if _pairs(b) > after:
        b -= 1
    return b, after - _pairs(b)


@inlined
def pair_of(number: Any, n: Any) -> Any:
    """The pair i < j of 0..n-1 with this number, in lexicographic order; n up to 2**32."""
    n = np.int64(n)
    b, c = _behind_pair(_pairs(n) - 1 - np.int64(number))
    return n - 1 - b, n - 1 - c


@inlined
def number_of_pair(i: Any, j: Any, n: Any) -> Any:
    """The number of the pair i < j of 0..n-1."""
    n = np.int64(n)
    return _pairs(n) - 1 - _pairs(n - 1 - np.int64(i)) - (n - 1 - np.int64(j))


@inlined
def triple_of(number: Any, n: Any) -> Any:
    """The triple i < j < k of 0..n-1 with this number, in lexicographic order; n up to 3810779."""
    n = np.int64(n)
    after = _triples(n) - 1 - np.int64(number)
    a = np.int64((6.0 * np.float64(after)) ** (1.0 / 3.0)) + 2  # right, or one too many: C(a, 3) is about (a - 1)^3 / 6
    if _triples(a) > after:
        a -= 1
    b, c = _behind_pair(after - _triples(a))
    return n - 1 - a, n - 1 - b, n - 1 - c


@inlined
def number_of_triple(i: Any, j: Any, k: Any, n: Any) -> Any:
    """The number of the triple i < j < k of 0..n-1."""
    n = np.int64(n)
    after = _triples(n - 1 - np.int64(i)) + _pairs(n - 1 - np.int64(j)) + (n - 1 - np.int64(k))
    return _triples(n) - 1 - after


@inlined
def reassignment_of(number: Any, starts: Any, others: Any) -> Any:
    """The decision i with this number, and the rank of its new value among all but the present one.

    Decision i has the moves starts[i] <= number < starts[i + 1]; `others` is how many that are, if the same for all
    decisions, else 0.
    """
    number, others = np.int64(number), np.int64(others)
    if others > 0:
        return number // others, number % others
    low, high = np.int64(0), np.int64(starts.shape[0]) - 1
    while high - low > 1:
        middle = (low + high) >> 1
        if starts[middle] <= number:
            low = middle
        else:
            high = middle
    return low, number - starts[low]


@inlined
def number_of_reassignment(i: Any, rank: Any, starts: Any) -> Any:
    """The number of the move that gives decision i the value of this rank."""
    return starts[i] + np.int64(rank)


@inlined
def value_of_rank(rank: Any, low: Any, present: Any) -> Any:
    """The value of this rank among those from `low` on, without the present one."""
    value = np.int64(low) + np.int64(rank)
    return value + 1 if value >= present else value


@inlined
def rank_of_value(value: Any, low: Any, present: Any) -> Any:
    """The rank of a value among those from `low` on, without the present one."""
    rank = np.int64(value) - np.int64(low)
    return rank - 1 if value > present else rank


@inlined
def insertion_of(number: Any, n: Any) -> Any:
    """The insertion with this number, from position i to position j; n up to 3037000500.

    From i to i - 1 is the same as from i - 1 to i and counts as the latter: 0 has n - 1 moves, each other i has n - 2.
    """
    number, n = np.int64(number), np.int64(n)
    if number < n - 1:
        return np.int64(0), number + 1
    i = (number - 1) // (n - 2)
    j = (number - 1) % (n - 2)
    return i, j if j < i - 1 else j + 2


@inlined
def number_of_insertion(i: Any, j: Any, n: Any) -> Any:
    """The number of the insertion from position i to position j, which is neither i nor i - 1."""
    i, j = np.int64(i), np.int64(j)
    if i == 0:
        return j - 1
    return 1 + i * (np.int64(n) - 2) + (j if j < i else j - 2)


@inlined
def swap_in(x: Any, i: Any, j: Any) -> None:
    """Exchange x[i] and x[j]."""
    x[i], x[j] = x[j], x[i]


@inlined
def insert_in(x: Any, i: Any, j: Any) -> None:
    """Take x[i] out and put it back at position j of the result."""
    taken = x[i]
    for place in range(i, j):
        x[place] = x[place + 1]
    for place in range(i, j, -1):
        x[place] = x[place - 1]
    x[j] = taken


@inlined
def reverse_in(x: Any, i: Any, j: Any) -> None:
    """Reverse x[i], ..., x[j]."""
    for step in range((j - i + 1) >> 1):
        swap_in(x, i + step, j - step)


def _whole(*values: float) -> bool:
    return all(isinstance(v, (int, np.integer)) and not isinstance(v, bool) for v in values)


class Moves(ABC):
    """What all neighbourhoods offer beside `number(*move)`: their moves, numbered from 0 to `size` - 1."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many moves there are."""

    @abstractmethod
    def _encoding(self) -> Encoding: ...

    @abstractmethod
    def _find(self, number: int) -> Any: ...

    @abstractmethod
    def _make(self, x: Array, *move: int) -> None: ...

    def move(self, number: int) -> tuple[int, ...]:
        """The move with this number."""
        if not _whole(number) or not 0 <= number < self.size:
            raise InputError(f"`0 <= number < size` must hold, but got {number!r}, and there are {self.size} moves")
        return tuple(int(part) for part in self._find(int(number)))

    def apply(self, x: Solutions, number: int) -> Array:
        """The neighbour of the solution x to which the move with this number leads, as a new array."""
        move = self.move(number)
        encoding = self._encoding()
        space = encoding.space(None)
        rows = encoding.store(space, x)
        if len(rows) != 1:
            raise InputError(f"a move is for one solution, but got {len(rows)} of them; pass one row at a time")
        neighbour: Array = encoding.load(space, rows)[0]
        self._make(neighbour, *move)
        return neighbour


@dataclass(frozen=True)
class _OfLength(Moves):
    n: int

    def __post_init__(self) -> None:
        if not _whole(self.n) or self.n < 1:
            raise InputError(f"`n` must be a whole number of at least 1, but got {self.n!r}")
        object.__setattr__(self, "n", int(self.n))  # a NumPy number would overflow
        if self.size >= 2**63:
            raise InputError(f"numbers of moves must fit into 63 bits, but there are {self.size}; choose a smaller `n`")

    def _encoding(self) -> Encoding:
        return Permutation(self.n)

    def _check_ascending(self, *move: int) -> None:
        if not _whole(*move) or not all(a < b for a, b in zip((-1, *move), (*move, self.n), strict=True)):
            raise InputError(f"positions of 0..{self.n - 1} must be given in ascending order, but got {move}")


_SUBSETS: dict[int, tuple[Callable[..., Any], Callable[..., Any]]] = {
    1: (lambda number, n: (number,), lambda i, n: i),
    2: (pair_of, number_of_pair),
    3: (triple_of, number_of_triple),
}


@dataclass(frozen=True)
class FlipMoves(_OfLength):
    """Flip k of n bits: a move is their positions in ascending order, and moves are numbered in lexicographic order.

    Parameters
    ----------
    n : int
        How many bits a solution has.
    k : {1, 2, 3}
        How many of them a move flips.
    """

    k: int = 1

    def __post_init__(self) -> None:
        if not _whole(self.k) or self.k not in _SUBSETS:
            raise InputError(f"`k` must be 1, 2 or 3, but got {self.k!r}")
        super().__post_init__()

    @property
    def size(self) -> int:
        return math.comb(self.n, self.k)

    def number(self, *move: int) -> int:
        """The number of the move that flips the bits at these positions."""
        if len(move) != self.k:
            raise InputError(f"a move must have {self.k} positions, as `k` says, but got {move}")
        self._check_ascending(*move)
        _, count = _SUBSETS[self.k]
        return int(count(*move, self.n))

    def _encoding(self) -> Encoding:
        return Binary(self.n)

    def _find(self, number: int) -> Any:
        find, _ = _SUBSETS[self.k]
        return find(number, self.n)

    def _make(self, x: Array, *move: int) -> None:
        x[list(move)] ^= 1


@dataclass(frozen=True)
class _Pairs(_OfLength):
    @property
    def size(self) -> int:
        return math.comb(self.n, 2)

    def number(self, i: int, j: int) -> int:
        """The number of the move of positions i < j."""
        self._check_ascending(i, j)
        return int(number_of_pair(i, j, self.n))

    def _find(self, number: int) -> Any:
        return pair_of(number, self.n)


class SwapMoves(_Pairs):
    """Exchange positions i < j of a permutation of 0..n-1, numbered by Propositions 1 and 2 of the paper."""

    def _make(self, x: Array, *move: int) -> None:
        swap_in(x, *move)


class ReversalMoves(_Pairs):
    """Reverse positions i, ..., j of a permutation of 0..n-1, which is 2-opt; i < j are numbered as swaps."""

    def _make(self, x: Array, *move: int) -> None:
        reverse_in(x, *move)


class InsertionMoves(_OfLength):
    """Take position i out of a permutation of 0..n-1 and put it back as position j; numbered in lexicographic order.

    From i to i - 1 leads to the same neighbour as from i - 1 to i, so only the latter is a move.
    """

    @property
    def size(self) -> int:
        return (self.n - 1) ** 2

    def number(self, i: int, j: int) -> int:
        """The number of the move from position i to position j."""
        if not _whole(i, j) or not (0 <= i < self.n and 0 <= j < self.n) or j in (i, i - 1):
            raise InputError(
                f"an insertion is from i to j, both of 0..{self.n - 1}, where j is neither i nor i - 1, but got "
                f"{(i, j)}; instead of i to i - 1 take i - 1 to i"
            )
        return int(number_of_insertion(i, j, self.n))

    def _find(self, number: int) -> Any:
        return insertion_of(number, self.n)

    def _make(self, x: Array, *move: int) -> None:
        insert_in(x, *move)


@dataclass(frozen=True, eq=False)
class ReassignmentMoves(Moves):
    """Give one decision another value: a move is the decision and the rank of the value among all but the present one.

    Parameters
    ----------
    low, high : int or array
        Least and largest value of each decision; one number is for all of them.
    """

    low: Any
    high: Any
    starts: Array = field(init=False, repr=False)  # these two are what `reassignment_of` needs
    others: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        n = max(1, np.size(self.low), np.size(self.high))
        space = Integers(n, self.low, self.high).space(None)
        widths = space.high.astype(np.int64) - space.low
        object.__setattr__(self, "low", space.low.copy())
        object.__setattr__(self, "high", space.high.copy())
        object.__setattr__(self, "starts", np.concatenate([[0], np.cumsum(widths)]))
        object.__setattr__(self, "others", int(widths[0]) if (widths == widths[0]).all() else 0)

    @property
    def size(self) -> int:
        return int(self.starts[-1])

    def number(self, i: int, rank: int) -> int:
        """The number of the move that gives decision i the value of this rank."""
        n = len(self.low)
        if not _whole(i, rank) or not (0 <= i < n and 0 <= rank < self.starts[i + 1] - self.starts[i]):
            raise InputError(
                f"a reassignment is a decision i of 0..{n - 1} and a rank below high[i] - low[i], but got {(i, rank)}"
            )
        return int(number_of_reassignment(i, rank, self.starts))

    def _encoding(self) -> Encoding:
        return Integers(len(self.low), self.low, self.high)

    def _find(self, number: int) -> Any:
        return reassignment_of(number, self.starts, self.others)

    def _make(self, x: Array, *move: int) -> None:
        i, rank = move
        x[i] = value_of_rank(rank, self.low[i], x[i])
