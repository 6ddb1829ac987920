"""0/1 knapsack with the penalty of Pedemonte, Luna, Alba 2014, Eq. 5."""

from __future__ import annotations

from dataclasses import field

import numpy as np

from systola.errors import InputError
from systola.model.capabilities import Construction, Flips
from systola.model.drawing import Drawing
from systola.model.encodings import Array, Binary
from systola.model.names import Names, labels_of
from systola.model.problem import Problem
from systola.model.rng import STEP, draw
from systola.problems.drawings import bar_of_chosen, draw_bars
from systola.problems.limits import NARROW, WIDE, check_whole_number, exact_sum, refuse_beyond, whole_numbers
from systola.problems.two_sums import SEGMENTS, entries_of
from systola.simd.bits import bit


class Knapsack(Problem):
    """Choose items of the largest total profit whose total weight stays within the capacity.

    Measures are profit and weight. An overweight choice is worth its profit less `capacity` for each unit too much, or
    less if such numbers do not fit into 64 bits.
    """

    encoding = Binary("profits")
    names = Names("item", "chosen", ("profits", "weights"))
    profits: Array
    weights: Array
    capacity: int
    entries: Array = field(init=False, repr=False)
    price: int = field(init=False, repr=False)  # of a unit of weight too much

    def check(self) -> None:
        n = len(self.profits)
        if not self.profits.shape == self.weights.shape == (n,) or n == 0:
            raise InputError(
                "profits and weights must be lists of the same length, one or more, but have the shapes "
                f"{self.profits.shape} and {self.weights.shape}"
            )
        check_whole_number("capacity", self.capacity)
        profits, weights = whole_numbers("profit", self.profits), whole_numbers("weight", self.weights)
        all_profit, all_weight = exact_sum(profits), exact_sum(weights)
        refuse_beyond(WIDE // 2, max(all_profit, all_weight), "the sum of all profits, and that of all weights,")
        most = max(1, all_weight - self.capacity)  # that a choice can be overweight
        price = min(self.capacity, WIDE // 2 // most)
        if max(all_profit, all_weight) < NARROW:
            entries = entries_of(profits=profits, weights=weights)
        else:  # two such sums do not share 64 bits: segments are measured flip by flip
            entries = np.zeros(1, np.int64)
            object.__setattr__(self, "capabilities", tuple(c for c in self.capabilities if c is not SEGMENTS))
        self.derive(profits=profits, weights=weights, entries=entries, price=price)

    def evaluate(self, x):
        profit = 0
        weight = 0
        for i in range(len(self.profits)):
            if x[i]:
                profit += self.profits[i]
                weight += self.weights[i]
        return profit, weight

    def draw(self, x: Array) -> Drawing:
        """A bar of the weights of chosen items, up to the capacity."""
        names = labels_of(self).of_decisions(len(x))
        bar = bar_of_chosen("weight", self.weights, x, names, self.capacity)
        return draw_bars([bar], f"profit {int(self.profits[np.flatnonzero(x)].sum()):,}")

    def fitness(self, measures):
        return measures[0] - max(measures[1] - self.capacity, 0) * self.price

    def violation(self, measures):
        return max(measures[1] - self.capacity, 0)

    def flip(self, x, row, i, state):
        sign = 1 - 2 * bit(x, row, i)
        state[0] += sign * self.profits[i]
        state[1] += sign * self.weights[i]

    def construct(self, space, x, row, state, seed, step, cell):
        # Section 4.2: an item that no longer fits is left out, any other is taken with probability one half.
        room = self.capacity
        profit = 0
        coins = np.uint64(0)
        for w in range(x.shape[1]):
            word = np.uint64(0)
            r0, r1, _, _ = draw(seed, STEP, step, cell, w)
            coins = r0 | (r1 << np.uint64(32))
            for i in range(w << 6, min(space.n, (w + 1) << 6)):
                coin = (coins >> np.uint64(i & 63)) & np.uint64(1)
                if coin and self.weights[i] <= room:
                    room -= self.weights[i]
                    profit += self.profits[i]
                    word |= np.uint64(1) << np.uint64(i & 63)
            x[row, w] = word
        state[0] = profit
        state[1] = self.capacity - room

    capabilities = (Flips(flip), SEGMENTS, Construction(construct))
