"""Archives of vectors none of which dominates another. Every objective is minimised: negate those to maximise.

A vector dominates another one if it is nowhere larger and somewhere smaller. For users are `nondominated`, `merge` and
the class `Archive`; all of them `sift`, in phases that threads share.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from systola.errors import InputError
from systola.jit.compile import called, kernel
from systola.jit.team import (
    COUNT,
    EXIT,
    HIGH,
    KIND,
    SLEEP,
    STOP,
    THREADS,
    arrive,
    await_order,
    neighbour,
    new_team,
    next_part,
    publish,
    release,
    share_out,
)
from systola.jit.thread_team import ThreadTeam
from systola.pareto.dominance import (
    FILTER_SIZE,
    MOST_OBJECTIVES,
    Room,
    deal,
    fill,
    make_room,
    prepare,
    screen,
    tabulate,
)

__all__ = ["Archive", "make_room", "merge", "nondominated", "sift"]

_Array = npt.NDArray[Any]
_Mask = npt.NDArray[np.bool_]

_CHUNK = 256
_PHASES = 6
_DEAL, _SCREEN, _DEAL_AGAIN, _SCREEN_AGAIN, _ENTER, _STAY = range(_PHASES)
_SIFT = STOP + 1  # the order
_CROWD = 4096  # so many candidates are first thinned out by some of them
_WORTH_THREADS = 1 << 15  # vectors: below, one thread needs less time than another one to wake on a busy machine


@called
def _keep(rows: Any, n: Any, kept: Any) -> Any:
    """Leave out the rows that are not kept."""
    left = 0
    for a in range(n):
        q = rows[a]
        rows[left] = q
        left += kept[q] != 0
    return left


@called
def _number(rows: Any, n: Any) -> None:
    for a in range(n):
        rows[a] = a


@called
def _begin(phase: Any, members: Any, candidates: Any, k: Any, room: Any, enter: Any, n: Any) -> Any:
    """What one thread does before a phase: how many of n candidates are left then, and how many parts the phase has."""
    rows, others, m = room.rows, room.others, members.shape[0]
    chunks = (n + _CHUNK - 1) // _CHUNK
    # Few members dominate less than the filter does, so they come second.
    by_members = (phase < _DEAL_AGAIN) == (m >= FILTER_SIZE)
    if phase in (_DEAL, _DEAL_AGAIN):
        if phase == _DEAL_AGAIN:
            n = _keep(rows, n, enter)
        if not by_members:
            return n, 0
        _number(others, m)
        return n, prepare(room, m, k, n)
    if phase in (_SCREEN, _SCREEN_AGAIN):
        if by_members:
            tabulate(room, members, others, k)
            return n, chunks
        if n <= _CROWD:
            return n, 0
        for a in range(FILTER_SIZE):
            others[a] = rows[a * n // FILTER_SIZE]
        fill(room, candidates, others, FILTER_SIZE, k, 0, FILTER_SIZE)
        screen(room, candidates, others, 0, FILTER_SIZE, k, enter)
        fill(room, candidates, others, _keep(others, FILTER_SIZE, enter), k, 0, n)
        return n, chunks
    if phase == _ENTER:
        n = _keep(rows, n, enter)
        fill(room, candidates, rows, n, k, 0, n + m)
        return n, (n + _CHUNK - 1) // _CHUNK
    _number(others, m)
    return n, (m + _CHUNK - 1) // _CHUNK


@called
def _do_part(phase: Any, members: Any, candidates: Any, k: Any, room: Any, kept: Any, n: Any, part: Any) -> None:
    first, m = part * _CHUNK, members.shape[0]
    if phase in (_DEAL, _DEAL_AGAIN):
        deal(room, members, room.others, k, part, -m)
    elif phase == _STAY:
        screen(room, members, room.others, first, min(m, first + _CHUNK), k, kept)
    else:
        screen(room, candidates, room.rows, first, min(n, first + _CHUNK), k, kept)


def _sift(members: Any, candidates: Any, k: Any, room: Any, stay: Any, enter: Any, team: Any, me: Any) -> Any:
    """Say which candidates enter an archive, and which members stay, as 1 or 0 for each row.

    A candidate enters if no member dominates or equals it, no other candidate dominates it, and no earlier one equals
    it. A member stays if no entering candidate dominates it. Members do not dominate each other. Their first k columns
    count, 1 to 4; all numbers are of one type, int32, int64 or float64, and none is NaN.
    """
    if me > 0 and not await_order(team, me):
        return SLEEP
    if team[KIND] == STOP:
        return EXIT
    for phase in range(_PHASES):
        here = arrive(team, me)
        if here < 0:
            return EXIT
        if here > 0:
            if phase == 0:
                team[COUNT] = candidates.shape[0]
                _number(room.rows, team[COUNT])
                for row in range(team[COUNT]):
                    enter[row] = 1
            left, parts = _begin(phase, members, candidates, k, room, enter, team[COUNT])
            team[COUNT] = left
            team[HIGH] = parts
            share_out(team)
            release(team)
        kept = stay if phase == _STAY else enter
        for other in range(team[THREADS]):
            owner = neighbour(team, me, other)
            first, last = next_part(team, owner)
            while first < last:
                for part in range(first, last):
                    _do_part(phase, members, candidates, k, room, kept, team[COUNT], part)
                first, last = next_part(team, owner)
    if arrive(team, me) > 0:  # nobody works any more when the caller returns
        release(team)
    return EXIT  # a team has one order: who went to sleep now would not be woken


_sift_compiled = kernel(_sift)


def sift(
    members: _Array, candidates: _Array, k: int, room: Room, stay: _Array, enter: _Array, threads: int = 1
) -> None:
    """Which candidates enter an archive, and which members stay, by their first k columns; see `_sift`."""
    args = (members, candidates, k, room, stay, enter)
    if threads == 1:
        team = new_team(1)
        publish(team, (_SIFT, 1), 1)
        _sift_compiled(*args, team, np.int64(0))
        return
    thread_team = ThreadTeam(_sift_compiled, args, threads)
    thread_team.execute(_SIFT, threads)
    thread_team.stop()


def nondominated(points: npt.ArrayLike) -> _Mask:
    """Which vectors no other one dominates; of equal ones the first.

    Parameters
    ----------
    points
        One vector a row, of 1 to 4 objectives to minimise.

    Returns
    -------
    ndarray of bool
        True for each row that is kept.

    Raises
    ------
    InputError
        If the shape is another one, or something is not a number.

    Examples
    --------
    >>> nondominated([[1, 5], [3, 3], [4, 4], [3, 3]]).tolist()
    [True, True, False, False]
    """
    vectors = _read(points, "points")
    return _sifted(vectors[:0], vectors)[1]


def merge(members: npt.ArrayLike, candidates: npt.ArrayLike) -> tuple[_Mask, _Mask]:
    """Which members of an archive stay, and which candidates enter it.

    Parameters
    ----------
    members
        One vector a row, of 1 to 4 objectives to minimise; none dominates another.
    candidates
        Vectors of as many objectives.

    Returns
    -------
    stay, enter : ndarray of bool
        A candidate enters if no member dominates or equals it, no other candidate dominates it, and no earlier
        one equals it. A member stays if no entering candidate dominates it.

    Raises
    ------
    InputError
        If shapes do not fit, or something is not a number.

    Examples
    --------
    >>> stay, enter = merge([[1, 5], [4, 4]], [[3, 3], [1, 5], [2, 6]])
    >>> stay.tolist(), enter.tolist()
    ([True, False], [True, False, False])
    """
    old, new = _read(members, "members"), _read(candidates, "candidates")
    if old.shape[1] != new.shape[1]:
        raise InputError(
            f"members and candidates have the same objectives, but got {old.shape[1]} and {new.shape[1]} columns"
        )
    kind = np.result_type(old, new)
    return _sifted(old.astype(kind, copy=False), new.astype(kind, copy=False))


class Archive:
    """Vectors none of which dominates another, each with a solution.

    Parameters
    ----------
    k
        The number of objectives, 1 to 4, all to minimise.
    cap
        The most members to hold, 2 k or more; any number by default. When a batch leaves more, those with the smallest
        crowding distance go, of equal distances the earliest member first. Distances are measured once a batch: for
        each objective the gap between both neighbours as a share of the range, added up. The first and the last
        member in the order of an objective are kept.
    """

    def __init__(self, k: int, cap: int | None = None) -> None:
        if not 1 <= k <= MOST_OBJECTIVES:
            raise InputError(f"an archive is for 1 to {MOST_OBJECTIVES} objectives, but got k = {k}")
        if cap is not None and cap < 2 * k:
            raise InputError(f"`cap` >= 2 k must hold, so that extremes find room: {2 * k} for k = {k}, but got {cap}")
        self.k = k
        self.cap = cap
        self._size = 0
        self._vectors: _Array = np.empty((0, k), np.int32)
        self._solutions: _Array = np.empty(0)
        self._room: Room | None = None

    def __len__(self) -> int:
        return self._size

    @property
    def vectors(self) -> _Array:
        """The members' vectors, one a row, in order of arrival."""
        return _locked(self._vectors[: self._size])

    @property
    def solutions(self) -> _Array:
        """The members' solutions, one a row."""
        return _locked(self._solutions[: self._size])

    def add(self, vectors: npt.ArrayLike, solutions: npt.ArrayLike) -> int:
        """Merge a batch of candidates into the archive.

        Parameters
        ----------
        vectors
            One vector a row.
        solutions
            One solution a row, of any shape that stays the same.

        Returns
        -------
        int
            How many of them are members now.

        Raises
        ------
        InputError
            If shapes do not fit, or a vector has something that is not a number.
        """
        new, payload = _read(vectors, "vectors"), np.asarray(solutions)
        if new.shape[1] != self.k:
            raise InputError(f"vectors of this archive have {self.k} objectives, but got shape {new.shape}")
        held = self._solutions if self._size else payload[:0]
        if len(payload) != len(new) or payload.shape[1:] != held.shape[1:]:
            raise InputError(
                f"each vector needs a solution, all of one shape, here {held.shape[1:]}, "
                f"but got {len(new)} vectors and solutions of shape {payload.shape}"
            )
        kind = np.result_type(self._vectors, new)
        old, new = self._vectors[: self._size].astype(kind, copy=False), new.astype(kind, copy=False)
        self._room = _enough(self._room, len(old), len(new), self.k, kind)
        stay, enter = _sifted(old, new, self._room)
        fresh = np.repeat([False, True], [np.count_nonzero(stay), np.count_nonzero(enter)])
        left = np.ones(len(fresh), np.bool_)
        if self.cap is not None and len(fresh) > self.cap:
            distances = _measure_crowding(np.concatenate([old[stay], new[enter]]))
            left[np.argsort(distances, kind="stable")[: len(fresh) - self.cap]] = False
        stay[stay] = left[~fresh]
        enter[enter] = left[fresh]
        self._vectors = _joined(self._vectors.astype(kind, copy=False), self._size, stay, new[enter])
        self._solutions = _joined(held, self._size, stay, payload[enter])
        self._size = int(np.count_nonzero(left))
        return int(np.count_nonzero(enter))


