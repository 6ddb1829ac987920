"""Iterated local search: what its naive twin does, on every encoding; what is refused."""

import pytest

import systola as sy
from engines.naive_iterated_local_search import IteratedSearch
from engines.test_annealing import PROBLEMS
from systola.extend import open_search
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
