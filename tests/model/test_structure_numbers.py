"""Whatever numbers the functions of a structure return: truth values, unsigned ones, infinite ones that nobody uses."""

from functools import partial

import numba
import numpy as np
import pytest

import systola as sy
from model.declared_problems import Tour
from systola.engines import tour_search
from systola.model.structure.part import signed
from systola.operators.declared import has_floats

ITS, TOUR, SA = sy.IteratedTabu(chains=2, moves=15), sy.TourSearch(chains=2), sy.SimulatedAnnealing(chains=2)
solve = partial(sy.solve, stop=sy.Iterations(3), seed=1, backend="python")


class Cut(sy.Problem):
    """Terms that are true or false."""

    encoding = sy.Binary("n")
    n: int
    edges: np.ndarray

    def cut(self, x, k):
        return x[self.edges[k, 0]] != x[self.edges[k, 1]]

    structure = sy.Terms(cut, "edges")


@pytest.fixture
def small_steps(monkeypatch):
    """Interpreted, the usual ones take long."""
    monkeypatch.setattr(tour_search, "_KICKS", 10)


def distances(n=12):
    given = np.random.default_rng(1).integers(1, 100, (n, n))
    return given + given.T


@pytest.mark.parametrize("engine", [ITS, SA], ids=lambda e: e.name)
def test_truth_values_count_as_one_and_zero(engine):
    draws = np.random.default_rng(2)
    problem = Cut(9, np.array([draws.choice(9, 2, replace=False) for _ in range(18)]))
    found = solve(problem, engine)
    assert found.objective == sum(found.solution[a] != found.solution[b] for a, b in problem.edges)


@pytest.mark.parametrize("engine", [TOUR, SA], ids=lambda e: e.name)
def test_unsigned_numbers_are_like_others(engine, small_steps):
    wanted = solve(Tour(distances()), engine)
    assert solve(Tour(distances().astype(np.uint64)), engine).solution.tolist() == wanted.solution.tolist()


def test_compiled_differences_of_unsigned_numbers_are_signed():
    """Numba's own are not, however small the numbers."""
    difference = numba.njit(lambda a, b: signed(a) - signed(b))
    assert difference(np.uint8(3), np.uint8(4)) == -1
    assert difference(np.uint64(3), np.uint64(4)) == -1
    assert difference(False, True) == -1
    assert difference(0.5, 1.0) == -0.5


@pytest.mark.long
def test_unsigned_numbers_compiled():
    """Without that no descent would end."""
    found = sy.solve(Tour(distances().astype(np.uint8)), TOUR, stop=sy.Iterations(3), seed=1)
    assert found.solution.tolist() == solve(Tour(distances()), TOUR).solution.tolist()


def test_what_is_signed_stays_as_it_is():
    for value in (3, -3, 2.5, np.float64(1.5), np.int32(4), None):
        assert signed(value) is value
    assert [type(signed(v)) for v in (True, np.True_, np.uint8(3))] == [np.int64] * 3


def test_a_link_of_a_city_to_itself_is_never_used(small_steps):
    given = distances() / 8.0
    wanted = solve(Tour(given), TOUR)
    np.fill_diagonal(given, np.inf)
    assert solve(Tour(given), TOUR).solution.tolist() == wanted.solution.tolist()


class Root(sy.Problem):
    """Floats that are no numbers, or infinite, for some solutions."""

    encoding = sy.Binary("n")
    n: int
    worst: float

    def root(self, x, k):
        return self.worst if k == 3 and x[3] == 1 and x[4] == 0 else 1.0 * x[k]

    def reads(self):
        return [[3, 4] if k == 3 else [k] for k in range(self.n)]

    structure = sy.Terms(root, reads)


@pytest.mark.parametrize("engine", [ITS, SA, sy.GA(16)], ids=lambda e: e.name)
@pytest.mark.parametrize(("worst", "said"), [(np.nan, "returned NaN for"), (np.inf, "must return a finite number")])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_an_objective_that_is_no_finite_number_is_told(engine, worst, said):
    with pytest.raises(sy.ObjectiveError, match=said) as caught:
        solve(Root(9, worst), engine)
    named = [int(digit) for digit in str(caught.value).rpartition("[")[2].rstrip("]").split()]
    assert not np.isfinite(Root(9, worst).evaluate(np.array(named)))


def test_which_arrays_have_floats():
    assert has_floats(np.zeros(1))
    assert not has_floats(np.zeros(1, np.int64))
