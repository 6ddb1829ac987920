"""The dynamic program on the core of a knapsack, against the one of the textbook."""

import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_knapsack import optimum, optimum_of_all

import systola as sy
from exact.pieces import search_in_pieces
from systola.exact.cardinality import Relaxed, bound_of, price_cases
from systola.exact.knapsack_core import break_of, find_filling, groups_of, reduce_items
from systola.exact.knapsack_search import KnapsackSearch, Sack
from systola.extend import check_problem
from systola.formats.knapsack import pisinger
from systola.formats.knapsack_classes import CLASSES, generate
from systola.model.capabilities import offers
from systola.model.problem import digest_of

SMALL = 1 << 24


def search_of(problem, memory=SMALL):
    search = KnapsackSearch(problem, Sack(problem.profits, problem.weights, problem.capacity), memory)
    search.compile()
    return search


def solved(problem, memory=SMALL, **how):
    search = search_of(problem, memory)
    search.start(**how)
    search.advance(10**9)
    best = search.best()
    measures = [int(v) for v in problem.evaluate(best.decisions.astype(np.int64))]
    assert best.measures.tolist() == measures
    assert measures[1] <= problem.capacity
    assert search.bound() >= measures[0]
    return search, measures[0]


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize(("items", "spread"), [(6, 20), (30, 100), (100, 1000), (1500, 100)])
def test_every_class_is_solved(kind, items, spread):
    for number in (2, 35, 70, 98):
        problem = generate(kind, items, spread, number)
        if problem.capacity * items > 10**8:
            continue
        search, found = solved(problem)
        assert search.finished
        assert search.is_proven()
        assert found == search.bound() == optimum(problem.profits, problem.weights, problem.capacity)


@settings(max_examples=200, deadline=None)
@given(
    items=st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=1, max_size=9),
    capacity=st.integers(0, 150),
)
def test_tiny_ones_by_trying_everything(items, capacity):
    profits, weights = (np.array(values) for values in zip(*items, strict=True))
    search, found = solved(sy.Knapsack(profits, weights, capacity))
    assert search.is_proven()
    assert found == search.bound() == optimum_of_all(profits, weights, capacity)


@settings(max_examples=60, deadline=None)
@given(data=st.data(), spread=st.integers(2, 60), copies=st.integers(1, 300))
def test_few_types_in_many_copies(data, spread, copies):
    """They are bundled, and those of the break item's efficiency are put in at the end."""
    types = data.draw(st.lists(st.tuples(st.integers(1, spread), st.integers(1, spread)), min_size=1, max_size=4))
    times = data.draw(st.lists(st.integers(1, 9), min_size=1, max_size=12))
    pairs = [(k * p, k * w) for p, w in types for k in times] * copies
    profits, weights = (np.array(values[:2500]) for values in zip(*pairs, strict=True))
    capacity = data.draw(st.integers(0, int(weights.sum())))
    search, found = solved(sy.Knapsack(profits, weights, capacity))
    assert search.is_proven()
    assert found == optimum(profits, weights, capacity)


def test_copies_are_put_in_afterwards_where_that_is_certain():
    assert find_filling(reduce_items(np.array([4, 8, 8, 3]), np.array([2, 4, 4, 2]), 7)) is not None
    assert (
        find_filling(reduce_items(np.array([4, 12, 12, 3]), np.array([2, 6, 6, 2]), 7)) is None
    )  # 2 and 6 leave 4 out


@pytest.mark.parametrize("kind", [1, 3, 4, 5, 9, 14, 16])
def test_bounds_by_prices_hold_whatever_the_prices(kind):
    problem = generate(kind, 40, 100, 50)
    items = reduce_items(problem.profits, problem.weights, problem.capacity)
    b, room = break_of(items.weights, items.capacity)
    best = optimum(items.profits, items.weights, items.capacity)
    base = int(items.profits[:b].sum())
    draws = np.random.default_rng(kind)
    for groups in groups_of(items):
        relaxed = Relaxed(items.weights, items.profits, groups, b, room)
        limit = int(groups[:b].sum())
        cases = price_cases(relaxed, limit, -(10**9))
        assert max(case.bound for case in cases) + base >= best
        for _ in range(50):
            weight, group = draws.uniform(0, 3), draws.uniform(0, 20)
            at_most = bound_of(relaxed, weight, group, limit)
            more = bound_of(relaxed, weight, -group, limit + 1)
            assert max(at_most, more) + base >= best


