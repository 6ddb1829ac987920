"""Systolic Neighborhood Search: Vidal, Luna, Alba, Soft Computing 2013.

A mesh of cells, as many columns as decisions. In each step a cell flips some decisions of its solution and keeps the
change if it is better; then all solutions move one column on. A cell's row says how many decisions it flips, its
column where they begin. Options change the rows (exponential), the choice of decisions (random) and the flow (moving).
Solutions never move in memory: where one is follows from the step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from systola.engines.engine import Design, implement, refuse_if_too_large
from systola.engines.migration import enable_migration
from systola.engines.picture import Grid
from systola.errors import InputError
from systola.jit.compile import inlined
from systola.jit.dispatch import Implementation, dispatched, register, register_each
from systola.model.capabilities import EvaluationState, Flips, Repair, Seeding, buffer_of, capability, offers
from systola.model.encodings import Array, Bits
from systola.model.incremental import construct, flip_run, flip_word, measures_from_state, repair, state_of
from systola.model.objective import better
from systola.model.population import evaluate_plain, update_best
from systola.model.problem import Problem, record_type_of, space_of
from systola.model.rng import START, STEP, below, draw
from systola.simd.bits import bit, segment_mask, toggle, words_for


class Mesh(NamedTuple):
    """Record of a mesh."""

    length: int  # cells in a row
    width: int  # rows
    random: bool
    moving: bool
    counts: Array  # [width] int64: how many decisions the cells of a row flip; below 0 those chosen at random


class RepairingMesh(NamedTuple):
    """Record of a mesh whose solutions are repaired."""

    length: int
    width: int
    random: bool
    moving: bool
    counts: Array
    greedy_order: Array  # [n] int32: decisions, best first
    thresholds: Array  # [n] uint64: a number below thresholds[i] takes decision i at the start, in units of 2**-32
    undecided: Array  # [n] int32: decisions, those first whose thresholds are nearest to one half
    repairing: bool  # not only at the start


@dispatched
def change_marked(problem: Any, lanes: Any, lane: Any) -> Any:
    """Flip the decisions marked in lanes.marked[lane] in lanes.child[lane], and keep its state if there is one."""


@dispatched
def change_run(problem: Any, lanes: Any, lane: Any, first: Any, last: Any) -> Any:
    """Flip the decisions first <= i < last of lanes.child[lane], and keep its state if the problem has one."""


@dispatched
def measure(s: Any, lane: Any) -> Any:
    """Measures of lanes.child[lane] into lanes.trial[lane]."""


@dispatched
def mark_one(engine: Any, lanes: Any, lane: Any, n: Any, last: Any, number: Any) -> Any:
    """Mark a decision in lanes.marked[lane] by a random number; `last` is one more each time, and n - 1 in the end."""


@dispatched
def repair_child(engine: Any, problem: Any, lanes: Any, lane: Any) -> Any:
    """Repair lanes.child[lane], if this mesh does."""


def _change_marked_by_flips(problem: Any, lanes: Any, lane: Any) -> None:
    for w in range(lanes.child.shape[1]):
        flip_word(problem, lanes.child, lane, w, lanes.marked[lane, w], lanes.state[lane])


def _measure_by_state(s: Any, lane: Any) -> None:
    problem, lanes = s.problem, s.lanes
    measures_from_state(problem, lanes.state[lane], lanes.trial[lane])


def _change_run_by_flips(problem: Any, lanes: Any, lane: Any, first: Any, last: Any) -> None:
    flip_run(problem, lanes.child, lane, first, last, lanes.state[lane])


def _change_run_plainly(problem: Any, lanes: Any, lane: Any, first: Any, last: Any) -> None:
    for w in range(first >> 6, (last + 63) >> 6):
        lanes.child[lane, w] ^= segment_mask(w, first, last)


def _change_marked_plainly(problem: Any, lanes: Any, lane: Any) -> None:
    for w in range(lanes.child.shape[1]):
        lanes.child[lane, w] ^= lanes.marked[lane, w]


def _measure_by_evaluation(s: Any, lane: Any) -> None:
    lanes = s.lanes
    evaluate_plain(s, lanes.child, lane, lane, lanes.trial[lane])


_BY_STATE: dict[str, Implementation] = {
    "change_marked": _change_marked_by_flips,
    "change_run": _change_run_by_flips,
    "measure": _measure_by_state,
}
_BY_EVALUATION: dict[str, Implementation] = {
    "change_marked": _change_marked_plainly,
    "change_run": _change_run_plainly,
    "measure": _measure_by_evaluation,
}


def _repair_nothing(self: Any, problem: Any, lanes: Any, lane: Any) -> None:
    pass


def _repair_child(self: Any, problem: Any, lanes: Any, lane: Any) -> None:
    if self.repairing:
        repair(problem, lanes.child, lane, lanes.state[lane], self.greedy_order)


def _init_row(self: Any, s: Any, row: Any, lane: Any) -> None:
    problem, space, population, lanes, seed = s.problem, s.space, s.population, s.lanes, s.seed
    construct(problem, space, population.x, row, lanes.state[lane], seed, 0, row)


def _init_row_repaired(self: Any, s: Any, row: Any, lane: Any) -> None:
    problem, space, population, lanes, seed = s.problem, s.space, s.population, s.lanes, s.seed
    x = population.x
    for w in range(x.shape[1]):
        x[row, w] = np.uint64(0)
    i = np.int64(0)
    while i < space.n:
        r0, r1, r2, r3 = draw(seed, START, 0, row, i >> 2)
        for number in (r0, r1, r2, r3):
            if i < space.n and number < self.thresholds[i]:
                toggle(x, row, i)
            i += 1
    evaluate_plain(s, x, row, lane, lanes.trial[lane])
    state_of(problem, x, row, lanes.trial[lane], lanes.state[lane])
    repair(problem, x, row, lanes.state[lane], self.greedy_order)


def _migration_slot(self: Any, number: Any, step: Any) -> Any:
    return below(number, self.length * self.width)


def _step_constants(self: Any, step: Any) -> Any:
    moved = step - 1
    return moved % self.length, moved // self.length % self.width if self.moving else np.int64(0), 0


def _mark_uniformly(self: Any, lanes: Any, lane: Any, n: Any, last: Any, number: Any) -> None:
    """Always another decision, and all sets alike (Floyd's way)."""
    i = below(number, last + 1)
    if bit(lanes.marked, lane, i):
        i = last
    toggle(lanes.marked, lane, i)


def _mark_undecided(self: Any, lanes: Any, lane: Any, n: Any, last: Any, number: Any) -> None:
    """None twice, and mostly undecided decisions: places are cubes of uniform fractions."""
    square = (number * number) >> np.uint64(32)
    i = np.int64(self.undecided[below((square * number) >> np.uint64(32), n)])
    if not bit(lanes.marked, lane, i):
        toggle(lanes.marked, lane, i)


@inlined
def _mark_randomly(self: Any, lanes: Any, lane: Any, n: Any, wanted: Any, key: Any) -> None:
    """Mark up to `wanted` decisions in lanes.marked[lane], where none is; `key` is seed, step and cell."""
    seed, step, cell = key
    done = np.int64(0)
    while done < wanted:
        r0, r1, r2, r3 = draw(seed, STEP, step, cell, done >> 2)
        for number in (r0, r1, r2, r3):
            if done < wanted:
                mark_one(self, lanes, lane, n, n - wanted + done, number)
            done += 1


def _do_cell(self: Any, s: Any, cell: Any, lane: Any) -> None:
    problem, space, population, lanes, seed, step, shared = (
        s.problem,
        s.space,
        s.population,
        s.lanes,
        s.seed,
        s.step,
        s.shared,
    )
    along, down, _ = shared
    x = population.x
    i = cell // self.length
    j = cell - i * self.length
    from_i = i - down if i >= down else i - down + self.width
    from_j = j - along if j >= along else j - along + self.length
    row = from_i * self.length + from_j
    for w in range(x.shape[1]):
        lanes.child[lane, w] = x[row, w]
    for k in range(population.state.shape[1]):
        lanes.state[lane, k] = population.state[row, k]
    count = self.counts[i]
    if self.random or count < 0:
        for w in range(x.shape[1]):
            lanes.marked[lane, w] = np.uint64(0)
        _mark_randomly(self, lanes, lane, space.n, abs(count), (seed, step, cell))
        change_marked(problem, lanes, lane)
    else:
        last = j + count
        change_run(problem, lanes, lane, j, min(last, space.n))
        if last > space.n:
            change_run(problem, lanes, lane, np.int64(0), last - space.n)
    repair_child(self, problem, lanes, lane)
    measure(s, lane)
    if better(problem, lanes.trial[lane], population.scores[row]):
        for w in range(x.shape[1]):
            x[row, w] = lanes.child[lane, w]
        for k in range(population.state.shape[1]):
            population.state[row, k] = lanes.state[lane, k]
        for k in range(population.scores.shape[1]):
            population.scores[row, k] = lanes.trial[lane, k]
        update_best(s, lane, x, row, lanes.trial[lane], step, cell)


implement(Mesh, do_cell=_do_cell, step_constants=_step_constants, init_row=_init_row)
implement(RepairingMesh, do_cell=_do_cell, step_constants=_step_constants, init_row=_init_row_repaired)
enable_migration(Mesh, migration_slot=_migration_slot)
enable_migration(RepairingMesh, migration_slot=_migration_slot)
register_each("mark_one", {Mesh: _mark_uniformly, RepairingMesh: _mark_undecided})
register_each("repair_child", {Mesh: _repair_nothing, RepairingMesh: _repair_child})


FEWEST_EVALUATIONS, MOST_EVALUATIONS = 400_000, 3_000_000


def evaluations_for(n: int) -> int:
    """Section 5.4: how many solutions a run on n decisions may make."""
    return min(max(5000 * n, FEWEST_EVALUATIONS), MOST_EVALUATIONS)


@dataclass(frozen=True)
class SNS:
    """Systolic Neighborhood Search.

    Parameters
    ----------
    exponential : bool
        ceil(lg n) rows that flip 1, 2, 4, ... decisions, instead of n rows that flip 1, 2, 3, ...
    random : bool
        Flip decisions chosen at random instead of those from the column on.
    moving : bool
        Move all solutions one row down after each tour through the columns.
    repair : bool
        Not in the paper: make each changed solution feasible by the problem's `Repair`, instead of penalising it. With
        `random`, decisions are preferred that are neither likely nor unlikely in good solutions.
    rows : list of int, optional
        Not in the paper: how many decisions the cells of each row flip, as many rows as
        numbers. A row with a number below 0 flips as many that are chosen at random, whatever the others do.
    seeded : bool
        Not in the paper: start from repaired solutions that are likely to be good (the problem's `Seeding`).
    """

    exponential: bool = False
    random: bool = False
    moving: bool = False
    repair: bool = False
    seeded: bool = False
    rows: Sequence[int] | None = None

    @property
    def name(self) -> str:
        return "sns" + "-exp" * self.exponential + "-r" * self.random + "-mr" * self.moving

    def prepare(self, problem: Problem) -> Design:
        space = space_of(problem)
        if not isinstance(space, Bits):
            raise InputError(
                f"SNS works on binary problems, but {type(problem).__name__} is encoded as {type(space).__name__}"
            )
        for option in ("exponential", "random", "moving", "repair", "seeded"):
            if not isinstance(getattr(self, option), bool):
                raise InputError(f"`{option}` must be true or false, but got {getattr(self, option)!r}")
        n = space.n
        counts = self._counts(n)
        width = len(counts)
        cells = n * width
        state = capability(problem, EvaluationState)
        refuse_if_too_large(
            cells * (8 * words_for(n) + (buffer_of(problem, state.buffer).size * 4 if state else 16) + 16)
        )
        keeps_state = offers(problem, Flips)
        for name, function in (_BY_STATE if keeps_state else _BY_EVALUATION).items():
            register(name, record_type_of(problem), function)
        return Design(
            record=self._record(problem, n, width, counts),
            cells=cells,
            rows=cells,
            started=cells,
            per_step=cells,
            keeps_state=keeps_state,
            steps=max(1, (evaluations_for(n) - cells) // cells),
            shape=(width, n),
            layout=Grid(self.rows_of_cells),
        )

    def _counts(self, n: int) -> Array:
        """How many decisions the cells of each row flip."""
        if self.rows is None:
            width = max(1, (n - 1).bit_length()) if self.exponential else n
            return (2 ** np.arange(width) if self.exponential else np.arange(1, width + 1)).astype(np.int64)
        if self.exponential:
            raise InputError("`exponential` and `rows` are two choices of rows, but got both; leave one of them out")
        if not isinstance(self.rows, (list, tuple, np.ndarray)) or not len(self.rows):
            raise InputError(f"`rows` must be a list of numbers, one or more, but got {self.rows!r}")
        for count in self.rows:
            whole = isinstance(count, (int, np.integer)) and not isinstance(count, bool)
            if not whole or not 1 <= abs(int(count)) <= n:
                raise InputError(f"a row must flip 1 to {n} decisions, or -1 to -{n} at random, but got {count!r}")
        return np.array(self.rows, np.int64)

    def _record(self, problem: Problem, length: int, width: int, counts: Array) -> Mesh | RepairingMesh:
        if not (self.repair or self.seeded):
            return Mesh(length, width, self.random, self.moving, counts)
        repairer, seeding = capability(problem, Repair), capability(problem, Seeding)
        if repairer is None:
            raise InputError(
                f"`repair` and `seeded` need a problem with Repair, which {type(problem).__name__} does not list; "
                "leave them out"
            )
        probabilities = seeding.probabilities(problem) if seeding else np.full(length, 0.5)
        undecided = np.argsort(np.abs(probabilities - 0.5), kind="stable").astype(np.int32)
        limits = np.round((probabilities if self.seeded else np.full(length, 0.5)) * 2.0**32).astype(np.uint64)
        return RepairingMesh(
            length, width, self.random, self.moving, counts, repairer.data(problem), limits, undecided, self.repair
        )

    @staticmethod
    def rows_of_cells(
        design: Design, slots: Array, step: int, i: Array | None = None, j: Array | None = None
    ) -> tuple[Array]:
        """Which row the solution of each of the cells [i, j] has after `step` steps; by default of all cells."""
        width, length = design.shape or (0, 0)
        if i is None or j is None:
            i, j = np.indices((width, length))
        down = step // length if design.record.moving else 0
        return ((i - down) % width * length + (j - step) % length,)
