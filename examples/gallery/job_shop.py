"""15 jobs on 15 machines, Taillard's ta01. Solves for ten seconds and draws job_shop.png."""

import numpy as np

import systola as sy
from picture import draw


class JobShop(sy.Problem):
    encoding = sy.Permutation("times")  # the k-th item of a job is its k-th operation, whichever of them it is
    sense = sy.MINIMISE
    jobs: int
    machines: int
    machine: np.ndarray  # of each operation, job after job
    times: np.ndarray

    def schedule(self, state, item):  # when jobs are ready, when machines are, how many operations jobs have had
        job = item // self.machines
        done = self.jobs + self.machines + job
        operation = job * self.machines + state[done]
        place = self.jobs + self.machine[operation]
        state[job] = state[place] = max(state[job], state[place]) + self.times[operation]
        state[done] += 1
        return 0

    def makespan(self, state):
        last = 0
        for job in range(self.jobs):
            last = max(last, state[job])
        return last

    structure = sy.Passage(schedule, state=lambda self: 2 * self.jobs + self.machines, end=makespan)


def instance(jobs=15, machines=15, seeds=(840612802, 398197754)):
    def uniform(seed):  # Taillard's random numbers between 0 and 1
        while True:
            seed = 16807 * seed % (2**31 - 1)
            yield seed / (2**31 - 1)

    of_times, of_machines = map(uniform, seeds)
    times = [1 + int(99 * next(of_times)) for _ in range(jobs * machines)]
    machine = np.tile(np.arange(machines), (jobs, 1))
    for row in machine:
        for k in range(machines):
            other = k + int((machines - k) * next(of_machines))
            row[[k, other]] = row[[other, k]]
    return JobShop(jobs, machines, machine.ravel(), times), None


def bars(problem, order):
    """Job, machine, begin and time of each operation."""
    ready, free = [0] * problem.jobs, [0] * problem.machines
    left = [iter(range(job * problem.machines, (job + 1) * problem.machines)) for job in range(problem.jobs)]
    for job in order // problem.machines:
        operation = next(left[job])
        machine, time = problem.machine[operation], problem.times[operation]
        begin = max(ready[job], free[machine])
        ready[job] = free[machine] = begin + time
        yield job, machine, begin, time


def paint(axes, problem, order):
    from matplotlib import colormaps

    for job, machine, begin, time in bars(problem, order):
        colour = colormaps["tab20"](job)
        axes.barh(machine + 1, time, 0.8, begin, color=colour, edgecolor="white", linewidth=0.4)
    axes.set(xlabel="Time (a colour for each job)", ylabel="Machine", ylim=(problem.machines + 0.7, 0.3))


if __name__ == "__main__":
    problem, _ = instance()
    result = sy.solve(problem, stop=sy.Seconds(10), seed=1)
    print(f"makespan {result.objective:,} (engine: {result.algorithm})")
    draw("job_shop.png", f"ta01: 15 jobs, 15 machines, makespan {result.objective:,}", paint, problem, result.solution)
