"""Multidimensional 0/1 knapsack with the penalty of Gottlieb 2001, as in Vidal, Luna, Alba 2013, Eq. 4.

A solution's state is all that a flip changes: the profit, negated, and for each constraint the load less the
capacity. So a solution is feasible when no number of its state is positive. A decision's entry is one contiguous line
of the same shape, filled up with zeros to whole vectors.
"""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from systola.errors import InputError
from systola.jit.compile import inlined
from systola.model.capabilities import Bound, Buffer, Construction, EvaluationState, Flips, Formulation, Repair, Seeding
from systola.model.drawing import Drawing
from systola.model.encodings import Array, Binary
from systola.model.integer_program import FREE, IntegerProgram
from systola.model.names import Names, labels_of
from systola.model.problem import Problem
from systola.model.rng import STEP, below, draw
from systola.problems.drawings import bar_of_chosen, draw_bars
from systola.problems.limits import NARROW, WIDE, exact_sum, refuse_beyond, whole_numbers
from systola.simd.bits import bit, count_ones, segment_mask, toggle
from systola.simd.rows import add_line, add_marked, largest, largest_with, padded


class Relaxation(NamedTuple):
    """The problem with divisible items, solved."""

    bound: float  # no solution is worth more
    prices: Array  # [m] what a unit of each capacity is worth
    parts: Array  # [n] how much of each item is taken


@inlined
def _tightest(state: Any, m: Any) -> Any:
    """The constraint with the least room."""
    found = np.int64(0)
    for q in range(1, m):
        if state[q + 1] > state[found + 1]:
            found = np.int64(q)
    return found


