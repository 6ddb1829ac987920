"""Budgets: each alone, combined, exact, and refused when they make no sense."""

import numpy as np
import pytest

import systola as sy
import systola.run.loop
from conftest import Balance, small_knapsack, story

ENGINES = [sy.SGS("B", length=8, width=2), sy.SGA(size=10), sy.RS(size=7)]
TINY = sy.RS(size=2)  # steps of two solutions: thousands of them take milliseconds


def run(stop, engine=TINY, problem=None, threads=1, **rest):
    """By one thread, since steps so short, between threads of a busy machine, are mostly waiting."""
    return sy.solve(problem or small_knapsack(), engine, stop=stop, threads=threads, **rest)


def late_find():
    """A seed, an objective and the odd step > 512 at which it is found, when the trace samples every other step."""
    for seed in range(1, 400):
        result = run(sy.Iterations(900), seed=seed)
        if result.found_at > 512 and result.found_at % 2:
            return seed, result.objective, result.found_at
    raise AssertionError("no seed improves so late")


@pytest.mark.parametrize("n", [0, 1, 7, 512, 513, 1501])
def test_iterations_are_exact(n):
    result = run(sy.Iterations(n))
    assert (result.iterations, result.stop) == (n, "iterations")
    assert result.repeatable
    assert result.limits == {"iterations": n}


@pytest.mark.parametrize("engine", ENGINES, ids=lambda e: e.name)
@pytest.mark.parametrize("spare", [0, 1, 50, 999])
def test_evaluations_are_never_exceeded_nor_wasted(engine, spare):
    design = engine.prepare(small_knapsack())
    budget = design.started + spare
    result = run(sy.Evaluations(budget), engine)
    assert result.stop == "evaluations"
    assert result.evaluations == design.started + result.iterations * design.per_step
    assert result.evaluations <= budget < result.evaluations + design.per_step


def test_evaluations_below_the_first_population():
    engine = sy.SGS("B", length=8, width=2)
    assert engine.prepare(small_knapsack()).started > 10
    with pytest.raises(sy.InputError, match="evaluations"):
        run(sy.Evaluations(10), engine)


def test_evaluations_below_the_first_step_are_told():
    engine = sy.SimulatedAnnealing()
    result = run(sy.Evaluations(engine.prepare(small_knapsack()).started + 1), engine)
    assert result.iterations == 0
    assert "a step of sa takes 512 evaluations, more than were left" in result.notes[0]
    assert not run(sy.Evaluations(5000), engine).notes


def test_seconds():
    result = run(sy.Seconds(0.15))
    assert result.stop == "seconds"
    assert 0.15 <= result.seconds < 5
    assert result.iterations > 0
    assert not result.repeatable


def test_no_seconds_still_give_an_answer():
    result = run(sy.Seconds(0), sy.SGA(size=10))
    assert (result.iterations, result.stop) == (0, "seconds")
    assert len(result.solution) == 40


@pytest.mark.parametrize("n", [0, 1, 5, 60, 700])
def test_stall_is_exact(n):
    result = run(sy.Stall(n))
    assert result.stop == "stall"
    assert result.iterations - result.found_at == n


def test_target_upwards():
    best = run(sy.Iterations(60), sy.SGA(size=10))
    assert best.found_at > 0
    result = run(sy.Target(best.objective) | sy.Iterations(1000), sy.SGA(size=10))
    assert (result.stop, result.objective) == ("target", best.objective)
    assert result.iterations == result.found_at == best.found_at


def test_target_downwards():
    problem = Balance(np.random.default_rng(5).random(33))
    best = run(sy.Iterations(30), sy.SGA(size=10), problem)
    result = run(sy.Target(best.objective) | sy.Iterations(1000), sy.SGA(size=10), problem)
    assert (result.stop, result.objective) == ("target", best.objective)
    assert result.iterations == best.found_at
    never = run(sy.Target(-1.0) | sy.Iterations(30), sy.SGA(size=10), problem)
    assert (never.stop, never.iterations) == ("iterations", 30)


def test_target_met_by_the_start():
    result = run(sy.Target(0) | sy.Iterations(9), sy.RS(size=3), start=np.zeros(40, int))
    assert (result.stop, result.iterations) == ("target", 0)


