"""Fronts of problems with constraints: feasible before infeasible, then less violation, then Pareto dominance."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import systola as sy
from conftest import story
from engines import naive_pareto
from own_problems import total
from systola.model.problem import senses_of


class Pack(sy.Problem):
    """Two values of a selection, both to be maximised; its weight must not exceed the capacity."""

    encoding = sy.Binary("weights")
    sense = (sy.MAXIMISE, sy.MAXIMISE)
    one: np.ndarray
    two: np.ndarray
    weights: np.ndarray
    capacity: int

    def evaluate(self, x):
        return total(self.one, x), total(self.two, x), total(self.weights, x)

    def violation(self, measures):
        return max(measures[2] - self.capacity, 0)

    def fitness(self, measures):
        return measures[0]


def way(costs, x):
    """What an order costs, from its first item to its last one."""
    found = 0
    for k in range(1, len(x)):
        found += costs[x[k - 1], x[k]]
    return found


class Chain(sy.Problem):
    """Two costs of what follows what in an order; a third one must not be above a limit."""

    encoding = sy.Permutation("one")
    sense = (sy.MINIMISE, sy.MINIMISE)
    one: np.ndarray
    two: np.ndarray
    three: np.ndarray
    limit: int

    def evaluate(self, x):
        return way(self.one, x), way(self.two, x), way(self.three, x)

    def violation(self, measures):
        return max(measures[2] - self.limit, 0)

    def fitness(self, measures):
        return -measures[0] - measures[1]


class Closing(sy.Flowshop):
    """A flowshop that closes at a time."""

    closes: int = 0

    def violation(self, measures):
        return max(measures[0] - self.closes, 0)


def pack(seed, tightness=0.4, n=10):
    draws = np.random.default_rng(seed)
    one, two, weights = draws.integers(1, 30, (3, n))
    return Pack(one, two, weights, int(tightness * weights.sum()))


def true_front(problem):
    """By trying every selection."""
    every = [problem.evaluate(np.array(x)) for x in itertools.product((0, 1), repeat=len(problem.weights))]
    least = min(problem.violation(m) for m in every)
    points = {(int(m[0]), int(m[1])) for m in every if problem.violation(m) == least}
    return sorted(list(p) for p in points if not any(dominates(q, p) for q in points))


def dominates(a, b, sense=1):
    return a != b and all(sense * p >= sense * q for p, q in zip(a, b, strict=True))


def check_front(problem, result):
    """What must hold of every result."""
    count, sense = len(senses_of(problem)), senses_of(problem)[0]
    found = [problem.evaluate(x) for x in result.front_solutions]
    assert [[int(v) for v in m[:count]] for m in found] == result.front
    assert {problem.violation(m) for m in found} == {result.violation}
    assert result.feasible == (result.violation == 0)
    assert not any(dominates(a, b, sense) for a, b in itertools.permutations(result.front, 2))
    assert result.objective in result.front
    worth = [problem.fitness(m) for m in found]
    assert worth[result.front.index(result.objective)] == max(worth)


@pytest.mark.parametrize("seed", range(4))
def test_the_front_of_a_small_knapsack_is_the_true_one(seed):
    problem = pack(seed)
    result = sy.solve(problem, sy.PLS(neighbourhood="flip-two"), stop=sy.Iterations(250), seed=seed, backend="python")
    check_front(problem, result)
    assert result.feasible
    assert len(result.front) > 2
    assert result.front == true_front(problem)


@pytest.mark.parametrize("engine", [sy.PLS(), sy.PLS("dominating"), sy.PLS(neighbourhood="flip-two")], ids=repr)
def test_wherever_a_run_ends_the_answer_is_of_the_front_and_as_feasible(engine):
    """From the selection of everything: the first fronts are infeasible, later ones are not."""
    problem, feasible = pack(1), []
    for steps in (*range(1, 10), 30, 60):
        result = sy.solve(problem, engine, stop=sy.Iterations(steps), start=[[1] * 10], backend="python")
        check_front(problem, result)
        feasible.append(result.feasible)
    assert feasible == sorted(feasible)
    assert not feasible[0]
    assert feasible[-1]


@pytest.mark.parametrize("cap", [1, 3])
def test_a_full_archive_gives_way_to_what_breaks_constraints_less(cap):
    problem = pack(2)
    result = sy.solve(
        problem, sy.PLS(archive_size=cap), stop=sy.Iterations(40), start=[[1] * 10], seed=2, backend="python"
    )
    assert result.feasible
    assert all(problem.violation(problem.evaluate(x)) == 0 for x in result.front_solutions)


def test_where_nothing_is_feasible_the_front_breaks_constraints_least():
    draws = np.random.default_rng(5)
    problem = Pack(*draws.integers(1, 30, (3, 8)), -3)
    result = sy.solve(problem, sy.PLS(), stop=sy.Iterations(40), seed=1, backend="python")
    check_front(problem, result)
    assert (result.feasible, result.violation, result.front) == (False, 3, [[0, 0]])


def test_a_flowshop_that_closes_has_a_front_in_time():
    draws = np.random.default_rng(3)
    times, due = draws.integers(1, 20, (7, 3)), draws.integers(20, 120, 7)
    free = sy.solve(
        sy.Flowshop(times, due, objectives="makespan,flowtime"), sy.PLS(), stop=sy.Iterations(60), backend="python"
    )
    closes = (free.front[0][0] + free.front[-1][0]) // 2
    problem = Closing(times, due, objectives="makespan,flowtime", closes=closes)
    for steps in (1, 2, 5, 60):
        result = sy.solve(problem, sy.PLS(), stop=sy.Iterations(steps), seed=4, backend="python")
        assert {max(v[0] - closes, 0) for v in result.front} == {result.violation}
        assert result.objective in result.front
    assert result.feasible
    assert result.front == [v for v in free.front if v[0] <= closes]


@pytest.mark.long
def test_neighbours_may_be_measured_only_as_far_as_measures_are_objectives():
    """If the makespan is the only one, the compiled survey of a flowshop leaves the others out."""
    draws = np.random.default_rng(4)
    for steps in range(1, 6):
        problem = Closing(draws.integers(1, 20, (7, 3)), draws.integers(20, 120, 7), objectives="makespan", closes=1)
        result = sy.solve(problem, sy.PLS(), stop=sy.Iterations(steps), threads=1)
        assert result.front == [[result.objective]]
        assert result.violation == result.objective - 1


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 2**32),
    st.integers(3, 5),
    st.integers(0, 12),
    st.integers(0, 14),
    st.sampled_from(
        [sy.PLS(neighbourhood="insertion", **more) for more in ({}, {"accept": "dominating"}, {"archive_size": 2})]
    ),
)
def test_as_the_naive_twin_with_violations(seed, n, limit, steps, engine):
    draws = np.random.default_rng(seed)
    problem = Chain(*draws.integers(0, 5, (3, n, n)), limit)

    def measure(x):
        measures = [int(m) for m in problem.evaluate(np.array(x))]
        return problem.violation(measures), tuple(measures[:2])

    first = draws.permutation(n).tolist()
    stop = sy.Iterations(1 + steps)
    result = sy.solve(problem, engine, stop=stop, seed=7, start=[first], backend="python")
    wanted = next(itertools.islice(naive_pareto.run(measure, engine, first, 7), 1 + steps, None)).front()
    assert result.front == [list(m.worth[1]) for m in wanted]
    assert result.front_solutions.tolist() == [m.x for m in wanted]
    assert {m.worth[0] for m in wanted} == {result.violation}
    if engine.archive_size is None:
        check_front(problem, result)


@pytest.mark.long
def test_same_constrained_front_whoever_runs_it():
    problem, stop = pack(1, n=12), sy.Iterations(25)
    runs = [
        sy.solve(problem, sy.PLS(), stop=stop, seed=3, **how)
        for how in ({"backend": "python"}, {"threads": 1}, {"threads": 2})
    ]
    check_front(problem, runs[0])
    assert len({str((story(r), r.front, r.front_solutions.tolist())) for r in runs}) == 1
