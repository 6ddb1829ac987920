"""Both C programs of SNS against their naive twin, bit by bit, and the twin against what is known by other means."""

from __future__ import annotations

import shutil
import sys
from fractions import Fraction
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

import baseline
import sns_baseline
from baseline import Bits
from sns_baseline import MultiKnapsack

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from engines import naive_sns

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

STRICT = ["-Werror", "-Wpedantic", "-Wconversion"]
SANITIZED = ["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
KINDS = [[], ["-DPARTIAL"], ["-DBRANCH"], ["-DPARTIAL", "-DBRANCH"]]
BUILDS = [[*flags, *kind] for flags in (["-O3"], ["-O3", "-march=native"]) for kind in KINDS]


@pytest.fixture(scope="module", params=BUILDS, ids=" ".join)
def binary(request: pytest.FixtureRequest) -> Path:
    return sns_baseline.build([*STRICT, *request.param])


def random_problem(length: int, constraints: int, seed: int, load: float) -> MultiKnapsack:
    """Weights from 0 up, so that the smallest positive one is not the smallest."""
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 40, (constraints, length), endpoint=True) * 3
    return MultiKnapsack(rng.integers(0, 100, length), weights, (load * weights.sum(axis=1)).astype(np.int64))


def smallest_weight(problem: MultiKnapsack) -> int:
    return int(problem.weights[problem.weights > 0].min())


def fitness(problem: MultiKnapsack, x: list[int]) -> Fraction:
    """Profit less the penalty of Eq. 4, as printed."""
    profits = [int(p) for p in problem.profits]
    violations = []
    for weights, capacity in zip(problem.weights.tolist(), problem.capacities.tolist(), strict=True):
        violations.append(max(0, sum(w * xj for w, xj in zip(weights, x, strict=True)) - capacity))
    penalty = Fraction(max(profits) + 1, smallest_weight(problem)) * max(violations)
    return sum(p * xj for p, xj in zip(profits, x, strict=True)) - penalty


def random_solutions(length: int, width: int, seed: int, ones: float = 0.5) -> Bits:
    drawn = np.random.default_rng(seed).random((width * length, length)) < ones
    return drawn.astype(np.uint8)


def check(
    binary: Path, problem: MultiKnapsack, exponential: bool, moving: bool, steps: list[int], solutions: Bits
) -> None:
    """The C program from the start to each of these steps, and one run of the twin."""
    n = problem.length
    width = baseline.rows(n) if exponential else n
    known: dict[tuple[int, ...], Fraction] = {}

    def remembered(x: list[int]) -> Fraction:
        if tuple(x) not in known:
            known[tuple(x)] = fitness(problem, x)
        return known[tuple(x)]

    meshes = list(islice(naive_sns.run(remembered, solutions, n, exponential, moving), max(steps)))
    for count in steps:
        outcome = sns_baseline.run(binary, problem, width, count, solutions, moving)
        expected = np.array(meshes[count - 1], dtype=np.uint8).reshape(width * n, n) if count else solutions
        np.testing.assert_array_equal(outcome.solutions, expected)
        values = [smallest_weight(problem) * remembered(x) for x in expected.tolist()]
        assert outcome.fitness.tolist() == values
        assert outcome.best == max(values)
        assert outcome.steps == count
        assert outcome.seconds >= 0


# A load of half the weight starts with feasible and infeasible solutions mixed; a tenth with none feasible.
@needs_gcc
@pytest.mark.parametrize("load", [0.1, 0.5])
@pytest.mark.parametrize("moving", [False, True], ids=["still", "moving"])
@pytest.mark.parametrize("exponential", [False, True], ids=["SNS", "SNSexp"])
@pytest.mark.parametrize(("length", "constraints"), [(2, 1), (3, 2), (5, 3), (8, 1), (9, 4), (13, 5)])
def test_bit_by_bit(binary: Path, length: int, constraints: int, exponential: bool, moving: bool, load: float) -> None:
    problem = random_problem(length, constraints, length, load)
    width = baseline.rows(length) if exponential else length
    steps = [0, 1, 2, length - 1, length, length + 1, 2 * length + 1]
    check(binary, problem, exponential, moving, steps, random_solutions(length, width, constraints))


@needs_gcc
@pytest.mark.parametrize("moving", [False, True], ids=["still", "moving"])
@pytest.mark.parametrize(("length", "constraints"), [(33, 30), (64, 7), (100, 5)])
def test_longer(binary: Path, length: int, constraints: int, moving: bool) -> None:
    """Sections long enough for vector code, from solutions that are mostly feasible."""
    problem = random_problem(length, constraints, length, 0.3)
    solutions = random_solutions(length, baseline.rows(length), 1, ones=0.2)
    check(binary, problem, True, moving, [1, 5], solutions)


