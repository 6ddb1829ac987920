"""Which of 100 warehouses to open for 300 customers. Solves for five seconds and draws facility_location.png."""

import numpy as np

import systola as sy
from picture import COLOURS, SOFT, draw, map_axes


class Facilities(sy.Problem):
    encoding = sy.Binary("fixed")
    sense = sy.MINIMISE
    fixed: np.ndarray  # what it costs to open a facility
    costs: np.ndarray  # customers x facilities
    unserved: int  # what a customer costs while nothing is open

    def serve(self, is_open, customer):
        cheapest = self.unserved
        for f in range(len(self.fixed)):
            if is_open[f]:
                cheapest = min(cheapest, self.costs[customer, f])
        return cheapest

    def all_facilities(self):  # any of them may serve a customer
        return np.tile(np.arange(len(self.fixed)), (len(self.costs), 1))

    structure = [sy.Linear("fixed"), sy.Terms(serve, all_facilities)]


def instance(facilities=100, customers=300, seed=1):
    random = np.random.default_rng(seed)
    sites, places = random.random((facilities, 2)) * 1_000, random.random((customers, 2)) * 1_000
    distances = np.hypot(*(places[:, None] - sites[None]).transpose(2, 0, 1))
    costs = (distances * random.integers(1, 11, (customers, 1))).round().astype(int)
    return Facilities(random.integers(5_000, 15_001, facilities), costs, 2 * costs.max()), (sites, places)


def paint(axes, problem, sites, places, chosen):
    from matplotlib.collections import LineCollection

    opened = np.flatnonzero(chosen)
    nearest = opened[np.argmin(problem.costs[:, opened], axis=1)]
    lines = np.stack([places, sites[nearest]], axis=1)
    axes.add_collection(LineCollection(lines, color=COLOURS[5], linewidth=0.7))
    axes.plot(*places.T, ".", color=SOFT, markersize=3, label="customer")
    axes.plot(*sites.T, "s", color="#C8C8C8", markersize=4, label="closed")
    axes.plot(*sites[opened].T, "s", color=COLOURS[1], markersize=7, label="open")
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    map_axes(axes)


if __name__ == "__main__":
    problem, (sites, places) = instance()
    result = sy.solve(problem, stop=sy.Seconds(5), seed=1)
    opened = result.solution.sum()
    print(f"{opened} facilities, total cost {result.objective:,} (engine: {result.algorithm})")
    title = f"300 customers, {opened} of 100 facilities, cost {result.objective:,}"
    draw("facility_location.png", title, paint, problem, sites, places, result.solution)
