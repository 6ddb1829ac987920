"""Flowshop: all measures against an obvious recursion, whichever are the objectives; data that break a rule."""

from dataclasses import replace
from functools import cache
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import systola as sy
from systola.backends.cpu import evaluate_compiled
from systola.jit.records import widen
from systola.model.contracts import check_problem
from systola.model.objective import evaluate, fitness
from systola.model.problem import digest_of, record_of, senses_of
from systola.problems.flowshop.problem import MEASURES

TIMES = [[3, 2, 4], [1, 5, 2], [6, 1, 3]]


def shop(jobs, machines, largest, dated, released, objectives, weights, seed):
    """Random data up to `largest`; due dates anywhere from always to never missed."""
    draws = np.random.default_rng(seed)
    times = draws.integers(0, largest + 1, (jobs, machines))
    dated = dated or bool({"tardiness", "tardy"} & set(objectives))
    due = draws.integers(0, (jobs + machines) * largest + 1, jobs) if dated else None
    release = draws.integers(0, jobs * largest + 1, jobs) if released else None
    return sy.Flowshop(times, due, release, ",".join(objectives), weights)


@st.composite
def shops(draw):
    objectives = draw(st.permutations(MEASURES))[: draw(st.integers(1, 4))]
    weights = draw(st.none() | st.lists(st.integers(0, 9), min_size=len(objectives), max_size=len(objectives)))
    return shop(
        draw(st.integers(1, 9)),
        draw(st.integers(1, 6)),
        draw(st.sampled_from([1, 9, 99, 10**9])),
        draw(st.booleans()),
        draw(st.booleans()),
        objectives,
        weights if weights is None or any(weights) else None,
        draw(st.integers(0, 2**32 - 1)),
    )


def completions(problem, x):
    """By the definition: an operation begins when the job and the machine are both ready."""
    times, release = problem.times.tolist(), problem.release.tolist()

    @cache
    def done(k, machine):
        job = x[k]
        job_ready = release[job] if machine == 0 else done(k, machine - 1)
        machine_ready = 0 if k == 0 else done(k - 1, machine)
        return max(job_ready, machine_ready) + times[job][machine]

    return [[done(k, machine) for machine in range(len(times[0]))] for k in range(len(x))]


def by_name(problem, x):
    """All measures in Python's numbers."""
    done = {job: row[-1] for job, row in zip(x, completions(problem, x), strict=True)}
    late = [max(done[job] - due, 0) for job, due in enumerate(problem.due.tolist())]
    return {
        "makespan": max(done.values()),
        "tardiness": sum(late),
        "tardy": sum(lateness > 0 for lateness in late),
        "flowtime": sum(done[job] - release for job, release in enumerate(problem.release.tolist())),
    }


@settings(deadline=None, max_examples=200)
@given(shops(), st.data())
def test_measures(problem, data):
    """Interpreted and compiled: the objectives in their order, then what is left of the four."""
    x = data.draw(st.permutations(range(len(problem.times))))
    wanted = by_name(problem, tuple(x))
    objectives = problem.objectives.split(",")
    rest = [name for name in MEASURES if name not in objectives]
    assert [MEASURES[k] for k in problem.order] == objectives + rest
    measures = [wanted[name] for name in objectives + rest]
    assert list(evaluate(widen(record_of(problem)), np.array(x))) == measures
    assert list(evaluate_compiled(record_of(problem), np.array(x, np.int32))) == measures
    assert fitness(record_of(problem), np.array(measures)) == -sum(
        weight * wanted[name] for weight, name in zip(problem.weights.tolist(), objectives, strict=True)
    )
    assert senses_of(problem) == (sy.MINIMISE,) * len(objectives)
    assert problem.schedule(x).tolist() == completions(problem, tuple(x))


@settings(deadline=None, max_examples=60)
@given(shops(), st.data())
def test_the_promise_of_narrow_numbers(problem, data):
    x = data.draw(st.permutations(range(len(problem.times))))
    measures = evaluate_compiled(record_of(problem), np.array(x, np.int32))
    if problem.narrow:
        assert max(*measures, -fitness(record_of(problem), np.array(measures)), problem.limits.max()) < 2**31
    assert problem.narrow or problem.times.max() > 10**6


@pytest.mark.parametrize(
    ("times", "rest", "narrow"),
    [
        ([[2**31 - 1]], {}, True),
        ([[2**31]], {}, False),
        ([[2**31 - 2]], {"release": [1]}, True),
        ([[2**31 - 2]], {"release": [2]}, False),
        ([[2**28], [0]], {}, True),
        ([[2**29], [0]], {}, False),  # both may be done late, and their times are added
        ([[2**28], [0]], {"weights": [3]}, True),
        ([[2**28], [0]], {"weights": [4]}, False),
        ([[0]], {"weights": [2**40]}, False),
    ],
)
def test_narrow_numbers(times, rest, narrow):
    assert sy.Flowshop(times, **rest).narrow == narrow


