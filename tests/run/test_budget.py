"""Budgets alone: no search goes past a limit, and of several limits the first one ends it."""

import math
from dataclasses import fields

from hypothesis import given
from hypothesis import strategies as st

import systola as sy
from systola.run.budget import FOREVER, Budget, Spent

counts = st.integers(0, 60)
limits = st.fixed_dictionaries(
    {
        "iterations": st.none() | counts,
        "evaluations": st.none() | st.integers(20, 400),
        "seconds": st.none() | st.integers(0, 60),
        "stall": st.none() | st.integers(0, 30),
        "target": st.none() | st.just(1.0),
        "cap": st.none() | st.integers(1, 60),
    }
)
EACH = [f.name for f in fields(sy.Stop)]


class Course:
    """What a search with constant steps has spent after each of them: a second and `per_step` solutions a step."""

    def __init__(self, started, per_step, finds, goal):
        self.started, self.per_step, self.finds, self.goal = started, per_step, finds, goal

    def at(self, step):
        found = max((f for f in self.finds if f <= step), default=0)
        return Spent(step, self.started + step * self.per_step, float(step), found, step >= self.goal)


courses = st.builds(Course, st.integers(1, 20), st.integers(1, 12), st.sets(counts), counts)


def end_of(stop, course):
    """Step by step until a limit is met: where that is, and which one."""
    budget = Budget(stop, course.per_step)
    for step in range(2000):
        reason = budget.met(course.at(step))
        if reason:
            return step, reason
    return math.inf, ""


@given(limits, courses)
def test_the_first_limit_that_is_met_ends_it(given_limits, course):
    stop = sy.Stop(**given_limits)
    alone = {name: end_of(sy.Stop(**{name: given_limits[name]}), course)[0] for name in EACH}
    step, reason = end_of(stop, course)
    assert step == min(alone.values())
    assert not reason or min(alone[reason], alone["cap"] if reason == "seconds" else math.inf) == step


@given(limits, courses, st.data())
def test_no_limit_is_passed_however_steps_are_shared_out(given_limits, course, data):
    stop = sy.Stop(**{**given_limits, "target": None, "seconds": None, "cap": None}) | sy.Iterations(70)
    budget, step = Budget(stop, course.per_step), 0
    while not budget.met(course.at(step)):
        left = budget.steps_left(course.at(step))
        assert left >= 1
        step += data.draw(st.integers(1, left))
        spent = course.at(step)
        assert spent.step <= stop.iterations
        assert stop.evaluations is None or spent.evaluations <= max(stop.evaluations, course.started)
    assert step == end_of(stop, course)[0]


@given(limits, courses, counts)
def test_nothing_is_left_where_a_limit_is_met(given_limits, course, step):
    budget, spent = Budget(sy.Stop(**given_limits), course.per_step), course.at(step)
    reason = budget.met(spent)
    out_of_steps = budget.steps_left(spent) == 0
    out_of_time = budget.seconds_left(spent.seconds) == 0
    assert (reason in ("iterations", "evaluations", "stall")) <= out_of_steps
    assert (reason == "seconds") <= out_of_time
    assert (out_of_steps or out_of_time) <= bool(reason)


@given(limits, courses, counts)
def test_fractions_grow_up_to_one(given_limits, course, step):
    stop = sy.Stop(**given_limits)
    budget = Budget(stop, course.per_step)
    before, after = budget.fraction(course.at(step)), budget.fraction(course.at(step + 1))
    if not (stop.iterations or stop.evaluations or stop.seconds or stop.cap):
        assert before is after is None
    else:
        assert 0 <= before <= after <= 1
        if budget.met(course.at(step)) in ("iterations", "seconds"):
            assert before == 1 or not (stop.iterations and stop.seconds)


@given(limits, courses)
def test_several_searches_share_evaluations_as_steps(given_limits, course):
    stop = sy.Stop(**{**given_limits, "target": None, "seconds": None, "stall": None, "cap": None})
    if stop.evaluations is not None and stop.evaluations < course.started:
        return
    budget = Budget(stop, course.per_step)
    shared = budget.in_steps(course.started)
    last = budget.last_step(course.started)
    assert shared.last_step() == last
    assert (last == FOREVER) == (stop.iterations is None and stop.evaluations is None)
    if last < FOREVER:
        assert end_of(stop, course)[0] == end_of(shared.stop, course)[0] == last


def test_no_limit():
    budget = Budget(sy.Stop())
    assert budget.met(Spent(10**9, 10**12, 1e9)) == ""
    assert budget.steps_left(Spent()) == FOREVER
    assert budget.seconds_left(1e9) == math.inf
    assert budget.fraction(Spent(5, 5, 5.0)) is None


@given(st.integers(1, 60), st.none() | st.integers(20, 400), st.floats(0.0, 1.0), courses)
def test_a_part_of_the_budget_ends_with_the_first_step_that_spends_it(iterations, evaluations, part, course):
    stop = sy.Stop(iterations=iterations, evaluations=evaluations)
    budget = Budget(stop, course.per_step)
    left = budget.steps_until(part, course.at(0))
    assert left == 0 or budget.fraction(course.at(left - 1)) < part
    if budget.fraction(course.at(left)) < 1:
        assert budget.fraction(course.at(left)) >= part
