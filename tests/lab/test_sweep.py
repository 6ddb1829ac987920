"""A sweep over weights: each weight solved as by itself, and the front of what was found."""

import dataclasses

import numpy as np
import pytest

import systola as sy
import systola.run.loop
from conftest import small_knapsack, small_release, story
from own_problems import total
from systola.formats import open_instance
from systola.lab.sweep import _front, spread_weights, sweep_weights

ENGINE = sy.SGA(size=20)
STOP = sy.Iterations(15)


def dominates(one, other):
    """Less cost and more value, or equal in one of them."""
    return one[0] <= other[0] and one[1] >= other[1] and tuple(one) != tuple(other)


@pytest.fixture(scope="module")
def sweep():
    return sweep_weights(small_release(), ENGINE, stop=STOP, seed=4, instance="mine")


def test_eleven_weights_by_default(sweep):
    assert sweep.weights == tuple(k / 10 for k in range(11))
    assert len(sweep.results) == 11
    assert {result.instance for result in sweep.results} == {"mine"}


def test_each_weight_is_solved_as_by_itself(sweep):
    for k in (0, 3, 10):
        alone = sy.solve(dataclasses.replace(small_release(), weight=k / 10), ENGINE, stop=STOP, seed=4)
        assert story(sweep.results[k]) == story(alone)
        assert sweep.results[k].digest == alone.digest


def test_the_ends_are_the_cheapest_and_the_most_valuable(sweep):
    assert sweep.results[0].objective[0] == min(result.objective[0] for result in sweep.results)
    cheapest, richest = sweep_weights(
        small_release(), ENGINE, [0.0, 1.0], stop=sy.Iterations(400), seed=4, threads=1
    ).results
    assert cheapest.objective[0] == 0
    assert richest.objective[1] == small_release().values.sum()


def test_the_front_is_what_nothing_dominates(sweep):
    found = [tuple(result.objective) for result in sweep.results]
    assert sweep.front == tuple(sorted({p for p in found if not any(dominates(q, p) for q in found)}))
    assert set(map(type, sweep.front[0])) == {int}


def test_fronts_by_hand():
    costs_down_value_up = (-1, 1)
    points = [[1, 1], [2, 5], [3, 4], [2, 5], [4, 6], [1, 0]]
    assert _front(points, costs_down_value_up) == ((1, 1), (2, 5), (4, 6))
    assert _front([[1, 1]], costs_down_value_up) == ((1, 1),)
    assert _front([[1, 1], [2, 2]], (1, 1)) == ((2, 2),)


class Licensed(sy.Problem):
    """Two values of a selection; what the weight is above the limit breaks a constraint, whatever is selected."""

    encoding = sy.Binary("one")
    sense = (sy.MAXIMISE, sy.MAXIMISE)
    one: np.ndarray
    two: np.ndarray
    limit: float
    weight: float = 0.0

    def evaluate(self, x):
        one = 0.0
        two = 0.0
        for i in range(len(self.one)):
            one += self.one[i] * x[i] * (1 + self.weight)
            two += self.two[i] * (1 - x[i]) * (1 + self.weight)
        return one, two

    def violation(self, measures):
        return max(self.weight - self.limit, 0.0)

    def fitness(self, measures):
        return self.weight * measures[0] + (1 - self.weight) * measures[1]


@pytest.mark.parametrize(("limit", "kept"), [(1, 5), (0.6, 3), (-1, 1)])
def test_the_front_is_feasible_if_any_result_is(limit, kept):
    problem = Licensed([3, 5, 2, 8], [4, 1, 6, 3], limit)
    sweep = sweep_weights(problem, sy.SGA(8), 5, stop=sy.Iterations(8), backend="python")
    found = [tuple(result.objective) for result in sweep.results[:kept]]
    assert sweep.front == tuple(sorted({p for p in found if not any(surpasses(q, p) for q in found)}))
    assert [result.feasible for result in sweep.results] == [k / 4 <= limit for k in range(5)]


def surpasses(one, other):
    return one[0] >= other[0] and one[1] >= other[1] and one != other


def test_weights_by_number_and_by_value():
    few = sweep_weights(small_release(), ENGINE, 3, stop=STOP)
    assert few.weights == (0.0, 0.5, 1.0)
    named = sweep_weights(small_release(), ENGINE, [0.5], stop=STOP)
    assert named.weights == (0.5,)
    assert story(named.results[0]) == story(few.results[1])


@pytest.mark.parametrize(
    ("weights", "rule"),
    [
        (1, "at least 2 weights"),
        (0, "at least 2 weights"),
        (-3, "at least 2 weights"),
        ([1.5], "0 <= weight <= 1"),
        ([float("nan")], "0 <= weight <= 1"),
        ([2**-0.5], "round it"),
        pytest.param([], "weights"),
    ],
)
def test_bad_weights(weights, rule):
    with pytest.raises(sy.InputError, match=rule):
        sweep_weights(small_release(), ENGINE, weights, stop=STOP)


def test_a_problem_without_a_weight():
    with pytest.raises(sy.InputError, match="a problem with several objectives, but Knapsack has one"):
        sweep_weights(small_knapsack(), ENGINE)


