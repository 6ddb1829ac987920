"""Generated generalized assignments: types A to D as in Chu, Beasley 1997, and type E of Laguna et al. 1995.

All numbers are rounded down, as in the public files of these types. What a formula takes from a continuous range is
drawn so that it comes out exactly, on every machine.
"""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np

from systola.errors import InputError
from systola.formats.instance import check_sizes
from systola.formats.text import located
from systola.model.encodings import Array
from systola.model.rng import below, check_seed, draw
from systola.problems.generalized_assignment.problem import GeneralizedAssignment

KINDS = ("a", "b", "c", "d", "e")
MOST_PAIRS = 10_000_000  # of an agent and a job

_GENERATOR = 9  # purpose of the draws, apart from those of a run with the same seed
_LOADS, _COSTS = range(2)


def generate(kind: str, agents: int, jobs: int, seed: int = 1) -> GeneralizedAssignment:
    """Generate an instance of one of the customary types, from the easiest to the hardest.

    With n jobs and m agents, and u uniform in (0, 1]:

    - *a*: loads uniform in 5..25, costs in 10..50. All capacities are 9 n/m + 0.4 R, where R is the largest load of an
      agent if each job goes to where it costs least, to the first such agent.
    - *b*: as a, but capacities are 0.7 times those.
    - *c*: as a, but a capacity is 0.8 times the loads of all jobs with the agent, divided by m.
    - *d*: loads uniform in 1..100, costs are 111 less the load plus a number uniform in -10..10, capacities as c.
    - *e*: loads are 1 - 10 ln u, costs are 1000 over the load, rounded, less 10 u, and 0 or more; capacities as c.

    A capacity of c, d and e is at least the largest load with the agent, which matters if there are few jobs.

    Parameters
    ----------
    kind
        a, b, c, d or e.
    agents, jobs
        m and n.
    seed
        Equal seeds give equal instances, everywhere.
    """
    if kind not in KINDS:
        raise InputError(f"`kind` must be one of {', '.join(KINDS)}, but got {kind!r}")
    check_sizes(MOST_PAIRS, agents=agents, jobs=jobs)
    seed = check_seed(seed)
    first, second = (_numbers(seed, stream, agents, jobs) for stream in (_LOADS, _COSTS))
    if kind == "e":
        loads = _exponential(first)
        costs = np.maximum(1000 // loads - 1 - below(second, 10), 0)
    elif kind == "d":
        loads = 1 + below(first, 100)
        costs = 111 - loads + below(second, 21) - 10
    else:
        loads, costs = 5 + below(first, 21), 10 + below(second, 41)
    capacities = _common_capacities(kind, costs, loads) if kind in "ab" else own_capacities(loads)
    with located(f"type {kind}, {agents} agents, {jobs} jobs, seed {seed}"):
        return GeneralizedAssignment(costs, loads, capacities)


def own_capacities(loads: Array) -> Array:
    """Those of types c, d and e, which follow from the loads with each agent."""
    capacities: Array = np.maximum(4 * loads.sum(axis=1) // (5 * len(loads)), loads.max(axis=1))
    return capacities


def cheapest_load(costs: Array, loads: Array) -> int:
    """The largest load of an agent if each job goes to the first of those where it costs least."""
    jobs = np.arange(costs.shape[1])
    chosen = costs.argmin(axis=0)
    return int(np.bincount(chosen, loads[chosen, jobs], len(costs)).max())


def _common_capacities(kind: str, costs: Array, loads: Array) -> Array:
    agents, jobs = costs.shape
    # 9 n/m + 0.4 R is tenths / (10 m), rounded after it was multiplied.
    tenths = 90 * jobs + 4 * cheapest_load(costs, loads) * agents
    capacity = tenths // (10 * agents) if kind == "a" else 7 * tenths // (100 * agents)
    return np.full(agents, capacity)


def _numbers(seed: int, stream: int, agents: int, jobs: int) -> Array:
    """A number of 32 bits for each pair; each row is one cell of random numbers further."""
    cells = np.arange(jobs)
    return np.stack([draw(seed, _GENERATOR, stream, cells, agent)[0] for agent in range(agents)])


def _exponential(numbers: Array) -> Array:
    """1 - 10 ln u rounded down, for u = (number + 1) / 2**32: one more for each k >= 1 with u <= exp(-k / 10)."""
    with localcontext() as context:
        context.prec = 50
        limits = [int(2**32 * (Decimal(-k) / 10).exp()) for k in range(1, 222)]
    loads: Array = 1 + np.searchsorted(-np.array(limits), -numbers.astype(np.int64) - 1, side="right")
    return loads
