"""Steady-state genetic algorithm: Liu, Wang 2015 (PGAP), section 3.1, after Chu, Beasley 1997.

A step makes one child of two parents, which the problem's own local search may improve. Unless it is there already, it
replaces the individual that breaks the constraints most, or the worst one if all keep them. An immigrant waits in the
row after the population: an elite solution becomes the child itself, another one a parent.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from systola.engines.engine import Design, check_number, implement
from systola.engines.migration import enable_migration
from systola.errors import InputError
from systola.jit.compile import called, inlined
from systola.jit.dispatch import Implementation, dispatched_call, register
from systola.jit.records import record_type
from systola.model.capabilities import LocalSearch, capability
from systola.model.encodings import Order, sample
from systola.model.incremental import measures_from_state, quick_search
from systola.model.objective import fitness, violation
from systola.model.population import OUT_OF_ROOM, ranks_above, update_best
from systola.model.problem import Problem, space_of
from systola.model.rng import CHANCE, CROSS, MUTATE, SEARCH, SELECT, START, below, draw
from systola.operators.crossover import CROSSOVERS
from systola.operators.decisions import copy
from systola.operators.evaluation import choose_delta_evaluation, evaluate_delta, evaluate_full
from systola.operators.mutation import MUTATIONS
from systola.operators.reproduction import mutate, recombine, select
from systola.operators.selection import SELECTIONS

_FIELDS = ("size", "places", "crossing", "mutating")
_IMMIGRANT, _HASHES = OUT_OF_ROOM + 1, OUT_OF_ROOM + 2  # in memory: whether somebody waits; a hash of each individual
_NONE, _ORDINARY, _ELITE = range(3)
_LOW, _SHIFT = np.uint64(0xFFFFFFFF), np.uint64(32)
_GOLDEN, _OTHER = np.uint64(0x9E3779B1), np.uint64(0x85EBCA77)
_MAX_SEARCHES = 100  # of a solution that a population begins with, at most


@dispatched_call
def improve_child(engine: Any, problem: Any, x: Any, row: Any, state: Any, measures: Any, work: Any, key: Any) -> Any:
    """Improve x[row] by the problem's own local search, if that is wanted, and measure it."""


def _search_quickly(self: Any, problem: Any, x: Any, row: Any, state: Any, measures: Any, work: Any, key: Any) -> None:
    quick_search(problem, x[row], state, work, key)
    measures_from_state(problem, state, measures)


def _leave_alone(self: Any, problem: Any, x: Any, row: Any, state: Any, measures: Any, work: Any, key: Any) -> None:
    pass


@called
def _hash(x: Any, row: Any) -> Any:
    """A number of 63 bits that is another one for most other solutions.

    Of products of 32 bits only: interpreted, NumPy minds when wider ones overflow.
    """
    low = np.uint64(0)
    high = np.uint64(0)
    for k in range(x.shape[1]):
        value = np.uint64(x[row, k])
        mixed = ((value & _LOW) ^ (value >> _SHIFT) ^ ((np.uint64(k) * _GOLDEN) & _LOW)) * _GOLDEN
        mixed ^= mixed >> np.uint64(29)
        low = (low + (mixed & _LOW)) & _LOW
        high = (high + ((mixed & _LOW) * _OTHER >> np.uint64(31))) & _LOW
    return np.int64(low | ((high >> np.uint64(1)) << _SHIFT))


@inlined
def _is_duplicate(population: Any, size: Any, x: Any, row: Any, mark: Any) -> Any:
    """Whether an individual is x[row]: looked for by hash, then decision by decision."""
    for other in range(size):
        if population.memory[_HASHES + other] == mark:
            same = True
            for k in range(x.shape[1]):
                same = same and population.x[other, k] == x[row, k]
            if same:
                return True
    return False


@inlined
def _row_to_replace(problem: Any, scores: Any, size: Any, measures: Any) -> Any:
    """The row for a child with these measures: of the unfittest, else the worst; -1 if the child is no fitter."""
    chosen = np.int64(0)
    most = violation(problem, scores[0])
    least = fitness(problem, scores[0])
    for row in range(1, size):
        broken = violation(problem, scores[row])
        value = fitness(problem, scores[row])
        if broken > most or (broken == most and value < least):
            chosen, most, least = np.int64(row), broken, value
    broken = violation(problem, measures)
    if broken > 0 and broken >= most:
        return np.int64(-1)
    return chosen