def test_a_callback_sees_every_weight():
    stages = []
    sweep_weights(
        small_release(), ENGINE, 2, stop=sy.Iterations(1), callback=lambda p: stages.append(p.stage), threads=1
    )
    assert stages.count("compiling") == stages.count("done") == 2


def test_an_interrupt_ends_the_sweep(monkeypatch):
    monkeypatch.setattr(systola.run.loop, "REPORT_SECONDS", 0)
    interrupted = []

    def interrupt_once(progress):
        if progress.stage == "running" and not interrupted:
            interrupted.append(progress.step)
            raise KeyboardInterrupt

    sweep = sweep_weights(small_release(), ENGINE, 3, stop=STOP, callback=interrupt_once)
    assert len(sweep.results) == 1
    assert sweep.results[0].stop == "interrupted"


def test_other_data_of_the_problem_stay():
    result = sweep_weights(small_release(), ENGINE, [0.0], stop=STOP).results[0]
    problem = small_release()
    assert result.objective == [int(np.dot(data, result.solution)) for data in (problem.costs, problem.values)]


def test_a_signal_between_two_runs_does_not_lose_the_first():
    """While the second one is compiled, or looks for its kernels."""
    compiled = []

    def interrupt(progress):
        if progress.stage == "compiling":
            compiled.append(progress)
            if len(compiled) == 2:
                raise KeyboardInterrupt

    sweep = sweep_weights(small_release(), ENGINE, 3, stop=STOP, callback=interrupt)
    assert sweep.weights == (0.0,)
    assert len(sweep.results) == len(sweep.front) == 1


# More than two objectives, and problems without a weight


@pytest.mark.parametrize(
    ("objectives", "count"), [(2, 2), (2, 7), (3, 3), (3, 6), (3, 8), (3, 11), (4, 5), (4, 20), (5, 9)]
)
def test_weights_are_spread_evenly(objectives, count):
    weights = spread_weights(objectives, count)
    assert len(set(weights)) == len(weights) == count
    if objectives == 2:
        assert np.allclose(np.diff(weights), 1 / (count - 1))
        return
    shares = np.array(weights)
    assert shares.shape == (count, objectives)
    assert np.allclose(shares.sum(axis=1), 1)
    assert shares.min() >= 0
    corners = np.eye(objectives)[: min(count, objectives)]
    assert (
        all((np.abs(shares - corner).sum(axis=1) < 1e-9).any() for corner in np.eye(objectives))
        or len(corners) < objectives
    )
    distances = [np.abs(a - b).max() for i, a in enumerate(shares) for b in shares[:i]]
    finest = next(h for h in range(1, 99) if len(lattice(objectives, h)) >= count)
    assert min(distances) > 0.99 / finest


def lattice(objectives, parts):
    if objectives == 1:
        return [(parts,)]
    return [(k, *rest) for k in range(parts + 1) for rest in lattice(objectives - 1, parts - k)]


class Three(sy.Problem):
    """Three sums of a selection, one of them to be small; nothing says how they compare."""

    encoding = sy.Binary("one")
    sense = (sy.MAXIMISE, sy.MINIMISE, sy.MAXIMISE)
    one: np.ndarray
    two: np.ndarray
    three: np.ndarray

    def evaluate(self, x):
        return total(self.one, x), total(self.two, x), total(self.three, x)


def test_any_problem_with_several_objectives():
    """Of seven bits the best weighted sum is known by trying all."""
    data = np.array([[4, 0, 3, 5, 1, 2, 6], [3, 2, 1, 6, 2, 4, 5], [0, 3, 2, 1, 5, 4, 1]])
    problem = Three(*data)
    sweep = sweep_weights(problem, sy.HillClimbing(), 10, stop=sy.Iterations(60), backend="python")
    every = np.array([data @ ((code >> np.arange(7)) & 1) for code in range(128)])
    for shares, result in zip(sweep.weights, sweep.results, strict=True):
        worth = every @ (np.array(shares) * [1, -1, 1])
        assert np.dot(result.objective, np.array(shares) * [1, -1, 1]) == pytest.approx(worth.max())
    assert len(sweep.front) >= 3
    gains = np.array(sweep.front) * [1, -1, 1]
    assert not any((a >= b).all() and (a > b).any() for a in gains for b in gains)


def test_a_flowshop_gets_its_weights():
    problem = open_instance("flowshop:ta001?objectives=makespan,tardiness,tardy").problem
    engine, stop = sy.Tabu(neighbourhood="insertion"), sy.Iterations(2)
    sweep = sweep_weights(problem, engine, [(0.5, 0.25, 0.25)], stop=stop, backend="python")
    alone = sy.solve(dataclasses.replace(problem, weights=[2, 1, 1]), engine, stop=stop, backend="python")
    assert story(sweep.results[0]) == story(alone)


@pytest.mark.parametrize("weight", [(1.0, 0.0), (0.0, 0.0, 0.0), (1.0, -1.0, 1.0), 0.5, (1.0, "much", 1.0)])
def test_bad_shares(weight):
    with pytest.raises(sy.InputError, match="a weight must be 3 numbers of 0 or more, not all 0, one for each"):
        sweep_weights(Three([1, 2], [3, 4], [5, 6]), sy.HillClimbing(), [weight], stop=STOP)
