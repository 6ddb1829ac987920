"""The search that kernels make: however it is cut, saved and restored, it is the one that `solve` runs."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import systola as sy
import systola.run.engine_search
from conftest import small_knapsack
from systola.backends.session import Setup
from systola.engines.migration import supports_migration
from systola.extend import open_search, run_search
from systola.islands.deme import Deme
from systola.islands.islands import Islands
from systola.islands.message import Message
from systola.model.problem import space_of
from systola.run.engine_search import EngineSearch

STEPS = 12
PROBLEM = small_knapsack(16)
ENGINES = {
    "sgs": sy.SGS(length=5, width=3),
    "sga": sy.SGA(size=10),
    "ssga": sy.SteadyState(size=8),
    "cellular": sy.Cellular(size=16),
    "tabu": sy.Tabu(),
    "rs": sy.RS(size=70),  # more rows than lanes
}
NO_TIME = 1e-12  # seconds in which nothing fits but the least piece


def search_of(name="sga", backend="python", **rest):
    return open_search(PROBLEM, ENGINES[name], seed=3, backend=backend, **rest)


def state_of(search):
    """All that is saved, as plain data."""
    state, arrays = search.save()
    return state, {name: (array.dtype.str, array.shape, array.tobytes()) for name, array in arrays.items()}


@cache
def good_solutions():
    result = sy.solve(PROBLEM, sy.SGA(size=20), stop=sy.Iterations(30), seed=5, backend="python")
    worse = result.solution.copy()
    worse[np.flatnonzero(worse)[0]] = 0
    return [worse, result.solution]


@cache
def whole_run(name):
    """The state at the end of a search that was made in one go."""
    search = search_of(name)
    search.start()
    assert search.advance(STEPS) == STEPS
    return state_of(search)


@pytest.mark.parametrize("name", ENGINES)
def test_it_is_what_solve_runs(name):
    result = sy.solve(PROBLEM, ENGINES[name], stop=sy.Iterations(STEPS), seed=3, backend="python")
    search = search_of(name)
    search.start()
    search.advance(STEPS)
    best = search.best()
    assert (best.decisions.tolist(), best.step) == (result.solution.tolist(), result.found_at)
    assert (search.step, search.evaluations) == (result.iterations, result.evaluations)
    run = run_search(search_of(name), sy.Iterations(STEPS))
    assert run.best().decisions.tolist() == result.solution.tolist()
    assert [s.objective for s in run.trace.samples] == [s.objective for s in result.trace.samples]


def successor(search, name):
    """Another search that goes on for this one."""
    state, arrays = search.save()
    other = search_of(name)
    other.restore(state, {key: array.copy() for key, array in arrays.items()})
    return other


slices = st.lists(
    st.tuples(st.integers(0, 5), st.sampled_from([float("inf"), NO_TIME, 1e-3]), st.booleans()), max_size=20
)


@settings(max_examples=25, deadline=None)
@given(name=st.sampled_from(sorted(ENGINES)), cuts=slices, long=st.booleans())
def test_slices_make_the_same_steps(name, cuts, long):
    """Steps in any portions, in pieces of steps, and by several searches, each of which goes on for the one before."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(systola.run.engine_search, "_LONG_SECONDS", 0.0 if long else 0.2)
        search = search_of(name)
        search.start()
        for steps, seconds, moves in cuts:
            before = search.step
            made = search.advance(min(steps, STEPS - before), seconds)
            assert search.step == before + made <= STEPS
            if search.whole:
                assert search.evaluations == 0 or search.evaluations >= search.step * search.per_step
            if moves and search.whole:
                search = successor(search, name)
        while not search.whole:
            search.advance(0)
        assert search.advance(STEPS - search.step) == STEPS - search.step or search.step == STEPS
        assert state_of(search) == whole_run(name)


@pytest.mark.parametrize("threads", [1, 2])
def test_compiled_slices_make_the_same_steps(threads, monkeypatch):
    monkeypatch.setattr(systola.run.engine_search, "_LONG_SECONDS", 0.0)  # every step is made in parts
    search = search_of("sga", "cpu", threads=threads)
    search.start()
    calls = 0
    while search.step < STEPS:
        search.advance(STEPS - search.step, NO_TIME)
        calls += 1
    assert calls > STEPS * 10
    assert state_of(search) == whole_run("sga")


def test_within_a_step_there_is_what_was_before_it():
    opened = search_of("sga")
    search = EngineSearch(opened.setup, opened.session, keeps_steps=True)
    search.start()
    assert search.save() is None
    search.advance(0)
    before = state_of(search)
    assert search.advance(1, NO_TIME) == 0
    assert not search.whole
    assert state_of(search) == before
    search.advance(0)
    assert search.whole
    assert search.step == 1
    assert state_of(search) != before


def test_a_search_that_is_asked_to_stop_makes_no_more_steps():
    search = search_of("sga")
    search.start()
    search.advance(3)
    search.stop()
    assert search.advance(5) == 0
    assert search.whole
    assert search.step == 3
    asked = search_of("sga")
    asked.stop(at_once=True)
    asked.start()
    assert not asked.whole
    assert asked.evaluations == 1
    assert asked.best().step == 0


