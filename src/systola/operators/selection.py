"""Selections: which neighbour becomes the mate.

Arguments: engine's record, problem, the scores of all, the row where this generation begins, the neighbours' places in
it, key. They return the row of the chosen one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from systola.jit.compile import inlined
from systola.model.encodings import Bits, Digits, Order
from systola.model.objective import better, fitness
from systola.model.rng import below, numbers
from systola.operators.registry import OperatorRegistry

_TRIES = 1 << 12  # nobody needs so many, but kernels end
FITNESS, RECIPROCAL_COST, ABOVE_LEAST = range(3)  # what shares of a roulette wheel are in proportion to


def at_random(engine: Any, problem: Any, scores: Any, base: Any, places: Any, key: Any) -> Any:
    """Any neighbour."""
    r0, _, _, _ = numbers(key, 0)
    return base + np.int64(places[below(r0, places.shape[0])])


def tournament(engine: Any, problem: Any, scores: Any, base: Any, places: Any, key: Any) -> Any:
    """The better of two neighbours drawn at random, the first if they are alike."""
    r0, r1, _, _ = numbers(key, 0)
    one = base + np.int64(places[below(r0, places.shape[0])])
    two = base + np.int64(places[below(r1, places.shape[0])])
    return two if better(problem, scores[two], scores[one]) else one


def rank(engine: Any, problem: Any, scores: Any, base: Any, places: Any, key: Any) -> Any:
    """Linear ranking: the worst has weight 1, the best n; ties get the lowest rank.

    One drawn at random is taken with a chance that falls with how many are not worse; else another one is drawn.
    """
    n = places.shape[0]
    for k in range(_TRIES):
        r0, r1, r2, r3 = numbers(key, k)
        for half in range(2):
            row = base + np.int64(places[below(r0 if half == 0 else r2, n)])
            beaten = np.int64(0)
            for j in range(n):
                beaten += better(problem, scores[row], scores[base + np.int64(places[j])])
            if below(r1 if half == 0 else r3, n) <= beaten:
                return row
    return base + np.int64(places[0])


def best(engine: Any, problem: Any, scores: Any, base: Any, places: Any, key: Any) -> Any:
    """The best neighbour, the first of those."""
    found = base + np.int64(places[0])
    for k in range(1, places.shape[0]):
        row = base + np.int64(places[k])
        if better(problem, scores[row], scores[found]):
            found = row
    return found


@inlined
def _weight(value: Any, least: Any, rule: Any) -> Any:
    if rule == FITNESS:
        return value
    return -1.0 / value if rule == RECIPROCAL_COST else value - least


@inlined
def spin(problem: Any, scores: Any, base: Any, places: Any, number: Any, least: Any, rule: Any) -> Any:
    """A roulette wheel with a share for each neighbour by the rule; `least` is the least fitness, not that of all."""
    total = np.float64(0.0)
    for k in range(places.shape[0]):
        total += _weight(np.float64(fitness(problem, scores[base + np.int64(places[k])])), least, rule)
    left = np.float64(number) * (total / 4294967296.0)
    chosen = np.int64(0)
    for k in range(places.shape[0]):
        weight = _weight(np.float64(fitness(problem, scores[base + np.int64(places[k])])), least, rule)
        if weight > 0.0:
            chosen = np.int64(k)
            left -= weight
            if left < 0.0:
                break
    return base + np.int64(places[chosen])


def proportional(engine: Any, problem: Any, scores: Any, base: Any, places: Any, key: Any) -> Any:
    """In proportion to fitness if it is positive, to the reciprocal of cost if that is; else counted from the worst."""
    r0, _, _, _ = numbers(key, 0)
    first = np.float64(fitness(problem, scores[base + np.int64(places[0])]))
    least, most = first, first
    for k in range(1, places.shape[0]):
        value = np.float64(fitness(problem, scores[base + np.int64(places[k])]))
        least, most = min(least, value), max(most, value)
    if least == most:
        return base + np.int64(places[below(r0, places.shape[0])])
    rule = FITNESS if least > 0.0 else RECIPROCAL_COST if most < 0.0 else ABOVE_LEAST
    return spin(problem, scores, base, places, r0, least, rule)


_ALL = (Bits, Digits, Order)
SELECTIONS = OperatorRegistry(
    "selection",
    {
        "random": (at_random, _ALL),
        "proportional": (proportional, _ALL),
        "best": (best, _ALL),
        "tournament": (tournament, _ALL),
        "rank": (rank, _ALL),
    },
)