def _read(points: npt.ArrayLike, what: str) -> _Array:
    array = np.asarray(points)
    if array.ndim != 2 or not 1 <= array.shape[1] <= MOST_OBJECTIVES or array.dtype.kind not in "biuf":
        raise InputError(
            f"{what} are numbers, one vector of 1 to {MOST_OBJECTIVES} objectives a row, "
            f"but got {array.dtype} of shape {array.shape}"
        )
    if array.dtype.kind == "f":
        array = array.astype(np.float64, copy=False)
        bad = np.flatnonzero(np.isnan(array).any(axis=1))
        if len(bad):
            raise InputError(f"{what} have a value for each objective, but row {bad[0]} is {array[bad[0]].tolist()}")
    elif array.dtype == np.uint64 and array.size and array.max() > np.iinfo(np.int64).max:
        raise InputError(f"{what} fit into 64 bits with a sign, but the largest is {array.max()}")
    elif array.dtype != np.int32:
        array = array.astype(np.int64, copy=False)
    return np.ascontiguousarray(array)


def _enough(room: Room | None, members: int, candidates: int, k: int, kind: np.dtype[Any]) -> Room:
    """This room if it is large enough, else a larger one: sizes double, so that growth costs little."""
    if room is not None and room.top.dtype == kind and len(room.rows) >= candidates and len(room.others) >= members:
        return room
    return make_room(2 * members, 2 * candidates, k, kind)


