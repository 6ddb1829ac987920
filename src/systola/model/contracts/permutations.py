"""Swaps, insertions, reversals, the table of swaps and blocks of insertions against `evaluate`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from systola.errors import CheckFailed
from systola.jit.records import widen
from systola.model.capabilities import (
    BestInsertion,
    Capability,
    InsertionBlocks,
    Insertions,
    Reversals,
    Swaps,
    SwapTable,
    buffer_of,
)
from systola.model.contracts.cases import agree, compare, loaded, measure, new_state, stored
from systola.model.encodings import Array
from systola.model.incremental import (
    best_insertion,
    evaluate_insertions,
    fill_swap_table,
    insert,
    make_swap,
    prepare_insertions,
    remove_item,
    reverse,
    swap,
    swap_gains,
)
from systola.model.objective import fitness, violation
from systola.model.problem import Problem, record_of, senses_of
from systola.simd.rows import VECTOR_WIDTH, padded


def swapped(x: Array, i: int, j: int) -> Array:
    """The decisions i and j exchanged."""
    moved: Array = x.copy()
    moved[[i, j]] = x[[j, i]]
    return moved


def inserted(x: Array, i: int, j: int) -> Array:
    """What is in place i, taken out and put in place j."""
    return np.insert(np.delete(x, i), j, x[i])


def reversed_between(x: Array, i: int, j: int) -> Array:
    """The decisions i, ..., j in reverse order."""
    i, j = min(i, j), max(i, j)
    moved: Array = x.copy()
    moved[i : j + 1] = x[i : j + 1][::-1]
    return moved


class Move(NamedTuple):
    """A move of permutations: who offers it, what is called, and what it makes."""

    kind: type[Capability]
    told: Callable[..., Any]
    made: Callable[[Array, int, int], Array]
    ordered: bool = False  # whether it is only asked for i < j


MOVES = (
    Move(Swaps, swap, swapped),
    Move(Insertions, insert, inserted),
    Move(Reversals, reverse, reversed_between, True),
)


def check_move(problem: Problem, x: Array, move: Move, draws: np.random.Generator) -> None:
    """Two moves, one after the other."""
    state, name = new_state(problem, stored(problem, x), measure(problem, x)), move.told.__name__
    for _ in range(2):
        rows = stored(problem, x)
        i, j = (int(p) for p in draws.choice(len(x), 2, replace=False))
        if move.ordered:
            i, j = min(i, j), max(i, j)
        move.told(widen(record_of(problem)), rows, 0, i, j, state)
        if not np.array_equal(loaded(problem, rows), x):
            raise CheckFailed(f"{name} writes to the solution {x.tolist()}; it only says what would follow")
        told = f"{name} of {i} and {j} in {x.tolist()}"
        x = move.made(x, i, j)
        compare(problem, state, x, told)


def check_swap_table(problem: Problem, x: Array, own: SwapTable, draws: np.random.Generator) -> None:
    """The table of a solution, and what a few swaps make of it."""
    record, rows, buffer = widen(record_of(problem)), stored(problem, x), buffer_of(problem, own.buffer)
    table: Array = np.zeros(buffer.size, buffer.dtype)
    fill_swap_table(record, rows, 0, table)
    _check_gains(problem, x, table, "SwapTable.fill")
    if own.gains:
        gains = np.zeros_like(table)
        i = int(draws.integers(len(x)))
        swap_gains(record, rows, 0, i, gains)
        for j in range(len(x)):
            if j != i:
                _check_gain(problem, x, (i, j), gains[j], "SwapTable.gains")
    for _ in range(3):
        i, j = sorted(int(p) for p in draws.choice(len(x), 2, replace=False))
        x = swapped(x, i, j)
        make_swap(record, rows, 0, i, j, table)
        if not np.array_equal(loaded(problem, rows), x):
            raise CheckFailed(f"SwapTable.swap of {i} and {j} must make {x.tolist()}, but made {rows[0].tolist()}")
        _check_gains(problem, x, table, f"SwapTable.swap of {i} and {j}")


def _check_gains(problem: Problem, x: Array, table: Array, where: str) -> None:
    """All gains of a table, i < j."""
    n = len(x)
    for i in range(n):
        for j in range(i + 1, n):
            _check_gain(problem, x, (i, j), table[i * padded(n) + j], where)


def _check_gain(problem: Problem, x: Array, pair: tuple[int, int], gain: float, where: str) -> None:
    """How much fitter the solution gets by one swap."""
    now, then = (fitness(widen(record_of(problem)), measure(problem, y)) for y in (x, swapped(x, *pair)))
    if not agree(np.asarray(gain), np.asarray(then - now)):
        raise CheckFailed(
            f"{where} says that {x.tolist()} gains {gain} when its decisions {pair[0]} and {pair[1]} are exchanged, "
            f"evaluate says {then - now}"
        )


def _rows_of_measures(problem: Problem, x: Array, rows: int) -> Array:
    """Room for measures, full of what it could be full of."""
    measures = measure(problem, x)
    return np.full((rows, len(measures)), 7, measures.dtype)


def check_insertion_blocks(problem: Problem, x: Array, own: InsertionBlocks, draws: np.random.Generator) -> None:
    """Neighbours in which one decision is put elsewhere: a block of them, part of it again, and one of them."""
    record, rows = widen(record_of(problem)), stored(problem, x)
    prepared, work = (
        np.full(b.size, 7, b.dtype) for b in (buffer_of(problem, own.prepared), buffer_of(problem, own.work))
    )
    found = _rows_of_measures(problem, x, VECTOR_WIDTH)
    prepare_insertions(record, rows[0], prepared)
    i, first = (int(p) for p in draws.integers(0, len(x), 2))
    for last in (min(len(x), first + VECTOR_WIDTH), min(len(x), first + 2), first + 1):
        if last == min(len(x), first + VECTOR_WIDTH) > first + 1:
            remove_item(record, rows[0], i, prepared, work)
        evaluate_insertions(record, rows[0], i, first, last, prepared, work, found[: last - first])
        for place in range(first, last):
            told = f"InsertionBlocks.evaluate from {i} to {place}"
            _check_objectives(problem, found[place - first], inserted(x, i, place), told)


def check_best_insertion(problem: Problem, x: Array, own: BestInsertion) -> None:
    """The best place for the last of an order, against all of them."""
    record, buffer = widen(record_of(problem)), buffer_of(problem, own.work)
    found, rest, item = _rows_of_measures(problem, x, 2), x[:-1], int(x[-1])
    work = np.zeros(buffer.size, buffer.dtype)
    place = int(best_insertion(record, stored(problem, x)[0], len(rest), item, work, found))
    made = [np.insert(rest, k, item) for k in range(len(x))]
    worth = [fitness(record, measure(problem, y)) for y in made]
    if not 0 <= place < len(x) or worth[place] != max(worth):
        raise CheckFailed(
            f"BestInsertion.find says that {item} is best in place {place} of {rest.tolist()}, evaluate says in place "
            f"{worth.index(max(worth))}"
        )
    _check_objectives(problem, found[0], made[place], "BestInsertion.find")


def _check_objectives(problem: Problem, found: Array, x: Array, where: str) -> None:
    """Measures as far as they are objectives, and the fitness and violation that follow."""
    wanted, count = measure(problem, x), len(senses_of(problem))
    worth = [np.array([rule(widen(record_of(problem)), m) for rule in (fitness, violation)]) for m in (found, wanted)]
    if not agree(found[:count], wanted[:count]) or not agree(*worth):
        raise CheckFailed(
            f"{where} says {found[:count].tolist()} for {x.tolist()}, evaluate says {wanted[:count].tolist()}"
        )
