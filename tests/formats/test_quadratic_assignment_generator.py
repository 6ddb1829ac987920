"""Generated quadratic assignments: number by number, against brute force, and piece by piece against their proof."""

from __future__ import annotations

import hashlib
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from systola import InputError
from systola.formats import open_instance
from systola.formats.quadratic_assignment import cost
from systola.formats.quadratic_assignment_generator import grid, opposed, uniform
from systola.model.encodings import Array
from systola.model.problem import digest_of, space_of
from systola.model.rng import below, draw
from systola.problems import QuadraticAssignment

SEEDS = st.integers(0, 2**64 - 1)


def drawn(seed: int, stream: int, cell: int, which: int, bound: int) -> int:
    return int(below(draw(seed, 9, stream, cell, 0)[which], bound))


def cheapest(problem: QuadraticAssignment) -> int:
    """By trying all solutions, those of a first facility at a time."""
    n = len(problem.flows)
    rest = np.array(list(permutations(range(n - 1))), np.int64)
    best = []
    for first in range(n):
        others = np.delete(np.arange(n), first)
        x = np.column_stack([np.full(len(rest), first), others[rest]])
        best.append((problem.flows * problem.distances[x[:, :, None], x[:, None, :]]).sum(axis=(1, 2)).min())
    return int(min(best))


def between(problem: QuadraticAssignment, solution: Array) -> Array:
    """The flows between the facilities at any two locations."""
    facility = np.argsort(solution)
    flows: Array = problem.flows[np.ix_(facility, facility)]
    return flows


def names(seed: int, n: int) -> list[int]:
    keys = []
    for cell in range(n):
        high, low, _, _ = draw(seed, 9, 2, cell, 0)
        keys.append((int(high) << 32) + int(low))
    return sorted(range(n), key=keys.__getitem__)


# Uniform


@given(st.integers(1, 9), SEEDS)
def test_uniform_instances_are_drawn_number_by_number(n: int, seed: int) -> None:
    problem = uniform(n, seed)
    for stream, matrix in enumerate((problem.flows, problem.distances)):
        assert (matrix == matrix.T).all()
        assert not matrix.diagonal().any()
        pairs = [matrix[i, k] for i in range(n) for k in range(i + 1, n)]
        assert pairs == [drawn(seed, stream, cell, 0, 100) for cell in range(len(pairs))]


def test_uniform_entries_fill_their_range() -> None:
    problem = uniform(200, 3)
    for matrix in (problem.flows, problem.distances):
        assert set(matrix.ravel().tolist()) == set(range(100))
    assert abs(np.corrcoef(problem.flows.ravel(), problem.distances.ravel())[0, 1]) < 0.05


# Opposed


@given(st.integers(1, 9), SEEDS)
def test_opposed_numbers_are_drawn_and_sorted(n: int, seed: int) -> None:
    problem, solution = opposed(n, seed)
    assert solution.tolist() == names(seed, n)
    pairs = [(i, k) for i in range(n) for k in range(n) if i != k]
    assert [problem.distances[pair] for pair in pairs] == [drawn(seed, 1, c, 0, 100) for c in range(len(pairs))]
    flows = between(problem, solution)
    assert sorted(flows[pair] for pair in pairs) == sorted(drawn(seed, 0, c, 0, 100) for c in range(len(pairs)))
    assert not flows.diagonal().any()
    assert not problem.distances.diagonal().any()
    for a in pairs:
        for b in pairs:
            assert problem.distances[a] >= problem.distances[b] or flows[a] >= flows[b]


@given(st.integers(1, 60), SEEDS)
def test_an_opposed_solution_costs_the_least_sum_of_products(n: int, seed: int) -> None:
    problem, solution = opposed(n, seed)
    pairs = ~np.eye(n, dtype=bool)
    flows, distances = np.sort(problem.flows[pairs]), np.sort(problem.distances[pairs])
    assert cost(problem, solution) == int(flows @ distances[::-1])


@settings(max_examples=40)
@given(st.integers(1, 7), SEEDS)
def test_no_solution_is_cheaper_than_the_opposed_one(n: int, seed: int) -> None:
    problem, solution = opposed(n, seed)
    assert cost(problem, solution) == cheapest(problem)


def test_opposed_instances_are_not_symmetric() -> None:
    problem, _ = opposed(10)
    assert not problem.symmetric


# Grids


