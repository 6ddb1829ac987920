"""Systolic Genetic Search against its naive twin, and its plans against the paper."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import systola as sy
from conftest import Balance, OneMax, small_knapsack, small_release
from engines.naive_sgs import points, run
from engines.opened import open_run
from own_problems import FirstPlace
from systola.engines.systolic_plan import crossover_plan, mutation_plan
from systola.model.objective import better, evaluate
from systola.model.problem import record_of, space_of

PROBLEMS = {
    "marks, additive": small_knapsack(21),
    "marks, additive, two words": small_knapsack(70),
    "marks, blocks": sy.MMDP(66),
    "marks, ties by dominance": small_release(21),
    "plain": OneMax(20),
    "plain, float": Balance(np.random.default_rng(1).random(20)),
}


class Flipped(sy.Problem):
    """A knapsack that offers flips only."""

    encoding = sy.Binary("profits")
    profits: np.ndarray
    weights: np.ndarray
    capacity: int
    evaluate = sy.Knapsack.evaluate
    violation = sy.Knapsack.violation
    capabilities = (sy.Flips(sy.Knapsack.flip),)

    def fitness(self, measures):
        return measures[0] - max(measures[1] - self.capacity, 0) * self.capacity


def streams(problem, design, session, step):
    """Solutions by 1-based cell before step + 1, read from the rotating rows."""
    population = session.population()
    x = problem.encoding.load(space_of(problem), population.x)
    rows_h, rows_v = sy.SGS.rows_of_cells(design, population.slots, step)
    tau, l = design.shape  # noqa: E741
    by_cell = [
        {(i + 1, j + 1): x[rows[i, j]].tolist() for i in range(tau) for j in range(l)} for rows in (rows_h, rows_v)
    ]
    return by_cell[0], by_cell[1]


@pytest.mark.parametrize("flavour", "TEVB")
@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.long if n == "plain, float" else []) for n in PROBLEMS]
)
def test_equals_naive_twin(name, flavour):
    problem = PROBLEMS[name]
    check_against_twin(problem, flavour, 13)


def test_flips_equal_naive_twin():
    knapsack = small_knapsack(70)
    check_against_twin(Flipped(knapsack.profits, knapsack.weights, knapsack.capacity), "B", 9)


def check_against_twin(problem, flavour, steps):
    design, session = open_run(problem, sy.SGS(flavour), 4)
    horizontal, vertical = streams(problem, design, session, 0)
    session.sweep(1, steps, 0, session.lanes)

    def measure(x):
        value = evaluate(record_of(problem), np.array(x, np.uint8))
        return np.array(value if isinstance(value, tuple) else (value,))

    expected = run(flavour, horizontal, vertical, steps, measure, lambda a, b: better(record_of(problem), a, b))
    assert streams(problem, design, session, steps) == expected
    # Stored measures are those of the stored solutions.
    population = session.population()
    for row in range(0, design.rows, 7):
        x = problem.encoding.load(space_of(problem), population.x[row : row + 1])[0]
        assert population.scores[row].tolist() == measure(x.tolist()).tolist()


@pytest.mark.parametrize("l", [8, 9, 21, 100, 101, 1000])
def test_plans_are_the_papers(l):  # noqa: E741
    tau = int(np.ceil(np.log2(l)))
    first, last = crossover_plan(l, l, tau)
    turn = mutation_plan(l, l, tau)
    for i in range(tau):
        for j in range(l):
            a, b, m = points(l, tau, i + 1, j + 1)
            assert (first[i, j] + 1, last[i, j] + 1, turn[i, j] + 1) == (a, b, m)


def test_each_row_flips_every_decision_once():
    turn = mutation_plan(100, 100, 7)
    assert all(sorted(row) == list(range(100)) for row in turn)


def test_budget_and_size():
    design = sy.SGS().prepare(small_knapsack(100))
    assert (design.cells, design.rows, design.steps, design.per_step) == (700, 1400, 700, 1400)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 30), st.integers(1, 6), st.randoms(use_true_random=False))
def test_own_plans(length, width, random):
    n = 20
    first = np.array([[random.randrange(n + 1) for _ in range(length)] for _ in range(width)])
    last = np.maximum(first, first[::-1, ::-1])
    turn = np.array([[random.randrange(n) for _ in range(length)] for _ in range(width)])
    engine = sy.SGS("V", length=length, width=width, crossover_plan=(first, last), mutation_plan=turn)
    result = sy.solve(small_knapsack(n), engine, stop=sy.Iterations(4))
    assert result.evaluations == 5 * 2 * length * width


@pytest.mark.parametrize(
    ("settings", "rule"),
    [
        ({"flavour": "X"}, "flavour"),
        ({"length": 0}, "length"),
        ({"width": -1}, "width"),
        ({"mutation_plan": np.full((6, 40), 40)}, "mutation"),
        ({"mutation_plan": np.zeros((2, 2), int)}, "shape"),
        ({"crossover_plan": (np.full((6, 40), 9), np.full((6, 40), 8))}, "crossover"),
    ],
)
def test_bad_parameters(settings, rule):
    with pytest.raises(sy.InputError, match=rule):
        sy.solve(small_knapsack(), sy.SGS(**settings))


def test_only_binary():
    with pytest.raises(sy.InputError, match="binary"):
        sy.solve(FirstPlace(5), sy.SGS())
