"""Problems with a declared structure, one or more for each part, and the same objectives written plainly.

A declared problem has the data of its plain twin; instead of the `evaluate` of that it has the one that follows.
"""

import numpy as np

import systola as sy
from own_problems import Colouring as PlainColouring


class PlainMaxSat(sy.Problem):
    encoding = sy.Binary("n")
    n: int
    clauses: np.ndarray  # a row each; 3 is the third variable, -3 its negation, 0 none

    def evaluate(self, x):
        total = 0
        for k in range(self.clauses.shape[0]):
            for q in range(self.clauses.shape[1]):
                literal = self.clauses[k, q]
                if literal != 0 and (literal > 0) == (x[abs(literal) - 1] == 1):
                    total += 1
                    break
        return total


class MaxSat(PlainMaxSat):
    def holds(self, x, k):
        for q in range(self.clauses.shape[1]):
            literal = self.clauses[k, q]
            if literal != 0 and (literal > 0) == (x[abs(literal) - 1] == 1):
                return 1
        return 0

    def variables(self):
        return np.abs(self.clauses) - 1

    structure = sy.Terms(holds, variables)


class Colouring(PlainColouring):
    def clash(self, x, k):
        return 1 if x[self.edges[k, 0]] == x[self.edges[k, 1]] else 0

    structure = sy.Terms(clash, "edges")


class PlainLayout(sy.Problem):
    encoding = sy.Permutation("distances")
    sense = sy.MINIMISE
    distances: np.ndarray
    pairs: np.ndarray
    flows: np.ndarray

    def evaluate(self, x):
        total = 0
        for k in range(len(self.flows)):
            total += 2 * self.flows[k] * self.distances[x[self.pairs[k, 0]], x[self.pairs[k, 1]]]
        return total


class Layout(PlainLayout):
    """A quadratic assignment as a sum of terms over a permutation."""

    def flow(self, x, k):
        return self.flows[k] * self.distances[x[self.pairs[k, 0]], x[self.pairs[k, 1]]]

    structure = sy.Terms(flow, "pairs", weight=2)


class PlainQubo(sy.Problem):
    encoding = sy.Binary("q")
    q: np.ndarray

    def evaluate(self, x):
        total = self.q[0, 0] * 0
        for i in range(len(x)):
            for j in range(len(x)):
                total += self.q[i, j] * x[i] * x[j]
        return total


class Qubo(PlainQubo):
    structure = sy.Quadratic("q")


class PlainCover(sy.Problem):
    encoding = sy.Binary("costs")
    sense = sy.MINIMISE
    costs: np.ndarray
    covers: np.ndarray

    def evaluate(self, x):
        cost = 0
        for i in range(len(x)):
            cost += self.costs[i] * x[i]
        missing = 0
        for r in range(len(self.covers)):
            left = 0
            for i in range(len(x)):
                left += self.covers[r, i] * x[i]
            missing += max(1 - left, 0)
        return cost, missing

    def violation(self, measures):
        return measures[1]


class Cover(PlainCover):
    structure = [sy.Linear("costs"), sy.Linear("covers", ">=", 1)]


class PlainTour(sy.Problem):
    encoding = sy.Permutation("distances")
    sense = sy.MINIMISE
    distances: np.ndarray

    def evaluate(self, x):
        total = self.distances[0, 0] * 0
        for k in range(len(x)):
            total += self.distances[x[k], x[(k + 1) % len(x)]]
        return total


class Tour(PlainTour):
    def link(self, a, b):
        return self.distances[a, b]

    structure = sy.Chain(link, symmetric=True)


class AsymmetricTour(PlainTour):
    structure = sy.Chain(Tour.link)


class PlainPath(PlainTour):
    def evaluate(self, x):
        total = 0
        for k in range(len(x) - 1):
            total += self.distances[x[k], x[k + 1]]
        return total


class Path(PlainPath):
    structure = sy.Chain(Tour.link, cyclic=False)


class PlainTardiness(sy.Problem):
    encoding = sy.Permutation("times")
    sense = sy.MINIMISE
    times: np.ndarray
    weights: np.ndarray
    due: np.ndarray

    def evaluate(self, x):
        clock = 0
        total = 0
        for k in range(len(x)):
            clock += self.times[x[k]]
            total += self.weights[x[k]] * max(clock - self.due[x[k]], 0)
        return total


class Tardiness(PlainTardiness):
    def work(self, state, job):
        state[0] += self.times[job]
        return self.weights[job] * max(state[0] - self.due[job], 0)

    structure = sy.Passage(work)


class PlainMakespan(sy.Problem):
    encoding = sy.Permutation("times")
    sense = sy.MINIMISE
    times: np.ndarray
    ready: int

    def evaluate(self, x):
        machines = np.full(self.times.shape[1], self.ready)
        for k in range(len(x)):
            clock = 0
            for m in range(len(machines)):
                clock = max(clock, machines[m]) + self.times[x[k], m]
                machines[m] = clock
        return machines[-1]


