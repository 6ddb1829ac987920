"""A team of threads, as compiled code sees it: they get orders, share out the work, and meet at a barrier.

All of it is one array of int64 that the threads share. Thread 0 is the caller's; it gives the orders. The others wait
for them in compiled code, since calling a kernel from Python takes as long as several steps. Whoever waits for long
returns to Python, where it can sleep.

The work is numbered. Each thread has a share of it, the same one every time, so that what it works on stays in that
core's cache; who is done with its own helps the others. Results must not depend on who did what.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from systola.jit.atomics import fetch_add, give_way, load, pause, store
from systola.jit.compile import inlined

_LINE = 8  # numbers in a cache line: what different threads write must not share one
_ARRIVED, _PASSED, _ORDER, _MEMBERS = range(0, 4 * _LINE, _LINE)
BROKEN, OUTCOME = _PASSED + 1, _PASSED + 2  # who waits there has fetched them, too
# An order: what to do, how many threads do it, for which part of the work; two numbers more; how much to take at once.
KIND, THREADS, LOW, HIGH, FIRST, COUNT, _PART = range(_ORDER, _ORDER + 7)
# A thread's line: its share of the work, of which it is to do what comes next, in every other step the one or the other
# of two numbers; how many orders there were for it, and how many it has seen; if it sleeps.
_BEGIN, _END, _NEXT, _NEXT_THEN, _CALLED, _SEEN, ASLEEP = range(7)

STOP = 0  # the order to leave; others are the kernel's
SLEEP, EXIT = range(2)  # what a kernel returns to a thread that is not the caller's: sleep, or end
_PARTS = 8  # in so many parts a thread takes its share
_SPINS, _LOOKS = 500, 2000  # looks at what is waited for before giving way to others; and before going to sleep


def new_team(threads: int) -> NDArray[np.int64]:
    """A team that has no order yet."""
    return np.zeros(_MEMBERS + threads * _LINE, np.int64)


def member(me: int) -> int:
    """Where a thread's own line begins."""
    return _MEMBERS + me * _LINE


def publish(team: NDArray[np.int64], order: tuple[int, ...], threads: int) -> None:
    """Let so many threads, the caller's included, see an order.

    Only those who are to carry it out: the next order is written when they have met, and nobody else may still look.
    """
    team[_ORDER : _ORDER + len(order)] = order
    share_out(team)
    for me in range(1, threads):
        team[member(me) + _CALLED] += 1


@inlined
def await_order(team: Any, me: Any) -> Any:
    """Wait for the next order; false if none comes for long, and the thread should go and sleep."""
    mine = _MEMBERS + me * _LINE
    seen = team[mine + _SEEN]
    looks = 0
    while load(team, mine + _CALLED) == seen:
        looks += 1
        pause()
        if looks > _SPINS:
            give_way()
        if looks > _LOOKS:
            # Said before looking once more: either it is seen here, or the caller sees that this thread sleeps.
            fetch_add(team, mine + ASLEEP, 1)
            if load(team, mine + _CALLED) == seen:
                return False
            fetch_add(team, mine + ASLEEP, -1)
    team[mine + _SEEN] = seen + 1
    return True


@inlined
def share_out(team: Any) -> None:
    """Give every thread its share of the work from LOW to HIGH; by one thread, while the others wait."""
    low, width, threads = team[LOW], team[HIGH] - team[LOW], team[THREADS]
    team[_PART] = max(width // (threads * _PARTS), 1) if threads > 1 else width
    for k in range(threads):
        mine = _MEMBERS + k * _LINE
        team[mine + _BEGIN] = team[mine + _NEXT] = team[mine + _NEXT_THEN] = low + width * k // threads
        team[mine + _END] = low + width * (k + 1) // threads


@inlined
def next_part(team: Any, owner: Any) -> Any:
    """The next part of a thread's share, from first to last; there is none when both are the same."""
    mine = _MEMBERS + owner * _LINE
    end, place = team[mine + _END], mine + _NEXT + (team[_PASSED] & 1)
    if load(team, place) >= end:
        return end, end
    first = min(fetch_add(team, place, team[_PART]), end)
    return first, min(first + team[_PART], end)


@inlined
def neighbour(team: Any, me: Any, k: Any) -> Any:
    """Whose share comes next after k others: one's own first."""
    return me + k if me + k < team[THREADS] else me + k - team[THREADS]


@inlined
def arrive(team: Any, me: Any) -> Any:
    """Wait for all others: 1 for the last one, which goes on alone until it calls `release`; 0 for others after that.

    -1 if the team is broken up, since one of them has failed and will not come.
    """
    passed = load(team, _PASSED)
    # One's own share is made whole for the step to come: if the last one did it for all, all would wait for that.
    mine = _MEMBERS + me * _LINE
    team[mine + _NEXT_THEN - (passed & 1)] = team[mine + _BEGIN]
    if fetch_add(team, _ARRIVED, 1) == team[THREADS] - 1:
        return 1
    looks = 0
    while load(team, _PASSED) == passed:
        if load(team, BROKEN) != 0:
            return -1
        looks += 1
        pause()
        if looks > _SPINS:
            give_way()
    return 0


@inlined
def release(team: Any) -> None:
    """Let the others go on, each with its share of the work."""
    store(team, _ARRIVED, 0)
    fetch_add(team, _PASSED, 1)
