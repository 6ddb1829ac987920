"""Neighbours of a flowshop's schedule, measured side by side.

What is kept of a schedule, its *outlook*, is when each machine gets free after each number of jobs and what has been
counted up to there, one line for each machine and count (see `passage`); then, for the makespan alone, how long it
takes each machine from each job to the end, and how late the end is for the release dates of the jobs to come. A
neighbour shares the beginning with the schedule, and neighbours that differ in where one job is put share the jobs that
follow, too: they pass the machines together, as one vector.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from systola.kernel import called, inlined
from systola.lines import VECTOR, narrow, padded, part
from systola.passage import COUNTS, breadth, meet, pass_job, pass_run
from systola.problem import better

MAKESPAN, TARDINESS = 0, 1  # measures are counted so; tardy jobs and flow time come after
_NOWHERE = -1


@inlined
def _width(jobs: Any) -> Any:
    return padded(jobs + 1)


def numbers_of_outlook(jobs: int, machines: int) -> int:
    """How many numbers an outlook has."""
    return (2 * machines + COUNTS + 1) * padded(jobs + 1)


def numbers_of_work(jobs: int, machines: int) -> int:
    """How many numbers a lane needs to look around: a front, an outlook without one job, the other jobs."""
    return numbers_of_front(machines) + numbers_of_outlook(jobs, machines) + padded(jobs + 1)


def numbers_of_front(machines: int) -> int:
    """How many numbers a front has."""
    return (machines + COUNTS) * VECTOR


@inlined
def _rest_of(machines: Any, width: Any) -> Any:
    """Where a lane's work has the other jobs."""
    return (machines + COUNTS) * VECTOR + (2 * machines + COUNTS + 1) * width


@called
def _look_ahead(problem: Any, lines: Any, at: Any, jobs: Any, of: Any, first: Any, last: Any) -> None:
    """Lines of an outlook after each of the jobs jobs[of + first], ..., jobs[of + last - 1]; those before are known."""
    n, m = problem.times.shape
    width = _width(n)
    for t in range(first, last):
        job = np.int64(jobs[of + t])
        now = np.int64(problem.ready[job])
        for k in range(m):
            place = at + k * width + t
            now = max(now, np.int64(lines[place])) + problem.lengths[job * m + k]
            lines[place + 1] = narrow(now, lines)
        place = at + m * width + t
        lines[place + 1] = narrow(lines[place] + max(0, now - problem.ends[job]), lines)
        place += width
        lines[place + 1] = narrow(lines[place] + (1 if now > problem.ends[job] else 0), lines)
        place += width
        lines[place + 1] = narrow(lines[place] + now - problem.ready[job], lines)


@called
def _look_back(problem: Any, lines: Any, at: Any, jobs: Any, of: Any, last: Any) -> None:
    """How long it takes each machine from each of the jobs jobs[of], ..., jobs[of + last - 1] to the end.

    The line behind says when the end is at least, because of when these jobs are there.
    """
    n, m = problem.times.shape
    width = _width(n)
    tails = at + (m + COUNTS) * width
    ends = tails + m * width
    for k in range(m + 1):
        lines[tails + k * width + last] = 0
    for t in range(last - 1, -1, -1):
        job = np.int64(jobs[of + t])
        left = np.int64(0)
        for k in range(m - 1, -1, -1):
            place = tails + k * width + t
            left = max(left, np.int64(lines[place + 1])) + problem.lengths[job * m + k]
            lines[place] = narrow(left, lines)
        lines[ends + t] = narrow(max(np.int64(lines[ends + t + 1]), problem.ready[job] + left), lines)


@inlined
def _report(problem: Any, work: Any, lane: Any, trial: Any, row: Any) -> None:
    """The measures of a schedule whose jobs have all passed, in the problem's order."""
    m = problem.times.shape[1]
    for k in range(trial.shape[1]):
        which = problem.order[k]
        trial[row, k] = work[VECTOR * (m - 1 if which == MAKESPAN else m + which - TARDINESS) + lane]


