"""Systolic Genetic Search, Tables 1, 2 and 13 to 15: what the problems are, and what is the paper's GPU's alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from systola.formats.catalog import open_instance
from systola.lab.published import load_figures
from systola.lab.tables import Cell, Table
from systola.model.encodings import Array
from systola.problems.mmdp import BLOCK_VALUES


def knapsacks(names: Sequence[str]) -> Table:
    """Table 1: the generated instances and their optima, by dynamic programming; published figures in brackets."""
    printed = load_figures("sgs", 1)
    rows = []
    for name in names:
        problem: Any = open_instance(name).problem
        profit, weights = solve_exactly(problem.profits, problem.weights, int(problem.capacity))
        ours = (len(problem.profits), int(problem.capacity) - 1, int(problem.capacity), profit)
        cells = [
            f"{value:,}{_published(printed.figures, name, what)}" for value, what in zip(ours, "nRW", strict=False)
        ]
        cells.append(f"{profit:,}{_published(printed.figures, name, 'profit')}")
        cells.append(f"{' or '.join(f'{w:,}' for w in weights)}{_published(printed.figures, name, 'weight')}")
        rows.append((Cell(name), *map(Cell, cells)))
    notes = ("Ours by dynamic programming, published in brackets; a weight of each optimal choice.",)
    header = ("Instance", "n", "R", "W", "profit of the optimum", "its weight")
    return Table("Table 1: knapsack instances and their optima", header, tuple(rows), notes)


def solve_exactly(profits: Array, weights: Array, capacity: int) -> tuple[int, list[int]]:
    """The largest profit, and the total weights of the choices that have it."""
    best = np.full(capacity + 1, -1, np.int64)  # by exact weight
    best[0] = 0
    for profit, weight in zip(profits.tolist(), weights.tolist(), strict=True):
        if weight <= capacity:
            before = best[: capacity + 1 - weight]
            best[weight:] = np.maximum(best[weight:], np.where(before >= 0, before + profit, -1))
    most = int(best.max())
    return most, [int(weight) for weight in np.flatnonzero(best == most)]


def deceptive_function() -> Table:
    """Table 2: the value of a block by its ones, ours and published."""
    printed = load_figures("sgs", 2)
    rows = tuple(
        (Cell(str(ones)), Cell(f"{int(value) / 1_000_000:.6f}"), Cell(f"{printed.figures[str(ones), 'value'][0]:.6f}"))
        for ones, value in enumerate(BLOCK_VALUES)
    )
    return Table("Table 2: value of a block of MMDP", ("ones", "value", "published"), rows)


def _published(figures: Mapping[tuple[str, str], tuple[float, float | None]], name: str, what: str) -> str:
    return f" ({figures[name, what][0]:,.0f})" if (name, what) in figures else ""
