"""A tour in an array, with the place of each city: steps along it, and changes that can be undone.

`x` is the tour and `place` its inverse. All changes are reversals of some places in a row, forwards and around the end,
which undo themselves; `log` remembers them. Both directions of a tour are the same where links are symmetric, and all
places to begin at always are, so that of two ways to make a change the one that moves fewer cities is taken.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from systola.jit.compile import called, inlined

LOGGED = 0  # how many numbers of a log are used, itself included, or 0 if nothing is logged; two a reversal follow
_MOST = 8  # numbers that one change may need: four reversals


@inlined
def locate(x: Any, place: Any) -> None:
    """Write the place of each city."""
    for p in range(x.shape[0]):
        place[x[p]] = p


@inlined
def city_after(x: Any, place: Any, city: Any) -> Any:
    """The next city."""
    p = np.int64(place[city]) + 1
    return np.int64(x[p if p < x.shape[0] else 0])


@inlined
def city_before(x: Any, place: Any, city: Any) -> Any:
    """The city before."""
    p = np.int64(place[city])
    return np.int64(x[p - 1 if p > 0 else x.shape[0] - 1])


@inlined
def wrapped(n: Any, p: Any) -> Any:
    """A place that may lie less than a turn outside 0..n-1."""
    return p - n if p >= n else p + n if p < 0 else p


@inlined
def steps_between(x: Any, place: Any, one: Any, other: Any) -> Any:
    """How many steps it is from one city to another, forwards."""
    return wrapped(np.int64(x.shape[0]), np.int64(place[other]) - np.int64(place[one]))


@inlined
def is_full(log: Any) -> Any:
    """Whether a log may have no room for another change."""
    return log[LOGGED] > 0 and np.int64(log[LOGGED]) + _MOST > log.shape[0]


@called
def _reverse(x: Any, place: Any, first: Any, length: Any) -> None:
    n = np.int64(x.shape[0])
    last = wrapped(n, first + length - 1)
    for _ in range(length >> 1):
        a, b = x[first], x[last]
        x[first], place[b] = b, first
        x[last], place[a] = a, last
        first = first + 1 if first + 1 < n else np.int64(0)
        last = last - 1 if last > 0 else n - 1


@inlined
def _reverse_and_log(x: Any, place: Any, log: Any, first: Any, length: Any) -> None:
    if length > 1:
        _reverse(x, place, first, length)
        if log[LOGGED] > 0:
            log[log[LOGGED]] = first
            log[log[LOGGED] + 1] = length
            log[LOGGED] += 2


@inlined
def forget(log: Any) -> None:
    """Changes so far are not to be undone; further ones may be."""
    log[LOGGED] = 1


@inlined
def stop_logging(log: Any) -> None:
    """No change is to be undone until `forget`."""
    log[LOGGED] = 0


@called
def undo_all(x: Any, place: Any, log: Any) -> None:
    """Undo all changes in the log."""
    while log[LOGGED] > 1:
        log[LOGGED] -= 2
        _reverse(x, place, np.int64(log[log[LOGGED]]), np.int64(log[log[LOGGED] + 1]))


@inlined
def reverse_path(x: Any, place: Any, log: Any, one: Any, other: Any) -> None:
    """Reverse the path from one city forwards to another, or the rest of the tour, which comes to the same."""
    n = np.int64(x.shape[0])
    first, length = np.int64(place[one]), steps_between(x, place, one, other) + 1
    if 2 * length > n:
        first, length = wrapped(n, np.int64(place[other]) + 1), n - length
    _reverse_and_log(x, place, log, first, length)


@called
def exchange_segments(x: Any, place: Any, log: Any, one: Any, two: Any, rest: Any) -> None:
    """Exchange two segments that follow each other: from city `one` on, and from city `two` on up to before `rest`.

    Neither is reversed. Of the two and the rest of the tour the longest stays where it is.
    """
    n = np.int64(x.shape[0])
    first, a, b = np.int64(place[one]), steps_between(x, place, one, two), steps_between(x, place, two, rest)
    c = n - a - b
    if a >= b and a > c:
        first, a, b = wrapped(n, first + a), b, c
    elif b > c:
        first, a, b = wrapped(n, first + a + b), c, a
    _reverse_and_log(x, place, log, first, a)
    _reverse_and_log(x, place, log, wrapped(n, first + a), b)
    _reverse_and_log(x, place, log, first, a + b)
