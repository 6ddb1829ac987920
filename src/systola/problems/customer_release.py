"""Next release problem with customers as decisions (Bagnall, Rayward-Smith, Whittley 2001).

A chosen customer pays its profit when every requirement that it asks for, and all that those build upon, is
released. A requirement is paid once, however many customers need it, and the release must stay within a budget.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field

import numpy as np

from systola.bits import bit
from systola.encodings import Array, Binary
from systola.errors import InputError
from systola.problem import Problem

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
                bundles[tuple(group)] = bundles.get(tuple(group), 0) + int(costs[r])
        return cls(
            np.array(profits),
            np.array(list(bundles.values()), np.int64),
            np.cumsum([0, *map(len, bundles)], dtype=np.int64),
            np.array([customer for group in bundles for customer in group], np.int32),
            budget,
        )

    def check(self) -> None:
        for name, values in (("profit", self.profits), ("cost", self.costs)):
            if values.ndim != 1 or (values.dtype.kind not in "iu" and values.size):
                raise InputError(f"each {name} must be one whole number, but got {values.ndim}-d {values.dtype}")
            if (values < 0).any():
                i = int(np.argmax(values < 0))
                raise InputError(f"`{name} >= 0` must hold, but got {values[i]} in place {i + 1}")
        n, size = len(self.profits), len(self.customers)
        if n == 0:
            raise InputError("a release needs at least one customer, but got none")
        if isinstance(self.budget, bool) or not isinstance(self.budget, int) or not 0 <= self.budget < 2**62:
            raise InputError(f"`budget >= 0` must hold for a whole number of 62 bits, but got {self.budget!r}")
        steps = np.diff(self.starts)
        if self.starts.shape != (len(self.costs) + 1,) or self.starts[0] != 0 or self.starts[-1] != size:
            raise InputError(
                f"`starts` must run from 0 to the {size} customers listed, with one entry more than the "
                f"{len(self.costs)} costs, but got {len(self.starts)} entries"
            )
        if (steps < 0).any():
            raise InputError(f"`starts` must not fall, but does at entry {int(np.argmax(steps < 0)) + 1}")
        if size and not 0 <= self.customers.min() <= self.customers.max() < n:
            raise InputError(f"`0 <= customer < {n}` must hold, but got {self.customers.min()}..{self.customers.max()}")
        all_profit, all_cost = (sum(map(int, values)) for values in (self.profits, self.costs))
        if (all_profit + 1) * max(all_cost, 1) >= 2**62:
            raise InputError("total profit times total cost must be below 2**62; scale the data down")
        by_customer = np.argsort(self.customers, kind="stable")
        self.derive(
            profits=self.profits.astype(np.int64),
            costs=self.costs.astype(np.int64),
            starts=self.starts.astype(np.int64),
            customers=self.customers.astype(np.int32),
            need_starts=np.searchsorted(self.customers[by_customer], np.arange(n + 1)).astype(np.int64),
            needs=np.repeat(np.arange(len(self.costs)), steps)[by_customer].astype(np.int32),
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

    def fitness(self, measures):
        return measures[0] - max(measures[1] - self.budget, 0) * self.price

    def violation(self, measures):
        return max(measures[1] - self.budget, 0)

    def flip(self, x, row, i, tally):
        sign = 1 - 2 * bit(x, row, i)
        tally[0] += sign * self.profits[i]
        for j in range(self.need_starts[i], self.need_starts[i + 1]):
            r = self.needs[j]
            paid = False  # by another customer, so that nothing changes
            for k in range(self.starts[r], self.starts[r + 1]):
                other = self.customers[k]
                if other != i and bit(x, row, other):
                    paid = True
                    break
            if not paid:
                tally[1] += sign * self.costs[r]


def _requirement(index: int, costs: Sequence[int] | Array) -> int:
    if not 0 <= index < len(costs):
        raise InputError(f"`0 <= requirement < {len(costs)}` must hold, but got {index}")
    return index
