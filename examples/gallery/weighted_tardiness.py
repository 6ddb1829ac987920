"""100 jobs on one machine, as little late as possible. Solves for five seconds and draws weighted_tardiness.png."""

import numpy as np

import systola as sy
from picture import COLOURS, SOFT, draw


class Tardiness(sy.Problem):
    encoding = sy.Permutation("times")
    sense = sy.MINIMISE
    times: np.ndarray
    weights: np.ndarray
    due: np.ndarray

    def work(self, state, job):  # state[0] is the clock
        state[0] += self.times[job]
        return self.weights[job] * max(state[0] - self.due[job], 0)

    structure = sy.Passage(work, state=1)


def instance(n=100, seed=1, tightness=0.6, spread=0.4):
    random = np.random.default_rng(seed)
    times, weights = random.integers(1, 101, n), random.integers(1, 11, n)
    middle = 1 - tightness
    due = times.sum() * random.uniform(middle - spread / 2, middle + spread / 2, n)
    return Tardiness(times, weights, due.astype(int)), None


def paint(axes, problem, order):
    ends = np.cumsum(problem.times[order])
    due, weight = problem.due[order], problem.weights[order]
    late = ends > due
    for which, colour, label in ((~late, COLOURS[0], "in time"), (late, COLOURS[1], "late")):
        axes.scatter(due[which], ends[which], s=5 * weight[which], color=colour, alpha=0.8, linewidth=0, label=label)
    axes.axline((0, 0), slope=1, color=SOFT, linewidth=0.8)
    axes.set(xlabel="Due", ylabel="Completed", xlim=(0, ends[-1]), ylim=(0, ends[-1] * 1.02))
    axes.legend(loc="lower right", title="size: weight")


if __name__ == "__main__":
    problem, _ = instance()
    result = sy.solve(problem, stop=sy.Seconds(5), seed=1)
    late = (np.cumsum(problem.times[result.solution]) > problem.due[result.solution]).sum()
    print(f"weighted tardiness {result.objective:,}, {late} of 100 jobs late (engine: {result.algorithm})")
    title = f"100 jobs, weighted tardiness {result.objective:,}"
    draw("weighted_tardiness.png", title, paint, problem, result.solution)
