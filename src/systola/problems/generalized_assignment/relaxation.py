"""The Lagrangian relaxation of generalized assignment: capacities are not kept but paid for, at a price for each agent.

Whatever the prices, no feasible solution costs less than each job with the agent that is cheapest at these prices, less
what all capacities are worth. Prices for which that is largest give the value of the linear relaxation.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from systola.model.encodings import Array

_ITERATIONS = 300
_MOST_WORK = 10**9  # pairs of a job and an agent that are looked at, in all iterations; fewer of these if it is much
_FEWEST = 40
_DOUBLINGS, _HALVINGS = 30, 12
_FIRST_STEP, _LAST_STEP = 0.1, 1e-4  # parts of the scale of prices
_MEAN, _SQUARE = 0.9, 0.99  # how slowly the means of gradients and of their squares forget
_ROOM = 2**61


class Relaxation(NamedTuple):
    """A lower bound on the cost of feasible solutions, and the prices that prove it."""

    bound: int
    prices: Array  # [agents] of a unit of each capacity


class _Dual:
    """The relaxed cost as a function of prices, with loads in units of each agent's mean load."""

    def __init__(self, costs: Array, loads: Array, capacities: Array) -> None:
        means = loads.mean(axis=1)
        self.units = np.where(means > 0, means, 1.0)
        self.costs = np.ascontiguousarray(costs.T, dtype=np.float64)
        self.loads = np.ascontiguousarray(loads.T / self.units)
        self.capacities = capacities / self.units
        self._priced = np.empty_like(self.costs)
        self._jobs = np.arange(len(self.costs))

    def look(self, prices: Array) -> tuple[float, Array]:
        """The relaxed cost at these prices, and by how much the loads exceed the capacities then: its gradient."""
        np.multiply(self.loads, prices, out=self._priced)
        self._priced += self.costs
        chosen = self._priced.argmin(axis=1)
        loads = np.bincount(chosen, self.loads[self._jobs, chosen], len(prices))
        value = float(self._priced[self._jobs, chosen].sum() - prices @ self.capacities)
        return value, loads - self.capacities


def relax(costs: Array, loads: Array, capacities: Array) -> Relaxation:
    """Find good prices by subgradient ascent, and the bound that they prove.

    Parameters
    ----------
    costs, loads
        [agents, jobs], whole numbers.
    capacities
        [agents], whole numbers.

    Returns
    -------
    Relaxation
        The bound is exact: prices are rounded to binary fractions, for which it is computed in whole numbers.
    """
    dual = _Dual(costs, loads, capacities)
    return _prove(costs, loads, capacities, _climb(dual, _find_common_price(dual)) / dual.units)


def _find_common_price(dual: _Dual) -> float:
    """The best price if there is one for all agents; zero, or nearly, if capacities suffice in all."""

    def is_low(price: float) -> bool:
        _, excess = dual.look(np.full(len(dual.capacities), price))
        return bool(excess.sum() > 0)

    low, high = 0.0, max(float(np.ptp(dual.costs)), 1.0)
    for _ in range(_DOUBLINGS):
        if not is_low(high):
            break
        low, high = high, 2 * high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if is_low(middle) else (low, middle)
    return high


def _climb(dual: _Dual, common: float) -> Array:
    """Subgradient ascent with a step of its own for each price (as Kingma, Ba 2015); steps shrink geometrically."""
    # Prices are about as large as the common one; or, where only some agents are in too much demand, as what it costs
    # to go to the second best.
    cheapest = np.partition(dual.costs, 1, axis=1)[:, :2] if dual.costs.shape[1] > 1 else np.zeros((1, 2))
    scale = max(common, float(np.mean(cheapest[:, 1] - cheapest[:, 0])))
    iterations = min(_ITERATIONS, max(_FEWEST, _MOST_WORK // dual.costs.size))
    start = np.zeros(len(dual.capacities))
    best, found = start, dual.look(start)[0]
    prices = start + common
    mean, square = np.zeros_like(prices), np.zeros_like(prices)
    for k in range(iterations):
        value, excess = dual.look(prices)
        if value > found:
            best, found = prices, value
        mean = _MEAN * mean + (1 - _MEAN) * excess
        square = _SQUARE * square + (1 - _SQUARE) * excess * excess
        size = np.sqrt(square / (1 - _SQUARE ** (k + 1)))
        step = scale * _FIRST_STEP * (_LAST_STEP / _FIRST_STEP) ** (k / iterations)
        direction = np.divide(mean / (1 - _MEAN ** (k + 1)), size, out=np.zeros_like(mean), where=size > 0)
        prices = np.maximum(prices + step * direction, 0.0)
    return best


def _prove(costs: Array, loads: Array, capacities: Array, prices: Array) -> Relaxation:
    """The bound at these prices, rounded to as many binary places as leave room for the sums."""
    largest = int(np.abs(costs).max()) + int(prices.max() * max(float(loads.max()), 1.0)) + 1
    if largest > _ROOM:  # huge numbers, or no solution at all; without prices there is room
        prices, largest = np.zeros_like(prices), _ROOM
    unit = 1 << ((_ROOM // largest).bit_length() - 1)
    rounded = np.floor(prices * unit).astype(np.int64)
    cheapest = (costs * unit + rounded[:, None] * loads).min(axis=0)
    total = sum(cheapest.tolist()) - sum(p * c for p, c in zip(rounded.tolist(), capacities.tolist(), strict=True))
    dearest = sum(costs.max(axis=0).tolist())
    return Relaxation(min(-(-total // unit), dearest), rounded / unit)  # above that, there is no solution at all