@needs_gcc
def test_every_row_visited(binary: Path) -> None:
    """With moving rows, after n * width steps every solution has gone through every row, and the mesh has wrapped."""
    problem = random_problem(7, 3, 1, 0.4)
    check(binary, problem, True, True, [7 * 3 - 1, 7 * 3, 7 * 3 + 1], random_solutions(7, 3, 2))


@needs_gcc
@pytest.mark.parametrize("kind", KINDS, ids=["full", "partial", "full, if", "partial, if"])
def test_sanitized(kind: list[str]) -> None:
    binary = sns_baseline.build([*STRICT, *SANITIZED, *kind])
    for exponential in (False, True):
        problem = random_problem(9, 4, 2, 0.5)
        width = baseline.rows(9) if exponential else 9
        check(binary, problem, exponential, True, [0, 30], random_solutions(9, width, 3))


@needs_gcc
@pytest.mark.parametrize(
    ("profit", "weight"), [(2**29, 2**29), (1, 2**29), (2**29, 1)], ids=["both", "weights", "profits"]
)
def test_large_numbers(binary: Path, profit: int, weight: int) -> None:
    problem = MultiKnapsack(np.array([profit] * 3), np.array([[weight] * 3]), np.array([weight]))
    check(binary, problem, False, False, [4], random_solutions(3, 3, 1))


@needs_gcc
def test_nothing_weighs(binary: Path) -> None:
    problem = MultiKnapsack(np.array([5, 0, 7]), np.zeros((2, 3), dtype=np.int64), np.array([0, 1]))
    outcome = sns_baseline.run(binary, problem, 3, 6, random_solutions(3, 3, 1), False)
    assert outcome.best == 12


@needs_gcc
def test_bad_input(binary: Path) -> None:
    good = random_problem(8, 2, 0, 0.5)
    with pytest.raises(RuntimeError, match="width must be n"):
        sns_baseline.run(binary, good, 4, 1, random_solutions(8, 4, 0), False)
    with pytest.raises(RuntimeError, match="other than 0 and 1"):
        sns_baseline.run(binary, good, 3, 1, 2 * random_solutions(8, 3, 0), False)
    negative = MultiKnapsack(-good.profits - 1, good.weights, good.capacities)
    with pytest.raises(RuntimeError, match="non-negative int"):
        sns_baseline.run(binary, negative, 3, 1, random_solutions(8, 3, 0), False)
    large = MultiKnapsack(good.profits, good.weights + 2**29, good.capacities)
    with pytest.raises(RuntimeError, match="does not fit in an int"):
        sns_baseline.run(binary, large, 3, 1, random_solutions(8, 3, 0), False)


@pytest.mark.parametrize("moving", [False, True], ids=["still", "moving"])
@pytest.mark.parametrize("exponential", [False, True], ids=["SNS", "SNSexp"])
def test_twin_moves(exponential: bool, moving: bool) -> None:
    """Where no copy is better, each solution keeps its bits and is where the closed formula says."""
    n = 6
    width = 3 if exponential else n
    first = [[int(bit) for bit in f"{cell:06b}"] for cell in range(width * n)]
    meshes = naive_sns.run(lambda x: 0, first, n, exponential, moving)
    for step, mesh in enumerate(islice(meshes, 2 * n * width), start=1):
        for i in range(width):
            for j in range(n):
                row = (i + step // n) % width if moving else i
                assert mesh[row][(j + step) % n] == first[i * n + j]


def test_twin_flips() -> None:
    """Where every copy is better, one step flips what each cell has to flip."""
    calls = iter(range(10**6))
    zeros = [[0] * 5 for _ in range(15)]
    # The copy is evaluated first; a count that goes down makes it the better one.
    mesh = next(naive_sns.run(lambda x: -next(calls), zeros, 5, True, False))
    assert mesh[0][1] == [1, 0, 0, 0, 0]  # from cell (0, 0), now one to the right
    assert mesh[1][0] == [1, 0, 0, 0, 1]  # from cell (1, 4)
    assert mesh[2][4] == [1, 1, 0, 1, 1]  # from cell (2, 3)
    mesh = next(naive_sns.run(lambda x: -next(calls), zeros + zeros[:10], 5, False, False))
    assert mesh[2][4] == [1, 0, 0, 1, 1]
    assert mesh[4][2] == [1, 1, 1, 1, 1]


def test_twin_asks_for_decisions() -> None:
    asked = []

    def decisions(step: int, cell: tuple[int, int], count: int) -> list[int]:
        asked.append((step, cell, count))
        return [3, 1][:count]

    meshes = list(islice(naive_sns.run(sum, [[0] * 4] * 8, 4, True, True, decisions), 2))
    assert asked == [(t, (i, j), 2**i) for t in range(2) for i in range(2) for j in range(4)]
    assert meshes[0] == meshes[1] == [[[0, 0, 0, 1]] * 4, [[0, 1, 0, 1]] * 4]
