"""Frequencies for 400 transmitters: graph colouring. Solves for five seconds and draws graph_colouring.png."""

import numpy as np

import systola as sy
from picture import COLOURS, draw, map_axes


class Colouring(sy.Problem):
    encoding = sy.Integers("n", 0, "last")
    sense = sy.MINIMISE
    n: int
    last: int  # colours are 0..last
    edges: np.ndarray

    def clash(self, colour, e):
        return 1 if colour[self.edges[e, 0]] == colour[self.edges[e, 1]] else 0

    structure = sy.Terms(clash, "edges")


def instance(n=400, colours=11, seed=1, radius=0.1):
    places = np.random.default_rng(seed).random((n, 2))
    distances = np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1))
    edges = np.argwhere(np.triu(distances < radius, 1))
    return Colouring(n, colours - 1, edges), places


def paint(axes, problem, places, colour):
    from matplotlib import colormaps
    from matplotlib.collections import LineCollection

    clash = colour[problem.edges[:, 0]] == colour[problem.edges[:, 1]]
    axes.add_collection(LineCollection(places[problem.edges], color="#DDDDDD", linewidth=0.5))
    axes.add_collection(LineCollection(places[problem.edges[clash]], color=COLOURS[1], linewidth=2))
    axes.scatter(*places.T, c=colormaps["tab20"](colour), s=22, zorder=2)
    map_axes(axes)


if __name__ == "__main__":
    problem, places = instance()
    result = sy.solve(problem, stop=sy.Seconds(5) | sy.Target(0), seed=1)
    print(f"{result.objective} clashes with {problem.last + 1} colours (engine: {result.algorithm})")
    title = f"400 nodes, {len(problem.edges):,} edges, {problem.last + 1} colours, {result.objective} clashes"
    draw("graph_colouring.png", title, paint, problem, places, result.solution)
