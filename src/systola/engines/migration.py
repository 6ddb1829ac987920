"""Migration: how a solution from elsewhere, an immigrant, joins the population of an engine, before a step.

`migration_slot` names the row that an immigrant may replace, and by default it does so if it is better; engines with
another policy implement `accept_immigrant`. Emigrants are taken from such rows, too. Engines without `migration_slot`
do not support migration.
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
    register,
)
from systola.jit.records import Record, RecordType
from systola.model.encodings import Array
from systola.model.incremental import init_prefix
from systola.model.population import ranks_above, update_best
from systola.model.rng import MIGRATE, draw
from systola.operators.evaluation import evaluate_full

HEAD, COUNT, INJECTED = range(3)  # of a pool's state


class Pool(NamedTuple):
    """Solutions that have arrived: a queue that runs in circles."""

    immigrants: Array  # [places, words or decisions]
    elite: Array  # [places] whether it was the best of its deme
    state: Array  # where the oldest is, how many there are, how many were accepted


class NoPool(NamedTuple):
    """Of an engine that is no deme."""

    places: int = 0


@dispatched_call
def accept_next(pool: Any, engine: Any, s: Any) -> Any:
    """Before a step: accept the oldest immigrant of the pool, if there is one."""


def _accept_oldest(self: Any, engine: Any, s: Any) -> None:
    if self.state[COUNT] > 0:
        which = self.state[HEAD]
        accept_immigrant(engine, s, self.immigrants, which, self.elite[which] != 0)
        self.state[HEAD] = (which + 1) % self.immigrants.shape[0]
        self.state[COUNT] -= 1
        self.state[INJECTED] += 1


def _accept_none(self: Any, engine: Any, s: Any) -> None:
    pass


register("accept_next", Pool, _accept_oldest)
register("accept_next", NoPool, _accept_none)


def empty_pool(places: int, row: Array) -> Pool:
    """An empty pool for solutions like this one."""
    return Pool(np.zeros((places, *row.shape), row.dtype), np.zeros(places, np.uint8), np.zeros(3, np.int64))


def enqueue(pool: Pool, row: Array, elite: bool) -> bool:
    """Add a solution; whether it took the place of the oldest one, because the pool is full."""
    places = len(pool.immigrants)
    full = bool(pool.state[COUNT] == places)
    if full:
        pool.state[HEAD] = (pool.state[HEAD] + 1) % places
        pool.state[COUNT] -= 1
    at = int(pool.state[HEAD] + pool.state[COUNT]) % places
    pool.immigrants[at] = row
    pool.elite[at] = elite
    pool.state[COUNT] += 1
    return full


@dispatched
def migration_slot(engine: Any, number: Any, step: Any) -> Any:
    """A row of the population that is read in this step, by a random number of 32 bits."""


@dispatched_call
def accept_immigrant(engine: Any, s: Any, immigrants: Any, which: Any, elite: Any) -> Any:
    """Accept immigrants[which] before this step; `elite` says that it was the best solution of its deme."""


@called
def replace_if_better(s: Any, immigrants: Any, which: Any, row: Any) -> Any:
    """immigrants[which] replaces the solution in this row if it is better; whether it does."""
    problem, population, lanes, step = s.problem, s.population, s.lanes, s.step
    evaluate_full(s, immigrants, which, 0, lanes.state[0], lanes.trial[0])
    if not ranks_above(problem, lanes.trial[0], population.scores[row]):
        return False
    for k in range(population.x.shape[1]):
        population.x[row, k] = immigrants[which, k]
    for k in range(population.scores.shape[1]):
        population.scores[row, k] = lanes.trial[0, k]
    for k in range(population.state.shape[1]):
        population.state[row, k] = lanes.state[0, k]
    if population.prefix.shape[1] > 0:
        init_prefix(problem, population.x, row, population.prefix)
    update_best(s, 0, population.x, row, population.scores[row], step - 1, 0)
    return True


def _accept_if_better(self: Any, s: Any, immigrants: Any, which: Any, elite: Any) -> None:
    seed, step = s.seed, s.step
    number, _, _, _ = draw(seed, MIGRATE, step, 0, 0)
    replace_if_better(s, immigrants, which, migration_slot(self, number, step))


def enable_migration(
    record: RecordType, *, migration_slot: Implementation, accept_immigrant: Implementation = _accept_if_better
) -> None:
    """Register how engines with records of this type take immigrants, so that they can be demes."""
    register("migration_slot", record, migration_slot)
    register("accept_immigrant", record, accept_immigrant)


def supports_migration(record: Record) -> bool:
    """Whether an engine with this record can be a deme."""
    return has_implementation("accept_immigrant", type(record))
