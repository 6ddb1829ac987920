"""The obvious twin of Systolic Genetic Search: lists of bits that are moved from cell to cell, evaluated in full."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, log2


def points(l: int, tau: int, i: int, j: int) -> tuple[int, int, int]:  # noqa: E741
    """Eqs. 1 to 3 for the 1-based cell (i, j), 1-based positions; the first point wraps at l."""
    half = l // 2
    first = 2 + (l // tau) * (i - 1) + ((j - 1) // half) * (l // (2 * tau))
    first = 1 + (first - 1) % l
    second = 1 + (3 + (l // tau) * (i - 1) + ((j - 1) // half) * (l // (2 * tau)) + (j - 1) % half) % l
    mutation = 1 + ((i - 1) * (l // tau) + j - 1) % l
    return min(first, second), max(first, second), mutation


def run(
    flavour: str,
    horizontal: dict[tuple[int, int], list[int]],
    vertical: dict[tuple[int, int], list[int]],
    steps: int,
    measure: Callable[[list[int]], object],
    better: Callable[[object, object], bool],
) -> tuple[dict[tuple[int, int], list[int]], dict[tuple[int, int], list[int]]]:
    """Both streams by cell after `steps` steps."""
    l = len(next(iter(horizontal.values())))  # noqa: E741
    tau = ceil(log2(l))
    for step in range(1, steps + 1):
        next_h, next_v = {}, {}
        for i in range(1, tau + 1):
            for j in range(1, l + 1):
                h, v = horizontal[i, j], vertical[i, j]
                a, b, m = points(l, tau, i, j)
                child_h = h[: a - 1] + v[a - 1 : b - 1] + h[b - 1 :]
                child_v = v[: a - 1] + h[a - 1 : b - 1] + v[b - 1 :]
                child_h[m - 1] ^= 1
                child_v[m - 1] ^= 1
                out_h = child_h if better(measure(child_h), measure(h)) else h
                out_v = child_v if better(measure(child_v), measure(v)) else v
                if flavour == "E" and step % tau == 0:
                    out_h, out_v = out_v, out_h
                right = (i, j + 1) if j < l else ((i, 1) if flavour != "B" else (i % tau + 1, 1))
                if i < tau:
                    below = (i + 1, j)
                else:
                    below = (1, j) if flavour in "TE" else (1, j % l + 1)
                next_h[right] = out_h
                next_v[below] = out_v
        horizontal, vertical = next_h, next_v
    return horizontal, vertical
