"""Systolic Neighborhood Search against its naive twin; repair and seeded starts; the paper's budget."""

from itertools import islice, product

import numpy as np
import pytest

import systola as sy
from conftest import Balance, OneMax, small_knapsack, small_multi_knapsack, story
from engines.naive_sns import run
from engines.opened import open_run
from systola.backends.cpu import CpuSession
from systola.backends.session import Setup
from systola.engines.neighbourhood import evaluations_for
from systola.model.objective import evaluate, fitness
from systola.model.problem import record_of, space_of
from systola.model.rng import STEP, below, draw

SEED = 4
PROBLEMS = {
    "states": small_multi_knapsack(21, 4),
    "states, two words": small_multi_knapsack(70, 17),
    "loose": small_multi_knapsack(66, 2, tightness=0.9),
    "measures as states": small_knapsack(21),
    "interacting flips": sy.MMDP(24),
    "interacting flips across words": sy.MMDP(66),
    "plain": OneMax(20),
    "plain, float": Balance(np.random.default_rng(1).random(20)),
}


def mesh_of(problem, design, session, step):
    population = session.population()
    (rows,) = sy.SNS.rows_of_cells(design, population.slots, step)
    return problem.encoding.load(space_of(problem), population.x)[rows]


def fitness_of(problem):
    def value(x):
        measures = evaluate(record_of(problem), np.array(x, np.uint8))
        return fitness(record_of(problem), np.array(measures if isinstance(measures, tuple) else (measures,)))

    return value


def random_decisions(n):
    """The documented draws, by a list of what is taken already."""

    def decide(step, cell, count):
        i, j = cell
        numbers = [r for k in range((count + 3) // 4) for r in draw(SEED, STEP, step + 1, i * n + j, k)]
        taken = []
        for k in range(count):
            last = n - count + k
            chosen = below(numbers[k], last + 1)
            taken.append(last if chosen in taken else chosen)
        return taken

    return decide


SLOW_TWINS = ("interacting flips", "plain")  # of square meshes


def pairs():
    for name, options in product(PROBLEMS, product((False, True), repeat=3)):
        engine = sy.SNS(*options)
        is_long = name == "plain, float" or (name in SLOW_TWINS and not engine.exponential and engine.random)
        yield pytest.param(name, options, id=f"{name}-{engine.name}", marks=pytest.mark.long if is_long else [])


@pytest.mark.parametrize(("name", "options"), list(pairs()))
def test_equals_naive_twin(name, options):
    problem, engine = PROBLEMS[name], sy.SNS(*options)
    n = space_of(problem).n
    if n > 30 and not engine.exponential:
        pytest.skip("the twin is too slow for a large square mesh")
    steps = n + 3 if n < 30 else 9  # past a full tour, so that rows move
    design, session = open_run(problem, engine, SEED)
    first = mesh_of(problem, design, session, 0).reshape(-1, n)
    twin = run(
        fitness_of(problem),
        first.tolist(),
        n,
        engine.exponential,
        engine.moving,
        random_decisions(n) if engine.random else None,
    )
    expected = np.array(next(islice(twin, steps - 1, None)))
    session.sweep(1, steps, 0, session.lanes)
    assert np.array_equal(mesh_of(problem, design, session, steps), expected)


@pytest.mark.parametrize("moving", [False, True])
def test_rows_of_your_own_equal_the_naive_twin(moving):
    problem, rows = PROBLEMS["states, two words"], [1, -3, 5, -1, 64]
    n, steps = space_of(problem).n, 9
    design, session = open_run(problem, sy.SNS(rows=rows, moving=moving), SEED)
    first = mesh_of(problem, design, session, 0).reshape(-1, n)
    twin = run(fitness_of(problem), first.tolist(), n, False, moving, random_decisions(n), rows)
    expected = np.array(next(islice(twin, steps - 1, None)))
    session.sweep(1, steps, 0, session.lanes)
    assert np.array_equal(mesh_of(problem, design, session, steps), expected)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rows": [1, 0]}, "a row must flip 1 to 100 decisions, or -1 to -100 at random, but got 0"),
        ({"rows": [101]}, "but got 101"),
        ({"rows": [True]}, "but got True"),
        ({"rows": []}, "`rows` must be a list of numbers, one or more"),
        ({"rows": 3}, "`rows` must be a list of numbers, one or more, but got 3"),
        ({"rows": [1], "exponential": True}, "two choices of rows"),
    ],
)
def test_rows_that_cannot_be(options, message):
    with pytest.raises(sy.InputError) as error:
        sy.SNS(**options).prepare(OneMax(100))
    assert message in str(error.value)


