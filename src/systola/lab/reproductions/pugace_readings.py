"""What PUGACE's text leaves open, each point read in another way than ours: engines that differ in one rule."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from systola.engines.cellular import Cellular
from systola.jit.compile import inlined
from systola.lab.reproductions.pugace import ENGINE
from systola.model.objective import better, fitness
from systola.model.rng import below, common, numbers
from systola.operators.evaluation import evaluate_swap

_TENTH = round(0.1 * 2**32)


def improving_swap(engine: Any, s: Any, row: Any, key: Any, lane: Any) -> None:
    """The best exchange with one position, made only if it is an improvement."""
    problem, space, population, lanes = s.problem, s.space, s.population, s.lanes
    number, _, _, _ = numbers(common(key), 0)
    position = below(number, space.n)
    found = np.int64(-1)
    one, two = 2 * lane, 2 * lane + 1
    for j in range(space.n):
        if j != position:
            evaluate_swap(s, row, position, j, lane, lanes.state[two], lanes.trial[two])
            least = population.scores[row] if found < 0 else lanes.trial[one]
            if better(problem, lanes.trial[two], least):
                found = np.int64(j)
                for k in range(lanes.trial.shape[1]):
                    lanes.trial[one, k] = lanes.trial[two, k]
                for k in range(population.state.shape[1]):
                    lanes.state[one, k] = lanes.state[two, k]
    if found >= 0:
        x = population.x
        x[row, position], x[row, found] = x[row, found], x[row, position]
        for k in range(lanes.trial.shape[1]):
            population.scores[row, k] = lanes.trial[one, k]
        for k in range(population.state.shape[1]):
            population.state[row, k] = lanes.state[one, k]


@inlined
def _cost(problem: Any, scores: Any, base: Any, place: Any) -> Any:
    return -np.float64(fitness(problem, scores[base + np.int64(place)]))


def from_worst(engine: Any, problem: Any, scores: Any, base: Any, places: Any, key: Any) -> Any:
    """In proportion to how much less than the worst neighbour each costs."""
    r0, _, _, _ = numbers(key, 0)
    most = _cost(problem, scores, base, places[0])
    for k in range(1, places.shape[0]):
        most = max(most, _cost(problem, scores, base, places[k]))
    total = np.float64(0.0)
    for k in range(places.shape[0]):
        total += most - _cost(problem, scores, base, places[k])
    if total == 0.0:
        return base + np.int64(places[below(r0, places.shape[0])])
    left = np.float64(r0) * (total / 4294967296.0)
    chosen = np.int64(0)
    for k in range(places.shape[0]):
        weight = most - _cost(problem, scores, base, places[k])
        if weight > 0.0:
            chosen = np.int64(k)
            left -= weight
            if left < 0.0:
                break
    return base + np.int64(places[chosen])


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
