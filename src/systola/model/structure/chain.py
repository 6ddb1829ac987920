"""A chain of links between neighbours of an order, as in a tour: swaps, rotations and reversals in O(1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from systola.errors import InputError
from systola.jit.compile import inlined
from systola.jit.dispatch import Implementation, dispatched_small
from systola.model.elementary_moves import REVERSE, ROTATE, SWAP
from systola.model.encodings import Permutation
from systola.model.structure.part import Function, Part

if TYPE_CHECKING:
    from systola.model.problem import Problem


@dispatched_small
def user_link(part: Any, problem: Any, a: Any, b: Any) -> Any:
    """What item b straight after item a costs."""


@dispatched_small
def user_first(part: Any, problem: Any, a: Any) -> Any:
    """What it costs that item a is the first one."""


@dispatched_small
def user_last(part: Any, problem: Any, a: Any) -> Any:
    """What it costs that item a is the last one."""


def _no_end(self: Any, problem: Any, a: Any) -> Any:
    return 0


@inlined
def link(self: Any, problem: Any, x: Any, p: Any, q: Any) -> Any:
    """The link from the item in place p to that in place q."""
    return user_link(self, problem, np.int64(x[p]), np.int64(x[q]))


def _total(self: Any, problem: Any, x: Any) -> Any:
    n = len(x)
    total = 0
    for p in range(n - 1):
        total += link(self, problem, x, p, p + 1)
    if self.cyclic:
        return total + link(self, problem, x, n - 1, 0) if n > 1 else total
    return total + user_first(self, problem, np.int64(x[0])) + user_last(self, problem, np.int64(x[n - 1]))


@inlined
def _outside(self: Any, problem: Any, x: Any, first: Any, last: Any, begin: Any, end: Any) -> Any:
    """What changes at the border of the places first..last if the item of place `begin` comes first, of `end` last."""
    n = np.int64(len(x))
    change = 0
    if self.cyclic and first == 0 and last == n - 1:
        if n > 1:
            change += link(self, problem, x, end, begin) - link(self, problem, x, last, first)
        return change
    if first > 0 or self.cyclic:
        before = first - 1 if first > 0 else n - 1
        change += link(self, problem, x, before, begin) - link(self, problem, x, before, first)
    else:
        change += user_first(self, problem, np.int64(x[begin])) - user_first(self, problem, np.int64(x[first]))
    if last < n - 1 or self.cyclic:
        after = last + 1 if last < n - 1 else np.int64(0)
        change += link(self, problem, x, end, after) - link(self, problem, x, last, after)
    else:
        change += user_last(self, problem, np.int64(x[end])) - user_last(self, problem, np.int64(x[last]))
    return change


def _delta(self: Any, problem: Any, space: Any, x: Any, move: Any, kept: Any) -> Any:
    kind, i, j, k = move
    if kind == ROTATE or (kind == SWAP and j == i + 1):
        middle, last = (j, k - 1) if kind == ROTATE else (i + 1, j)
        change = _outside(self, problem, x, i, last, middle, middle - 1)
        return change + link(self, problem, x, last, i) - link(self, problem, x, middle - 1, middle)
    change = _outside(self, problem, x, i, j, j, i)
    if kind == SWAP:
        change += link(self, problem, x, j, i + 1) - link(self, problem, x, i, i + 1)
        change += link(self, problem, x, j - 1, i) - link(self, problem, x, j - 1, j)
    elif kind == REVERSE and not self.symmetric:
        for p in range(i, j):
            change += link(self, problem, x, p + 1, p) - link(self, problem, x, p, p + 1)
    return change


@dataclass(frozen=True)
class Chain(Part):
    """A sum of links between items that are neighbours in an order: a tour, or a path.

    Parameters
    ----------
    link
        ``(self, a, b)``: what item b straight after item a costs.
    cyclic
        Whether the last item is linked to the first one.
    symmetric
        Whether a link costs the same in both directions: then any number of items is reversed at the cost of two
        links.
    first, last
        ``(self, a)``: what it costs that item a is the first, or the last, of a chain that is not cyclic.
    coordinates
        The name of a field with two numbers for each item, where it is on a map; solutions are drawn on it.
    """

    encodings = (Permutation,)
    takes = {"link": ("a", "b"), "first": ("a",), "last": ("a",)}

    link: Function
    cyclic: bool = True
    symmetric: bool = False
    first: Function | None = None
    last: Function | None = None
    coordinates: str | None = None

    def check(self, owner: str, objectives: int) -> None:
        super().check(owner, objectives)
        for name in ("cyclic", "symmetric"):
            if not isinstance(getattr(self, name), bool):
                raise InputError(f"`{name}` in Chain of {owner} must be True or False, but got {getattr(self, name)!r}")
        if self.coordinates is not None and not isinstance(self.coordinates, str):
            raise InputError(f"`coordinates` in Chain of {owner} must name a field, but got {self.coordinates!r}")
        if self.cyclic and (self.first or self.last):
            raise InputError(f"a cyclic chain has no first and no last item, but Chain of {owner} says what they cost")

    def data(self, problem: Problem) -> dict[str, Any]:
        return {"cyclic": self.cyclic, "symmetric": self.symmetric}

    def implementations(self, problem: Problem, data: dict[str, Any]) -> tuple[str, dict[str, Implementation]]:
        ends: dict[str, Implementation] = {"user_first": _no_end, "user_last": _no_end}
        return "Chain", {"part_total": _total, "part_delta": _delta, **ends}

    def describe(self, problem: Problem) -> str:
        return "a chain; a move costs a few links" + ("" if self.symmetric else ", a reversal one for each item in it")
