"""Quadratic assignment: n facilities to n locations, at a cost of flow times distance for each pair of facilities.

If one of the matrices is symmetric, the other counts only by its sum with its transpose; then both can be made
symmetric, which saves half of the work. The table for local search is Taillard's: the gain of every exchange, each
brought up to date in constant time. With it goes the matrix of distances in the order of the solution, so that no
number has to be looked up through it; rows are filled up with zeros to whole vectors.
"""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import Any

import numpy as np

from systola.errors import InputError
from systola.jit.compile import called, inlined
from systola.model.capabilities import Buffer, EvaluationState, Swaps, SwapTable
from systola.model.encodings import Array, Permutation
from systola.model.names import Names
from systola.model.problem import MINIMISE, Problem
from systola.problems.limits import NARROW, exact_sum, refuse_beyond, scaled_up, whole_numbers
from systola.simd.products import add_gathered, add_products
from systola.simd.rows import narrow, padded, part

_LIMIT = 2**61  # of costs


@inlined
def _look_up(b: Any, at: Any, x: Any, row: Any, k: Any) -> Any:
    """b[at + x[row, k]]; unsigned, so that no negative place has to be thought of and the look-ups can be vectors."""
    return b[np.uint64(at) + np.uint64(x[row, k])]


@called
def _total(a: Any, b: Any, x: Any, row: Any) -> Any:
    """Sum over i < k of a[i, k] * b[x[i], x[k]]."""
    n = x.shape[1]
    width = padded(n)
    total = np.int64(0)
    for i in range(n):
        at = np.int64(x[row, i]) * n
        for k in range(i + 1, n):
            total += np.int64(a[i * width + k]) * np.int64(_look_up(b, at, x, row, k))
    return total


@called
def _difference(a: Any, b: Any, sums: Any, x: Any, row: Any, r: Any, s: Any) -> Any:
    """Sum over k other than r and s of (a[r, k] - a[s, k]) * (b[x[s], x[k]] - b[x[r], x[k]])."""
    n = x.shape[1]
    width = padded(n)
    at_r, at_s = np.int64(x[row, r]) * n, np.int64(x[row, s]) * n
    total = narrow(0, sums)
    for k in range(n):
        # Whatever overflows on the way is right again in the end, as the sum fits.
        far = narrow(_look_up(b, at_s, x, row, k) - _look_up(b, at_r, x, row, k), sums)
        near = narrow(a[r * width + k] - a[s * width + k], sums)
        total = narrow(total + narrow(near * far, sums), sums)
    back = np.int64(a[s * width + r]) * b[at_s + x[row, r]] + np.int64(a[r * width + s]) * b[at_r + x[row, s]]
    return total + back


@called
def _gather_gains(a: Any, a_back: Any, b: Any, b_back: Any, x: Any, row: Any, r: Any, gains: Any) -> None:
    """What one direction of the flows contributes to the gains of all exchanges with r; see `_find_gains`."""
    n = x.shape[1]
    width = padded(n)
    places = x[row]
    at_r = np.int64(places[r]) * n
    for k in range(n):
        if k != r:
            near, far = part(a_back, k * width, width), part(b_back, np.int64(places[k]) * n, n)
            add_gathered(gains, a[r * width + k], near, b[at_r + places[k]], far, places, 1)
    add_gathered(gains, 0, part(a, r * width, width), 0, part(b_back, at_r, n), places, -1)


@called
def _turn(table: Any, block: Any, n: Any, width: Any, r: Any, s: Any) -> None:
    """Exchange rows r and s, and columns r and s, of a matrix in the table."""
    of_r, of_s = block + r * width, block + s * width
    for k in range(n):
        kept = table[of_r + k]
        table[of_r + k] = table[of_s + k]
        table[of_s + k] = kept
    for i in range(n):
        at = block + i * width
        kept = table[at + r]
        table[at + r] = table[at + s]
        table[at + s] = kept


