"""A tour that meets 100 time windows, with one-way streets. Solves for ten seconds and draws time_windows.png."""

import numpy as np

import systola as sy
from picture import COLOURS, FAINT, INK, draw


class TimeWindows(sy.Problem):
    encoding = sy.Permutation("due")
    sense = sy.MINIMISE
    ready: np.ndarray  # of each place
    due: np.ndarray
    travel: np.ndarray  # of places, and of the depot in the last row and column

    def leg(self, a, b):
        return self.travel[a, b]

    def leave(self, a):
        return self.travel[len(self.due), a]

    def come_back(self, a):
        return self.travel[a, len(self.due)]

    def start(self, state):  # the clock, and where we are: at the depot
        state[1] = len(self.due)

    def visit(self, state, place):  # whoever comes early waits; what comes late is violation
        state[0] = max(state[0] + self.travel[state[1], place], self.ready[place])
        state[1] = place
        return max(state[0] - self.due[place], 0)

    structure = [sy.Chain(leg, cyclic=False, first=leave, last=come_back), sy.Passage(visit, 2, start, hard=True)]


def instance(n=100, seed=1, width=80):
    random = np.random.default_rng(seed)
    places = random.random((n + 1, 2)) * 100
    straight = np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1))
    travel = np.ceil(straight * (1 + random.random((n + 1, n + 1)) / 3)).astype(int)
    for k in range(n + 1):  # no detour is shorter than the way
        travel = np.minimum(travel, travel[:, k, None] + travel[None, k])
    tour, left = [n], set(range(n))  # windows lie around the times of a tour that goes to the second nearest place
    while left:
        near = sorted(left, key=lambda place: travel[tour[-1], place])
        tour.append(near[min(1, len(near) - 1)])
        left.remove(tour[-1])
    times = np.zeros(n, int)
    times[tour[1:]] = np.cumsum(travel[tour[:-1], tour[1:]])
    ready = np.maximum(times - random.integers(0, width // 2, n), 0)
    return TimeWindows(ready, times + random.integers(0, width // 2, n), travel), tour[1:]


def arrivals(problem, order):
    """When each visit begins, in the order of the tour."""
    clock, here, found = 0, len(order), []
    for place in order:
        clock = max(clock + problem.travel[here, place], problem.ready[place])
        here = place
        found.append(clock)
    return found


def paint(axes, problem, order):
    rows = np.arange(len(order))
    axes.hlines(rows, problem.ready[order], problem.due[order], color=FAINT, linewidth=2.4, label="time window")
    times = np.array(arrivals(problem, order))
    late = times > problem.due[order]
    axes.plot(times[~late], rows[~late], ".", color=COLOURS[0], markersize=4, label="visit begins")
    if late.any():
        axes.plot(times[late], rows[late], "x", color=COLOURS[1], markersize=5, label="too late")
    axes.set(xlabel="Time", ylabel="Place of the tour", ylim=(len(order), -1))
    axes.legend(loc="upper right", labelcolor=INK)


if __name__ == "__main__":
    problem, hidden = instance()
    result = sy.solve(problem, stop=sy.Seconds(10), seed=1)
    print(f"travel {result.objective:,}, too late by {result.violation:g} (engine: {result.algorithm})")
    title = f"100 time windows, travel {result.objective:,}, too late by {result.violation:g}"
    draw("time_windows.png", title, paint, problem, result.solution)
