"""Quadratic assignment: exchanges and the table of their gains against the plain cost; data that break a rule."""

import re
from itertools import permutations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

import systola as sy
from systola.backends.cpu import evaluate_compiled
from systola.jit.compile import kernel
from systola.jit.records import widen
from systola.model.incremental import fill_swap_table, make_swap, swap, swap_gains
from systola.model.objective import evaluate
from systola.model.problem import record_of, space_of
from systola.simd.rows import padded

SMALL, MEDIUM, HUGE = 9, 3000, 2**33  # entries up to these: a table of 32 bits, of 64 bits, and matrices of 64 bits


def assignment(n, flows_like, distances_like, diagonals, sizes, signs, seed, priced=False):
    """Random matrices: each symmetric or not, with something in the diagonal or not, up to its size."""
    draws = np.random.default_rng(seed)
    made = []
    for symmetric, diagonal, size in zip((flows_like, distances_like), diagonals, sizes, strict=True):
        matrix = draws.integers(-size if signs else 0, size + 1, (n, n))
        if symmetric:
            matrix = np.triu(matrix) + np.triu(matrix, 1).T
        if not diagonal:
            np.fill_diagonal(matrix, 0)
        made.append(matrix)
    if priced:
        made.append(draws.integers(-max(sizes) if signs else 0, max(sizes) + 1, (n, n)))
    return sy.QuadraticAssignment(*made)


yes_or_no = st.booleans()
instances = st.builds(
    assignment,
    st.one_of(st.integers(2, 20), st.sampled_from([16, 17, 33])),
    yes_or_no,
    yes_or_no,
    st.tuples(yes_or_no, yes_or_no),
    st.sampled_from([(SMALL, SMALL), (MEDIUM, MEDIUM), (HUGE, SMALL), (SMALL, HUGE)]),
    yes_or_no,
    st.integers(0, 2**32 - 1),
    yes_or_no,
)
moves = st.lists(st.tuples(st.integers(0, 2**20), st.integers(0, 2**20)), min_size=1, max_size=5)


def pair(move, n):
    """Two different decisions, in either order."""
    i, j = move[0] % n, move[1] % (n - 1)
    return i, j + (j >= i)


def cost(problem, x):
    placing = problem.costs[np.arange(len(x)), x].sum() if len(problem.costs) else 0
    return int((problem.flows * problem.distances[np.ix_(x, x)]).sum() + placing)


def exchanged(x, i, j):
    y = np.array(x)
    y[[i, j]] = y[[j, i]]
    return y


def gains(problem, x):
    """How much cheaper each exchange i < j makes x, by the plain cost."""
    n, now = len(x), cost(problem, x)
    return [now - cost(problem, exchanged(x, i, j)) for i in range(n) for j in range(i + 1, n)]


def upper(table, n):
    return [int(table[i * padded(n) + j]) for i in range(n) for j in range(i + 1, n)]


@kernel
def compiled_swap(problem, x, row, i, j, state):
    swap(problem, x, row, i, j, state)


@kernel
def compiled_gains(problem, x, row, i, gains):
    swap_gains(problem, x, row, i, gains)


@kernel
def compiled_tabulate(problem, x, row, table):
    fill_swap_table(problem, x, row, table)


@kernel
def compiled_exchange(problem, x, row, i, j, table):
    make_swap(problem, x, row, i, j, table)


def start(problem, seed):
    """A random solution in the second row of two."""
    n = space_of(problem).n
    x = np.random.default_rng(seed).permuted(np.tile(np.arange(n, dtype=np.int32), (2, 1)), axis=1)
    return x, np.zeros(problem.table_buffer().size, problem.table_buffer().dtype)


@settings(deadline=None, max_examples=150)
@given(instances, moves)
def test_swap_equals_evaluate(problem, moves):
    """Compiled and interpreted, along a walk; the solution itself stays as it is."""
    x, _ = start(problem, len(moves))
    n = x.shape[1]
    state = np.array([evaluate(widen(record_of(problem)), x[1].astype(np.int64))])
    assert state[0] == evaluate_compiled(record_of(problem), x[1]) == cost(problem, x[1])
    for move in moves:
        i, j = pair(move, n)
        before, other = x.copy(), state.copy()
        swap(widen(record_of(problem)), x, 1, i, j, state)
        compiled_swap(record_of(problem), x, 1, i, j, other)
        assert (x == before).all()
        x[1] = exchanged(x[1], i, j)
        assert state[0] == other[0] == cost(problem, x[1])


@settings(deadline=None, max_examples=60)
@given(instances, st.integers(0, 32))
@example(assignment(16, False, False, (True, True), (SMALL, MEDIUM), True, 5), 15)
@example(assignment(33, True, True, (False, False), (SMALL, SMALL), False, 6), 32)
def test_gains_of_one_position(problem, i):
    """All exchanges with it, whatever the workspace had in it before; the solution itself stays as it is."""
    x, gains = start(problem, i)
    n = x.shape[1]
    i %= n
    gains += 7
    other, before = gains.copy(), x.copy()
    with np.errstate(over="ignore"):
        swap_gains(widen(record_of(problem)), x, 1, i, gains)
    compiled_gains(record_of(problem), x, 1, i, other)
    now = cost(problem, x[1])
    wanted = [now - cost(problem, exchanged(x[1], i, j)) for j in range(n)]
    assert gains[:n].tolist() == other[:n].tolist() == wanted
    assert (x == before).all()


