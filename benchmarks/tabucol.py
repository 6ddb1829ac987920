"""TabuCol (Hertz, de Werra 1987): which random graphs can be coloured."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def tabucol(edges: np.ndarray, n: int, colours: int, steps: int, random: np.random.Generator) -> int:
    """The fewest clashes that one walk of so many steps meets."""
    adjacent = np.zeros((n, n), np.bool_)
    for e in range(len(edges)):
        adjacent[edges[e, 0], edges[e, 1]] = adjacent[edges[e, 1], edges[e, 0]] = True
    colour = random.integers(0, colours, n)
    near = np.zeros((n, colours), np.int64)  # neighbours of each vertex by colour
    clashes = 0
    for i in range(n):
        for j in range(n):
            if adjacent[i, j]:
                near[i, colour[j]] += 1
                clashes += i < j and colour[i] == colour[j]
    until = np.zeros((n, colours), np.int64)
    best = clashes
    for step in range(1, steps + 1):
        if best == 0:
            break
        vertex, new, change, ties = -1, 0, n * n, 0
        for i in range(n):
            if near[i, colour[i]] == 0:
                continue
            for c in range(colours):
                worse = near[i, c] - near[i, colour[i]]
                if c == colour[i] or (until[i, c] >= step and clashes + worse >= best) or worse > change:
                    continue
                ties = ties + 1 if worse == change else 1
                if worse < change or random.integers(0, ties) == 0:
                    vertex, new, change = i, c, worse
        if vertex < 0:
            continue
        old = colour[vertex]
        colour[vertex] = new
        clashes += change
        best = min(best, clashes)
        until[vertex, old] = step + 0.6 * clashes + random.integers(0, 10)
        for j in range(n):
            if adjacent[vertex, j]:
                near[j, old] -= 1
                near[j, new] += 1
    return best
