"""Engines of chains: wrong parameters; random moves, on a GPU, by the contract of engines, on any length."""

import numpy as np
import pytest

import systola as sy
from engines.opened import check_on_gpu
from engines.test_annealing import PROBLEMS, cover, tour
from model.declared_problems import Qubo, Tour
from own_problems import Colouring
from ptx.needs import needs_executor
from systola.extend import check_engine

SMALL = [sy.SimulatedAnnealing(chains=3, epoch=10), sy.IteratedLocalSearch(chains=3, patience=10)]
USUAL = [sy.SimulatedAnnealing(), sy.IteratedLocalSearch(patience=9)]


@needs_executor
@pytest.mark.parametrize(
    "engine", [SMALL[0], pytest.param(SMALL[1], marks=pytest.mark.long)], ids=lambda engine: engine.name
)
def test_on_a_gpu(engine):
    check_on_gpu(PROBLEMS["tour"], engine)


@pytest.mark.parametrize(
    "engine", [SMALL[0], pytest.param(SMALL[1], marks=pytest.mark.long)], ids=lambda engine: engine.name
)
def test_they_keep_the_contract_of_engines(engine):
    check_engine(engine, PROBLEMS["cover"])


@pytest.mark.parametrize("engine", USUAL, ids=lambda engine: engine.name)
@pytest.mark.parametrize("n", [1, 2, 63, 64, 65])
@pytest.mark.parametrize("make", [tour, lambda n: cover(3, n), lambda n: Colouring(n, 4, np.zeros((1, 2), np.int64))])
def test_any_number_of_decisions(make, n, engine):
    result = sy.solve(make(n), engine, stop=sy.Iterations(2), backend="python")
    assert result.evaluations == 4 + 2 * 4 * 128


@pytest.mark.parametrize(
    ("engine", "options", "said"),
    [
        (sy.SimulatedAnnealing, {"chains": 0}, "`chains` must be a whole number with 1 <= chains"),
        (sy.SimulatedAnnealing, {"epoch": 0}, "`epoch` must be a whole number with 1 <= epoch"),
        (sy.SimulatedAnnealing, {"constraints": "soft"}, "must be one of strict, mixed, penalty, but got 'soft'"),
        (sy.IteratedTabu, {"chains": 0}, "`chains` must be a whole number with 1 <= chains"),
        (sy.IteratedTabu, {"tenure": -1}, "`tenure` must be a whole number with 0 <= tenure"),
        (sy.IteratedTabu, {"tenure_range": -1}, "`tenure_range` must be a whole number with 0 <= tenure_range"),
        (sy.IteratedTabu, {"moves": 0}, "`moves` must be a whole number with 1 <= moves"),
        (sy.TourSearch, {"chains": 0}, "`chains` must be a whole number with 1 <= chains"),
        (sy.TourSearch, {"candidates": 0}, "`candidates` must be a whole number with 1 <= candidates"),
        (sy.TourSearch, {"longest": -1}, "`longest` must be a whole number with 0 <= longest"),
    ],
)
def test_wrong_parameters(engine, options, said):
    problem = Qubo(np.eye(9)) if engine is sy.IteratedTabu else Tour(np.ones((9, 9), np.int64))
    with pytest.raises(sy.InputError, match=said):
        sy.solve(problem, engine(**options), stop=sy.Iterations(1), backend="python")
