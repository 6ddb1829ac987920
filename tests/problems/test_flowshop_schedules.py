"""Neighbours of a schedule and the best place of a job, measured side by side: against one full schedule each."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numba import njit

import systola as sy
from problems.naive_flowshop import best_place, fitness_of, measures_of, moved
from systola.jit.records import widen
from systola.model import incremental
from systola.model.capabilities import buffer_of, capability
from systola.model.problem import record_of
from systola.problems.flowshop import schedules
from systola.problems.flowshop.problem import MEASURES
from systola.simd.rows import VECTOR_WIDTH

SIZES = st.sampled_from([1, 2, 3, 15, 16, 17, 31, 32, 33]) | st.integers(1, 40)
ROW, AT, UNTOUCHED = 1, 3, -77  # of the solutions; of the trials; a number that is no measure


@njit
def compiled_prepare(problem, x, prepared):
    incremental.prepare_insertions(problem, x, prepared)


@njit
def compiled_remove(problem, x, i, prepared, work):
    incremental.remove_item(problem, x, i, prepared, work)


@njit
def compiled_evaluate(problem, x, i, first, last, prepared, work, measures):
    incremental.evaluate_insertions(problem, x, i, first, last, prepared, work, measures)


@njit
def compiled_best(problem, x, count, item, work, measures):
    return incremental.best_insertion(problem, x, count, item, work, measures)


INTERPRETED = (
    incremental.prepare_insertions,
    incremental.remove_item,
    incremental.evaluate_insertions,
    incremental.best_insertion,
)
COMPILED = (compiled_prepare, compiled_remove, compiled_evaluate, compiled_best)


def buffers_of(problem):
    """Of what is prepared and of work; and how much of it is enough for one place."""
    blocks = capability(problem, sy.InsertionBlocks)
    return buffer_of(problem, blocks.prepared), buffer_of(problem, blocks.work), blocks.single(problem)


def shop(jobs, machines, objectives, largest, dated, released, seed):
    """Random times up to `largest`; due dates from always to never missed; weights that let ties happen."""
    draws = np.random.default_rng(seed)
    due = draws.integers(0, (jobs + machines) * largest + 1, jobs) if dated else None
    release = draws.integers(0, jobs * largest + 1, jobs) if released else None
    weights = draws.integers(1, 4, len(objectives))
    return sy.Flowshop(
        draws.integers(0, largest + 1, (jobs, machines)), due, release, ",".join(objectives), weights.tolist()
    )


@st.composite
def shops(draw, wide):
    """All objectives in any order, and mostly more than the makespan; `wide` data need 64 bits."""
    alone = draw(st.booleans())
    objectives = ["makespan"] if alone else draw(st.permutations(MEASURES))[: draw(st.integers(1, 4))]
    return shop(
        draw(SIZES),
        draw(st.integers(1, 6)),
        objectives,
        10**9 if wide else draw(st.sampled_from([1, 9, 99])),
        draw(st.booleans()) or bool({"tardiness", "tardy"} & set(objectives)),
        draw(st.booleans()),
        draw(st.integers(0, 2**32 - 1)),
    )


def orders(draw, problem):
    """Three random orders, of which one is looked at."""
    draws = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return np.array([draws.permutation(len(problem.times)) for _ in range(3)], np.int32)


def arrays_of(problem, functions, apart=False):
    """Problem as it is seen, room for prefix states and for work, full of something else, and trials.

    `apart`: numbers of the work do not lie together, as on a GPU.
    """
    kept, room, _ = buffers_of(problem)
    prepared, work = (np.full(buffer.size, 9, buffer.dtype) for buffer in (kept, room))
    if apart:
        work = np.full((room.size, 2), 9, room.dtype)[:, 1]
    work[-1] = 0  # of no jobs are prefix states known
    trial = np.full((VECTOR_WIDTH + 2 * AT, len(MEASURES)), UNTOUCHED, np.int64, order="F")
    return record_of(problem) if functions is COMPILED else widen(record_of(problem)), prepared, work, trial


def check_insertions(problem, x, i, blocks, functions, apart=False):
    """The neighbours in which job i is moved, a block of places at a time."""
    record, prepared, work, trial = arrays_of(problem, functions, apart)
    prepare, remove, evaluate, _ = functions
    before = x.copy()
    prepare(record, x[ROW], prepared)
    known, fresh = prepared.copy(), True
    counted = 1 if problem.alone else len(MEASURES)
    for first, last in blocks:
        trial[:] = UNTOUCHED
        if last - first == 1:  # needs no more than a front
            alone = np.full(buffers_of(problem)[2], 9, prepared.dtype)
            evaluate(record, x[ROW], i, first, last, prepared, alone, trial[AT : AT + 1])
        else:
            if fresh:
                remove(record, x[ROW], i, prepared, work)
            evaluate(record, x[ROW], i, first, last, prepared, work, trial[AT : AT + last - first])
            fresh = False
        for place in range(first, last):
            neighbour = moved(x[ROW].tolist(), i, place)
            assert trial[AT + place - first, :counted].tolist() == measures_of(problem, neighbour)[:counted]
        assert (np.delete(trial, range(AT, AT + last - first), axis=0) == UNTOUCHED).all()
    assert np.array_equal(x, before)
    assert np.array_equal(prepared, known)


def cut(n, points):
    """Runs of places from the first to the last, none longer than a vector."""
    edges = sorted({0, n, *points})
    whole = [p for a, b in pairwise(edges) for p in range(a, b, VECTOR_WIDTH)]
    return list(zip(whole, [*whole[1:], n], strict=True))


def draw_blocks(draw, n):
    """Places in any order of blocks, cut anywhere."""
    return draw(st.permutations(cut(n, draw(st.lists(st.integers(0, n), max_size=6)))))


def for_any_shop(test):
    """With narrow and wide numbers, interpreted and compiled."""
    test = settings(deadline=None, max_examples=250)(given(st.data())(test))
    test = pytest.mark.parametrize("functions", [INTERPRETED, COMPILED], ids=["interpreted", "compiled"])(test)
    return pytest.mark.parametrize("wide", [False, True], ids=["narrow", "wide"])(test)


@for_any_shop
def test_neighbours(wide, functions, data):
    problem = data.draw(shops(wide))
    assert wide or problem.narrow
    x = orders(data.draw, problem)
    i = data.draw(st.integers(0, len(problem.times) - 1))
    check_insertions(problem, x, i, draw_blocks(data.draw, len(problem.times)), functions)


@pytest.mark.parametrize("jobs", [2, 15, 16, 17, 31, 32, 33])
@pytest.mark.parametrize("objectives", ["makespan", "tardy,flowtime,makespan,tardiness"])
def test_all_neighbours_around_whole_vectors(jobs, objectives):
    """Every job, in blocks as large as they can be, in blocks of two, and one place at a time."""
    problem = shop(jobs, 3, objectives.split(","), 9, True, True, jobs)
    x = np.array([np.random.default_rng(jobs + k).permutation(jobs) for k in range(3)], np.int32)
    for i in range(jobs):
        for points in ((), range(0, jobs, 2), range(jobs)):
            check_insertions(problem, x, i, cut(jobs, points), COMPILED)


def check_place(problem, x, count, item, functions, apart=False):
    record, _, work, trial = arrays_of(problem, functions, apart)
    before = x.copy()
    place = functions[3](record, x[ROW], count, item, work, trial[AT : AT + 2])
    order = x[ROW, :count].tolist()
    assert place == best_place(problem, order, item)
    counted = 1 if problem.alone else len(MEASURES)
    wanted = measures_of(problem, [*order[:place], item, *order[place:]])
    assert trial[AT, :counted].tolist() == wanted[:counted]
    assert (np.delete(trial, [AT, AT + 1], axis=0) == UNTOUCHED).all()
    assert np.array_equal(x, before)


@for_any_shop
def test_best_place(wide, functions, data):
    """The first of the best places for a job that is not among the first of an order."""
    problem = data.draw(shops(wide))
    x = orders(data.draw, problem)
    count = data.draw(st.integers(0, len(problem.times) - 1) | st.just(len(problem.times) - 1))
    check_place(problem, x, count, int(x[ROW, data.draw(st.integers(count, len(problem.times) - 1))]), functions)


@for_any_shop
def test_what_is_known_of_the_order_before(wide, functions, data):
    """Places found one after the other, in orders that share beginnings and ends, with the same work."""
    problem = data.draw(shops(wide))
    n = len(problem.times)
    record, _, work, trial = arrays_of(problem, functions)
    x = orders(data.draw, problem)[ROW]
    for _ in range(4):
        count = data.draw(st.integers(max(0, n - 3), n - 1))
        place = functions[3](record, x, count, int(x[count]), work, trial[:2])
        assert place == best_place(problem, x[:count].tolist(), int(x[count]))
        i, j = data.draw(st.integers(0, n - 1)), data.draw(st.integers(0, n - 1))
        x[:] = moved(x.tolist(), i, j)


@settings(deadline=None, max_examples=100)
@given(shops(False), st.data())
def test_one_schedule_at_a_time(problem, data):
    """Compiled as for a GPU."""
    x, last = orders(data.draw, problem), len(problem.times) - 1
    check_insertions(problem, x, data.draw(st.integers(0, last)), draw_blocks(data.draw, last + 1), COMPILED, True)
    count = data.draw(st.integers(0, last))
    check_place(problem, x, count, int(x[ROW, data.draw(st.integers(count, last))]), COMPILED, True)


@pytest.mark.parametrize("count", [0, 1, 14, 15, 16, 17, 31, 32])
def test_first_of_equal_places(count):
    """Jobs that are all alike are as good in any place."""
    problem = sy.Flowshop(np.full((33, 2), 4), np.full(33, 40), None, "makespan,tardiness")
    x = np.tile(np.arange(33, dtype=np.int32), (3, 1))
    for functions in (INTERPRETED, COMPILED):
        record, _, work, trial = arrays_of(problem, functions)
        assert functions[3](record, x[ROW], count, 32, work, trial[AT : AT + 2]) == 0


@settings(deadline=None, max_examples=40)
@given(shops(False), st.integers(0, 2**32 - 1))
@example(shop(33, 4, ["makespan"], 9, False, True, 1), 3)
def test_putting_a_job_where_it_is_best_never_hurts(problem, seed):
    """What iterated greedy builds on: where the job was is one of the places that are tried."""
    x = np.random.default_rng(seed).permutation(len(problem.times)).tolist()
    job = x[seed % len(x)]
    rest = [other for other in x if other != job]
    order = np.array([[*rest, job]] * 3, np.int32)
    record, _, work, trial = arrays_of(problem, COMPILED)
    place = compiled_best(record, order[ROW], len(rest), job, work, trial[AT : AT + 2])
    assert fitness_of(problem, [*rest[:place], job, *rest[place:]]) >= fitness_of(problem, x)


@settings(deadline=None, max_examples=40)
@given(shops(False), st.integers(0, 2**32 - 1))
def test_outlook(problem, seed):
    """When each machine gets free after each number of jobs, and what was counted up to there."""
    x = np.random.default_rng(seed).permutation(len(problem.times)).astype(np.int32)
    jobs, machines = problem.times.shape
    record, prepared, _, _ = arrays_of(problem, COMPILED)
    compiled_prepare(record, x, prepared)
    lines = prepared.reshape(2 * machines + 4, -1)[: machines + 3, : jobs + 1].tolist()
    done = [[0] * machines, *problem.schedule(x).tolist()]
    assert lines[:machines] == [list(line) for line in zip(*done, strict=True)]
    for count in range(jobs + 1):
        found = measures_of(problem, x[:count].tolist())
        named = {MEASURES[which]: value for which, value in zip(problem.order.tolist(), found, strict=True)}
        assert [line[count] for line in lines[machines:]] == [named[name] for name in MEASURES[1:]]


def test_room():
    """As much as is used: a front for one neighbour; for all, prefix states without one job, the others, how many."""
    problem = sy.Flowshop(np.ones((32, 3), int))
    kept, work, single = buffers_of(problem)
    assert single == 6 * VECTOR_WIDTH
    assert kept.size == 10 * 3 * VECTOR_WIDTH  # 33 moments are three vectors
    assert work.size == single + kept.size + 3 * VECTOR_WIDTH + 1
    assert kept.dtype == work.dtype == np.int32
    assert buffers_of(sy.Flowshop(np.full((32, 3), 10**9)))[0].dtype == np.int64
    assert schedules.numbers_of_front(3) == single
