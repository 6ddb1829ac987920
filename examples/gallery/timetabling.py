"""200 events into a week of 45 hours and 6 rooms. Solves for ten seconds and draws timetabling.png."""

import numpy as np

import systola as sy
from picture import draw


class Timetable(sy.Problem):
    encoding = sy.Integers("students", 0, "last")  # of each event, a room at an hour
    sense = sy.MINIMISE
    students: np.ndarray  # of each event
    pairs: np.ndarray  # events with students in common
    common: np.ndarray  # how many
    seats: np.ndarray  # of each value
    hour: np.ndarray  # of each value; one is left out between days
    last: int

    def in_a_row(self, x, k):
        return self.common[k] * (abs(self.hour[x[self.pairs[k, 0]]] - self.hour[x[self.pairs[k, 1]]]) == 1)

    def clash(self, x, k):
        return self.common[k] * (self.hour[x[self.pairs[k, 0]]] == self.hour[x[self.pairs[k, 1]]])

    def events(self, i, v):  # counts twice where not all have a seat
        return 1 if self.students[i] <= self.seats[v] else 2

    def too_many(self, v, load):
        return max(load - 1, 0)

    soft = sy.Terms(in_a_row, "pairs")
    structure = [soft, sy.Terms(clash, "pairs", hard=True), sy.Groups(events, too_many, hard=True)]


def instance(events=200, students=200, rooms=6, seed=1):
    random = np.random.default_rng(seed)
    hidden = random.permutation(45 * rooms)[:events]  # a timetable without a clash: five days of nine hours
    attends = np.zeros((students, events), int)
    for row in attends:  # a student takes one event at most of each hour
        for hour in random.permutation(45)[: random.integers(5, 21)]:
            at_once = np.flatnonzero(hidden // rooms == hour)
            if len(at_once):
                row[random.choice(at_once)] = 1
    size = attends.sum(axis=0)
    seats = np.array([size[hidden % rooms == room].max(initial=0) for room in range(rooms)])  # just enough
    shared = np.triu(attends.T @ attends, 1)
    pairs, week = np.argwhere(shared), np.arange(45 * rooms)
    hour = week // rooms + week // rooms // 9
    return Timetable(size, pairs, shared[tuple(pairs.T)], seats[week % rooms], hour, len(week) - 1), hidden


def paint(axes, problem, solution, rooms=6):
    grid = np.full(45 * rooms, np.nan)
    grid[solution] = problem.students
    table = np.full((9, 5 * (rooms + 1) - 1), np.nan)  # hours down, rooms of each day across
    for day in range(5):
        table[:, day * (rooms + 1) : day * (rooms + 1) + rooms] = grid.reshape(5, 9, rooms)[day]
    image = axes.imshow(table, cmap="viridis_r", aspect="auto")
    axes.figure.colorbar(image, label="Students of the event")
    axes.set_xticks(np.arange(5) * (rooms + 1) + rooms / 2 - 0.5, ["Mon", "Tue", "Wed", "Thu", "Fri"])
    axes.set(ylabel="Hour", xlabel=f"Day, {rooms} rooms each; white: free")
    axes.set_yticks(range(9), range(8, 17))


if __name__ == "__main__":
    problem, hidden = instance()
    result = sy.solve(problem, stop=sy.Seconds(10), seed=1)
    print(f"{result.objective:,} back-to-back classes, violation {result.violation:g} (engine: {result.algorithm})")
    title = f"200 events, {result.objective:,} back-to-back classes, violation {result.violation:g}"
    draw("timetabling.png", title, paint, problem, result.solution)
