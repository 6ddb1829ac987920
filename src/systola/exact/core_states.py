"""The states of a knapsack's core, and the kernel that lets the core grow item by item.

Items are sorted by efficiency, profit a unit of weight; the *break solution* has all items before the *break item*, the
first that does not fit. The core is an interval of items around it, of which a state is one choice; the others are as
in the break solution. All numbers of a state are differences to that solution. The core grows alternately to the
right, where items may be added, and to the left, where they may be removed (MINKNAP, Pisinger 1997). A state is dropped
if another one weighs no more and earns no less, or if nothing that can follow from it beats the best solution.

What led to a state is kept in 62 bits; when these are full all states are written down, and begin anew with their place
in what was written.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from systola.jit.compile import called, inlined, kernel
from systola.jit.stop_flag import is_asked
from systola.model.encodings import Array

BITS = 62  # decisions in one integer
_PAIRING = 4  # items from one pairing to the next, in the first block
_RELATIVE = 1e-12  # by which sums of a few products of floats are wrong at most

# Places in `Core.now`.
LEFT, RIGHT, COUNT, SIDE, PLACED, STEP, WORK, STATUS = range(8)
BEST, BEST_BLOCK, BEST_MADE, BEST_PARENT, BEST_EXTRA, BEST_WEIGHT, LIMIT, BLOCKS = range(8, 16)
ROOM, BREAK, FILL_WEIGHT, FILL_PROFIT, FILL_MOST, TURN, BEST_STEP = range(16, 23)
NUMBERS = 23
# Places in `Core.prices`.
SHARE, SLACK, WEIGHT_PRICE, GROUP_PRICE, OTHER_LIMIT, OTHER_TOTAL, MARGIN = range(7)
PRICES = 7
# What `STATUS` says.
RUNNING, PROVEN, FULL = range(3)
NO_EXTRA = -1
DEAD = -1e300


class States(NamedTuple):
    """Choices of the core, by ascending weight and ascending profit."""

    weight: Array  # [most]
    profit: Array
    group: Array
    made: Array  # which of the last items were added or removed, a bit each
    parent: Array  # place in the block before


class Core(NamedTuple):
    """The items of a knapsack by efficiency, and how far its core has grown."""

    weights: Array  # [items]
    profits: Array
    groups: Array  # how much an item counts in the sum whose limit has a price
    gains: Array  # [items + 1, 4] the largest efficiency from here on, 0 at the end, and the least one before, endless
    # at the start; of profits less the group's price, and of profits alone
    by_weight: Array  # [items] items by ascending weight
    order: Array  # [items] items in the order in which they came into the core
    block_starts: Array  # [blocks + 1]
    block_made: Array  # [room] what was written down, block after block
    block_parent: Array
    partner: Array  # [2, items] for pairing
    now: Array
    prices: Array


@inlined
def _limit_of(core: Any, weight: Any, profit: Any, group: Any, gains: Any, other_limit: Any) -> Any:
    """What no solution that follows from a state can exceed, in floats that are safely too large.

    There are two cases, that a sum over all items is at most K, and that it is more; each has a bound of its own. In
    the first one efficiencies are of profits less `SHARE` a unit of that sum, and the rest is filled with them. In the
    second one constraints are relaxed, at a price each. In both the rest may be filled by plain efficiencies.
    """
    now, prices = core.now, core.prices
    room = now[ROOM] - weight
    share = prices[SHARE] * group
    if room < 0:
        rest = room * gains[1]
    elif now[FILL_MOST] > 0:
        fits = now[FILL_MOST] * now[FILL_WEIGHT]
        if room > fits:
            rest = now[FILL_MOST] * now[FILL_PROFIT] + (room - fits) * gains[0]
        else:
            rest = room * (now[FILL_PROFIT] / now[FILL_WEIGHT])
    else:
        rest = room * gains[0]
    limit = profit - share + rest + prices[SLACK] + _RELATIVE * (abs(profit) + abs(share) + abs(rest))
    if other_limit > DEAD:
        paid, shared = prices[WEIGHT_PRICE] * weight, prices[GROUP_PRICE] * group
        other = profit - paid - shared + other_limit
        limit = max(limit, other + _RELATIVE * (abs(profit) + abs(paid) + abs(shared)))
    if prices[SHARE] != 0.0:
        rest = room * (gains[2] if room >= 0 else gains[3])
        limit = min(limit, profit + rest + _RELATIVE * (abs(profit) + abs(rest)))
    return limit + prices[MARGIN]


@inlined
def _gains_of(core: Any, left: Any, right: Any) -> Any:
    """Efficiencies of what is outside of an interval of items: to be added and to be removed, in two ways."""
    return core.gains[right, 0], core.gains[left, 1], core.gains[right, 2], core.gains[left, 3]


@inlined
def _worth_of(core: Any, weight: Any, profit: Any) -> Any:
    """The profit of a state that fits, with the items that are put in afterwards."""
    now = core.now
    if now[FILL_MOST] == 0:
        return profit
    return profit + now[FILL_PROFIT] * min(now[FILL_MOST], (now[ROOM] - weight) // now[FILL_WEIGHT])


@inlined
def _note_best(core: Any, worth: Any, weight: Any, made: Any, parent: Any, extra: Any) -> None:
    now = core.now
    now[BEST], now[BEST_WEIGHT], now[BEST_EXTRA] = worth, weight, extra
    now[BEST_BLOCK], now[BEST_MADE], now[BEST_PARENT], now[BEST_STEP] = now[BLOCKS], made, parent, now[STEP] + 1


@inlined
def _free_gain(core: Any, j: Any) -> Any:
    """How much more than in the break solution an item may add to the bound of the second case."""
    prices = core.prices
    reduced = core.profits[j] - prices[WEIGHT_PRICE] * core.weights[j] - prices[GROUP_PRICE] * core.groups[j]
    return max(0.0, reduced) if j >= core.now[BREAK] else max(0.0, -reduced)


@inlined
def _is_settled(core: Any, j: Any) -> Any:
    """Whether the item is as in the break solution in all solutions better than the best one."""
    now, prices, b = core.now, core.prices, core.now[BREAK]
    sign = 1 if j >= b else -1
    weight, profit, group = sign * core.weights[j], sign * core.profits[j], sign * core.groups[j]
    other = prices[OTHER_TOTAL]
    if other > DEAD:
        other -= _free_gain(core, j)
    return _limit_of(core, weight, profit, group, _gains_of(core, b, b), other) < now[BEST] + 1


@called
def _grow(core: Any, old: Any, new: Any, j: Any) -> Any:
    """Let item j into the core: merge the states with those in which it is changed; False if there is no room."""
    now = core.now
    sign = 1 if j >= now[BREAK] else -1
    weight, profit, group = sign * core.weights[j], sign * core.profits[j], sign * core.groups[j]
    bit = np.int64(1) << (now[PLACED] % BITS)
    gains, other = _gains_of(core, now[LEFT], now[RIGHT]), core.prices[OTHER_LIMIT]
    count, room, most = now[COUNT], now[ROOM], len(new.weight)
    i = k = kept = np.int64(0)
    seen = np.int64(-(2**62))
    highest = -1e300
    while i < count or k < count:
        stays = k >= count
        if i < count and not stays:
            here, there = old.weight[i], old.weight[k] + weight
            stays = here < there or (here == there and old.profit[i] >= old.profit[k] + profit)
        if stays:
            w, p, g, made, parent = old.weight[i], old.profit[i], old.group[i], old.made[i], old.parent[i]
            i += 1
        else:
            w, p, g = old.weight[k] + weight, old.profit[k] + profit, old.group[k] + group
            made, parent = old.made[k] | bit, old.parent[k]
            k += 1
        if p <= seen:
            continue
        seen = p
        if w <= room and _worth_of(core, w, p) > now[BEST]:
            _note_best(core, _worth_of(core, w, p), w, made, parent, NO_EXTRA)
        limit = _limit_of(core, w, p, g, gains, other)
        if limit < now[BEST] + 1:
            continue
        if kept == most:
            return False
        highest = max(highest, limit)
        new.weight[kept], new.profit[kept], new.group[kept] = w, p, g
        new.made[kept], new.parent[kept] = made, parent
        kept += 1
    now[COUNT] = kept
    now[WORK] += 2 * count
    if kept == 0:
        now[LIMIT] = now[BEST]
    elif highest < now[LIMIT]:
        now[LIMIT] = np.int64(np.floor(highest))
    now[LIMIT] = max(now[LIMIT], now[BEST])
    return True


@called
def _pair(core: Any, states: Any) -> None:
    """Try each state with the one item outside the core that suits it best."""
    now, count = core.now, core.now[COUNT]
    by_weight, room, n = core.by_weight, now[ROOM], len(core.by_weight)
    added, removed = core.partner[0], core.partner[1]
    found = np.int64(NO_EXTRA)
    for q in range(n):  # the item of largest profit up to this weight, to be added
        j = by_weight[q]
        if j >= now[RIGHT] and (found < 0 or core.profits[j] > core.profits[found]):
            found = j
        added[q] = found
    found = np.int64(NO_EXTRA)
    for q in range(n - 1, -1, -1):  # the item of least profit from this weight on, to be removed
        j = by_weight[q]
        if j < now[LEFT] and (found < 0 or core.profits[j] < core.profits[found]):
            found = j
        removed[q] = found
    last, first = np.int64(n - 1), np.int64(0)
    for i in range(count):
        weight, profit = states.weight[i], states.profit[i]
        if weight <= room:
            while last >= 0 and core.weights[by_weight[last]] > room - weight:
                last -= 1
            j = added[last] if last >= 0 else np.int64(NO_EXTRA)
            if j >= 0:
                weight, profit = weight + core.weights[j], profit + core.profits[j]
        else:
            while first < n and core.weights[by_weight[first]] < weight - room:
                first += 1
            j = removed[first] if first < n else np.int64(NO_EXTRA)
            if j >= 0:
                weight, profit = weight - core.weights[j], profit - core.profits[j]
        if j >= 0 and _worth_of(core, weight, profit) > now[BEST]:
            _note_best(core, _worth_of(core, weight, profit), weight, states.made[i], states.parent[i], j)
    now[WORK] += n


@called
def _write_block(core: Any, states: Any) -> Any:
    """Write down how all states came to be; False if there is no room."""
    now, count = core.now, core.now[COUNT]
    at = core.block_starts[now[BLOCKS]]
    if at + count > len(core.block_made) or now[BLOCKS] + 2 > len(core.block_starts):
        return False
    for i in range(count):
        core.block_made[at + i], core.block_parent[at + i] = states.made[i], states.parent[i]
        states.made[i], states.parent[i] = 0, i
    now[BLOCKS] += 1
    core.block_starts[now[BLOCKS]] = at + count
    return True


def _grow_core(core: Any, one: Any, two: Any, steps: Any, work: Any, flag: Any) -> None:
    """Look at so many items, or fewer if the work is done before, and let those into the core that are not settled."""
    now, n = core.now, np.int64(len(core.weights))
    last, enough = now[STEP] + steps, now[WORK] + work
    while now[STEP] < last and now[WORK] < enough and not is_asked(flag):
        if now[COUNT] == 0 or now[LIMIT] <= now[BEST] or (now[LEFT] == 0 and now[RIGHT] == n):
            now[STATUS], now[LIMIT] = PROVEN, now[BEST]
            return
        adds = now[LEFT] == 0 or (now[TURN] == 0 and now[RIGHT] < n)
        j = now[RIGHT] if adds else now[LEFT] - 1
        if not _is_settled(core, j):
            old, new = (one, two) if now[SIDE] == 0 else (two, one)
            if now[PLACED] == BITS * (now[BLOCKS] + 1) and not _write_block(core, old):
                now[STATUS] = FULL
                return
            before_left, before_right = now[LEFT], now[RIGHT]
            now[LEFT], now[RIGHT] = (before_left, j + 1) if adds else (j, before_right)
            freed = _free_gain(core, j) if core.prices[OTHER_LIMIT] > DEAD else 0.0
            core.prices[OTHER_LIMIT] -= freed
            if not _grow(core, old, new, j):
                now[LEFT], now[RIGHT], now[STATUS] = before_left, before_right, FULL
                core.prices[OTHER_LIMIT] += freed
                return
            core.order[now[PLACED]] = j
            now[PLACED] += 1
            now[SIDE] = 1 - now[SIDE]
            often = _PAIRING if now[PLACED] < BITS else BITS
            if now[PLACED] % often == 0:
                _pair(core, new)
        else:
            if core.prices[OTHER_LIMIT] > DEAD:
                core.prices[OTHER_LIMIT] -= _free_gain(core, j)
            now[LEFT], now[RIGHT] = (now[LEFT], j + 1) if adds else (j, now[RIGHT])
        now[TURN] = 1 - now[TURN]
        now[STEP] += 1
    if now[COUNT] == 0 or now[LIMIT] <= now[BEST] or (now[LEFT] == 0 and now[RIGHT] == n):
        now[STATUS], now[LIMIT] = PROVEN, now[BEST]


grow_core = kernel(_grow_core)
