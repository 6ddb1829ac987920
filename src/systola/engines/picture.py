"""What an engine looks like now: which solutions lie where, and how good they are, as plain data of a few kilobytes.

An engine says by its `layout` how its rows are to be looked at; without one they are a field of individuals.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from systola.model.encodings import Array
from systola.model.objective import fitness, violation
from systola.model.population import Standing
from systola.model.problem import Problem, record_of, senses_of

if TYPE_CHECKING:
    from systola.engines.engine import Design

MOST_SIDE = 64  # cells of a picture along each side
MOST_LANES = 256
MOST_FRONT = 200
_SHADES = 254
_NOTHING = 255  # no value, or infeasible

Picture: TypeAlias = dict[str, Any]
Worth: TypeAlias = "float | None"  # None if infeasible


class Layout(Protocol):
    """How the rows of an engine are to be looked at."""

    def picture(self, problem: Problem, design: Design, standing: Standing, step: int) -> Picture:
        """What there is to be seen after this step."""
        ...


@dataclass(frozen=True)
class Grid:
    """Cells that lie on a grid of the design's `shape`.

    Parameters
    ----------
    rows
        Of a design, slots and the number of steps: the rows of the cells in these rows and columns of the grid, an
        array for each solution of a cell.
    """

    rows: Callable[[Any, Array, int, Array, Array], Sequence[Array]]

    def picture(self, problem: Problem, design: Design, standing: Standing, step: int) -> Picture:
        height, width = design.shape or (1, 1)
        # A ring, or a population without any order, fills a square line by line.
        folded = math.isqrt(height * width - 1) + 1 if height == 1 and width > MOST_SIDE else width
        lines = -(-height * width // folded)
        i, j = np.meshgrid(_some_of(lines), _some_of(folded), indexing="ij")
        places = i * folded + j
        known = places < height * width
        places = np.where(known, places, 0)
        layers = self.rows(design, standing.slots, step, places // width, places % width)
        measures = [standing.scores[layer.ravel()] for layer in layers]
        worth = [fitness_of(problem, rows) for rows in measures]
        name = "fitness"
        if all(value is None for rows in worth for value in rows):  # else there would be nothing to be seen
            worth, name = [fitness_of(problem, rows, feasible=False) for rows in measures], "fitness, infeasible"
        best = [max((w for w in cell if w is not None), default=None) for cell in zip(*worth, strict=True)]
        return field_of([w if k else None for w, k in zip(best, known.ravel(), strict=True)], i.shape, name)


@dataclass(frozen=True)
class Walks:
    """Solutions that move each for itself, in the first rows, and the best one that each has met.

    Parameters
    ----------
    count
        How many there are.
    best
        The row of the first one's best solution.
    """

    count: int
    best: int

    def picture(self, problem: Problem, design: Design, standing: Standing, step: int) -> Picture:
        shown = np.arange(min(self.count, MOST_LANES))
        name, current = worth_of(problem, standing.scores[shown])
        _, best = worth_of(problem, standing.scores[self.best + shown])
        return {"type": "walk", "name": name, "current": current, "best": best}


@dataclass(frozen=True)
class Archive:
    """Solutions that do not dominate each other; the design's `rows_in_use` says where they are."""

    def picture(self, problem: Problem, design: Design, standing: Standing, step: int) -> Picture:
        rows = design.rows_in_use(standing.memory) if design.rows_in_use else None
        if rows is None or not len(rows):
            return {"type": "front", "points": [], "size": 0}
        senses = senses_of(problem)
        ranked = rows[np.argsort(standing.scores[rows, 0], kind="stable")]
        some = ranked[_some_of(len(ranked), 2 * MOST_FRONT)]
        broken = [violation(record_of(problem), measures) for measures in standing.scores[some]]
        some = some[[not value > min(broken) for value in broken]]
        vectors = standing.scores[some][:, : len(senses)]
        kept = vectors[_are_nondominated(vectors * np.array(senses))]
        points = kept[_some_of(len(kept), MOST_FRONT)] / problem.scale
        return {"type": "front", "points": [[_plain(v) for v in point] for point in points], "size": len(rows)}


def _are_nondominated(vectors: Array) -> Array:
    """Which of these few, all objectives to be maximised, no other one dominates; without a kernel to be compiled."""
    no_worse = (vectors[:, None] >= vectors[None]).all(axis=2)
    better = (vectors[:, None] > vectors[None]).any(axis=2)
    return np.logical_not((no_worse & better).any(axis=0))


def _individuals(design: Design, slots: Array, step: int, i: Array, j: Array) -> tuple[Array]:
    return (j,)


def alternating(design: Design, slots: Array, step: int, i: Array, j: Array) -> tuple[Array]:
    """Rows of a population that moves from one half of the rows to the other and back, a step each."""
    width = (design.shape or (1, design.started))[1]
    half = design.started if design.rows >= 2 * design.started else 0
    return ((step & 1) * half + i * width + j,)


def picture_of(problem: Problem, design: Design, standing: Standing, step: int) -> Picture | None:
    """What an engine of this design looks like after some steps; None if there is nothing to be seen."""
    if design.layout is not None:
        return design.layout.picture(problem, design, standing, step)
    if design.started == 1:
        return None
    return Grid(_individuals).picture(problem, replace(design, shape=(1, design.started)), standing, step)


def worth_of(problem: Problem, measures: Array) -> tuple[str, list[Worth]]:
    """What numbers people compare these solutions by, and what they are called: the objective, if there is one."""
    if len(senses_of(problem)) > 1:
        return "fitness", fitness_of(problem, measures)
    record = record_of(problem)
    with np.errstate(all="ignore"):
        told = [None if violation(record, row) else _plain(row[0] / problem.scale) for row in measures]
    return "objective", told


def fitness_of(problem: Problem, measures: Array, feasible: bool = True) -> list[Worth]:
    """The fitness of these solutions; None where one is not feasible, unless that does not matter."""
    record = record_of(problem)
    with np.errstate(all="ignore"):
        return [None if feasible and violation(record, row) else _plain(fitness(record, row)) for row in measures]


def field_of(values: Sequence[Worth], shape: tuple[int, ...], name: str) -> Picture:
    """A picture of cells, line by line, a byte each."""
    known = [value for value in values if value is not None]
    low, high = min(known, default=None), max(known, default=None)
    shades = np.full(len(values), _NOTHING, np.uint8)
    if known and low is not None and high is not None:
        numbers = np.array([low if value is None else value for value in values], float)
        span = float(high) - float(low)
        scaled = np.round((numbers - low) * (_SHADES / span)) if 0 < span < math.inf else np.full(len(values), 127.0)
        shades = np.where([value is not None for value in values], scaled, _NOTHING).astype(np.uint8)
    coded = base64.b64encode(shades.tobytes()).decode()
    sides = {"rows": int(shape[0]), "columns": int(shape[1])}
    return {"type": "field", "name": name, **sides, "low": low, "high": high, "values": coded}


def _some_of(count: int, most: int = MOST_SIDE) -> Array:
    """All of so many, or `most` of them at even distances."""
    few = min(count, most)
    return np.arange(few) * count // few if few else np.arange(0)


def _plain(value: float) -> float | None:
    """A number for JSON, whole ones as such; None if it is none."""
    number = value.item() if isinstance(value, np.generic) else value
    if not math.isfinite(number):
        return None
    return int(number) if float(number).is_integer() and abs(number) < 2**53 else float(number)
