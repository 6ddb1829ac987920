"""Options of the baselines: how random search draws, and whose children the genetic algorithm of SNS makes."""

import numpy as np
import pytest

import systola as sy
from conftest import OneMax
from systola.backends.cpu import CpuSession
from systola.backends.session import Setup
from systola.model.encodings import sample
from systola.model.problem import bind, space_of
from systola.model.rng import STEP

SEED, STEPS, SIZE = 3, 2, 5
TIGHT = sy.MultiKnapsack(
    profits=[4, 7, 3, 9, 5, 8], weights=[[3, 5, 2, 6, 4, 7], [4, 1, 5, 2, 6, 3]], capacities=[9, 8]
)


def drawn_uniformly(problem, steps, size):
    """The solutions of all steps, drawn as `sample` draws them."""
    space = space_of(problem)
    x = problem.encoding.empty(space, 1)
    for step in range(1, steps + 1):
        for cell in range(size):
            sample(space, x, 0, SEED, STEP, step, cell)
            yield problem.encoding.load(space, x)[0]


def test_uniform_sampling_takes_what_does_not_fit():
    engine = sy.RS(SIZE, sampling="uniform")
    result = sy.solve(TIGHT, engine, stop=sy.Iterations(STEPS), seed=SEED, backend="python", start=[[1] * 6])
    solutions = list(drawn_uniformly(TIGHT, STEPS, SIZE))
    assert any((TIGHT.weights @ x > TIGHT.capacities).any() for x in solutions)
    feasible = [x for x in solutions if (TIGHT.weights @ x <= TIGHT.capacities).all()]
    assert feasible
    assert result.objective == max(int(TIGHT.profits @ x) for x in feasible)


def test_constructed_solutions_always_fit():
    for seed in range(1, 6):
        assert sy.solve(TIGHT, sy.RS(1), stop=sy.Iterations(1), seed=seed, backend="python").feasible


@pytest.mark.parametrize(("parent", "never_worse"), [("own", True), ("tournament", False)])
def test_one_parent_is_the_individual_itself(parent, never_worse):
    """Without crossover and mutation a child is its better parent: no worse than the individual, if that is one."""
    problem = OneMax(12)
    bind(type(problem))
    engine = sy.GA(20, crossover_probability=0, mutation_probability=0, first_parent=parent)
    session = CpuSession(Setup(problem, engine.prepare(problem), 1, np.int64, SEED), 1, False)
    session.start(0, session.lanes)
    before = session.population().scores[:20, 0].copy()
    session.sweep(1, 1, 0, session.lanes)
    after = session.population().scores[20:40, 0]
    assert (after != before).any()
    assert (after >= before).all() == never_worse


@pytest.mark.parametrize(
    ("engine", "told"),
    [
        (sy.RS(4, sampling="greedy"), "the sampling must be constructed or uniform, but got 'greedy'"),
        (sy.GA(4, first_parent="best"), "the first_parent must be tournament or own, but got 'best'"),
    ],
)
def test_options_that_are_refused(engine, told):
    with pytest.raises(sy.InputError, match=told):
        engine.prepare(OneMax(4))
