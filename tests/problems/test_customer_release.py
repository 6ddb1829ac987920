"""Customers as decisions: against a naive twin, against an exact solver, and bit by bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array, hstack, vstack

from systola import Binary, InputError
from systola.formats.next_release import read_requests
from systola.model.incremental import flip
from systola.model.objective import evaluate, fitness, violation
from systola.model.problem import record_of, space_of
from systola.problems.customer_release import CustomerRelease
from systola.simd.bits import pack

PUBLIC = Path(__file__).parents[3] / "shared" / "instances" / "nrp"

Data = tuple[list[int], list[int], list[list[int]], list[tuple[int, int]], int]


@st.composite
def releases(draw: st.DrawFn) -> Data:
    n, m = draw(st.integers(1, 70)), draw(st.integers(1, 12))
    requirement = st.integers(0, m - 1)
    return (
        draw(st.lists(st.integers(0, 50), min_size=n, max_size=n)),
        draw(st.lists(st.integers(0, 50), min_size=m, max_size=m)),
        draw(st.lists(st.lists(requirement, max_size=4), min_size=n, max_size=n)),
        draw(st.lists(st.tuples(requirement, requirement), max_size=15)),
        draw(st.integers(0, 300)),
    )


def naive(data: Data, x: list[int]) -> tuple[int, int]:
    """Release what the chosen ask for, then what is needed for it, until nothing is missing."""
    profits, costs, requests, dependencies, _ = data
    released = {r for chosen, asked in zip(x, requests, strict=True) if chosen for r in asked}
    while missing := {a for a, b in dependencies if b in released} - released:
        released |= missing
    return sum(p for chosen, p in zip(x, profits, strict=True) if chosen), sum(costs[r] for r in released)


def decisions(draw: Any, problem: CustomerRelease) -> list[int]:
    n = len(problem.profits)
    return draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))  # type: ignore[no-any-return]


@given(releases(), st.data())
def test_measures_are_those_of_the_naive_twin(data: Data, choice: st.DataObject) -> None:
    problem = CustomerRelease.from_requests(*data)
    x = decisions(choice.draw, problem)
    measures = problem.evaluate(np.array(x))
    assert measures == naive(data, x)
    excess = max(measures[1] - problem.budget, 0)
    assert violation(record_of(problem), measures) == excess
    assert fitness(record_of(problem), measures) == measures[0] - excess * (1 + sum(data[0]))


@given(releases(), st.data())
def test_a_flip_changes_the_measures_as_evaluating_anew_does(data: Data, choice: st.DataObject) -> None:
    problem = CustomerRelease.from_requests(*data)
    x = np.array(decisions(choice.draw, problem))
    i = choice.draw(st.integers(0, len(x) - 1))
    measures = np.array(problem.evaluate(x))
    flip(record_of(problem), pack(x[None]), 0, i, measures)
    x[i] ^= 1
    assert tuple(measures) == problem.evaluate(x)


@given(releases())
def test_over_budget_is_worse_than_nothing(data: Data) -> None:
    problem = CustomerRelease.from_requests(*data)
    assert fitness(record_of(problem), (sum(data[0]), problem.budget + 1)) < fitness(record_of(problem), (0, 0))


def test_compiled_and_interpreted_agree() -> None:
    def walk(problem: Any, decisions: Any, x: Any, seen: Any) -> None:
        for i in range(len(decisions)):
            profit, cost = evaluate(problem, decisions)
            seen[i, 0] = profit
            seen[i, 1] = cost
            flip(problem, x, 0, i, seen[i])

    rng = np.random.default_rng(3)
    problem = CustomerRelease.from_requests(
        rng.integers(0, 50, 80),
        rng.integers(0, 9, 40),
        [rng.integers(0, 40, 3) for _ in range(80)],
        [(int(a), int(b)) for a, b in rng.integers(0, 40, (30, 2))],
        100,
    )
    x = rng.integers(0, 2, 80).astype(np.uint8)
    compiled, interpreted = np.zeros((80, 2), np.int64), np.zeros((80, 2), np.int64)
    numba.njit(walk)(record_of(problem), x, pack(x[None]), compiled)
    walk(record_of(problem), x, pack(x[None]), interpreted)
    assert (compiled == interpreted).all()


@pytest.mark.parametrize(("ratio", "optimum"), [(0.3, 1204), (0.5, 1840), (0.7, 2507)])
def test_the_classic_optima_of_nrp1(ratio: float, optimum: int) -> None:
    if not PUBLIC.is_dir():
        pytest.skip("the public instances are not here")
    problem = read_requests(PUBLIC / "nrp1.txt", ratio).problem
    assert isinstance(problem, CustomerRelease)
    x = solve_exactly(problem)
    profit, cost = problem.evaluate(x)
    assert profit == optimum
    assert cost <= problem.budget


def solve_exactly(problem: CustomerRelease) -> Any:
    """x of customers and y of requirements, y[r] >= x[i] for each need, cost of y within the budget."""
    n, m, pairs = len(problem.profits), len(problem.costs), len(problem.customers)
    requirement = np.repeat(np.arange(m), np.diff(problem.starts))
    ones, rows = np.ones(pairs), np.arange(pairs)
    needs = hstack(
        [coo_array((ones, (rows, problem.customers)), (pairs, n)), coo_array((-ones, (rows, requirement)), (pairs, m))]
    )
    paid = coo_array(np.concatenate([np.zeros(n), problem.costs])[None])
    limits = LinearConstraint(vstack([needs, paid]), -np.inf, np.append(np.zeros(pairs), problem.budget))
    worth = np.concatenate([-problem.profits, np.zeros(m)])
    found = milp(worth, integrality=np.ones(n + m), bounds=Bounds(0, 1), constraints=limits)
    assert found.success
    return np.round(found.x[:n]).astype(np.uint8)


def test_requirements_of_the_same_customers_are_merged() -> None:
    problem = CustomerRelease.from_requests([1, 1], [2, 3, 4, 5], [[0, 1], [1]], [(3, 0)], 10)
    assert sorted(problem.costs.tolist()) == [3, 7]  # 1 of both; 0 and 3 of the first; nobody needs 2
    assert problem.encoding == Binary("profits")
    assert space_of(problem).n == 2


def test_customers_may_ask_for_nothing() -> None:
    problem = CustomerRelease.from_requests([3, 4], [5], [[], []], [], 0)
    assert problem.evaluate(np.array([1, 1])) == (7, 0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"profits": []}, "at least one customer"),
        ({"profits": [1, -1]}, r"`profit >= 0` must hold, but got -1 at \[2\]"),
        ({"costs": [0.5]}, "each cost must be a whole number, but got float64"),
        ({"costs": [[1]]}, "`costs` must be a list of numbers, but has 2 dimensions"),
        ({"budget": -1}, "`budget >= 0`"),
        ({"budget": 2.5}, "`budget >= 0`"),
        ({"starts": [0, 1]}, "must run from 0 to the 2 customers listed"),
        ({"starts": [0, 1, 2]}, "one entry more than the 1 costs"),
        ({"costs": [1, 1], "starts": [0, 3, 2]}, "`starts` must not fall, but does at entry 2"),
        ({"customers": [0, 2]}, "`0 <= customer < 2` must hold, but got 2"),
        ({"costs": [2**61]}, "must be below 2\\*\\*62"),
    ],
)
def test_broken_data_are_refused(change: dict[str, Any], message: str) -> None:
    data: dict[str, Any] = {"profits": [5, 6], "costs": [7], "starts": [0, 2], "customers": [0, 1], "budget": 3}
    with pytest.raises(InputError, match=message):
        CustomerRelease(**(data | change))


def test_requests_must_name_what_exists() -> None:
    with pytest.raises(InputError, match="`0 <= requirement < 1` must hold, but got 1"):
        CustomerRelease.from_requests([1], [1], [[1]], [], 1)
    with pytest.raises(InputError, match="`0 <= requirement < 1` must hold, but got -1"):
        CustomerRelease.from_requests([1], [1], [[0]], [(0, -1)], 1)
    with pytest.raises(InputError, match="requests, but got 2 for 1 customers"):
        CustomerRelease.from_requests([1], [1], [[0], [0]], [], 1)
