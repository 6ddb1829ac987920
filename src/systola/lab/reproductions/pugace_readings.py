"""What PUGACE's text leaves open, each point read in another way than ours: engines that differ in one rule."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from systola.engines.cellular import Cellular
from systola.jit.compile import inlined
from systola.lab.reproductions.pugace import ENGINE
from systola.model.objective import fitness
from systola.model.rng import below, common, numbers
from systola.operators.local_search import apply_swap, beats, copy_known
from systola.operators.selection import ABOVE_LEAST, spin

_TENTH = round(0.1 * 2**32)


def improving_swap(engine: Any, s: Any, row: Any, key: Any, lane: Any) -> None:
    """The best exchange with one position, made only if it is an improvement."""
    space, population, lanes = s.space, s.population, s.lanes
    number, _, _, _ = numbers(common(key), 0)
    position = below(number, space.n)
    found = np.int64(-1)
    copy_known(population, lanes, row, 2 * lane)
    for j in range(space.n):
        if j != position and beats(s, row, position, j, lane):
            found = np.int64(j)
    if found >= 0:
        apply_swap(population, lanes, row, position, found, 2 * lane)


@inlined
def _cost(problem: Any, scores: Any, base: Any, place: Any) -> Any:
    return -np.float64(fitness(problem, scores[base + np.int64(place)]))


def from_worst(engine: Any, problem: Any, scores: Any, base: Any, places: Any, key: Any) -> Any:
    """In proportion to how much less than the worst neighbour each costs."""
    r0, _, _, _ = numbers(key, 0)
    first = _cost(problem, scores, base, places[0])
    least, most = first, first
    for k in range(1, places.shape[0]):
        cost = _cost(problem, scores, base, places[k])
        least, most = min(least, cost), max(most, cost)
    if least == most:
        return base + np.int64(places[below(r0, places.shape[0])])
    return spin(problem, scores, base, places, r0, -most, ABOVE_LEAST)


def by_cost(engine: Any, problem: Any, scores: Any, base: Any, places: Any, key: Any) -> Any:
    """In proportion to cost, as if it were fitness."""
    r0, _, _, _ = numbers(key, 0)
    total = np.float64(0.0)
    for k in range(places.shape[0]):
        total += _cost(problem, scores, base, places[k])
    left = np.float64(r0) * (total / 4294967296.0)
    chosen = np.int64(0)
    for k in range(places.shape[0]):
        chosen = np.int64(k)
        left -= _cost(problem, scores, base, places[k])
        if left < 0.0:
            break
    return base + np.int64(places[chosen])


def swap_each(engine: Any, space: Any, x: Any, key: Any) -> None:
    """Every decision is exchanged with another one with probability 0.1."""
    for i in range(space.n):
        r0, r1, _, _ = numbers(key, i)
        if r0 < np.uint64(_TENTH):
            j = below(r1, space.n)
            kept = x[i]
            x[i] = x[j]
            x[j] = kept


READINGS: dict[str, Cellular] = {
    "ours": ENGINE,
    "best exchange only if it improves": replace(ENGINE, local_search=improving_swap),
    "weights counted from the worst neighbour": replace(ENGINE, selection=from_worst),
    "two neighbours on each side": replace(ENGINE, radius=2),
    "no blocks": replace(ENGINE, block=0),
    "weights are costs": replace(ENGINE, selection=by_cost),
    "any neighbour": replace(ENGINE, selection="random"),
    "the best neighbour": replace(ENGINE, selection="best"),
    "a child replaces only if it is better": replace(ENGINE, replacement="better"),
    "local search in each generation": replace(ENGINE, local_search_interval=1),
    "mutation 0.1 of each decision": replace(ENGINE, mutation=swap_each, mutation_probability=1.0),
    "mutation 0.2": replace(ENGINE, mutation_probability=0.2),
}
QUICK_READINGS = tuple(READINGS)[:4]
