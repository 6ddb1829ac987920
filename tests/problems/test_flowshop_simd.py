"""Jobs that pass machines, sixteen schedules side by side: vectors and plain loops against one schedule at a time."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from systola.problems.flowshop import simd
from systola.simd.rows import VECTOR_WIDTH, part

KINDS = {
    "narrow": (np.int32, np.int32),
    "wide": (np.int64, np.int64),
    "narrow front": (np.int32, np.int64),
    "wide front": (np.int64, np.int32),
}
LIMITS = {np.int32: 2**20, np.int64: 2**52}  # of data, so that no sum of a few of them is too large


def one_job(front, at, rows, high, times, due, ready):
    simd.pass_job(part(front, at, VECTOR_WIDTH * rows), high, times, due, ready)


def run(front, at, rows, high, jobs, times, due, ready):
    simd.pass_run(part(front, at, VECTOR_WIDTH * rows), high, jobs, times, due, ready)


def meet(front, at, rows, high, lines, width):
    simd.meet(part(front, at, VECTOR_WIDTH * rows), high, lines, width)


compiled_job, compiled_run, compiled_meet = njit(one_job), njit(run), njit(meet)


@njit
def compiled_breadth(front):
    return simd.breadth(front)


def after(free, counts, times, due, ready):
    """One schedule, one job, in Python's numbers: when machines get free, and tardiness, tardy jobs, flow time."""
    free, now = list(free), ready
    for k, time in enumerate(times):
        now = free[k] = max(now, free[k]) + time
    tardiness, tardy, flow = counts
    return free, [tardiness + max(0, now - due), tardy + (now > due), flow + now - ready]


class Shop:
    """Random data, and fronts with something before and behind them."""

    def __init__(self, draw, kinds):
        self.kind, self.data = kinds
        draws = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
        most = draw(st.sampled_from([1, 50, min(LIMITS[self.kind], LIMITS[self.data])]))
        self.machines, self.jobs = draw(st.integers(1, 6)), draw(st.integers(1, 11))
        self.times = draws.integers(0, most + 1, self.jobs * self.machines).astype(self.data)
        self.due = draws.integers(0, 4 * most + 1, self.jobs).astype(self.data)
        self.ready = draws.integers(0, 2 * most + 1, self.jobs).astype(self.data)
        self.order = draws.integers(0, self.jobs, draw(st.integers(1, 14))).astype(self.data)
        self.rows = self.machines + simd.COUNTS
        self.at = draw(st.integers(0, 20))
        self.front = draws.integers(0, 3 * most + 1, self.at + VECTOR_WIDTH * self.rows + 9).astype(self.kind)

    def expect(self, jobs, lanes):
        """The front after these jobs passed in these schedules."""
        front = self.front.tolist()
        for lane in lanes:
            places = [self.at + VECTOR_WIDTH * k + lane for k in range(self.rows)]
            state = [front[p] for p in places[: self.machines]], [front[p] for p in places[self.machines :]]
            for job in jobs:
                times = self.times[job * self.machines :][: self.machines].tolist()
                state = after(*state, times, int(self.due[job]), int(self.ready[job]))
            for place, value in zip(places, state[0] + state[1], strict=True):
                front[place] = value
        return front

    def arrays(self, interpreted):
        """Times, due dates, release dates; interpreted, as wide as a kernel computes."""
        return [a.astype(np.int64) if interpreted else a for a in (self.times, self.due, self.ready)]


def spread(array):
    """The same numbers, but not next to each other: what a GPU sees, where no vectors are loaded."""
    wide = np.zeros((len(array), 3), array.dtype)
    wide[:, 1] = array
    return wide[:, 1]


@pytest.mark.parametrize("kinds", KINDS.values(), ids=KINDS)
@settings(deadline=None, max_examples=60)
@given(st.data())
def test_one_job(kinds, data):
    """In the schedules l < high; all the others, and what lies around the front, stay as they are."""
    shop = Shop(data.draw, kinds)
    high = data.draw(st.integers(0, VECTOR_WIDTH))
    job = int(shop.order[0])
    expected = shop.expect([job], range(high))
    for call, layout in ((one_job, np.copy), (compiled_job, np.copy), (compiled_job, spread)):
        times, due, ready = shop.arrays(call is one_job)
        front = layout(shop.front)
        of_job = times[job * shop.machines :][: shop.machines]
        call(front, shop.at, shop.rows, high, of_job, due[job], ready[job])
        assert front.tolist() == expected


