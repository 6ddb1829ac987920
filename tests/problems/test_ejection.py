"""Ejection chains: the search for a chain against plain recursion, what a refinement leaves, and what it is worth."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import systola as sy
from conftest import story
from problems.naive_ejection import EJECTIONS, Balance, best_chain
from systola.engines.presets import integer_memetic, recommend
from systola.formats.generalized_assignment_generator import generate
from systola.jit.compile import kernel
from systola.jit.records import widen
from systola.jit.stop_flag import new_flag
from systola.model.capabilities import LocalSearch, buffer_of, capability
from systola.model.incremental import init_state, search_around
from systola.model.problem import bind, record_of
from systola.model.rng import SEARCH
from systola.problems.generalized_assignment import ejection

BEYOND = 1 << 40


def assignment(agents, jobs, most, room, maximise, seed):
    costs, loads = most
    draws = np.random.default_rng(seed)
    loads = draws.integers(0, loads + 1, (agents, jobs))
    capacities = np.maximum((room * loads.sum(axis=1) / agents).astype(np.int64), loads.min())
    lucky = draws.integers(agents)
    capacities[lucky] = max(capacities[lucky], loads[lucky].max())
    return sy.GeneralizedAssignment(draws.integers(-costs, costs + 1, (agents, jobs)), loads, capacities, maximise)


assignments = st.builds(
    assignment,
    st.integers(1, 13),
    st.integers(1, 15),
    st.sampled_from([(9, 9), (1, 1), (1000, 100), (2**35, 2**18), (9, 2**33), (5, 0), (0, 5)]),
    st.sampled_from([0.3, 0.8, 1.0, 3.0]),
    st.booleans(),
    st.integers(0, 2**32 - 1),
)


def state_from_scratch(problem, x):
    state = np.zeros(2 + len(problem.capacities), np.int64)
    init_state(widen(record_of(problem)), x[None], 0, state)
    return state


def fitness_of(problem, state):
    return problem.fitness(state)


@kernel
def compiled(problem, x, state, guide, work, length, key, stop):
    search_around(problem, x, state, guide, work, length, key, stop)


def refined(problem, x, length, seed, call=search_around):
    """A refined solution, its state, and what is left in the workspace."""
    buffer = buffer_of(problem, capability(problem, LocalSearch).work)
    work = np.zeros(buffer.size, buffer.dtype)
    stored, state = x.astype(np.int32)[None], state_from_scratch(problem, x)
    record = record_of(problem) if call is compiled else widen(record_of(problem))
    call(record, stored[0], state, problem.guide(), work, length, (np.uint64(seed), SEARCH, 1, 0), new_flag())
    return stored[0], state, work


class TestRefinement:
    @settings(max_examples=60, deadline=None)
    @given(assignments, st.integers(0, 60), st.integers(0, 2**32 - 1))
    def test_leaves_a_solution_no_less_fit_and_its_tally(self, problem, length, seed):
        bind(type(problem))
        x = np.random.default_rng(seed).integers(0, len(problem.capacities), problem.jobs)
        made, state, work = refined(problem, x, length, seed)
        assert state.tolist() == state_from_scratch(problem, made).tolist()
        assert fitness_of(problem, state) >= fitness_of(problem, state_from_scratch(problem, x))
        again, same, _ = refined(problem, x, length, seed, compiled)
        assert (again.tolist(), same.tolist()) == (made.tolist(), state.tolist())
        assert sorted(jobs_in_rings(problem, work)) == list(range(problem.jobs))

    def test_finds_what_is_best(self):
        """All 3**8 solutions of small assignments, half of them for profit."""
        for seed in range(6):
            problem = assignment(3, 8, (9, 9), 1.0, seed % 2 == 1, seed)
            bind(type(problem))
            every = np.indices((3,) * 8).reshape(8, -1).T
            best = max(fitness_of(problem, state_from_scratch(problem, x)) for x in every)
            _, state, _ = refined(problem, every[0], 20_000, seed, compiled)
            assert fitness_of(problem, state) == best

    @pytest.mark.long
    def test_same_on_every_number_of_threads(self):
        problem = generate("d", 5, 30, seed=2)
        engine = replace(integer_memetic(problem), local_search_steps=150)
        runs = [
            sy.solve(problem, engine, stop=sy.Iterations(4), seed=7, **where)
            for where in ({"threads": 1}, {"threads": 2}, {"backend": "python"})
        ]
        assert story(runs[0]) == story(runs[1]) == story(runs[2])


def jobs_in_rings(problem, work):
    jobs = problem.jobs
    for first in work[3 * jobs : 3 * jobs + len(problem.capacities)]:
        job = first
        while job >= 0:
            assert work[jobs + work[job]] == job  # the one after it knows it
            yield int(job)
            job = work[job] if work[job] != first else -1


@settings(max_examples=150, deadline=None)
@given(
    st.integers(2, 8),
    st.integers(1, 12),
    st.sampled_from([3, 50]),
    st.sampled_from([2, 30]),
    st.integers(-20, 100),
    st.integers(0, 2**32 - 1),
)
def test_chains_equal_those_of_plain_recursion(agents, jobs, regret, load, patience, seed):
    draws = np.random.default_rng(seed)
    regrets, loads = draws.integers(0, regret + 1, (jobs, agents)), draws.integers(0, load + 1, (jobs, agents))
    ranked = np.argsort(regrets, axis=1, kind="stable")
    guide = np.zeros((jobs + 1, agents + (ejection.RANKS + 1) // 2, 2), np.int64)
    guide[:jobs, :agents] = np.stack([regrets, loads], axis=2)
    listed = np.zeros((jobs, ejection.RANKS), np.int64)
    listed[:, :agents] = ranked
    guide[:jobs, agents:] = listed.reshape(jobs, -1, 2)
    x = draws.integers(0, agents, jobs)
    excess, low, high = draws.integers(-load, load, agents), draws.integers(0, 9, agents), draws.integers(1, 9, agents)
    work = np.zeros(ejection.numbers_of_work(jobs, agents), np.int64)
    nexts, formers = work[:jobs], work[jobs : 2 * jobs]
    firsts, *charges = work[3 * jobs :][: 3 * agents].reshape(3, agents)
    firsts[:], charges[0][:], charges[1][:] = -1, low, high
    for k in range(jobs):
        ejection._link(nexts, formers, firsts, k, x[k])
    job = int(draws.integers(jobs))
    agent = int((x[job] + 1 + draws.integers(agents - 1)) % agents)
    found = ejection._find_chain(guide, excess, work, job, x[job], agent, np.int64(patience), BEYOND)
    chain = work[-2 * (EJECTIONS + 1) :]
    cost, wanted = best_chain(
        *(a.tolist() for a in (regrets, loads, ranked, x)),
        Balance(*(a.tolist() for a in (excess, low, high))),
        job,
        agent,
        patience,
    )
    assert [tuple(pair) for pair in chain.reshape(-1, 2)[:found].tolist()] == wanted
    assert (cost <= patience) == (found > 0)


class TestGuide:
    def test_regrets_are_what_a_job_costs_more_at_the_prices(self):
        problem = generate("e", 12, 40, seed=1)
        guide = problem.guide()
        priced = (problem.costs + problem.prices()[:, None] * problem.loads).T
        regrets = priced - priced.min(axis=1, keepdims=True)
        given = guide[:-1, :12, 0]
        assert given.dtype == np.int32
        near = given < ejection._MOST
        unit = guide[-1, 12, 0] / np.sort(np.where(near, regrets, np.inf), axis=1)[:, 1:5].mean()
        assert np.allclose(given[near], regrets[near] * unit, rtol=0.01, atol=1)
        assert (problem.capacities >= problem.loads.T)[near].all()
        assert np.array_equal(guide[:-1, :12, 1], problem.loads.T)

    def test_agents_are_listed_by_regret(self):
        guide = generate("c", 12, 30, seed=1).guide()
        listed = guide[:-1, 12:].reshape(30, -1)
        assert listed.shape == (30, ejection.RANKS)
        regrets = np.take_along_axis(guide[:-1, :12, 0], listed, axis=1)
        assert (np.diff(regrets, axis=1) >= 0).all()
        assert (regrets[:, 0] == 0).all()

    def test_loads_may_be_too_large(self):
        problem = sy.GeneralizedAssignment([[0, 0], [0, 0]], [[2**56, 1], [1, 2**56]], [2**56, 2**56])
        assert problem.guide() is None
        assert recommend(problem).name == "sa"
        with pytest.raises(sy.InputError, match="'problem' needs a problem with a LocalSearch"):
            sy.solve(problem, sy.Cellular(size=9, local_search="problem"))


class Colours(sy.Problem):
    encoding = sy.Integers(5, 0, 3)

    def evaluate(self, x):
        return x[0]


def test_only_for_problems_that_know_how():
    with pytest.raises(sy.InputError, match="needs a problem with a LocalSearch for this instance, which this Col"):
        sy.solve(Colours(), sy.Cellular(size=9, local_search="problem"))
    plant = sy.QuadraticAssignment(np.eye(5, dtype=int), np.eye(5, dtype=int))
    with pytest.raises(sy.InputError, match="'problem' is not for Order solutions; choose one of best-swap"):
        sy.solve(plant, sy.Cellular(size=9, local_search="problem"))


def test_recommended_for_assignments():
    problem = generate("d", 5, 30, seed=2)
    assert recommend(problem) == integer_memetic(problem)
    assert recommend(sy.GeneralizedAssignment([[1], [2]], [[1], [1]], [1, 1])).name == "sa"


@pytest.mark.parametrize(("kind", "optimum"), [("a", 1118), ("c", 1193), ("e", 9906)])
def test_meets_optima(kind, optimum):
    """Those that HiGHS proves."""
    result = sy.solve(generate(kind, 8, 80, seed=4), stop=sy.Iterations(20) | sy.Target(optimum), seed=1)
    assert (result.feasible, result.objective) == (True, optimum)


def test_comes_near_to_the_bound_where_that_is_hard():
    result = sy.solve(generate("d", 8, 80, seed=4), stop=sy.Iterations(10), seed=1)
    assert result.feasible
    assert result.objective <= 1.01 * result.bound
