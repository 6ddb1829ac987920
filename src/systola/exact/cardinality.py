"""Prices for the weight and for how many items are taken: bounds of a knapsack in two cases.

In the linear relaxation the sum of `groups` over the chosen items (their number, if each counts once) is usually no
whole number. So there are two cases: that it is at most K, the whole number below, and that it is at least K + 1. For
each of them the two constraints are relaxed at prices that make the bound least (for the number of items: Martello,
Pisinger, Toth 1999). Whatever the prices, the bound holds.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from systola.model.encodings import Array

_WINDOW = 4000  # items by which prices are found
_HALVINGS, _DOUBLINGS, _REFINEMENTS = 40, 24, 5


class Prices(NamedTuple):
    """Of a unit of weight, and of a unit of the sum of groups; what they prove, in one case."""

    weight: float
    group: float
    bound: float  # in excess of the profit of the break solution
    limit: int  # of the sum of groups: K or K + 1


class Relaxed(NamedTuple):
    """A knapsack by efficiency: items, and what is left of the capacity at the break item."""

    weights: Array
    profits: Array
    groups: Array
    break_item: int
    room: int


def price_cases(items: Relaxed, limit: int, best: int) -> list[Prices]:
    """Prices for the case that the sum of groups is at most `limit`, and for the case that it is more.

    Only cases in which a solution may exceed the break solution by more than `best`, the most promising first.
    """
    cases = (_price(items, limit, 1.0, best), _price(items, limit + 1, -1.0, best))
    return sorted((case for case in cases if case.bound >= best + 1), key=lambda case: -case.bound)


def bound_of(items: Relaxed, weight_price: float, group_price: float, limit: int) -> float:
    """What these prices prove, in excess of the profit of the break solution; rounding errors included."""
    b = items.break_item
    reduced = items.profits - weight_price * items.weights - group_price * items.groups
    base = weight_price * items.room, group_price * (limit - int(items.groups[:b].sum()))
    free = float(np.maximum(-reduced[:b], 0).sum() + np.maximum(reduced[b:], 0).sum())
    return sum(base) + free + 1e-9 * (sum(map(abs, base)) + free) + 1e-6


def _price(items: Relaxed, limit: int, sign: float, best: int) -> Prices:
    """`sign` is 1 if the sum is to be at most the limit, -1 if at least; the group's price has that sign."""
    b, n = items.break_item, len(items.weights)
    share = max(1, n // _WINDOW)
    some = np.arange(share // 2, n, share)  # roughly, by every so manieth item
    capacity = items.room + int(items.weights[:b].sum())
    found = _search_prices(_some(items, some), capacity / share, limit / share, sign)
    told = Prices(*found, bound_of(items, *found, limit), limit)
    if share > 1:
        told = _refine(items, told, capacity, sign)
        if told.bound >= best + 1:  # the sample may have misled
            found = _search_prices(_some(items, np.arange(n)), capacity, limit, sign, _HALVINGS // 3)
            again = _refine(items, Prices(*found, bound_of(items, *found, limit), limit), capacity, sign)
            told = min(told, again, key=lambda prices: prices.bound)
    return told


def _refine(items: Relaxed, best: Prices, capacity: int, sign: float) -> Prices:
    """By the items that are undecided at these prices, as long as that gives better ones."""
    found = best.weight, best.group
    for _ in range(_REFINEMENTS):
        reduced = items.profits - found[0] * items.weights - found[1] * items.groups
        taken = reduced > 0
        some = np.sort(np.argpartition(np.abs(reduced), _WINDOW)[:_WINDOW])
        taken[some] = False
        left, wanted = capacity - int(items.weights[taken].sum()), best.limit - int(items.groups[taken].sum())
        found = _search_prices(_some(items, some), left, wanted, sign)
        bound = bound_of(items, *found, best.limit)
        if bound >= best.bound:
            break
        best = Prices(*found, bound, best.limit)
    return best


def _some(items: Relaxed, which: Array) -> tuple[Array, Array, Array]:
    return tuple(values[which].astype(float) for values in (items.weights, items.profits, items.groups))  # type: ignore[return-value]


def _search_prices(
    items: tuple[Array, Array, Array], capacity: float, wanted: float, sign: float, halvings: int = _HALVINGS
) -> tuple[float, float]:
    """The prices of weight and group at which the bound is least."""
    weights, profits, groups = items

    def look(price: float) -> tuple[float, float]:
        """The best price of weight beside this one, and the sum of groups at it."""
        ratio = (profits - sign * price * groups) / weights
        order = np.argsort(-ratio, kind="stable")
        filled = np.cumsum(weights[order])
        positive = int(np.count_nonzero(ratio > 0))
        at = int(np.searchsorted(filled[:positive], capacity, side="right"))
        taken = float(groups[order[:at]].sum())
        if at == positive:
            return 0.0, taken
        j = order[at]
        part = (capacity - (filled[at - 1] if at else 0.0)) / weights[j]
        return float(ratio[j]), taken + part * float(groups[j])

    def is_low(price: float) -> bool:
        taken = look(price)[1]
        return taken > wanted if sign > 0 else taken < wanted

    low, high = 0.0, max(float(profits.max(initial=1)), 1.0) / 1024
    for _ in range(_DOUBLINGS):
        if not is_low(high):
            break
        low, high = high, 2 * high
    else:
        return look(high)[0], sign * high
    for _ in range(halvings):
        middle = (low + high) / 2
        low, high = (middle, high) if is_low(middle) else (low, middle)
    # The lower end: where all items are alike at the best price, those that were more efficient stay so.
    return look(low)[0], sign * low
