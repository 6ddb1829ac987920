"""Ejection chains for generalized assignment: a job goes to another agent, which may eject a job to a third, and so on.

What a solution costs above the bound of the Lagrangian relaxation is the sum of two things: the *regret* of each job,
how much more it costs at the prices of the relaxation than with the agent that is cheapest at these, and the worth of
capacity that is not used. So few agents come into question for a job, and loads should meet capacities exactly. Chains
that leave loads as they are can be found by depth-first search, which stops where regrets alone are too much.

Loads are balanced gradually (strategic oscillation: Glover 1989). First an unbalanced load costs next to nothing, so
that jobs are where their regret is least; then it costs more and more, in the end much more than it is worth. The lower
the first charge is, the more a solution changes. Penalties and chains as such are those of Yagiura, Ibaraki, Glover
2004 and 2006.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from systola.jit.compile import called, inlined
from systola.jit.stop_flag import must_leave
from systola.model.encodings import Array
from systola.model.rng import below, numbers
from systola.problems.generalized_assignment.improvement import move_job
from systola.problems.limits import exact_sum
from systola.simd.bits import lowest_one
from systola.simd.rows import part, unsigned

RANKS = 10  # agents that come into question for a job
_EJECTIONS = 3  # in a chain, at most
_LOOKS = 1000  # at jobs and agents in the search for a chain, at most
_DEPTH = 8  # the first charge is 1/2 to 1/2**8 of what a load is worth,
_HEIGHT = 4  # and the last 2**4 of it
_STAGES = 4  # for each doubling of the charge
_COOLEST, _WARMEST = 6, 2  # a loss of 1/2**6 to 1/2**2 of the mean regret is small at first; in the end, none is

_FINE, _FINEST = 1 << 10, 1 << 22  # units of the mean regret
_STEPS = 64  # a unit of capacity is worth so many units or more, if that is not too fine
_MOST = 1 << 28  # of a number in the guide
_ROOM = 1 << 58
_NOBODY = -1
_FIRSTS, _LOW, _HIGH, _STACK = range(4)  # what a search's work has behind the numbers of jobs: three lists of agents,
_JOB, _AGENT, _SUM, _ITEM, _REST, _RANK, _FIELDS = range(7)  # and what the search for a chain keeps of each ejection
_CHAIN = _FIELDS * (_EJECTIONS + 1)  # behind that: jobs and their agents


def numbers_of_work(jobs: int, agents: int) -> int:
    """How many numbers a search needs to work with."""
    return 3 * jobs + 3 * agents + _CHAIN + 2 * (_EJECTIONS + 1)


def make_guide(costs: Array, loads: Array, capacities: Array, prices: Array) -> Array | None:
    """What a search goes by: regrets in small units, and which agents come into question.

    Parameters
    ----------
    costs, loads, capacities
        As in the relaxation: costs are minimised.
    prices
        [agents] of a unit of capacity.

    Returns
    -------
    Array or None
        [jobs + 1, agents + (RANKS + 1) // 2, 2]. Of a job: for each agent the regret and the load, then the agents in
        the order of regret, two in a place. Last, for each agent what a unit of capacity is worth, and what one too
        many costs; then the mean regret. None if loads or capacities are so large that charges could overflow.
    """
    agents, jobs = costs.shape
    total, room = exact_sum(loads.max(axis=0)) + 1, max(int(capacities.max()), 1)
    if max(total << (_HEIGHT + 1), room) > _ROOM:
        return None
    regrets = (costs + prices[:, None] * loads).T
    regrets = regrets - regrets.min(axis=1, keepdims=True)
    fitting = np.where(capacities >= loads.T, regrets, np.inf)
    ranked = np.argsort(fitting, axis=1, kind="stable")[:, :RANKS]
    others = np.take_along_axis(fitting, ranked[:, 1:5], axis=1)
    mean = float(others[np.isfinite(others)].mean()) if np.isfinite(others).any() else 0.0
    mean = mean if mean > 0 else 1.0
    worth = float(np.median(prices[prices > 0])) if (prices > 0).any() else mean
    unit = min(max(_FINE / mean, _STEPS / worth), _FINEST / mean)
    most = min(_MOST, _ROOM // (total << (_HEIGHT + 1)), _ROOM // room)
    guide = np.zeros((jobs + 1, agents + (RANKS + 1) // 2, 2), np.int64)
    guide[:jobs, :agents, 0] = np.minimum(fitting * unit, _MOST)
    guide[:jobs, :agents, 1] = loads.T
    listed = guide[:jobs, agents:].reshape(jobs, -1)
    listed[:, : ranked.shape[1]] = ranked
    guide[:jobs, agents:] = listed.reshape(jobs, -1, 2)
    guide[jobs, :agents, 0] = np.minimum(np.round(prices * unit), most)
    # Where capacity is worth nothing, the load of a mean job is worth the mean regret.
    guide[jobs, :agents, 1] = np.clip(np.maximum(prices, mean / max(float(loads.mean()), 1.0)) * unit, 1, most)
    guide[jobs, agents, 0] = np.ceil(mean * unit)
    return guide.astype(np.int32 if guide.max() < 2**31 else np.int64)


@inlined
def _place(jobs: Any, agents: Any, which: Any) -> Any:
    """Where one of the lists of agents begins in a search's work; those of jobs are three."""
    return 3 * jobs + which * agents


@inlined
def _regret(guide: Any, job: Any, agent: Any) -> Any:
    return np.int64(guide[unsigned(job), unsigned(agent), 0])


@inlined
def _load(guide: Any, job: Any, agent: Any) -> Any:
    return np.int64(guide[unsigned(job), unsigned(agent), 1])


@inlined
def _ranked(guide: Any, job: Any, agents: Any, rank: Any) -> Any:
    return np.int64(guide[unsigned(job), unsigned(agents + (rank >> 1)), unsigned(rank & 1)])


@inlined
def _is_ranked(guide: Any, job: Any, agents: Any, ranks: Any, agent: Any) -> Any:
    found = False
    for rank in range(ranks):
        found = found or _ranked(guide, job, agents, rank) == agent
    return found


@inlined
def _charge(excess: Any, low: Any, high: Any) -> Any:
    """What it costs that a load is not equal to the capacity."""
    return high * excess if excess > 0 else -low * excess


@inlined
def _unlink(nexts: Any, formers: Any, firsts: Any, job: Any, agent: Any) -> None:
    """Take a job out of the ring of an agent's jobs."""
    after = nexts[job]
    if after == job:
        firsts[agent] = _NOBODY
        return
    before = formers[job]
    nexts[before] = after
    formers[after] = before
    if firsts[agent] == job:
        firsts[agent] = after


@inlined
def _link(nexts: Any, formers: Any, firsts: Any, job: Any, agent: Any) -> None:
    """Put a job last into the ring of an agent's jobs."""
    first = firsts[agent]
    if first == _NOBODY:
        firsts[agent] = job
        nexts[job] = job
        formers[job] = job
        return
    last = formers[first]
    nexts[last] = job
    formers[job] = last
    nexts[job] = first
    formers[first] = job


@inlined
def _keep_chain(stack: Any, chain: Any, ejections: Any, item: Any, agent: Any) -> Any:
    """The chain that the search is at, and at its end an item that goes to an agent; how many jobs move."""
    for t in range(ejections):
        chain[2 * t] = stack[_FIELDS * t + _JOB]
        chain[2 * t + 1] = stack[_FIELDS * t + _AGENT]
    chain[2 * ejections] = item
    chain[2 * ejections + 1] = agent
    return ejections + 1


@called
def _find_chain(guide: Any, excess: Any, work: Any, job: Any, origin: Any, agent: Any, patience: Any, most: Any) -> Any:
    """The best chain in which first the job goes from its origin to an agent, if it costs no more than `patience`.

    Jobs and agents of it end the work, in pairs. How many there are is returned; 0 if there is no such chain. No agent
    but the origin receives two jobs. A beginning is given up if regrets, and charges of agents that are done with, are
    too much even if the origin were balanced in the end, and all of them after `most` looks at jobs and agents.
    """
    jobs, agents = guide.shape[0] - 1, excess.shape[0]
    nexts, firsts = part(work, 0, jobs), part(work, _place(jobs, agents, _FIRSTS), agents)
    low, high = part(work, _place(jobs, agents, _LOW), agents), part(work, _place(jobs, agents, _HIGH), agents)
    stack = part(work, _place(jobs, agents, _STACK), _CHAIN)
    chain = part(work, _place(jobs, agents, _STACK) + _CHAIN, 2 * (_EJECTIONS + 1))
    ranks = min(np.int64(RANKS), agents)
    before = _charge(excess[origin], low[origin], high[origin])
    hole = excess[origin] - _load(guide, job, origin)
    opened = _charge(hole, low[origin], high[origin]) - before
    least = patience + before + 1  # of what is compared before the origin is charged
    found = np.int64(0)
    spent = _regret(guide, job, agent) - _regret(guide, job, origin)
    there = _charge(excess[agent], low[agent], high[agent])
    if spent - there >= least:
        return found
    left = excess[agent] + _load(guide, job, agent)
    cost = spent + _charge(left, low[agent], high[agent]) - there + opened + before
    if cost < least:
        least = cost
        found = _keep_chain(stack, chain, np.int64(0), job, agent)
    if firsts[agent] == _NOBODY:
        return found
    other = agent
    looks = np.int64(0)
    depth = np.int64(0)
    stack[_JOB] = job
    stack[_AGENT] = agent
    stack[_SUM] = spent
    stack[_ITEM] = firsts[agent]
    stack[_RANK] = _NOBODY
    while depth >= 0:
        at = _FIELDS * depth
        here = stack[at + _AGENT]
        item = stack[at + _ITEM]
        rank = stack[at + _RANK]
        if rank == _NOBODY:  # the item is new: what if it goes to the origin, or anywhere at no regret
            looks += 1
            rank = np.int64(0)
            left = excess[here] + _load(guide, stack[at + _JOB], here) - _load(guide, item, here)
            rest = (
                stack[at + _SUM]
                + _charge(left, low[here], high[here])
                - _charge(excess[here], low[here], high[here])
                - _regret(guide, item, here)
            )
            stack[at + _REST] = rest
            if rest >= least:
                rank = ranks
            else:
                cost = rest + _regret(guide, item, origin)
                cost += _charge(hole + _load(guide, item, origin), low[origin], high[origin])
                if cost < least:
                    least = cost
                    found = _keep_chain(stack, chain, depth + 1, item, origin)
        deeper = False
        while rank < ranks and not deeper:
            other = _ranked(guide, item, agents, rank)
            rank += 1
            spent = stack[at + _REST] + _regret(guide, item, other)
            if spent >= least:
                rank = ranks  # regrets only get larger
            else:
                seen = other == origin
                for t in range(depth + 1):
                    seen = seen or stack[_FIELDS * t + _AGENT] == other
                if not seen:
                    looks += 1
                    there = _charge(excess[other], low[other], high[other])
                    left = excess[other] + _load(guide, item, other)
                    cost = spent + _charge(left, low[other], high[other]) - there + opened + before
                    if cost < least:
                        least = cost
                        found = _keep_chain(stack, chain, depth + 1, item, other)
                    deeper = depth + 1 < _EJECTIONS and firsts[other] != _NOBODY
                    deeper = deeper and spent - there < least and looks < most
        if deeper:
            stack[at + _RANK] = rank
            depth += 1
            at = _FIELDS * depth
            stack[at + _JOB] = item
            stack[at + _AGENT] = other
            stack[at + _SUM] = spent
            stack[at + _ITEM] = firsts[other]
            stack[at + _RANK] = _NOBODY
        else:
            stack[at + _ITEM] = nexts[item]
            stack[at + _RANK] = _NOBODY
            if nexts[item] == firsts[here] or looks >= most:
                depth -= 1
    return found


@inlined
def _set_charges(guide: Any, low: Any, high: Any, stage: Any, depth: Any) -> None:
    """Charges of a stage: 2**-depth of what loads are worth at first, twice as much after each _STAGES."""
    jobs = guide.shape[0] - 1
    share = (_STAGES + stage % _STAGES) << (stage // _STAGES)
    whole = np.int64(_STAGES) << depth
    for agent in range(low.shape[0]):
        low[agent] = np.int64(guide[jobs, agent, 0]) * min(share, whole) // whole
        high[agent] = np.int64(guide[jobs, agent, 1]) * share // whole + 1


def search(self: Any, x: Any, state: Any, guide: Any, work: Any, length: Any, key: Any, stop: Any) -> None:
    """The local search of a generalized assignment: x becomes the fittest solution met, and is one of them.

    x [jobs], state [2 + agents], work [numbers_of_work]; draws: one call for all, one for each chain.
    """
    jobs, agents = self.jobs, len(self.capacities)
    excess = state[2:]
    nexts, formers, best = part(work, 0, jobs), part(work, jobs, jobs), part(work, 2 * jobs, jobs)
    firsts = part(work, _place(jobs, agents, _FIRSTS), agents)
    low, high = part(work, _place(jobs, agents, _LOW), agents), part(work, _place(jobs, agents, _HIGH), agents)
    chain = part(work, _place(jobs, agents, _STACK) + _CHAIN, 2 * (_EJECTIONS + 1))
    ranks = min(np.int64(RANKS), np.int64(agents))
    unfitness, cost = state[1], -self.sign * state[0]
    for agent in range(agents):
        firsts[agent] = _NOBODY
    for job in range(jobs):
        best[job] = x[job]
        if not _is_ranked(guide, job, agents, ranks, best[job]):  # as in a random solution
            agent = _ranked(guide, job, agents, 0)
            move_job(self, job, np.int64(x[job]), agent, state)
            x[job] = agent
        _link(nexts, formers, firsts, job, np.int64(x[job]))
    r0, r1, _, _ = numbers(key, 0)
    depth = 1 + below(r0, _DEPTH)
    warmth = np.int64(guide[jobs, agents, 0]) >> (_WARMEST + below(r1, _COOLEST - _WARMEST + 1))
    stages = (depth + _HEIGHT) * _STAGES
    for stage in range(stages):
        _set_charges(guide, low, high, stage, depth)
        left = stages - stage
        heat = warmth * left * left // (stages * stages)
        for turn in range(length * stage // stages, length * (stage + 1) // stages):
            if must_leave(stop):
                break
            r0, r1, r2, r3 = numbers(key, 1 + turn)
            job = below(r0, jobs)
            origin = np.int64(x[job])
            agent = _ranked(guide, job, agents, min(below(r1, ranks), below(r2, ranks)))
            if agent == origin:
                continue
            # About an exponential variable, of whole numbers only.
            number = np.int64(r3)
            patience = (heat * ((lowest_one(number | (1 << 20)) << 12) + (number >> 20))) >> 12
            moves = _find_chain(guide, excess, work, job, origin, agent, patience, _LOOKS)
            for t in range(moves):
                job, agent = chain[2 * t], chain[2 * t + 1]
                _unlink(nexts, formers, firsts, job, np.int64(x[job]))
                _link(nexts, formers, firsts, job, agent)
                move_job(self, job, np.int64(x[job]), agent, state)
                x[job] = agent
            if state[1] < unfitness or (state[1] == unfitness and -self.sign * state[0] < cost):
                unfitness, cost = state[1], -self.sign * state[0]
                for k in range(jobs):
                    best[k] = x[k]
    for k in range(jobs):
        if x[k] != best[k]:
            move_job(self, k, np.int64(x[k]), best[k], state)
            x[k] = best[k]