def _step_cells(self: Any, s: Any, first: Any, last: Any, lane: Any) -> None:
    problem, space, population, lanes, seed, step = s.problem, s.space, s.population, s.lanes, s.seed, s.step
    if first >= last:
        return
    x, scores, memory = population.x, population.scores, population.memory
    child, trial, state = lanes.child, lanes.trial[2 * lane], lanes.state[2 * lane]
    immigrant = memory[_IMMIGRANT]
    memory[_IMMIGRANT] = _NONE
    if immigrant == _ELITE:
        copy(child[lane], x[self.size])
        evaluate_full(s, child, lane, lane, state, trial)
    else:
        r0, r1, _, _ = draw(seed, CHANCE, step, 0, 0)
        one = select(self, problem, scores, 0, self.places, (seed, SELECT, step, 0))
        two = select(self, problem, scores, 0, self.places, (seed, SELECT, step, 1))
        if immigrant == _ORDINARY:
            two = np.int64(self.size)
        if r0 < np.uint64(self.crossing):
            work = lanes.decisions[lane]
            recombine(self, space, x[one], x[two], child[lane], lanes.marked[lane], work, (seed, CROSS, step, 0))
        else:
            copy(child[lane], x[one])
        if r1 < np.uint64(self.mutating):
            mutate(self, space, child[lane], (seed, MUTATE, step, 0))
        evaluate_delta(s, one, child, lane, lane, state, trial)
    improve_child(self, problem, child, lane, state, trial, lanes.scratch[lane], (seed, SEARCH, step, 0))
    mark = _hash(child, lane)
    if _is_duplicate(population, self.size, child, lane, mark):
        return
    row = _row_to_replace(problem, scores, self.size, trial)
    if row < 0:
        return
    copy(x[row], child[lane])
    memory[_HASHES + row] = mark
    for k in range(scores.shape[1]):
        scores[row, k] = trial[k]
    for k in range(population.state.shape[1]):
        population.state[row, k] = state[k]
    update_best(s, lane, x, row, scores[row], step, 0)


def _init_row(self: Any, s: Any, row: Any, lane: Any) -> None:
    """A random solution, improved by local search as long as that helps."""
    problem, space, population, lanes, seed = s.problem, s.space, s.population, s.lanes, s.seed
    x, trial, state = population.x, lanes.trial, lanes.state[2 * lane]
    sample(space, x, row, seed, START, 0, row)
    evaluate_full(s, x, row, lane, state, trial[2 * lane])
    for turn in range(_MAX_SEARCHES):
        for k in range(trial.shape[1]):
            trial[2 * lane + 1, k] = trial[2 * lane, k]
        key = (seed, SEARCH, 0, row * _MAX_SEARCHES + turn)
        improve_child(self, problem, x, row, state, trial[2 * lane], lanes.scratch[lane], key)
        if not ranks_above(problem, trial[2 * lane], trial[2 * lane + 1]):
            break


def _end_step(self: Any, s: Any) -> Any:
    population, step = s.population, s.step
    if step == 0:
        for row in range(self.size):
            population.memory[_HASHES + row] = _hash(population.x, row)
    return True


def _accept_immigrant(self: Any, s: Any, immigrants: Any, which: Any, elite: Any) -> None:
    population = s.population
    for k in range(population.x.shape[1]):
        population.x[self.size, k] = immigrants[which, k]
    population.memory[_IMMIGRANT] = _ELITE if elite else _ORDINARY


def _migration_slot(self: Any, number: Any, step: Any) -> Any:
    return below(number, self.size)


@dataclass(frozen=True)
class SteadyState:
    """Steady-state genetic algorithm; by default with the parameters of Liu, Wang 2015, Table 2.

    Parameters
    ----------
    size : int
        Individuals.
    selection : str or function
        How parents are chosen: "tournament" (of two), "rank", "proportional", "random", "best".
    crossover, mutation : str or function, optional
        As for `Cellular`; by default one-point and an exchange of two decisions, for permutations pmx and swap.
    crossover_probability, mutation_probability : float
        How likely each of them is.
    local_search : bool
        Whether children are improved by the problem's own local search, if it has a quick one.
    """

    size: int = 100
    selection: str | Callable[..., Any] = "tournament"
    crossover: str | Callable[..., Any] | None = None
    crossover_probability: float = 0.8
    mutation: str | Callable[..., Any] = "swap"
    mutation_probability: float = 0.2
    local_search: bool = True
    name = "ssga"

    def prepare(self, problem: Problem) -> Design:
        check_number("size", self.size, 2, 10**7)
        check_number("crossover_probability", self.crossover_probability, 0, 1, whole=False)
        check_number("mutation_probability", self.mutation_probability, 0, 1, whole=False)
        space = space_of(problem)
        if space.n < 2:
            raise InputError("a genetic algorithm needs solutions of at least two decisions, but got one")
        own = capability(problem, LocalSearch)
        searching = self.local_search and own is not None and own.quick is not None
        default = "pmx" if isinstance(space, Order) else "one-point"
        functions: dict[str, Implementation] = {}
        labels = []
        for role, kind, choice in (
            ("select", SELECTIONS, self.selection),
            ("recombine", CROSSOVERS, self.crossover or default),
            ("mutate", MUTATIONS, self.mutation),
        ):
            functions[role], label = kind.find(choice, space)
            labels.append(label)
        functions["improve_child"] = _search_quickly if searching else _leave_alone
        record = record_type("_".join(["SteadyState", *labels, "searched" if searching else "plain"]), _FIELDS)
        for role, function in functions.items():
            register(role, record, function)
        implement(record, step_cells=_step_cells, init_row=_init_row, end_step=_end_step)
        enable_migration(record, migration_slot=_migration_slot, accept_immigrant=_accept_immigrant)
        return Design(
            record=record(
                self.size,
                np.arange(self.size, dtype=np.int32),
                round(self.crossover_probability * 2**32),
                round(self.mutation_probability * 2**32),
            ),
            cells=1,
            rows=self.size + 1,
            started=self.size,
            per_step=1,
            keeps_state=choose_delta_evaluation(problem),
            steps=500_000,
            max_lanes=1,
            scratch=own.integers(problem) if own and searching else 0,
            memory_size=_HASHES + self.size,
        )
