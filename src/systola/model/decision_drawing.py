"""What a solution looks like if its problem does not say: a choice, an order or an assignment, or a declared part."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from systola.errors import InputError
from systola.model.drawing import MOST_MARKS, MOST_POINTS, Drawing, Line, Mark, Point, Rect
from systola.model.encodings import Array
from systola.model.names import ASSIGNMENT, CHOICE, ORDER, Labels, labels_of, plural
from systola.model.structure.chain import Chain
from systola.model.structure.declare import parts_of

if TYPE_CHECKING:
    from systola.model.problem import Problem

WIDTH = 1000.0
_CHOSEN, _LEFT = 0, 9  # colours
_GAP = 0.12  # between cells, as a part of a cell


def draw_decisions(problem: Problem, x: Array) -> Drawing | None:
    """The tour of a declared chain whose items have coordinates, or decisions by their kind; None if there are many."""
    for part in parts_of(problem):
        if isinstance(part, Chain) and part.coordinates is not None:
            return draw_tour(_places_of(problem, part.coordinates), x, part.cyclic, labels_of(problem))
    labels = labels_of(problem)
    return None if len(x) > MOST_MARKS else _KINDS[labels.kind](x, labels)


def _places_of(problem: Problem, name: str) -> Array:
    places = np.asarray(getattr(problem, name, None), float)
    n = problem.encoding.space(problem).n
    if places.shape != (n, 2) or not np.isfinite(places).all():
        raise InputError(
            f"`coordinates` of a Chain must name a field of {type(problem).__name__} with a row of two numbers for "
            f"each of its {n} items, but {name!r} has the shape {places.shape}"
        )
    return places


def draw_tour(places: Array, x: Array, cyclic: bool, labels: Labels) -> Drawing:
    """A line through the places of items in their order."""
    low, span = places.min(axis=0), max(float(np.ptp(places, axis=0).max()), 1e-300)
    shown = (places - low) / span * (WIDTH - 20) + 10
    shown[:, 1] = shown[:, 1].max() + 10 - shown[:, 1]  # a map: y goes upwards
    height = float(shown[:, 1].max()) + 10
    order = np.append(x, x[0]) if cyclic else np.asarray(x)
    if len(order) > MOST_POINTS:  # what a screen cannot tell apart
        order = order[np.arange(MOST_POINTS) * len(order) // MOST_POINTS]
    marks: list[Mark] = [Line([(shown[item, 0], shown[item, 1]) for item in order], colour=0)]
    if len(x) < MOST_MARKS:
        names = labels.of_values(np.arange(len(x)))
        marks += [Point(x, y, 1, f"{labels.value} {name}") for (x, y), name in zip(shown, names, strict=True)]
    return Drawing(WIDTH, height, marks, f"{'a tour' if cyclic else 'a path'} of {len(x):,} {plural(labels.value)}")


def draw_matrix(columns: Sequence[int], rows: int, label: Callable[[int], str], caption: str) -> Drawing:
    """A filled cell in each column: the row of column k is columns[k]."""
    count = len(columns)
    cell = WIDTH / max(count, 1)
    height = max(40.0, min(WIDTH, cell * rows))
    high, wide = height / max(rows, 1), cell
    frame = Line([(0, 0), (WIDTH, 0), (WIDTH, height), (0, height), (0, 0)])
    cells: list[Mark] = [
        Rect(k * wide, int(row) * high, (1 - _GAP) * wide, (1 - _GAP) * high, int(row) % 10, label(k))
        for k, row in enumerate(columns)
    ]
    return Drawing(WIDTH, height, [*cells, frame][-MOST_MARKS:], caption)


def _draw_choice(x: Array, labels: Labels) -> Drawing:
    n = len(x)
    columns = max(1, min(n, math.ceil(math.sqrt(4 * n))))
    side = WIDTH / columns
    names = labels.of_decisions(n)
    cells = [
        Rect(
            k % columns * side,
            k // columns * side,
            (1 - _GAP) * side,
            (1 - _GAP) * side,
            _CHOSEN if x[k] else _LEFT,
            f"{labels.decision} {names[k]}{'' if x[k] else ': not chosen'}",
        )
        for k in range(n)
    ]
    caption = f"{int(np.count_nonzero(x)):,} of {n:,} {plural(labels.decision)} chosen"
    return Drawing(WIDTH, -(-n // columns) * side, cells, caption)


def _draw_assignment(x: Array, labels: Labels) -> Drawing:
    low, high = int(np.min(x)), int(np.max(x))
    if labels.values is not None:
        low, high = 0, len(labels.values) - 1
    names, values = labels.of_decisions(len(x)), labels.of_values(x)
    caption = f"{plural(labels.decision)} from left to right, {plural(labels.value)} from above"
    return draw_matrix(
        [int(v) - low for v in x],
        high - low + 1,
        lambda k: f"{labels.decision} {names[k]}: {labels.value} {values[k]}",
        caption,
    )


def _draw_order(x: Array, labels: Labels) -> Drawing:
    names = labels.of_values(x)
    return draw_matrix(
        [int(v) for v in x],
        len(x),
        lambda k: f"{labels.value} {names[k]}, {labels.decision} {k + 1}",
        f"{plural(labels.decision)} from left to right, {plural(labels.value)} from above",
    )


_KINDS: dict[str, Callable[[Array, Labels], Drawing]] = {
    CHOICE: _draw_choice,
    ASSIGNMENT: _draw_assignment,
    ORDER: _draw_order,
}
