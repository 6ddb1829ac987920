"""Iterated tabu search: gains from scratch after every move; what its naive twin does; the tabu rule; how it is run."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import systola as sy
from conftest import story
from engines.naive_iterated_tabu import TabuTwin
from engines.opened import check_on_gpu, check_resumed
from model.declared_problems import Cover, PlainQubo, Qubo, Tour
from model.gain_problems import Sum, gain_problems
from ptx.needs import needs_executor
from systola.engines import iterated_tabu
from systola.engines.iterated_tabu import settle_gains, tabu_move
from systola.extend import check_engine, open_search
from systola.jit.records import widen
from systola.model.elementary_moves import make_plain_move
from systola.model.encodings import Bits
from systola.model.problem import record_of, space_of
from systola.model.structure.declare import kept_size
from systola.model.structure.gains import add_gains, after_change, before_change
from systola.model.structure.part import init_structure

KINDS = list(gain_problems(0))
EXACT = [kind for kind in KINDS if "float" not in kind]
SMALL = partial(sy.IteratedTabu, chains=3, tenure=2, tenure_range=3, moves=12)


def bounds_of(problem):
    space = space_of(problem)
    if isinstance(space, Bits):
        return np.zeros(space.n, int), np.ones(space.n, int)
    return space.low.astype(int), space.high.astype(int)


def from_scratch(problem, x, width):
    """The gain of every change, by evaluating all."""
    low, high = bounds_of(problem)
    binary = isinstance(space_of(problem), Bits)
    gains = np.zeros((len(x), width))
    for i in range(len(x)):
        for v in range(low[i], high[i] + 1):
            y = x.copy()
            y[i] = 1 - x[i] if binary else v
            gains[i, 0 if binary else v - low[i]] = problem.evaluate(y) - problem.evaluate(x)
    return gains.ravel()


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 9))
def test_gains_are_those_from_scratch_after_every_move(kind, seed, n):
    problem, draws = gain_problems(seed, n)[kind], np.random.default_rng(seed)
    record, space, (low, high) = widen(record_of(problem)), space_of(problem), bounds_of(problem)
    binary = isinstance(space, Bits)
    width = 1 if binary else int((high - low).max()) + 1
    x = draws.integers(low, high + 1)
    exact = kind in EXACT
    kept, gains = (np.zeros(size, np.int64 if exact else np.float64) for size in (kept_size(problem), n * width))
    measures = np.zeros(1, gains.dtype)
    init_structure(record.structure, record, x, kept, measures)
    assert measures[0] == pytest.approx(problem.evaluate(x), rel=1e-9, abs=1e-9)
    add_gains(record.structure, record, space, x, kept, gains)
    for _ in range(8):
        np.testing.assert_allclose(gains, from_scratch(problem, x, width), rtol=0, atol=0 if exact else 1e-9)
        i = int(draws.integers(n))
        value = int(draws.integers(low[i], high[i] + 1))
        if not binary and value == x[i]:  # no move
            continue
        move = tabu_move(space, x, width, i if binary else i * width + value - low[i])
        before_change(record.structure, record, space, x, i, gains)
        make_plain_move(space, x, *move)
        assert binary or x[i] == value
        after_change(record.structure, record, space, x, i, gains)
        settle_gains(space, x, move, width, gains)


@pytest.mark.parametrize("kind", EXACT)
def test_it_does_what_the_naive_twin_does(kind):
    problem = gain_problems(3, 16)[kind]
    twin = TabuTwin(problem, 3, 5, 1, 2, 4)
    search = open_search(problem, sy.IteratedTabu(3, 1, 2, 5), seed=4, backend="python")
    search.start()
    for step in range(1, 6):
        twin.step(step)
        assert search.advance(1) == 1
        found = search.population()
        rows = [tuple(row) for row in problem.encoding.load(space_of(problem), found.x[:6]).tolist()]
        assert rows == [x for x, _ in (*twin.found, *twin.best)]
        assert search.best().measures[0] == problem.evaluate(np.array(max(twin.best, key=lambda b: b[1])[0]))
    assert twin.crossed > 0 or "minimised" in kind


@pytest.mark.parametrize(("n", "tenure"), [(1, 0), (2, 0), (2, 4), (3, 2), (10, 5), (70, 3)])
def test_the_twin_with_few_and_many_decisions(n, tenure):
    """Among others where all moves are tabu, where a tabu move gives the best solution, and of more than one word."""
    problem = Qubo(np.random.default_rng(n).integers(-9, 10, (n, n)))
    moves = 20 if n == 10 else 6
    twin = TabuTwin(problem, 2, moves, tenure, 0, 1)
    search = open_search(problem, sy.IteratedTabu(2, tenure, 0, moves), seed=1, backend="python")
    search.start()
    for step in range(1, 4):
        twin.step(step)
    assert search.advance(3) == 3
    rows = problem.encoding.load(space_of(problem), search.population().x[:4]).tolist()
    assert rows == [list(x) for x, _ in (*twin.found, *twin.best)]
    assert (twin.stuck > 0) == ((n, tenure) == (2, 4))
    assert (twin.aspired > 0) == (tenure == 5)


def test_what_was_changed_does_not_come_back_within_its_tenure(monkeypatch):
    """Unless that gives the best solution of the step."""
    problem = gain_problems(5, 14)["bounds that differ"]
    steps, tenure = [], 4
    first, later = iterated_tabu.forbid_at_first, iterated_tabu.forbid

    def begin(space, x, *rest):
        steps.append((x.astype(int), []))
        return first(space, x, *rest)

    def note(space, move, *rest):
        steps[-1][1].append(move[1:])
        return later(space, move, *rest)

    monkeypatch.setattr(iterated_tabu, "forbid_at_first", begin)
    monkeypatch.setattr(iterated_tabu, "forbid", note)
    engine = sy.IteratedTabu(chains=2, tenure=tenure, tenure_range=0, moves=60)
    sy.solve(problem, engine, stop=sy.Iterations(8), seed=1, backend="python")
    assert len(steps) == 16
    gaps = []
    for x, moves in steps:
        assert len(moves) == 60
        best, left = problem.evaluate(x), {}
        for t, (i, old, new) in enumerate(moves):
            assert x[i] == old != new
            x[i] = new
            if (i, new) in left:
                gaps.append(t - left[i, new])
                assert gaps[-1] > tenure or problem.evaluate(x) > best
            left[i, old] = t
            best = max(best, problem.evaluate(x))
    assert min(gap for gap in gaps if gap > tenure) == tenure + 1  # and no longer than it says


@pytest.mark.parametrize(
    "make",
    [
        lambda: PlainQubo(np.eye(9)),
        lambda: Tour(np.ones((9, 9))),
        lambda: Cover([1, 2], [[1, 0], [0, 1]]),
        lambda: type("Hard", (Sum,), {"structure": [sy.Linear("costs"), sy.Quadratic("q", hard=True)], "q": np.eye(9)})(
            np.ones(9)
        ),
        lambda: type("Limited", (Qubo,), {"violation": lambda self, measures: max(measures[0] - 5, 0)})(np.eye(9)),
        lambda: type("Rated", (Qubo,), {"fitness": lambda self, measures: -abs(measures[0] - 5)})(np.eye(9)),
    ],
    ids=["no structure", "a permutation", "constraints", "a hard part", "an own constraint", "an own fitness"],
)
def test_what_has_no_gains_is_refused(make):
    with pytest.raises(sy.InputError, match=r"is for one objective over bits or integers, .*; choose auto or Tabu"):
        sy.solve(make(), sy.IteratedTabu(), stop=sy.Iterations(1), backend="python")


class Bell:
    """Asks a search to leave its step when a term has been measured so many times."""

    left, search = -1, None


class RungSum(sy.Problem):
    """A sum whose terms ring."""

    encoding = sy.Binary("n")
    n: int

    def term(self, x, k):
        Bell.left -= 1
        if Bell.left == 0:
            Bell.search.stop(at_once=True)
        return (2 * x[k] - 1) * (x[k - 1] + k)

    def reads(self):
        return [[k, (k - 1) % self.n] for k in range(self.n)]

    structure = sy.Terms(term, reads)


@pytest.mark.parametrize("terms", [1, 100, 333, 1000])
def test_a_stop_within_a_step_leaves_a_valid_answer(terms):
    problem = RungSum(12)
    search = Bell.search = open_search(problem, SMALL(), seed=3, backend="python")
    search.start()
    Bell.left = terms
    assert search.advance(60) < 60
    Bell.left = -1
    best = search.best()
    assert best.measures[0] == problem.evaluate(best.decisions.astype(int))


@pytest.mark.parametrize("kind", ["terms over bits", "bounds that differ", "weights of floats"])
def test_it_goes_on_from_a_checkpoint(kind, tmp_path):
    check_resumed(gain_problems(6, 14)[kind], SMALL(), 5, 6, 3, tmp_path)


def test_it_can_be_a_deme():
    demes = sy.Islands(SMALL(), 2, synchronous=True, export_every=2, import_every=1)
    problem = gain_problems(6, 30)["several parts"]
    solve = partial(sy.solve, problem, demes, stop=sy.Iterations(6), seed=1, backend="python")
    one = solve(threads=1)
    assert story(one) == story(solve(threads=2))
    assert one.islands["injected"] > 0


def test_an_immigrant_that_is_better_takes_the_place_of_a_chains_best():
    problem = gain_problems(6, 30)["several parts"]
    answer = sy.solve(problem, sy.IteratedTabu(chains=2, moves=200), stop=sy.Iterations(4), seed=3, backend="python")
    search = open_search(problem, sy.IteratedTabu(chains=2, moves=1), seed=1, backend="python")
    search.start()
    search.advance(1)
    assert search.best().measures[0] < answer.objective
    search.inject([answer.solution])
    search.advance(1)
    assert search.best().measures[0] == answer.objective
    assert sorted(search.population().scores[2:4, 0].tolist())[1] == answer.objective


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_it_keeps_the_contract_of_engines(kind):
    check_engine(SMALL(), gain_problems(6, 14)[kind], steps=4)


@needs_executor
@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=() if kind == "bounds that differ" else pytest.mark.long) for kind in KINDS]
)
def test_on_a_gpu(kind):
    check_on_gpu(gain_problems(6, 14)[kind], SMALL())
