"""Where the time of Pareto local search goes: the parts of a step, and how they are put together."""

import numba
import numpy as np
import pytest

import systola as sy
from systola.backends.cpu import CpuSession
from systola.backends.session import Setup
from systola.formats import open_instance
from systola.lab import profile
from systola.lab.profile import MOMENTS, REPEATS, Profile, profile_search
from systola.model.problem import bind


@pytest.fixture(scope="module")
def line():
    problem = open_instance("flowshop:8x3?objectives=makespan,tardiness,tardy").problem
    bind(type(problem))
    return problem


def session_of(problem, design):
    session = CpuSession(Setup(problem, design, 4, np.int64, 1), 1)
    session.start(0, session.lanes)
    return session


def test_shares():
    def shares(*rounds):
        return Profile(rounds, 1, []).shares()

    assert shares((10.0, 7.0, 1.0)) == pytest.approx((70, 20, 10))
    assert shares((10.0, 12.0, -1.0)) == pytest.approx((100, 0, 0))  # by noise
    assert shares((9.0, 9.0, 3.0)) == pytest.approx((75, 0, 25))
    # A machine that is ten times slower for a while, or for one part only, changes nothing.
    assert shares((10.0, 7.0, 1.0), (100.0, 70.0, 10.0), (10.0, 70.0, 1.0)) == pytest.approx((70, 20, 10))
    assert Profile([(3.0, 1.0, 1.0), (2.0, 1.0, 1.0), (90.0, 1.0, 1.0)], 1, []).step == 3


@pytest.mark.long
def test_parts_leave_the_archive_alone(line):
    engine = sy.PLS()
    run = session_of(line, engine.prepare(line))
    run.sweep(1, 30, 0, run.lanes)
    state = run.save()
    for part in ("evaluation", "search"):
        session = session_of(line, engine.prepare_part(line, part))
        session.restore(state)
        for low in (0, session.lanes):
            session.sweep(31, 10, low, session.lanes)
        for one, other in zip(engine.members(session.population()), engine.members(run.population()), strict=True):
            np.testing.assert_array_equal(one, other)
        here = session.population()
        moved = not np.array_equal(here.x[0], run.population().x[0])
        assert moved == (part == "search")  # to some member, and what is known of it is known
        assert tuple(here.scores[0]) == line.evaluate(here.x[0])


@pytest.mark.parametrize(("accept", "threads"), [("dominating", 1), ("non-dominated", 2)])
def test_the_run_is_that_of_solve(line, accept, threads):
    if threads > numba.config.NUMBA_NUM_THREADS:
        pytest.skip("one core only")
    result = sy.solve(line, sy.PLS(accept), stop=sy.Stop(iterations=150), seed=3, threads=1)
    made = profile_search(line, sy.PLS(accept), 150, seed=3, threads=threads)
    assert made.best[:3] == result.objective
    assert made.threads == threads
    assert made.step > 0
    assert sum(made.shares()) == pytest.approx(100)
    assert min(made.shares()) >= 0


@pytest.mark.parametrize("iterations", [1, 7, 150, 1000])
def test_rounds(line, iterations, monkeypatch):
    calls = []

    def pace(session, step, low):
        session.sweep(step + 1, 1, low, session.lanes)
        calls.append(step)
        if low:
            assert session.threads == 1
        part = type(session._setup.design.record).__name__.split("_insertion")[0]
        seconds = {"Pareto": 1e-3, "Pareto_evaluation": 6e-4, "Pareto_search": 2.5e-4}[part]
        return 5e-5 if low and part == "Pareto_evaluation" else seconds

    monkeypatch.setattr(profile, "_pace", pace)
    made = profile_search(line, sy.PLS(), iterations)
    assert made.shares() == pytest.approx((60, 20, 20))
    assert len(made.rounds) == min(iterations, MOMENTS) * REPEATS
    assert len(calls) == 2 * 4 * len(made.rounds)  # each twice
    assert len(set(calls)) == min(iterations, MOMENTS)
    assert max(calls) < iterations


def test_bad_numbers(line):
    with pytest.raises(sy.InputError, match="`iterations >= 1` must hold for a profile, but got 0"):
        profile_search(line, sy.PLS(), 0)
    with pytest.raises(sy.InputError, match="must hold here, but got 1000"):
        profile_search(line, sy.PLS(), 5, threads=1000)
