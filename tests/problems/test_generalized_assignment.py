"""Generalized assignment: measures, reassignments and the bound against obvious twins; data that break a rule."""

from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import ceil, inf
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.sparse import block_diag, eye, kron

import systola as sy
from conftest import story
from systola.backends.cpu import evaluate_compiled
from systola.formats.generalized_assignment import measure, read_single
from systola.formats.generalized_assignment_generator import generate
from systola.jit.compile import kernel
from systola.jit.records import widen
from systola.model.incremental import init_state, measures_from_state, reassign
from systola.model.objective import evaluate, fitness, violation
from systola.model.problem import digest_of, record_of, senses_of

PUBLIC = Path(__file__).parents[3] / "shared" / "instances" / "gap"
COSTS = [[5, 2, 7, 4], [3, 6, 1, 8], [9, 4, 6, 2]]
LOADS = [[2, 3, 1, 4], [3, 1, 2, 2], [1, 2, 4, 3]]
CAPACITIES = [5, 4, 4]


def assignment(agents, jobs, costs, loads, room, maximise, seed):
    """Random data up to these sizes; some agent can take any job alone, and capacities are about `room` of the need."""
    draws = np.random.default_rng(seed)
    loads = draws.integers(0, loads + 1, (agents, jobs))
    capacities = (room * loads.sum(axis=1) / agents).astype(np.int64)
    lucky = draws.integers(agents)
    capacities[lucky] = max(capacities[lucky], loads[lucky].max())
    return sy.GeneralizedAssignment(draws.integers(-costs, costs + 1, (agents, jobs)), loads, capacities, maximise)


def assignments(agents=6, jobs=9):
    return st.builds(
        assignment,
        st.integers(1, agents),
        st.integers(1, jobs),
        st.sampled_from([0, 1, 9, 1000, 2**35]),
        st.sampled_from([0, 1, 9, 100, 2**20]),
        st.sampled_from([0.3, 0.8, 1.0, 3.0]),
        st.booleans(),
        st.integers(0, 2**32 - 1),
    )


def by_hand(problem, x):
    """Cost and unfitness in Python's numbers."""
    loads = [0] * len(problem.capacities)
    for job, agent in enumerate(x):
        loads[agent] += int(problem.loads[agent, job])
    over = [load - capacity for load, capacity in zip(loads, problem.capacities.tolist(), strict=True)]
    return sum(int(problem.costs[agent, job]) for job, agent in enumerate(x)), sum(o for o in over if o > 0)


def solutions(problem):
    agent = st.integers(0, len(problem.capacities) - 1)
    return st.lists(agent, min_size=problem.jobs, max_size=problem.jobs)


def optimum(problem):
    """The best cost of all feasible solutions, as something to be minimised."""
    sign = -1 if problem.maximise else 1
    found = (by_hand(problem, x) for x in product(range(len(problem.capacities)), repeat=problem.jobs))
    return min((sign * cost for cost, unfitness in found if unfitness == 0), default=inf)


@kernel
def compiled_count(problem, x, row, measures, state):
    init_state(problem, x, row, state)
    measures_from_state(problem, state, measures)


@kernel
def compiled_reassign(problem, x, row, i, value, state, measures):
    reassign(problem, x, row, i, value, state)
    measures_from_state(problem, state, measures)


@settings(deadline=None, max_examples=150)
@given(assignments(), st.data())
def test_measures(problem, data):
    """Interpreted, compiled and with NumPy."""
    x = data.draw(solutions(problem))
    wanted = by_hand(problem, x)
    assert evaluate(widen(record_of(problem)), np.array(x)) == wanted
    assert evaluate_compiled(record_of(problem), np.array(x, np.int32)) == wanted
    assert measure(problem, np.array(x, np.int32)) == wanted
    assert violation(record_of(problem), np.array(wanted)) == wanted[1]
    assert senses_of(problem) == ((sy.MAXIMISE,) if problem.maximise else (sy.MINIMISE,))


@settings(deadline=None, max_examples=150)
@given(assignments(), st.data())
def test_fitness_is_unfitness_first_and_then_cost(problem, data):
    one, two = (by_hand(problem, data.draw(solutions(problem))) for _ in range(2))
    sign = 1 if problem.maximise else -1
    ranks = [(-unfitness, sign * cost) for cost, unfitness in (one, two)]
    gain = fitness(record_of(problem), np.array(one)) - fitness(record_of(problem), np.array(two))
    assert (gain > 0, gain < 0) == (ranks[0] > ranks[1], ranks[0] < ranks[1])


