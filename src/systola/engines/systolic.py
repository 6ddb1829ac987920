"""Systolic Genetic Search: Pedemonte, Luna, Alba, Soft Computing 2014.

A grid of tau x l cells. In each step a horizontal and a vertical solution meet in each cell, exchange a segment and
flip a bit at positions fixed by the cell (Eqs. 1 to 3); in each stream the child goes on if it is strictly better.
Cells are numbered down the columns, so that neighbours in number share their vertical stream's memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from systola.bits import lowest_one, segment_mask, toggle
from systola.encodings import Array, Bits
from systola.engines.engine import Design
from systola.engines.population import assess, note
from systola.errors import InputError
from systola.problem import Problem, better, cross, flip, remark
from systola.verbs import body_of, give_body, verb

Flavour = Literal["T", "E", "V", "B"]
_FLAVOURS = ("T", "E", "V", "B")
_T, _E, _V, _B = range(4)


class Systolic(NamedTuple):
    """Record of a systolic grid."""

    flavour: int
    length: int  # cells in a row
    width: int  # rows
    plan: Array  # [cells, 5] int32: segment first <= i < last, flipped decision, row, column


@verb
def breed(
    problem: Any, space: Any, population: Any, lanes: Any, lane: Any, h: Any, v: Any, a: Any, b: Any, m: Any
) -> Any:
    """Measures of both children into lanes.trial[2 * lane] and [2 * lane + 1], by the problem's fastest way."""
    return body_of("breed", problem)(problem, space, population, lanes, lane, h, v, a, b, m)


def _breed_by_marks(
    problem: Any, space: Any, population: Any, lanes: Any, lane: Any, h: Any, v: Any, a: Any, b: Any, m: Any
) -> None:
    cross(
        problem,
        population.x,
        population.scores,
        population.marks,
        h,
        v,
        a,
        b,
        m,
        lanes.trial[2 * lane],
        lanes.trial[2 * lane + 1],
    )


def _breed_by_flips(
    problem: Any, space: Any, population: Any, lanes: Any, lane: Any, h: Any, v: Any, a: Any, b: Any, m: Any
) -> None:
    x = population.x
    for side in range(2):
        parent = h if side == 0 else v
        other = v if side == 0 else h
        row = 2 * lane + side
        measures = lanes.trial[row]
        for k in range(measures.shape[0]):
            measures[k] = population.scores[parent, k]
        for w in range(x.shape[1]):
            lanes.child[row, w] = x[parent, w]
        for w in range(a >> 6, (b + 63) >> 6):
            differing = (x[parent, w] ^ x[other, w]) & segment_mask(w, a, b)
            while differing != np.uint64(0):
                i = (w << 6) + lowest_one(differing)
                flip(problem, lanes.child, row, i, measures)
                toggle(lanes.child, row, i)
                differing &= differing - np.uint64(1)
        flip(problem, lanes.child, row, m, measures)


def _breed_by_evaluation(
    problem: Any, space: Any, population: Any, lanes: Any, lane: Any, h: Any, v: Any, a: Any, b: Any, m: Any
) -> None:
    x = population.x
    for side in range(2):
        parent = h if side == 0 else v
        other = v if side == 0 else h
        row = 2 * lane + side
        for w in range(x.shape[1]):
            mask = segment_mask(w, a, b)
            lanes.child[row, w] = (x[parent, w] & ~mask) | (x[other, w] & mask)
        toggle(lanes.child, row, m)
        assess(space, problem, lanes.child, row, lanes, lane, lanes.trial[row])


def _phase(self: Any, step: Any) -> Any:
    moved = step - 1
    return moved % (self.length * self.width), moved % self.length, moved % self.width


def _advance(
    self: Any,
    space: Any,
    problem: Any,
    population: Any,
    lanes: Any,
    seed: Any,
    step: Any,
    shared: Any,
    cell: Any,
    lane: Any,
) -> None:
    a = np.int64(self.plan[cell, 0])
    b = np.int64(self.plan[cell, 1])
    m = np.int64(self.plan[cell, 2])
    i = np.int64(self.plan[cell, 3])
    j = np.int64(self.plan[cell, 4])
    cells = self.length * self.width
    whole, along, down = shared

    # Who is here now: each stream is a ring that has turned one place a step.
    base = i * self.length
    if self.flavour == _B:
        h = base + j - whole
        h += cells if h < 0 else 0
    else:
        h = base + j - along
        h += self.length if h < base else 0
    if self.flavour == _V or self.flavour == _B:
        v = cell - whole
        v += cells if v < 0 else 0
    else:
        v = cell - down
        v += self.width if v < j * self.width else 0
    v += cells
    place_h = h
    place_v = v
    if self.flavour == _E:
        h = np.int64(population.slots[place_h])
        v = np.int64(population.slots[place_v])

    breed(problem, space, population, lanes, lane, h, v, a, b, m)

    scores = population.scores
    trial_h = lanes.trial[2 * lane]
    trial_v = lanes.trial[2 * lane + 1]
    keep_h = better(problem, trial_h, scores[h])
    keep_v = better(problem, trial_v, scores[v])
    if keep_h or keep_v:
        x = population.x
        if population.marks.shape[1] > 0:
            remark(problem, x, population.marks, h, v, a, b, m, keep_h, keep_v)
        for w in range(a >> 6, (b + 63) >> 6):
            differing = (x[h, w] ^ x[v, w]) & segment_mask(w, a, b)
            if keep_h:
                x[h, w] ^= differing
            if keep_v:
                x[v, w] ^= differing
        for side in range(2):
            if keep_h if side == 0 else keep_v:
                row = h if side == 0 else v
                trial = lanes.trial[2 * lane + side]
                toggle(x, row, m)
                for k in range(scores.shape[1]):
                    scores[row, k] = trial[k]
                note(problem, lanes, lane, x, row, trial, step, 2 * cell + side)

    if self.flavour == _E and down == self.width - 1:
        population.slots[place_h] = v
        population.slots[place_v] = h


