"""Next release problem with customers as decisions (Bagnall, Rayward-Smith, Whittley 2001).

A chosen customer pays its profit when every requirement that it asks for, and all that those build upon, is
released. A requirement is paid once, however many customers need it, and the release must stay within a budget.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field

import numpy as np

from systola.errors import InputError
from systola.model.capabilities import Flips, Formulation
from systola.model.drawing import Drawing
from systola.model.encodings import Array, Binary
from systola.model.fields import plain
from systola.model.integer_program import FREE, IntegerProgram
from systola.model.names import Names, labels_of
from systola.model.problem import Problem
from systola.problems.drawings import Bar, bar_of_chosen, draw_bars
from systola.problems.limits import WIDE, check_whole_number, exact_sum, refuse_beyond, whole_numbers
from systola.simd.bits import bit

MOST_NEEDS = 10_000_000  # pairs of a customer and a requirement, after closing


class CustomerRelease(Problem):
    """Choose customers of the largest total profit whose requirements stay within the budget.

    Measures are profit and cost. Over budget, each unit too much costs more than the profit of all customers.

    Parameters
    ----------
    profits
        One entry a customer.
    costs
        One entry a requirement.
    starts, customers
        Who needs requirement r, directly or not: ``customers[starts[r]:starts[r + 1]]``, counted from 0.
    budget
        What the release may cost.

    See Also
    --------
    from_requests : makes one from what customers ask for and what requirements build upon.
    """

    encoding = Binary("profits")
    names = Names("customer", "chosen", ("profits",))
    profits: Array
    costs: Array
    starts: Array
    customers: Array
    budget: int
    need_starts: Array = field(init=False, repr=False)  # the same relation by customer, for `flip`
    needs: Array = field(init=False, repr=False)
    price: int = field(init=False, repr=False)  # of a unit over budget

    @classmethod
    def from_requests(
        cls,
        profits: Sequence[int] | Array,
        costs: Sequence[int] | Array,
        requests: Sequence[Iterable[int]],
        dependencies: Iterable[tuple[int, int]],
        budget: int,
    ) -> CustomerRelease:
        """Close the requests over the dependencies, and merge the requirements that the same customers need.

        Parameters
        ----------
        profits, costs
            One entry a customer, one entry a requirement.
        requests
            For each customer the requirements that it asks for, counted from 0.
        dependencies
            Pairs (a, b): requirement b needs a.
        budget
            What the release may cost.
        """
        if len(requests) != len(profits):
            raise InputError(f"each customer needs requests, but got {len(requests)} for {len(profits)} customers")
        costs = whole_numbers("cost", plain(costs, "CustomerRelease.costs")).tolist()
        refuse_beyond(WIDE, sum(costs), "the sum of all costs")
        below: list[list[int]] = [[] for _ in costs]
        for a, b in dependencies:
            below[_requirement(b, costs)].append(_requirement(a, costs))
        wanted_by: list[list[int]] = [[] for _ in costs]
        size = 0
        for customer, asked in enumerate(requests):
            open_ones = [_requirement(r, costs) for r in asked]
            needed = set(open_ones)
            while open_ones:
                further = [a for a in below[open_ones.pop()] if a not in needed]
                needed.update(further)
                open_ones.extend(further)
            size += len(needed)
            if size > MOST_NEEDS:
                raise InputError(f"customers may need {MOST_NEEDS} requirements in all, but {customer + 1} need more")
            for r in needed:
                wanted_by[r].append(customer)
        bundles: dict[tuple[int, ...], int] = {}
        for r, group in enumerate(wanted_by):
            if group:
                bundles[tuple(group)] = bundles.get(tuple(group), 0) + costs[r]
        return cls(
            np.array(profits),
            list(bundles.values()),  # type: ignore[arg-type]
            np.cumsum([0, *map(len, bundles)], dtype=np.int64),
            np.array([customer for group in bundles for customer in group], np.int32),
            budget,
        )

    def check(self) -> None:
        for name in ("profits", "costs", "starts", "customers"):
            if getattr(self, name).ndim != 1:
                raise InputError(f"`{name}` must be a list of numbers, but has {getattr(self, name).ndim} dimensions")
        profits, costs = whole_numbers("profit", self.profits), whole_numbers("cost", self.costs)
        starts, customers = whole_numbers("start", self.starts), whole_numbers("customer", self.customers)
        n, size = len(profits), len(customers)
        if n == 0:
            raise InputError("a release needs at least one customer, but got none")
        check_whole_number("budget", self.budget)
        if len(starts) != len(costs) + 1 or starts[0] != 0 or starts[-1] != size:
            raise InputError(
                f"`starts` must run from 0 to the {size} customers listed, with one entry more than the "
                f"{len(costs)} costs, but got {len(starts)} entries"
            )
        steps = np.diff(starts)
        if (steps < 0).any():
            raise InputError(f"`starts` must not fall, but does at entry {int(np.argmax(steps < 0)) + 1}")
        if size and customers.max() >= n:
            raise InputError(f"`0 <= customer < {n}` must hold, but got {customers.max()}")
        all_profit, all_cost = exact_sum(profits), exact_sum(costs)
        refuse_beyond(WIDE, (all_profit + 1) * max(all_cost, 1), "total profit times total cost")
        by_customer = np.argsort(customers, kind="stable")
        self.derive(
            profits=profits,
            costs=costs,
            starts=starts,
            customers=customers.astype(np.int32),
            need_starts=np.searchsorted(customers[by_customer], np.arange(n + 1)).astype(np.int64),
            needs=np.repeat(np.arange(len(costs)), steps)[by_customer].astype(np.int32),
            price=all_profit + 1,
        )

    def evaluate(self, x):
        profit = 0
        for i in range(len(self.profits)):
            if x[i]:
                profit += self.profits[i]
        cost = 0
        for r in range(len(self.costs)):
            for k in range(self.starts[r], self.starts[r + 1]):
                if x[self.customers[k]]:
                    cost += self.costs[r]
                    break
        return profit, cost

    def draw(self, x: Array) -> Drawing:
        """The profit of chosen customers, of all, and what their requirements cost, up to the budget."""
        names = labels_of(self).of_decisions(len(x))
        needed = np.unique(np.repeat(np.arange(len(self.costs)), np.diff(self.starts))[x[self.customers] > 0])
        costs = [float(self.costs[r]) for r in needed]
        bars = [
            bar_of_chosen("profit", self.profits, x, names, max(int(self.profits.sum()), 1)),
            Bar("cost", costs, [f"requirement {r}" for r in needed], float(self.budget)),
        ]
        return draw_bars(bars, f"{sum(map(bool, x)):,} of {len(x):,} customers chosen")

    def fitness(self, measures):
        return measures[0] - max(measures[1] - self.budget, 0) * self.price

    def violation(self, measures):
        return max(measures[1] - self.budget, 0)

    def flip(self, x, row, i, state):
        sign = 1 - 2 * bit(x, row, i)
        state[0] += sign * self.profits[i]
        for j in range(self.need_starts[i], self.need_starts[i + 1]):
            r = self.needs[j]
            paid = False  # by another customer, so that nothing changes
            for k in range(self.starts[r], self.starts[r + 1]):
                other = self.customers[k]
                if other != i and bit(x, row, other):
                    paid = True
                    break
            if not paid:
                state[1] += sign * self.costs[r]

    def program(self) -> IntegerProgram:
        """It as a linear program: columns for customers and requirements; who is chosen needs what it asks for."""
        customers, requirements = len(self.profits), len(self.costs)
        needed = customers + np.repeat(np.arange(requirements), np.diff(self.starts))
        pairs = np.arange(len(needed))
        entries = (
            np.concatenate([pairs, pairs, np.full(requirements, len(pairs))]),
            np.concatenate([self.customers, needed, customers + np.arange(requirements)]),
            np.concatenate([np.ones(len(pairs), np.int64), np.full(len(pairs), -1), self.costs]),
        )

        def encode(decisions: Array) -> Array:
            paid = np.zeros(customers + requirements, np.int64)
            paid[:customers] = decisions
            paid[needed[decisions[self.customers] != 0]] = 1
            return paid

        return IntegerProgram(
            np.concatenate([self.profits, np.zeros(requirements, np.int64)]),
            True,
            entries,
            np.full(len(pairs) + 1, -FREE),
            np.concatenate([np.zeros(len(pairs), np.int64), [self.budget]]),
            continuous=requirements,
            encode=encode,
            decode=lambda paid: paid[:customers],
        )

    capabilities = (Flips(flip), Formulation(program))


def _requirement(index: int, costs: Sequence[int] | Array) -> int:
    if not 0 <= index < len(costs):
        raise InputError(f"`0 <= requirement < {len(costs)}` must hold, but got {index}")
    return index