@settings(deadline=None, max_examples=100)
@given(assignments(), st.data())
def test_reassignments_equal_evaluate(problem, data):
    """Compiled and interpreted, along a walk; the solution itself stays as it is, and so do other rows."""
    x = np.zeros((2, problem.jobs), np.int32)
    x[1] = data.draw(solutions(problem))
    state, measures = np.full(2 + len(problem.capacities), 7), np.full(2, 7)
    compiled_count(record_of(problem), x, 1, measures, state)
    assert tuple(measures) == by_hand(problem, x[1])
    other = np.full_like(state, 9)
    init_state(widen(record_of(problem)), x, 1, other)
    assert state.tolist() == other.tolist()
    for _ in range(data.draw(st.integers(1, 5))):
        i = data.draw(st.integers(0, problem.jobs - 1))
        value = data.draw(st.integers(0, problem.last))  # the present one, too
        before = x.copy()
        compiled_reassign(record_of(problem), x, 1, i, value, state, measures)
        reassign(widen(record_of(problem)), x, 1, i, value, other)
        assert (x == before).all()
        x[1, i] = value
        assert state.tolist() == other.tolist()
        assert tuple(measures) == by_hand(problem, x[1])
        init_state(widen(record_of(problem)), x, 1, other)
        assert state.tolist() == other.tolist()


@settings(deadline=None, max_examples=150)
@given(assignments(4, 5))
@example(sy.GeneralizedAssignment(COSTS, LOADS, CAPACITIES))
@example(sy.GeneralizedAssignment(COSTS, LOADS, CAPACITIES, maximise=True))
@example(sy.GeneralizedAssignment([[2**61 + 5], [2**61 + 5]], [[1], [1]], [1, 0]))
@example(sy.GeneralizedAssignment([[-(2**61) - 5]], [[0]], [0]))
@example(sy.GeneralizedAssignment([[3, 4], [2, 9]], [[2**40, 2**41], [2**40, 2**39]], [2**41, 2**40]))
def test_no_solution_beats_the_bound(problem):
    best = optimum(problem)
    bound = -problem.bound() if problem.maximise else problem.bound()
    assert bound <= best
    assert type(problem.bound()) is int
    prices = [Fraction(float(price)) for price in problem.prices()]
    assert min(prices) >= 0
    # The prices prove the bound, to the last digit.
    sign = -1 if problem.maximise else 1
    agents, costs, loads = range(len(prices)), problem.costs.tolist(), problem.loads.tolist()
    cheapest = [min(sign * costs[a][j] + prices[a] * loads[a][j] for a in agents) for j in range(problem.jobs)]
    capacities = problem.capacities.tolist()
    value = sum(cheapest) - sum(price * capacity for price, capacity in zip(prices, capacities, strict=True))
    assert bound == min(ceil(value), (sign * problem.costs).max(axis=0).sum())


def test_profits_are_costs_turned_round():
    problem = generate("c", 4, 30, 3)
    turned = sy.GeneralizedAssignment(-problem.costs, problem.loads, problem.capacities, maximise=True)
    assert turned.bound() == -problem.bound()
    assert turned.prices().tolist() == problem.prices().tolist()
    turned.prices()[:] = 7  # a copy
    assert turned.prices().tolist() == problem.prices().tolist()


@pytest.mark.parametrize("kind", "abcde")
@pytest.mark.parametrize("scale", [1, 10**6])
def test_the_bound_is_that_of_the_linear_relaxation(kind, scale):
    """Also where loads count in units of their own with every other agent."""
    problem = generate(kind, 6, 60, 5)
    units = np.array([1, scale] * 3)
    same = replace(problem, loads=problem.loads * units[:, None], capacities=problem.capacities * units)
    once = kron(np.ones((1, 6)), eye(60), format="csr")
    found = linprog(
        problem.costs.ravel(),
        A_ub=block_diag([row[None] for row in problem.loads]),
        b_ub=problem.capacities,
        A_eq=once,
        b_eq=np.ones(60),
        method="highs",
    )
    assert found.fun * 0.999 < same.bound() <= ceil(found.fun - 1e-6)


def test_capacities_that_do_not_bind():
    problem = replace(generate("d", 3, 20), capacities=np.full(3, 10**6))
    assert problem.prices().tolist() == [0, 0, 0]
    assert problem.bound() == problem.costs.min(axis=0).sum()


def test_no_solution_at_all():
    """Jobs fit one by one, but not together: no bound is too high then, but there is none above all costs."""
    problem = sy.GeneralizedAssignment([[1, 2, 9], [2, 1, 9]], [[5, 5, 5], [5, 5, 5]], [5, 5])
    assert optimum(problem) == inf
    assert problem.bound() == 13
    result = sy.solve(problem, sy.Cellular(size=9, radius=1), stop=sy.Iterations(20), backend="python")
    assert not result.feasible
    assert (result.violation, result.gap) == (5, None)


class Plain(sy.Problem):
    """The same without reassignments."""

    encoding = sy.Integers("jobs", 0, "last")
    sense = sy.MINIMISE
    costs: np.ndarray
    loads: np.ndarray
    capacities: np.ndarray
    jobs: int
    last: int
    sign: int
    price: int
    evaluate = sy.GeneralizedAssignment.evaluate
    fitness = sy.GeneralizedAssignment.fitness
    violation = sy.GeneralizedAssignment.violation