class MultiKnapsack(Problem):
    """Choose items of the largest total profit that stay within all capacities.

    Measures are the profit and the largest excess over a capacity. A unit of excess costs (pmax + 1) / wmin, with
    pmax the largest profit and wmin the smallest weight that is not zero. Data are in units of 1/scale.
    """

    encoding = Binary("profits")
    names = Names("item", "chosen", ("profits", ("weights", 1)))
    profits: Array
    weights: Array
    capacities: Array
    scale: int = 1  # type: ignore[misc]
    entries: Array = field(init=False, repr=False)
    emptied: Array = field(init=False, repr=False)
    sums: Array = field(init=False, repr=False)
    gain: int = field(init=False, repr=False)
    price: int = field(init=False, repr=False)

    def check(self) -> None:
        n = len(self.profits)
        if self.weights.ndim != 2 or self.weights.shape[1] != n or n == 0 or len(self.weights) == 0:
            raise InputError(f"weights must have a row of {n} for each constraint, but have shape {self.weights.shape}")
        if self.capacities.shape != (len(self.weights),):
            raise InputError(
                f"each of the {len(self.weights)} rows of weights needs a capacity, but got {len(self.capacities)}"
            )
        profits, weights, capacities = (
            whole_numbers(name, values, limit=NARROW)
            for name, values in (("profit", self.profits), ("weight", self.weights), ("capacity", self.capacities))
        )
        if not isinstance(self.scale, int) or self.scale < 1:
            raise InputError(f"`scale >= 1` must hold for a whole number, but got {self.scale!r}")
        most = max(map(exact_sum, (profits, *weights)))
        refuse_beyond(NARROW, most, "the sum of all profits, and that of each row of weights,")
        m = len(weights)
        entries = np.zeros((n, padded(m + 1)), np.int32)
        entries[:, 0] = -profits
        entries[:, 1 : m + 1] = weights.T
        emptied = np.zeros(entries.shape[1], np.int32)
        emptied[1 : m + 1] = -capacities
        positive = weights[weights > 0]
        gain, price = int(positive.min()) if positive.size else 1, int(profits.max()) + 1
        refuse_beyond(WIDE, max(gain, price) * most, "the penalty")
        sums = np.zeros((n + 1, entries.shape[1]), np.int32)
        np.cumsum(entries, axis=0, out=sums[1:])
        self.derive(
            profits=profits,
            weights=weights,
            capacities=capacities,
            entries=entries,
            emptied=emptied,
            sums=sums,
            gain=gain,
            price=price,
        )

    def evaluate(self, x):
        profit = 0
        for j in range(len(self.profits)):
            if x[j]:
                profit += self.profits[j]
        worst = 0
        for i in range(len(self.capacities)):
            load = 0
            for j in range(len(self.profits)):
                if x[j]:
                    load += self.weights[i, j]
            worst = max(worst, load - self.capacities[i])
        return profit, worst

    def draw(self, x: Array) -> Drawing:
        """A bar for each capacity, of the weights of chosen items."""
        names = labels_of(self).of_decisions(len(x))
        bars = [
            bar_of_chosen(f"capacity {k + 1}", row / self.scale, x, names, limit / self.scale)
            for k, (row, limit) in enumerate(zip(self.weights, self.capacities, strict=True))
        ]
        return draw_bars(bars, f"profit {self.profits[np.flatnonzero(x)].sum() / self.scale:,g}")

    def fitness(self, measures):
        # Eq. 4 multiplied by wmin, so that it stays an integer.
        return self.gain * measures[0] - self.price * measures[1]

    def violation(self, measures):
        return measures[1]

    def init_state(self, x, row, state):
        for k in range(state.shape[0]):
            state[k] = self.emptied[k]
        for w in range(x.shape[1]):
            add_marked(state, self.entries, w << 6, x[row, w], 1)

    def state_measures(self, state, measures):
        measures[0] = -np.int64(state[0])
        measures[1] = largest(state)

    def flip(self, x, row, i, state):
        add_line(state, self.entries, i, 1 - 2 * bit(x, row, i))

    def flip_run(self, x, row, first, last, state):
        # The run's whole sum less twice what is in it, or twice what is not in it less the whole sum.
        ones = np.int64(0)
        for w in range(first >> 6, (last + 63) >> 6):
            ones += count_ones(x[row, w] & segment_mask(w, first, last))
        many = 2 * ones > last - first
        sign = -1 if many else 1
        add_line(state, self.sums, last, sign)
        add_line(state, self.sums, first, -sign)
        for w in range(first >> 6, (last + 63) >> 6):
            mask = segment_mask(w, first, last)
            add_marked(state, self.entries, w << 6, (~x[row, w] if many else x[row, w]) & mask, -2 * sign)
            x[row, w] ^= mask

    def flip_word(self, x, row, word, ones, state):
        add_marked(state, self.entries, word << 6, ones & ~x[row, word], 1)
        add_marked(state, self.entries, word << 6, ones & x[row, word], -1)
        x[row, word] ^= ones

    def construct(self, space, x, row, state, seed, step, cell):
        # As in the knapsack of one dimension: what no longer fits is left out, any other item is taken with
        # probability one half. From a random item on, so that no item is favoured.
        for k in range(state.shape[0]):
            state[k] = self.emptied[k]
        for w in range(x.shape[1]):
            x[row, w] = np.uint64(0)
        r0, _, _, _ = draw(seed, STEP, step, cell, 0)
        i = below(r0, space.n)
        coins = np.uint64(0)
        for k in range(space.n):
            if k & 63 == 0:
                r0, r1, _, _ = draw(seed, STEP, step, cell, 1 + (k >> 6))
                coins = r0 | (r1 << np.uint64(32))
            if (coins >> np.uint64(k & 63)) & np.uint64(1) and largest_with(state, self.entries, i) == 0:
                add_line(state, self.entries, i, 1)
                toggle(x, row, i)
            i = i + 1 if i + 1 < space.n else 0

    def repair(self, x, row, state, greedy_order):
        # Drop the least useful items until the rest fits, then add the most useful that fit (Chu, Beasley 1998).
        k = greedy_order.shape[0]
        excess = largest(state)
        while k > 0 and excess > 0:
            k -= 1
            i = np.int64(greedy_order[k])
            if bit(x, row, i):
                add_line(state, self.entries, i, -1)
                toggle(x, row, i)
                excess = largest(state)
        tightest = _tightest(state, self.capacities.shape[0])
        for k in range(greedy_order.shape[0]):
            i = np.int64(greedy_order[k])
            if bit(x, row, i) or state[tightest + 1] + self.weights[tightest, i] > 0:  # most are out by one look
                continue
            if largest_with(state, self.entries, i) == 0:
                add_line(state, self.entries, i, 1)
                toggle(x, row, i)
                tightest = _tightest(state, self.capacities.shape[0])

    @cached_property
    def relaxation(self) -> Relaxation:
        """The linear relaxation, solved by HiGHS when first asked for."""
        from scipy.optimize import linprog

        profits = self.profits.astype(float)
        found = linprog(-profits, A_ub=self.weights, b_ub=self.capacities, bounds=(0, 1), method="highs")
        if found.status != 0:
            raise InputError(f"the linear relaxation could not be solved: {found.message}")
        return Relaxation(-float(found.fun), -found.ineqlin.marginals, found.x)

    def bound(self) -> float:
        """The value of the linear relaxation, rounded down to a possible profit."""
        whole = int(np.floor(self.relaxation.bound + 1e-6))
        return whole / self.scale if self.scale > 1 else whole

    def greedy_order(self) -> Array:
        """All items, best first by pseudo-utility: profit over the weights, weighed by the dual prices."""
        costs = self._costs()
        utility = np.divide(self.profits, costs, out=np.full(len(costs), np.inf), where=costs > 0)
        return np.argsort(-utility, kind="stable").astype(np.int32)

    def chances(self) -> Array:
        """How likely each item is in a good solution: by reduced cost, one half where the relaxation is undecided."""
        reduced = self.profits - self._costs()
        undecided = min(len(reduced), len(reduced) // 10 + len(self.capacities)) - 1
        width = max(float(np.sort(np.abs(reduced))[undecided]), 1e-9)
        likely: Array = 1 / (1 + np.exp(np.clip(-4 * reduced / width, -50, 50)))
        return likely

    def _costs(self) -> Array:
        """What each item uses of the capacities, at their dual prices."""
        costs: Array = self.relaxation.prices @ self.weights
        return costs

    def program(self) -> IntegerProgram:
        """It as a linear program: a column for each item, a row for each capacity."""
        rows, columns = np.nonzero(self.weights)
        none = np.full(len(self.capacities), -FREE)
        return IntegerProgram(self.profits, True, (rows, columns, self.weights[rows, columns]), none, self.capacities)

    capabilities = (
        EvaluationState(lambda p: Buffer(p.entries.shape[1], np.int32), init_state, state_measures),
        Flips(flip, flip_run, flip_word),
        Construction(construct),
        Repair(repair, greedy_order),
        Seeding(chances),
        Bound(bound),
        Formulation(program),
    )
