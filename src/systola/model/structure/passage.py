"""A passage along an order: a state that each item changes, at a cost. States of all prefixes are kept.

A move is measured from the first place that it touches on, and only until the state is again what it was there before:
on a single machine that is where the touched places end.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from systola.errors import InputError
from systola.jit.compile import inlined
from systola.jit.dispatch import Implementation, dispatched_objective, dispatched_small
from systola.model.elementary_moves import make_plain_move, touched, undo_plain_move
from systola.model.encodings import Permutation
from systola.model.structure.part import Function, Part

if TYPE_CHECKING:
    from systola.model.problem import Problem


@dispatched_small
def user_step(part: Any, problem: Any, state: Any, item: Any) -> Any:
    """What the next item costs; changes the state."""


@dispatched_small
def user_start(part: Any, problem: Any, state: Any) -> Any:
    """Writes the first state; it was zeros."""


@dispatched_small
def user_end(part: Any, problem: Any, state: Any) -> Any:
    """What the last state costs."""


@dispatched_objective
def empty_state(part: Any) -> Any:
    """Zeros, as many as a state has numbers."""


def _integers(self: Any) -> Any:
    return np.zeros(self.size, np.int64)


def _floats(self: Any) -> Any:
    return np.zeros(self.size, np.float64)


def _no_start(self: Any, problem: Any, state: Any) -> None:
    pass


def _no_end(self: Any, problem: Any, state: Any) -> Any:
    return 0


def _total(self: Any, problem: Any, x: Any) -> Any:
    state = empty_state(self)
    user_start(self, problem, state)
    total = 0
    for p in range(len(x)):
        total += user_step(self, problem, state, np.int64(x[p]))
    return total + user_end(self, problem, state)


# Kept are, for each number of items that have passed, the state, then for each the cost so far, then room for a state.


@inlined
def _state_at(self: Any, p: Any) -> Any:
    return self.at + p * self.size


@inlined
def _cost_at(self: Any, n: Any) -> Any:
    return self.at + (n + 1) * self.size


@inlined
def _room_at(self: Any, n: Any) -> Any:
    return _cost_at(self, n) + n + 1


@inlined
def _copy(self: Any, kept: Any, target: Any, source: Any) -> None:
    for k in range(self.size):
        kept[target + k] = kept[source + k]


@inlined
def _same(self: Any, kept: Any, one: Any, other: Any) -> Any:
    k = 0
    while k < self.size and kept[one + k] == kept[other + k]:
        k += 1
    return k == self.size


def _init(self: Any, problem: Any, x: Any, kept: Any) -> Any:
    n, costs, room = len(x), _cost_at(self, len(x)), _room_at(self, len(x))
    state = kept[room : room + self.size]
    for k in range(self.size):
        state[k] = 0
    user_start(self, problem, state)
    kept[costs] = 0
    _copy(self, kept, _state_at(self, 0), room)
    for p in range(n):
        kept[costs + p + 1] = kept[costs + p] + user_step(self, problem, state, np.int64(x[p]))
        _copy(self, kept, _state_at(self, p + 1), room)
    return kept[costs + n] + user_end(self, problem, state)


@inlined
def _enter(self: Any, space: Any, n: Any, move: Any, kept: Any) -> Any:
    """The places from the first to the last one that a move touches; the state before them is in the room to work."""
    kind, i, j, k = move
    first, last, _ = touched(space, kind, i, j, k)
    _copy(self, kept, _room_at(self, n), _state_at(self, first))
    return first, last


def _delta(self: Any, problem: Any, space: Any, x: Any, move: Any, kept: Any) -> Any:
    kind, i, j, k = move
    n, costs, room = len(x), _cost_at(self, len(x)), _room_at(self, len(x))
    first, last = _enter(self, space, n, move, kept)
    state = kept[room : room + self.size]
    change = kept[costs] * 0
    make_plain_move(space, x, kind, i, j, k)
    same = False
    p = first
    while p < n and not same:
        change += user_step(self, problem, state, np.int64(x[p]))
        p += 1
        same = p >= last and _same(self, kept, room, _state_at(self, p))
    undo_plain_move(space, x, kind, i, j, k)
    change -= kept[costs + p] - kept[costs + first]
    if not same:
        final = _state_at(self, n)
        change += user_end(self, problem, state) - user_end(self, problem, kept[final : final + self.size])
    return change


def _update(self: Any, problem: Any, space: Any, x: Any, move: Any, kept: Any) -> None:
    n, costs, room = len(x), _cost_at(self, len(x)), _room_at(self, len(x))
    first, last = _enter(self, space, n, move, kept)
    state = kept[room : room + self.size]
    cost = kept[costs + first]
    p = first
    same = False
    while p < n and not same:
        cost += user_step(self, problem, state, np.int64(x[p]))
        p += 1
        same = p >= last and _same(self, kept, room, _state_at(self, p))
        if not same:
            _copy(self, kept, _state_at(self, p), room)
            kept[costs + p] = cost
    if same:  # all further states are as they were, and costs are higher or lower by the same amount
        change = cost - kept[costs + p]
        if change != 0:
            for q in range(p, n + 1):
                kept[costs + q] += change


@dataclass(frozen=True)
class Passage(Part):
    """A schedule by passage: items pass in their order, each changes a state and costs something.

    Parameters
    ----------
    step
        ``(self, state, item)``: lets an item pass: changes `state`, an array, in place, and returns what this costs.
    state
        How many numbers the state has: a number, or a function of the instance.
    start
        ``(self, state)``: writes the first state; without it, all are zeros.
    end
        ``(self, state)``: what the last state costs; without it, nothing.
    dtype : {int, float}, optional
        Of the state; by default floats if any field of the problem is one.
    """

    encodings = (Permutation,)
    takes = {"step": ("state", "item"), "start": ("state",), "end": ("state",)}

    step: Function
    state: int | Function = 1
    start: Function | None = None
    end: Function | None = None
    dtype: type | None = None

    def makers(self) -> dict[str, FunctionType]:
        return {"state": self.state} if isinstance(self.state, FunctionType) else {}

    def data(self, problem: Problem) -> dict[str, Any]:
        size = self.state(problem) if callable(self.state) else self.state
        if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or not 1 <= size <= 10**6:
            raise InputError(
                f"the state of Passage in {type(problem).__name__} must have 1 to 1,000,000 numbers, but got {size!r}"
            )
        return {"size": int(size)}

    def has_floats(self, problem: Problem) -> bool:
        """Whether the state is of floats."""
        if self.dtype is not None:
            return np.dtype(self.dtype).kind == "f"
        values = (getattr(problem, name, 0) for name in problem._fields)
        return any(isinstance(v, float) or getattr(getattr(v, "dtype", None), "kind", "") == "f" for v in values)

    def implementations(self, problem: Problem, data: dict[str, Any]) -> tuple[str, dict[str, Implementation]]:
        floats = self.has_floats(problem)
        return "PassageFloats" if floats else "Passage", {
            "part_total": _total,
            "init_part": _init,
            "part_delta": _delta,
            "update_part": _update,
            "empty_state": _floats if floats else _integers,
            "user_start": _no_start,
            "user_end": _no_end,
        }

    def size(self, problem: Problem) -> int:
        n, size = problem.encoding.space(problem).n, self.data(problem)["size"]
        return int((n + 1) * (size + 1) + size)

    def room(self, problem: Problem) -> int:
        return int(self.data(problem)["size"])

    def describe(self, problem: Problem) -> str:
        size = self.data(problem)["size"]
        numbers = "number" if size == 1 else "numbers"
        return f"a passage with {size} {numbers} of state; a move passes the places it touches, until nothing differs"
