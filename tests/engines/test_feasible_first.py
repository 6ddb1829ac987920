"""The answer is feasible if a feasible solution was met, even where fitness knows nothing of constraints."""

import numpy as np
import pytest

import systola as sy

CAREFUL = [  # all solutions that they measure may become the answer
    *(sy.SGS(flavour, length=4, width=4) for flavour in "TEVB"),
    *(engine(8) for engine in (sy.SGA, sy.EGA, sy.GA)),
    *(sy.SNS(*options) for options in ((), (True,), (False, True), (True, True, True))),
    sy.RS(4),
    sy.SteadyState(size=8),
    sy.PLS(),
]
WALKERS = [sy.Cellular(size=9), sy.HillClimbing(), sy.Tabu()]  # only those that they go to


class Tempting(sy.Problem):
    """A knapsack whose fitness is the value alone, so that the search is drawn to what is not allowed."""

    encoding = sy.Binary("weights")
    values: np.ndarray
    weights: np.ndarray
    capacity: int
    least: np.ndarray  # the violation of the least violated of all selections that were evaluated

    def evaluate(self, x):
        value = 0
        weight = 0
        for i in range(len(self.weights)):
            value += self.values[i] * x[i]
            weight += self.weights[i] * x[i]
        self.least[0] = min(self.least[0], max(weight - self.capacity, 0))
        return value, weight

    def violation(self, measures):
        return max(measures[1] - self.capacity, 0)


def tempting():
    values, weights = np.random.default_rng(1).integers(1, 30, (2, 14))
    return Tempting(values, weights, int(0.3 * weights.sum()), np.array([2**40]))


def check_story(problem, result):
    broken = [sample.violation for sample in result.trace.samples]
    assert broken == sorted(broken, reverse=True)
    assert result.violation == broken[-1] == problem.violation(problem.evaluate(result.solution))
    assert result.feasible == (result.violation == 0)


@pytest.mark.parametrize("engine", [*CAREFUL, *WALKERS], ids=lambda engine: engine.name)
def test_a_feasible_start_is_not_forgotten(engine):
    problem = tempting()
    result = sy.solve(problem, engine, stop=sy.Iterations(6), start=[[0] * 14], backend="python")
    assert result.feasible
    check_story(problem, result)


@pytest.mark.parametrize("engine", CAREFUL, ids=lambda engine: engine.name)
def test_nothing_that_was_evaluated_breaks_constraints_less_than_the_answer(engine):
    found = []
    for seed in range(1, 6):
        problem = tempting()

        def forget_the_probe(progress, problem=problem):
            if progress.stage == "compiling":
                problem.least[0] = 2**40

        result = sy.solve(
            problem, engine, stop=sy.Iterations(6), seed=seed, callback=forget_the_probe, backend="python"
        )
        assert result.violation == problem.least[0]
        check_story(problem, result)
        found.append(result.feasible)
    assert any(found)
