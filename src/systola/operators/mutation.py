"""Mutations: a small random change of a solution, in place. Arguments: engine's record, space, solution, key.

A value that comes to another decision, whose bounds it does not keep, becomes the nearest one that does.
"""

from __future__ import annotations

from typing import Any

from systola.jit.compile import inlined
from systola.model.encodings import Bits, Digits, Order
from systola.model.rng import below, numbers
from systola.operators.decisions import get, put_nearest, resample
from systola.operators.registry import OperatorRegistry
from systola.simd.bits import lowest_one


@inlined
def two_places(n: Any, key: Any) -> Any:
    """Two different places, all pairs alike, in either order; the same if there is only one."""
    r0, r1, _, _ = numbers(key, 0)
    i = below(r0, n)
    j = below(r1, max(1, n - 1))
    return i, (j + 1 if j >= i and n > 1 else j)


def random_value(engine: Any, space: Any, x: Any, key: Any) -> None:
    """One decision gets another of its values."""
    r0, r1, _, _ = numbers(key, 0)
    resample(space, x, below(r0, space.n), r1)


def swap(engine: Any, space: Any, x: Any, key: Any) -> None:
    """Two decisions are exchanged."""
    i, j = two_places(space.n, key)
    kept = get(space, x, i)
    put_nearest(space, x, i, get(space, x, j))
    put_nearest(space, x, j, kept)


def insertion(engine: Any, space: Any, x: Any, key: Any) -> None:
    """One decision is taken out and put in elsewhere; those between move up."""
    i, j = two_places(space.n, key)
    kept = get(space, x, i)
    step = 1 if j > i else -1
    while i != j:
        put_nearest(space, x, i, get(space, x, i + step))
        i += step
    put_nearest(space, x, j, kept)


def inversion(engine: Any, space: Any, x: Any, key: Any) -> None:
    """A run of decisions is reversed."""
    i, j = two_places(space.n, key)
    if i > j:
        i, j = j, i
    while i < j:
        kept = get(space, x, i)
        put_nearest(space, x, i, get(space, x, j))
        put_nearest(space, x, j, kept)
        i += 1
        j -= 1


def shake(engine: Any, space: Any, x: Any, key: Any) -> None:
    """One exchange half of the time, two a quarter, four an eighth, and so on up to n / 2: strengths of every scale."""
    coins, _, _, _ = numbers(key, 0)
    exchanges = min(1 << min(lowest_one(coins), 20), max(1, space.n // 2))
    for k in range(exchanges):
        r0, r1, _, _ = numbers(key, 1 + k)
        i = below(r0, space.n)
        j = below(r1, space.n)
        kept = get(space, x, i)
        put_nearest(space, x, i, get(space, x, j))
        put_nearest(space, x, j, kept)


MUTATIONS = OperatorRegistry(
    "mutation",
    {
        "random-value": (random_value, (Bits, Digits)),
        "swap": (swap, (Bits, Digits, Order)),
        "insertion": (insertion, (Bits, Digits, Order)),
        "inversion": (inversion, (Bits, Digits, Order)),
        "shake": (shake, (Bits, Digits, Order)),
    },
)