def _sifted(members: _Array, candidates: _Array, room: Room | None = None) -> tuple[_Mask, _Mask]:
    m, c, k = len(members), len(candidates), candidates.shape[1]
    stay, enter = np.ones(m, np.uint8), np.ones(c, np.uint8)
    threads = int(numba.config.NUMBA_NUM_THREADS) if m + c >= _WORTH_THREADS else 1
    sift(members, candidates, k, room or make_room(m, c, k, candidates.dtype), stay, enter, threads)
    return stay.view(np.bool_), enter.view(np.bool_)


def _measure_crowding(vectors: _Array) -> npt.NDArray[np.float64]:
    distances = np.zeros(len(vectors))
    for column in vectors.T:
        order = np.argsort(column, kind="stable")
        values = column[order].astype(np.float64)
        with np.errstate(invalid="ignore", over="ignore"):  # nothing can be said of infinite and of empty ranges
            shares = (values[2:] - values[:-2]) / (values[-1] - values[0])
        distances[order[1:-1]] += np.nan_to_num(shares)
        distances[order[[0, -1]]] = np.inf
    return distances


def _joined(held: _Array, size: int, stay: _Mask, new: _Array) -> _Array:
    """Those that stay and the new ones after them, in the same array unless it has to grow."""
    kept = int(np.count_nonzero(stay))
    kind = np.result_type(held, new)
    target = held
    if kept + len(new) > len(held) or kind != held.dtype:
        target = np.empty((max(2 * len(held), kept + len(new)), *held.shape[1:]), kind)
    target[:kept] = held[:size][stay]
    target[kept : kept + len(new)] = new
    return target


def _locked(array: _Array) -> _Array:
    view: _Array = array.view()
    view.flags.writeable = False
    return view
