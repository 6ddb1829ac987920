"""Feasibility and quality improvement of assignments, as Chu, Beasley 1997, with agents looked up in random order, as
Liu, Wang 2015, section 3.1.

Both give single jobs to other agents. Most jobs can be passed over at a glance: no agent that costs less has room for
them, because even the lightest of their loads is above the most room that there is. For the others, agents are looked
at as long as they have that much room, the roomiest first; of those that fit, the first in the random order is taken.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from systola.jit.compile import called, inlined
from systola.model.encodings import Array
from systola.model.rng import below, numbers

_STARTS, _FIRST_ORDER = 0, 1  # calls of `numbers`: where jobs begin, and from where on the order of agents
_ANY_COST = 1 << 62


def find_lightest(costs: Array, loads: Array, dtype: DTypeLike) -> Array:
    """[jobs, agents]: the least load of a job with agents that cost less than this one; more than any if none does."""
    order = np.argsort(costs, axis=0, kind="stable")
    ranked = np.take_along_axis(costs, order, axis=0)
    least = np.minimum.accumulate(np.take_along_axis(loads, order, axis=0), axis=0)
    agents, jobs = costs.shape
    found = np.empty((jobs, agents), dtype)
    nobody = np.iinfo(dtype).max
    for job in range(jobs):
        cheaper = np.searchsorted(ranked[:, job], costs[:, job], side="left")
        found[job] = np.where(cheaper > 0, least[np.maximum(cheaper, 1) - 1, job], nobody)
    return found


@called
def line_up(state: Any, work: Any, key: Any) -> None:
    """Lists of agents: in a random order, where each comes in it, by room with the most first, and where in that."""
    agents = state.shape[0] - 2
    r0 = r1 = r2 = r3 = np.uint64(0)
    for i in range(agents):
        if i & 3 == 0:
            r0, r1, r2, r3 = numbers(key, _FIRST_ORDER + (i >> 2))
        j = below(r0, i + 1)
        r0, r1, r2 = r1, r2, r3
        work[i] = work[j]
        work[j] = i
    for i in range(agents):
        agent = np.int64(work[i])
        work[agents + agent] = i
        work[2 * agents + i] = agent
        work[3 * agents + agent] = i
        _move_up(state, work, agent)


@inlined
def _stand(work: Any, agents: Any, rank: Any, agent: Any) -> None:
    work[2 * agents + rank] = agent
    work[3 * agents + agent] = rank


@called
def _move_up(state: Any, work: Any, agent: Any) -> None:
    """An agent that has more room than before goes up in the list by room."""
    agents = state.shape[0] - 2
    rank = np.int64(work[3 * agents + agent])
    while rank > 0:
        other = np.int64(work[2 * agents + rank - 1])
        if state[2 + other] <= state[2 + agent]:
            break
        _stand(work, agents, rank, other)
        rank -= 1
    _stand(work, agents, rank, agent)


@called
def _move_down(state: Any, work: Any, agent: Any) -> None:
    """One that has less goes down."""
    agents = state.shape[0] - 2
    rank = np.int64(work[3 * agents + agent])
    while rank + 1 < agents:
        other = np.int64(work[2 * agents + rank + 1])
        if state[2 + other] >= state[2 + agent]:
            break
        _stand(work, agents, rank, other)
        rank += 1
    _stand(work, agents, rank, agent)


@inlined
def move_job(problem: Any, job: Any, before: Any, after: Any, state: Any) -> None:
    """Change the state as if the job went from one agent to another."""
    state[0] += problem.entries[job, after, 0] - problem.entries[job, before, 0]
    state[1] -= max(state[2 + before], 0)
    state[2 + before] -= problem.entries[job, before, 1]
    state[1] += max(state[2 + before], 0) - max(state[2 + after], 0)
    state[2 + after] += problem.entries[job, after, 1]
    state[1] += max(state[2 + after], 0)


@called
def _give(problem: Any, x: Any, job: Any, agent: Any, state: Any, work: Any) -> None:
    before = np.int64(x[job])
    move_job(problem, job, before, np.int64(agent), state)
    x[job] = agent
    _move_up(state, work, before)
    _move_down(state, work, agent)


@inlined
def _find_room(problem: Any, job: Any, least: Any, limit: Any, state: Any, work: Any) -> Any:
    """The first agent in the random order that has room for the job, at a cost below the limit; -1 if there is none.

    Only agents with `least` room or more are looked at.
    """
    agents = state.shape[0] - 2
    first = np.int64(agents)
    for k in range(agents):
        agent = np.int64(work[2 * agents + k])
        excess = state[2 + agent]
        if -excess < least:
            break
        if (
            excess + problem.entries[job, agent, 1] <= 0
            and -problem.sign * problem.entries[job, agent, 0] < limit
            and work[agents + agent] < first
        ):
            first = np.int64(work[agents + agent])
    return np.int64(work[first]) if first < agents else np.int64(-1)


@called
def relieve_agents(problem: Any, x: Any, state: Any, work: Any, key: Any) -> None:
    """Each agent with too much to do passes one job on such that neither it nor the one that takes it has too much."""
    if state[1] == 0:
        return
    jobs, agents = problem.jobs, state.shape[0] - 2
    r0, _, _, _ = numbers(key, _STARTS)
    start = below(r0, jobs)
    for k in range(agents):
        agent = np.int64(work[k])
        if state[2 + agent] <= 0:
            continue
        for t in range(jobs):
            job = start + t if start + t < jobs else start + t - jobs
            if x[job] != agent or problem.entries[job, agent, 1] < state[2 + agent]:
                continue
            other = _find_room(problem, job, problem.slightest[job], _ANY_COST, state, work)
            if other >= 0:
                _give(problem, x, job, other, state, work)
                break


@called
def lower_costs(problem: Any, x: Any, state: Any, work: Any, key: Any) -> None:
    """Each job goes to the first agent in the random order that costs less and has room for it, if there is one."""
    jobs, agents = problem.jobs, state.shape[0] - 2
    _, r1, _, _ = numbers(key, _STARTS)
    start = below(r1, jobs)
    room = -state[2 + np.int64(work[2 * agents])]
    for t in range(jobs):
        job = start + t if start + t < jobs else start + t - jobs
        agent = np.int64(x[job])
        least = problem.lightest[job, agent]
        if least > room:
            continue
        other = _find_room(problem, job, least, -problem.sign * problem.entries[job, agent, 0], state, work)
        if other >= 0:
            _give(problem, x, job, other, state, work)
            room = -state[2 + np.int64(work[2 * agents])]


def search_quickly(self: Any, x: Any, state: Any, work: Any, key: Any) -> None:
    """Both improvements, one after the other."""
    line_up(state, work, key)
    relieve_agents(self, x, state, work, key)
    lower_costs(self, x, state, work, key)
