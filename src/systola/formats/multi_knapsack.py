"""Multidimensional knapsack instances: readers of three public formats, and the generator of Chu and Beasley.

The problems of a file are recognised by their words, wherever its lines end.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np

from systola.errors import InputError
from systola.formats.instance import Instance
from systola.formats.library import Library, Part
from systola.formats.text import Tokens, located, read_text, shown
from systola.model.encodings import Array
from systola.model.rng import below, check_seed, draw
from systola.problems.multi_knapsack import MultiKnapsack

MOST_ITEMS = 100_000
MOST_CONSTRAINTS = 1_000

_GENERATOR = 9  # purpose of the draws, apart from those of a run with the same seed
_WEIGHTS, _PROFITS = range(2)
_LARGEST_WEIGHT, _BONUS = 1000, 500

_LIMIT = 2**31  # of each number, so that sums of all fit into 64 bits
_RULE = "+++"  # the least of a line between the blocks of mknap2
_FIRST_BLOCK = re.compile(r"(?<!\S)problem\s+\S+\s+\+{3,}(?!\S)", re.IGNORECASE)

_Numbers = tuple[Array, int]  # whole numbers, and the places that their decimal points were moved by


def generate(items: int, constraints: int, seed: int = 1, tightness: float = 0.25) -> MultiKnapsack:
    """Generate an instance by the rules of Chu, Beasley 1998.

    Weights are uniform in 1..1000. A capacity is `tightness` times all weights of its constraint. The profit of an item
    is its mean weight plus 500 q, with q uniform in (0, 1]. Both are rounded half up, as in their files.

    Parameters
    ----------
    items, constraints
        n and m.
    seed
        Equal seeds give equal instances, everywhere.
    tightness
        0.25, 0.5 and 0.75 are customary.
    """
    for name, number, most in (("items", items, MOST_ITEMS), ("constraints", constraints, MOST_CONSTRAINTS)):
        if not 1 <= number <= most:
            raise InputError(f"`1 <= {name} <= {most}` must hold, but got {number}")
    if not 0 < tightness <= 1:
        raise InputError(f"`0 < tightness <= 1` must hold, but got {tightness}")
    seed = check_seed(seed)
    cells = np.arange(items)
    weights = np.empty((constraints, items), np.int64)
    for row in range(constraints):
        weights[row] = 1 + below(draw(seed, _GENERATOR, _WEIGHTS, cells, row)[0], _LARGEST_WEIGHT)
    # The fraction q is (number + 1) / 2**32, so all of this is exact.
    numbers = draw(seed, _GENERATOR, _PROFITS, cells, 0)[0].astype(np.int64)
    exact = (weights.sum(axis=0) << 32) + _BONUS * constraints * (numbers + 1)
    profits = (exact + (constraints << 31)) // (constraints << 32)
    share = Fraction(str(tightness))
    capacities = np.array(
        [math.floor(share * total + Fraction(1, 2)) for total in weights.sum(axis=1).tolist()], np.int64
    )
    return MultiKnapsack(profits, weights, capacities)


def read_numbered(path: str | Path) -> Library:
    """Read a file of several problems, such as mknap1.txt or mknapcb5.txt of the OR-Library.

    The file has the number of problems; for each the numbers of items and constraints and the optimum, or 0 if it is
    unknown; the profits; the weights, constraint by constraint; and the capacities.
    """
    path = Path(path)
    tokens = Tokens(read_text(path), path.name)
    count = tokens.count("problems", each=6)
    parts = tuple(_read_body(tokens) for _ in range(count))
    tokens.end(f"the {count} problems")
    return Library(path, "mknap", "mkp", parts)


def read_single(path: str | Path) -> Instance:
    """Read a file of one problem, such as gk01.dat of Glover, Kochenberger: as `read_numbered`, without the number."""
    path = Path(path)
    tokens = Tokens(read_text(path), path.name)
    part = _read_body(tokens)
    tokens.end("the capacities")
    with located(path.name):
        problem = part.make()
    return Instance(path.stem, problem, part.best_known, f"gk, file {path}", part.notes, "mkp")


def read_named(path: str | Path) -> Library:
    """Read a file of named problems, such as mknap2.txt of the OR-Library.

    After some prose, each problem has the word ``problem``, its name and a line of +; the numbers of constraints
    and items; the profits; the capacities; the weights, constraint by constraint; the optimum, or 0 if it is unknown;
    and another line of + if a problem follows.
    """
    path = Path(path)
    text = read_text(path)
    first = _FIRST_BLOCK.search(text)
    if first is None:
        raise InputError(f"`problem NAME` and a line of + must come first, but there are none ({path.name})")
    prose = text.count("\n", 0, first.start())
    tokens = Tokens("\n" * prose + text[first.start() :], path.name)
    parts: dict[str, Part] = {}
    while not parts or not tokens.at_end():
        _expect(tokens, "problem")
        name = re.sub(r"(?i)\.dat$", "", tokens.word("name"))
        if name.casefold() in parts:
            raise tokens.error(f"a problem must have a name of its own, but {shown(name)} comes again")
        _expect(tokens, _RULE)
        parts[name.casefold()] = _read_block(tokens, name)
        if not tokens.at_end():
            _expect(tokens, _RULE)
    return Library(path, "mknap2", "mkp", tuple(parts.values()))


def _read_body(tokens: Tokens) -> Part:
    """A problem of the first two formats."""
    n = tokens.count("items", each=2)
    m = tokens.count("constraints", each=n + 1)
    optimum = tokens.decimals(1, "optimum")
    profits = tokens.decimals(n, "profit")
    best_known = _best_known(tokens, optimum, profits)
    weights = [tokens.decimals(n, "weight") for _ in range(m)]
    return _part(profits, weights, tokens.decimals(m, "capacity"), best_known)


def _read_block(tokens: Tokens, name: str) -> Part:
    """A problem of mknap2."""
    m = tokens.count("constraints", each=2)
    n = tokens.count("items", each=m + 1)
    profits = tokens.decimals(n, "profit")
    capacities = tokens.decimals(m, "capacity")
    weights = [tokens.decimals(n, "weight") for _ in range(m)]
    best_known = _best_known(tokens, tokens.decimals(1, "optimum"), profits)
    return _part(profits, weights, capacities, best_known, name)


def _best_known(tokens: Tokens, optimum: _Numbers, profits: _Numbers) -> int | float | None:
    """The optimum, if it is one: what is more than all profits has another meaning in another format."""
    best, most = (
        sum(values.tolist()) if places == 0 else sum(values.tolist()) / 10**places
        for values, places in (optimum, profits)
    )
    if best > most:
        raise tokens.error(f"`optimum` must be at most {most}, the sum of the profits, but got {best}")
    return best or None


def _expect(tokens: Tokens, wanted: str) -> None:
    word = tokens.word(wanted)
    if word.casefold() != wanted and not (wanted == _RULE and set(word) == {"+"}):
        what = "a line of +" if wanted == _RULE else f"`{wanted}`"
        raise tokens.error(f"{what} must follow, but got {shown(word)}")


def _part(
    profits: _Numbers, weights: list[_Numbers], capacities: _Numbers, best_known: int | float | None, name: str = ""
) -> Part:
    """All numbers moved by as many places as the one with the most decimals needs."""
    places = max(own for _, own in (profits, *weights, capacities))
    notes = () if places == 0 else (f"data count in units of 1/{10**places}, so that all are whole numbers",)
    sizes = {"items": len(profits[0]), "constraints": len(weights)}
    make = partial(_make, profits, weights, capacities, places)
    return Part(make, sizes, best_known, notes, name)


def _make(profits: _Numbers, weights: list[_Numbers], capacities: _Numbers, places: int) -> MultiKnapsack:
    def moved(numbers: _Numbers, what: str) -> Array:
        values, own = numbers
        if int(values.max()) * 10 ** (places - own) >= _LIMIT:
            unit = f" in units of 1/{10**places}" if places else ""
            raise InputError(f"each {what} must be below 2**31{unit}, but got {values.max() / 10**own:g}")
        whole: Array = values * 10 ** (places - own)
        return whole

    return MultiKnapsack(
        moved(profits, "profit"),
        np.array([moved(row, "weight") for row in weights]),
        moved(capacities, "capacity"),
        scale=10**places,
    )