def test_prices_of_many_items_are_as_good_as_those_of_few(monkeypatch):
    """By a sample and what is undecided after it."""
    problem = generate(16, 3000, 1000, 50)
    items = reduce_items(problem.profits, problem.weights, problem.capacity)
    b, room = break_of(items.weights, items.capacity)
    relaxed = Relaxed(items.weights, items.profits, np.ones(len(items.weights), np.int64), b, room)
    (whole, *_) = price_cases(relaxed, b, 0)
    monkeypatch.setattr("systola.exact.cardinality._WINDOW", 300)
    (sampled, *_) = price_cases(relaxed, b, 0)
    assert whole.bound - 1e-6 <= sampled.bound <= whole.bound * 1.02 + 1


def test_too_little_memory_leaves_a_gap_that_is_true():
    problem = generate(4, 60, 10**5, 20)
    wanted = optimum(problem.profits, problem.weights, problem.capacity)
    search, found = solved(problem, memory=1 << 17)
    assert search.finished
    assert search.ending == "memory"
    assert not search.is_proven()
    assert found <= wanted <= search.bound()
    assert solved(problem, memory=1 << 28)[1] == wanted


@pytest.mark.parametrize("kind", [3, 12, 16])
def test_calls_cut_anywhere_and_checkpoints_change_nothing(kind):
    problem = generate(kind, 1200, 1000, 60)
    whole, found = solved(problem)
    cut, _, _ = search_in_pieces(partial(search_of, problem), 7)
    assert (cut.step, cut.bound(), cut.best().step) == (whole.step, whole.bound(), whole.best().step)
    assert cut.best().decisions.tolist() == whole.best().decisions.tolist()
    assert cut.best().measures[0] == found


def test_a_checkpoint_of_something_else_is_refused():
    search = search_of(generate(3, 50, 100, 50))
    search.start()
    state, arrays = search.save()
    for broken in ({**state, "limit": "x"}, {**state, "cases": [[1]]}, {"step": 1}):
        with pytest.raises(sy.InputError, match="the checkpoint must be one of an exact search like this one"):
            search_of(generate(3, 50, 100, 50)).restore(broken, arrays)
    with pytest.raises(sy.InputError, match="the checkpoint must be one of"):
        search_of(generate(3, 51, 100, 50)).restore(state, arrays)


def test_a_solution_from_elsewhere_is_taken_over():
    problem = generate(5, 400, 1000, 50)
    search, found = solved(problem)
    given = search.best().decisions
    begun = search_of(problem)
    begun.start([given])
    assert begun.best().measures[0] == found
    assert begun.best().decisions.tolist() == given.tolist()
    begun.advance(10**9)
    assert begun.is_proven()
    assert begun.best().measures[0] == found
    heavy = np.ones(400, np.uint8)
    begun = search_of(problem)
    begun.start()
    begun.inject([heavy, given])
    assert begun.best().measures[0] == found


def test_a_stop_is_obeyed_within_a_call():
    search = search_of(generate(16, 3000, 10**6, 50), memory=1 << 28)
    search.start()
    search.stop()
    assert search.advance(10**9) == 0
    assert search.best().measures[0] > 0


def test_the_classes_of_the_first_generator_are_the_same():
    for kind, name in ((1, "uncorrelated"), (2, "weak"), (3, "strong")):
        assert digest_of(generate(kind, 200, 1000)) == digest_of(pisinger(200, 1000, name))


def test_circles_have_whole_profits_on_the_circle():
    problem = generate(16, 300, 1000, 1)
    for profit, weight in zip(problem.profits.tolist(), problem.weights.tolist(), strict=True):
        assert profit == math.floor(2 * math.sqrt(4 * 1000**2 - (weight - 2000) ** 2) / 3)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((10, 5, 100, 1), "`class` must be one of 1, 2, 3, .*, but got 10"),
        ((1, 0, 100, 1), "`1 <= items <= 1000000` must hold, but got 0"),
        ((1, 5, 9, 1), "`10 <= spread <= 10000000` must hold, but got 9"),
        ((1, 5, 100, 101), "`1 <= number <= 100` must hold for an instance of a series, but got 101"),
    ],
)
def test_wrong_classes_are_refused(arguments, sentence):
    with pytest.raises(sy.InputError, match=sentence):
        generate(*arguments)


def test_sums_beyond_32_bits_are_measured_flip_by_flip():
    problem = sy.Knapsack(np.array([2**40, 2**41 + 1, 7]), np.array([2**45, 2**44, 3]), 2**45)
    check_problem(problem)
    assert not offers(problem, sy.Segments)
    assert offers(sy.Knapsack(np.array([3]), np.array([2]), 1), sy.Segments)
    engine = sy.SGS("B", length=4, width=4)
    found = sy.solve(problem, engine, stop=sy.Iterations(20), backend="python").objective
    assert found == solved(problem)[1] == 2**41 + 8