@called
def _move_alone(problem: Any, x: Any, row: Any, i: Any, j: Any, outlook: Any, work: Any) -> None:
    """The front of the neighbour in which the job in place i comes to place j: from the first place that changes."""
    n, m = problem.times.shape
    width = _width(n)
    front = part(work, 0, (m + COUNTS) * VECTOR)
    begin = min(i, j)
    for k in range(m + COUNTS):
        front[VECTOR * k] = outlook[k * width + begin]
    for t in range(begin, n):
        source = t
        if t == j:
            source = i
        elif i <= t < j:
            source = t + 1
        elif j < t <= i:
            source = t - 1
        job = np.int64(x[row, source])
        pass_job(front, 1, part(problem.lengths, job * m, m), problem.ends[job], problem.ready[job])


@called
def _take_out(problem: Any, x: Any, row: Any, i: Any, outlook: Any, work: Any) -> None:
    """The outlook of x[row] without the job in place i, behind the front in `work`, and the jobs behind that."""
    n, m = problem.times.shape
    width = _width(n)
    at = (m + COUNTS) * VECTOR
    rest = _rest_of(m, width)
    for t in range(n - 1):
        work[rest + t] = x[row, t if t < i else t + 1]
    for k in range(m + COUNTS):
        for t in range(i + 1):
            work[at + k * width + t] = outlook[k * width + t]
    _look_ahead(problem, work, at, work, rest, i, n - 1)
    if problem.alone:
        _look_back(problem, work, at, work, rest, n - 1)


@called
def _try_places(problem: Any, job: Any, first: Any, last: Any, count: Any, work: Any) -> None:
    """A front for the schedules in which the job comes before place `first`, ..., `last` - 1 of the `count` others."""
    n, m = problem.times.shape
    width = _width(n)
    at = (m + COUNTS) * VECTOR
    front = part(work, 0, at)
    for k in range(m + COUNTS):
        for lane in range(breadth(work)):
            front[VECTOR * k + lane] = work[at + k * width + first + lane]
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


def look(self: Any, x: Any, row: Any, outlook: Any) -> None:
    """The outlook of x[row]."""
    n, m = self.times.shape
    for k in range(m + COUNTS):
        outlook[k * _width(n)] = 0
    _look_ahead(self, outlook, 0, x[row], 0, 0, n)


def survey_insertions(
    self: Any, x: Any, row: Any, i: Any, first: Any, last: Any, fresh: Any, outlook: Any, work: Any, trial: Any, at: Any
) -> None:
    """See `increments.survey_insertions`."""
    if breadth(work) == 1 or last - first == 1:
        for j in range(first, last):
            _move_alone(self, x, row, i, j, outlook, work)
            _report(self, work, 0, trial, at + j - first)
        return
    if fresh:
        _take_out(self, x, row, i, outlook, work)
    _try_places(self, np.int64(x[row, i]), first, last, len(self.times) - 1, work)
    for lane in range(last - first):
        _report(self, work, lane, trial, at + lane)


def find_place(self: Any, x: Any, row: Any, count: Any, item: Any, work: Any, trial: Any, at: Any) -> Any:
    """See `increments.find_place`."""
    n, m = self.times.shape
    lines = (m + COUNTS) * VECTOR
    rest = _rest_of(m, _width(n))
    for t in range(count):
        work[rest + t] = x[row, t]
    for k in range(m + COUNTS):
        work[lines + k * _width(n)] = 0
    _look_ahead(self, work, lines, work, rest, 0, count)
    if self.alone:
        _look_back(self, work, lines, work, rest, count)
    place = np.int64(_NOWHERE)
    together = breadth(work)
    for first in range(0, count + 1, together):
        last = first + 1 if together == 1 else min(first + together, count + 1)
        _try_places(self, np.int64(item), first, last, count, work)
        for lane in range(last - first):
            _report(self, work, lane, trial, at + 1)
            if place == _NOWHERE or better(self, trial[at + 1], trial[at]):
                place = np.int64(first + lane)
                for k in range(trial.shape[1]):
                    trial[at, k] = trial[at + 1, k]
    return place
