"""Solutions and their measures, for problems that are measured elsewhere: by other processes, or by people.

Kernels look a solution up in place of measuring it. One that is not known yet is noted down, and the stop flag is set:
whoever runs the kernel gets the solution measured, and lets the kernel begin again.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload
from numpy.typing import DTypeLike

from systola.jit.atomics import store
from systola.jit.compile import inlined
from systola.jit.stop_flag import ASKED, NOW
from systola.model.encodings import Array

USED, MET, FULL = range(3)  # of the counts: entries, unknown solutions met, whether there was no room for one
UNKNOWN, REAL, WHOLE = range(3)  # whether an entry's measures are known, and whether all are whole numbers
_FREE = -1
_LEAST_ROOM = 256


class ValueTable(NamedTuple):
    """What kernels see: a hash table without removals. Entries are numbered as they came."""

    weights: Array  # [n] of the decisions, in the hash
    shift: Any  # which leaves as many bits of a hash as there are places for
    places: Array  # by hash: the entry that is there, or _FREE
    solutions: Array  # [room, n] plain decisions
    values: Array  # [room + 1, measures]; the last row stands for all that is unknown
    known: Array  # [room]
    counts: Array
    stop: Array  # the stop flag of the lanes that look solutions up


def _hash(weights: Any, x: Any) -> Any:
    """A sum of products modulo 2**64; its upper bits are as good as random."""
    return (weights * x.astype(np.uint64)).sum()


@overload(_hash, strict=False)  # type: ignore[untyped-decorator]
def _hash_compiled(weights: Any, x: Any) -> Any:
    def in_a_loop(weights: Any, x: Any) -> Any:
        total = np.uint64(0)
        for i in range(weights.shape[0]):
            total += weights[i] * np.uint64(np.int64(x[i]))
        return total

    return in_a_loop


def _is_at(solutions: Any, entry: Any, x: Any) -> Any:
    """Whether x is the solution of this entry."""
    return bool((solutions[entry] == x).all())


@overload(_is_at, strict=False)  # type: ignore[untyped-decorator]
def _is_at_compiled(solutions: Any, entry: Any, x: Any) -> Any:
    def in_a_loop(solutions: Any, entry: Any, x: Any) -> Any:
        same = True
        for i in range(solutions.shape[1]):
            same = same and solutions[entry, i] == x[i]
        return same

    return in_a_loop


@inlined
def _seek(table: Any, x: Any) -> Any:
    """The entry of x, or _FREE, and the place where it is, or would be."""
    place = np.int64(_hash(table.weights, x) >> table.shift)
    entry = np.int64(table.places[place])
    while entry != _FREE and not _is_at(table.solutions, entry, x):
        place = (place + 1) & (table.places.shape[0] - 1)
        entry = np.int64(table.places[place])
    return entry, place


@inlined
def _note_down(table: Any, place: Any, x: Any) -> Any:
    """A new entry, at this free place; _FREE if there is no room."""
    entry = table.counts[USED]
    if entry == table.solutions.shape[0]:
        table.counts[FULL] = 1
        return np.int64(_FREE)
    for i in range(table.solutions.shape[1]):
        table.solutions[entry, i] = x[i]
    table.places[place] = entry
    table.counts[USED] = entry + 1
    return np.int64(entry)


@inlined
def look_up(table: Any, x: Any) -> Any:
    """The row of `values` with the measures of x. If they are not known it is noted down, and kernels asked to leave.

    Until they do they go on with other measures, which belong to some solution: functions of a user may rely on that.
    """
    entry, place = _seek(table, x)
    if entry != _FREE and table.known[entry] != UNKNOWN:
        return entry
    if entry == _FREE:
        _note_down(table, place, x)
    table.counts[MET] += 1
    store(table.stop, ASKED, NOW)
    return np.int64(table.solutions.shape[0])


class Values:
    """The host's side of a table.

    Parameters
    ----------
    blank : array
        A row of plain decisions, as kernels have them.
    measures, dtype
        How many there are of a solution, and their type.
    most : int
        How many solutions are remembered from step to step.
    stop : array
        The stop flag of the lanes that look solutions up.
    """

    def __init__(self, blank: Array, measures: int, dtype: DTypeLike, most: int, stop: Array) -> None:
        self._most, self._stop = most, stop
        self._weights = np.random.default_rng(0).integers(0, 2**64, blank.shape[0], np.uint64)
        solutions, values = np.zeros((0, blank.shape[0]), blank.dtype), np.zeros((0, measures), dtype)
        self.table = self._build(_LEAST_ROOM, solutions, values, np.zeros(0, np.uint8))

    def __len__(self) -> int:
        return int(self.table.counts[USED])

    @property
    def room(self) -> int:
        """How many entries there can be before it must grow."""
        return len(self.table.solutions)

    @property
    def is_short_of_room(self) -> bool:
        """Whether there was no room for a solution that was met."""
        return bool(self.table.counts[FULL])

    def take_met(self) -> int:
        """How often kernels have met an unknown solution since this was last asked."""
        met = int(self.table.counts[MET])
        self.table.counts[MET] = 0
        return met

    def grow(self) -> None:
        """Twice the room."""
        used = len(self)
        self.table = self._build(
            2 * self.room, self.table.solutions[:used], self.table.values[:used], self.table.known[:used]
        )

    def tidy(self, kept: Array) -> None:
        """Between two steps: forget all solutions but this one, if they are many."""
        if len(self) > self._most:
            entries = [entry for entry in [self.find(kept)] if entry != _FREE]
            table = self.table
            self.table = self._build(self.room, table.solutions[entries], table.values[entries], table.known[entries])

    def unknown(self) -> Array:
        """The entries whose measures are not known, in the order in which they were met."""
        return np.flatnonzero(self.table.known[: len(self)] == UNKNOWN)

    def find(self, decisions: Array) -> int:
        """The entry of a solution, or -1."""
        entry, _ = _seek(self.table, decisions)
        return int(entry)

    def enter(self, decisions: Array) -> int:
        """The entry of a solution, which may be a new one."""
        entry, place = _seek(self.table, decisions)
        if entry == _FREE and len(self) == self.room:
            self.grow()
            _, place = _seek(self.table, decisions)
        return int(_note_down(self.table, place, decisions) if entry == _FREE else entry)

    def tell(self, entry: int, values: tuple[Any, ...]) -> None:
        """The measures of an entry, finite numbers."""
        self.table.values[entry] = values
        if entry == 0:  # whoever comes first, so that it does not matter who is told of first
            self.table.values[-1] = values
        self.table.known[entry] = WHOLE if all(isinstance(v, (int, np.integer)) for v in values) else REAL

    def told(self, entry: int) -> tuple[Any, ...] | None:
        """What was told of an entry, whole numbers as such; None if nothing was."""
        kind, values = self.table.known[entry], self.table.values[entry]
        return None if kind == UNKNOWN else tuple(int(v) if kind == WHOLE else float(v) for v in values)

    def save(self) -> dict[str, Array]:
        """All that is known."""
        kept = np.flatnonzero(self.table.known[: len(self)])
        return {name: getattr(self.table, name)[kept] for name in ("solutions", "values", "known")}

    def restore(self, solutions: Array, values: Array, known: Array) -> None:
        """What `save` gave."""
        room = _LEAST_ROOM
        while room <= len(known):
            room *= 2
        self.table = self._build(room, solutions, values, known)

    def _build(self, room: int, solutions: Array, values: Array, known: Array) -> ValueTable:
        """A table with these entries."""
        bits, count = (2 * room - 1).bit_length(), len(known)
        table = ValueTable(
            self._weights,
            np.uint64(64 - bits),
            np.full(1 << bits, _FREE, np.int64),
            np.zeros((room, solutions.shape[1]), solutions.dtype),
            np.ones((room + 1, values.shape[1]), values.dtype),
            np.zeros(room, np.uint8),
            np.zeros(3, np.int64),
            self._stop,
        )
        table.values[:count], table.known[:count] = values, known
        if count and known[0]:
            table.values[-1] = values[0]
        for x in solutions:
            _, place = _seek(table, x)
            _note_down(table, place, x)
        return table
