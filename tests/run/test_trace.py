"""Traces are bounded, depend on the steps only, and tell the truth."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import systola as sy
import systola.run.loop
from conftest import Balance, small_knapsack
from systola.run.trace import MOST_SAMPLES, Sample, Trace

LONG = 30_000


@pytest.fixture(scope="module")
def long_run():
    return sy.solve(small_knapsack(), sy.RS(size=2), stop=sy.Iterations(LONG), threads=1)


def fill(steps, stride=1):
    trace = Trace(stride)
    for step in range(steps + 1):
        trace.take(Sample(step, 2 * step, 0.0, step, 0.0))
        assert len(trace.samples) <= MOST_SAMPLES
    return trace


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 5000))
def test_samples_are_spread_evenly_from_the_first_step_to_the_last(steps):
    trace = fill(steps)
    assert [s.step for s in trace.samples] == list(range(0, steps + 1, trace.stride))
    assert len(trace.samples) > min(steps, MOST_SAMPLES // 2 - 1)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([1, 2, 4, 256]))
def test_the_next_step_is_the_next_multiple_of_the_stride(step, stride):
    following = Trace(stride).next_step(step)
    assert following % stride == 0
    assert step < following <= step + stride


def test_plain_data_and_back():
    trace = fill(1300)
    assert Trace.from_json(trace.to_json()) == trace


def test_a_long_run_keeps_few_samples(long_run):
    trace = long_run.trace
    assert long_run.iterations == LONG
    assert MOST_SAMPLES // 2 <= len(trace.samples) <= MOST_SAMPLES
    assert [s.step for s in trace.samples] == list(range(0, LONG + 1, trace.stride))


def test_samples_count_evaluations_and_only_improve(long_run):
    samples = long_run.trace.samples
    assert [s.evaluations for s in samples] == [1 + 2 * s.step for s in samples]
    for before, after in pairwise(samples):
        assert after.seconds >= before.seconds
        assert after.violation <= before.violation
        assert after.violation < before.violation or after.objective >= before.objective
    assert samples[-1].objective <= long_run.objective
    first_best = next(s.step for s in samples if s.objective == long_run.objective and s.violation == 0)
    assert long_run.found_at <= first_best < long_run.found_at + long_run.trace.stride


def test_samples_of_a_minimum_fall():
    problem = Balance(np.random.default_rng(5).random(33))
    samples = sy.solve(problem, sy.SGA(size=10), stop=sy.Iterations(40)).trace.samples
    objectives = [s.objective for s in samples]
    assert objectives == sorted(objectives, reverse=True)
    assert objectives[0] > objectives[-1]


def test_sampling_does_not_depend_on_the_clock(monkeypatch):
    def samples():
        result = sy.solve(small_knapsack(), sy.RS(size=2), stop=sy.Iterations(1100), threads=1)
        return [(s.step, s.evaluations, s.objective, s.violation) for s in result.trace.samples]

    usual = samples()
    for seconds in (1e-9, 1e-4, 10.0):  # how long a call of a kernel is to last: one step, some, all
        monkeypatch.setattr(systola.run.loop, "CALL_SECONDS", seconds)
        assert samples() == usual
