"""Stations within reach of 400 places: set covering. Solves for five seconds and draws set_covering.png."""

import numpy as np

import systola as sy
from picture import COLOURS, INK, draw, map_axes


class Cover(sy.Problem):
    encoding = sy.Binary("costs")
    sense = sy.MINIMISE
    costs: np.ndarray
    covers: np.ndarray  # rows x columns, 0 or 1

    structure = [sy.Linear("costs"), sy.Linear("covers", ">=", 1)]


def instance(rows=400, columns=1000, seed=1, reach=0.12):
    random = np.random.default_rng(seed)
    places, sites = random.random((rows, 2)), random.random((columns, 2))
    distances = np.hypot(*(places[:, None] - sites[None]).transpose(2, 0, 1))
    covers = distances < np.maximum(reach, distances.min(axis=1, keepdims=True) * 1.01)  # a station for each place
    return Cover(random.integers(10, 31, columns), covers.astype(int)), (places, sites)


def paint(axes, places, sites, chosen, reach=0.12):
    from matplotlib.patches import Circle

    for site in sites[chosen == 1]:
        axes.add_patch(Circle(site, reach, facecolor=COLOURS[5], alpha=0.15, edgecolor="none"))
    axes.plot(*sites.T, ".", color="#C8C8C8", markersize=2, label="site")
    axes.plot(*places.T, ".", color=INK, markersize=3, label="place")
    axes.plot(*sites[chosen == 1].T, "^", color=COLOURS[1], markersize=7, label="station")
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    map_axes(axes)


if __name__ == "__main__":
    problem, (places, sites) = instance()
    result = sy.solve(problem, stop=sy.Seconds(5), seed=1)
    stations = result.solution.sum()
    print(f"{stations} stations for {result.objective}, feasible: {result.feasible} (engine: {result.algorithm})")
    title = f"400 places, 1,000 sites: {stations} stations for {result.objective}"
    draw("set_covering.png", title, paint, places, sites, result.solution)