@called
def _shift_gains(a: Any, table: Any, block: Any, spare: Any, n: Any, r: Any, s: Any) -> None:
    """The gains of all exchanges that have no part in r and s, after these were exchanged."""
    width = padded(n)
    of_r, of_s = block + r * width, block + s * width
    f, g = spare, spare + width
    for k in range(n):
        table[f + k] = a[r * width + k] - a[s * width + k]
        table[g + k] = table[of_r + k] - table[of_s + k]
    for i in range(n):
        first = (i + 1) & ~15
        left = width - first
        near, far = part(table, f + first, left), part(table, g + first, left)
        add_products(part(table, i * width + first, left), table[f + i], near, table[g + i], far, 1)


@called
def _add_gains(a: Any, a_back: Any, table: Any, block: Any, block_back: Any, at: Any, n: Any, r: Any) -> None:
    """What one direction of the flows contributes to the gains of all exchanges with r."""
    width = padded(n)
    gains = part(table, at, width)
    for k in range(n):
        if k != r:
            # Row k of a transposed matrix is column k of the matrix, so that vectors run over the other decision.
            near, far = part(a_back, k * width, width), part(table, block_back + k * width, width)
            add_products(gains, a[r * width + k], near, table[block + r * width + k], far, 1)


@called
def _add_costs(costs: Any, x: Any, row: Any, r: Any, gains: Any) -> None:
    """What the costs of locations contribute to the gains of all exchanges with r."""
    at_r = np.int64(x[row, r])
    for k in range(x.shape[1]):
        at_k = np.int64(x[row, k])
        gains[k] += (costs[r, at_r] - costs[r, at_k]) + (costs[k, at_k] - costs[k, at_r])


@called
def _find_gains(problem: Any, x: Any, row: Any, r: Any, table: Any) -> None:
    """The gains of all exchanges of solution x[row] with r, written where they belong."""
    n = x.shape[1]
    width = padded(n)
    block = n * width
    back = block if problem.symmetric else 2 * block
    own = back + block
    line = own + 3 * width
    of_r = r * width
    a, a_back = problem.near, problem.near_back
    gains = part(table, line, width)
    for k in range(width):
        gains[k] = 0
    _add_gains(a, a_back, table, block, back, line, n, r)
    add_products(gains, 0, part(a, of_r, width), 0, part(table, back + of_r, width), -1)
    if not problem.symmetric:
        _add_gains(a_back, a, table, back, block, line, n, r)
        add_products(gains, 0, part(a_back, of_r, width), 0, part(table, block + of_r, width), -1)
    if problem.diagonal:
        add_products(gains, problem.own_near[r], problem.own_near, table[own + r], part(table, own, width), 1)
    if problem.has_costs:
        _add_costs(problem.costs, x, row, r, gains)
    for k in range(r):
        table[k * width + r] = table[line + k]
    for k in range(r + 1, n):
        table[of_r + k] = table[line + k]


