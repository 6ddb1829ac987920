"""Crossovers: two children of two parents.

All have the same arguments: the engine's record, the space, the parents `one` and `two`, the children to be written,
`work` with room for n integers, and the key to their random numbers. `child` has more of `one`, `sibling` of `two`,
as far as that can be said. Sources: one- and two-point, uniform: Holland 1975, Syswerda 1989; PMX: Goldberg, Lingle
1985; OX: Davis 1985; cycle: Oliver, Smith, Holland 1987.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from systola.jit.compile import inlined
from systola.model.encodings import Bits, Digits, Order
from systola.model.rng import below, numbers
from systola.operators.decisions import copy, copy_segment, uniform_mix
from systola.operators.registry import OperatorRegistry


@inlined
def cut(n: Any, key: Any) -> Any:
    """Two different points 0 <= a < b <= n, all pairs alike."""
    r0, r1, _, _ = numbers(key, 0)
    a = below(r0, n + 1)
    b = below(r1, n)
    if b >= a:
        return a, b + 1
    return b, a


def one_point(engine: Any, space: Any, one: Any, two: Any, child: Any, sibling: Any, work: Any, key: Any) -> None:
    """The decisions before a point from one parent, the others from the other; larger part of `child` from `one`."""
    r0, _, _, _ = numbers(key, 0)
    point = 1 + below(r0, max(1, space.n - 1))
    first, last = (point, space.n) if 2 * point >= space.n else (0, point)
    copy(child, one)
    copy(sibling, two)
    copy_segment(space, child, two, first, last)
    copy_segment(space, sibling, one, first, last)


def two_point(engine: Any, space: Any, one: Any, two: Any, child: Any, sibling: Any, work: Any, key: Any) -> None:
    """The decisions between two points are exchanged."""
    a, b = cut(space.n, key)
    copy(child, one)
    copy(sibling, two)
    copy_segment(space, child, two, a, b)
    copy_segment(space, sibling, one, a, b)


def uniform(engine: Any, space: Any, one: Any, two: Any, child: Any, sibling: Any, work: Any, key: Any) -> None:
    """Each decision from either parent."""
    uniform_mix(space, one, two, child, sibling, key)


@inlined
def _match(keeper: Any, giver: Any, child: Any, place: Any, n: Any, a: Any, b: Any) -> None:
    """A copy of `keeper` in which exchanges have made a <= i < b as in `giver`; `place` says where each value is."""
    for i in range(n):
        child[i] = keeper[i]
        place[keeper[i]] = i
    for i in range(a, b):
        wanted, there = giver[i], child[i]
        if wanted != there:
            j = place[wanted]
            child[j] = there
            place[there] = j
            child[i] = wanted
            place[wanted] = i


def pmx(engine: Any, space: Any, one: Any, two: Any, child: Any, sibling: Any, work: Any, key: Any) -> None:
    """Partially matched: the part between two points from the other parent, doubles resolved by exchange."""
    a, b = cut(space.n, key)
    differing = 0
    for i in range(np.uint64(a), np.uint64(b)):
        differing += one[i] != two[i]
    if differing == 0:  # as most parents are, late in a run
        copy(child, one)
        copy(sibling, two)
        return
    _match(one, two, child, work, space.n, a, b)
    _match(two, one, sibling, work, space.n, a, b)


@inlined
def _fill(keeper: Any, giver: Any, child: Any, taken: Any, n: Any, a: Any, b: Any) -> None:
    """a <= i < b as in `keeper`, the other values in the order in which `giver` has them, from b on and around."""
    for i in range(n):
        taken[i] = 0
    for i in range(a, b):
        child[i] = keeper[i]
        taken[keeper[i]] = 1
    to = b if b < n else np.int64(0)
    at = to
    for _ in range(n):
        value = giver[at]
        if taken[value] == 0:
            child[to] = value
            to = to + 1 if to + 1 < n else np.int64(0)
        at = at + 1 if at + 1 < n else np.int64(0)


def order(engine: Any, space: Any, one: Any, two: Any, child: Any, sibling: Any, work: Any, key: Any) -> None:
    """Order crossover (OX): a part kept in place, the rest in the other parent's order."""
    a, b = cut(space.n, key)
    _fill(one, two, child, work, space.n, a, b)
    _fill(two, one, sibling, work, space.n, a, b)


def cycle(engine: Any, space: Any, one: Any, two: Any, child: Any, sibling: Any, work: Any, key: Any) -> None:
    """Every value at the place where one of the parents has it: one cycle of places is exchanged."""
    r0, _, _, _ = numbers(key, 0)
    for i in range(space.n):
        child[i] = one[i]
        sibling[i] = two[i]
        work[one[i]] = i
    first = below(r0, space.n)
    i = first
    while True:
        child[i] = two[i]
        sibling[i] = one[i]
        i = np.int64(work[two[i]])
        if i == first:
            break


CROSSOVERS = OperatorRegistry(
    "crossover",
    {
        "one-point": (one_point, (Bits, Digits)),
        "two-point": (two_point, (Bits, Digits)),
        "uniform": (uniform, (Bits, Digits)),
        "pmx": (pmx, (Order,)),
        "order": (order, (Order,)),
        "cycle": (cycle, (Order,)),
    },
)
