"""Routes to 200 customers by vehicles of equal capacity. Solves for ten seconds and draws vehicle_routing.png."""

import numpy as np

import systola as sy
from picture import COLOURS, INK, draw, map_axes


class Routes(sy.Problem):
    encoding = sy.Permutation("places")
    sense = sy.MINIMISE
    places: int  # customers, and one less than there are vehicles: these separate routes
    capacity: int
    demands: np.ndarray
    distances: np.ndarray  # of customers, and of the depot in the last row and column

    def leg(self, a, b):
        return self.distances[min(a, len(self.demands)), min(b, len(self.demands))]

    def to_depot(self, a):
        return self.distances[min(a, len(self.demands)), len(self.demands)]

    def load(self, state, item):
        if item >= len(self.demands):  # back at the depot
            state[0] = 0
            return 0
        before = max(state[0] - self.capacity, 0)
        state[0] += self.demands[item]
        return max(state[0] - self.capacity, 0) - before

    legs = sy.Chain(leg, cyclic=False, symmetric=True, first=to_depot, last=to_depot)
    structure = [legs, sy.Passage(load, hard=True)]


def instance(n=200, seed=1, capacity=505):
    random = np.random.default_rng(seed)
    places = np.vstack([random.random((n, 2)) * 1_000, [[500, 500]]])  # the depot is the last, in the middle
    distances = np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1)).round().astype(int)
    demands = random.integers(1, 101, n)
    vehicles = -(-demands.sum() // capacity) + 2  # two to spare
    return Routes(n + vehicles - 1, capacity, demands, distances), places


def routes(order, customers):
    """The lists of customers between separators; empty ones are vehicles that stay."""
    cuts = np.flatnonzero(order >= customers)
    lists = np.split(order, cuts)
    return [found for found in (part[part < customers] for part in lists) if len(found)]


def paint(axes, places, found):
    depot = len(places) - 1
    for k, route in enumerate(found):
        stops = places[[depot, *route, depot]]
        axes.plot(*stops.T, color=COLOURS[k % 6], linewidth=1.1, alpha=0.9)
        axes.plot(*stops[1:-1].T, ".", color=COLOURS[k % 6], markersize=4)
    axes.plot(*places[depot], "s", color=INK, markersize=7)
    map_axes(axes)


if __name__ == "__main__":
    problem, places = instance()
    result = sy.solve(problem, stop=sy.Seconds(10), seed=1)
    found = routes(result.solution, 200)
    print(f"{len(found)} routes, length {result.objective:,}, feasible: {result.feasible} (engine: {result.algorithm})")
    title = f"200 customers, {len(found)} routes of length {result.objective:,}"
    draw("vehicle_routing.png", title, paint, places, found)