def by_pieces(rows: int, columns: int, seed: int) -> tuple[list[list[int]], int]:
    """The flows between locations from their pieces, and the sum of the least that each piece costs anywhere."""
    cells = [(r, c) for r in range(rows) for c in range(columns)]
    n = len(cells)

    def far(i: int, j: int) -> int:
        return abs(cells[i][0] - cells[j][0]) + abs(cells[i][1] - cells[j][1])

    flows = [[0 if i == j else 20 for j in range(n)] for i in range(n)]
    least = sum(20 * far(i, j) for i in range(n) for j in range(n))

    def add(i: int, j: int, amount: int) -> None:
        flows[i][j] += amount
        flows[j][i] += amount

    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    for i, j in sorted(pairs, key=lambda pair: -far(*pair)):
        # On the way: row by row, each from the side of i.
        way = [k for k in range(n) if k not in (i, j) and far(i, k) + far(k, j) == far(i, j)]
        way.sort(key=lambda k: (cells[k][0], abs(cells[k][1] - cells[i][1])))
        if way:
            pair = pairs.index((i, j))
            k = way[drawn(seed, 3, pair, 0, len(way))]
            amount = drawn(seed, 3, pair, 1, min(flows[i][j], 20) + 1)
            add(i, j, -amount)
            add(i, k, amount)
            add(k, j, amount)
    squares = [(r, c) for r in range(rows - 1) for c in range(columns - 1)]
    for square, (r, c) in enumerate(squares):
        corner = [cells.index(cell) for cell in ((r, c), (r, c + 1), (r + 1, c), (r + 1, c + 1))]
        corner.pop(drawn(seed, 4, square, 0, 4))
        amount = drawn(seed, 4, square, 1, 21)
        for a, b in ((0, 1), (0, 2), (1, 2)):
            add(corner[a], corner[b], amount)
        least += 2 * 4 * amount  # each flow counts in both directions
    return flows, least


@settings(max_examples=40)
@given(st.integers(1, 6), st.integers(1, 6), SEEDS)
def test_grids_are_the_sum_of_their_pieces_and_cost_the_least_of_each(rows: int, columns: int, seed: int) -> None:
    problem, solution = grid(rows, columns, seed)
    flows, least = by_pieces(rows, columns, seed)
    assert between(problem, solution).tolist() == flows
    assert solution.tolist() == names(seed, rows * columns)
    assert cost(problem, solution) == least
    assert problem.flows.min() >= 0


@settings(max_examples=40)
@given(
    st.sampled_from([(r, c) for r in range(1, 8) for c in range(1, 8) if r * c <= 7] + [(2, 4), (4, 2)]),
    SEEDS,
)
def test_no_solution_is_cheaper_than_that_of_the_grid(size: tuple[int, int], seed: int) -> None:
    problem, solution = grid(*size, seed)
    assert cost(problem, solution) == cheapest(problem)


def test_no_solution_is_cheaper_on_a_grid_with_an_inside() -> None:
    problem, solution = grid(3, 3, 5)
    assert cost(problem, solution) == cheapest(problem)


def test_distances_of_a_grid_go_along_its_lines() -> None:
    problem, _ = grid(2, 3)
    assert problem.distances[0].tolist() == [0, 1, 2, 1, 2, 3]
    assert problem.distances[4].tolist() == [2, 1, 2, 1, 0, 1]
    assert problem.symmetric


# All of them


GOLDEN = {
    "qap:uniform-12@7": ("ae1087fdb4bdd64b", None),
    "qap:opposed-12@7": ("19a0fe49a8fbffe6", 223187),
    "qap:grid-3x4@7": ("9afcce157958920b", 6712),
}


@pytest.mark.parametrize("spec", GOLDEN)
def test_generated_instances_stay_what_they_are(spec: str) -> None:
    instance = open_instance(spec)
    problem = instance.problem
    assert isinstance(problem, QuadraticAssignment)
    data = repr((problem.flows.tolist(), problem.distances.tolist()))
    digest = hashlib.sha256(data.encode()).hexdigest()[:16]
    assert (digest, instance.best_known) == GOLDEN[spec]
    assert (instance.name, instance.kind, space_of(problem).n) == (spec, "qap", 12)


def test_seeds_and_sizes_reach_the_generators() -> None:
    assert digest_of(open_instance("qap:uniform-6@9").problem) == digest_of(uniform(6, 9))
    assert digest_of(open_instance("qap:uniform-6").problem) == digest_of(uniform(6, 1))
    for spec, (problem, solution) in (
        ("qap:opposed-6@9", opposed(6, 9)),
        ("qap:opposed-6", opposed(6, 1)),
        ("qap:grid-2x3@9", grid(2, 3, 9)),
        ("qap:grid-2x3", grid(2, 3, 1)),
    ):
        assert digest_of(open_instance(spec).problem) == digest_of(problem)
        assert open_instance(spec).best_known == cost(problem, solution) == problem.evaluate(solution)
    assert len({digest_of(open_instance(f"qap:grid-2x3@{seed}").problem) for seed in range(5)}) == 5


def test_the_generators_check_their_seeds() -> None:
    for make in (lambda seed: uniform(3, seed), lambda seed: opposed(3, seed), lambda seed: grid(2, 2, seed)):
        with pytest.raises(InputError, match="seed"):
            make(-1)
