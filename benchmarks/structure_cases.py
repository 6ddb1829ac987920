"""Problems that declare their structure instead of writing `evaluate`, instances of them, and plain objectives.

Where `own_cases.py` has the same problem with `evaluate`, its data, its generator and its plain objective are taken, so
that both benchmarks run on the same instances; where the gallery has the same structure, its class. The plain
objectives share no line with the declared parts.
"""

from __future__ import annotations

import csv
import math
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np

import own_cases
import systola as sy
from own_cases import SHARED, Case

sys.path.append(str(Path(__file__).parents[1] / "examples/gallery"))

import facility_location
from bin_packing import BinPacking
from graph_colouring import Colouring
from job_shop import JobShop
from set_covering import Cover
from timetabling import Timetable
from vehicle_routing import Routes
from weighted_tardiness import Tardiness

_STREAMS = ("routing", "facility", "bins", "tsptw", "timetable")  # of random numbers, one for each generator


class Tour(own_cases.TSP):
    def link(self, a, b):
        return self.distances[a, b]

    structure = sy.Chain(link, symmetric=True)


class DirectedTour(own_cases.TSP):
    structure = sy.Chain(Tour.link)


class QUBO(own_cases.QUBO):
    structure = sy.Quadratic("q")


class MaxSat(own_cases.MaxSat):
    def satisfied(self, x, c):
        for k in range(3):
            literal = self.clauses[c, k]
            if (literal > 0) == (x[abs(literal) - 1] == 1):
                return 1
        return 0

    structure = sy.Terms(satisfied, reads=lambda problem: np.abs(problem.clauses) - 1)


class Facilities(facility_location.Facilities):
    structure = [
        *facility_location.Facilities.structure,
        sy.Linear(lambda problem: np.ones((1, len(problem.fixed)), np.int64), ">=", 1),
    ]


class TimeWindows(sy.Problem):
    encoding = sy.Permutation("due")
    sense = sy.MINIMISE
    ready: np.ndarray
    due: np.ndarray  # 0 for the depot, which therefore is the first
    travel: np.ndarray

    def link(self, a, b):
        return self.travel[a, b]

    def visit(self, state, place):  # state: the clock, and the place before, counted from 1
        if state[1] > 0:
            state[0] += self.travel[state[1] - 1, place]
        state[0] = max(state[0], self.ready[place])
        state[1] = place + 1
        return max(state[0] - self.due[place], 0)

    structure = [sy.Chain(link), sy.Passage(visit, state=2, hard=True)]


def _random(stream: str, seed: int) -> np.random.Generator:
    return np.random.default_rng([seed, len(own_cases._STREAMS) + _STREAMS.index(stream)])


def _as(case: Case, problem: sy.Problem, name: str | None = None) -> Case:
    """A case of `own_cases.py`, stated in the other way."""
    return Case(name or case.name, problem, case.plain, case.known)


def tsp(n: int, seed: int) -> Case:
    case = own_cases.tsp(n, seed)
    return _as(case, Tour(case.problem.distances))


def set_covering(rows: int, columns: int, seed: int) -> Case:
    case = own_cases.set_covering(rows, columns, seed)
    starts, members = case.problem.starts, case.problem.members
    covers = np.zeros((rows, columns), np.int64)
    covers[np.repeat(np.arange(rows), np.diff(starts)), members] = 1
    return _as(case, Cover(case.problem.costs, covers))


def qubo(n: int, seed: int) -> Case:
    case = own_cases.qubo(n, seed)
    return _as(case, QUBO(case.problem.q), f"qubo{n}")


def maxsat(n: int, clauses: int, seed: int) -> Case:
    case = own_cases.maxsat(n, clauses, seed)
    return _as(case, MaxSat(n, case.problem.clauses))


def colouring(n: int, p: float, colours: int, seed: int) -> Case:
    case = own_cases.colouring(n, p, colours, seed)
    return _as(case, Colouring(n, case.problem.last, case.problem.edges))


def wt100(folder: Path = SHARED) -> list[Case]:
    """All 125, in the order of the file."""
    fifths = [own_cases.wt100(seed, folder) for seed in range(1, 6)]
    return [
        _as(case, Tardiness(case.problem.times, case.problem.weights, case.problem.due))
        for group in zip(*fifths, strict=True)
        for case in group
    ]


