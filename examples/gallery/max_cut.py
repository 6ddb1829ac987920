"""The largest cut of a graph of 1,000 nodes, as a quadratic form. Solves for five seconds and draws max_cut.png."""

import numpy as np

import systola as sy
from picture import COLOURS, SOFT, draw, map_axes


class MaxCut(sy.Problem):
    encoding = sy.Binary("n")
    n: int
    edges: np.ndarray  # pairs of nodes
    weights: np.ndarray

    def form(self):  # x + y - 2xy is 1 if x and y differ: rows, columns and values of a sparse matrix
        i, j = self.edges.T
        w = self.weights
        return np.concatenate([i, j, i]), np.concatenate([i, j, j]), np.concatenate([w, w, -2 * w])

    structure = sy.Quadratic(form)


def instance(n=1000, seed=1, degree=6):
    random = np.random.default_rng(seed)
    places = random.random((n, 2))
    distances = np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1))
    near = np.argsort(distances, axis=1)[:, 1 : degree + 1]  # an edge to each of the nearest
    pairs = np.column_stack([np.repeat(np.arange(n), degree), near.ravel()])
    edges = np.unique(np.sort(pairs, axis=1), axis=0)
    return MaxCut(n, edges, random.integers(1, 11, len(edges))), places


def paint(axes, problem, places, side):
    from matplotlib.collections import LineCollection

    cut = side[problem.edges[:, 0]] != side[problem.edges[:, 1]]
    axes.add_collection(LineCollection(places[problem.edges[cut]], color="#CCCCCC", linewidth=0.6, label="cut"))
    axes.add_collection(LineCollection(places[problem.edges[~cut]], color=SOFT, linewidth=1.0, label="not cut"))
    for value in (0, 1):
        axes.plot(*places[side == value].T, ".", color=COLOURS[value], markersize=4.5)
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    map_axes(axes)


if __name__ == "__main__":
    problem, places = instance()
    result = sy.solve(problem, stop=sy.Seconds(5), seed=1)
    print(f"a cut of {result.objective:,} of {problem.weights.sum():,} (engine: {result.algorithm})")
    title = f"1,000 nodes, {len(problem.edges):,} edges, a cut of {result.objective:,}"
    draw("max_cut.png", title, paint, problem, places, result.solution)
