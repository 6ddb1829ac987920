"""250 items into as few bins as possible. Solves for ten seconds and draws bin_packing.png."""

import numpy as np

import systola as sy
from picture import COLOURS, INK, draw


class BinPacking(sy.Problem):
    encoding = sy.Integers("sizes", 0, "last")
    sense = sy.MINIMISE
    sizes: np.ndarray
    capacity: int
    last: int  # bins are 0..last
    unit: int  # what a bin costs, more than all squares together

    def size(self, i, b):
        return self.sizes[i]

    def cost(self, b, load):  # the squares prefer a full and an empty bin to two half full ones
        return self.unit + self.capacity**2 - min(load, self.capacity) ** 2 if load else 0

    def excess(self, b, load):
        return max(load - self.capacity, 0)

    structure = [sy.Groups(size, cost), sy.Groups(size, excess, hard=True)]


def instance(n=250, seed=1, capacity=150):
    sizes = np.random.default_rng(seed).integers(20, 101, n)
    least = -(-sizes.sum() // capacity)
    return BinPacking(sizes, capacity, least + least // 10, 2 * n * capacity**2), least


def paint(axes, problem, bins):
    loads = np.bincount(bins, problem.sizes)
    for k, b in enumerate(np.argsort(-loads, kind="stable")):
        floor = 0
        for i, size in enumerate(sorted(problem.sizes[bins == b], reverse=True)):
            axes.bar(k, size, 1.0, floor, color=COLOURS[(0, 5, 2, 4, 3, 1)[i % 6]], edgecolor="white", linewidth=0.4)
            floor += size
    axes.axhline(problem.capacity, color=INK, linewidth=0.8)
    axes.set(xlabel="Bin", ylabel="Load", xlim=(-0.5, (loads > 0).sum() - 0.5))


if __name__ == "__main__":
    problem, least = instance()
    result = sy.solve(problem, stop=sy.Seconds(10), seed=1)
    used = len(set(result.solution))
    print(f"{used} bins, {least} at least, feasible: {result.feasible} (engine: {result.algorithm})")
    draw("bin_packing.png", f"250 items in {used} bins; no fewer than {least}", paint, problem, result.solution)