class Makespan(PlainMakespan):
    """A permutation flowshop as a passage with the times at which machines are free."""

    def begin(self, state):
        for m in range(len(state)):
            state[m] = self.ready

    def work(self, state, job):
        clock = 0
        for m in range(len(state)):
            clock = max(clock, state[m]) + self.times[job, m]
            state[m] = clock
        return 0

    def last(self, state):
        return state[len(state) - 1]

    def machines(self):
        return self.times.shape[1]

    structure = sy.Passage(work, machines, begin, last)


class PlainPacking(sy.Problem):
    encoding = sy.Integers("sizes", 0, "last")
    sizes: np.ndarray
    last: int
    room: int

    def evaluate(self, x):
        squares = 0
        excess = 0
        for v in range(self.last + 1):
            load = 0
            for i in range(len(x)):
                if x[i] == v:
                    load += self.sizes[i]
            squares += load * load
            excess += max(load - self.room, 0)
        return squares, excess

    def violation(self, measures):
        return measures[1]


class Packing(PlainPacking):
    """Bins: what is too much is hard, and full bins are better than half-full ones."""

    def size(self, i, v):
        return self.sizes[i]

    def fill(self, v, load):
        return load * load

    def excess(self, v, load):
        return max(load - self.room, 0)

    structure = [sy.Groups(size, fill), sy.Groups(size, excess, hard=True)]


class PlainRoutes(sy.Problem):
    encoding = sy.Permutation("places")
    sense = sy.MINIMISE
    places: int
    customers: int
    distances: np.ndarray
    demands: np.ndarray
    capacity: int

    def evaluate(self, x):
        length = 0
        excess = 0
        load = 0
        here = self.customers
        for k in range(len(x)):
            length += self.distances[here, min(x[k], self.customers)]
            here = min(x[k], self.customers)
            if x[k] >= self.customers:
                excess += max(load - self.capacity, 0)
                load = 0
            else:
                load += self.demands[x[k]]
        return length + self.distances[here, self.customers], excess + max(load - self.capacity, 0)

    def violation(self, measures):
        return measures[1]


class Routes(PlainRoutes):
    """Customers 0..customers-1, then separators, which stand for the depot, the last row of distances."""

    def leg(self, a, b):
        return self.distances[min(a, self.customers), min(b, self.customers)]

    def load(self, state, item):
        if item >= self.customers:
            state[0] = 0
            return 0
        before = max(state[0] - self.capacity, 0)
        state[0] += self.demands[item]
        return max(state[0] - self.capacity, 0) - before

    def to_depot(self, a):
        return self.distances[min(a, self.customers), self.customers]

    structure = [
        sy.Chain(leg, cyclic=False, symmetric=True, first=to_depot, last=to_depot),
        sy.Passage(load, hard=True),
    ]


def _square(draws, n, symmetric=True):
    given = draws.integers(0, 100, (n, n))
    return given + given.T if symmetric else given


def pairs(seed, n=9):
    """Declared and plain instances of each kind, with n decisions or so."""
    draws = np.random.default_rng(seed)
    clauses = draws.integers(-n, n + 1, (3 * n, 3))
    edges = np.array([draws.choice(n, 2, replace=False) for _ in range(3 * n)])
    flows = draws.integers(0, 9, len(edges))
    q = draws.integers(-20, 21, (n, n))
    covers = (draws.random((n, 2 * n)) < 0.3).astype(np.int64)
    costs = draws.integers(1, 30, 2 * n)
    distances, one_way = _square(draws, n), _square(draws, n, symmetric=False)
    jobs = draws.integers(1, 20, n), draws.integers(1, 5, n), draws.integers(0, 8 * n, n)
    times = draws.integers(1, 20, (n, 3))
    sizes = draws.integers(1, 20, n)
    depots = _square(draws, n + 1)
    sparse = np.where(draws.random((n, n)) < 0.1, q, 0)
    return {
        "terms over bits": (MaxSat(n, clauses), PlainMaxSat(n, clauses)),
        "terms over integers": (Colouring(n, 2, edges), PlainColouring(n, 2, edges)),
        "terms over orders": (Layout(distances, edges, flows), PlainLayout(distances, edges, flows)),
        "a dense quadratic form": (Qubo(q), PlainQubo(q)),
        "a sparse quadratic form": (Qubo(sparse), PlainQubo(sparse)),
        "linear": (Cover(costs, covers), PlainCover(costs, covers)),
        "a symmetric chain": (Tour(distances), PlainTour(distances)),
        "an asymmetric chain": (AsymmetricTour(one_way), PlainTour(one_way)),
        "an open chain": (Path(one_way), PlainPath(one_way)),
        "a passage": (Tardiness(*jobs), PlainTardiness(*jobs)),
        "a passage with an end": (Makespan(times, 5), PlainMakespan(times, 5)),
        "groups": (Packing(sizes, 3, 40), PlainPacking(sizes, 3, 40)),
        "a chain and a passage": (
            Routes(n + 2, n, depots, sizes, 40),
            PlainRoutes(n + 2, n, depots, sizes, 40),
        ),
    }