@settings(deadline=None, max_examples=40)
@given(instances, moves)
@example(assignment(33, False, False, (True, True), (SMALL, SMALL), True, 1), [(5, 9), (32, 0)])
@example(assignment(16, True, False, (True, True), (MEDIUM, SMALL), True, 2), [(15, 3), (15, 0), (1, 2)])
@example(assignment(17, False, False, (False, True), (SMALL, HUGE), True, 3), [(16, 3), (15, 16)])
def test_table_has_all_gains(problem, moves):
    """After `tabulate` and after each `exchange` the whole upper triangle is right, compiled and interpreted."""
    x, table = start(problem, len(moves))
    n = x.shape[1]
    y, other = x.copy(), table.copy()
    with np.errstate(over="ignore"):  # numbers outside of the triangle mean nothing and may wrap
        fill_swap_table(widen(record_of(problem)), x, 1, table)
        compiled_tabulate(record_of(problem), y, 1, other)
        assert upper(table, n) == upper(other, n) == gains(problem, x[1])
        for move in moves:
            i, j = pair(move, n)
            above, wanted = x[0].tolist(), exchanged(x[1], i, j).tolist()
            make_swap(widen(record_of(problem)), x, 1, i, j, table)
            compiled_exchange(record_of(problem), y, 1, i, j, other)
            assert x.tolist() == y.tolist() == [above, wanted]
            assert upper(table, n) == upper(other, n) == gains(problem, x[1])


@pytest.mark.parametrize("symmetric", [True, False])
def test_a_long_walk_with_gains_near_the_limit_of_32_bits(symmetric):
    """What is never read grows with every exchange and wraps; the gains must not notice."""
    problem = assignment(3, symmetric, symmetric, (True, True), (4600, 2300 if symmetric else 4600), True, 3)
    assert problem.table_buffer().dtype == np.int32
    x, table = start(problem, 1)
    compiled_tabulate(record_of(problem), x, 1, table)
    for i, j in np.random.default_rng(1).permuted([[0, 1, 2]] * 400, axis=1)[:, :2]:
        compiled_exchange(record_of(problem), x, 1, i, j, table)
        assert upper(table, 3) == gains(problem, x[1])


def test_a_table_holds_distances_too_so_that_it_is_as_wide():
    """Numbers that are large but hardly differ, here the distances in the diagonal, leave gains small."""
    problem = sy.QuadraticAssignment([[1, 2], [3, 5]], [[2**40, 1], [4, 2**40]])
    assert (problem.far.dtype, problem.table_buffer().dtype) == (np.int64, np.int64)
    x, table = start(problem, 1)
    compiled_tabulate(record_of(problem), x, 1, table)
    assert upper(table, 2) == gains(problem, x[1])


def test_an_interpreted_tabu_search_does_not_warn():
    problem = assignment(3, True, True, (True, True), (4600, 2300), True, 3)
    engine = sy.Cellular(size=3, radius=1, local_search="tabu", local_search_interval=1, local_search_steps=400)
    sy.solve(problem, engine, stop=sy.Iterations(1), backend="python")


@pytest.mark.parametrize(
    ("flows", "distances", "matrix", "table"),
    [
        ([[0, 9], [9, 0]], [[0, 9], [9, 0]], np.int32, np.int32),
        ([[0, 2**15], [2**15, 0]], [[0, 2**15], [2**15, 0]], np.int32, np.int64),
        ([[2**15, 0], [0, -(2**15)]], [[2**15, 0], [0, -(2**15)]], np.int32, np.int64),
        ([[0, 2**31], [0, 0]], [[0, 3], [0, 0]], np.int64, np.int64),
        ([[2**31, 0], [0, 0]], [[0, 3], [0, 0]], np.int64, np.int64),
        ([[0, 1], [1, 0]], [[0, 2**30], [2**30, 0]], np.int64, np.int64),  # both directions together
    ],
)
def test_numbers_are_as_wide_as_needed(flows, distances, matrix, table):
    problem = sy.QuadraticAssignment(flows, distances)
    assert (problem.near.dtype, problem.far.dtype) == (matrix, matrix)
    assert problem.table_buffer().dtype == table


