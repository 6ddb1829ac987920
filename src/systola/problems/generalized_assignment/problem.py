"""Generalized assignment: each job to one agent, at least cost, while no agent is loaded beyond its capacity.

A solution's state is all that a reassignment changes: the cost, by how much capacities are exceeded in all, and for
each agent the load less the capacity. What a job costs and loads with each agent lies together in memory.
"""

from __future__ import annotations

from dataclasses import field
from functools import cached_property

import numpy as np

from systola.errors import InputError
from systola.model.capabilities import Bound, Buffer, EvaluationState, Formulation, LocalSearch, Reassignments
from systola.model.drawing import Drawing
from systola.model.encodings import Array, Integers
from systola.model.integer_program import FREE, IntegerProgram
from systola.model.names import Names, labels_of
from systola.model.problem import MAXIMISE, MINIMISE, Problem
from systola.problems.drawings import bar_of_chosen, draw_bars
from systola.problems.generalized_assignment import ejection
from systola.problems.generalized_assignment.improvement import find_lightest, move_job, search_quickly
from systola.problems.generalized_assignment.relaxation import Relaxation, relax
from systola.problems.limits import NARROW, WIDE, exact_sum, refuse_beyond, whole_numbers


class GeneralizedAssignment(Problem):
    """Give each job to an agent, at the least total cost, so that no agent's load exceeds its capacity.

    A solution says the agent of each job, both counted from 0. Measures are the cost and the *unfitness*, the sum over
    agents of the load above the capacity, which is zero for feasible solutions and the violation of others. Each unit
    of it weighs more than all costs can differ: a feasible solution is fitter than any that is not, of two infeasible
    ones the one with less unfitness is, and only then does the cost count.

    Parameters
    ----------
    costs
        A row for each agent: what each job costs with it, in whole numbers.
    loads
        A row for each agent: how much of its capacity each job takes, in whole numbers of zero or more.
    capacities
        Of each agent, in whole numbers of zero or more.
    maximise
        Whether the costs are profits, of which the largest total is wanted.
    """

    encoding = Integers("jobs", 0, "last")
    sense = "sign"
    names = Names("job", "agent", (("costs", 1), ("loads", 1)), ("costs", "loads", "capacities"))
    costs: Array
    loads: Array
    capacities: Array
    maximise: bool = False
    jobs: int = field(init=False, repr=False)
    last: int = field(init=False, repr=False)  # agent
    sign: int = field(init=False, repr=False)  # MAXIMISE or MINIMISE
    price: int = field(init=False, repr=False)  # of a unit of unfitness
    entries: Array = field(init=False, repr=False)  # [jobs, agents, 2] cost and load; as narrow as all fit into
    slightest: Array = field(init=False, repr=False)  # [jobs] the least load with any agent
    lightest: Array = field(init=False, repr=False)  # [jobs, agents] the least load with an agent that costs less

    def check(self) -> None:
        if self.costs.ndim != 2 or 0 in self.costs.shape:
            raise InputError(
                "costs must have a row for each agent and a column for each job, one or more of each, but have shape "
                f"{self.costs.shape}"
            )
        agents, jobs = self.costs.shape
        if self.loads.shape != (agents, jobs):
            raise InputError(f"loads must have the shape of costs, {self.costs.shape}, but have {self.loads.shape}")
        if self.capacities.shape != (agents,):
            raise InputError(f"each of the {agents} agents needs a capacity, but got the shape {self.capacities.shape}")
        costs = whole_numbers("cost", self.costs, signed=True)
        loads, capacities = whole_numbers("load", self.loads), whole_numbers("capacity", self.capacities)
        if not isinstance(self.maximise, bool):
            raise InputError(f"`maximise` must be True or False, but got {self.maximise!r}")
        fits = (loads <= capacities[:, None]).any(axis=0)
        if not fits.all():
            job = int(np.argmin(fits))
            raise InputError(
                f"each job must fit into the capacity of some agent, but job {job + 1} fits none: its loads begin at "
                f"{loads[:, job].min()}, the largest capacity is {capacities.max()}; correct its loads or a capacity"
            )
        least, most = (exact_sum(values) for values in (costs.min(axis=0), costs.max(axis=0)))
        price = most - least + 1
        refuse_beyond(
            WIDE, max(abs(least), abs(most)) + price * max(exact_sum(loads.max(axis=0)), 1), "the size of fitness"
        )
        entries = np.stack([costs.T, loads.T], axis=2)
        narrow = max(int(np.abs(costs).max()), int(loads.max())) < NARROW
        self.derive(
            costs=costs,
            loads=loads,
            capacities=capacities,
            jobs=jobs,
            last=agents - 1,
            sign=MAXIMISE if self.maximise else MINIMISE,
            price=price,
            entries=entries.astype(np.int32 if narrow else np.int64),
            slightest=loads.min(axis=0),
            lightest=find_lightest(costs if not self.maximise else -costs, loads, np.int32 if narrow else np.int64),
        )

    def evaluate(self, x):
        loads = np.zeros(len(self.capacities), np.int64)
        cost = 0
        for job in range(len(x)):
            cost += self.costs[x[job], job]
            loads[x[job]] += self.loads[x[job], job]
        unfitness = 0
        for agent in range(len(loads)):
            unfitness += max(loads[agent] - self.capacities[agent], 0)
        return cost, unfitness

    def draw(self, x: Array) -> Drawing:
        """A row for each agent: its jobs as wide as they load it, up to its capacity."""
        x = np.asarray(x)
        labels = labels_of(self)
        agents, jobs = labels.of_values(np.arange(len(self.capacities))), labels.of_decisions(self.jobs)
        bars = [
            bar_of_chosen(f"agent {agents[k]}", self.loads[k], x == k, [f"job {job}" for job in jobs], capacity)
            for k, capacity in enumerate(self.capacities)
        ]
        what = "profit" if self.maximise else "cost"
        return draw_bars(bars, f"{what} {int(self.costs[x, np.arange(self.jobs)].sum()):,}")

    def fitness(self, measures):
        return self.sign * measures[0] - self.price * measures[1]

    def violation(self, measures):
        return measures[1]

    def init_state(self, x, row, state):
        agents = len(self.capacities)
        state[0] = 0
        state[1] = 0
        for agent in range(agents):
            state[2 + agent] = -self.capacities[agent]
        for job in range(self.jobs):
            agent = np.int64(x[row, job])
            state[0] += self.entries[job, agent, 0]
            state[2 + agent] += self.entries[job, agent, 1]
        for agent in range(agents):
            state[1] += max(state[2 + agent], 0)

    def reassign(self, x, row, i, value, state):
        move_job(self, i, np.int64(x[row, i]), np.int64(value), state)

    def guide(self) -> Array | None:
        """What a search by ejection chains goes by; None if loads or capacities are too large for it."""
        return ejection.make_guide(-self.sign * self.costs, self.loads, self.capacities, self.relaxation.prices)

    def state_measures(self, state, measures):
        measures[0] = state[0]
        measures[1] = state[1]

    @cached_property
    def relaxation(self) -> Relaxation:
        """The Lagrangian relaxation, with costs negated if they are maximised; found when first asked for."""
        return relax(-self.sign * self.costs, self.loads, self.capacities)

    def bound(self) -> int:
        """The value of the Lagrangian relaxation of the capacities, rounded to what a cost can be."""
        return -self.sign * self.relaxation.bound

    def prices(self) -> Array:
        """What a unit of each agent's capacity is worth; they prove the bound.

        Returns
        -------
        Array
            [agents], zero or more. No feasible solution costs less than each job with the agent for which cost plus
            price times load is least, less the sum of price times capacity; with profits, the other way round.
        """
        return np.array(self.relaxation.prices)

    def program(self) -> IntegerProgram:
        """It as a linear program: a column for each pair of a job and an agent, a row for each job and each agent."""
        agents, jobs = self.costs.shape
        columns = np.arange(jobs * agents)
        job, agent = columns // agents, columns % agents
        loads = self.loads[agent, job]
        used = loads > 0
        entries = (
            np.concatenate([job, jobs + agent[used]]),
            np.concatenate([columns, columns[used]]),
            np.concatenate([np.ones(len(columns), np.int64), loads[used]]),
        )
        one = np.ones(jobs, np.int64)

        def encode(decisions: Array) -> Array:
            chosen = np.zeros(jobs * agents, np.int64)
            chosen[np.arange(jobs) * agents + decisions] = 1
            return chosen

        return IntegerProgram(
            self.costs[agent, job],
            self.maximise,
            entries,
            np.concatenate([one, np.full(agents, -FREE)]),
            np.concatenate([one, self.capacities]),
            encode=encode,
            decode=lambda chosen: chosen.reshape(jobs, agents).argmax(axis=1),
        )

    capabilities = (
        EvaluationState(lambda p: Buffer(2 + len(p.capacities), np.int64), init_state, state_measures),
        Reassignments(reassign),
        LocalSearch(
            quick=search_quickly,
            integers=lambda p: 4 * len(p.capacities),
            search=ejection.search,
            data=guide,
            work=lambda p: Buffer(ejection.numbers_of_work(p.jobs, len(p.capacities)), np.int64),
        ),
        Bound(bound),
        Formulation(program),
    )

    def __str__(self) -> str:
        agents, jobs = self.costs.shape
        return f"generalized assignment of {jobs} jobs to {agents} agents{', for profit' if self.maximise else ''}"
