"""The C baseline against its naive twin, bit by bit, and the rest against facts known by other means."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

import baseline
import naive_sgs
import peers
from baseline import MMDP, Bits, Knapsack, Problem

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")


@pytest.fixture(scope="module", params=[["-O0"], ["-O3"], ["-O3", "-march=native"]], ids=" ".join)
def binary(request: pytest.FixtureRequest) -> Path:
    return baseline.build(request.param)


def random_knapsack(length: int, seed: int, load: float) -> Knapsack:
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 1000, length, endpoint=True)
    return Knapsack(rng.integers(1, 1000, length, endpoint=True), weights, int(load * weights.sum()))


def random_populations(length: int, tau: int, seed: int) -> tuple[Bits, Bits]:
    rng = np.random.default_rng(seed)
    drawn = rng.integers(0, 2, (2, length * tau, length), dtype=np.uint8)
    return drawn[0], drawn[1]


def check(binary: Path, problem: Problem, steps: int, seed: int) -> None:
    tau = baseline.rows(problem.length)
    horizontal, vertical = random_populations(problem.length, tau, seed)
    outcome = baseline.run(binary, problem, tau, steps, horizontal, vertical)
    expected = naive_sgs.run(problem, tau, steps, horizontal, vertical)
    found = (
        outcome.horizontal_fitness,
        outcome.vertical_fitness,
        outcome.horizontal,
        outcome.vertical,
    )
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert outcome.best == max(expected[0].max(), expected[1].max())
    assert outcome.steps == steps
    assert outcome.seconds >= 0
    digest = 0xCBF29CE484222325
    for byte in expected[2].tobytes() + expected[3].tobytes():
        digest = (digest ^ byte) * 0x100000001B3 % 2**64
    assert outcome.checksum == f"{digest:016x}"


# Lengths 9, 21, 25, 31, 37 and 49 are those up to 60 where the first crossover point has to wrap.
# A load of half the weight starts with feasible and infeasible solutions mixed; a tenth with none feasible.
@needs_gcc
@pytest.mark.parametrize("load", [0.1, 0.5])
@pytest.mark.parametrize(
    ("length", "steps"),
    [(8, 30), (9, 40), (13, 20), (16, 20), (21, 25), (25, 10), (31, 8), (37, 6), (49, 4), (60, 4)],
)
def test_knapsack(binary: Path, length: int, steps: int, load: float) -> None:
    check(binary, random_knapsack(length, seed=length, load=load), steps, seed=steps)


@needs_gcc
@pytest.mark.parametrize(("length", "steps"), [(6, 25), (12, 50), (18, 20), (30, 10), (42, 6), (60, 4)])
def test_mmdp(binary: Path, length: int, steps: int) -> None:
    check(binary, MMDP(length), steps, seed=length)


@needs_gcc
def test_full_turn(binary: Path) -> None:
    """After l * tau steps every solution is back in its first cell, having gone through the final wrap."""
    check(binary, random_knapsack(11, seed=3, load=0.4), 11 * 4, seed=5)


@needs_gcc
def test_no_steps(binary: Path) -> None:
    check(binary, random_knapsack(10, seed=1, load=0.5), 0, seed=2)


@needs_gcc
def test_bad_input(binary: Path) -> None:
    with pytest.raises(RuntimeError, match="multiple of six"):
        baseline.run(binary, MMDP(8), 3, 1, *random_populations(8, 3, seed=0))


def test_build_without_gcc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(RuntimeError, match="needs gcc"):
        baseline.build(["-O3"])


def test_points_by_hand() -> None:
    # l = 8 and tau = 3: rows are shifted by 2, the second half of a row by 1.
    assert naive_sgs.crossover_points((1, 1), 8, 3) == (2, 4)
    assert naive_sgs.crossover_points((1, 4), 8, 3) == (2, 7)
    assert naive_sgs.crossover_points((1, 5), 8, 3) == (3, 5)
    assert naive_sgs.crossover_points((3, 8), 8, 3) == (4, 7)  # 7 and 12, that is 4, swapped
    assert naive_sgs.crossover_points((4, 9), 9, 4) == (1, 3)  # Eq. 1 gives 10 here
    assert naive_sgs.mutation_point((1, 1), 8, 3) == 1
    assert naive_sgs.mutation_point((3, 6), 8, 3) == 2


@pytest.mark.parametrize("length", [*range(3, 130), 1000, 1500])
def test_points_are_those_of_the_formulas(length: int) -> None:
    """Eqs. 1 to 3 as printed, with the bracket of Eq. 2 restored and Eq. 1 wrapped."""
    tau = baseline.rows(length)
    for i, j in naive_sgs.horizontal_loop(length, tau):
        base = length // tau * (i - 1) + (j - 1) // (length // 2) * (length // (2 * tau))
        eq1, eq2 = 2 + base, 1 + (3 + base + (j - 1) % (length // 2)) % length
        assert eq1 <= length + 1
        low, high = naive_sgs.crossover_points((i, j), length, tau)
        assert {low, high} == {1 + (eq1 - 1) % length, eq2}
        assert 1 <= low < high <= length
        eq3 = 1 + ((i - 1) * (length // tau) + j - 1) % length
        assert naive_sgs.mutation_point((i, j), length, tau) == eq3


@pytest.mark.parametrize(("items", "spread", "optimum"), [(100, 1000, 5676), (200, 1000, 10867), (500, 1000, 19152)])
def test_instances_of_table_1(items: int, spread: int, optimum: int) -> None:
    problem = baseline.pisinger(items, spread)
    best = np.zeros(problem.capacity + 1, dtype=np.int64)  # best profit by weight allowed
    for profit, weight in zip(problem.profits, problem.weights, strict=True):
        best[weight:] = np.maximum(best[weight:], best[:-weight] + profit)
    assert best[-1] == optimum


@pytest.mark.parametrize("name", peers.PEERS)
def test_peers_do_the_work_asked_for(name: str) -> None:
    pytest.importorskip(name)
    problem = baseline.pisinger(100, 1000)
    rate = peers.PEERS[name](problem, 40, 15, 3)
    assert rate.evaluations == 40 * (15 + 1)
    assert rate.seconds > 0
    start = peers.PEERS[name](problem, 40, 0, 3)  # the random population alone
    assert start.best < rate.best <= 5676
