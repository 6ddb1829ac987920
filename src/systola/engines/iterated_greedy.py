"""Iterated greedy: Ruiz, Stützle 2007, with improvement of partial solutions as Dubois-Lacoste, Pagnozzi, Stützle 2017.

A round takes a few items out of an order, improves what is left, puts each item back where it is best, and improves
the whole. A worse order is accepted now and then, the less the worse it is. Walks are independent of each other, one
in each cell.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from systola.engines.engine import Design, check_number, implement
from systola.engines.migration import enable_migration
from systola.errors import InputError
from systola.jit.compile import called, inlined
from systola.jit.stop_flag import must_leave
from systola.model.capabilities import BestInsertion, Opening, buffer_of, capability
from systola.model.incremental import best_insertion
from systola.model.objective import fitness
from systola.model.population import update_best
from systola.model.problem import Problem, space_of
from systola.model.rng import SEARCH, STEP, below, draw, exponential
from systola.operators.evaluation import evaluate_full


class Greedy(NamedTuple):
    """Record of iterated greedy."""

    size: int
    destruction_size: int
    rounds: int
    temperature: float


@inlined
def _take(x: Any, row: Any, count: Any, place: Any) -> Any:
    """Take out the item in this place."""
    item = x[row, place]
    for t in range(place, count - 1):
        x[row, t] = x[row, t + 1]
    return item


@inlined
def _put(x: Any, row: Any, count: Any, place: Any, item: Any) -> None:
    for t in range(count, place, -1):
        x[row, t] = x[row, t - 1]
    x[row, place] = item


@called
def _improve(s: Any, lane: Any, count: Any, back: Any, cell: Any, turn: Any) -> None:
    """Take out one item after the other, in random order, and put it where it is best, until none gets better; then put
    `back` items that were taken out before where they are best.

    All by one call: what finds a place is large, and a GPU has few registers.
    """
    problem, lanes, seed, step = s.problem, s.lanes, s.seed, s.step
    x, order, trial = lanes.child, lanes.marked, lanes.trial
    for t in range(count):
        r0, _, _, _ = draw(seed, SEARCH, step, cell, turn + t)
        j = below(r0, t + 1)
        order[lane, t] = order[lane, j]
        order[lane, j] = x[lane, t]
    left = count
    t = 0
    done = 0
    known = False
    value = fitness(problem, trial[2 * lane])
    while (left > 0 or done < back) and not must_leave(lanes.stop):
        others = count + done
        item = lanes.spare[lane, done]
        if left > 0:
            others = count - 1
            item = order[lane, t]
            place = 0
            while x[lane, place] != item:
                place += 1
            _take(x, lane, count, place)
        place = best_insertion(problem, x[lane], others, item, lanes.table[lane], trial[2 * lane : 2 * lane + 2])
        _put(x, lane, others, place, item)
        if left > 0:
            gained = fitness(problem, trial[2 * lane])
            left = count - 1 if known and gained > value else left - 1
            known = True
            value = gained
            t = t + 1 if t + 1 < count else 0
        else:
            done += 1


def _do_cell(self: Any, s: Any, cell: Any, lane: Any) -> None:
    problem, space, population, lanes, seed, step = s.problem, s.space, s.population, s.lanes, s.seed, s.step
    n = space.n
    x = lanes.child
    turn = np.int64(0)
    for _ in range(self.rounds):
        for k in range(n):
            x[lane, k] = population.x[cell, k]
        for q in range(self.destruction_size):
            r0, _, _, _ = draw(seed, STEP, step, cell, turn + q)
            lanes.spare[lane, q] = _take(x, lane, n - q, below(r0, n - q))
        turn += self.destruction_size
        back = self.destruction_size
        while back >= 0:
            _improve(s, lane, n - back, back, cell, turn)
            turn += n
            back = 0 if back > 0 else -1
        if must_leave(lanes.stop):
            return  # the order under construction may lack items
        evaluate_full(s, x, lane, lane, lanes.state[lane], lanes.trial[2 * lane])
        update_best(s, lane, x, lane, lanes.trial[2 * lane], step, cell)
        lost = fitness(problem, population.scores[cell]) - fitness(problem, lanes.trial[2 * lane])
        r0, r1, _, _ = draw(seed, STEP, step, cell, turn)
        turn += 1
        if lost <= self.temperature * exponential(r0, r1):
            for k in range(n):
                population.x[cell, k] = x[lane, k]
            for k in range(population.scores.shape[1]):
                population.scores[cell, k] = lanes.trial[2 * lane, k]


def _migration_slot(self: Any, number: Any, step: Any) -> Any:
    return below(number, self.size)


implement(Greedy, do_cell=_do_cell)
enable_migration(Greedy, migration_slot=_migration_slot)


@dataclass(frozen=True)
class IteratedGreedy:
    """Iterated greedy for problems that know where an item of an order is put best, such as flowshops.

    Parameters
    ----------
    size : int
        Independent walks.
    destruction_size : int
        How many items a round takes out and puts back.
    rounds : int
        Rounds in a step.
    temperature : float
        How much worse an accepted order may be: this times the mean loss that the problem calls warm (for a flowshop,
        a tenth of the mean processing time), on average.
    opening : bool
        Start from the orders that the problem builds, if it says that this pays (its `Opening`; for the makespan of
        large flowshops, those of a beam search).
    """

    size: int = 4
    destruction_size: int = 2
    rounds: int = 10
    temperature: float = 0.7
    opening: bool = True
    name = "ig"

    def prepare(self, problem: Problem) -> Design:
        insertion = capability(problem, BestInsertion)
        if insertion is None:
            raise InputError(
                f"iterated greedy needs a problem with BestInsertion, which {type(problem).__name__} does not list; "
                "choose hill or tabu"
            )
        n, opening = space_of(problem).n, capability(problem, Opening)
        check_number("size", self.size, 1, 10**6)
        check_number("destruction_size", self.destruction_size, 1, max(2, n - 1))
        check_number("rounds", self.rounds, 1, 10**6)
        check_number("temperature", self.temperature, 0, 10**9, whole=False)
        return Design(
            record=Greedy(
                self.size,
                min(self.destruction_size, max(1, n - 1)),  # two is the default for short orders, too
                self.rounds,
                float(self.temperature * insertion.temperature(problem)),
            ),
            cells=self.size,
            rows=self.size,
            started=self.size,
            per_step=self.size * self.rounds,
            steps=100,
            table=buffer_of(problem, insertion.work),
            opening=opening if self.opening else None,
        )
