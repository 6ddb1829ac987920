"""WalkSAT: which random formulas can be satisfied."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def walksat(clauses: np.ndarray, n: int, flips: int, random: np.random.Generator, noise: float = 0.5) -> int:
    """The most clauses that one walk of so many flips satisfies; rows of literals, as 3 and -3."""
    x = random.integers(0, 2, n)
    m, width = clauses.shape
    occurs = np.zeros((n, m), np.int64)  # clauses by variable
    counts = np.zeros(n, np.int64)
    true = np.zeros(m, np.int64)  # satisfied literals by clause
    for c in range(m):
        for k in range(width):
            v = abs(clauses[c, k]) - 1
            occurs[v, counts[v]] = c
            counts[v] += 1
            true[c] += (clauses[c, k] > 0) == (x[v] == 1)
    best = 0
    broken = np.zeros(m, np.int64)
    for _ in range(flips):
        count = 0
        for c in range(m):
            if true[c] == 0:
                broken[count] = c
                count += 1
        best = max(best, m - count)
        if count == 0:
            break
        clause = clauses[broken[random.integers(0, count)]]
        chosen, least = -1, m + 1
        for k in range(width):  # the variable whose flip breaks fewest clauses
            v = abs(clause[k]) - 1
            breaks = 0
            for o in range(counts[v]):
                c = occurs[v, o]
                if true[c] == 1:
                    for i in range(width):
                        literal = clauses[c, i]
                        if abs(literal) - 1 == v and (literal > 0) == (x[v] == 1):
                            breaks += 1
            if breaks < least:
                chosen, least = v, breaks
        if least > 0 and random.random() < noise:
            chosen = abs(clause[random.integers(0, width)]) - 1
        x[chosen] = 1 - x[chosen]
        for o in range(counts[chosen]):
            c = occurs[chosen, o]
            for i in range(width):
                literal = clauses[c, i]
                if abs(literal) - 1 == chosen:
                    true[c] += 1 if (literal > 0) == (x[chosen] == 1) else -1
    return best