def _best_known(folder: Path, name: str) -> int:
    with (folder / "BEST.csv").open() as file:
        return next(int(row["best_known"]) for row in csv.DictReader(file) if row["name"] == name)


def _tour_length(distances: np.ndarray) -> Callable[[list[int]], tuple[int, int]]:
    table = distances.tolist()

    def plain(tour: list[int]) -> tuple[int, int]:
        length = sum(table[tour[k - 1]][tour[k]] for k in range(len(tour)))
        return length, int(sorted(tour) != list(range(len(table))))

    return plain


def _section(path: Path, title: str, kind: str) -> str:
    """What follows a title in a file of TSPLIB, whose head must name this kind of distances."""
    head, _, rest = path.read_text().partition(title)
    if kind not in head:
        raise SystemExit(f"{path.name} has other distances than {kind}")
    return rest.partition("EOF")[0]


def tsplib(name: str, folder: Path = SHARED) -> list[Case]:
    """A symmetric instance; EUC_2D rounds each distance to the nearest integer, halves up."""
    path = folder / f"tsp/{name}.tsp"
    if not path.exists():
        return []
    rows = [line.split() for line in _section(path, "NODE_COORD_SECTION", "EUC_2D").strip().splitlines()]
    x, y = np.array([row[1:3] for row in rows], float).T
    distances = np.floor(np.sqrt((x[:, None] - x) ** 2 + (y[:, None] - y) ** 2) + 0.5).astype(np.int64)
    return [Case(name, Tour(distances), _tour_length(distances), _best_known(path.parent, name))]


def atsplib(name: str, folder: Path = SHARED) -> list[Case]:
    """An asymmetric instance. No tour uses the diagonal, which holds large numbers in some files: it becomes 0."""
    path = folder / f"tsp/{name}.atsp"
    if not path.exists():
        return []
    numbers = np.array(_section(path, "EDGE_WEIGHT_SECTION", "FULL_MATRIX").split(), np.int64)
    distances = numbers.reshape(math.isqrt(len(numbers)), -1)
    np.fill_diagonal(distances, 0)
    return [Case(name, DirectedTour(distances), _tour_length(distances), _best_known(path.parent, name))]


def job_shop(name: str, folder: Path = SHARED) -> list[Case]:
    path = folder / f"jsp/{name}"
    if not path.exists():
        return []
    lines = [line for line in path.read_text().splitlines() if line.strip() and not line.startswith("#")]
    jobs, machines = map(int, lines[0].split())
    rows = [list(map(int, line.split())) for line in lines[1 : jobs + 1]]
    work = [list(zip(row[::2], row[1::2], strict=True)) for row in rows]  # of each job: machine, time

    def plain(order: list[int]) -> tuple[int, int]:
        left = [iter(operations) for operations in work]
        job_free, machine_free = [0] * jobs, [0] * machines
        for item in order:
            job = item // machines
            machine, time = next(left[job])
            job_free[job] = machine_free[machine] = max(job_free[job], machine_free[machine]) + time
        return max(job_free), int(sorted(order) != list(range(jobs * machines)))

    machine, times = np.array(rows).reshape(-1, 2).T
    problem = JobShop(jobs, machines, machine.copy(), times.copy())
    return [Case(name, problem, plain, _best_known(path.parent, name))]


def _rounded_distances(places: np.ndarray) -> np.ndarray:
    return np.rint(np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1))).astype(np.int64)


