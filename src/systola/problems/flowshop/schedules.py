"""Neighbours of a flowshop's schedule, measured side by side.

What is kept of a schedule, its *prefix states*, is when each machine gets free after each number of jobs and what has
been counted up to there, one line for each machine and count (see `simd`); then, for the makespan alone, how long it
takes each machine from each job to the end, and how late the end is for the release dates of the jobs to come. A
neighbour shares the beginning with the schedule, and neighbours that differ in where one job is put share the jobs that
follow, too: they pass the machines together, as one vector.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from systola.jit.compile import called, inlined
from systola.model.objective import better
from systola.problems.flowshop.simd import COUNTS, breadth, meet, pass_job, pass_run
from systola.simd.rows import VECTOR_WIDTH, narrow, padded, part, unsigned

MAKESPAN, TARDINESS = 0, 1  # measures are counted so; tardy jobs and flow time come after
_NOWHERE = -1


@inlined
def _width(jobs: Any) -> Any:
    return padded(jobs + 1)


def numbers_of_outlook(jobs: int, machines: int) -> int:
    """How many numbers prefix states have."""
    return (2 * machines + COUNTS + 1) * padded(jobs + 1)


def numbers_of_work(jobs: int, machines: int) -> int:
    """How many numbers a lane needs for insertions: a front, prefix states without one job, the other jobs, and how
    many of them there are."""
    return numbers_of_front(machines) + numbers_of_outlook(jobs, machines) + padded(jobs + 1) + 1


def numbers_of_front(machines: int) -> int:
    """How many numbers a front has."""
    return (machines + COUNTS) * VECTOR_WIDTH


@inlined
def _rest_of(machines: Any, width: Any) -> Any:
    """Where a lane's work has the other jobs."""
    return (machines + COUNTS) * VECTOR_WIDTH + (2 * machines + COUNTS + 1) * width


@called
def _look_ahead(problem: Any, lines: Any, at: Any, jobs: Any, of: Any, first: Any, last: Any) -> None:
    """Prefix states after each of the jobs jobs[of + first], ..., jobs[of + last - 1]; those before are known."""
    n, m = problem.times.shape
    width = _width(n)
    for t in range(first, last):
        job = np.int64(jobs[of + t])
        now = np.int64(problem.ready[job])
        for k in range(m):
            place = at + k * width + t
            now = max(now, np.int64(lines[unsigned(place)])) + problem.lengths[unsigned(job * m + k)]
            lines[unsigned(place + 1)] = narrow(now, lines)
        place = at + m * width + t
        lines[unsigned(place + 1)] = narrow(lines[unsigned(place)] + max(0, now - problem.ends[job]), lines)
        place += width
        lines[unsigned(place + 1)] = narrow(lines[unsigned(place)] + (1 if now > problem.ends[job] else 0), lines)
        place += width
        lines[unsigned(place + 1)] = narrow(lines[unsigned(place)] + now - problem.ready[job], lines)


@called
def _look_back(problem: Any, lines: Any, at: Any, jobs: Any, of: Any, first: Any, last: Any) -> None:
    """How long it takes each machine from each of the jobs jobs[of], ..., jobs[of + first - 1] to the end, which is
    after jobs[of + last - 1]; what comes from job number `first` on is known.

    The line behind says when the end is at least, because of when these jobs are there.
    """
    n, m = problem.times.shape
    width = _width(n)
    tails = at + (m + COUNTS) * width
    ends = tails + m * width
    for k in range(m + 1):
        lines[tails + k * width + last] = 0
    for t in range(first - 1, -1, -1):
        job = np.int64(jobs[of + t])
        left = np.int64(0)
        for k in range(m - 1, -1, -1):
            place = tails + k * width + t
            left = max(left, np.int64(lines[unsigned(place + 1)])) + problem.lengths[unsigned(job * m + k)]
            lines[unsigned(place)] = narrow(left, lines)
        lines[ends + t] = narrow(max(np.int64(lines[ends + t + 1]), problem.ready[job] + left), lines)


@inlined
def _report(problem: Any, work: Any, lane: Any, measures: Any) -> None:
    """The measures of a schedule whose jobs have all passed, in the problem's order."""
    m = problem.times.shape[1]
    for k in range(measures.shape[0]):
        which = problem.order[k]
        measures[k] = work[VECTOR_WIDTH * (m - 1 if which == MAKESPAN else m + which - TARDINESS) + lane]


@called
def _move_alone(problem: Any, x: Any, i: Any, j: Any, prepared: Any, work: Any) -> None:
    """The front of the neighbour in which the job in place i comes to place j: from the first place that changes."""
    n, m = problem.times.shape
    width = _width(n)
    front = part(work, 0, (m + COUNTS) * VECTOR_WIDTH)
    begin = min(i, j)
    for k in range(m + COUNTS):
        front[VECTOR_WIDTH * k] = prepared[k * width + begin]
    for t in range(begin, n):
        source = t
        if t == j:
            source = i
        elif i <= t < j:
            source = t + 1
        elif j < t <= i:
            source = t - 1
        job = np.int64(x[source])
        pass_job(front, 1, part(problem.lengths, job * m, m), problem.ends[job], problem.ready[job])


def remove_item(self: Any, x: Any, i: Any, prepared: Any, work: Any) -> None:
    """The prefix states of x without the job in place i, behind the front in `work`, and the jobs behind that."""
    if breadth(work) == 1:
        return  # neighbours come one at a time, and there is no room for more
    n, m = self.times.shape
    width = _width(n)
    at = (m + COUNTS) * VECTOR_WIDTH
    rest = _rest_of(m, width)
    for t in range(n - 1):
        work[rest + t] = x[t if t < i else t + 1]
    for k in range(m + COUNTS):
        for t in range(i + 1):
            work[at + k * width + t] = prepared[k * width + t]
    _look_ahead(self, work, at, work, rest, i, n - 1)
    if self.alone:
        _look_back(self, work, at, work, rest, n - 1, n - 1)
    work[rest + width] = n - 1


