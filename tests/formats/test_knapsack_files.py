"""Knapsack files and Pisinger's generator against Table 1 and the public files."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from instance_files import rows_of

from conftest import sentence_of
from systola import InputError, Knapsack
from systola.formats import open_instance
from systola.formats.knapsack import KINDS, TABLE_1, pisinger, read, write
from systola.model.problem import digest_of, space_of

PUBLIC = Path(__file__).parents[3] / "shared" / "instances" / "kp"
needs_public = pytest.mark.skipif(not PUBLIC.is_dir(), reason="the public instances are not here")


def optimum(problem: Knapsack) -> int:
    """By dynamic programming over the capacity."""
    best = np.zeros(problem.capacity + 1, np.int64)
    for profit, weight in zip(problem.profits, problem.weights, strict=True):
        if weight <= problem.capacity:
            best[weight:] = np.maximum(best[weight:], best[: problem.capacity + 1 - weight] + profit)
    return int(best[-1])


@pytest.mark.parametrize(("items", "spread"), list(TABLE_1))
def test_table_1_of_the_paper(items: int, spread: int) -> None:
    problem = pisinger(items, spread)
    assert problem.capacity == spread + 1
    assert len(problem.profits) == items
    assert optimum(problem) == TABLE_1[items, spread]
    assert open_instance(f"knapsack:{items}-{spread}").best_known == TABLE_1[items, spread]


@needs_public
@pytest.mark.parametrize("row", rows_of(PUBLIC), ids=lambda row: row["name"])
def test_public_files(row: dict[str, str]) -> None:
    instance = read(PUBLIC / row["name"])
    assert isinstance(instance.problem, Knapsack)
    assert instance.name == row["name"]
    assert space_of(instance.problem).n == int(row["n"])
    assert instance.problem.capacity == int(row["capacity"])
    assert instance.best_known == int(row["best_known"]) == optimum(instance.problem)


@needs_public
@pytest.mark.parametrize("row", rows_of(PUBLIC), ids=lambda row: row["name"])
def test_the_generator_makes_the_public_files(row: dict[str, str]) -> None:
    _, number, items, spread, _ = row["name"].split("_")
    made = pisinger(int(items), int(spread), KINDS[int(number)])
    assert digest_of(made) == digest_of(read(PUBLIC / row["name"]).problem)


def test_the_generator_refuses_what_it_cannot_make() -> None:
    for items, spread, kind in ((0, 10, "paper"), (10, 0, "weak"), (10**9, 10, "paper"), (10, 2**31, "paper")):
        with pytest.raises(InputError, match="must hold, but got"):
            pisinger(items, spread, kind)
    with pytest.raises(InputError, match="one of paper, uncorrelated, weak, strong, but got 'hard'"):
        pisinger(10, 10, "hard")


@st.composite
def knapsacks(draw: st.DrawFn) -> Knapsack:
    pairs = draw(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)), min_size=1, max_size=40))
    profits, weights = np.array(pairs).T
    return Knapsack(profits, weights, draw(st.integers(0, 10**8)))


@given(knapsacks(), st.data())
def test_what_is_written_is_read(problem: Knapsack, data: st.DataObject) -> None:
    n = len(problem.profits)
    solution = np.array(data.draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)))
    fits = int(problem.weights @ solution) <= problem.capacity
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "some.txt"
        write(problem, path)
        plain = read(path)
        assert digest_of(plain.problem) == digest_of(problem)
        assert (plain.best_known, plain.solution) == (None, None)
        assert digest_of(open_instance(str(path), "knapsack").problem) == digest_of(problem)
        if not fits:
            with pytest.raises(InputError, match="must weigh at most"):
                write(problem, path, solution)
            return
        write(problem, path, solution)
        solved = read(path)
        assert solved.solution is not None
        assert solved.solution.tolist() == solution.tolist()
        assert solved.best_known == int(problem.profits @ solution)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("2 -3\n1 1\n1 1\n", "`capacity >= 0` must hold, but got -3 (mk1.txt, line 1)"),
        ("2\n3\n1 1\n-1 1\n", "`profit >= 0` must hold, but got -1 (mk1.txt, line 4)"),
        ("2\n3\n1 1\n1 -1\n", "`weight >= 0` must hold, but got -1 (mk1.txt, line 4)"),
        ("2 3\n1 1\n1\n", "`weight` must follow, but the file ends (mk1.txt, line 3)"),
        ("2 3\n1 1\n1 1\n0 2", "`0 <= decision <= 1` must hold, but got 2 (mk1.txt, line 4)"),
        ("2 3\n1 1\n1 1\n0", "`decision` must follow, but the file ends (mk1.txt, line 4)"),
        ("2 3\n1 1\n1 1\n0 1 1", "the file must end after the 2 decisions of the solution, but goes on with '1'"),
        ("2 3\n1 2\n1 2\n1 1", "a solution must weigh at most 3, but the one given weighs 4 (mk1.txt)"),
        ("2 3\n2305843009213693951 2\n1 2", "below 2**61, but with these data could reach 2305843009213693952; scale"),
        ("99999999 3\n1 2\n", "`items` must be what the rest of the file can hold, but got 99999999 (mk1.txt, line 1)"),
    ],
)
def test_messages(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "mk1.txt"
    path.write_text(content)
    assert message in sentence_of(read, path)


def test_a_file_that_cannot_be_written_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="writable"):
        write(pisinger(3, 10), tmp_path / "missing" / "some.txt")