@settings(deadline=None, max_examples=100)
@given(shops(), st.data())
def test_no_schedule_beats_the_bound(problem, data):
    x = data.draw(st.permutations(range(len(problem.times))))
    assert problem.lower_bound() <= by_name(problem, tuple(x))["makespan"]
    assert problem.bound() == (problem.lower_bound() if problem.objectives == "makespan" else None)


def test_the_bound_is_that_of_the_machines_or_of_a_job():
    # Machine 2 waits for the soonest job, works on all, and the soonest has to pass machine 3.
    assert sy.Flowshop([[1, 9, 2], [3, 8, 1]]).lower_bound() == 1 + 17 + 1
    assert sy.Flowshop([[1, 1, 1], [30, 1, 1]]).lower_bound() == max(0 + 31 + 2, 32)
    assert sy.Flowshop([[1, 1, 40], [1, 1, 30]], release=[7, 0]).lower_bound() == 2 + 70  # machine 3
    assert sy.Flowshop([[1, 1, 50], [1, 1, 1]], release=[70, 0]).lower_bound() == 70 + 52  # job 1


def test_two_machines_reach_the_bound():
    """Johnson's rule: here the order 1, 2, 0 leaves the second machine idle only in the beginning."""
    problem = sy.Flowshop([[5, 2], [1, 6], [3, 8]])
    assert (
        min(evaluate_compiled(record_of(problem), np.array(x))[0] for x in permutations(range(3)))
        == problem.bound()
        == 17
    )


def test_without_due_dates_no_job_is_tardy():
    problem = sy.Flowshop(TIMES, objectives="flowtime")
    wanted = by_name(problem, (2, 0, 1))
    assert evaluate_compiled(record_of(problem), np.array([2, 0, 1])) == (wanted["flowtime"], wanted["makespan"], 0, 0)
    assert problem.due.tolist() == []
    assert problem.release.tolist() == [0, 0, 0]


def test_due_dates_beyond_all_schedules():
    problem = sy.Flowshop(TIMES, [2**61, 0, 9], objectives="tardy,tardiness")
    assert problem.narrow
    assert problem.due.tolist() == [2**61, 0, 9]
    wanted = by_name(problem, (0, 1, 2))
    assert evaluate_compiled(record_of(problem), np.array([0, 1, 2]))[:2] == (wanted["tardy"], wanted["tardiness"])


def test_types_of_data_do_not_matter():
    digests = set()
    for kind in (np.uint8, np.int8, np.int32, np.uint32, np.int64, np.uint64):
        problem = sy.Flowshop(
            np.array(TIMES, kind), np.array([9, 9, 9], kind), np.array([0, 1, 2], kind), "tardy", np.array([3], kind)
        )
        assert list(evaluate_compiled(record_of(problem), np.arange(3))) == [
            by_name(problem, (0, 1, 2))[MEASURES[k]] for k in problem.order
        ]
        digests.add(digest_of(problem))
    assert len(digests) == 1
    assert digest_of(sy.Flowshop(TIMES, None, None, "makespan", None)) == digest_of(sy.Flowshop(TIMES))
    assert digest_of(sy.Flowshop(TIMES)) != digest_of(sy.Flowshop(TIMES, objectives="flowtime"))


def test_objectives_may_have_spaces_and_can_be_replaced():
    problem = sy.Flowshop(TIMES, [9, 9, 9], objectives=" tardy , makespan", weights=[2, 0])
    assert problem.objectives == "tardy,makespan"
    assert problem.factors.tolist() == [2, 0, 0, 0]
    assert replace(problem, weights=[0, 5]).factors.tolist() == [0, 5, 0, 0]
    assert str(problem) == "flowshop of 3 jobs on 3 machines, objectives tardy, makespan"