@pytest.mark.parametrize(
    ("flows", "distances", "rule"),
    [
        (
            np.zeros((2, 3), int),
            np.zeros((2, 2), int),
            r"flows must be a square matrix of 2 rows, but have shape \(2, 3",
        ),
        (np.zeros((2, 2), int), np.zeros((3, 3), int), r"distances must be a square matrix of 2 rows, but .*\(3, 3\)"),
        (
            np.zeros((2, 2), int),
            np.zeros(4, int),
            r"distances must be a square matrix of 2 rows, but have shape \(4,\)",
        ),
        (np.zeros(4, int), np.zeros((4, 4), int), r"flows must be a square matrix of 4 rows, but have shape \(4,\)"),
        (np.zeros((0, 0), int), np.zeros((0, 0), int), "flows must be a square matrix"),
        ([[0, 1], [1]], [[0, 1], [1, 0]], "flows must be a number or an array of numbers, but its rows differ"),
        ([[0, 1 / 3], [1, 0]], [[0, 1], [1, 0]], "each flow must have at most 9 decimal places"),
        ([[0, 1], [1, 0]], [[0, 1e-10], [1, 0]], "each distance must have at most 9 decimal places"),
        ([[0, 2**61], [0, 0]], [[0, 1], [1, 0]], rf"each flow must be below 2\*\*61, but got {2**61}; scale"),
        ([[0, -(2**40)], [2**40, 0]], [[0, -(2**20)], [5, 0]], rf"costs must be below 2\*\*61, .* could reach {2**61}"),
    ],
)
def test_bad_data(flows, distances, rule):
    with pytest.raises(sy.InputError, match=rule):
        sy.QuadraticAssignment(flows, distances)


def test_numbers_are_no_matrices():
    with pytest.raises(sy.InputError, match="flows must be an array, but got the number 3"):
        sy.QuadraticAssignment(3, 4)


def test_costs_up_to_the_limit():
    """The largest numbers that `check` lets through, measured and exchanged exactly."""
    flows = [[0, 2**61 - 3, 1], [0, 0, 0], [0, 1, 0]]
    distances = [[0, 1, -1], [0, 0, 0], [0, 1, 0]]
    problem = sy.QuadraticAssignment(flows, distances)
    x = np.array([[0, 1, 2]], np.int32)
    state = np.array([evaluate_compiled(record_of(problem), x[0])])
    assert state.tolist() == [2**61 - 3]
    compiled_swap(record_of(problem), x, 0, 1, 2, state)
    assert (
        state.tolist() == [-(2**61 - 3) + 1] == [evaluate_compiled(record_of(problem), np.array([0, 2, 1], np.int32))]
    )


@pytest.mark.parametrize("symmetric", [True, False])
def test_finds_the_optimum_of_a_tiny_instance(symmetric):
    problem = assignment(6, symmetric, symmetric, (True, True), (30, 30), False, 5)
    best = min(cost(problem, np.array(x)) for x in permutations(range(6)))
    engine = sy.Cellular(size=6, radius=1, local_search="tabu", local_search_interval=1, local_search_steps=10)
    result = sy.solve(problem, engine, stop=sy.Iterations(3), backend="python")
    assert result.objective == best == cost(problem, result.solution)
    assert sorted(result.solution.tolist()) == list(range(6))
    assert str(problem) == "quadratic assignment of 6 facilities"


def test_decimals_are_kept_without_rounding():
    draws = np.random.default_rng(8)
    flows, distances, costs = draws.integers(0, 50, (3, 6, 6)) / np.array([10, 100, 1000]).reshape(3, 1, 1)
    problem = sy.QuadraticAssignment(flows, distances, costs)
    assert problem.scale == 1000
    result = sy.solve(problem, "tabu", stop=sy.Iterations(90), backend="python")
    x = result.solution
    exact = sum(
        round(1000 * costs[i, x[i]])
        + sum(round(10 * flows[i, k]) * round(100 * distances[x[i], x[k]]) for k in range(6))
        for i in range(6)
    )
    assert result.objective == exact / 1000
    least = min(
        sum(costs[i, p[i]] + sum(flows[i, k] * distances[p[i], p[k]] for k in range(6)) for i in range(6))
        for p in permutations(range(6))
    )
    assert result.objective == pytest.approx(least, rel=1e-12)


def test_costs_alone_are_an_assignment_problem():
    costs = np.random.default_rng(9).integers(-40, 90, (7, 7))
    zeros = np.zeros((7, 7), int)
    problem = sy.QuadraticAssignment(zeros, zeros, costs)
    result = sy.solve(problem, "tabu", stop=sy.Iterations(200), seed=2, backend="python")
    rows, columns = linear_sum_assignment(costs)
    assert result.objective == costs[rows, columns].sum()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"costs": np.ones((2, 3))}, "costs must be a square matrix of 3 rows, but have shape (2, 3)"),
        ({"flows": np.full((3, 3), np.sqrt(2))}, "each flow must have at most 9 decimal places"),
        ({"distances": np.full((3, 3), np.nan)}, "each distance must be a finite number, but got nan"),
        ({"costs": np.full((3, 3), 2**61)}, "below 2**"),
        ({"costs": np.full((3, 3), 2**60)}, "below 2**"),
    ],
)
def test_costs_and_decimals_that_cannot_be(change, said):
    with pytest.raises(sy.InputError, match=re.escape(said)):
        sy.QuadraticAssignment(**{"flows": np.ones((3, 3)), "distances": np.ones((3, 3)), **change})
