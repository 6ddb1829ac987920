"""Iterated local search of tours: for a cyclic chain, by 2-opt and or-opt with candidate lists.

Martin, Otto, Felten 1991; Johnson, McGeoch 1997. Several chains run side by side. A kick exchanges two short segments
that follow each other (a double bridge of neighbouring places); the descent that follows looks only at cities whose
links have changed. What is worse than before is undone, but some chains keep what is a little worse, by Metropolis's
rule with a fixed temperature, each another one. A chain that has found nothing for long goes on from the best tour of
its own or of another one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from systola.engines.engine import Design, check_number, implement
from systola.engines.migration import enable_migration, replace_if_better
from systola.engines.picture import Walks
from systola.errors import InputError
from systola.jit.compile import called, inlined
from systola.jit.records import record_type
from systola.jit.stop_flag import must_leave
from systola.model.capabilities import Buffer
from systola.model.population import OUT_OF_ROOM, copy_row, ranks_above, update_best
from systola.model.problem import MINIMISE, Problem, space_of
from systola.model.rng import CHANCE, SEARCH, STEP, below, draw, exponential
from systola.model.structure.chain import Chain, user_link
from systola.model.structure.declare import parts_of
from systola.operators.candidate_lists import fill_candidates, fill_lengths
from systola.operators.declared import has_floats, measure_parts
from systola.operators.evaluation import choose_delta_evaluation
from systola.operators.tour import exchange_segments, forget, locate, stop_logging, undo_all, wrapped
from systola.operators.tour_descent import QUEUE, descend, queue_city

_FIELDS = ("chains", "candidates", "longest", "reach", "patience", "warmth")
_IDLE, _REMEMBERED = 0, 1  # what a chain remembers: steps since its best tour was found
_KICKS = 64  # of a chain in a step
_LOG = 2000  # numbers in the log of a kick and its descent
_REACH = 50  # cities of a segment that a kick exchanges, at most
_WARMTH = (0.0, 0.01, 0.03, 0.1)  # temperatures of chains, in links of average cost
_PATIENCE = 100  # steps without a better tour, and one more for each city
LEAST_CITIES = 8


@inlined
def _at(chain: Any) -> Any:
    return OUT_OF_ROOM + 1 + chain * _REMEMBERED


@inlined
def _kick(self: Any, s: Any, cell: Any, k: Any, tour: Any) -> Any:
    """Exchange two segments that follow each other; what is gained, mostly less than nothing."""
    x, place, log, queue = tour
    n = np.int64(x.shape[0])
    r0, r1, r2, _ = draw(s.seed, SEARCH, s.step, cell, k)
    first = below(r0, n)
    one, two = 1 + below(r1, self.reach), 1 + below(r2, self.reach)
    part, problem = s.problem.structure, s.problem
    a, b = np.int64(x[wrapped(n, first - 1)]), np.int64(x[first])
    c, d = np.int64(x[wrapped(n, first + one - 1)]), np.int64(x[wrapped(n, first + one)])
    e, f = np.int64(x[wrapped(n, first + one + two - 1)]), np.int64(x[wrapped(n, first + one + two)])
    removed = user_link(part, problem, a, b) + user_link(part, problem, c, d) + user_link(part, problem, e, f)
    added = user_link(part, problem, a, d) + user_link(part, problem, e, b) + user_link(part, problem, c, f)
    exchange_segments(x, place, log, b, d, f)
    for city in (a, b, c, d, e, f):
        queue_city(queue, n, city)
    return removed - added


def _do_cell(self: Any, s: Any, cell: Any, lane: Any) -> None:
    """Kicks of a chain. Its tour is row `cell`, the best one `chains` rows later."""
    population, lanes = s.population, s.lanes
    x, scores, n = population.x[cell], population.scores, np.int64(s.space.n)
    scratch = lanes.scratch[lane]
    place, queue, log = scratch[:n], scratch[n : 3 * n + QUEUE], scratch[3 * n + QUEUE :]
    tour = (x, place, log, queue)
    locate(x, place)
    for k in range(queue.shape[0]):
        queue[k] = 0
    if has_floats(scores):  # sums that are updated drift
        measure_parts(s, x, population.state[cell], scores[cell])
    if s.step == 1:  # from anywhere to a local optimum
        stop_logging(log)
        for p in range(n):
            queue_city(queue, n, np.int64(x[p]))
        _settle(self, s, cell, _descend(self, s, lane, tour))
    for k in range(_KICKS):
        if must_leave(lanes.stop):
            break
        forget(log)
        gained = _kick(self, s, cell, k, tour) + _descend(self, s, lane, tour)
        if gained < 0 and not _is_kept(self, s, cell, k, -gained):
            undo_all(x, place, log)
        elif gained != 0:
            _settle(self, s, cell, gained)
    best = cell + self.chains
    update_best(s, lane, population.x, best, scores[best], s.step, cell)


@inlined
def _descend(self: Any, s: Any, lane: Any, tour: Any) -> Any:
    return descend(s.problem.structure, s.problem, tour, _lists(self, s), self.longest, s.lanes.stop)


@inlined
def _lists(self: Any, s: Any) -> Any:
    """The candidates of all cities, what the links to them cost, and how many each city has."""
    state = s.population.neighbourhood_state
    size = state.shape[0] // 2
    return state[:size], state[size:], np.int64(self.candidates)


@inlined
def _is_kept(self: Any, s: Any, cell: Any, k: Any, lost: Any) -> Any:
    """Whether a chain keeps a tour that is worse by so much; the first one never does."""
    r0, r1, _, _ = draw(s.seed, CHANCE, s.step, cell, k)
    part = s.problem.structure
    link = np.float64(s.population.scores[cell, part.measure]) / (part.weight * s.space.n)
    return lost <= self.warmth[cell] * link * exponential(r0, r1)


@called
def _settle(self: Any, s: Any, cell: Any, gained: Any) -> None:
    """The tour in this row is shorter by so much; it may be the chain's best."""
    population, part = s.population, s.problem.structure
    population.scores[cell, part.measure] -= part.weight * gained
    if ranks_above(s.problem, population.scores[cell], population.scores[cell + self.chains]):
        copy_row(population, cell, cell + self.chains)
        population.memory[_at(cell)] = 0


