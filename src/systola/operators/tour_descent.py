"""2-opt and or-opt with candidate lists: Bentley 1992; Johnson, McGeoch 1997.

Cities whose links have changed wait in a queue (the reverse of don't-look bits). For each that is taken out, changes
are tried that give it a better link; the first improvement is made, and the cities that it touches are queued again.
Where links are symmetric a change is a reversal, or a segment of up to three cities put elsewhere, either way round;
otherwise longer segments are put elsewhere, and never reversed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from systola.jit.compile import called, inlined
from systola.jit.stop_flag import must_leave
from systola.model.structure.chain import user_link
from systola.operators.tour import (
    city_after,
    city_before,
    exchange_segments,
    is_full,
    reverse_path,
    steps_between,
)

HEAD, SIZE = 0, 1  # of a queue: where its first city is, and how many there are; then the cities, and who is in it
QUEUE = 2
_SLACK = 1e-12  # of floats: an improvement smaller than this share is rounding


@inlined
def queue_city(queue: Any, n: Any, city: Any) -> None:
    """Let a city wait, unless it does already."""
    if queue[QUEUE + n + city] == 0:
        queue[QUEUE + n + city] = 1
        at = np.int64(queue[HEAD]) + np.int64(queue[SIZE])
        queue[QUEUE + (at if at < n else at - n)] = city
        queue[SIZE] += 1


@inlined
def _next_city(queue: Any, n: Any) -> Any:
    city = np.int64(queue[QUEUE + queue[HEAD]])
    queue[HEAD] = queue[HEAD] + 1 if queue[HEAD] + 1 < n else 0
    queue[SIZE] -= 1
    queue[QUEUE + n + city] = 0
    return city


@inlined
def _improves(removed: Any, added: Any) -> Any:
    return removed > added and removed - added > _SLACK * abs(removed)


@inlined
def _queue_four(queue: Any, n: Any, a: Any, b: Any, c: Any, d: Any) -> None:
    queue_city(queue, n, a)
    queue_city(queue, n, b)
    queue_city(queue, n, c)
    queue_city(queue, n, d)


@inlined  # a call would copy all of its many numbers
def _try_reversals(part: Any, problem: Any, tour: Any, lists: Any, city: Any) -> Any:
    """2-opt: a better link for a city instead of the one after or before it; what is gained."""
    x, place, log, queue = tour
    near, lengths, count = lists
    n = np.int64(x.shape[0])
    for backwards in range(2):
        other = city_before(x, place, city) if backwards else city_after(x, place, city)
        cost = user_link(part, problem, city, other)
        for q in range(count):
            new = lengths[city * count + q]
            if new >= cost:
                break
            third = np.int64(near[city * count + q])
            fourth = city_before(x, place, third) if backwards else city_after(x, place, third)
            removed = cost + user_link(part, problem, third, fourth)
            added = new + user_link(part, problem, other, fourth)
            if _improves(removed, added):
                if backwards:
                    reverse_path(x, place, log, city, fourth)
                else:
                    reverse_path(x, place, log, other, third)
                _queue_four(queue, n, city, other, third, fourth)
                return removed - added
    return 0


@called
def _try_segments(part: Any, problem: Any, tour: Any, lists: Any, city: Any, longest: Any) -> Any:
    """Or-opt: a segment that a city begins or ends is put where the city gets a better link; what is gained."""
    x, place, log, queue = tour
    near, lengths, count = lists
    n = np.int64(x.shape[0])
    size = n * count
    for begins in range(2):
        # The city ends the segment [far .. city], or begins [city .. far]; near lists are of the link that it gets.
        at = city * count + (size if begins and near.shape[0] >= 2 * size else np.int64(0))
        far = city
        for length in range(1, longest + 1):
            if length > 1:
                far = city_after(x, place, far) if begins else city_before(x, place, far)
            first, last = (city, far) if begins else (far, city)
            left, right = city_before(x, place, first), city_after(x, place, last)
            loose = user_link(part, problem, left, first) + user_link(part, problem, last, right)
            loose -= user_link(part, problem, left, right)
            for q in range(count):
                new = lengths[at + q]
                if new >= loose:
                    break
                third = np.int64(near[at + q])
                if steps_between(x, place, first, third) < length:
                    continue
                # As it is: city, then third (or third, then city).
                fourth = city_after(x, place, third) if begins else city_before(x, place, third)
                if third != (left if begins else right):
                    if begins:
                        removed = loose + user_link(part, problem, third, fourth)
                        added = new + user_link(part, problem, last, fourth)
                    else:
                        removed = loose + user_link(part, problem, fourth, third)
                        added = new + user_link(part, problem, fourth, first)
                    if _improves(removed, added):
                        exchange_segments(x, place, log, first, right, fourth if begins else third)
                        _queue_four(queue, n, left, right, third, fourth)
                        _queue_four(queue, n, first, last, first, last)
                        return removed - added
                if not part.symmetric:
                    continue
                # The other way round.
                fourth = city_before(x, place, third) if begins else city_after(x, place, third)
                if third != (right if begins else left):
                    removed = loose + user_link(part, problem, third, fourth)
                    added = new + user_link(part, problem, far, fourth)
                    if _improves(removed, added):
                        exchange_segments(x, place, log, first, right, third if begins else fourth)
                        reverse_path(x, place, log, first, last)
                        _queue_four(queue, n, left, right, third, fourth)
                        _queue_four(queue, n, first, last, first, last)
                        return removed - added
    return 0


@called
def descend(part: Any, problem: Any, tour: Any, lists: Any, longest: Any, stop: Any) -> Any:
    """Improve a tour (x, place, log, queue) until no city waits, or the log is full; by how much it is shorter.

    `lists` are the candidates of all cities, what the links to them cost, and how many each city has.
    """
    x, _, log, queue = tour
    n = np.int64(x.shape[0])
    total = 0
    while queue[SIZE] > 0:
        city = _next_city(queue, n)
        if must_leave(stop):
            return total
        gained = 0
        if part.symmetric:
            gained = _try_reversals(part, problem, tour, lists, city)
        if gained == 0 and longest > 0:
            gained = _try_segments(part, problem, tour, lists, city, longest)
        if gained != 0:
            total += gained
            queue_city(queue, n, city)
            if is_full(log):
                while queue[SIZE] > 0:
                    _next_city(queue, n)
    return total