@called
def _try_places(problem: Any, job: Any, first: Any, last: Any, count: Any, work: Any) -> None:
    """A front for the schedules in which the job comes before place `first`, ..., `last` - 1 of the `count` others."""
    n, m = problem.times.shape
    width = _width(n)
    at = (m + COUNTS) * VECTOR_WIDTH
    front = part(work, 0, at)
    for k in range(m + COUNTS):
        for lane in range(breadth(work)):
            front[unsigned(VECTOR_WIDTH * k + lane)] = work[unsigned(at + k * width + first + lane)]
    pass_job(front, last - first, part(problem.lengths, job * m, m), problem.ends[job], problem.ready[job])
    if problem.alone:  # Taillard's acceleration: what comes after is known
        tails = at + (m + COUNTS) * width + first
        meet(front, last - first, part(work, tails, (m + 1) * width - first), width)
        return
    rest = part(work, _rest_of(m, width), count)
    middle = min(last - 1, count)
    for t in range(first, middle):
        job = np.int64(rest[t])
        pass_job(front, t - first + 1, part(problem.lengths, job * m, m), problem.ends[job], problem.ready[job])
    others = part(rest, middle, count - middle)
    pass_run(front, last - first, others, problem.lengths, problem.ends, problem.ready)


def prepare_insertions(self: Any, x: Any, prepared: Any) -> None:
    """The prefix states of x."""
    n, m = self.times.shape
    for k in range(m + COUNTS):
        prepared[k * _width(n)] = 0
    _look_ahead(self, prepared, 0, x, 0, 0, n)


def evaluate_insertions(
    self: Any, x: Any, i: Any, first: Any, last: Any, prepared: Any, work: Any, measures: Any
) -> None:
    """See `model.incremental.evaluate_insertions`."""
    if breadth(work) == 1 or last - first == 1:
        for j in range(first, last):
            _move_alone(self, x, i, j, prepared, work)
            _report(self, work, 0, measures[j - first])
        return
    _try_places(self, np.int64(x[i]), first, last, len(self.times) - 1, work)
    for lane in range(last - first):
        _report(self, work, lane, measures[lane])


@called
def _added_idle_time(problem: Any, job: Any, place: Any, count: Any, work: Any) -> Any:
    """How much longer machines are idle before this job and the next one, if it is put in this place: by this
    Fernandez-Viagas, Framinan 2014 choose among places with the same makespan."""
    n, m = problem.times.shape
    width = _width(n)
    lines = (m + COUNTS) * VECTOR_WIDTH + place
    follower = np.int64(work[_rest_of(m, width) + place]) if place < count else np.int64(_NOWHERE)
    total = np.int64(0)
    now = np.int64(problem.ready[job])  # when the job leaves a machine
    later = np.int64(problem.ready[follower]) if place < count else now  # and when the next one does
    for k in range(m):
        free = np.int64(work[unsigned(lines + k * width)])
        begin = max(now, free)
        now = begin + problem.lengths[unsigned(job * m + k)]
        total += begin - free
        if place < count:
            length = problem.lengths[unsigned(follower * m + k)]
            total += max(later - now, np.int64(0)) - (np.int64(work[unsigned(lines + k * width + 1)]) - length - free)
            later = max(later, now) + length
    return total


def best_insertion(self: Any, x: Any, count: Any, item: Any, work: Any, measures: Any) -> Any:
    """See `model.incremental.best_insertion`."""
    n, m = self.times.shape
    lines = (m + COUNTS) * VECTOR_WIDTH
    rest = _rest_of(m, _width(n))
    known = np.int64(work[rest + _width(n)])  # of so many jobs the lane has the prefix states, from the call before
    same = np.int64(0)
    while same < min(known, count) and work[rest + same] == x[same]:
        same += 1
    after = np.int64(count)
    while known == count and after > same and work[rest + after - 1] == x[after - 1]:
        after -= 1
    for t in range(same, after):
        work[rest + t] = x[t]
    if known == 0:
        for k in range(m + COUNTS):
            work[lines + k * _width(n)] = 0
    _look_ahead(self, work, lines, work, rest, same, count)
    if self.alone:
        _look_back(self, work, lines, work, rest, after, count)
    work[rest + _width(n)] = narrow(count, work)
    place = np.int64(_NOWHERE)
    idle = np.int64(_NOWHERE)  # of the place found, if that was asked for
    together = breadth(work)
    makespans = part(work, VECTOR_WIDTH * (m - 1), VECTOR_WIDTH)  # of the schedules side by side, if that is all
    for first in range(0, count + 1, together):
        last = first + 1 if together == 1 else min(first + together, count + 1)
        _try_places(self, np.int64(item), first, last, count, work)
        for lane in range(last - first):
            if self.alone and place != _NOWHERE and makespans[unsigned(lane)] > measures[0, 0]:
                continue
            _report(self, work, lane, measures[1])
            found = place == _NOWHERE or better(self, measures[1], measures[0])
            waits = np.int64(_NOWHERE)
            if self.alone and not found and measures[1, 0] == measures[0, 0]:
                if idle == _NOWHERE:
                    idle = _added_idle_time(self, np.int64(item), place, count, work)
                waits = _added_idle_time(self, np.int64(item), np.int64(first + lane), count, work)
                found = waits < idle
            if found:
                place = np.int64(first + lane)
                idle = waits
                for k in range(measures.shape[1]):
                    measures[0, k] = measures[1, k]
    return place