def _end_step(self: Any, s: Any) -> Any:
    population, memory = s.population, s.population.memory
    if s.step == 0:
        near, lengths, count = _lists(self, s)
        fill_candidates(s.problem.structure, s.problem, near, s.space.n, count, s.lanes.stop)
        fill_lengths(s.problem.structure, s.problem, near, lengths, s.space.n, count)
    for chain in range(self.chains):
        if s.step == 0:
            memory[_at(chain)] = 0
            copy_row(population, chain, chain + self.chains)
        else:
            memory[_at(chain)] += 1
        if memory[_at(chain)] > self.patience:
            number, _, _, _ = draw(s.seed, STEP, s.step, chain, 0)
            other = self.chains + below(number, self.chains)
            own = chain + self.chains
            better = ranks_above(s.problem, population.scores[other], population.scores[own])
            _go_on_from(self, s, chain, other if better else own)
    return True


@called
def _go_on_from(self: Any, s: Any, chain: Any, row: Any) -> None:
    """The tour in this row is the chain's present and its best one."""
    copy_row(s.population, row, chain)
    if row != chain + self.chains:
        copy_row(s.population, row, chain + self.chains)
    s.population.memory[_at(chain)] = 0


def _best_of_chain(self: Any, number: Any, step: Any) -> Any:
    return self.chains + below(number, self.chains)


def _accept(self: Any, s: Any, immigrants: Any, which: Any, elite: Any) -> None:
    """A chain drawn at random goes on from an immigrant that is better than its best tour."""
    number, _, _, _ = draw(s.seed, STEP, s.step, self.chains, 0)
    row = self.chains + below(number, self.chains)
    if replace_if_better(s, immigrants, which, row):
        _go_on_from(self, s, row - self.chains, row)


def suits_tour_search(problem: Problem) -> bool:
    """Whether a problem is a tour: a cyclic chain, to be as short as possible, and nothing else."""
    parts = parts_of(problem)
    return (
        len(parts) == 1
        and isinstance(parts[0], Chain)
        and parts[0].cyclic
        and not parts[0].hard
        and parts[0].weight > 0
        and problem.sense == MINIMISE
        and not hasattr(problem, "fitness")
        and not hasattr(problem, "violation")
        and space_of(problem).n >= LEAST_CITIES
    )


@dataclass(frozen=True)
class TourSearch:
    """Iterated local search of a tour: a problem whose structure is a cyclic chain that is minimised.

    Parameters
    ----------
    chains : int
        How many run side by side.
    candidates : int
        To how many cities, those that it is linked to at the least cost, a city is tried to be linked.
    longest : int, optional
        How many cities a segment that is put elsewhere has at most; by default 3, or 30 where links are not
        symmetric. With 0, nothing but 2-opt is left.
    """

    chains: int = 4
    candidates: int = 8
    longest: int | None = None
    name = "tour"

    def prepare(self, problem: Problem) -> Design:
        check_number("chains", self.chains, 1, 10**4)
        check_number("candidates", self.candidates, 1, 1000)
        if not suits_tour_search(problem):
            raise InputError(
                f"TourSearch is for a structure that is one cyclic Chain, minimised, of at least {LEAST_CITIES} items, "
                f"but {type(problem).__name__} is another; choose auto"
            )
        part, n = parts_of(problem)[0], space_of(problem).n
        assert isinstance(part, Chain)
        longest = (3 if part.symmetric else 30) if self.longest is None else self.longest
        check_number("longest", longest, 0, 10**6)
        longest, candidates = min(longest, n // 4), min(self.candidates, n - 1)
        record = record_type("TourSearch", _FIELDS)
        implement(record, do_cell=_do_cell, end_step=_end_step)
        enable_migration(record, migration_slot=_best_of_chain, accept_immigrant=_accept)
        warmth = np.resize(np.array(_WARMTH), max(2, self.chains))
        return Design(
            record=record(self.chains, candidates, longest, min(_REACH, n // 4), _PATIENCE + n, warmth),
            cells=self.chains,
            rows=2 * self.chains,
            started=self.chains,
            per_step=self.chains * _KICKS,
            steps=max(200, 10 * n // _KICKS),
            keeps_state=choose_delta_evaluation(problem),
            scratch=3 * n + QUEUE + _LOG,
            neighbourhood_state=Buffer(2 * n * candidates * (1 if part.symmetric else 2), None),
            memory_size=OUT_OF_ROOM + 1 + self.chains * _REMEMBERED,
            layout=Walks(self.chains, self.chains),
        )
