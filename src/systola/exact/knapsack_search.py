"""The search that solves a plain knapsack: a core that grows until the best solution is proven."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from systola.errors import InputError
from systola.exact.cardinality import Prices, Relaxed, price_cases
from systola.exact.core_states import (
    BEST,
    BEST_STEP,
    COUNT,
    FULL,
    LIMIT,
    PROVEN,
    RUNNING,
    SIDE,
    STATUS,
    STEP,
    WORK,
    grow_core,
)
from systola.exact.knapsack_core import (
    Items,
    Layout,
    break_of,
    choice_of,
    decisions_of,
    find_filling,
    groups_of,
    lay_out,
    reduce_items,
    weight_of,
    worth_at_first,
)
from systola.jit.stop_flag import ASKED, NOW, SOON, new_flag
from systola.model.encodings import Array, Solutions
from systola.model.problem import Problem, space_of
from systola.reading import is_number, is_whole
from systola.run.search import Found, Saved, Search

_FIRST_WORK = 1 << 17  # states looked at before prices are found
_CALL_WORK = 1 << 20  # states looked at from one look at the clock to the next
_ENDLESS = 2**62
_STATES = ("weight", "profit", "group", "made", "parent")


class Sack(NamedTuple):
    """What a plain knapsack is."""

    profits: Array
    weights: Array
    capacity: int


class KnapsackSearch(Search):
    """A dynamic program over the core of a knapsack. A step lets one item into the core, or settles it.

    First the core is that of plain efficiencies. If that does not end soon it begins anew with prices for the number of
    items.

    Parameters
    ----------
    problem
        What is solved, whose measures are profit and weight.
    sack
        Its profits, weights and capacity.
    memory
        Bytes for states. If they do not suffice the search ends with a gap.
    """

    def __init__(self, problem: Problem, sack: Sack, memory: int) -> None:
        self.problem, self.sack, self._memory = problem, sack, memory
        self.step = self.evaluations = 0
        self._flag = new_flag()
        self._items: Items
        self._layout: Layout
        self._groups: Array
        self._sure = 0  # the profit of what is in any best solution
        self._cases: tuple[Prices, ...] = ()
        self._steps_before = 0
        self._limit = _ENDLESS  # no solution is worth more, in units of the items
        self._known: tuple[int, int, Array] | None = None  # a solution from elsewhere: worth, weight and decisions
        self._found_at = 0  # the step of that

    def _begin(self) -> None:
        sack = self.sack
        self._items = reduce_items(sack.profits, sack.weights, sack.capacity)
        self._sure = int(sack.profits[self._items.always].sum())
        self._groups = np.ones(len(self._items.weights), np.int64)
        self._open(lay_out(self._items, self._groups, (), find_filling(self._items), self._memory))

    @property
    def backend(self) -> str:
        return "cpu"

    def compile(self) -> None:
        one = np.ones(1, np.int64)
        small = lay_out(reduce_items(one, one, 1), one, (), None, 1)
        grow_core(small.core, small.one, small.two, 0, 0, self._flag)

    def start(self, solutions: Solutions = ()) -> None:
        self._begin()
        self.evaluations = 1
        if len(solutions):
            self.inject(solutions)

    def inject(self, solutions: Solutions) -> None:
        """A better solution than the best one takes its place: fewer states stay."""
        encoding, space = self.problem.encoding, space_of(self.problem)
        for decisions in encoding.load(space, encoding.store(space, solutions)):
            chosen = decisions.astype(np.int64)
            if int(self.sack.weights @ chosen) > self.sack.capacity:
                continue
            worth = (int(self.sack.profits @ chosen) - self._sure) // self._items.profit_unit
            if worth > self._worth():
                self._known = worth, int(self.sack.weights @ chosen), decisions.astype(np.uint8)
                self._found_at = self.step
                now = self._layout.core.now
                now[BEST] = worth - self._layout.base_profit
                now[LIMIT] = max(now[LIMIT], now[BEST])

    def _open(self, layout: Layout) -> None:
        self._layout, now = layout, layout.core.now
        known = -_ENDLESS if self._known is None else self._known[0] - layout.base_profit
        now[BEST] = max(known, worth_at_first(layout))
        self._limit = min(self._limit, layout.base_profit + int(now[LIMIT]))
        now[LIMIT] = max(self._limit - layout.base_profit, int(now[BEST]))

    def _grow(self, steps: int, work: int) -> None:
        layout = self._layout
        grow_core(layout.core, layout.one, layout.two, min(steps, _ENDLESS), work, self._flag)

    def advance(self, steps: int, seconds: float = math.inf) -> int:
        began, first = time.perf_counter(), self.step
        while not self.finished and self.step - first < steps and not self._flag[ASKED]:
            now = self._layout.core.now
            is_first = not self._cases and self._layout.filling is None
            self._grow(
                steps - (self.step - first), min(_CALL_WORK, _FIRST_WORK - int(now[WORK])) if is_first else _CALL_WORK
            )
            self.step = self._steps_before + int(now[STEP])
            self._limit = min(self._limit, self._layout.base_profit + int(now[LIMIT]))
            self.finished = bool(now[STATUS] != RUNNING)
            self.ending = "memory" if now[STATUS] == FULL else "finished"
            if is_first and now[STATUS] == RUNNING and now[WORK] >= _FIRST_WORK:
                self._set_prices()
            if time.perf_counter() - began >= seconds:
                break
        self.evaluations = self.step + 1
        return self.step - first

    def _worth(self) -> int:
        return self._layout.base_profit + int(self._layout.core.now[BEST])

    def _set_prices(self) -> None:
        """Begin anew, with prices for the number of items or a sum like it, whichever proves more."""
        items = self._items
        self._found_at = self._step_of_best()
        self._known = best, *_ = self._worth(), self._weigh_best(), self._remember_best()()
        b, room = break_of(items.weights, items.capacity)
        base = int(items.profits[:b].sum())
        found: list[tuple[int, list[Prices], Array]] = []
        for groups in groups_of(items):
            part = room * int(groups[b]) // int(items.weights[b])
            relaxed = Relaxed(items.weights, items.profits, groups, b, room)
            alive = price_cases(relaxed, int(groups[:b].sum()) + part, best - base)
            found.append((math.floor(base + alive[0].bound) if alive else best, alive, groups))
        limit, alive, self._groups = min(found, key=lambda entry: entry[0])
        self._limit = min(self._limit, limit)
        self._cases, self._steps_before = tuple(alive), self.step
        if alive:
            self._open(lay_out(items, self._groups, self._cases, None, self._memory))
        else:
            self.finished = True

    def _step_of_best(self) -> int:
        if self._known is not None and self._worth() <= self._known[0]:
            return self._found_at
        return self._steps_before + int(self._layout.core.now[BEST_STEP])

    def _weigh_best(self) -> int:
        if self._known is not None and self._worth() <= self._known[0]:
            return self._known[1]
        return weight_of(self._items, self._layout) * self._items.weight_unit

    def _remember_best(self) -> Callable[[], Array]:
        """A function that makes the best solution as it is now."""
        if self._known is not None and self._worth() <= self._known[0]:
            kept = self._known[2]
            return lambda: kept
        items, layout, now = self._items, self._layout, self._layout.core.now.copy()
        return lambda: decisions_of(items, choice_of(items, layout, now), len(self.sack.profits))

    def best(self) -> Found:
        profit = self._sure + self._worth() * self._items.profit_unit
        measures = np.array([profit, self._weigh_best()], np.int64)
        return Found(measures, self._remember_best(), self._step_of_best())

    def bound(self) -> int:
        return self._sure + self._limit * self._items.profit_unit

    def is_proven(self) -> bool:
        return self._limit <= self._worth()

    def stop(self, at_once: bool = False) -> None:
        self._flag[ASKED] = NOW if at_once else SOON

    def save(self) -> Saved:
        layout, now = self._layout, self._layout.core.now
        states = (layout.one, layout.two)[int(now[SIDE])]
        written = int(layout.core.block_starts.max())
        arrays = {name: getattr(states, name)[: now[COUNT]] for name in _STATES}
        arrays |= {name: getattr(layout.core, name) for name in ("order", "block_starts", "now", "prices")}
        arrays |= {name: getattr(layout.core, name)[:written] for name in ("block_made", "block_parent")}
        arrays["groups"] = self._groups
        if self._known is not None:
            arrays["known"] = self._known[2]
        state = {
            "step": self.step,
            "before": self._steps_before,
            "found_at": self._found_at,
            "limit": self._limit,
            "known": None if self._known is None else list(self._known[:2]),
            "cases": [list(case) for case in self._cases],
            "finished": self.finished,
        }
        return state, arrays

    def restore(self, state: dict[str, Any], arrays: dict[str, Array]) -> None:
        try:
            self._restore(state, arrays)
        except (KeyError, ValueError, TypeError, IndexError):
            raise InputError("the checkpoint must be one of an exact search like this one, but is not") from None

    def _restore(self, state: dict[str, Any], arrays: dict[str, Array]) -> None:
        counts = [state[key] for key in ("step", "before", "found_at")]
        numbers = all(is_whole(v, 0) for v in counts) and is_whole(state["limit"], -_ENDLESS, _ENDLESS)
        cases = [Prices(*case) for case in state["cases"]]
        if not numbers or not all(is_number(v) for case in cases for v in case) or len(cases) > 2:
            raise ValueError
        self._begin()
        self.step, self._steps_before, self._found_at = counts
        self._limit, self._cases = state["limit"], tuple(cases)
        if state["known"] is not None:
            worth, weight = map(int, state["known"])
            self._known = worth, weight, _fitted(arrays["known"], len(self.sack.profits), np.uint8)
        if cases:
            self._groups = _fitted(arrays["groups"], len(self._items.weights), np.int64)
            self._layout = lay_out(self._items, self._groups, self._cases, None, self._memory)
        core = self._layout.core
        for name in ("order", "block_starts", "now", "prices"):
            getattr(core, name)[:] = _fitted(arrays[name], len(getattr(core, name)), getattr(core, name).dtype)
        states = (self._layout.one, self._layout.two)[int(core.now[SIDE]) & 1]
        for target, names in ((states, _STATES), (core, ("block_made", "block_parent"))):
            for name in names:
                getattr(target, name)[: len(arrays[name])] = arrays[name]
        self.finished = bool(state["finished"]) or core.now[STATUS] == PROVEN
        self.evaluations = self.step + 1


def _fitted(values: Array, count: int, dtype: DTypeLike) -> Array:
    if values.shape != (count,) or values.dtype != dtype:
        raise ValueError
    return values
