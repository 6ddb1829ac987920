"""The steady-state genetic algorithm against its twin; duplicates; operators of other encodings."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import systola as sy
from conftest import small_knapsack, story
from engines.naive_steady_state import Twin
from systola.backends.cpu import CpuSession
from systola.backends.session import Setup
from systola.formats.generalized_assignment_generator import generate
from systola.jit.records import widen
from systola.model.incremental import init_state
from systola.model.problem import record_of
from systola.model.rng import SEARCH
from systola.problems.generalized_assignment.improvement import find_lightest, search_quickly


def assignment(kind="d", agents=4, jobs=15, seed=1):
    return generate(kind, agents, jobs, seed)


def populations(problem, engine, seed, moments, compiled=True):
    design = engine.prepare(problem)
    session = CpuSession(Setup(problem, design, 2, np.int64, seed), 1, compiled)
    session.start(0, session.lanes)
    done = 0
    for moment in moments:
        session.sweep(done + 1, moment - done, 0, session.lanes)
        done = moment
        yield session.population().x[: engine.size].tolist()


@pytest.mark.parametrize("kind", ["a", "d", "e"])
def test_equals_the_obvious_twin(kind):
    problem = assignment(kind)
    engine = sy.SteadyState(size=8)
    twin = Twin(problem, 8, engine.crossover_probability, engine.mutation_probability, 7)
    step = 0
    moments = [1, 2, 5, 20, 60]
    for moment, found in zip(moments, populations(problem, engine, 7, moments), strict=True):
        while step < moment:
            step += 1
            twin.advance(step)
        assert found == twin.population


def test_interpreted_and_threads_agree():
    problem, engine = assignment(), sy.SteadyState(size=10)
    one = sy.solve(problem, engine, stop=sy.Iterations(40), seed=3, threads=1)
    assert story(sy.solve(problem, engine, stop=sy.Iterations(40), seed=3)) == story(one)
    assert story(sy.solve(problem, engine, stop=sy.Iterations(40), seed=3, backend="python")) == story(one)
    assert story(sy.solve(problem, engine, stop=sy.Iterations(40), seed=4)) != story(one)


def test_nobody_is_there_twice():
    """In a space so small that children are mostly there already."""
    problem = assignment(agents=3, jobs=8)
    *_, last = populations(problem, sy.SteadyState(size=20), 1, [3000])
    assert len({tuple(x) for x in last}) == 20


def test_all_keep_the_capacities_after_a_while():
    problem = assignment("e", 5, 40)
    result = sy.solve(problem, sy.SteadyState(size=30), stop=sy.Iterations(3000))
    assert result.feasible
    assert result.objective <= 1.1 * problem.bound()


@settings(deadline=None, max_examples=60)
@given(st.sampled_from("cde"), st.integers(2, 6), st.integers(2, 30), st.integers(0, 10**6), st.booleans())
def test_quick_search_keeps_the_state_and_is_never_worse(kind, agents, jobs, seed, maximise):
    problem = generate(kind, agents, max(agents, jobs), seed % 1000 + 1)
    problem = sy.GeneralizedAssignment(problem.costs, problem.loads, problem.capacities, maximise)
    draws = np.random.default_rng(seed)
    x = draws.integers(0, agents, (1, problem.jobs)).astype(np.int32)
    record, work = widen(record_of(problem)), np.zeros(4 * agents, np.int32)
    before, state = np.zeros(2 + agents, np.int64), np.zeros(2 + agents, np.int64)
    init_state(record, x, 0, state)
    before[:] = state
    search_quickly(record, x[0], state, work, (seed, SEARCH, 1, 0))
    again = np.zeros_like(state)
    init_state(record, x, 0, again)
    assert again.tolist() == state.tolist()
    for part in (work[:agents], work[2 * agents : 3 * agents]):
        assert sorted(part.tolist()) == list(range(agents))
    assert np.all(np.diff(state[2:][work[2 * agents : 3 * agents]]) >= 0)
    assert state[1] <= before[1]
    if before[1] == 0:
        assert state[1] == 0
        assert problem.sign * state[0] >= problem.sign * before[0]


def test_lightest_load_with_a_cheaper_agent():
    found = find_lightest(np.array([[5], [3], [5], [1]]), np.array([[2], [7], [1], [9]]), np.int32)
    assert found.tolist() == [[7, 9, 7, 2**31 - 1]]


def test_another_selection():
    engine = sy.SteadyState(size=12, selection="rank")
    assert sy.solve(assignment(), engine, stop=sy.Iterations(100), backend="python").feasible


def test_bits_and_permutations():
    knapsack = small_knapsack()
    found = sy.solve(knapsack, sy.SteadyState(size=30), stop=sy.Iterations(5000), backend="python")
    order = np.argsort(-knapsack.profits / knapsack.weights)
    fitting = np.cumsum(knapsack.weights[order]) <= knapsack.capacity
    assert found.objective >= 0.95 * knapsack.profits[order][fitting].sum()
    draws = np.random.default_rng(1)
    qap = sy.QuadraticAssignment(draws.integers(0, 9, (8, 8)), draws.integers(0, 9, (8, 8)))
    found = sy.solve(qap, sy.SteadyState(size=20), stop=sy.Iterations(200), backend="python")
    assert sorted(found.solution) == list(range(8))


def test_rank_selection_is_linear_in_rank():
    """The best of n is chosen n times as often as the worst."""
    from scipy.stats import chisquare

    from systola.operators.selection import rank

    problem = small_knapsack()
    scores = np.array([[v, 0] for v in (10, 40, 20, 30)])
    places = np.arange(4, dtype=np.int32)
    draws = [int(rank(None, record_of(problem), scores, 0, places, (1, SEARCH, t, 0))) for t in range(4000)]
    wanted = np.array([1, 4, 2, 3]) / 10 * 4000
    assert chisquare(np.bincount(draws, minlength=4), wanted).pvalue > 1e-4


@pytest.mark.parametrize(
    ("engine", "told"),
    [
        (sy.SteadyState(size=1), "`size`"),
        (sy.SteadyState(crossover_probability=1.5), "crossover_probability"),
        (sy.SteadyState(selection="fair"), "selection"),
        (sy.SteadyState(crossover="pmx"), "pmx"),
    ],
)
def test_bad_parameters(engine, told):
    with pytest.raises(sy.InputError, match=told):
        sy.solve(assignment(), engine, stop=sy.Iterations(1))