def test_tallies_stay_those_of_the_solutions():
    problem = PROBLEMS["states, two words"]
    design, session = open_run(problem, sy.SNS(True, True, True, repair=True, seeded=True), SEED)
    session.sweep(1, 30, 0, session.lanes)
    population = session.population()
    x = problem.encoding.load(space_of(problem), population.x)
    for row in range(0, design.rows, 5):
        profit, excess = problem.profits @ x[row], max(0, (problem.weights @ x[row] - problem.capacities).max())
        assert population.scores[row].tolist() == [profit, excess]
        assert -population.state[row, 0] == profit
        assert (population.state[row, 1:18] == problem.weights @ x[row] - problem.capacities).all()


def test_repair_keeps_all_feasible_and_seeds_start_well():
    problem = small_multi_knapsack(70, 5, tightness=0.25)
    design, session = open_run(problem, sy.SNS(True, repair=True), SEED)
    _, seeded = open_run(problem, sy.SNS(True, seeded=True), SEED)
    plain = session.population().scores[: design.rows]
    good = seeded.population().scores[: design.rows]
    session.sweep(1, 5, 0, session.lanes)
    assert (session.population().scores[: design.rows, 1] == 0).all()
    assert (good[:, 1] == 0).all()
    assert good[:, 0].mean() > plain[:, 0].mean()


@pytest.mark.parametrize(
    "engine", [sy.SNS(moving=True), sy.SNS(True, True, True, repair=True, seeded=True), sy.GA(size=20)]
)
def test_resumed_runs_end_alike(engine, tmp_path):
    problem, path = small_multi_knapsack(12, 3), tmp_path / "state"
    whole = sy.solve(problem, engine, stop=sy.Iterations(30), seed=SEED)
    sy.solve(problem, engine, stop=sy.Iterations(13), seed=SEED, checkpoint=path, threads=1)
    resumed = sy.solve(problem, engine, stop=sy.Iterations(30), seed=SEED, resume=path)
    assert story(resumed) == story(whole)


def test_repair_needs_a_problem_that_can():
    with pytest.raises(sy.InputError, match="repair"):
        sy.solve(small_knapsack(), sy.SNS(repair=True))


@pytest.mark.parametrize("option", ["exponential", "random", "moving", "repair", "seeded"])
def test_options_are_true_or_false(option):
    with pytest.raises(sy.InputError, match=option):
        sy.solve(small_knapsack(), sy.SNS(**{option: "yes"}))


def test_a_mesh_too_large_for_the_machine():
    with pytest.raises(sy.InputError, match="GiB"):
        sy.solve(OneMax(10**6), sy.SNS())
    told = []
    sy.solve(OneMax(300), sy.SNS(), stop=sy.Iterations(1), callback=told.append)
    assert told[0].stage == "compiling"
    assert told[0].memory > 300 * 300 * 300 / 8


@pytest.mark.parametrize(
    ("n", "most"), [(6, 400_000), (80, 400_000), (81, 405_000), (600, 3_000_000), (601, 3_000_000), (2500, 3_000_000)]
)
def test_budget_of_the_paper(n, most):
    assert evaluations_for(n) == most


@pytest.mark.parametrize("n", [80, 105, 250, 500])
def test_rows_of_large_square_meshes_never_move_in_the_papers_budget(n):
    """So that (mr)SNS is SNS there, whatever the paper's tables say."""
    design = sy.SNS(moving=True).prepare(small_multi_knapsack(n, 2))
    assert design.steps < n
    assert sy.SNS(exponential=True, moving=True).prepare(small_multi_knapsack(n, 2)).steps > n


def test_ga_makes_children_mostly_of_the_better_parent():
    """Without mutation, and from two kinds of solutions, a child has at least half of the better kind."""
    n = 64
    start = [np.zeros(n, int)] * 5 + [np.ones(n, int)] * 5
    design = sy.GA(size=10, mutation_probability=0.0).prepare(OneMax(n))
    session = CpuSession(Setup(OneMax(n), design, 1, np.int64, 1), 1)
    session.give(OneMax(n).encoding.store(space_of(OneMax(n)), np.array(start)))
    session.start(0, session.lanes)
    session.sweep(1, 1, 0, session.lanes)
    ones = session.population().scores[10:20, 0]
    assert ((ones == 0) | (ones >= n // 2)).all()
    assert ((ones > 0) & (ones < n)).any()


def test_ga_replacement():
    problem = small_multi_knapsack()
    kept = sy.solve(problem, sy.GA(size=20, replacement="better"), stop=sy.Iterations(40), seed=2)
    assert kept.feasible
    with pytest.raises(sy.InputError, match="replacement"):
        sy.solve(problem, sy.GA(replacement="never"))
