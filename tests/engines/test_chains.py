"""Engines of chains that walk by random moves: on a GPU, by the contract of engines, with any number of decisions."""

import numpy as np
import pytest

import systola as sy
from engines.opened import check_on_gpu
from engines.test_annealing import PROBLEMS, cover, tour
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