class QuadraticAssignment(Problem):
    """Give each facility a location of its own, at the least total of flow times distance.

    A solution says the location of each facility; its cost is the sum of flows[i, k] * distances[x[i], x[k]], and, if
    there are costs of locations, of costs[i, x[i]]. Matrices need not be symmetric, and diagonals need not be zero.
    Numbers may have decimals, up to nine: they are kept as whole numbers in units of 1/scale, and nothing is rounded.
    """

    encoding = Permutation("flows")
    sense = MINIMISE
    names = Names("facility", "location", ("flows", ("flows", 1)), ("distances", ("distances", 1)))
    flows: Array
    distances: Array
    costs: Array = field(default_factory=lambda: np.zeros((0, 0), np.int64))  # of each facility at each location
    scale: int = field(init=False, repr=False)  # type: ignore[misc]
    has_costs: bool = field(init=False, repr=False)  # whether there are such costs
    near: Array = field(init=False, repr=False)  # flows, zeros in the diagonal, rows of whole vectors
    near_back: Array = field(init=False, repr=False)  # transposed
    far: Array = field(init=False, repr=False)  # distances, zeros in the diagonal
    far_back: Array = field(init=False, repr=False)
    own_near: Array = field(init=False, repr=False)  # the diagonals
    own_far: Array = field(init=False, repr=False)
    sums: Array = field(init=False, repr=False)  # empty, and as wide as gains have to be
    symmetric: bool = field(init=False, repr=False)
    diagonal: bool = field(init=False, repr=False)  # whether both diagonals have something in them

    def check(self) -> None:
        n = len(self.flows)
        for name, values in (("flows", self.flows), ("distances", self.distances)):
            if values.shape != (n, n) or n == 0:
                raise InputError(f"{name} must be a square matrix of {n} rows, but have shape {values.shape}")
        if self.costs.shape not in ((0, 0), (n, n)):
            raise InputError(f"costs must be a square matrix of {n} rows, but have shape {self.costs.shape}")
        flows, distances, costs, scale = self._scaled()
        # What an exchange changes is at most four times as much, summed up in any order.
        reach = max(exact_sum(np.abs(flows)), 1) * max(int(np.abs(distances).max()), 1) + exact_sum(np.abs(costs))
        refuse_beyond(_LIMIT, reach, "costs")
        near, far = flows.copy(), distances.copy()
        own_near, own_far = near.diagonal().copy(), far.diagonal().copy()
        np.fill_diagonal(near, 0)
        np.fill_diagonal(far, 0)
        symmetric = bool((near == near.T).all() or (far == far.T).all())
        if symmetric:
            near, far = (near, far + far.T) if (near == near.T).all() else (near + near.T, far)
        rows = np.zeros((3, n, padded(n)), np.int64)
        rows[0, :, :n], rows[1, :, :n], rows[2, 0, :n] = near, near.T, own_near
        largest = max(int(np.abs(m).max()) for m in (near, far, own_near, own_far))
        kind = np.int32 if largest < NARROW else np.int64
        self.derive(
            flows=flows,
            distances=distances,
            costs=costs,
            scale=scale,
            has_costs=bool(costs.any()),
            near=rows[0].ravel().astype(kind),
            near_back=rows[1].ravel().astype(kind),
            far=far.ravel().astype(kind),
            far_back=far.T.ravel().astype(kind),
            own_near=rows[2, 0].astype(kind),
            own_far=own_far.astype(kind),
            symmetric=symmetric,
            diagonal=bool(own_near.any() and own_far.any()),
        )
        # Tables hold distances and differences of these, too.
        self.derive(sums=np.zeros(0, np.int32 if max(self.largest_gain, largest) < 2**30 else np.int64))

    def _scaled(self) -> tuple[Array, Array, Array, int]:
        """Flows, distances and costs as whole numbers in one unit, and how many of these are a whole one."""
        (flows, one), (distances, other), (costs, third) = (
            scaled_up(name, values)
            for name, values in (("flow", self.flows), ("distance", self.distances), ("cost", self.costs))
        )
        scale = max(one * other, third)
        distances = whole_numbers("distance", distances, signed=True, limit=_LIMIT // (scale // (one * other)))
        costs = whole_numbers("cost", costs, signed=True, limit=_LIMIT // (scale // third))
        flows = whole_numbers("flow", flows, signed=True, limit=_LIMIT)
        return flows, distances * (scale // (one * other)), costs * (scale // third), scale

    def evaluate(self, x):
        total = 0
        for i in range(len(x)):
            at = x[i]
            if self.has_costs:
                total += self.costs[i, at]
            for k in range(len(x)):
                total += self.flows[i, k] * self.distances[at, x[k]]
        return total

    def init_state(self, x, row, state):
        state[0] = _total(self.near, self.far, x, row)
        if not self.symmetric:
            state[0] += _total(self.near_back, self.far_back, x, row)
        for i in range(len(self.flows)):
            state[0] += self.own_near[i] * self.own_far[x[row, i]]
            if self.has_costs:
                state[0] += self.costs[i, x[row, i]]

    def swap(self, x, row, i, j, state):
        n = len(self.flows)
        width = padded(n)
        at_i, at_j = np.int64(x[row, i]), np.int64(x[row, j])
        change = np.int64(_difference(self.near, self.far, self.sums, x, row, i, j))
        if not self.symmetric:
            change += _difference(self.near_back, self.far_back, self.sums, x, row, i, j)
            flows = self.near[i * width + j] - self.near_back[i * width + j]
            change += flows * (self.far[at_j * n + at_i] - self.far_back[at_j * n + at_i])
        if self.diagonal:
            change -= (self.own_near[i] - self.own_near[j]) * (self.own_far[at_i] - self.own_far[at_j])
        if self.has_costs:
            change += (self.costs[i, at_j] - self.costs[i, at_i]) + (self.costs[j, at_i] - self.costs[j, at_j])
        state[0] += change

    def swap_gains(self, x, row, i, gains):
        n = len(self.flows)
        for j in range(padded(n)):
            gains[j] = 0
        _gather_gains(self.near, self.near_back, self.far, self.far_back, x, row, i, gains)
        if not self.symmetric:
            _gather_gains(self.near_back, self.near, self.far_back, self.far, x, row, i, gains)
        if self.diagonal:
            for j in range(n):
                gains[j] += (self.own_near[i] - self.own_near[j]) * (self.own_far[x[row, i]] - self.own_far[x[row, j]])
        if self.has_costs:
            _add_costs(self.costs, x, row, i, gains)

    def state_measures(self, state, measures):
        measures[0] = state[0]

    def table_buffer(self) -> Buffer:
        """Size and type of the table of all swaps."""
        n = len(self.flows)
        blocks = 2 if self.symmetric else 3
        return Buffer((blocks * n + 4) * padded(n), self.sums.dtype)

    @cached_property
    def largest_gain(self) -> int:
        """A number that no gain of an exchange is above."""
        n = len(self.flows)
        near = self.near.reshape(n, -1)[:, :n].astype(np.int64)
        spreads = [int(m.max()) - int(m.min()) for m in (near, self.far, self.own_near, self.own_far)]
        most = 2 * n * spreads[0] * spreads[1]
        if most >= 2**30:  # by far too high where rows are alike or a few numbers are large
            far = self.far.reshape(n, n).astype(np.int64)
            rows = [
                max(int(np.abs(m - row).sum(axis=1, dtype=float).max()) for row in m)  # a sum of integers could wrap
                for m in (near, near.T, far, far.T)
            ]
            most = 2 * min(max(rows[:2]) * spreads[1], spreads[0] * max(rows[2:]))
        placing = 2 * (int(self.costs.max()) - int(self.costs.min())) if self.has_costs else 0
        return most + spreads[2] * spreads[3] + placing

    def fill_table(self, x, row, table):
        n = len(self.flows)
        width = padded(n)
        block = n * width
        for k in range(table.shape[0]):
            table[k] = 0
        own = (2 if self.symmetric else 3) * block
        for i in range(n):
            table[own + i] = self.own_far[x[row, i]]
            for k in range(n):
                table[block + i * width + k] = self.far[np.int64(x[row, i]) * n + x[row, k]]
                if not self.symmetric:
                    table[2 * block + i * width + k] = self.far_back[np.int64(x[row, i]) * n + x[row, k]]
        for i in range(n):
            _find_gains(self, x, row, i, table)

    def swap_in_table(self, x, row, i, j, table):
        n = len(self.flows)
        width = padded(n)
        block = n * width
        own = (2 if self.symmetric else 3) * block
        x[row, i], x[row, j] = x[row, j], x[row, i]
        table[own + i], table[own + j] = table[own + j], table[own + i]
        _turn(table, block, n, width, i, j)
        _shift_gains(self.near, table, block, own + width, n, i, j)
        if not self.symmetric:
            _turn(table, 2 * block, n, width, i, j)
            _shift_gains(self.near_back, table, 2 * block, own + width, n, i, j)
        for k in (i, j):
            _find_gains(self, x, row, k, table)

    capabilities = (
        EvaluationState(Buffer(1, np.int64), init_state, state_measures),
        Swaps(swap),
        SwapTable(table_buffer, fill_table, swap_in_table, swap_gains),
    )

    def __str__(self) -> str:
        return f"quadratic assignment of {len(self.flows)} facilities"
