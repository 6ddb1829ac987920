"""Loads of groups: what decisions with the same value add up to, as in bins, machines, or rooms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from systola.jit.compile import inlined
from systola.jit.dispatch import Implementation, dispatched_small
from systola.model.elementary_moves import EXCHANGE
from systola.model.encodings import Digits, Integers
from systola.model.structure.part import Function, Part

if TYPE_CHECKING:
    from systola.model.problem import Problem


@dispatched_small
def user_weigh(part: Any, problem: Any, i: Any, v: Any) -> Any:
    """What decision i adds to the load of group v."""


@dispatched_small
def user_cost(part: Any, problem: Any, v: Any, load: Any) -> Any:
    """What group v costs with this load."""


def _total(self: Any, problem: Any, x: Any) -> Any:
    total = 0
    for v in range(self.low, self.low + self.count):
        load = 0
        for i in range(len(x)):
            if x[i] == v:
                load += user_weigh(self, problem, i, v)
        total += user_cost(self, problem, v, load)
    return total


def _init(self: Any, problem: Any, x: Any, kept: Any) -> Any:
    for v in range(self.count):
        kept[self.at + v] = 0
    for i in range(len(x)):
        v = np.int64(x[i])
        kept[self.at + v - self.low] += user_weigh(self, problem, i, v)
    total = 0
    for v in range(self.count):
        total += user_cost(self, problem, self.low + v, kept[self.at + v])
    return total


@inlined
def _change(self: Any, problem: Any, kept: Any, v: Any, more: Any) -> Any:
    load = kept[self.at + v - self.low]
    return user_cost(self, problem, v, load + more) - user_cost(self, problem, v, load)


def _delta(self: Any, problem: Any, space: Any, x: Any, move: Any, kept: Any) -> Any:
    kind, i, j, k = move
    if kind == EXCHANGE:
        v, w = np.int64(x[i]), np.int64(x[j])
        to_v = user_weigh(self, problem, j, v) - user_weigh(self, problem, i, v)
        to_w = user_weigh(self, problem, i, w) - user_weigh(self, problem, j, w)
        return _change(self, problem, kept, v, to_v) + _change(self, problem, kept, w, to_w)
    taken, put = -user_weigh(self, problem, i, j), user_weigh(self, problem, i, k)
    return _change(self, problem, kept, j, taken) + _change(self, problem, kept, k, put)


def _update(self: Any, problem: Any, space: Any, x: Any, move: Any, kept: Any) -> None:
    kind, i, j, k = move
    if kind == EXCHANGE:  # made already: decision i has the value that j had
        v, w = np.int64(x[j]), np.int64(x[i])
        kept[self.at + v - self.low] += user_weigh(self, problem, j, v) - user_weigh(self, problem, i, v)
        kept[self.at + w - self.low] += user_weigh(self, problem, i, w) - user_weigh(self, problem, j, w)
    else:
        kept[self.at + j - self.low] -= user_weigh(self, problem, i, j)
        kept[self.at + k - self.low] += user_weigh(self, problem, i, k)


@dataclass(frozen=True)
class Groups(Part):
    """A sum over groups, the decisions with the same value, of what their load costs.

    Parameters
    ----------
    weigh
        ``(self, i, v)``: what decision i adds to the load of group v when it has that value.
    cost
        ``(self, v, load)``: what group v costs with this load; 0 as a load means that it may be empty.
    """

    encodings = (Integers,)
    takes = {"weigh": ("i", "v"), "cost": ("v", "load")}

    weigh: Function
    cost: Function

    def data(self, problem: Problem) -> dict[str, Any]:
        space = problem.encoding.space(problem)
        assert isinstance(space, Digits)
        low = int(space.low.min())
        return {"low": low, "count": int(space.high.max()) - low + 1}

    def implementations(self, problem: Problem, data: dict[str, Any]) -> tuple[str, dict[str, Implementation]]:
        return "Groups", {"part_total": _total, "init_part": _init, "part_delta": _delta, "update_part": _update}

    def size(self, problem: Problem) -> int:
        return int(self.data(problem)["count"])

    def describe(self, problem: Problem) -> str:
        return f"loads of {self.size(problem)} groups; a move changes two of them"
