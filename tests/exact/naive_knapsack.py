"""A knapsack by the textbook: the best profit for every capacity, item after item; and by trying everything."""

from itertools import product

import numpy as np


def optimum(profits, weights, capacity):
    best = np.zeros(capacity + 1, np.int64)
    for profit, weight in zip(profits, weights, strict=True):
        if weight <= capacity:
            best[weight:] = np.maximum(best[weight:], best[: capacity + 1 - weight] + profit)
    return int(best[-1])


def optimum_of_all(profits, weights, capacity):
    choices = (np.array(bits) for bits in product((0, 1), repeat=len(profits)))
    return max(int(profits @ x) for x in choices if weights @ x <= capacity)
