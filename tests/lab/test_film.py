"""The grid of a run at several moments, for engines with one solution a cell and with two."""

import numpy as np
import pytest

import systola as sy
from systola.engines.catalog import make_engine
from systola.formats import open_instance
from systola.lab.film import choose_moments, film_grid
from systola.model.objective import fitness
from systola.model.problem import record_of


@pytest.mark.parametrize(
    ("spec", "name", "settings", "shape"),
    [
        ("knapsack:20-100", "sgs-b", {"length": 8, "width": 3}, (3, 8)),
        ("mkp:12x2", "sns", {}, (12, 12)),
        ("mkp:12x2", "sns-exp-r-mr", {}, (4, 12)),
    ],
)
def test_frames_hold_the_best_solution(spec, name, settings, shape):
    problem = open_instance(spec).problem
    engine = make_engine(name, problem, settings)
    frames = film_grid(problem, engine, [0, 5, 30], seed=3)
    assert [frame.shape for frame in frames] == [shape] * 3
    # Solutions are only ever replaced by better ones, so the best of all is still in its cell.
    result = sy.solve(problem, engine, seed=3, stop=sy.Iterations(30))
    best = fitness(record_of(problem), np.array(problem.evaluate(result.solution), dtype=np.int64).reshape(-1))
    assert frames[-1].max() == best
    assert frames[0].mean() < frames[1].mean() <= frames[2].mean()


def test_solutions_of_a_mesh_move_one_column_a_step():
    """The last row flips all decisions at once, which improves few solutions: what is seen is the flow."""
    problem = open_instance("mkp:12x2").problem
    start, later = film_grid(problem, make_engine("sns", problem), [0, 7])
    assert (np.roll(start[-1], 7) <= later[-1]).all()
    assert (np.roll(start[-1], 7) == later[-1]).mean() > 0.5


def test_others_have_no_grid():
    problem = open_instance("mkp:12x2").problem
    with pytest.raises(sy.InputError, match="only SGS and SNS have a grid to film, but got ga"):
        film_grid(problem, make_engine("ga", problem), [0])


def test_moments_grow_apart():
    assert choose_moments(1000) == [0, 5, 18, 70, 265, 1000]
    assert choose_moments(1) == [0, 1]
