"""The obvious twin of the cellular evolutionary algorithm: individuals are lists, everything is measured in full.

Random numbers are those of the engine: `draw` by purpose, step and turn, a turn being the number of a cell in the order
in which cells come; where a block decides together, by its number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice, product
from typing import Any

from systola.model.rng import CHANCE, CROSS, MUTATE, SEARCH, SELECT, START, STEP, below, draw

Solution = list[int]
Numbers = Callable[[int], tuple[int, ...]]  # the k-th four numbers of a stream
ALL_CELLS = 2**32 - 1

_NEAR = [(-1, 0), (1, 0), (0, -1), (0, 1)]
_CORNERS = [(-1, -1), (-1, 1), (1, -1), (1, 1)]
_TWO_AWAY = [(-2, 0), (2, 0), (0, -2), (0, 2)]
_SHAPES = {"L5": _NEAR, "L9": _NEAR + _TWO_AWAY, "C9": _NEAR + _CORNERS, "C13": _NEAR + _CORNERS + _TWO_AWAY}


@dataclass
class World:
    """What the twin needs to know of a problem."""

    fitness: Callable[[Solution], Any]  # larger is better
    violation: Callable[[Solution], Any] = lambda x: 0
    measures: Callable[[Solution], list[int]] = lambda x: []
    low: Sequence[int] = field(default_factory=list)  # of integers
    high: Sequence[int] = field(default_factory=list)
    binary: bool = False


@dataclass
class State:
    """After a step: all individuals, and the best so far with the step that made it and the cell."""

    population: list[Solution]
    best: Solution
    found: tuple[int, int]


def neighbours(engine: Any, height: int, width: int) -> list[list[int]]:
    """The neighbours of each cell: nearest first and left before right on a ring, by coordinates on a torus."""
    size = height * width
    if not isinstance(engine.topology, str):
        return [list(map(int, row)) for row in engine.topology]
    if engine.topology == "grid":
        return grid_neighbours(engine.shape, engine.radius)
    if engine.topology == "ring":
        return [[(c + s * d) % size for d in range(1, engine.radius + 1) for s in (-1, 1)] for c in range(size)]
    cells = [(i, j) for i in range(height) for j in range(width)]
    return [
        [cells.index(((i + di) % height, (j + dj) % width)) for di, dj in _SHAPES[engine.topology]] for i, j in cells
    ]


def grid_neighbours(shape: Sequence[int], radius: int) -> list[list[int]]:
    """Axis by axis, nearest first, the place before a cell first; a side of one has no neighbours."""
    cells = list(product(*map(range, shape)))
    rows = []
    for cell in cells:
        row = []
        for axis, side in enumerate(shape):
            for distance in range(1, radius + 1) if side > 1 else ():
                for sign in (-1, 1):
                    moved = list(cell)
                    moved[axis] = (cell[axis] + sign * distance) % side
                    row.append(cells.index(tuple(moved)))
        rows.append(row)
    return rows


def stream(seed: int, purpose: int, step: int, cell: int) -> Numbers:
    return lambda k: tuple(int(r) for r in draw(seed, purpose, step, cell, k))


def number_below(number: int, bound: int) -> int:
    return int(below(number, bound))


def shuffled(size: int, numbers: Numbers) -> list[int]:
    """Each next one changes places with one of those before it, or stays."""
    order: list[int] = []
    for i in range(size):
        order.append(i)
        j = number_below(numbers(i)[0], i + 1)
        order[i], order[j] = order[j], order[i]
    return order


# Selections: one of the neighbours' fitnesses, by its number.


def take_any(worth: list[Any], numbers: Numbers) -> int:
    return number_below(numbers(0)[0], len(worth))


def take_better_of_two(worth: list[Any], numbers: Numbers) -> int:
    one, two = (number_below(r, len(worth)) for r in numbers(0)[:2])
    return two if worth[two] > worth[one] else one


def take_best(worth: list[Any], numbers: Numbers) -> int:
    return worth.index(max(worth))


def take_in_proportion(worth: list[Any], numbers: Numbers) -> int:
    """Exact fractions of a wheel."""
    if min(worth) == max(worth):
        return take_any(worth, numbers)
    values = [Fraction(w) for w in worth]
    if min(values) > 0:
        shares = values
    elif max(values) < 0:
        shares = [-1 / v for v in values]
    else:
        shares = [v - min(values) for v in values]
    point = Fraction(numbers(0)[0], 2**32) * sum(shares)
    for k in range(len(shares)):
        point -= shares[k]
        if point < 0:
            return k
    raise AssertionError("the wheel has turned too far")


# Crossovers: two children of two parents.


def points(n: int, numbers: Numbers) -> tuple[int, int]:
    a, b = number_below(numbers(0)[0], n + 1), number_below(numbers(0)[1], n)
    b += b >= a
    return min(a, b), max(a, b)


def both_ways(
    make: Callable[[Solution, Solution], Solution], one: Solution, two: Solution
) -> tuple[Solution, Solution]:
    return make(one, two), make(two, one)


def cross_pmx(world: World, one: Solution, two: Solution, numbers: Numbers) -> tuple[Solution, Solution]:
    a, b = points(len(one), numbers)

    def make(keeper: Solution, giver: Solution) -> Solution:
        child = [*keeper[:a], *giver[a:b], *keeper[b:]]
        for i in [*range(a), *range(b, len(child))]:
            while child[i] in giver[a:b]:
                child[i] = keeper[giver.index(child[i])]
        return child

    return both_ways(make, one, two)


def cross_order(world: World, one: Solution, two: Solution, numbers: Numbers) -> tuple[Solution, Solution]:
    a, b = points(len(one), numbers)

    def make(keeper: Solution, giver: Solution) -> Solution:
        child = list(keeper)
        for k, value in enumerate(v for v in giver[b:] + giver[:b] if v not in keeper[a:b]):
            child[(b + k) % len(child)] = value
        return child

    return both_ways(make, one, two)


def cross_cycle(world: World, one: Solution, two: Solution, numbers: Numbers) -> tuple[Solution, Solution]:
    places = [number_below(numbers(0)[0], len(one))]
    while one.index(two[places[-1]]) != places[0]:
        places.append(one.index(two[places[-1]]))
    return both_ways(lambda keeper, giver: [(giver if i in places else keeper)[i] for i in range(len(one))], one, two)


def cross_two_point(world: World, one: Solution, two: Solution, numbers: Numbers) -> tuple[Solution, Solution]:
    a, b = points(len(one), numbers)
    return both_ways(lambda keeper, giver: keeper[:a] + giver[a:b] + keeper[b:], one, two)


def cross_one_point(world: World, one: Solution, two: Solution, numbers: Numbers) -> tuple[Solution, Solution]:
    point = 1 + number_below(numbers(0)[0], len(one) - 1)
    children = both_ways(lambda keeper, giver: keeper[:point] + giver[point:], one, two)
    return children if 2 * point >= len(one) else children[::-1]


def cross_uniform(world: World, one: Solution, two: Solution, numbers: Numbers) -> tuple[Solution, Solution]:
    """A coin a bit: 64 in two numbers for binary solutions, tails for `one`; else 32 in a number, heads for `one`."""

    def first(i: int) -> bool:
        if world.binary:
            return numbers(i // 64)[i % 64 // 32] >> i % 32 & 1 == 1
        return numbers(i // 32)[0] >> i % 32 & 1 == 0

    return both_ways(lambda keeper, giver: [(keeper if first(i) else giver)[i] for i in range(len(one))], one, two)


# Mutations.


def two_places(n: int, numbers: Numbers) -> tuple[int, int]:
    i, j = number_below(numbers(0)[0], n), number_below(numbers(0)[1], n - 1)
    return i, j + (j >= i)


def exchange(world: World, x: Solution, numbers: Numbers) -> Solution:
    return with_exchange(x, *two_places(len(x), numbers))


def insert(world: World, x: Solution, numbers: Numbers) -> Solution:
    i, j = two_places(len(x), numbers)
    rest = x[:i] + x[i + 1 :]
    return [*rest[:j], x[i], *rest[j:]]


def invert(world: World, x: Solution, numbers: Numbers) -> Solution:
    i, j = sorted(two_places(len(x), numbers))
    return x[:i] + x[i : j + 1][::-1] + x[j + 1 :]


def give_value(world: World, x: Solution, numbers: Numbers) -> Solution:
    i = number_below(numbers(0)[0], len(x))
    low, high = (0, 1) if world.binary else (world.low[i], world.high[i])
    others = [value for value in range(low, high + 1) if value != x[i]]
    return [*x[:i], others[number_below(numbers(0)[1], len(others))] if others else x[i], *x[i + 1 :]]


# Local searches, of permutations.


def with_exchange(x: Solution, i: int, j: int) -> Solution:
    y = list(x)
    y[i], y[j] = y[j], y[i]
    return y


def best_exchange_of_one(world: World, x: Solution, length: int, numbers: Numbers, shared: Numbers) -> Solution:
    position = number_below(shared(0)[0], len(x))
    return max((with_exchange(x, position, j) for j in range(len(x)) if j != position), key=world.fitness)


def descend(world: World, x: Solution, length: int, numbers: Numbers, shared: Numbers) -> Solution:
    while True:
        near = [with_exchange(x, i, j) for i in range(len(x)) for j in range(i + 1, len(x))]
        worth = [world.fitness(y) for y in near]
        if max(worth) <= world.fitness(x):
            return x
        x = near[worth.index(max(worth))]


def tabu_walk(world: World, x: Solution, numbers: Numbers) -> Iterator[tuple[Solution, Solution]]:
    """Taillard 1991: what was exchanged may not go back for a while, unless that gives the best solution so far.

    Where the walk is after each step, from the first on, and its best so far.
    """
    n, best, t = len(x), x, 0
    until: dict[tuple[int, int], int] = {}  # the last step in which a facility may not go to a location
    while True:
        t += 1
        choice = None
        for i in range(n):
            for j in range(i + 1, n):
                forbidden = until.get((i, x[j]), 0) >= t and until.get((j, x[i]), 0) >= t
                other = with_exchange(x, i, j)
                if forbidden and world.fitness(other) <= world.fitness(best):
                    continue
                if choice is None or world.fitness(other) > world.fitness(choice[0]):
                    choice = (other, i, j)
        if choice is not None:
            other, i, j = choice
            four = numbers(1 + (t - 1) // 2)
            for facility, number in zip((i, j), four[:2] if t % 2 else four[2:], strict=True):
                until[facility, x[facility]] = t + tenures(n)[number_below(number, len(tenures(n)))]
            x = other
            if world.fitness(x) > world.fitness(best):
                best = x
        yield x, best


def tabu_length(length: int, numbers: Numbers) -> int:
    """Doubled for each zero before the first one in a number, lowest bit first, but not more than six times."""
    zeros = f"{numbers(0)[0]:032b}"[::-1].partition("1")[0]
    return length * 2 ** min(6, len(zeros))


def robust_tabu(world: World, x: Solution, length: int, numbers: Numbers, shared: Numbers) -> Solution:
    *_, (_, best) = islice(tabu_walk(world, x, numbers), tabu_length(length, numbers))
    return best


def tenures(n: int) -> range:
    """For how many steps an exchange may be forbidden: 0.9 n to 1.1 n, at least one."""
    return range(max(1, 9 * n // 10), max(1, 11 * n // 10) + 1)


SELECTIONS = {
    "random": take_any,
    "tournament": take_better_of_two,
    "best": take_best,
    "proportional": take_in_proportion,
}
CROSSOVERS = {
    "pmx": cross_pmx,
    "order": cross_order,
    "cycle": cross_cycle,
    "one-point": cross_one_point,
    "two-point": cross_two_point,
    "uniform": cross_uniform,
}
MUTATIONS = {"swap": exchange, "insertion": insert, "inversion": invert, "random-value": give_value}
SEARCHES = {"best-swap": best_exchange_of_one, "descent": descend, "tabu": robust_tabu}


def turns(update: str, size: int, seed: int, step: int) -> list[int]:
    """The cells of a step in the order in which they come."""
    if update == "fixed-random":
        return shuffled(size, stream(seed, STEP, 1, 0))
    if update == "new-random":
        return shuffled(size, stream(seed, STEP, step, 0))
    if update == "uniform-choice":
        return [number_below(stream(seed, STEP, step, turn)(0)[0], size) for turn in range(size)]
    return list(range(size))


def run(
    world: World,
    engine: Any,
    first: Sequence[Sequence[int]],
    seed: int,
    shape: tuple[int, int],
    crossover: str,
    mutation: str,
) -> Iterator[State]:
    """The state after step 0, step 1, and so on without end; `first` are the individuals to begin with."""
    now = [[int(v) for v in x] for x in first]
    size, meets = len(now), neighbours(engine, *shape)
    best: Solution | None = None
    found = (0, 0)

    def note(x: Solution, step: int, cell: int) -> None:
        nonlocal best, found
        if best is None or (-world.violation(x), world.fitness(x)) > (-world.violation(best), world.fitness(best)):
            best, found = x, (step, cell)

    for cell, x in enumerate(now):
        note(x, 0, cell)
    step = 0
    while True:
        assert best is not None
        yield State([list(x) for x in now], list(best), found)
        step += 1
        after = list(now) if engine.update == "synchronous" else now
        for turn, cell in enumerate(turns(engine.update, size, seed, step)):
            together = turn // engine.block if engine.block else turn
            cross, mutate_one, mutate_two, _ = stream(seed, CHANCE, step, together)(0)
            if engine.block:
                mutate_two = mutate_one
            worth = [world.fitness(now[p]) for p in meets[cell]]
            chosen = meets[cell][SELECTIONS[engine.selection](worth, stream(seed, SELECT, step, turn))]
            mate = now[chosen]
            children = (now[cell], mate)
            restarted = engine.restart_duplicates and chosen < cell and mate == now[cell]  # permutations only, here
            if restarted:
                children = (shuffled(len(mate), stream(seed, START, step, turn)),) * 2
            elif Fraction(cross, 2**32) < Fraction(engine.crossover_probability):
                children = CROSSOVERS[crossover](world, *children, stream(seed, CROSS, step, together))
            made = []
            for side, number in enumerate((mutate_one, mutate_two)):
                child = children[side]
                if Fraction(number, 2**32) < Fraction(engine.mutation_probability):
                    child = MUTATIONS[mutation](world, child, stream(seed, MUTATE, step, 2 * turn + side))
                made.append(child)
            x = made[1] if world.fitness(made[1]) > world.fitness(made[0]) else made[0]
            if engine.replacement == "better" and not restarted and not world.fitness(x) > world.fitness(now[cell]):
                x = now[cell]
            note(x, step, cell)
            if engine.local_search and step % engine.local_search_interval == 0:
                own, shared = stream(seed, SEARCH, step, turn), stream(seed, SEARCH, step, ALL_CELLS)
                x = SEARCHES[engine.local_search](world, x, engine.local_search_steps, own, shared)
            note(x, step, cell)
            if engine.replacement == "searched" and not restarted and world.fitness(x) < world.fitness(now[cell]):
                x = now[cell]
            after[cell] = x
        now = after
