"""Tour search: what its naive twin does; tours as lists; what is refused; stopped, resumed, as a deme, on a GPU."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import systola as sy
from conftest import story
from engines import naive_tour_search as naive
from engines.opened import check_on_gpu, check_resumed
from model.declared_problems import AsymmetricTour, Path, PlainTour, Qubo, Tour
from ptx.needs import needs_executor
from systola.engines import tour_search
from systola.extend import check_engine, open_search
from systola.jit.stop_flag import new_flag
from systola.model.problem import record_of
from systola.model.structure.chain import user_link
from systola.operators.candidate_lists import fill_candidates, fill_lengths
from systola.operators.tour import exchange_segments, forget, locate, reverse_path, stop_logging, undo_all
from systola.operators.tour_descent import QUEUE, descend, queue_city


def matrix(n, symmetric=True, floats=False, seed=1):
    """Links; floats are eighths, whose sums are exact."""
    given = np.random.default_rng(seed).integers(0, 100, (n, n))
    given = given + given.T if symmetric else given
    return given / 8.0 if floats else given


def tour_of(n, symmetric=True, floats=False, seed=1):
    return (Tour if symmetric else AsymmetricTour)(matrix(n, symmetric, floats, seed))


@pytest.fixture
def small_steps(monkeypatch):
    """Ten kicks in a step, and other chains asked after a few steps: what takes long otherwise is tried, too."""
    monkeypatch.setattr(tour_search, "_KICKS", 10)


@pytest.mark.parametrize("log", [2000, 20], ids=["", "full log"])
@pytest.mark.parametrize("floats", [False, True], ids=["ints", "floats"])
@pytest.mark.parametrize("symmetric", [True, False], ids=["symmetric", "asymmetric"])
@pytest.mark.parametrize("n", [8, 17])
def test_it_does_what_the_naive_twin_does(n, symmetric, floats, log, small_steps, monkeypatch):
    monkeypatch.setattr(tour_search, "_PATIENCE", 1 - n)
    monkeypatch.setattr(tour_search, "_LOG", log)
    problem, longest = tour_of(n, symmetric, floats), min(3 if symmetric else 30, n // 4)
    twin = naive.TourTwin(problem, 3, 5, longest, 4, kicks=10, patience=1, log=log)
    search = open_search(problem, sy.TourSearch(chains=3, candidates=5), seed=4, backend="python")
    search.start()
    for step in range(1, 6):
        twin.step(step)
        assert search.advance(1) == 1
        found = search.population()
        assert found.x[:3].tolist() == [chain.tour for chain in twin.chains]
        assert found.x[3:6].tolist() == [chain.best for chain in twin.chains]
        assert found.scores[:6, 0].tolist() == [
            *(chain.length for chain in twin.chains),
            *(chain.best_length for chain in twin.chains),
        ]
        assert search.best().measures[0] == min(chain.best_length for chain in twin.chains)
    assert twin.restarts > 0
    assert n == 8 or log == 2000 or twin.full > 0


def test_a_worse_tour_is_kept_by_warm_chains_only(small_steps):
    for chains, wanted in ((1, False), (4, True)):
        twin = naive.TourTwin(tour_of(30), chains, 5, 3, 4, kicks=10, patience=99, log=2000)
        for step in range(1, 4):
            twin.step(step)
        assert (twin.worse > 0) == wanted


def test_a_weight_changes_nothing_but_the_objective(small_steps):
    class Heavy(Tour):
        structure = sy.Chain(Tour.link, symmetric=True, weight=3)

    plain, heavy = (
        sy.solve(kind(matrix(12)), sy.TourSearch(4), stop=sy.Iterations(3), seed=1, backend="python")
        for kind in (Tour, Heavy)
    )
    assert heavy.solution.tolist() == plain.solution.tolist()
    assert [s.objective for s in heavy.trace.samples] == [3 * s.objective for s in plain.trace.samples]


@st.composite
def changes(draw):
    """A tour, and some changes of it: two places for a reversal, three for an exchange."""
    n = draw(st.integers(8, 20))
    places = st.lists(st.integers(0, n - 1), min_size=2, max_size=3, unique=True)
    return draw(st.permutations(range(n))), draw(st.lists(places, max_size=8))


def arrays(x):
    x = np.array(x, np.int32)
    place = np.full(len(x), -1, np.int32)
    locate(x, place)
    return x, place, np.zeros(200, np.int32)


def in_order(x, cities):
    """Three cities in the order in which the tour visits them."""
    return sorted(cities, key=x.index)


@settings(max_examples=60, deadline=None)
@given(changes())
def test_changes_of_a_tour_are_those_of_lists_and_are_undone(given):
    order, wanted = given
    x, place, log = arrays(order)
    plain = list(order)
    forget(log)
    for places in wanted:
        cities = [plain[p] for p in places]
        if len(cities) == 2:
            reverse_path(x, place, log, *cities)
            naive.reverse_path(plain, *cities)
        else:
            cities = in_order(plain, cities)
            exchange_segments(x, place, log, *cities)
            naive.exchange_segments(plain, *cities)
        assert x.tolist() == plain
        assert x[place].tolist() == list(range(len(x)))
    undo_all(x, place, log)
    assert x.tolist() == list(order)
    assert x[place].tolist() == list(range(len(x)))


@settings(max_examples=60, deadline=None)
@given(st.permutations(range(11)), st.lists(st.integers(0, 10), min_size=3, max_size=3, unique=True))
def test_a_change_is_the_one_that_its_name_says(order, places):
    """From the first city on, what a plain list operation gives: in one of the two directions, for a reversal."""
    one, two, rest = in_order(list(order), [order[p] for p in places])
    start = order.index(one)
    turned = [order[(start + k) % 11] for k in range(11)]
    a, b = turned.index(two), turned.index(rest)
    x, place, log = arrays(order)
    exchange_segments(x, place, log, one, two, rest)
    assert _from(x.tolist(), two) == turned[a:b] + turned[:a] + turned[b:]
    x, place, log = arrays(order)
    reverse_path(x, place, log, one, two)
    wanted = turned[: a + 1][::-1] + turned[a + 1 :]
    assert _from(x.tolist(), two) in (wanted, wanted[:1] + wanted[1:][::-1])


def _from(x, city):
    at = x.index(city)
    return x[at:] + x[:at]


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 9), st.integers(1, 9), st.booleans(), st.integers(0, 10**6))
def test_candidate_lists_are_sorted_ones(n, count, both, seed):
    count = min(count, n - 1)
    problem = record_of(AsymmetricTour(np.random.default_rng(seed).integers(0, 4, (n, n))))  # many are equal
    near = np.zeros((1 + both) * n * count, np.int32)
    fill_candidates(problem.structure, problem, near, n, count, new_flag())
    d = problem.distances
    wanted = [sorted(set(range(n)) - {i}, key=lambda j: (d[i, j], j))[:count] for i in range(n)]
    if both:
        wanted += [sorted(set(range(n)) - {i}, key=lambda j: (d[j, i], j))[:count] for i in range(n)]
    assert near.reshape(-1, count).tolist() == wanted
    lengths = np.zeros(len(near), np.int64)
    fill_lengths(problem.structure, problem, near, lengths, n, count)
    links = [d[i, j] for i in range(n) for j in wanted[i]]
    links += [d[j, i] for i in range(n) for j in wanted[n + i]] if both else []
    assert lengths.tolist() == links


@settings(max_examples=30, deadline=None)
@given(
    st.integers(8, 16), st.booleans(), st.booleans(), st.integers(0, 10**6), st.integers(1, 6), st.sampled_from([0, 30])
)
def test_a_descent_gains_what_it_says(n, symmetric, floats, seed, count, room):
    draws = np.random.default_rng(seed)
    distances = draws.random((n, n)) * 100 if floats else draws.integers(0, 30, (n, n))
    distances = distances + distances.T if symmetric else distances
    problem = record_of((Tour if symmetric else AsymmetricTour)(distances))
    x, place, log = arrays(draws.permutation(n))
    near = np.zeros((1 if symmetric else 2) * n * count, np.int32)
    fill_candidates(problem.structure, problem, near, n, count, new_flag())
    costs = np.zeros(len(near), problem.distances.dtype)
    fill_lengths(problem.structure, problem, near, costs, n, count)
    queue, before = np.zeros(QUEUE + 2 * n, np.int32), x.copy()
    log = log[: room or None]
    (forget if room else stop_logging)(log)
    for city in x:
        queue_city(queue, n, city)
    gained = descend(problem.structure, problem, (x, place, log, queue), (near, costs, count), n // 4, new_flag())
    lengths = [sum(user_link(problem.structure, problem, t[p - 1], t[p]) for p in range(n)) for t in (before, x)]
    assert gained >= 0
    assert gained == (pytest.approx(lengths[0] - lengths[1], abs=1e-9) if floats else lengths[0] - lengths[1])
    assert x[place].tolist() == list(range(n))
    assert not queue[QUEUE + n :].any()
    if room:
        undo_all(x, place, log)
        assert x.tolist() == before.tolist()


@pytest.mark.parametrize(
    "make",
    [
        lambda: PlainTour(matrix(9)),
        lambda: Path(matrix(9)),
        lambda: Qubo(matrix(9)),
        lambda: Tour(matrix(7)),
        lambda: type("Longest", (Tour,), {"sense": sy.MAXIMISE})(matrix(9)),
        lambda: type("Negated", (Tour,), {"structure": sy.Chain(Tour.link, weight=-1)})(matrix(9)),
        lambda: type("Two", (Tour,), {"structure": [sy.Chain(Tour.link), sy.Chain(Tour.link)]})(matrix(9)),
        lambda: type("Limited", (Tour,), {"violation": lambda self, measures: max(900 - measures[0], 0)})(matrix(9)),
    ],
    ids=["no structure", "open", "bits", "seven", "maximised", "negated", "two parts", "with a constraint"],
)
def test_what_is_no_tour_is_refused(make):
    with pytest.raises(sy.InputError, match=r"one cyclic Chain, minimised, of at least 8 items, but .*; choose auto"):
        sy.solve(make(), sy.TourSearch(), stop=sy.Iterations(1), backend="python")


class Bell:
    """Asks a search to leave its step when a link has been measured so many times."""

    left, search = -1, None


class RungTour(Tour):
    """A tour whose links ring."""

    def link(self, a, b):
        Bell.left -= 1
        if Bell.left == 0:
            Bell.search.stop(at_once=True)
        return self.distances[a, b]

    structure = sy.Chain(link, symmetric=True)


@pytest.mark.parametrize("links", [1, 40, 700, 3000])
def test_a_stop_within_a_step_leaves_a_valid_answer(links, small_steps):
    problem = RungTour(matrix(12))
    search = Bell.search = open_search(problem, sy.TourSearch(chains=2), seed=3, backend="python")
    search.start()
    Bell.left = links
    assert search.advance(60) < 60
    Bell.left = -1
    best = search.best()
    assert sorted(best.decisions.tolist()) == list(range(12))
    assert best.measures[0] == problem.evaluate(best.decisions)
    for row, score in zip(search.population().x[:2], search.population().scores[:2, 0], strict=True):
        assert score == problem.evaluate(row)


@pytest.mark.parametrize("symmetric", [True, False])
def test_it_goes_on_from_a_checkpoint(symmetric, small_steps, tmp_path):
    check_resumed(tour_of(12, symmetric), sy.TourSearch(chains=3), 5, 6, 3, tmp_path)


def test_it_can_be_a_deme(small_steps):
    demes = sy.Islands(sy.TourSearch(chains=2), 2, synchronous=True, export_every=2, import_every=1)
    solve = partial(sy.solve, tour_of(20), demes, stop=sy.Iterations(6), seed=1, backend="python")
    one = solve(threads=1)
    assert story(one) == story(solve(threads=2))
    assert one.islands["injected"] > 0


def test_a_chain_goes_on_from_an_immigrant_that_is_better(small_steps):
    angles = 2 * np.pi * np.random.default_rng(5).permutation(30) / 30
    places = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    problem = Tour(np.rint(1000 * np.linalg.norm(places[:, None] - places[None], axis=2)).astype(np.int64))
    best = np.argsort(angles)
    search = open_search(problem, sy.TourSearch(chains=2, candidates=1), seed=1, backend="python")
    search.start()
    search.advance(1)
    assert search.best().measures[0] > problem.evaluate(best)
    search.inject([best])
    search.advance(1)
    found = search.population()
    assert search.best().measures[0] == problem.evaluate(best)
    assert found.x[2:4].tolist().count(best.tolist()) == 1


def test_compiled_as_interpreted():
    solve = partial(sy.solve, tour_of(12), sy.TourSearch(chains=3), stop=sy.Iterations(2), seed=1)
    assert story(solve(threads=2)) == story(solve(backend="python"))


KINDS = [(True, False), (False, False), (True, True), (False, True)]


@pytest.mark.long
@pytest.mark.parametrize(("symmetric", "floats"), KINDS)
def test_it_keeps_the_contract_of_engines(symmetric, floats):
    check_engine(sy.TourSearch(chains=3), tour_of(12, symmetric, floats), steps=2)


@needs_executor
@pytest.mark.long
@pytest.mark.parametrize(("symmetric", "floats"), KINDS)
def test_on_a_gpu(symmetric, floats):
    check_on_gpu(tour_of(12, symmetric, floats), sy.TourSearch(chains=3))
