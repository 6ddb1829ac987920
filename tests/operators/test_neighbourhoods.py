"""Neighbourhoods of every problem: all moves in order, measured as `evaluate` does, after moves that were followed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import systola as sy
from conftest import OneMax, small_knapsack, small_multi_knapsack, small_release
from engines import naive_walks
from own_problems import Tour
from systola.backends.session import Setup, allocate
from systola.backends.step import before_steps
from systola.jit.records import widen
from systola.model.encodings import Bits, Digits
from systola.model.objective import evaluate
from systola.model.problem import bind, record_of, senses_of, space_of
from systola.operators.neighbourhoods import plan_neighbourhood
from systola.operators.neighbours import (
    accept_move,
    apply_move,
    evaluate_current,
    evaluate_moves,
    is_move,
    move_of,
    row_begin,
    row_end,
)

BINARY, INTEGER, ORDERED = ("flip", "flip-two"), ("reassign",), ("swap", "insertion", "reversal")


class Dice(sy.Problem):
    """Integers of different ranges, one of them with one value, and nothing but an objective."""

    encoding = sy.Integers("low", "low", "high")
    low: np.ndarray
    high: np.ndarray

    def evaluate(self, x):
        total = 0
        for i in range(len(x)):
            total += x[i] * x[i - 1] * i
        return total


def customers():
    return sy.CustomerRelease.from_requests(
        np.array([5, 7, 3, 9, 4]), np.array([2, 4, 1, 3, 5]), [[0, 1], [1, 2], [3], [2, 4], [0]], [(0, 3)], 9
    )


def assignment(n, symmetric, seed=1):
    flows, distances = np.random.default_rng(seed).integers(-3, 9, (2, n, n))
    if symmetric:
        flows, distances = flows + flows.T, distances + distances.T
    return sy.QuadraticAssignment(flows, distances)


def flowshop(jobs, objectives, largest=9):
    draws = np.random.default_rng(jobs)
    times = draws.integers(0, largest, (jobs, 3))
    due, release = draws.integers(0, 2 * jobs * largest, jobs), draws.integers(0, jobs * largest, jobs)
    return sy.Flowshop(times, due, release, objectives)


def agents():
    draws = np.random.default_rng(4)
    return sy.GeneralizedAssignment(*draws.integers(1, 20, (2, 4, 6)), draws.integers(15, 30, 4))


PROBLEMS = [
    small_knapsack(8),
    small_knapsack(66),
    sy.MMDP(12),
    small_release(8),
    customers(),
    small_multi_knapsack(8),
    OneMax(5),
    agents(),
    Dice(np.array([-2, 3, 0, 1]), np.array([2, 3, 4, 2])),
    assignment(7, True),
    assignment(6, False),
    flowshop(6, "makespan"),
    flowshop(18, "makespan"),
    flowshop(6, "tardy,flowtime,makespan,tardiness"),
    flowshop(17, "tardiness,makespan"),
    flowshop(5, "flowtime,makespan", 10**9),
    Tour(6),
    *(assignment(2, True), flowshop(2, "makespan,tardy"), OneMax(2)),
]
PAIRS = [
    (problem, name)
    for problem in PROBLEMS
    for name in {Bits: BINARY, Digits: INTEGER}.get(type(space_of(problem)), ORDERED)
    if space_of(problem).n < 60 or name == "flip"
]


class Place:
    """A session's arrays, in which the present solution is row 0."""

    def __init__(self, problem, name, chunk, x):
        bind(type(problem))
        self.problem, self.name, self.space = problem, name, space_of(problem)
        self.record = widen(record_of(problem))
        design = sy.Tabu(name).prepare(problem)
        self.engine, self.size = design.record, design.cells
        first = self.measures(x)
        dtype = np.float64 if any(isinstance(m, float) for m in first) else np.int64
        self.population, self.lanes, _ = allocate(Setup(problem, design, len(first), dtype, 1), 3, chunk)
        self.lanes = self.lanes._replace(decisions=self.lanes.decisions.astype(np.int64))
        self.population.x[0] = problem.encoding.store(self.space, x)[0]
        self.share = len(self.lanes.trial) // 3
        self.alone = getattr(problem, "alone", False)

    def measures(self, x):
        value = evaluate(self.record, np.asarray(x, np.int64))
        return [v.item() if isinstance(v, np.generic) else v for v in (value if isinstance(value, tuple) else (value,))]

    def step(self):
        return before_steps(self.record, self.space, self.population, self.lanes, 1)

    def now(self):
        return self.problem.encoding.load(self.space, self.population.x)[0].tolist()

    def evaluate_current(self):
        evaluate_current(self.engine, self.step())

    def check_all(self, widths):
        """Every move in the order of numbers, in blocks of these widths, and the measures of where it leads."""
        lane, x = 1, self.now()
        low, high = (self.space.low.tolist(), self.space.high.tolist()) if hasattr(self.space, "low") else ([], [])
        world = naive_walks.World(lambda x: 0, low=low, high=high)
        wanted = [neighbour.x for neighbour in naive_walks.neighbours(world, self.name, x)]
        assert len(wanted) == self.size
        number, at = 0, lane * self.share
        i, j = move_of(self.engine, 0)
        fresh = True
        counted = len(senses_of(self.problem)) if self.alone else self.lanes.trial.shape[1]
        while number < self.size:
            if j == row_end(self.engine, i):
                i, fresh = i + 1, True
                j = row_begin(self.engine, i)
                continue
            end = min(j + min(next(widths), self.share - 1), row_end(self.engine, i))
            self.evaluate_moves(lane, i, j, end, fresh, at)
            fresh = fresh and end - j == 1
            for place in range(j, end):
                if is_move(self.engine, i, place):
                    assert tuple(move_of(self.engine, number)) == (i, place)
                    assert self.moved(i, place) == wanted[number]
                    found = self.lanes.trial[at + place - j, :counted].tolist()
                    assert found == self.measures(wanted[number])[:counted]
                    number += 1
            j = end
        assert self.now() == x

    def evaluate_moves(self, lane, i, first, last, fresh, at):
        evaluate_moves(self.engine, self.step(), lane, i, first, last, fresh, at)

    def moved(self, i, j):
        x = self.population.x[:1].copy()
        apply_move(self.engine, self.space, x, 0, i, j)
        return self.problem.encoding.load(self.space, x)[0].tolist()

    def accept_move(self, number):
        i, j = move_of(self.engine, number)
        wanted, best_trial = self.moved(i, j), 2 * self.share - 1
        self.evaluate_moves(1, i, j, j + 1, True, self.share)
        self.lanes.trial[best_trial] = self.lanes.trial[self.share]
        accept_move(self.engine, self.step(), i, j, best_trial)
        assert self.now() == wanted
        assert self.population.scores[0].tolist() == self.measures(wanted)