def test_an_infeasible_solution_is_no_target():
    problem = small_knapsack()
    everything = np.ones(40, int)
    result = run(sy.Target(1) | sy.Iterations(0), problem=problem, start=everything)
    assert result.objective == problem.profits.sum() > 1
    assert not result.feasible
    assert result.stop == "iterations"


def test_target_does_not_depend_on_the_clock(monkeypatch):
    seed, objective, found_at = late_find()
    stop = sy.Target(objective) | sy.Iterations(5000)
    usual = run(stop, seed=seed)
    assert usual.stop == "target"
    assert 0 <= usual.iterations - found_at < usual.trace.stride  # looked at when a sample is taken
    monkeypatch.setattr(systola.run.loop, "CALL_SECONDS", 1e-9)  # as on a machine where a step takes long
    assert story(run(stop, seed=seed)) == story(usual)


@pytest.mark.parametrize("stop", [sy.Stall(600), sy.Evaluations(1501), sy.Iterations(700)], ids=repr)
def test_other_budgets_do_not_depend_on_the_clock(monkeypatch, stop):
    usual = run(stop)
    monkeypatch.setattr(systola.run.loop, "CALL_SECONDS", 1e-9)
    assert story(run(stop)) == story(usual)


@pytest.mark.parametrize(
    ("stop", "reason"),
    [
        (sy.Iterations(5) | sy.Evaluations(10**9) | sy.Seconds(600), "iterations"),
        (sy.Iterations(10**9) | sy.Evaluations(21), "evaluations"),
        (sy.Seconds(600) | sy.Stall(3) | sy.Iterations(10**9), "stall"),
        (sy.Target(1) | sy.Iterations(10**9) | sy.Seconds(600), "target"),
        (sy.Seconds(0) | sy.Iterations(10**9), "seconds"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_first_that_is_met_stops(stop, reason):
    assert run(stop, start=np.zeros(40, int)).stop == reason


def test_combining():
    both = sy.Iterations(5) | sy.Seconds(2)
    assert both == sy.Stop(iterations=5, seconds=2)
    assert sy.Iterations(5) | sy.Iterations(3) == sy.Iterations(3) == sy.Iterations(3) | sy.Iterations(5)
    assert sy.Stall(0) | sy.Stall(3) == sy.Stall(0)
    assert sy.Target(5) | sy.Target(3) == sy.Target(3)
    assert (sy.Stop() | sy.Stop()) == sy.Stop()
    assert not sy.Target(3).limited
    assert not both.repeatable


def test_without_a_limit_the_engine_says_when():
    steps = TINY.prepare(small_knapsack()).steps
    assert run(None).iterations == steps
    unreachable = run(sy.Target(10**9))
    assert (unreachable.iterations, unreachable.stop) == (steps, "iterations")


@pytest.mark.parametrize(
    ("make", "value", "rule"),
    [
        (sy.Iterations, -1, "iterations"),
        (sy.Iterations, 1.5, "whole number"),
        (sy.Iterations, float("nan"), "iterations"),
        (sy.Iterations, True, "iterations"),
        (sy.Iterations, "5", "iterations"),
        pytest.param(sy.Iterations, float("inf"), "iterations"),
        (sy.Evaluations, -1, "evaluations"),
        (sy.Evaluations, [5], "evaluations"),
        (sy.Seconds, -0.1, "seconds"),
        (sy.Seconds, float("nan"), "seconds"),
        (sy.Seconds, "1", "seconds"),
        (sy.Stall, -1, "stall"),
        (sy.Stall, 2.5, "whole number"),
        (sy.Target, float("nan"), "target"),
        pytest.param(sy.Target, "best", "target"),
    ],
)
def test_bad_values(make, value, rule):
    with pytest.raises(sy.InputError, match=rule):
        make(value)


def test_numbers_of_numpy_are_numbers():
    assert sy.Iterations(np.int64(5)).iterations == 5
    assert sy.Seconds(np.float32(0.5)).seconds == 0.5


def test_whole_floats_become_integers_or_are_refused():
    try:
        stop = sy.Iterations(601.0)
    except sy.InputError:
        return
    assert type(stop.iterations) is int
