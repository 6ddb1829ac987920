"""Knapsack instances: files of the knapPI family, and Pisinger's generator of them.

A file has the number of items and the capacity, then profit and weight of each item, then, if known, an optimal
choice as zeros and ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

import numpy as np

from systola.errors import InputError
from systola.formats.instance import Instance
from systola.formats.text import Tokens, located, read_text, write_text
from systola.model.encodings import Array
from systola.model.problem import space_of
from systola.problems.knapsack import Knapsack

KINDS = ("paper", "uncorrelated", "weak", "strong")
MOST_ITEMS = 1_000_000

# Table 1 of Pedemonte, Luna, Alba 2014: the optimum by items and spread.
TABLE_1: Mapping[tuple[int, int], int] = MappingProxyType(
    {
        (100, 1_000): 5_676,
        (100, 10_000): 73_988,
        (200, 1_000): 10_867,
        (200, 10_000): 100_952,
        (500, 1_000): 19_152,
        (500, 10_000): 153_726,
        (1_000, 1_000): 27_305,
        (1_000, 10_000): 231_915,
    }
)

_SERIES = 100  # instances in a series of the public family; the first one is made here


def read(path: str | Path) -> Instance:
    """Read a knapPI file.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    InputError
        If the file breaks the format, or the solution in it does not fit the capacity.
    """
    path = Path(path)
    tokens = Tokens(read_text(path), path.name)
    n = tokens.count("items", each=2)
    capacity = tokens.integer("capacity", 0)
    profits, weights = np.empty(n, np.int64), np.empty(n, np.int64)
    for i in range(n):
        profits[i] = tokens.integer("profit", 0)
        weights[i] = tokens.integer("weight", 0)
    solution = None
    if not tokens.at_end():
        solution = tokens.integers(n, "decision", 0, 1).astype(np.uint8)
        tokens.end(f"the {n} decisions of the solution")
    with located(path.name):
        problem = Knapsack(profits, weights, capacity)
        best_known = None if solution is None else _profit_of(solution, problem)
    return Instance(path.stem, problem, best_known, f"knapPI file {path}", kind="knapsack", solution=solution)


def write(problem: Knapsack, path: str | Path, solution: Array | None = None) -> None:
    """Write a knapPI file.

    Parameters
    ----------
    problem
        What to write.
    path
        The file; it is replaced if it exists.
    solution
        Zeros and ones of an optimal choice, for the last line.
    """
    lines = [f"{len(problem.profits)} {problem.capacity}"]
    lines += [f"{profit} {weight}" for profit, weight in zip(problem.profits, problem.weights, strict=True)]
    if solution is not None:
        problem.encoding.store(space_of(problem), solution)
        _profit_of(solution, problem)
        lines.append(" ".join(str(int(decision)) for decision in solution))
    write_text(path, lines)


def pisinger(items: int, spread: int, kind: str = "paper") -> Knapsack:
    """Generate an instance as Pisinger's program does.

    Parameters
    ----------
    items
        The number of items.
    spread
        The largest weight, R.
    kind
        ``paper`` for the instances of Table 1 of Pedemonte, Luna, Alba 2014: uncorrelated, capacity R + 1, made where
        a C `long` has 64 bits. The others are the first instances of the public series, made with 32 bits,
        whose capacity is a 101st of all weights or the largest weight: ``uncorrelated`` is knapPI_1_items_R_1,
        ``weak`` (correlated) knapPI_2_items_R_1, ``strong`` (correlated) knapPI_3_items_R_1.
    """
    if kind not in KINDS:
        raise InputError(f"`kind` must be one of {', '.join(KINDS)}, but got {kind!r}")
    if not 1 <= items <= MOST_ITEMS:
        raise InputError(f"`1 <= items <= {MOST_ITEMS}` must hold, but got {items}")
    if not 1 <= spread < 2**31:
        raise InputError(f"`1 <= spread < 2**31` must hold, but got {spread}")
    numbers = lrand48(64 if kind == "paper" else 32)
    tenth = spread // 10
    profits, weights = np.empty(items, np.int64), np.empty(items, np.int64)
    for i in range(items):
        weights[i] = weight = next(numbers) % spread + 1
        if kind == "weak":
            profits[i] = max(next(numbers) % (2 * tenth + 1) + weight - tenth, 1)
        elif kind == "strong":
            profits[i] = weight + tenth
        else:
            profits[i] = next(numbers) % spread + 1
    if kind == "paper":
        capacity = spread + 1
    else:
        capacity = max(int(weights.sum()) // (_SERIES + 1), int(weights.max()))
    return Knapsack(profits, weights, capacity)


def lrand48(word: int, seed: int = 1) -> Iterator[int]:
    """The numbers of lrand48 where the high part wraps at `word` bits instead of 32."""
    mask = (1 << word) - 1
    high, low = seed, 0x330E
    while True:
        high = high * 0xDEECE66D + low * 0x5DEEC
        low = low * 0xE66D + 0xB
        high = (high + (low >> 16)) & mask
        low &= 0xFFFF
        yield high >> 1


def _profit_of(solution: Array, problem: Knapsack) -> int:
    """The profit of a choice that must fit."""
    weight = int(problem.weights @ solution)
    if weight > problem.capacity:
        raise InputError(f"a solution must weigh at most {problem.capacity}, but the one given weighs {weight}")
    return int(problem.profits @ solution)
