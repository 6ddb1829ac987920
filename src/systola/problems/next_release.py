"""Next release problem: which requirements go into the next release of a software, cost against value.

Bi-objective (Eq. 7 of Pedemonte, Luna, Alba 2014), with the weighted Tchebycheff fitness of Eqs. 10 to 13.
"""

from __future__ import annotations

from dataclasses import field
from fractions import Fraction

from systola.errors import InputError
from systola.model.capabilities import Flips, TieBreak
from systola.model.drawing import Drawing
from systola.model.encodings import Array, Binary
from systola.model.names import Names, labels_of
from systola.model.objective import fitness
from systola.model.problem import MAXIMISE, MINIMISE, Problem
from systola.problems.drawings import bar_of_chosen, draw_bars
from systola.problems.limits import WIDE, exact_sum, refuse_beyond, whole_numbers
from systola.problems.two_sums import SEGMENTS, entries_of
from systola.simd.bits import bit

_FINEST = 1000  # weights are fractions with at most this denominator, so that fitness is an exact integer


class NextRelease(Problem):
    """Choose requirements: pay their costs, earn their values to all customers.

    `costs` and `values` have one entry a requirement; a value is the sum over the customers of importance times
    the customer's own value. `weight` moves from cost (0) to value (1). Fitness is 1 - g of Eq. 13 times a constant,
    as an exact integer; equal fitness is decided by dominance.
    """

    encoding = Binary("costs")
    names = Names("requirement", "chosen", ("costs", "values"))
    sense = (MINIMISE, MAXIMISE)
    costs: Array
    values: Array
    weight: float = 0.5
    entries: Array = field(init=False, repr=False)
    share: int = field(init=False, repr=False)
    parts: int = field(init=False, repr=False)
    all_cost: int = field(init=False, repr=False)
    all_value: int = field(init=False, repr=False)

    def check(self) -> None:
        n = len(self.costs)
        if not self.costs.shape == self.values.shape == (n,) or n == 0:
            raise InputError(
                "costs and values must be lists of the same length, one or more, but have the shapes "
                f"{self.costs.shape} and {self.values.shape}"
            )
        costs, values = whole_numbers("cost", self.costs), whole_numbers("value", self.values)
        if not 0 <= self.weight <= 1:
            raise InputError(f"`0 <= weight <= 1` must hold, but got {self.weight}")
        fraction = Fraction(self.weight).limit_denominator(_FINEST)
        if abs(fraction - Fraction(self.weight)) > Fraction(1, 10**9):
            raise InputError(f"a weight must be a fraction p/q with q <= {_FINEST}, but got {self.weight}; round it")
        all_cost, all_value = max(exact_sum(costs), 1), max(exact_sum(values), 1)
        self.derive(
            costs=costs,
            values=values,
            entries=entries_of(costs=costs, values=values),
            share=fraction.numerator,
            parts=fraction.denominator,
            all_cost=all_cost,
            all_value=all_value,
        )
        refuse_beyond(
            WIDE,
            fraction.denominator * all_cost * all_value,
            f"total cost times total value times {fraction.denominator}, of which the weight is a fraction,",
        )

    def evaluate(self, x):
        cost = 0
        value = 0
        for j in range(len(self.costs)):
            if x[j]:
                cost += self.costs[j]
                value += self.values[j]
        return cost, value

    def draw(self, x: Array) -> Drawing:
        """What chosen requirements cost and are worth, of all."""
        names = labels_of(self).of_decisions(len(x))
        bars = [
            bar_of_chosen("cost", self.costs, x, names, self.all_cost),
            bar_of_chosen("value", self.values, x, names, self.all_value),
        ]
        return draw_bars(bars, f"{sum(map(bool, x)):,} of {len(x):,} requirements chosen")

    def fitness(self, measures):
        # Eqs. 11 to 13, multiplied by parts * all_cost * all_value.
        far_cost = (self.parts - self.share) * measures[0] * self.all_value
        far_value = self.share * (self.all_value - measures[1]) * self.all_cost
        return self.parts * self.all_cost * self.all_value - max(far_cost, far_value)

    def better(self, new, old):
        here = fitness(self, new)
        there = fitness(self, old)
        dominates = new[0] <= old[0] and new[1] >= old[1] and (new[0] < old[0] or new[1] > old[1])
        return here > there or (here == there and dominates)

    def prefers(self, new, old):
        # Lexicographic, so that no dominated solution is reported, whatever the order of comparisons.
        return new[0] < old[0] or (new[0] == old[0] and new[1] > old[1])

    def flip(self, x, row, i, state):
        sign = 1 - 2 * bit(x, row, i)
        state[0] += sign * self.costs[i]
        state[1] += sign * self.values[i]

    capabilities = (Flips(flip), SEGMENTS, TieBreak(better, prefers))

    def scalar(self, objective: tuple[int, int]) -> float:
        """f of Eq. 13 for a pair (cost, value)."""
        cost, value = objective
        w = self.share / self.parts
        return 1 - max((1 - w) * cost / self.all_cost, w * (1 - value / self.all_value))