# Solutions from elsewhere


@pytest.mark.parametrize("name", [n for n in ENGINES if n != "rs"])
@pytest.mark.parametrize("when", [1, 4])
def test_what_is_injected_comes_in_as_in_islands(name, when):
    """A deme of one lane lets the same ones in, and has the same population afterwards."""
    engine, immigrants = ENGINES[name], good_solutions()
    search = search_of(name)
    search.start()
    search.advance(when)
    search.inject(immigrants)
    search.advance(STEPS - when)
    assert state_of(search) != whole_run(name)
    deme = Deme(0, Setup(PROBLEM, engine.prepare(PROBLEM), 2, np.int64, 3), Islands(engine, 2), [1], compiled=False)
    deme.start()
    deme.advance(when)
    rows = PROBLEM.encoding.store(space_of(PROBLEM), np.array(immigrants))
    deme.receive(Message(0, 1, 0, when, np.ones(2, np.uint8), rows))
    deme.advance(STEPS)
    assert deme.counters.injected == 2
    for key, array in search.population()._asdict().items():
        assert array.tobytes() == deme.session.population()._asdict()[key].tobytes(), key
    mine, its = search.best(), deme.search.best()
    assert (mine.measures.tolist(), mine.step) == (its.measures.tolist(), its.step)


def test_a_run_can_drive_the_search_of_a_deme():
    engine = ENGINES["ssga"]
    setup = Setup(PROBLEM, engine.prepare(PROBLEM), 2, np.int64, 3)
    deme = Deme(0, setup, Islands(engine, 2), [1], compiled=False)
    run = run_search(deme.search, sy.Iterations(STEPS))
    assert deme.step == STEPS
    assert run.best().measures.tolist() == run_search(search_of("ssga"), sy.Iterations(STEPS)).best().measures.tolist()


def test_what_is_injected_is_found():
    best = good_solutions()[-1]
    search = search_of("sga")
    search.start([best])
    assert search.advance(0) == 0
    worth = search.best().measures
    other = search_of("sga")
    other.start()
    other.advance(2)
    other.inject(best)
    other.advance(1)
    assert other.best().measures.tolist() == worth.tolist()


@settings(max_examples=20, deadline=None)
@given(name=st.sampled_from(["sgs", "ssga", "tabu"]), when=st.integers(0, 5), cuts=slices)
def test_injecting_is_deterministic(name, when, cuts):
    def inject(search):
        search.inject(good_solutions() * 2)

    one = search_of(name)
    one.start()
    one.advance(when)
    inject(one)
    one.advance(STEPS - when)
    other = search_of(name)
    other.start()
    other.advance(when)
    inject(other)
    for steps, seconds, moves in cuts:
        other.advance(min(steps, STEPS - other.step), seconds)
        if moves and other.whole:
            other = successor(other, name)
    while not other.whole:
        other.advance(0)
    other.advance(STEPS - other.step)
    assert state_of(other) == state_of(one)


@pytest.mark.parametrize("threads", [1, 2])
def test_compiled_immigrants_come_in_likewise(threads):
    def run(backend, **rest):
        search = search_of("sga", backend, **rest)
        search.start()
        search.advance(3)
        search.inject(good_solutions())
        search.advance(STEPS - 3)
        return state_of(search)

    assert run("cpu", threads=threads) == run("python")


def test_what_is_no_solution_is_refused():
    search = search_of("sga")
    search.start()
    for solutions, words in (
        ([[0, 1]], "16 decisions a solution"),
        ([[2] * 16], "binary decisions are 0 or 1"),
        ([[0] * 16, [1]], "rows of different lengths"),
    ):
        with pytest.raises(sy.InputError, match=words):
            search.inject(solutions)
    assert not supports_migration(ENGINES["rs"].prepare(PROBLEM).record)
    with pytest.raises(sy.InputError, match="takes no solutions while it runs"):
        search_of("rs").inject(good_solutions())


def test_wrong_immigrants_in_a_checkpoint_are_refused():
    search = search_of("sga")
    search.start()
    search.advance(2)
    search.inject(good_solutions())
    state, arrays = search.save()
    assert arrays["immigrants"].shape[0] == 2
    for wrong in (
        arrays["immigrants"].astype(np.int32),
        arrays["immigrants"] | np.uint64(1 << 40),
        arrays["immigrants"][:, :0],
    ):
        with pytest.raises(sy.InputError, match="immigrants"):
            search_of("sga").restore(state, {**arrays, "immigrants": wrong})
    with pytest.raises(sy.InputError, match="step"):
        search_of("sga").restore({"step": -1}, arrays)


def test_islands_are_no_search():
    with pytest.raises(sy.InputError, match="several searches"):
        open_search(PROBLEM, Islands(sy.SGA(size=10), 2))


def test_too_many_to_start_from():
    with pytest.raises(sy.InputError, match="at most 10 solutions"):
        search_of("sga").start(np.zeros((11, 16), int))
