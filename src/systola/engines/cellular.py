"""Cellular evolutionary algorithm: Soca, Blengio, Pedemonte, Ezzatti 2010 (PUGACE), and Alba, Dorronsoro 2008.

Each individual has a place and meets only its neighbours. A cell chooses a mate, makes two children, changes them a
little, and the better child takes the place of the cell's individual. Updated synchronously, one generation is read
while the next is written; asynchronously, cells follow one another in one population, each seeing what came before.
Operators are chosen by name or are a user's functions; a record type of the engine stands for each choice of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from systola.engines.engine import Design, check_number, implement
from systola.engines.migration import enable_migration
from systola.engines.picture import Grid, alternating
from systola.engines.topology import SHAPES, Listed, arrange
from systola.errors import InputError
from systola.jit.compile import inlined
from systola.jit.dispatch import Implementation, dispatched, register
from systola.jit.records import record_type
from systola.jit.stop_flag import must_leave
from systola.model.capabilities import Buffer
from systola.model.encodings import Order, sample
from systola.model.objective import better
from systola.model.population import copy_row, replace_row, update_best
from systola.model.problem import Problem, space_of
from systola.model.rng import CHANCE, CROSS, MUTATE, SEARCH, SELECT, START, STEP, below, draw
from systola.operators.crossover import CROSSOVERS
from systola.operators.decisions import copy
from systola.operators.evaluation import choose_delta_evaluation, evaluate_delta
from systola.operators.local_search import find_problem_search, find_search, numbers_of_memory, problem_search
from systola.operators.mutation import MUTATIONS
from systola.operators.reproduction import mutate, recombine, select
from systola.operators.selection import SELECTIONS

_FIELDS = (
    *("size", "places", "crossing", "mutating", "block", "generational"),
    *("restarting", "local_search_interval", "local_search_steps", "order", "local_search_data"),
)
_REPLACEMENTS = ("generation", "better", "searched")
_SYNCHRONOUS, _LINE, _FIXED, _NEW, _UNIFORM = range(5)
_NO_SEARCH = np.zeros((1, 1, 1), np.int32), Buffer(2, np.int32)
_UPDATES = {
    "synchronous": _SYNCHRONOUS,
    "line-sweep": _LINE,
    "fixed-random": _FIXED,
    "new-random": _NEW,
    "uniform-choice": _UNIFORM,
}


@dispatched
def improve(engine: Any, s: Any, row: Any, key: Any, lane: Any) -> Any:
    """Local search; see `operators.local_search`."""


@dispatched
def choose_survivor(engine: Any, s: Any, one: Any, target: Any) -> Any:
    """After local search: whether the individual from row `one` keeps its place, which is now `target`."""


def _keep_child(self: Any, s: Any, one: Any, target: Any) -> None:
    pass


def _keep_better(self: Any, s: Any, one: Any, target: Any) -> None:
    problem, population = s.problem, s.population
    if better(problem, population.scores[one], population.scores[target]):
        copy_row(population, one, target)


@inlined
def _are_duplicates(population: Any, one: Any, two: Any) -> Any:
    for k in range(population.scores.shape[1]):
        if population.scores[one, k] != population.scores[two, k]:
            return False
    same = True
    for k in range(population.x.shape[1]):
        same = same and population.x[one, k] == population.x[two, k]
    return same


@inlined
def _update_cell(self: Any, s: Any, cell: Any, turn: Any, lane: Any) -> None:
    """One cell; `turn` counts the cells of a step in the order in which they come, and random numbers go by it."""
    problem, space, population, lanes, seed, step = s.problem, s.space, s.population, s.lanes, s.seed, s.step
    old, new, _ = s.shared
    x, scores = population.x, population.scores
    # In a block all cross at the same points or none does, and all mutate or none does.
    together = turn // self.block if self.block > 0 else turn
    r0, r1, r2, _ = draw(seed, CHANCE, step, together, 0)
    if self.block > 0:
        r2 = r1
    one = old + cell
    two = select(self, problem, scores, old, self.places[cell], (seed, SELECT, step, turn))
    child, sibling = lanes.child[lane], lanes.marked[lane]
    # One of two equal individuals is enough; the one that comes later starts again from a random solution.
    restarted = self.restarting and two < one and _are_duplicates(population, one, two)
    if restarted:
        sample(space, lanes.child, lane, seed, START, step, turn)
        copy(sibling, child)
    elif r0 < np.uint64(self.crossing):
        recombine(self, space, x[one], x[two], child, sibling, lanes.decisions[lane], (seed, CROSS, step, together))
    else:
        copy(child, x[one])
        copy(sibling, x[two])
    a, b = 2 * lane, 2 * lane + 1
    # Loops of two, so that what is inlined here is compiled once.
    for side in range(2):
        made = lanes.child if side == 0 else lanes.marked
        if (r1 if side == 0 else r2) < np.uint64(self.mutating):
            mutate(self, space, made[lane], (seed, MUTATE, step, 2 * turn + side))
        parent, trial = (one, a) if side == 0 else (two, b)
        evaluate_delta(
            s,
            parent,
            made,
            lane,
            lane,
            lanes.state[trial],
            lanes.trial[trial],
        )
    trial = b if better(problem, lanes.trial[b], lanes.trial[a]) else a
    target = new + cell
    if self.generational or restarted or better(problem, lanes.trial[trial], scores[one]):
        replace_row(s, target, lanes.marked if trial == b else lanes.child, lane, trial)
    elif target != one:
        copy_row(population, one, target)
    update_best(s, lane, x, target, scores[target], step, cell)
    if self.local_search_interval > 0 and step % self.local_search_interval == 0:
        improve(self, s, target, (seed, SEARCH, step, turn), lane)
        update_best(s, lane, x, target, scores[target], step, cell)
    if not restarted:
        choose_survivor(self, s, one, target)


def _step_constants(self: Any, step: Any) -> Any:
    if self.order != _SYNCHRONOUS:
        return 0, 0, 0
    return ((step - 1) & 1) * self.size, (step & 1) * self.size, 0


def _migration_slot(self: Any, number: Any, step: Any) -> Any:
    begin = ((step - 1) & 1) * self.size if self.order == _SYNCHRONOUS else 0
    return begin + below(number, self.size)


@inlined
def _shuffle(slots: Any, seed: Any, step: Any) -> None:
    for i in range(slots.shape[0]):
        r0, _, _, _ = draw(seed, STEP, step, 0, i)
        j = below(r0, i + 1)
        slots[i] = slots[j]
        slots[j] = i


def _do_cell(self: Any, s: Any, cell: Any, lane: Any) -> None:
    """Synchronous: all cells alike."""
    _update_cell(self, s, cell, cell, lane)


def _step_in_turn(self: Any, s: Any, first: Any, last: Any, lane: Any) -> None:
    """Asynchronous: one lane visits all cells in turn. Apart from `_do_cell`, to keep that kernel small."""
    population, lanes, seed, step = s.population, s.lanes, s.seed, s.step
    slots = population.slots
    if first >= last:
        return
    if self.order == _NEW or (self.order == _FIXED and step == 1):
        _shuffle(slots, seed, step)
    for turn in range(self.size):
        if must_leave(lanes.stop):
            return
        cell = np.int64(turn)
        if self.order == _UNIFORM:
            r0, _, _, _ = draw(seed, STEP, step, turn, 0)
            cell = below(r0, self.size)
        elif self.order == _FIXED or self.order == _NEW:
            cell = np.int64(slots[turn])
        _update_cell(self, s, cell, turn, lane)


@dataclass(frozen=True)
class Cellular:
    """Cellular evolutionary algorithm; by default with the parameters of Soca et al. 2010, Table I.

    Parameters
    ----------
    size : int, optional
        Individuals; by default 2048, or as many as `shape` has places.
    topology : {"ring", "L5", "L9", "C9", "C13", "grid"}, or lists of numbers
        Which individuals meet: neighbours on a ring; on a torus in one of these shapes; on a torus of any number of
        dimensions; or those of your own, a list of as many numbers for each individual.
    radius : int
        On a ring, how many neighbours to the left, and as many to the right; on a grid, the same along each axis.
    shape : (int, ...), optional
        Height and width of the torus, all sides of a grid; by default the two factors of `size` that are closest to
        each other.
    selection : str or function
        How the mate is chosen: "proportional", "random", "best", "tournament".
    crossover, mutation : str or function, optional
        "pmx", "order", "cycle", and "swap", "insertion", "inversion", "shake" for permutations (default pmx and swap);
        "one-point", "two-point", "uniform" and also "random-value" for others (default two-point and random-value).
    crossover_probability, mutation_probability : float
        How often they are applied to a pair of parents and to a child.
    replacement : {"generation", "better", "searched"}
        Whether the better child always takes the place of its parent, or only if it is better than it; or, with a local
        search in each generation, if it is no worse after that.
    restart_duplicates : bool
        Whether an individual starts again from a random solution when the mate chosen for it is equal to it.
    update : {"synchronous", "line-sweep", "fixed-random", "new-random", "uniform-choice"}
        All at once, or one after the other in an order; the latter runs on one thread.
    block : int
        Decide on operators and crossover points for so many neighbours together, as the paper's GPU did; 0 for each
        individual.
    local_search : str or function, optional
        "best-swap", "descent" or "tabu", for permutations; "problem", for integers, is the problem's own.
    local_search_interval : int
        Local search in one of so many generations.
    local_search_steps : int
        Exchanges of a tabu search, at least: half of them are twice as long or more, a quarter four times, and so on.
        Steps of the problem's own local search.
    """

    size: int | None = None
    topology: str | Listed = "ring"
    radius: int = 4
    shape: tuple[int, ...] | None = None
    selection: str | Callable[..., Any] = "proportional"
    crossover: str | Callable[..., Any] | None = None
    crossover_probability: float = 0.9
    mutation: str | Callable[..., Any] | None = None
    mutation_probability: float = 0.1
    replacement: Literal["generation", "better", "searched"] = "generation"
    restart_duplicates: bool = False
    update: str = "synchronous"
    block: int = 0
    local_search: str | Callable[..., Any] | None = None
    local_search_interval: int = 10
    local_search_steps: int = 1000
    name = "cellular"

    def prepare(self, problem: Problem) -> Design:
        self._check()
        space = space_of(problem)
        if space.n < 2:
            raise InputError("a cellular algorithm needs solutions of at least two decisions, but got one")
        size, places, shape = arrange(self.topology, self.size, self.radius, self.shape)
        ordered = isinstance(space, Order)
        functions: dict[str, Implementation] = {}
        labels = []
        for role, kind, choice in (
            ("select", SELECTIONS, self.selection),
            ("recombine", CROSSOVERS, self.crossover or ("pmx" if ordered else "two-point")),
            ("mutate", MUTATIONS, self.mutation or ("swap" if ordered else "random-value")),
        ):
            functions[role], label = kind.find(choice, space)
            labels.append(label)
        keeps_state = choose_delta_evaluation(problem)
        functions["improve"], label, table = find_search(self.local_search, problem)
        local_search_data, work = find_problem_search(problem) if functions["improve"] is problem_search else _NO_SEARCH
        synchronous = self.update == "synchronous"
        searched = self.replacement == "searched"
        functions["choose_survivor"] = _keep_better if searched else _keep_child
        labels += [label, "" if synchronous else "in_turn", "searched" if searched else ""]
        record = record_type("_".join(["Cellular", *labels]), _FIELDS)
        for role, function in functions.items():
            register(role, record, function)
        implement(
            record,
            step_constants=_step_constants,
            **({"do_cell": _do_cell} if synchronous else {"step_cells": _step_in_turn}),
        )
        enable_migration(record, migration_slot=_migration_slot)
        return Design(
            record=record(
                size,
                places,
                round(self.crossover_probability * 2**32),
                round(self.mutation_probability * 2**32),
                self.block,
                self.replacement != "better",
                self.restart_duplicates,
                self.local_search_interval if self.local_search else 0,
                self.local_search_steps,
                _UPDATES[self.update],
                local_search_data,
            ),
            cells=size if synchronous else 1,
            rows=2 * size if synchronous else size,
            started=size,
            per_step=2 * size,
            slots=np.arange(size, dtype=np.int32),
            keeps_state=keeps_state,
            steps=5000 if self.local_search is None or self.local_search_interval > 1 else 50,
            shape=shape,
            layout=Grid(alternating),
            table=table or work,
            scratch=numbers_of_memory(problem) if table else 0,
        )

    def _check(self) -> None:
        if self.size is not None:
            check_number("size", self.size, 3, 10**7)
        check_number("radius", self.radius, 1, 10**6)
        check_number("crossover_probability", self.crossover_probability, 0, 1, whole=False)
        check_number("mutation_probability", self.mutation_probability, 0, 1, whole=False)
        check_number("block", self.block, 0, 10**7)
        check_number("local_search_interval", self.local_search_interval, 1, 10**9)
        check_number("local_search_steps", self.local_search_steps, 1, 2**24)
        for name, known in (
            ("replacement", _REPLACEMENTS),
            ("update", tuple(_UPDATES)),
            ("topology", ("ring", *SHAPES, "grid")),
        ):
            chosen = getattr(self, name)
            if name == "topology" and isinstance(chosen, (list, tuple, np.ndarray)):
                continue
            if chosen not in known:
                raise InputError(f"the {name} must be one of {', '.join(known)}, but got {chosen!r}")
        searched = self.local_search is not None and self.local_search_interval == 1 and self.update == "synchronous"
        if self.replacement == "searched" and not searched:
            raise InputError(
                "the replacement 'searched' needs a local search, `local_search_interval` 1 and a synchronous update"
            )
