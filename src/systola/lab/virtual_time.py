"""Demes on a torus in virtual time: the compiled events of `simulation`.

A stretch is what a deme computes from one migration to the next. Asynchronous demes take turns by the ends of their
stretches, the earliest first; what a deme does at such a moment is decided by what has happened until then, and what
it costs delays the deme, not its messages. Synchronous demes make their stretches together.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from systola.jit.compile import called, inlined, kernel
from systola.model.rng import SEARCH, STEP, draw

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]

SENT, RECEIVED, SKIPPED, HELD, OVERWRITTEN, INJECTED = range(6)  # places in Demes.counts
_UNIT = 2.0**-32
_RANDOM = math.inf  # the gap that a random solution is taken for: it lifts nobody


class Rules(NamedTuple):
    """What holds for all demes."""

    seed: np.uint64
    iterations: int  # of a deme that is done
    iteration_seconds: float
    spread: float
    stall_chance: float
    stall_seconds: float
    transfer_seconds: float  # from post to arrival
    export_seconds: float
    import_seconds: float
    probe_seconds: float
    barrier_seconds: float
    export_interval: int
    import_interval: int
    rate: int
    export_probability: float
    improvements: float
    hardness: float
    stride: float


class Demes(NamedTuple):
    """What the demes are at; a row for each.

    A link is the queue of messages from one neighbour, a ring of `slots` places; the pool is a ring, too. Messages and
    pooled solutions are known by their gap.
    """

    neighbours: _Integers  # (demes, 4): up, down, left, right
    heap: _Integers  # demes by the ends of their stretches
    began: _Floats  # when the stretch under way began
    clock: _Floats  # when it ends
    made: _Integers  # iterations before it
    stretch: _Integers  # its number
    communication: _Floats  # seconds
    gap: _Floats
    improved: npt.NDArray[np.bool_]  # since the last export
    used: _Integers  # slots
    pool: _Floats  # (demes, pool)
    pool_first: _Integers
    pool_size: _Integers
    arrivals: _Floats  # (demes, 4, slots)
    elites: _Floats  # (demes, 4, slots)
    link_first: _Integers  # (demes, 4)
    link_size: _Integers  # (demes, 4)
    counts: _Integers
    thresholds: _Floats
    reached: _Floats  # when the first deme had this gap
    reached_after: _Integers  # and how many iterations it had made


@inlined
def next_migration(rules: Any, made: Any) -> Any:
    """After how many iterations a deme that has made so many exports or imports."""
    return min(
        (made // rules.export_interval + 1) * rules.export_interval,
        (made // rules.import_interval + 1) * rules.import_interval,
    )


@inlined
def stretch_seconds(rules: Any, deme: Any, stretch: Any, iterations: Any) -> Any:
    """How long a stretch takes: log-normal around its mean, and now and then a stall."""
    r0, r1, r2, _ = draw(rules.seed, STEP, stretch, deme, 0)
    normal = math.sqrt(-2.0 * math.log((float(r0) + 1.0) * _UNIT)) * math.cos(2.0 * math.pi * (float(r1) * _UNIT))
    seconds = iterations * rules.iteration_seconds * math.exp(rules.spread * (normal - 0.5 * rules.spread))
    return seconds + rules.stall_seconds if float(r2) * _UNIT < rules.stall_chance else seconds


@called
def _search(rules: Any, demes: Any, deme: Any, iterations: Any) -> Any:
    """Inject one solution an iteration, as long as there are any; then perhaps find a better one."""
    for _ in range(min(iterations, demes.pool_size[deme])):
        first = demes.pool_first[deme]
        if demes.pool[deme, first] < demes.gap[deme]:
            demes.gap[deme] = demes.pool[deme, first]
            demes.improved[deme] = True
        demes.pool_first[deme] = first + 1 if first + 1 < demes.pool.shape[1] else 0
        demes.pool_size[deme] -= 1
        demes.counts[INJECTED] += 1
    r0, r1, _, _ = draw(rules.seed, SEARCH, demes.stretch[deme], deme, 0)
    expected = iterations * rules.improvements * demes.gap[deme] ** rules.hardness
    if float(r0) * _UNIT >= 1.0 - math.exp(-expected):
        return
    demes.gap[deme] *= 1.0 - rules.stride * (float(r1) * _UNIT)
    demes.improved[deme] = True
    for k in range(len(demes.thresholds)):
        if demes.gap[deme] <= demes.thresholds[k] and demes.clock[deme] < demes.reached[k]:
            demes.reached[k] = demes.clock[deme]
            demes.reached_after[k] = demes.made[deme] + iterations


@called
def _export(rules: Any, demes: Any, deme: Any, time: Any) -> Any:
    """Post a message to each neighbour for which a slot is free, unless the deme holds; how many were posted."""
    _, _, r2, _ = draw(rules.seed, SEARCH, demes.stretch[deme], deme, 0)
    if not demes.improved[deme] and float(r2) * _UNIT >= rules.export_probability:
        demes.counts[HELD] += 1
        return 0
    posted = 0
    slots = demes.arrivals.shape[2]
    for direction in range(4):
        if demes.used[deme] == slots:
            demes.counts[SKIPPED] += 1
            continue
        other, link = demes.neighbours[deme, direction], direction ^ 1  # what goes up arrives from below
        place = demes.link_first[other, link] + demes.link_size[other, link]
        if place >= slots:
            place -= slots
        demes.arrivals[other, link, place] = time + rules.transfer_seconds
        demes.elites[other, link, place] = demes.gap[deme] if demes.improved[deme] else _RANDOM
        demes.link_size[other, link] += 1
        demes.used[deme] += 1
        posted += 1
    demes.counts[SENT] += posted
    if posted:
        demes.improved[deme] = False
    return posted


@called
def _import(rules: Any, demes: Any, deme: Any, time: Any) -> Any:
    """Move the solutions of all messages that have arrived into the pool; how many messages there were."""
    received = 0
    slots = demes.arrivals.shape[2]
    for link in range(4):
        while demes.link_size[deme, link]:
            first = demes.link_first[deme, link]
            if demes.arrivals[deme, link, first] > time:
                break
            demes.link_first[deme, link] = first + 1 if first + 1 < slots else 0
            demes.link_size[deme, link] -= 1
            demes.used[demes.neighbours[deme, link]] -= 1
            received += 1
            _keep(demes, deme, demes.elites[deme, link, first])
            for _ in range(rules.rate - 1):
                _keep(demes, deme, _RANDOM)
    demes.counts[RECEIVED] += received
    return received


@inlined
def _keep(demes: Any, deme: Any, gap: Any) -> Any:
    """A solution enters the pool, if need be in place of the oldest."""
    room = demes.pool.shape[1]
    place = demes.pool_first[deme] + demes.pool_size[deme]
    if place >= room:
        place -= room
    demes.pool[deme, place] = gap
    if demes.pool_size[deme] < room:
        demes.pool_size[deme] += 1
    else:
        demes.pool_first[deme] = place + 1 if place + 1 < room else 0
        demes.counts[OVERWRITTEN] += 1


@inlined
def _begin(rules: Any, demes: Any, deme: Any, time: Any) -> Any:
    """The next stretch of a deme begins."""
    iterations = next_migration(rules, demes.made[deme]) - demes.made[deme]
    demes.began[deme] = time
    demes.clock[deme] = time + stretch_seconds(rules, deme, demes.stretch[deme], iterations)


@kernel
def begin(rules: Any, demes: Any) -> Any:
    """The first stretch of all demes begins."""
    for deme in range(len(demes.clock)):
        _begin(rules, demes, deme, 0.0)


@kernel
def advance_freely(rules: Any, demes: Any, events: Any) -> Any:
    """So many stretches of asynchronous demes, the earliest first; whether one of the demes is done."""
    for _ in range(events):
        deme = demes.heap[0]
        time = demes.clock[deme]
        made = next_migration(rules, demes.made[deme])
        _search(rules, demes, deme, made - demes.made[deme])
        spent = 0.0
        if made % rules.export_interval == 0:
            spent += _export(rules, demes, deme, time) * rules.export_seconds
        if made % rules.import_interval == 0:
            spent += rules.probe_seconds + _import(rules, demes, deme, time) * rules.import_seconds
        demes.communication[deme] += spent
        demes.made[deme] = made
        demes.stretch[deme] += 1
        _begin(rules, demes, deme, time + spent)
        if made >= rules.iterations:
            return True
        _sift(demes.heap, demes.clock)
    return False


@inlined
def _sift(heap: Any, clock: Any) -> Any:
    """The first of a heap has a later time now, and sinks to its place; of equal times the lower deme is first."""
    deme, size = heap[0], len(heap)
    time = clock[deme]
    hole, child = 0, 1
    while child < size:
        other = heap[child]
        if child + 1 < size:
            right = heap[child + 1]
            if clock[right] < clock[other] or (clock[right] == clock[other] and right < other):
                child, other = child + 1, right
        if time < clock[other] or (time == clock[other] and deme < other):
            break
        heap[hole] = other
        hole, child = child, 2 * child + 1
    heap[hole] = deme


@kernel
def advance_together(rules: Any, demes: Any, stretches: Any) -> Any:
    """So many stretches of all synchronous demes, a barrier before each export and import; whether all are done."""
    size = len(demes.clock)
    for _ in range(stretches):
        made = next_migration(rules, demes.made[0])
        for deme in range(size):
            _search(rules, demes, deme, made - demes.made[deme])
            demes.began[deme] = demes.clock[deme]  # of its communication, from here on
        if made % rules.export_interval == 0:
            time = demes.clock.max() + rules.barrier_seconds
            for deme in range(size):
                posted = _export(rules, demes, deme, time)
                demes.clock[deme] = time + posted * rules.export_seconds
                if posted:  # a blocking send returns when its message has arrived
                    demes.clock[deme] += rules.transfer_seconds
        if made % rules.import_interval == 0:
            time = demes.clock.max() + rules.barrier_seconds
            for deme in range(size):
                received = _import(rules, demes, deme, time)
                demes.clock[deme] = time + rules.probe_seconds + received * rules.import_seconds
        for deme in range(size):
            demes.communication[deme] += demes.clock[deme] - demes.began[deme]
            demes.made[deme] = made
            demes.stretch[deme] += 1
            _begin(rules, demes, deme, demes.clock[deme])
        if made >= rules.iterations:
            return True
    return False
