"""Systolic Genetic Search: Pedemonte, Luna, Alba, Soft Computing 2014.

A grid of tau x l cells. In each step a horizontal and a vertical solution meet in each cell, exchange a segment and
flip a bit at positions fixed by the cell (Eqs. 1 to 3); in each stream the child goes on if it is strictly better.
Cells are numbered along the rows of the grid. Memory runs fastest over solutions: neighbouring cells touch the same
words of neighbouring solutions, which is an eighth of the traffic of solutions that lie whole in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from systola.engines.engine import Design, check_number, implement, refuse_if_too_large
from systola.engines.migration import enable_migration
from systola.engines.picture import Grid
from systola.engines.systolic_plan import count_alike, crossover_plan, mutation_plan
from systola.errors import InputError
from systola.jit.compile import inlined
from systola.jit.dispatch import Implementation, dispatched, register
from systola.jit.stop_flag import must_leave
from systola.model.capabilities import Flips, Segments, capability, offers
from systola.model.encodings import Array, Bits
from systola.model.incremental import cross_segments, flip, measures_from_state, update_prefix
from systola.model.objective import better
from systola.model.population import ROW_PADDING, evaluate_plain, update_best
from systola.model.problem import Problem, record_type_of, space_of
from systola.model.rng import below
from systola.simd.bits import lowest_one, segment_mask, toggle, words_for

Flavour = Literal["T", "E", "V", "B"]
_FLAVOURS = ("T", "E", "V", "B")
_T, _E, _V, _B = range(4)


class Systolic(NamedTuple):
    """Record of a systolic grid."""

    flavour: int
    length: int  # cells in a row
    width: int  # rows
    plan: Array  # [cells + ROW_PADDING, 4] int32: segment first <= i < last, flipped decision, cells alike from here


@dispatched
def evaluate_children(s: Any, lane: Any, h: Any, v: Any, n: Any, plan: Any, cell: Any) -> Any:
    """Measures of the children of n neighbouring cells, by the problem's fastest way.

    Cell `cell + k` holds x[h + k] and x[v + k]; its children's measures go to lanes.trial[`children_of`(lane) + k],
    for the vertical one a chunk further. Returns how many cells have measures: n, or more, if whole vectors are
    faster; after a stop some may be missing.
    """


@inlined
def _chunk(lanes: Any) -> Any:
    """How many cells a lane takes together."""
    return lanes.trial.shape[0] // (2 * lanes.step.shape[0])


def _evaluate_children_by_prefix(s: Any, lane: Any, h: Any, v: Any, n: Any, plan: Any, cell: Any) -> Any:
    chunk = _chunk(s.lanes)
    row = 2 * lane * chunk
    # Whole vectors: what is computed past the run is never looked at, and there is memory for it.
    padded = min((n + ROW_PADDING - 1) // ROW_PADDING * ROW_PADDING, chunk)
    cross_segments(s, h, v, padded, plan, cell, row, row + chunk)
    return padded


def _evaluate_children_by_flips(s: Any, lane: Any, h: Any, v: Any, n: Any, plan: Any, cell: Any) -> Any:
    problem, population, lanes = s.problem, s.population, s.lanes
    x = population.x
    chunk = _chunk(lanes)
    for k in range(n):
        a = np.int64(plan[cell + k, 0])
        b = np.int64(plan[cell + k, 1])
        for side in range(2):
            parent = h + k if side == 0 else v + k
            other = v + k if side == 0 else h + k
            state = lanes.state[(2 * lane + side) * chunk + k]
            for q in range(state.shape[0]):
                state[q] = population.state[parent, q]
            for w in range(x.shape[1]):
                lanes.child[lane, w] = x[parent, w]
            for w in range(a >> 6, (b + 63) >> 6):
                differing = (x[parent, w] ^ x[other, w]) & segment_mask(w, a, b)
                while differing != np.uint64(0):
                    i = (w << 6) + lowest_one(differing)
                    flip(problem, lanes.child, lane, i, state)
                    toggle(lanes.child, lane, i)
                    differing &= differing - np.uint64(1)
            flip(problem, lanes.child, lane, np.int64(plan[cell + k, 2]), state)
            measures_from_state(problem, state, lanes.trial[(2 * lane + side) * chunk + k])
    return n


def _evaluate_children_plainly(s: Any, lane: Any, h: Any, v: Any, n: Any, plan: Any, cell: Any) -> Any:
    population, lanes = s.population, s.lanes
    x = population.x
    chunk = _chunk(lanes)
    for k in range(n):
        if must_leave(lanes.stop):
            return n
        a = np.int64(plan[cell + k, 0])
        b = np.int64(plan[cell + k, 1])
        for side in range(2):
            parent = h + k if side == 0 else v + k
            other = v + k if side == 0 else h + k
            for w in range(x.shape[1]):
                mask = segment_mask(w, a, b)
                lanes.child[lane, w] = (x[parent, w] & ~mask) | (x[other, w] & mask)
            toggle(lanes.child, lane, np.int64(plan[cell + k, 2]))
            evaluate_plain(s, lanes.child, lane, lane, lanes.trial[(2 * lane + side) * chunk + k])
    return n


def _step_constants(self: Any, step: Any) -> Any:
    moved = step - 1
    if self.flavour == _T or self.flavour == _E:
        across = np.int64(0)
    else:
        across = moved % (self.length * self.width) // self.width
    return moved % (self.length * self.width if self.flavour == _B else self.length), moved % self.width, across


@inlined
def _places(self: Any, shared: Any, cell: Any) -> Any:
    """Where the streams' solutions at this cell are, and how many cells from here on have them in a row.

    Each stream is a ring that has turned one place a step. Vertical rings run down the columns, but their rows lie in
    memory along the grid's rows, so that neighbouring cells read neighbouring memory.
    """
    along, down, across = shared
    cells = self.length * self.width
    i = cell // self.length
    j = cell - i * self.length
    run = self.length - j
    h = cell - along
    if self.flavour == _B:
        if h < 0:
            run = min(run, -h)
            h += cells
    elif h < i * self.length:
        run = min(run, i * self.length - h)
        h += self.length
    i -= down
    if i < 0:
        i += self.width
        if self.flavour == _V or self.flavour == _B:
            j -= 1
    j -= across
    if j < 0:
        run = min(run, -j)
        j += self.length
    return h, cells + i * self.length + j, run


def _step_cells(self: Any, s: Any, first: Any, last: Any, lane: Any) -> None:
    problem, population, lanes, shared = s.problem, s.population, s.lanes, s.shared
    chunk = _chunk(lanes)
    scores = population.scores
    slots = population.slots
    cell = first
    while cell < last:
        place_h, place_v, n = _places(self, shared, cell)
        n = min(n, last - cell, chunk, np.int64(self.plan[cell, 3]))
        h = place_h
        v = place_v
        if self.flavour == _E:
            h = np.int64(slots[place_h])
            v = np.int64(slots[place_v])
            k = np.int64(1)
            while k < n and slots[place_h + k] == h + k and slots[place_v + k] == v + k:
                k += 1
            n = k
        count = evaluate_children(s, lane, h, v, n, self.plan, cell)
        if must_leave(lanes.stop):  # after it: children may be missing
            return
        row = 2 * lane * chunk
        _choose(problem, scores, lanes, np.uint64(h), np.uint64(v), np.uint64(count), np.uint64(row), np.uint64(chunk))
        for k in range(n):
            kept = lanes.kept[row + k]
            if kept:
                _replace_parents(self, s, lane, h + k, v + k, row + k, cell + k, kept)
        if self.flavour == _E and shared[1] == self.width - 1:
            for k in range(n):
                slots[place_h + k] = v + k
                slots[place_v + k] = h + k
        cell += n


@inlined
def _choose(problem: Any, scores: Any, lanes: Any, h: Any, v: Any, n: Any, row: Any, chunk: Any) -> None:
    """Which children of n neighbouring cells are better than their parents: 1 the horizontal, 2 the vertical one."""
    for k in range(n):  # unsigned and without branches, to become vector code
        keep_h = better(problem, lanes.trial[row + k], scores[h + k])
        keep_v = better(problem, lanes.trial[row + chunk + k], scores[v + k])
        lanes.kept[row + k] = np.uint8(keep_h) + np.uint8(2) * np.uint8(keep_v)


@inlined
def _replace_parents(self: Any, s: Any, lane: Any, h: Any, v: Any, row: Any, cell: Any, kept: Any) -> None:
    """Let the kept children take the place of their parents: only words that change are written."""
    population, lanes, step = s.population, s.lanes, s.step
    a = np.int64(self.plan[cell, 0])
    b = np.int64(self.plan[cell, 1])
    m = np.int64(self.plan[cell, 2])
    keep_h, keep_v = kept & 1, kept & 2
    x = population.x
    scores = population.scores
    if population.prefix.shape[1] > 0:
        update_prefix(s, h, v, a, b, m, keep_h, keep_v)
    for w in range(a >> 6, (b + 63) >> 6):
        differing = (x[h, w] ^ x[v, w]) & segment_mask(w, a, b)
        if keep_h:
            x[h, w] ^= differing
        if keep_v:
            x[v, w] ^= differing
    for side in range(2):
        if keep_h if side == 0 else keep_v:
            parent = h if side == 0 else v
            trial = lanes.trial[row + side * _chunk(lanes)]
            toggle(x, parent, m)
            for k in range(scores.shape[1]):
                scores[parent, k] = trial[k]
            for k in range(population.state.shape[1]):
                population.state[parent, k] = lanes.state[row + side * _chunk(lanes), k]
            update_best(s, lane, x, parent, trial, step, 2 * cell + side)


def _migration_slot(self: Any, number: Any, step: Any) -> Any:
    return below(number, 2 * self.length * self.width)


implement(Systolic, step_cells=_step_cells, step_constants=_step_constants)
enable_migration(Systolic, migration_slot=_migration_slot)


@dataclass(frozen=True)
class SGS:
    """Systolic Genetic Search.

    Parameters
    ----------
    flavour : {"T", "E", "V", "B"}
        What happens at the end of a row or a column; "B", both flows go on to the next, is the paper's best.
    length, width : int, optional
        Cells in a row (default: the number of decisions l) and rows (default: ceil(lg l)).
    crossover_plan : pair of arrays [width, length], optional
        First and last (exclusive) decision of the segment that each cell exchanges; default Eqs. 1 and 2.
    mutation_plan : array [width, length], optional
        The decision that each cell flips; default Eq. 3.
    """

    flavour: Flavour = "B"
    length: int | None = None
    width: int | None = None
    crossover_plan: Any = None
    mutation_plan: Any = None

    @property
    def name(self) -> str:
        return f"sgs-{self.flavour.lower()}"

    def prepare(self, problem: Problem) -> Design:
        space = space_of(problem)
        if not isinstance(space, Bits):
            raise InputError(
                f"SGS works on binary problems, but {type(problem).__name__} is encoded as {type(space).__name__}"
            )
        if self.flavour not in _FLAVOURS:
            raise InputError(f"the flavour must be one of T, E, V, B, but got {self.flavour!r}")
        l = space.n  # noqa: E741
        length = l if self.length is None else self.length
        width = max(1, (l - 1).bit_length()) if self.width is None else self.width
        check_number("length", length, 1, 10**6)
        check_number("width", width, 1, 10**6)
        length, width = int(length), int(width)
        cells = length * width
        refuse_if_too_large(2 * cells * words_for(l) * 8 + 100 * cells)  # with the plans and their making
        first, last = crossover_plan(l, length, width) if self.crossover_plan is None else _pair(self.crossover_plan)
        turn = mutation_plan(l, length, width) if self.mutation_plan is None else self.mutation_plan
        columns = [np.asarray(c) for c in (first, last, turn)]
        for column, name in zip(columns, ("crossover", "crossover", "mutation"), strict=True):
            if column.shape != (width, length):
                raise InputError(f"the {name} plan must have shape {(width, length)}, but got {column.shape}")
        if (columns[0] < 0).any() or (columns[0] > columns[1]).any() or (columns[1] > l).any():
            raise InputError(f"a crossover plan needs 0 <= first <= last <= {l} in every cell")
        if (columns[2] < 0).any() or (columns[2] >= l).any():
            raise InputError(f"a mutation plan needs 0 <= decision < {l} in every cell")
        columns = [c.ravel() for c in columns]
        segments = capability(problem, Segments)
        columns.append(count_alike(columns[0], columns[1], columns[2], segments.span if segments else 1))
        plan = np.zeros((cells + ROW_PADDING, 4), np.int32, order="F")
        plan[:cells] = np.stack(columns, axis=1)
        _choose_child_evaluation(problem)
        return Design(
            record=Systolic(_FLAVOURS.index(self.flavour), length, width, plan),
            cells=cells,
            rows=2 * cells,
            started=2 * cells,
            per_step=2 * cells,
            slots=np.arange(2 * cells if self.flavour == "E" else 1, dtype=np.int32),
            uses_prefix=segments is not None,
            keeps_state=offers(problem, Flips) and segments is None,
            steps=cells,
            shape=(width, length),
            layout=Grid(self.rows_of_cells),
            order="F",
        )

    @staticmethod
    def rows_of_cells(
        design: Design, slots: Array, step: int, i: Array | None = None, j: Array | None = None
    ) -> tuple[Array, Array]:
        """Which rows the horizontal and vertical solutions of the cells [i, j] have after `step` steps.

        By default of all cells; each [width, length].
        """
        width, length = design.shape or (0, 0)
        cells = width * length
        if i is None or j is None:
            i, j = np.indices((width, length))
        flavour = design.record.flavour
        if flavour == _B:
            h = (i * length + j - step) % cells
        else:
            h = i * length + (j - step) % length
        ring = (j * width + i - step) % cells
        if flavour in (_T, _E):
            ring = j * width + (i - step) % width
        v = cells + ring % width * length + ring // width
        return (slots[h], slots[v]) if flavour == _E else (h, v)


def _pair(crossover: Sequence[Array]) -> tuple[Any, Any]:
    try:
        first, last = crossover
    except (TypeError, ValueError):
        raise InputError(f"a crossover plan is a pair of arrays, first and last, but got {crossover!r}") from None
    return first, last


def _choose_child_evaluation(problem: Problem) -> None:
    function: Implementation = _evaluate_children_plainly
    if offers(problem, Segments):
        function = _evaluate_children_by_prefix
    elif offers(problem, Flips):
        function = _evaluate_children_by_flips
    register("evaluate_children", record_type_of(problem), function)
