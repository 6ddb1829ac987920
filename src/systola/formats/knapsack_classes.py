"""Pisinger's classes of knapsack instances, by the rules of his generator of hard ones.

Pisinger 2005, "Where are the hard knapsack problems?": 1 uncorrelated, 2 weakly, 3 strongly, 4 inverse strongly and 5
almost strongly correlated, 6 subset sum, 7 and 8 subset sum and strongly correlated with even weights and an odd
capacity, 9 uncorrelated with similar weights; spanner instances, multiples of two items, 11 uncorrelated, 12 weakly and
13 strongly correlated; 14 multiple strongly correlated, 15 profit ceiling, 16 circle. There is no class 10.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import isqrt

import numpy as np

from systola.errors import InputError
from systola.formats.knapsack import MOST_ITEMS, lrand48
from systola.problems.knapsack import Knapsack

CLASSES = (1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15, 16)
SERIES = 100  # instances of a class, size and spread; their capacities grow
_MOST_SPREAD = 10**7
_BASE, _MULTIPLES, _DIVISOR = 2, 10, 5  # of spanner instances


def generate(kind: int, items: int, spread: int, number: int = 1) -> Knapsack:
    """Generate instance `number` of a series of 100, whose capacity is so many 101sts of all weights.

    Parameters
    ----------
    kind
        The class, 1 to 16 without 10.
    items
        How many.
    spread
        The range R of the coefficients.
    number
        Which one of the series; also the seed.
    """
    if kind not in CLASSES:
        raise InputError(f"`class` must be one of {', '.join(map(str, CLASSES))}, but got {kind}")
    if not 1 <= items <= MOST_ITEMS:
        raise InputError(f"`1 <= items <= {MOST_ITEMS}` must hold, but got {items}")
    if not 10 <= spread <= _MOST_SPREAD:
        raise InputError(f"`10 <= spread <= {_MOST_SPREAD}` must hold, but got {spread}")
    if not 1 <= number <= SERIES:
        raise InputError(f"`1 <= number <= {SERIES}` must hold for an instance of a series, but got {number}")
    numbers = lrand48(32, number)

    def draw(below: int) -> int:
        return next(numbers) % below

    pairs = _multiples(kind, spread, draw) if 11 <= kind <= 13 else _pairs(kind, spread, draw)
    drawn = np.array([next(pairs) for _ in range(items)], np.int64)
    weights, profits = drawn[:, 0], drawn[:, 1]
    capacity = max(number * int(weights.sum()) // (SERIES + 1), int(weights.max()))
    if kind in (7, 8):
        capacity = 2 * (capacity // 2) + 1
    return Knapsack(profits, weights, capacity)


def _pairs(kind: int, spread: int, draw: Callable[[int], int]) -> Iterator[tuple[int, int]]:
    """Weight and profit of one item after the other."""
    tenth, thousandth = spread // 10, spread // 1000
    while True:
        w = draw(spread) + 1
        if kind == 1:
            yield w, draw(spread) + 1
        elif kind == 2:
            yield w, max(1, draw(2 * tenth + 1) + w - tenth)
        elif kind == 3:
            yield w, w + tenth
        elif kind == 4:
            yield w + tenth, w
        elif kind == 5:
            yield w, w + tenth + draw(2 * spread // 1000 + 1) - thousandth
        elif kind == 6:
            yield w, w
        elif kind in (7, 8):
            even = 2 * ((w + 1) // 2)
            yield even, even if kind == 7 else even + tenth
        elif kind == 9:
            yield draw(tenth) + 100 * spread, w
        else:
            w = draw(spread) + 1  # the first one is thrown away, as his program does
            if kind == 14:
                yield w, w + (3 if w % 6 == 0 else 2) * tenth
            elif kind == 15:
                yield w, 3 * ((w + 2) // 3)
            else:
                yield w, isqrt(4 * (4 * spread**2 - (w - 2 * spread) ** 2)) // 3


def _multiples(kind: int, spread: int, draw: Callable[[int], int]) -> Iterator[tuple[int, int]]:
    """Weight and profit of multiples of two small items."""
    tenth, base = spread // 10, []
    for _ in range(_BASE):
        w = draw(spread) + 1
        p = draw(spread) + 1 if kind == 11 else draw(2 * tenth + 1) + w - tenth if kind == 12 else w + tenth
        base.append((-(-w // _DIVISOR), -(-max(1, p) // _DIVISOR)))
    while True:
        draw(spread)
        times = draw(_MULTIPLES) + 1
        w, p = base[draw(_BASE)]
        yield times * w, times * p
