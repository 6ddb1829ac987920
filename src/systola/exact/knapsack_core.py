"""The plain knapsack, made ready for the dynamic program of `core_states`, and its solution made of states again."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd
from typing import NamedTuple

import numpy as np

from systola.exact.cardinality import Prices, Relaxed, bound_of
from systola.exact.core_states import (
    BEST_BLOCK,
    BEST_EXTRA,
    BEST_MADE,
    BEST_PARENT,
    BEST_WEIGHT,
    BITS,
    BREAK,
    COUNT,
    DEAD,
    FILL_MOST,
    FILL_PROFIT,
    FILL_WEIGHT,
    GROUP_PRICE,
    LEFT,
    LIMIT,
    MARGIN,
    NO_EXTRA,
    NUMBERS,
    OTHER_LIMIT,
    OTHER_TOTAL,
    PRICES,
    RIGHT,
    ROOM,
    SHARE,
    SLACK,
    WEIGHT_PRICE,
    Core,
    States,
)
from systola.model.encodings import Array

_FEW_TYPES = 256  # up to so many different items copies are bundled
_MOST_GROUPS = 16
_BYTES_OF_STATE, _BYTES_WRITTEN = 2 * 36, 12
_MARGIN = 1e-6


class Items(NamedTuple):
    """What is worth a decision: by efficiency, the largest first, in the smallest numbers that say the same."""

    weights: Array
    profits: Array
    members: list[Array] | None  # the items of the problem that each stands for; None: `places`
    places: Array
    always: Array  # items that are in any best solution
    capacity: int
    profit_unit: int
    weight_unit: int


def reduce_items(profits: Array, weights: Array, capacity: int) -> Items:
    """Leave out what is certain, divide by common divisors, bundle many copies of few items, and sort."""
    always = np.flatnonzero((weights == 0) & (profits > 0))
    places = np.flatnonzero((weights > 0) & (profits > 0) & (weights <= capacity))
    w, p = weights[places], profits[places]
    weight_unit, profit_unit = (max(1, int(np.gcd.reduce(v))) if len(v) else 1 for v in (w, p))
    w, p, capacity = w // weight_unit, p // profit_unit, capacity // weight_unit
    members = None
    if len(places) > 4 * _FEW_TYPES:
        types, copies = np.unique(np.stack([w, p], axis=1), axis=0, return_inverse=True)
        if len(types) <= _FEW_TYPES:
            w, p, members = _bundle(types, places, copies.ravel())
    order = np.argsort(-(p / w), kind="stable") if len(w) else np.zeros(0, np.int64)
    if members is not None:
        members = [members[k] for k in order]
    else:
        places = places[order]
    return Items(w[order], p[order], members, places, always, capacity, profit_unit, weight_unit)


def _bundle(types: Array, places: Array, copies: Array) -> tuple[Array, Array, list[Array]]:
    """Bundles of 1, 2, 4, ... copies, and one of the rest: any number of copies is a choice of bundles."""
    sizes, bundles, of = [], [], []
    for k in range(len(types)):
        own = places[copies == k]
        at, size = 0, 1
        while at < len(own):
            size = min(size, len(own) - at)
            bundles.append(own[at : at + size])
            sizes.append(size)
            of.append(k)
            at, size = at + size, 2 * size
    made = types[of] * np.array(sizes)[:, None]
    return made[:, 0], made[:, 1], bundles


def groups_of(items: Items) -> list[Array]:
    """By what the number of items may be weighed: not at all, or so that profits are weights plus multiples of it."""
    plain = np.ones(len(items.weights), np.int64)
    surplus = items.profits - items.weights
    unit = int(np.gcd.reduce(surplus))
    if unit > 1 and np.ptp(surplus) > 0 and int(np.abs(surplus).max()) <= _MOST_GROUPS * unit:
        return [plain, surplus // unit]
    return [plain]


class Filling(NamedTuple):
    """Items of the same efficiency as the break item that make up any number of small equal parts."""

    weight: int
    profit: int
    most: int
    items: Array  # places among all items


def find_filling(items: Items) -> Filling | None:
    """Such items, if they are most of all: then it can be said at once how they are used best."""
    w, p = items.weights, items.profits
    filled = np.cumsum(w)
    if len(w) < 2 or filled[-1] <= items.capacity:
        return None
    b = int(np.searchsorted(filled, items.capacity, side="right"))
    unit = gcd(int(w[b]), int(p[b]))
    base_weight, base_profit = int(w[b]) // unit, int(p[b]) // unit
    alike = np.flatnonzero((w % base_weight == 0) & (p % base_profit == 0) & (w // base_weight == p // base_profit))
    if 8 * len(alike) < len(w):
        return None
    sizes = w[alike] // base_weight
    common = int(np.gcd.reduce(sizes))
    sizes = np.sort(sizes // common)
    before = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    if (sizes > before + 1).any():
        return None  # not all sums can be made
    return Filling(base_weight * common, base_profit * common, int(sizes.sum()), alike)


class Layout(NamedTuple):
    """A core with its two lists of states, and what its items are."""

    core: Core
    one: States
    two: States
    order: Array  # which of the items each is
    base_profit: int  # of the break solution
    filling: Filling | None


def break_of(weights: Array, capacity: int) -> tuple[int, int]:
    """The break item and what is left of the capacity before it."""
    filled = np.cumsum(weights)
    b = int(np.searchsorted(filled, capacity, side="right"))
    return b, capacity - (int(filled[b - 1]) if b else 0)


def lay_out(items: Items, groups: Array, cases: Sequence[Prices], filling: Filling | None, memory: int) -> Layout:
    """A core that begins with the break solution.

    Parameters
    ----------
    items, groups
        What to choose from, and how much each counts.
    cases
        Prices of the case whose efficiencies are gone by, and of the other one unless it is known to be impossible;
        none to go by plain efficiencies.
    filling
        Items that are put in afterwards.
    memory
        Bytes for states.
    """
    w, p = items.weights, items.profits
    share = cases[0].group if cases else 0.0
    efficiency = (p - share * groups) / w
    order = np.argsort(-efficiency, kind="stable") if share else np.arange(len(w))
    if filling:
        order = order[~np.isin(order, filling.items)]
    w, p, g, efficiency = w[order], p[order], groups[order].astype(np.int64), efficiency[order]
    n = len(w)
    b, room = break_of(w, items.capacity)
    if filling:  # all that is more efficient
        b = int(np.searchsorted(-efficiency, -filling.profit / filling.weight))
        room = items.capacity - int(w[:b].sum())
    elif share:
        positive = int(np.searchsorted(-efficiency, 0.0))
        if positive < b:
            b, room = positive, items.capacity - int(w[:positive].sum())
    gains = np.tile([0.0, np.inf, 0.0, np.inf], (n + 1, 1))
    for column, ratio in ((0, efficiency), (2, p / w)):
        gains[:n, column] = np.maximum(np.maximum.accumulate(ratio[::-1])[::-1], 0.0)
        gains[1:, column + 1] = np.minimum.accumulate(ratio)
    now, prices = np.zeros(NUMBERS, np.int64), np.zeros(PRICES)
    now[[LEFT, RIGHT, BREAK, ROOM, COUNT, BEST_EXTRA]] = b, b, b, room, 1, NO_EXTRA
    if filling:
        now[[FILL_WEIGHT, FILL_PROFIT, FILL_MOST]] = filling.weight, filling.profit, filling.most
    prices[[SHARE, MARGIN, OTHER_LIMIT, OTHER_TOTAL]] = share, _MARGIN, DEAD, DEAD
    if cases:
        prices[SLACK] = share * (cases[0].limit - int(g[:b].sum()))
        if len(cases) > 1:
            other = cases[1]
            total = bound_of(Relaxed(w, p, g, b, room), other.weight, other.group, other.limit)
            prices[[WEIGHT_PRICE, GROUP_PRICE]] = other.weight, other.group
            prices[[OTHER_LIMIT, OTHER_TOTAL]] = total
    now[LIMIT] = _first_limit(gains[b, 0], now, prices)
    most = max(1024, memory // (_BYTES_OF_STATE + 2 * _BYTES_WRITTEN))
    most = min(most, 2**31 - 1)
    written = 2 * most
    core = Core(
        *(w, p, g, gains, np.argsort(w, kind="stable"), np.zeros(n, np.int64)),
        np.zeros(n // BITS + 3, np.int64),
        np.empty(written, np.int64),
        np.empty(written, np.int32),
        np.zeros((2, n), np.int64),
        now,
        prices,
    )
    one, two = (_states(most) for _ in range(2))
    return Layout(core, one, two, order, int(p[:b].sum()), filling)


def _states(most: int) -> States:
    weight, profit, group, made = (np.zeros(most, np.int64) for _ in range(4))
    return States(weight, profit, group, made, np.zeros(most, np.int32))


def _first_limit(gain: float, now: Array, prices: Array) -> int:
    """By how much no solution exceeds the break solution."""
    room, fits = int(now[ROOM]), int(now[FILL_MOST]) * int(now[FILL_WEIGHT])
    if fits >= room:
        rest = room * int(now[FILL_PROFIT]) / max(1, int(now[FILL_WEIGHT]))
    else:
        rest = int(now[FILL_MOST]) * int(now[FILL_PROFIT]) + (room - fits) * gain
    limit = max(rest + prices[SLACK] + 1e-12 * abs(rest), prices[OTHER_TOTAL])
    return int(np.floor(limit + prices[MARGIN]))


def parts_of(layout: Layout, now: Array) -> int:
    """How many parts are put in afterwards into the best solution."""
    filling = layout.filling
    return min(filling.most, int(now[ROOM] - now[BEST_WEIGHT]) // filling.weight) if filling else 0


def weight_of(items: Items, layout: Layout) -> int:
    """Of the best solution of a core, in units of the items."""
    now = layout.core.now
    weight = items.capacity - int(now[ROOM]) + int(now[BEST_WEIGHT])
    return weight + parts_of(layout, now) * (layout.filling.weight if layout.filling else 0)


def choice_of(items: Items, layout: Layout, now: Array) -> Array:
    """Which of the sorted items the best solution of a core has, as zeros and ones; `now` are its numbers then."""
    core = layout.core
    chosen = np.zeros(len(items.weights), np.uint8)
    inner = np.zeros(len(core.weights), np.uint8)
    inner[: now[BREAK]] = 1
    block, made, parent = (int(now[k]) for k in (BEST_BLOCK, BEST_MADE, BEST_PARENT))
    while True:
        for bit in range(BITS):
            if made >> bit & 1:
                inner[core.order[block * BITS + bit]] ^= 1
        if block == 0:
            break
        block -= 1
        at = int(core.block_starts[block]) + parent
        made, parent = int(core.block_made[at]), int(core.block_parent[at])
    if now[BEST_EXTRA] != NO_EXTRA:
        inner[now[BEST_EXTRA]] ^= 1
    chosen[layout.order] = inner
    if layout.filling:
        filling, parts = layout.filling, parts_of(layout, now)
        sizes = items.weights[filling.items] // filling.weight
        for k in np.argsort(-sizes, kind="stable"):
            if sizes[k] <= parts:
                parts -= int(sizes[k])
                chosen[filling.items[k]] = 1
    return chosen


def decisions_of(items: Items, chosen: Array, count: int) -> Array:
    """The decisions of the problem, of which there are so many."""
    decisions = np.zeros(count, np.uint8)
    decisions[items.always] = 1
    if items.members is None:
        decisions[items.places[chosen == 1]] = 1
    else:
        for k in np.flatnonzero(chosen):
            decisions[items.members[k]] = 1
    return decisions


def worth_at_first(layout: Layout) -> int:
    """What the break solution is worth with what is put in afterwards, in excess of the break solution alone."""
    filling = layout.filling
    if filling is None:
        return 0
    return filling.profit * min(filling.most, int(layout.core.now[ROOM]) // filling.weight)
