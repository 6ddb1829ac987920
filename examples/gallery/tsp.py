"""A tour of 1,000 cities: the travelling salesman problem. Solves for five seconds and draws tsp.png."""

import numpy as np

import systola as sy
from picture import COLOURS, INK, draw, map_axes


class Tour(sy.Problem):
    encoding = sy.Permutation("distances")
    sense = sy.MINIMISE
    distances: np.ndarray

    def link(self, a, b):  # what city b straight after city a costs
        return self.distances[a, b]

    structure = sy.Chain(link, symmetric=True)


def instance(n=1000, seed=1):
    places = np.random.default_rng(seed).random((n, 2)) * 10_000
    distances = np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1))
    return Tour(distances.round().astype(int)), places


def paint(axes, places, tour):
    axes.plot(*places[np.append(tour, tour[0])].T, color=COLOURS[0], linewidth=1)
    axes.plot(*places.T, ".", color=INK, markersize=2.5)
    map_axes(axes)


if __name__ == "__main__":
    problem, places = instance()
    result = sy.solve(problem, stop=sy.Seconds(5), seed=1)
    print(f"a tour of length {result.objective:,} (engine: {result.algorithm})")
    draw("tsp.png", f"A tour of 1,000 cities, length {result.objective:,}", paint, places, result.solution)
