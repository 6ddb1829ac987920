"""Beam search on flowshops against its naive twin, and runs that start from its orders."""

from dataclasses import replace
from itertools import islice, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import systola as sy
from problems import naive_beam
from systola.model.problem import space_of
from systola.problems.flowshop import beam
from systola.run.engine_search import EngineSearch
from systola.solve import open_search

MOST = 2**31 - 1


def shop(jobs, machines, seed=0, largest=99):
    return sy.Flowshop(np.random.default_rng(seed).integers(0, largest + 1, (jobs, machines)))


def found(times, *rest):
    return beam.search_beam(np.ascontiguousarray(times.T.astype(np.int32)), *rest)


@settings(max_examples=80, deadline=None)
@given(
    st.integers(1, 8),
    st.integers(1, 5),
    st.sampled_from([1, 4, 99, 10**6]),
    st.sampled_from([1, 2, 3, 7, 50]),
    st.sampled_from([0, 3, 10, 100]),
    st.integers(0, 2**32 - 1),
    st.floats(0.8, 1.5) | st.none(),
)
def test_a_beam_is_that_of_the_twin(jobs, machines, largest, width, weight, seed, share):
    problem = shop(jobs, machines, seed, largest)
    limit = MOST if share is None else int(share * problem.lower_bound()) + 1
    wanted = naive_beam.search_beam(problem.times.T.tolist(), width, weight, limit)
    made = found(problem.times, width, weight, limit)
    assert (made is None) == (wanted is None)
    if made is not None:
        assert made[0].tolist() == wanted
        assert made[1] == problem.evaluate(made[0])[0] < limit


def test_a_beam_as_wide_as_all_nodes_finds_the_optimum():
    problem = shop(6, 4, seed=3)
    best = min(problem.evaluate(np.array(order))[0] for order in permutations(range(6)))
    assert found(problem.times, 2**12, 0)[1] == best
    assert found(problem.times, 2**12, 0, best) is None


def test_orders_get_better_until_it_must_end():
    problem = shop(210, 5)
    makespans = [problem.evaluate(order)[0] for order in islice(beam.orders_by_beams(problem.times), 4)]
    assert makespans == sorted(set(makespans), reverse=True)
    assert len(list(beam.orders_by_beams(problem.times, lambda: True))) == 0
    looks = iter([False] * 300 + [True] * 9)
    assert len(list(beam.orders_by_beams(problem.times, lambda: next(looks)))) == 1


def test_there_are_beams_where_they_pay():
    large = shop(200, 20)
    assert large.has_beams()
    assert not shop(199, 5).has_beams()
    assert not shop(200, 21).has_beams()
    assert not replace(large, release=np.ones(200, int)).has_beams()
    assert not replace(large, objectives="flowtime").has_beams()
    assert not replace(large, times=large.times + 10**6).has_beams()  # idle times need more than 31 bits
    assert list(beam.orders_by_beams(np.ones((50_000, 1), int))) == []  # a single one would take too long


@pytest.fixture
def quick(monkeypatch):
    """Beams of one node, so that they take no time."""
    monkeypatch.setattr(beam, "_WORK", 210 * 210 * 5)


def test_iterated_greedy_starts_from_the_best_orders(quick):
    problem = shop(210, 5)
    built = list(beam.orders_by_beams(problem.times))
    assert len(built) >= 2
    search = open_search(problem, sy.IteratedGreedy(size=3, rounds=1), threads=1)
    search.start([np.arange(210)])
    first = problem.encoding.load(space_of(problem), search.population().x[:3])
    assert first.tolist() == [list(range(210)), built[-1].tolist(), built[-2].tolist()]
    search.close()


def test_a_run_is_the_same_on_any_number_of_threads_and_another_one_without_opening(quick):
    problem = shop(210, 5)
    runs = [
        sy.solve(problem, sy.IteratedGreedy(size=2, rounds=1, opening=opening), stop=sy.Iterations(1), threads=threads)
        for opening, threads in ((True, 1), (True, 2), (False, 1))
    ]
    assert runs[0].solution.tolist() == runs[1].solution.tolist() != runs[2].solution.tolist()
    assert runs[0].objective <= problem.evaluate(list(beam.orders_by_beams(problem.times))[-1])[0]
    assert runs[0].parameters["opening"] is True


def test_a_run_without_time_gives_up_its_beams(monkeypatch):
    problem = shop(800, 20)
    sy.solve(shop(200, 20), stop=sy.Iterations(1), threads=1)  # compiles
    monkeypatch.setattr(beam, "_WORK", 2**40)
    result = sy.solve(problem, stop=sy.Seconds(0.5), threads=1)
    assert result.feasible
    assert result.seconds < 0.8
    assert not result.repeatable


def test_a_resumed_run_builds_nothing(quick, monkeypatch, tmp_path):
    problem, engine, saved = shop(210, 5), sy.IteratedGreedy(size=2, rounds=1), tmp_path / "run.ckpt"
    whole = sy.solve(problem, engine, stop=sy.Iterations(3), threads=1)
    sy.solve(problem, engine, stop=sy.Iterations(1), threads=1, checkpoint=saved)
    monkeypatch.setattr(EngineSearch, "_complete", None)
    assert sy.solve(problem, engine, stop=sy.Iterations(3), threads=1, resume=saved).solution.tolist() == (
        whole.solution.tolist()
    )


def test_warming_has_at_hand_what_opening_needs(monkeypatch):
    compiled = []
    monkeypatch.setattr(
        sy.Flowshop, "capabilities", tuple(_noting(entry, compiled) for entry in sy.Flowshop.capabilities)
    )
    sy.warm(shop(10, 5), sy.IteratedGreedy(opening=False), threads=1)
    assert not compiled
    sy.warm(shop(10, 5), threads=1)  # too small, but kernels are for all sizes
    assert compiled == [True]


def _noting(entry, compiled):
    return replace(entry, compile=lambda: compiled.append(True)) if isinstance(entry, sy.Opening) else entry
