"""The obvious twins of hill climbing, tabu search and iterated greedy: solutions are lists, all is measured in full.

Neighbours are listed one after the other, what is banned is a dictionary, and random numbers are those of the engines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import Any

from systola.model.rng import CHANCE, SEARCH, START, STEP, below, draw

Solution = list[int]
_LN2 = 0.6931471805599453


@dataclass
class World:
    """What the twins need to know of a problem."""

    fitness: Callable[[Solution], Any]  # larger is better
    violation: Callable[[Solution], Any] = lambda x: 0
    preference: Callable[[Solution], Any] = lambda x: ()  # larger is better, among solutions of equal fitness
    beats: Callable[[Solution, Solution], bool] | None = None  # whether a climb goes from the second to the first
    measures: Callable[[Solution], list[Any]] = lambda x: []
    place: Callable[[Solution, int], int] = lambda x, item: 0  # where an order gets one more item
    low: Sequence[int] = field(default_factory=list)  # of integers
    high: Sequence[int] = field(default_factory=list)
    kind: str = "permutation"  # or "bits", "integers"

    def worth(self, x: Solution) -> Any:
        """By which moves are chosen."""
        return self.fitness(x), self.preference(x)

    def rank(self, x: Solution) -> Any:
        """By which answers are chosen."""
        return -self.violation(x), self.fitness(x), self.preference(x)

    def better(self, new: Solution, old: Solution) -> bool:
        return self.beats(new, old) if self.beats else self.fitness(new) > self.fitness(old)


@dataclass
class State:
    """After a step: where the walk is (or all walks are), and the best so far with the step that found it."""

    now: Any
    best: Solution
    found: Any


@dataclass
class Neighbour:
    """A solution, what a move to it brings, and what it takes away and may not come back: both as names.

    For insertions these are pairs, of which the first then comes before the second.
    """

    x: Solution
    brings: list[Any]
    takes: list[Any]


def numbers(seed: int, purpose: int, step: int, cell: int, k: int) -> list[int]:
    return [int(r) for r in draw(seed, purpose, step, cell, k)]


def flipped(x: Solution, places: Sequence[int]) -> Solution:
    return [1 - v if i in places else v for i, v in enumerate(x)]


def inserted(x: Solution, i: int, j: int) -> Solution:
    rest = x[:i] + x[i + 1 :]
    return [*rest[:j], x[i], *rest[j:]]


def neighbours(world: World, name: str, x: Solution) -> list[Neighbour]:
    """All neighbours in the order of their numbers."""
    n = len(x)
    if name == "flip":
        return [Neighbour(flipped(x, [i]), [i], [i]) for i in range(n)]
    if name == "flip-two":
        return [Neighbour(flipped(x, pair), [*pair], [*pair]) for pair in combinations(range(n), 2)]
    if name == "reassign":
        return [
            Neighbour([*x[:i], value, *x[i + 1 :]], [(i, value)], [(i, x[i])])
            for i in range(n)
            for value in range(world.low[i], world.high[i] + 1)
            if value != x[i]
        ]
    if name == "insertion":
        return [
            Neighbour(
                inserted(x, i, j),
                [(x[k], x[i]) for k in range(i + 1, j + 1)] + [(x[i], x[k]) for k in range(j, i)],
                [(x[i], x[i + 1]) if i < j else (x[i - 1], x[i])],
            )
            for i, j in product(range(n), repeat=2)
            if j not in (i, i - 1)
        ]
    found = []
    for i, j in combinations(range(n), 2):
        if name == "swap":
            y = [x[j] if k == i else x[i] if k == j else x[k] for k in range(n)]
        else:
            y = x[:i] + x[i : j + 1][::-1] + x[j + 1 :]
        found.append(Neighbour(y, [(x[i], j), (x[j], i)], [(x[i], i), (x[j], j)]))
    return found


def forbidden(name: str, neighbour: Neighbour, until: dict[Any, int], step: int) -> bool:
    """Both places of a swap or reversal must be banned; of two flips, or of pairs in an order, one is enough."""
    banned = [until.get(what, 0) >= step for what in neighbour.brings]
    return all(banned) if name in ("swap", "reversal") else any(banned)


def tabu(
    world: World, name: str, tenures: tuple[int, int], ties: str, first: Solution, seed: int
) -> Iterator[tuple[State, str]]:
    """After each step from 0 on: the state, and what the step did."""
    x = best = list(first)
    tenure, tenure_range = tenures
    found, step, did = 0, 0, "start"
    until: dict[Any, int] = {}  # the last step in which something must not come back
    while True:
        yield State(x, best, found), did
        step += 1
        did, before = "wait", dict(until)
        allowed = [
            (neighbour, number)
            for number, neighbour in enumerate(neighbours(world, name, x))
            if not forbidden(name, neighbour, until, step) or world.rank(neighbour.x) > world.rank(best)
        ]
        if allowed:
            most = max(world.worth(neighbour.x) for neighbour, _ in allowed)
            equals = [(neighbour, number) for neighbour, number in allowed if world.worth(neighbour.x) == most]
            drawn = [numbers(seed, CHANCE, step, number, 0)[0] for _, number in equals]
            chosen, _ = equals[drawn.index(min(drawn)) if ties == "random" else 0]
            for what, number in zip(chosen.takes, numbers(seed, STEP, step, 0, 0), strict=False):
                until[what] = step + tenure + int(below(number, tenure_range + 1))
            x, did = chosen.x, "move" if not forbidden(name, chosen, before, step) else "aspire"
        if world.rank(x) > world.rank(best):
            best, found = x, step


def restarted(world: World, n: int, seed: int, step: int) -> Solution:
    """A random solution, drawn as the first one is."""
    if world.kind == "bits":
        return [numbers(seed, START, step, 0, i // 128)[i % 128 // 32] >> i % 32 & 1 for i in range(n)]
    drawn = [numbers(seed, START, step, 0, i)[0] for i in range(n)]
    if world.kind == "integers":
        return [world.low[i] + int(below(drawn[i], world.high[i] - world.low[i] + 1)) for i in range(n)]
    order: Solution = []
    for i in range(n):
        order.append(i)
        j = int(below(drawn[i], i + 1))
        order[i], order[j] = order[j], order[i]
    return order


def hill(
    world: World, name: str, move: str, on_local_optimum: str, perturbation_strength: int, first: Solution, seed: int
) -> Iterator[tuple[State, str]]:
    """After each step from 0 on: the state, and what the step did."""
    x = best = list(first)
    found, step, did = 0, 0, "start"
    while True:
        yield State(x, best, found), did
        step += 1
        improving = [y.x for y in neighbours(world, name, x) if world.better(y.x, x)]
        if improving:
            x, did = improving[0] if move == "first" else max(improving, key=world.worth), "climb"
        elif on_local_optimum == "restart":
            x, did = restarted(world, len(x), seed, step), "restart"
        elif on_local_optimum == "perturb":
            x, did = best, "perturb"
            for k in range(perturbation_strength):
                r0, r1, *_ = numbers(seed, STEP, step, 0, k)
                near = neighbours(world, name, x)
                x = near[(r0 * 2**31 + r1 // 2) % len(near)].x
        else:
            did = "stay"
        if world.rank(x) > world.rank(best):
            best, found = x, step


# Iterated greedy. Fitness is that of orders of some of the items, too.


def put_best(world: World, x: Solution, item: int) -> Solution:
    place = world.place(x, item)
    return [*x[:place], item, *x[place:]]


def improved(world: World, x: Solution, drawn: list[int]) -> Solution:
    """Each item in turn, in a random order, is put where it is best, until a whole round gains nothing."""
    order: Solution = []
    for t, item in enumerate(x):
        order.append(item)
        j = int(below(drawn[t], t + 1))
        order[t], order[j] = order[j], order[t]
    in_vain, t = 0, 0
    while in_vain < len(x):
        item = order[t % len(x)]
        y = put_best(world, [other for other in x if other != item], item)
        in_vain = 1 if world.fitness(y) > world.fitness(x) else in_vain + 1
        x, t = y, t + 1
    return x


def patience(temperature_unit: float, r0: int, r1: int) -> float:
    """How much may be lost: zeros before the first one of r0, lowest bit first, at most 40, and a fraction."""
    zeros = len(f"{r0 + (1 << 40):041b}"[::-1].partition("1")[0])
    return temperature_unit * _LN2 * (zeros + r1 / 2**32)


def iterated_greedy(
    world: World, engine: Any, temperature_unit: float, first: Sequence[Solution], seed: int
) -> Iterator[tuple[State, int]]:
    """After each step from 0 on: the state, and how often a worse order was accepted so far."""
    walks = [list(x) for x in first]
    best = max(walks, key=world.rank)
    found, step, accepted = (0, walks.index(best)), 0, 0
    while True:
        yield State([list(x) for x in walks], list(best), found), accepted
        step += 1
        for cell in range(len(walks)):
            turn = 0
            for _ in range(engine.rounds):
                x, taken = list(walks[cell]), []
                for q in range(min(engine.destruction_size, max(1, len(x) - 1))):
                    taken.append(x.pop(int(below(numbers(seed, STEP, step, cell, turn + q)[0], len(x)))))
                turn += len(taken)
                for items in (taken, []):
                    drawn = [numbers(seed, SEARCH, step, cell, turn + t)[0] for t in range(len(x))]
                    x = improved(world, x, drawn)
                    turn += len(walks[cell])
                    for item in items:
                        x = put_best(world, x, item)
                if world.rank(x) > world.rank(best):
                    best, found = x, (step, cell)
                lost = world.fitness(walks[cell]) - world.fitness(x)
                if lost <= patience(temperature_unit * engine.temperature, *numbers(seed, STEP, step, cell, turn)[:2]):
                    accepted += lost > 0
                    walks[cell] = x
                turn += 1
