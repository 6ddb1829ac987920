"""How a solution that comes from elsewhere joins the population of an engine, before a step.

`berth` names the row that an immigrant may replace, and by default it does so if it is better; engines with another
policy implement `admit`. Emigrants are taken from such rows, too. Engines without `berth` do not support migration.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from systola.jit.compile import called
from systola.jit.dispatch import (
    Implementation,
    dispatched,
    dispatched_call,
    has_implementation,
    implementation_of,
    register,
)
from systola.model.encodings import Array
from systola.model.incremental import init_prefix
from systola.model.population import ranks_above, update_best
from systola.model.rng import MIGRATE, draw
from systola.operators.evaluation import evaluate_full

HEAD, COUNT, INJECTED = range(3)  # of a pool's state


class Pool(NamedTuple):
    """Solutions that have arrived: a queue that runs in circles."""

    guests: Array  # [places, words or decisions]
    elite: Array  # [places] whether it was the best of its deme
    state: Array  # where the oldest is, how many there are, how many were let in


class NoPool(NamedTuple):
    """Of an engine that is no deme."""

    places: int = 0


@dispatched_call
def welcome(pool: Any, engine: Any, s: Any) -> Any:
    """Before a step: let one of those in who wait."""
    return implementation_of("welcome", pool)(pool, engine, s)


def _welcome_one(self: Any, engine: Any, s: Any) -> None:
    if self.state[COUNT] > 0:
        which = self.state[HEAD]
        admit(engine, s, self.guests, which, self.elite[which] != 0)
        self.state[HEAD] = (which + 1) % self.guests.shape[0]
        self.state[COUNT] -= 1
        self.state[INJECTED] += 1


def _welcome_nobody(self: Any, engine: Any, s: Any) -> None:
    pass


register("welcome", Pool, _welcome_one)
register("welcome", NoPool, _welcome_nobody)


def make_pool(places: int, row: Array) -> Pool:
    """An empty pool for solutions like this one."""
    return Pool(np.zeros((places, *row.shape), row.dtype), np.zeros(places, np.uint8), np.zeros(3, np.int64))


def put_in(pool: Pool, row: Array, elite: bool) -> bool:
    """Add a solution; whether it took the place of the oldest one, because the pool is full."""
    places = len(pool.guests)
    full = bool(pool.state[COUNT] == places)
    if full:
        pool.state[HEAD] = (pool.state[HEAD] + 1) % places
        pool.state[COUNT] -= 1
    at = int(pool.state[HEAD] + pool.state[COUNT]) % places
    pool.guests[at] = row
    pool.elite[at] = elite
    pool.state[COUNT] += 1
    return full


@dispatched
def berth(engine: Any, number: Any, step: Any) -> Any:
    """A row of the population that is read in this step, by a random number of 32 bits."""
    return implementation_of("berth", engine)(engine, number, step)


@dispatched_call
def admit(engine: Any, s: Any, guests: Any, which: Any, elite: Any) -> Any:
    """Let guests[which] in before this step; `elite` says that it was the best of all where it comes from."""
    return implementation_of("admit", engine)(engine, s, guests, which, elite)


@called
def settle(s: Any, guests: Any, which: Any, row: Any) -> Any:
    """guests[which] takes this row if it is a better answer than what is there; whether it does."""
    problem, population, lanes, step = s.problem, s.population, s.lanes, s.step
    evaluate_full(s, guests, which, 0, lanes.state[0], lanes.trial[0])
    if not ranks_above(problem, lanes.trial[0], population.scores[row]):
        return False
    for k in range(population.x.shape[1]):
        population.x[row, k] = guests[which, k]
    for k in range(population.scores.shape[1]):
        population.scores[row, k] = lanes.trial[0, k]
    for k in range(population.state.shape[1]):
        population.state[row, k] = lanes.state[0, k]
    if population.prefix.shape[1] > 0:
        init_prefix(problem, population.x, row, population.prefix)
    update_best(s, 0, population.x, row, population.scores[row], step - 1, 0)
    return True


def _admit_in_berth(self: Any, s: Any, guests: Any, which: Any, elite: Any) -> None:
    seed, step = s.seed, s.step
    number, _, _, _ = draw(seed, MIGRATE, step, 0, 0)
    settle(s, guests, which, berth(self, number, step))


def host(record: Any, *, berth: Implementation, admit: Implementation = _admit_in_berth) -> None:
    """Let engines with records of this type be demes."""
    register("berth", record, berth)
    register("admit", record, admit)


def hosts(record: Any) -> bool:
    """Whether an engine with this record can be a deme."""
    return has_implementation("admit", type(record))