@pytest.mark.parametrize(
    ("data", "rule"),
    [
        ({"times": [1, 2]}, r"times must have a row for each job and a column for each machine.*shape \(2,\)"),
        ({"times": []}, r"one or more of each, but have shape \(0,\)"),
        ({"times": np.zeros((0, 3), int)}, r"one or more of each, but have shape \(0, 3\)"),
        ({"times": np.zeros((3, 0), int)}, r"one or more of each, but have shape \(3, 0\)"),
        ({"times": 5}, "times must be an array, but got the number 5"),
        ({"times": "5"}, r"Flowshop\.times must be an array of whole numbers, but got '5'"),
        ({"times": None}, r"Flowshop\.times must be an array of whole numbers, but got None"),
        ({"times": [[1, 2], [3]]}, "its rows differ in length"),
        ({"times": [[1, 2.5]]}, "each processing time must be a whole number, but got float64; scale the data"),
        ({"times": [[1, 2], [-3, 4]]}, r"`processing time >= 0` must hold, but got -3 at \[2, 1\]"),
        ({"times": [[1, 2**62]]}, rf"each processing time must be below 2\*\*62, but got {2**62}; scale the data down"),
        ({"times": np.array([[1, 2**63]], np.uint64)}, rf"processing time must be below 2\*\*62, but got {2**63}"),
        ({"due": 5}, "due must be an array, but got the number 5"),
        ({"due": "soon"}, r"Flowshop\.due must be an array of whole numbers, but got 'soon'"),
        ({"due": [5, 6]}, r"each of the 3 jobs needs a due date, but got 2"),
        ({"due": [[5, 6, 7]]}, r"each of the 3 jobs needs a due date, but got an array of shape \(1, 3\)"),
        ({"due": [5, 6.5, 7]}, "each due date must be a whole number, but got float64"),
        ({"due": [5, 6, -7]}, r"`due date >= 0` must hold, but got -7 at \[3\]"),
        ({"due": [5, 6, 2**62]}, r"each due date must be below 2\*\*62"),
        ({"release": [5]}, r"each of the 3 jobs needs a release date, but got 1"),
        ({"release": [0, -1, 0]}, r"`release date >= 0` must hold, but got -1 at \[2\]"),
        ({"objectives": ""}, "an objective must be one of makespan, tardiness, tardy, flowtime, but got ''$"),
        (
            {"objectives": "makespan,lateness"},
            "must be one of makespan, tardiness, tardy, flowtime, but got 'lateness'",
        ),
        ({"objectives": "tardy,makespan,tardy"}, "an objective must come once, but 'tardy' comes again; leave it"),
        ({"objectives": "makspan"}, r"but got 'makspan'; did you mean 'makespan'\?"),
        ({"objectives": ["makespan"]}, r"`objectives` must be a text such as 'makespan,tardiness', but got \['make"),
        ({"objectives": "makespan,tardy"}, "the objective tardy needs due dates, but there are none; give `due`, or"),
        ({"objectives": "tardiness"}, "tardiness needs due dates, but there are none; .* or leave out tardiness"),
        ({"weights": [1, 2]}, r"each of the 1 objectives needs a weight, but got 2"),
        ({"weights": [0]}, r"one of the weights must be above 0, but got \[0\]"),
        ({"weights": [-1]}, r"`weight >= 0` must hold, but got -1 at \[1\]"),
        ({"weights": [0.5]}, "each weight must be a whole number, but got float64"),
        ({"weights": [2**60]}, rf"below 2\*\*62, but .* could reach {2**60 * 30}; scale the data down"),
        ({"release": [0, 0, 2**61]}, rf"could reach {3 * (2**61 + 30)}; scale the data down"),
        ({"times": [[2**61, 2**61]]}, rf"could reach {2**62}; scale the data down"),
    ],
)
def test_bad_data(data, rule):
    with pytest.raises(sy.InputError, match=rule):
        sy.Flowshop(**{"times": TIMES, **data})


def test_measures_up_to_the_limit():
    problem = sy.Flowshop([[2**60 - 1] * 4], [0], objectives="tardiness,flowtime,makespan", weights=[0, 1, 0])
    assert evaluate_compiled(record_of(problem), np.array([0])) == (2**62 - 4,) * 3 + (1,)
    assert not problem.narrow


@pytest.mark.parametrize("x", [[0, 1], [0, 0, 1], [[0, 1, 2]], [0, 1, 3]])
def test_only_a_whole_order_has_a_schedule(x):
    with pytest.raises(sy.InputError):
        sy.Flowshop(TIMES).schedule(x)


@pytest.mark.parametrize(
    "objectives", ["makespan", "flowtime,tardy", "tardiness,makespan,tardy", "tardy,flowtime,makespan,tardiness"]
)
def test_contract(objectives):
    check_problem(shop(7, 3, 20, True, True, objectives.split(","), None, 4), trials=40)


@pytest.mark.parametrize(
    ("objectives", "kind"), [("makespan", int), ("makespan,tardiness,tardy", list)], ids=["one objective", "three"]
)
def test_a_run(objectives, kind):
    problem = shop(9, 4, 50, True, False, objectives.split(","), None, 6)
    result = sy.solve(problem, sy.Cellular(size=16, radius=1), stop=sy.Stop(iterations=3))
    assert isinstance(result.objective, kind)
    wanted = by_name(problem, tuple(result.solution.tolist()))
    assert np.atleast_1d(result.objective).tolist() == [wanted[name] for name in objectives.split(",")]
    assert result.bound == problem.bound()
    again = sy.solve(problem, sy.Cellular(size=16, radius=1), stop=sy.Stop(iterations=3), backend="python")
    assert again.objective == result.objective
    assert again.solution.tolist() == result.solution.tolist()


def test_finds_the_optimum_of_a_tiny_instance():
    problem = shop(6, 3, 30, True, True, ["tardiness", "flowtime"], [3, 1], 8)
    worth = {x: evaluate_compiled(record_of(problem), np.array(x))[:2] for x in permutations(range(6))}
    best = min(3 * tardiness + flowtime for tardiness, flowtime in worth.values())
    result = sy.solve(problem, stop=sy.Iterations(5), backend="python")
    assert 3 * result.objective[0] + result.objective[1] == best
