"""How the problems of systola are drawn: schedules, loads against capacities, blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from systola.model.drawing import MOST_MARKS, Drawing, Line, Mark, Rect, Text
from systola.model.encodings import Array

WIDTH = 1000.0
_HEAD = 130.0  # for words on the left
_LINE = 34.0  # from one bar to the next
_BAR = 24.0
_TICK = 4.0  # by how much the mark of a limit is longer than a bar is high
_COLOURS = 10
_OVER = 1  # the colour of what is too much


@dataclass(frozen=True)
class Bar:
    """Parts one after the other, against a limit."""

    name: str
    parts: Sequence[float]
    labels: Sequence[str]
    limit: float


def draw_bars(bars: Sequence[Bar], caption: str) -> Drawing:
    """A bar for each sum, its parts in turn, and a line where its limit is; all limits at the same place.

    With very many parts a bar is in one piece.
    """
    room = 0.85 * (WIDTH - _HEAD)
    marks: list[Mark] = []
    piecewise = sum(len(bar.parts) + 3 for bar in bars) <= MOST_MARKS
    for k, bar in enumerate(bars[: MOST_MARKS // 4]):
        y, total = k * _LINE + _TICK, float(sum(bar.parts))
        scale = room / max(bar.limit, 1e-300) if total <= 1.15 * bar.limit else (WIDTH - _HEAD) / max(total, 1e-300)
        marks.append(Text(0, y + 0.75 * _BAR, bar.name if total <= bar.limit else f"{bar.name}: over"))
        x = _HEAD
        for number, (part, label) in enumerate(zip(bar.parts, bar.labels, strict=True)) if piecewise else ():
            marks.append(Rect(x, y, part * scale, _BAR, number % _COLOURS, f"{label}: {part:,g}"))
            x += part * scale
        if not piecewise:
            marks.append(Rect(x, y, total * scale, _BAR, 0 if total <= bar.limit else _OVER))
        edge = _HEAD + bar.limit * scale
        marks.append(Line([(edge, y - _TICK), (edge, y + _BAR + _TICK)], label=f"{total:,g} of {bar.limit:,g}"))
    return Drawing(WIDTH, max(len(bars[: MOST_MARKS // 4]) * _LINE, _LINE), marks, caption)


def draw_gantt(done: Array, times: Array, order: Array, names: Sequence[str | int], caption: str) -> Drawing:
    """Machines from above, time to the right; with very many jobs, some that follow each other are one block.

    Parameters
    ----------
    done
        [jobs, machines] when each job of the order is done.
    times
        [jobs, machines] by job.
    order, names
        The jobs, and what each is called.
    """
    jobs, machines = done.shape
    scale = (WIDTH - _HEAD) / max(float(done.max()), 1.0)
    together = -(-jobs * machines // (MOST_MARKS - machines))
    marks: list[Mark] = [Text(0, k * _LINE + 0.75 * _BAR, f"machine {k + 1}") for k in range(machines)]
    for first in range(0, jobs, together):
        last = min(first + together, jobs) - 1
        label = f"job {names[order[first]]}" if first == last else f"{last - first + 1} jobs from {names[order[first]]}"
        for machine in range(machines):
            begin = done[first, machine] - times[order[first], machine]
            end = done[last, machine]
            box = _HEAD + begin * scale, machine * _LINE, (end - begin) * scale, _BAR
            marks.append(Rect(*box, colour=int(order[first]) % _COLOURS, label=f"{label}: {begin} to {end}"))
    return Drawing(WIDTH, machines * _LINE, marks[:MOST_MARKS], caption)


def draw_blocks(shades: Sequence[int], labels: Sequence[str], caption: str) -> Drawing | None:
    """A square of a colour for each block, line by line; None if there are too many."""
    count = len(shades)
    if count > MOST_MARKS:
        return None
    columns = max(1, int(np.ceil(np.sqrt(3 * count))))
    side = WIDTH / columns
    cells = [
        Rect(k % columns * side, k // columns * side, 0.9 * side, 0.9 * side, shades[k], labels[k])
        for k in range(count)
    ]
    return Drawing(WIDTH, -(-count // columns) * side, cells, caption)


def bar_of_chosen(name: str, sizes: Array, x: Array, names: Sequence[str | int], limit: float) -> Bar:
    """A bar of what chosen items add up to."""
    chosen = np.flatnonzero(x).tolist()
    return Bar(name, [float(sizes[k]) for k in chosen], [str(names[k]) for k in chosen], float(limit))
