"""Beam search for the makespan of large flowshops, from both ends of the order: Libralesso, Focke, Secardin, Jost 2022.

A node is an order of which the first jobs are known, and the last ones. A job that comes next to either of them makes a
child; which end is extended is decided for each node: the one with fewer children that may still beat the best order
known, or else the one whose children have the larger bounds. Of all children of a level the most promising go on, as
many as the beam is wide. What a child promises is its bound, and, the more the fewer jobs are placed, how long machines
have been idle. Some beams are better by luck than wider ones, so that several are made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from systola.jit.compile import called, kernel
from systola.model.encodings import Array
from systola.problems.limits import NARROW

_FEWEST_JOBS, _JOBS_A_MACHINE = 200, 10  # with fewer, iterated greedy is as good without it
_WORK = 2**31  # squares of jobs, times machines, times width: all beams together take some seconds
_WIDEST = 2048
_IDLE_WEIGHTS = (0, 3, 10)  # hundredths of the mean idle time of a machine, of which a beam is made each
_HEAD_BOUND, _HEAD_IDLE, _TAIL_BOUND, _TAIL_IDLE, _END, _LINES = range(6)


class Beam(NamedTuple):
    """The nodes of a level, a row for each."""

    heads: Array  # [width, machines] when each machine is free after the first jobs
    tails: Array  # [width, machines] how long each machine takes from the last jobs on
    left: Array  # [width, machines] the work of jobs that are not placed
    idle: Array  # [width] how long machines wait among the first jobs, and among the last ones
    firsts: Array  # [width] how many jobs are first
    placed: Array  # [width, jobs]
    orders: Array  # [width, jobs] first jobs from the left, last jobs from the right


class Children(NamedTuple):
    """What the nodes of a level lead to."""

    keys: Array  # what each promises, the least the most
    nodes: Array  # whose child it is
    jobs: Array  # which is placed
    is_first: Array  # after the first jobs, or before the last ones


def _make_beam(jobs: int, machines: int, width: int) -> Beam:
    heads, tails, left = (np.zeros((width, machines), np.int32) for _ in range(3))
    idle, firsts = np.zeros(width, np.int64), np.zeros(width, np.int32)
    return Beam(heads, tails, left, idle, firsts, np.zeros((width, jobs), np.bool_), np.zeros((width, jobs), np.int32))


@called
def _look(times: Any, front: Any, other: Any, left: Any, reverse: Any, lines: Any, bound: Any, idle: Any) -> None:
    """Bounds and idle times of the children by each job at one end; from the other end, machines come in reverse."""
    machines, jobs = times.shape
    for job in range(jobs):
        lines[_END, job] = 0
        lines[bound, job] = 0
        lines[idle, job] = 0
    for step in range(machines):
        k = machines - 1 - step if reverse else step
        free = front[k]
        rest = left[k] + other[k]
        for job in range(jobs):
            start = max(lines[_END, job], free)
            end = start + times[k, job]
            lines[idle, job] += start - free
            lines[_END, job] = end
            lines[bound, job] = max(lines[bound, job], rest + start)


def _find_children(
    times: Any, beam: Any, count: Any, depth: Any, weight: Any, limit: Any, lines: Any, children: Any
) -> Any:
    """All children of `count` nodes whose bound is below a limit; how many there are."""
    machines, jobs = times.shape
    found = np.int64(0)
    for node in range(count):
        heads, tails, left = beam.heads[node], beam.tails[node], beam.left[node]
        _look(times, heads, tails, left, False, lines, _HEAD_BOUND, _HEAD_IDLE)
        _look(times, tails, heads, left, True, lines, _TAIL_BOUND, _TAIL_IDLE)
        few = np.int64(0)  # children first less children last, then the sums of their bounds, last less first
        large = np.int64(0)
        for job in range(jobs):
            if not beam.placed[node, job]:
                few += np.int64(lines[_HEAD_BOUND, job] < limit) - np.int64(lines[_TAIL_BOUND, job] < limit)
                large += np.int64(lines[_TAIL_BOUND, job]) - np.int64(lines[_HEAD_BOUND, job])
        is_first = few < 0 or (few == 0 and large <= 0)
        bound = _HEAD_BOUND if is_first else _TAIL_BOUND
        idle = _HEAD_IDLE if is_first else _TAIL_IDLE
        for job in range(jobs):
            if not beam.placed[node, job] and lines[bound, job] < limit:
                waits = (beam.idle[node] + lines[idle, job]) * weight * (jobs - depth)
                children.keys[found] = np.int64(lines[bound, job]) * (100 * machines * jobs) + waits
                children.nodes[found] = node
                children.jobs[found] = job
                children.is_first[found] = is_first
                found += 1
    return found


def _place(times: Any, beam: Any, children: Any, count: Any, least: Any, last: Any, grown: Any) -> Any:
    """The children with keys below `last`, and the first ones with this key, as nodes of `grown`; how many there are.

    `least` is how many keys are below `last`.
    """
    machines, jobs = times.shape
    width = grown.idle.shape[0]
    equals = width - least
    made = np.int64(0)
    for c in range(count):
        key = children.keys[c]
        if key > last or (key == last and equals == 0):
            continue
        if key == last:
            equals -= 1
        node, job, is_first = children.nodes[c], children.jobs[c], children.is_first[c]
        grown.idle[made] = beam.idle[node]
        for k in range(machines):
            grown.heads[made, k] = beam.heads[node, k]
            grown.tails[made, k] = beam.tails[node, k]
            grown.left[made, k] = beam.left[node, k] - times[k, job]
        depth = np.int64(0)
        for j in range(jobs):
            grown.placed[made, j] = beam.placed[node, j]
            grown.orders[made, j] = beam.orders[node, j]
            depth += np.int64(beam.placed[node, j])
        front = grown.heads if is_first else grown.tails
        now = np.int64(0)
        for step in range(machines):
            k = step if is_first else machines - 1 - step
            start = max(now, np.int64(front[made, k]))
            grown.idle[made] += start - front[made, k]
            now = start + times[k, job]
            front[made, k] = now
        firsts = beam.firsts[node]
        grown.orders[made, firsts if is_first else jobs - 1 - (depth - firsts)] = job
        grown.firsts[made] = firsts + (1 if is_first else 0)
        grown.placed[made, job] = True
        made += 1
    return made


find_children = kernel(_find_children, counting=False)
place = kernel(_place, counting=False)


def search_beam(
    times: Array, width: int, weight: int, limit: int = NARROW, must_end: Callable[[], bool] = lambda: False
) -> tuple[Array, int] | None:
    """The best order of a beam, and its makespan.

    Parameters
    ----------
    times
        [machines, jobs], of 32 bits.
    width
        How many nodes a level has at most.
    weight
        Of the mean idle time of a machine beside the bound, in hundredths, before a job is placed.
    limit
        Only makespans below this one are looked for.
    must_end
        Whether to give up.

    Returns
    -------
    tuple or None
        None if there is none.
    """
    machines, jobs = times.shape
    beam, grown = _make_beam(jobs, machines, width), _make_beam(jobs, machines, width)
    beam.left[0] = times.sum(axis=1)
    lines = np.zeros((_LINES, jobs), np.int32)
    room = width * jobs
    children = Children(
        np.zeros(room, np.int64), np.zeros(room, np.int32), np.zeros(room, np.int32), np.zeros(room, np.bool_)
    )
    count = 1
    for depth in range(jobs):
        found = find_children(times, beam, count, depth, weight, limit, lines, children)
        if found == 0 or must_end():
            return None
        keys = children.keys[:found]
        last = int(np.partition(keys, width - 1)[width - 1] if found > width else keys.max())
        count = place(times, beam, children, found, int((keys < last).sum()), last, grown)
        beam, grown = grown, beam
    makespans = (beam.heads[:count] + beam.tails[:count]).max(axis=1)
    best = int(makespans.argmin())
    return beam.orders[best].copy(), int(makespans[best])


def pays(times: Array) -> bool:
    """Whether these orders are better to start from than others, and idle times fit into 31 bits; [jobs, machines]."""
    jobs, machines = times.shape
    end = (jobs + machines - 1) * int(times.max())
    return bool(jobs >= max(_FEWEST_JOBS, _JOBS_A_MACHINE * machines) and machines * end < NARROW)


def orders_by_beams(times: Array, must_end: Callable[[], bool] = lambda: False) -> Iterator[Array]:
    """Better and better orders, the first after some milliseconds: beams of doubling width, each with several weights.

    Parameters
    ----------
    times
        [jobs, machines].
    must_end
        Whether to give up.
    """
    lengths = np.ascontiguousarray(times.T.astype(np.int32))
    machines, jobs = lengths.shape
    widest = min(_WIDEST, _WORK // (jobs * jobs * machines))
    limit, width = NARROW, 1
    while width <= widest:
        for weight in _IDLE_WEIGHTS:
            found = search_beam(lengths, width, weight, limit, must_end)
            if must_end():
                return
            if found is not None:
                order, limit = found
                yield order
        width *= 2


def compile_beams() -> None:
    """Have the kernels at hand."""
    search_beam(np.ones((1, 1), np.int32), 1, 0)
