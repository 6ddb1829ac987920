"""SGS_B spelled out cell by cell, with the paper's own 1-based coordinates: slow, and easy to check by eye.

It follows the text of the paper (distances between points, streams as closed loops) where c/sgs.c follows
the formulas, so that agreement between the two says something.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from baseline import Bits, Ints, Knapsack, Problem

Cell = tuple[int, int]  # row from 1 to tau, column from 1 to l

DECEPTIVE = {0: 1.0, 1: 0.0, 2: 0.360384, 3: 0.640576, 4: 0.360384, 5: 0.0, 6: 1.0}  # Table 2


@dataclass(frozen=True)
class Moving:
    """A solution on its way through the grid."""

    bits: tuple[int, ...]
    fitness: int


def wrap(position: int, length: int) -> int:
    """The 1-based position reached when counting goes on from the start after the end."""
    while position > length:
        position -= length
    return position


def crossover_points(cell: Cell, length: int, tau: int) -> tuple[int, int]:
    """The lower and the higher crossover point: positions lower, ..., higher - 1 are exchanged."""
    row, column = cell
    half = length // 2
    # Columns go in stretches of half a row. When the length is odd the last column starts a third
    # stretch, and on the last row its first point can fall one past the end: it wraps.
    stretch, place = divmod(column - 1, half)
    first = 2 + (row - 1) * (length // tau) + stretch * (length // (2 * tau))
    second = first + 2 + place  # the distance grows from two, one by one, along a stretch
    low, high = sorted([wrap(first, length), wrap(second, length)])
    return low, high


def mutation_point(cell: Cell, length: int, tau: int) -> int:
    """Column j mutates position j on the first row, and each row is shifted by length // tau."""
    row, column = cell
    return wrap(column + (row - 1) * (length // tau), length)


def horizontal_loop(length: int, tau: int) -> list[Cell]:
    """The order in which a solution moving horizontally visits the cells: row after row."""
    return [(row, column) for row in range(1, tau + 1) for column in range(1, length + 1)]


def vertical_loop(length: int, tau: int) -> list[Cell]:
    """The order in which a solution moving vertically visits the cells: column after column."""
    return [(row, column) for column in range(1, length + 1) for row in range(1, tau + 1)]


def evaluate(problem: Problem, bits: tuple[int, ...]) -> int:
    if isinstance(problem, Knapsack):
        chosen = np.flatnonzero(bits)
        profit = int(problem.profits[chosen].sum())
        excess = int(problem.weights[chosen].sum()) - int(problem.capacity)
        return profit - excess * int(problem.capacity) if excess > 0 else profit
    blocks = np.array(bits).reshape(-1, 6)
    return sum(round(1_000_000 * DECEPTIVE[int(ones)]) for ones in blocks.sum(axis=1))


def children(cell: Cell, across: Moving, down: Moving, tau: int) -> tuple[list[int], list[int]]:
    """The two children bred in a cell: the horizontal one keeps the ends of the horizontal parent."""
    length = len(across.bits)
    low, high = crossover_points(cell, length, tau)
    flipped = mutation_point(cell, length, tau)
    born_across, born_down = [], []
    for position in range(1, length + 1):
        mine, other = across.bits[position - 1], down.bits[position - 1]
        if low <= position < high:
            mine, other = other, mine
        if position == flipped:
            mine, other = 1 - mine, 1 - other
        born_across.append(mine)
        born_down.append(other)
    return born_across, born_down


def better(problem: Problem, parent: Moving, child: list[int]) -> Moving:
    """Elitism within a stream: ties keep the parent."""
    newcomer = Moving(tuple(child), evaluate(problem, tuple(child)))
    return newcomer if newcomer.fitness > parent.fitness else parent


def pump(outgoing: dict[Cell, Moving], loop: list[Cell]) -> dict[Cell, Moving]:
    """Move every solution one cell along its loop, which closes on itself."""
    return {there: outgoing[here] for here, there in zip(loop, loop[1:] + loop[:1], strict=True)}


def run(problem: Problem, tau: int, steps: int, horizontal: Bits, vertical: Bits) -> tuple[Ints, Ints, Bits, Bits]:
    """Fitness of the horizontal and vertical solutions, then the solutions, in row-major cell order."""
    length = problem.length
    order = horizontal_loop(length, tau)

    def load(solutions: Bits) -> dict[Cell, Moving]:
        rows = [tuple(row) for row in np.asarray(solutions).reshape(-1, length).tolist()]
        return {cell: Moving(row, evaluate(problem, row)) for cell, row in zip(order, rows, strict=True)}

    across, down = load(horizontal), load(vertical)
    for _ in range(steps):
        leaving_across, leaving_down = {}, {}
        for cell in order:
            born_across, born_down = children(cell, across[cell], down[cell], tau)
            leaving_across[cell] = better(problem, across[cell], born_across)
            leaving_down[cell] = better(problem, down[cell], born_down)
        across = pump(leaving_across, horizontal_loop(length, tau))
        down = pump(leaving_down, vertical_loop(length, tau))

    def fitness(stream: dict[Cell, Moving]) -> Ints:
        return np.array([stream[cell].fitness for cell in order], dtype=np.int64)

    def bits(stream: dict[Cell, Moving]) -> Bits:
        return np.array([stream[cell].bits for cell in order], dtype=np.uint8)

    return fitness(across), fitness(down), bits(across), bits(down)