@pytest.mark.parametrize("kinds", KINDS.values(), ids=KINDS)
@settings(deadline=None, max_examples=60)
@given(st.data())
def test_a_run_of_jobs(kinds, data):
    """Four jobs at a time and what is left; schedules from `high` on may be anything."""
    shop = Shop(data.draw, kinds)
    first, last = sorted(data.draw(st.tuples(*[st.integers(0, len(shop.order))] * 2)))
    high = data.draw(st.integers(1, VECTOR_WIDTH))
    expected = shop.expect(shop.order[first:last].tolist(), range(high))
    whole = shop.expect(shop.order[first:last].tolist(), range(VECTOR_WIDTH))
    for call, layout in ((run, np.copy), (compiled_run, np.copy), (compiled_run, spread)):
        times, due, ready = shop.arrays(call is run)
        front = layout(shop.front)
        call(front, shop.at, shop.rows, high, shop.order[first:last], times, due, ready)
        if call is compiled_run and layout is np.copy:
            assert front.tolist() == whole
        else:
            assert front.tolist() == expected


@pytest.mark.parametrize("kind", [np.int32, np.int64])
@settings(deadline=None, max_examples=60)
@given(st.data())
def test_where_heads_and_tails_meet(kind, data):
    """The longest way over each machine, or the end of jobs that come late; other rows stay as they are."""
    draws = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    machines, width, high = (data.draw(st.integers(*bounds)) for bounds in ((1, 6), (1, 50), (1, VECTOR_WIDTH)))
    at, of = data.draw(st.integers(0, 9)), data.draw(st.integers(0, 9))
    most = np.iinfo(kind).max // 2
    rows = machines + simd.COUNTS
    front = draws.integers(0, most, at + VECTOR_WIDTH * rows).astype(kind)
    lines = draws.integers(0, most, of + width * machines + VECTOR_WIDTH + 3).astype(kind)
    whole = front.tolist()
    for lane in range(VECTOR_WIDTH):
        ways = [
            front[at + VECTOR_WIDTH * k + lane].item() + lines[of + width * k + lane].item() for k in range(machines)
        ]
        whole[at + VECTOR_WIDTH * (machines - 1) + lane] = max(lines[of + width * machines + lane].item(), *ways)
    kept = slice(at + VECTOR_WIDTH * (machines - 1) + high, at + VECTOR_WIDTH * machines)
    wanted = list(whole)
    wanted[kept] = front[kept].tolist()
    for call, layout in ((meet, np.copy), (compiled_meet, np.copy), (compiled_meet, spread)):
        found = layout(front)
        call(found, at, rows, high, lines[of:], width)
        assert found.tolist() == (whole if call is compiled_meet and layout is np.copy else wanted)


def test_schedules_side_by_side():
    """As many as a vector has on a CPU; one at a time where numbers of a front do not lie together, as on a GPU."""
    front = np.zeros(64, np.int32)
    assert simd.breadth(front) == compiled_breadth(front) == VECTOR_WIDTH
    assert compiled_breadth(spread(front)) == 1


def test_narrow_numbers_wrap_nowhere_below_their_limit():
    """The largest numbers that a front of 32 bits can hold."""
    times, one = np.array([2**30, 2**30 - 1], np.int32), np.ones(1, np.int32)
    for call in (run, compiled_run):
        front = np.zeros(VECTOR_WIDTH * 5, np.int32)
        data = [a.astype(np.int64) if call is run else a for a in (times, 0 * one, 0 * one)]
        call(front, 0, 5, VECTOR_WIDTH, 0 * one, *data)
        rows = front.reshape(5, VECTOR_WIDTH)
        assert (rows == np.array([2**30, 2**31 - 1, 2**31 - 1, 1, 2**31 - 1])[:, None]).all()