def routing(n: int, seed: int) -> Case:
    """Customers and depot in a square of 1,000, demands 1..100, ten customers a vehicle, two vehicles to spare."""
    random = _random("routing", seed)
    distances = _rounded_distances(random.random((n + 1, 2)) * 1_000)
    demands, capacity = random.integers(1, 101, n), 505
    vehicles = -(-int(demands.sum()) // capacity) + 2
    table, asked = distances.tolist(), demands.tolist()

    def plain(order: list[int]) -> tuple[int, int]:
        routes: list[list[int]] = [[]]
        for item in order:
            if item >= n:
                routes.append([])
            else:
                routes[-1].append(item)
        stops = [[n, *route, n] for route in routes]
        length = sum(table[a][b] for route in stops for a, b in pairwise(route))
        overloaded = sum(sum(asked[c] for c in route) > capacity for route in routes)
        return length, overloaded + int(sorted(order) != list(range(n + vehicles - 1)))

    return Case(f"routing{n}", Routes(n + vehicles - 1, capacity, demands, distances), plain)


def facilities(count: int, customers: int, seed: int) -> Case:
    """Uncapacitated, in a square of 1,000; a customer costs its distance times what it asks for."""
    random = _random("facility", seed)
    places = random.random((count + customers, 2)) * 1_000
    distances = np.hypot(*(places[count:, None] - places[None, :count]).transpose(2, 0, 1))
    costs = np.rint(distances * random.integers(1, 11, (customers, 1))).astype(np.int64)
    fixed = random.integers(5_000, 15_001, count)
    table, prices, dearest = costs.tolist(), fixed.tolist(), int(costs.max())

    def plain(x: list[int]) -> tuple[int, int]:
        chosen = [f for f, bit in enumerate(x) if bit]
        served = sum(min(row[f] for f in chosen) if chosen else dearest for row in table)
        return served + sum(prices[f] for f in chosen), int(not chosen)

    return Case("facility", Facilities(fixed, costs, dearest), plain)


def _bins_at_least(sizes: list[int], capacity: int) -> int:
    """The bound L2 of Martello and Toth."""
    best = 0
    for small in [0, *sorted({s for s in sizes if 2 * s <= capacity})]:
        alone = [s for s in sizes if s > capacity - small]  # take nothing that is not below `small`
        large = [s for s in sizes if capacity - small >= s and 2 * s > capacity]
        others = sum(s for s in sizes if 2 * s <= capacity and s >= small)
        rest = max(0, others - (len(large) * capacity - sum(large)))
        best = max(best, len(alone) + len(large) + -(-rest // capacity))
    return best


def bins(n: int, seed: int) -> Case:
    """Falkenauer's uniform kind: sizes 20..100, bins of 150, a tenth more bins than the bound asks for."""
    sizes, capacity = _random("bins", seed).integers(20, 101, n).tolist(), 150
    least = _bins_at_least(sizes, capacity)
    count = least + least // 10
    unit = 2 * n * capacity**2  # more than all that is added below it

    def plain(x: list[int]) -> tuple[int, int]:
        loads = {b: sum(s for s, chosen in zip(sizes, x, strict=True) if chosen == b) for b in set(x)}
        cost = sum(unit + capacity**2 - min(load, capacity) ** 2 for load in loads.values())
        return cost, sum(load > capacity for load in loads.values()) + sum(not 0 <= b < count for b in x)

    problem = BinPacking(sizes, capacity, count - 1, unit)
    return Case("bins", problem, plain, least, "lower bound", unit)


def time_windows(n: int, seed: int, width: int = 80) -> Case:
    """Windows around the times of a tour that goes to the second nearest place, so that it is feasible.

    Ways take up to a third more in one direction than as the crow flies; then no detour is shorter than the way.
    """
    random = _random("tsptw", seed)
    straight = _rounded_distances(random.random((n, 2)) * 100)
    travel = np.ceil(straight * (1 + random.random((n, n)) / 3)).astype(np.int64)
    for k in range(n):
        travel = np.minimum(travel, travel[:, k, None] + travel[None, k])
    tour, left = [0], set(range(1, n))
    while left:
        near = sorted(left, key=lambda place: (travel[tour[-1], place], place))
        tour.append(near[min(1, len(near) - 1)])
        left.remove(tour[-1])
    times = np.concatenate([[0], np.cumsum(travel[tour[:-1], tour[1:]])])
    ready, due = np.zeros(n, np.int64), np.zeros(n, np.int64)
    ready[tour] = np.maximum(times - random.integers(0, width // 2 + 1, n), 0)
    due[tour] = times + random.integers(0, width // 2 + 1, n)
    ready[0] = due[0] = 0
    table, windows = travel.tolist(), list(zip(ready.tolist(), due.tolist(), strict=True))

    def plain(order: list[int]) -> tuple[int, int]:
        clock, late = windows[order[0]][0], 0
        late += clock > windows[order[0]][1]
        for a, b in pairwise(order):
            clock = max(clock + table[a][b], windows[b][0])
            late += clock > windows[b][1]
        length = sum(table[order[k - 1]][order[k]] for k in range(n))
        return length, late + int(sorted(order) != list(range(n)))

    value, broken = plain(tour)
    if broken:
        raise SystemExit(f"the tour that the windows of tsptw, generator {seed}, were made from breaks {broken}")
    return Case("tsptw", TimeWindows(ready, due, travel), plain, value, "made from")


def timetable(events: int, seed: int) -> Case:
    """Students choose among the events of a hidden timetable, one at most of each hour, so that it has no clash.

    Its rooms have just the seats that are needed. The soft objective: students with events in two hours in a row.
    """
    students, rooms, days, hours = 200, 6, 5, 9
    random = _random("timetable", seed)
    hidden = random.permutation(days * hours * rooms)[:events]
    attends = np.zeros((students, events), np.int64)
    for row in attends:
        for hour in random.permutation(days * hours)[: random.integers(5, 21)]:
            at_once = np.flatnonzero(hidden // rooms == hour)
            if len(at_once):
                row[random.choice(at_once)] = 1
    size = attends.sum(axis=0)
    seats = np.array([size[hidden % rooms == room].max(initial=0) for room in range(rooms)])
    shared = attends.T @ attends
    pairs = np.argwhere(np.triu(shared, 1))
    common = shared[pairs[:, 0], pairs[:, 1]]
    classes = [np.flatnonzero(row).tolist() for row in attends]
    sizes, chairs = size.tolist(), seats.tolist()

    def plain(x: list[int]) -> tuple[int, int]:
        hour = [value // rooms for value in x]
        soft, broken = 0, len(x) - len(set(x)) + sum(not 0 <= value < days * hours * rooms for value in x)
        broken += sum(people > chairs[value % rooms] for people, value in zip(sizes, x, strict=True))
        for mine in classes:
            for k, a in enumerate(mine):
                for b in mine[:k]:
                    broken += hour[a] == hour[b]
                    soft += abs(hour[a] - hour[b]) == 1 and hour[a] // hours == hour[b] // hours
        return soft, broken

    value, broken = plain(hidden.tolist())
    if broken:
        raise SystemExit(f"the hidden timetable of generator {seed} breaks {broken} constraints")
    week = np.arange(days * hours * rooms)
    hour_of_value = week // rooms + week // rooms // hours  # one more between days
    problem = Timetable(size, pairs, common, seats[week % rooms], hour_of_value, len(week) - 1)
    return Case("timetable", problem, plain, value, "made from")


MAKERS: dict[str, Callable[[int], list[Case]]] = {
    "tsp200": lambda seed: [tsp(200, seed)],
    "tsp500": lambda seed: [tsp(500, seed)],
    "tsp2000": lambda seed: [tsp(2000, seed)],
    "kroA200": lambda seed: tsplib("kroA200"),
    "pcb442": lambda seed: tsplib("pcb442"),
    "pr1002": lambda seed: tsplib("pr1002"),
    "pr2392": lambda seed: tsplib("pr2392"),
    "ftv170": lambda seed: atsplib("ftv170"),
    "rbg323": lambda seed: atsplib("rbg323"),
    "setcover": lambda seed: [set_covering(100, 1000, seed)],
    "qubo250": lambda seed: [qubo(250, seed)],
    "qubo2500": lambda seed: [qubo(2500, seed)],
    "maxsat": lambda seed: [maxsat(100, 430, seed)],
    "colouring": lambda seed: [colouring(120, 0.1, 5, seed)],
    "wt100": lambda seed: wt100(),
    "la02": lambda seed: job_shop("la02"),
    "ft10": lambda seed: job_shop("ft10"),
    "la21": lambda seed: job_shop("la21"),
    "ta01": lambda seed: job_shop("ta01"),
    "routing100": lambda seed: [routing(100, seed)],
    "routing150": lambda seed: [routing(150, seed)],
    "routing200": lambda seed: [routing(200, seed)],
    "facility": lambda seed: [facilities(50, 200, seed)],
    "bins": lambda seed: [bins(200, seed)],
    "tsptw": lambda seed: [time_windows(50, seed)],
    "timetable": lambda seed: [timetable(200, seed)],
}
