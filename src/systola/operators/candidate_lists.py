"""Candidate lists of a chain: for each item the few that are linked to it at the least cost."""

from __future__ import annotations

from typing import Any

import numpy as np

from systola.jit.compile import called
from systola.jit.stop_flag import must_leave
from systola.model.structure.chain import user_link


@called
def fill_candidates(part: Any, problem: Any, near: Any, n: Any, count: Any, stop: Any) -> None:
    """near[i * count + q] is the q-th best item to come after i; in the second half of `near`, if it has one, before i.

    Among equals the one with the lower number comes first.
    """
    size = np.int64(n) * count
    for i in range(n):
        if must_leave(stop):
            return
        _fill_list(part, problem, near, np.int64(i) * count, i, n, count, False)
        if near.shape[0] >= 2 * size:
            _fill_list(part, problem, near, size + np.int64(i) * count, i, n, count, True)


@called
def fill_lengths(part: Any, problem: Any, near: Any, lengths: Any, n: Any, count: Any) -> None:
    """What the link to each candidate costs, in the order of the lists, so that most need no look at the data."""
    size = np.int64(n) * count
    for k in range(near.shape[0]):
        i, other = np.int64((k if k < size else k - size) // count), np.int64(near[k])
        lengths[k] = user_link(part, problem, i, other) if k < size else user_link(part, problem, other, i)


@called
def _fill_list(part: Any, problem: Any, near: Any, at: Any, i: Any, n: Any, count: Any, before: Any) -> None:
    """One list, by insertion: most items are no better than the last one of a full list."""
    found = np.int64(0)
    last = 0
    for j in range(n):
        if j == i:
            continue
        cost = (
            user_link(part, problem, np.int64(j), np.int64(i))
            if before
            else user_link(part, problem, np.int64(i), np.int64(j))
        )
        if found == count and cost >= last:
            continue
        q = found if found < count else count - 1
        while q > 0:
            other = np.int64(near[at + q - 1])
            held = (
                user_link(part, problem, other, np.int64(i)) if before else user_link(part, problem, np.int64(i), other)
            )
            if held <= cost:
                break
            near[at + q] = other
            q -= 1
        near[at + q] = j
        found = min(found + 1, count)
        other = np.int64(near[at + found - 1])
        last = user_link(part, problem, other, np.int64(i)) if before else user_link(part, problem, np.int64(i), other)