@pytest.mark.long
def test_the_same_run_with_and_without_reassignments():
    """Compiled and interpreted, and few children are so different that they are measured anew."""
    problem = generate("b", 4, 24, 2)
    plain = Plain(*(getattr(problem, name) for name in Plain._fields))
    engine = sy.Cellular(size=16, topology="L5", selection="tournament", replacement="better")
    runs = [
        sy.solve(which, engine, stop=sy.Iterations(40), seed=3, backend=backend)
        for which, backend in ((problem, "cpu"), (problem, "python"), (plain, "python"))
    ]
    assert story(runs[0]) == story(runs[1]) == story(runs[2])
    assert runs[0].feasible
    assert runs[0].bound == problem.bound() <= runs[0].objective
    assert by_hand(problem, runs[0].solution) == (runs[0].objective, 0)


@pytest.mark.parametrize("maximise", [False, True])
def test_solve_finds_the_optimum(maximise):
    problem = sy.GeneralizedAssignment(COSTS, LOADS, CAPACITIES, maximise)
    result = sy.solve(problem, sy.Cellular(size=16, radius=2), stop=sy.Iterations(40), backend="python")
    assert result.objective == (-1 if maximise else 1) * optimum(problem)
    assert result.feasible
    best = sy.Iterations(10**6) | sy.Target(result.objective)  # a target in the problem's own sense
    assert sy.solve(problem, sy.Cellular(size=16, radius=2), stop=best, backend="python").stop == "target"


def test_descriptions():
    problem = sy.GeneralizedAssignment(COSTS, LOADS, CAPACITIES)
    assert str(problem) == "generalized assignment of 4 jobs to 3 agents"
    profits = replace(problem, maximise=True)
    assert str(profits) == "generalized assignment of 4 jobs to 3 agents, for profit"
    assert digest_of(profits) != digest_of(problem)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"costs": [1, 2]},
            "costs must have a row for each agent and a column for each job, one or more of each, but ",
        ),
        ({"costs": np.zeros((0, 3), int)}, "costs must have a row for each agent and a column for each job, one or mo"),
        ({"costs": np.zeros((3, 0), int)}, "costs must have a row for each agent and a column for each job, one or mo"),
        ({"loads": [[1]]}, "loads must have the shape of costs, (3, 4), but have (1, 1)"),
        ({"capacities": [1, 2]}, "each of the 3 agents needs a capacity, but got the shape (2,)"),
        ({"costs": np.full((3, 4), 0.5)}, "each cost must be a whole number, but got float64; scale the data"),
        ({"loads": np.full((3, 4), 0.5)}, "each load must be a whole number, but got float64; scale the data"),
        ({"capacities": [0.5, 1, 2]}, "each capacity must be a whole number, but got float64; scale the data"),
        ({"loads": [[2, 3, 1, 4], [3, 1, -2, 2], [1, 2, 4, 3]]}, "`load >= 0` must hold, but got -2 at [2, 3]"),
        ({"capacities": [5, -1, 4]}, "`capacity >= 0` must hold, but got -1 at [2]"),
        ({"capacities": [5, 2**62, 4]}, f"each capacity must be below 2**62, but got {2**62}; scale the data down"),
        ({"costs": np.full((3, 4), -(2**63))}, f"each cost must be below 2**62, but got {2**63}; scale the data down"),
        ({"costs": np.full((3, 4), 2**60)}, "the size of fitness must be below 2**62, but with these data could "),
        (
            {"costs": np.array(COSTS) * 2**50, "loads": np.array(LOADS) * 2**10, "capacities": [2**20] * 3},
            "the size of fitness must be below 2**62, but with these data could reach ",
        ),
        ({"maximise": 1}, "`maximise` must be True or False, but got 1"),
        ({"maximise": "max"}, "`maximise` must be True or False, but got 'max'"),
        (
            {"loads": [[2, 3, 7, 4], [3, 1, 5, 2], [1, 2, 6, 3]]},
            "each job must fit into the capacity of some agent, but job 3 fits none: its loads begin at 5, the largest "
            "capacity is 5; correct its loads or a capacity",
        ),
    ],
)
def test_data_that_break_a_rule(change, message):
    data = {"costs": COSTS, "loads": LOADS, "capacities": CAPACITIES} | change
    with pytest.raises(sy.InputError) as caught:
        sy.GeneralizedAssignment(**data)
    assert str(caught.value).startswith(message)


@pytest.mark.skipif(not PUBLIC.is_dir(), reason="the public instances are not here")
@pytest.mark.parametrize(
    ("name", "least"),
    [("c20200", 2377), ("d20400", 24_553), ("d801600", 97_033), ("e40400", 44_520), ("e801600", 176_778)],
)
def test_bounds_of_public_instances(name, least):
    instance = read_single(PUBLIC / name)
    assert least <= instance.problem.bound() <= instance.best_known