give_body("phase", Systolic, _phase)
give_body("advance", Systolic, _advance)


def crossover_plan(l: int, length: int, width: int) -> tuple[Array, Array]:  # noqa: E741 (the paper's l)
    """Eqs. 1 and 2 for every cell, as segments first <= i < last of 0-based decisions; each [width, length]."""
    i, j = np.meshgrid(np.arange(width), np.arange(length), indexing="ij")
    half = max(length // 2, 1)
    offset = (l // width) * i + (j // half) * (l // (2 * width))
    one = (1 + offset) % l
    two = (3 + offset + j % half) % l
    return np.minimum(one, two), np.maximum(one, two)


def mutation_plan(l: int, length: int, width: int) -> Array:  # noqa: E741
    """Eq. 3 for every cell: the 0-based decision to flip; [width, length]."""
    i, j = np.meshgrid(np.arange(width), np.arange(length), indexing="ij")
    return (i * (l // width) + j) % l


@dataclass(frozen=True)
class SGS:
    """Systolic Genetic Search.

    Parameters
    ----------
    flavour : {"T", "E", "V", "B"}
        What happens at the end of a row or a column; "B", both flows go on to the next, is the paper's best.
    length, width : int, optional
        Cells in a row (default: the number of decisions l) and rows (default: ceil(lg l)).
    crossover : pair of arrays [width, length], optional
        First and last (exclusive) decision of the segment that each cell exchanges; default Eqs. 1 and 2.
    mutation : array [width, length], optional
        The decision that each cell flips; default Eq. 3.
    """

    flavour: Flavour = "B"
    length: int | None = None
    width: int | None = None
    crossover: Any = None
    mutation: Any = None

    @property
    def name(self) -> str:
        return f"sgs-{self.flavour.lower()}"

    def prepare(self, problem: Problem) -> Design:
        space = problem.space
        if not isinstance(space, Bits):
            raise InputError(
                f"SGS works on binary problems, but {type(problem).__name__} is encoded as {type(space).__name__}"
            )
        if self.flavour not in _FLAVOURS:
            raise InputError(f"the flavour must be one of T, E, V, B, but got {self.flavour!r}")
        l = space.n  # noqa: E741
        length = l if self.length is None else self.length
        width = max(1, (l - 1).bit_length()) if self.width is None else self.width
        for name, value in (("length", length), ("width", width)):
            if value < 1 or value > 10**6:
                raise InputError(f"`1 <= {name} <= 1000000` must hold, but got {value}")
        cells = length * width
        first, last = crossover_plan(l, length, width) if self.crossover is None else self.crossover
        turn = mutation_plan(l, length, width) if self.mutation is None else self.mutation
        i, j = np.meshgrid(np.arange(width), np.arange(length), indexing="ij")
        columns = [np.asarray(c) for c in (first, last, turn, i, j)]
        for column, name in zip(columns, ("crossover", "crossover", "mutation"), strict=False):
            if column.shape != (width, length):
                raise InputError(f"the {name} plan must have shape {(width, length)}, but got {column.shape}")
        if (columns[0] < 0).any() or (columns[0] > columns[1]).any() or (columns[1] > l).any():
            raise InputError(f"a crossover plan needs 0 <= first <= last <= {l} in every cell")
        if (columns[2] < 0).any() or (columns[2] >= l).any():
            raise InputError(f"a mutation plan needs 0 <= decision < {l} in every cell")
        plan = np.stack([c.T.ravel() for c in columns], axis=1).astype(np.int32)
        _choose_breeding(problem)
        return Design(
            record=Systolic(_FLAVOURS.index(self.flavour), length, width, plan),
            cells=cells,
            rows=2 * cells,
            started=2 * cells,
            per_step=2 * cells,
            slots=np.arange(2 * cells if self.flavour == "E" else 1, dtype=np.int32),
            marked=problem.offers("cross"),
            steps=cells,
            shape=(width, length),
        )

    @staticmethod
    def rows_of_cells(design: Design, slots: Array, step: int) -> tuple[Array, Array]:
        """Which row each cell's horizontal and vertical solution has after `step` steps; each [width, length]."""
        width, length = design.shape or (0, 0)
        cells = width * length
        i, j = np.meshgrid(np.arange(width), np.arange(length), indexing="ij")
        flavour = design.record.flavour
        if flavour == _B:
            h = (i * length + j - step) % cells
        else:
            h = i * length + (j - step) % length
        if flavour in (_V, _B):
            v = (j * width + i - step) % cells
        else:
            v = j * width + (i - step) % width
        v = v + cells
        return (slots[h], slots[v]) if flavour == _E else (h, v)


def _choose_breeding(problem: Problem) -> None:
    body = _breed_by_evaluation
    if problem.offers("cross"):
        body = _breed_by_marks
    elif problem.offers("flip"):
        body = _breed_by_flips
    give_body("breed", type(problem)._record, body)
