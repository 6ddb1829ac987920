"""Iterated local search: what its naive twin does, on every encoding; the contract of engines."""

import numpy as np
import pytest

import systola as sy
from engines.naive_iterated_local_search import IteratedSearch
from engines.test_annealing import PROBLEMS, Colouring, cover, tour
from ptx.device import PtxDevice
from ptx.needs import needs_executor
from systola.extend import check_engine, open_search
from systola.model.problem import space_of


@pytest.mark.parametrize("name", PROBLEMS)
def test_it_does_what_the_naive_twin_does(name):
    problem, steps = PROBLEMS[name], 20
    twin = IteratedSearch(problem, 3, 12, 4)
    for step in range(1, steps + 1):
        twin.step(step)
    search = open_search(problem, sy.IteratedLocalSearch(chains=3, patience=12), seed=4, backend="python")
    search.start()
    assert search.advance(steps) == steps
    rows = [tuple(row.tolist()) for row in problem.encoding.load(space_of(problem), search.population().x)]
    for part in range(3):
        wanted = [(chain.now, chain.home, chain.best)[part][0] for chain in twin.chains]
        assert rows[3 * part : 3 * part + 3] == wanted
    assert twin.perturbations > 50
    assert twin.restarts > 0


@needs_executor
def test_on_a_gpu():
    """Its PTX, executed on the CPU."""
    engine, stop = sy.IteratedLocalSearch(chains=3, patience=10), sy.Iterations(4)
    plain = sy.solve(PROBLEMS["tour"], engine, stop=stop, seed=2, backend="python")
    gpu = sy.solve(PROBLEMS["tour"], engine, stop=stop, seed=2, backend="cuda", device=PtxDevice(race=True))
    assert gpu.solution.tolist() == plain.solution.tolist()
    assert [s.objective for s in gpu.trace.samples] == [s.objective for s in plain.trace.samples]


def test_it_keeps_the_contract_of_engines():
    check_engine(sy.IteratedLocalSearch(chains=3, patience=10), PROBLEMS["cover"])


@pytest.mark.parametrize("n", [1, 2, 63, 64, 65])
@pytest.mark.parametrize("make", [tour, lambda n: cover(3, n), lambda n: Colouring(n, 4, np.zeros((1, 2), np.int64))])
def test_any_number_of_decisions(make, n):
    result = sy.solve(make(n), sy.IteratedLocalSearch(patience=9), stop=sy.Iterations(2), backend="python")
    assert result.evaluations == 4 + 2 * 4 * 128


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"chains": 0}, "`chains` must be"),
        ({"patience": 0}, "`patience` must be"),
    ],
)
def test_what_is_refused(options, said):
    with pytest.raises(sy.InputError, match=said):
        sy.solve(PROBLEMS["tour"], sy.IteratedLocalSearch(**options), stop=sy.Iterations(1))