@pytest.mark.parametrize("chunk", [1, 64], ids=["one at a time", "blocks"])
@pytest.mark.parametrize(
    ("problem", "name"), PAIRS, ids=lambda v: v if isinstance(v, str) else f"{type(v).__name__}-{space_of(v).n}"
)
@settings(deadline=None, max_examples=4)
@given(st.integers(0, 2**32 - 1), st.lists(st.integers(1, 16), min_size=1, max_size=8))
def test_neighbours_are_measured_as_evaluated(problem, name, chunk, seed, widths):
    draws = np.random.default_rng(seed)
    endless = iter(lambda: int(draws.choice(widths)), None)
    place = Place(problem, name, chunk, draw_solution(problem, draws))
    place.evaluate_current()
    assert place.population.scores[0].tolist() == place.measures(place.now())
    place.check_all(endless)
    for _ in range(3):
        place.accept_move(int(draws.integers(place.size)))
    place.check_all(endless)


def draw_solution(problem, draws):
    space = space_of(problem)
    if isinstance(space, Bits):
        return draws.integers(0, 2, space.n)
    return draws.integers(space.low, space.high + 1) if isinstance(space, Digits) else draws.permutation(space.n)


def test_which_way_is_taken():
    """Problems that can say more about neighbours are asked for it."""
    labels = {
        (type(problem).__name__, name): plan_neighbourhood(name, problem).label
        for problem, name in PAIRS
        if space_of(problem).n > 2
    }
    assert labels["QuadraticAssignment", "swap"] == "swap_table"
    assert labels["Flowshop", "insertion"] == "insertion_blocks"
    assert labels["Flowshop", "swap"] == "swap"
    assert labels["Tour", "insertion"] == "insertion"
    assert labels["Knapsack", "flip-two"] == "flip_two"
