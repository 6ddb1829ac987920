"""The generator of next release instances, and the readers of the public sets."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from instance_files import rows_of, written

from conftest import sentence_of
from systola import InputError, NextRelease
from systola.formats.next_release import generate, read_planner_set, read_requests, read_table
from systola.model.problem import space_of
from systola.model.rng import below, draw
from systola.problems import customer_release
from systola.problems.customer_release import CustomerRelease

PUBLIC = Path(__file__).parents[3] / "shared" / "instances" / "nrp"
needs_public = pytest.mark.skipif(not PUBLIC.is_dir(), reason="the public instances are not here")

TABLE = "2 3 9\n1 5 2\n4 1 2 3\n7 0 1 0\n\nr1·r2\nr1->r2\n"
REQUESTS = "2\n2\n5 3\n1\n7\n2\n1 3\n2 3\n2\n10 1 3\n20 2 1 2\n"

COSTS = [9, 4, 4, 9, 8, 8, 6, 3, 1, 7, 4, 7, 8, 1, 9, 1, 7, 4, 8, 6]
VALUES = [
    13587,
    12310,
    12478,
    13177,
    12674,
    12735,
    12974,
    13989,
    12306,
    11519,
    11836,
    13336,
    13066,
    13034,
    13725,
    13289,
    12325,
    12157,
    14847,
    12537,
]


@given(st.integers(1, 5), st.integers(1, 8), st.integers(0, 2**64 - 1))
def test_generated_instances_are_drawn_number_by_number(customers: int, requirements: int, seed: int) -> None:
    def number(stream: int, cell: int, row: int, low: int, high: int) -> int:
        return low + int(below(draw(seed, 9, stream, cell, row)[0], high - low + 1))

    problem = generate(customers, requirements, seed)
    assert problem.costs.tolist() == [number(0, j, 0, 1, 9) for j in range(requirements)]
    assert problem.values.tolist() == [
        sum(number(1, i, 0, 1, 100) * number(2, j, i, 0, 5) for i in range(customers)) for j in range(requirements)
    ]


def test_generated_instances_stay_what_they_are() -> None:
    problem = generate(100, 20)
    assert problem.costs.tolist() == COSTS
    assert problem.values.tolist() == VALUES


def test_generated_data_fill_their_ranges() -> None:
    problem = generate(1, 5000, 7)
    assert set(problem.costs.tolist()) == set(range(1, 10))
    step = int(problem.values.max()) // 5
    assert set(problem.values.tolist()) == {step * v for v in range(6)}


def test_the_generator_refuses_what_it_cannot_make() -> None:
    for customers, requirements in ((0, 3), (3, 0), (10**6, 10**6)):
        with pytest.raises(InputError, match="must hold, but got"):
            generate(customers, requirements)
    with pytest.raises(InputError, match="seed"):
        generate(3, 3, -1)
    with pytest.raises(InputError, match="weight"):
        generate(3, 3, 1, weight=2)


def test_a_table_of_stakeholders(tmp_path: Path) -> None:
    instance = read_table(written(tmp_path, TABLE), weight=0.25)
    assert isinstance(instance.problem, NextRelease)
    assert instance.problem.costs.tolist() == [4, 7]
    assert instance.problem.values.tolist() == [1 * 1 + 5 * 2 + 2 * 3, 5]
    assert instance.problem.weight == 0.25
    assert "bound of 9" in instance.notes[0]
    assert instance.notes[1].startswith("2 dependencies")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("r1->r2", "r1->r3", "`1 <= requirement <= 2` must hold, but got 3 (some.txt, line 7)"),
        ("r1->r2", "r1=>r2", "must look like r1->r2 or r1·r2, but got 'r1=>r2' (some.txt, line 7)"),
        ("7 0 1 0", "7 0 -1 0", "`value >= 0` must hold, but got -1 (some.txt, line 4)"),
        (
            "1 5 2",
            "1 5",
            "the importances must be a line of their own, but are more or less than one (some.txt, line 3)",
        ),
        ("4 1 2 3", "4 1 2 3 4", "cost and values must be a line of their own"),
        ("2 3 9", "2\n3\n9", "the sizes and the bound must be a line of their own"),
        ("7 0", "7 9223372036854775807", "values times importances must stay below 2**62"),
    ],
)
def test_messages_of_tables(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert message in sentence_of(read_table, written(tmp_path, TABLE.replace(old, new)))


def written_set(tmp_path: Path, **changes: str) -> Path:
    contents = {
        "requirements": "A|5|B|\nB |7| |A, C\nC|0||\n",
        "stakeholders": "2\n3\n",
        "value": "C|1|1\nA|0|4\nB|9|2\n",
    } | changes
    for part, content in contents.items():
        written(tmp_path, content, f"my_{part}.csv")
    return tmp_path / "my_requirements.csv"


def test_a_planner_set(tmp_path: Path) -> None:
    instance = read_planner_set(written_set(tmp_path))
    assert isinstance(instance.problem, NextRelease)
    assert instance.name == "my"
    assert instance.problem.costs.tolist() == [5, 7, 0]
    assert instance.problem.values.tolist() == [12, 24, 5]
    assert instance.notes[1].startswith("3 dependencies")


@pytest.mark.parametrize(
    ("part", "content", "message"),
    [
        (
            "requirements",
            "A|5|B|\nB|7||D\n",
            "tied to requirements of the file, but got 'D' (my_requirements.csv, line 2)",
        ),
        ("requirements", "A|x||\n", "`cost` must be a whole number, but got 'x' (my_requirements.csv, line 1)"),
        ("requirements", "A|1||\nA|1||\n", "a name of its own, but got 'A' (my_requirements.csv, line 2)"),
        ("requirements", "\n\n", "the file is empty (my_requirements.csv)"),
        ("requirements", "A|1|\n", "must have 4 columns with | between, but has 3 (my_requirements.csv, line 1)"),
        ("stakeholders", "", "`importance` must come first, but the file is empty (my_stakeholders.csv)"),
        ("stakeholders", "2\n3\n4\n", "must have 4 columns with | between, but has 3 (my_value.csv, line 1)"),
        ("value", "A|0|4\nB|9|2\n", "each requirement must have values, but 'C' has none (my_value.csv)"),
        ("value", "A|0|4\nX|9|2\n", "a requirement of my_requirements.csv, but got 'X' (my_value.csv, line 2)"),
    ],
)
def test_messages_of_planner_sets(tmp_path: Path, part: str, content: str, message: str) -> None:
    assert message in sentence_of(read_planner_set, written_set(tmp_path, **{part: content}))


def test_a_planner_set_is_named_by_its_requirements(tmp_path: Path) -> None:
    path = written_set(tmp_path)
    with pytest.raises(InputError, match="named by its file"):
        read_planner_set(path.rename(tmp_path / "other.csv"))
    written_set(tmp_path)
    (tmp_path / "my_value.csv").unlink()
    with pytest.raises(InputError, match=r"none at .*my_value\.csv"):
        read_planner_set(path)


def test_requests_of_customers(tmp_path: Path) -> None:
    instance = read_requests(written(tmp_path, REQUESTS), ratio=0.5)
    problem = instance.problem
    assert isinstance(problem, CustomerRelease)
    assert problem.budget == 8  # 7.5, rounded half up
    assert instance.name == "some-50"
    assert [problem.evaluate(np.array(x)) for x in ((0, 0), (1, 0), (0, 1), (1, 1))] == [
        (0, 0),
        (10, 15),
        (20, 8),
        (30, 15),
    ]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("1 3\n", "1 4\n", "`1 <= requirement <= 3` must hold, but got 4 (some.txt, line 7)"),
        ("10 1 3", "10 1 0", "`1 <= requirement <= 3` must hold, but got 0 (some.txt, line 10)"),
        ("20 2 1 2", "20 2 1", "`requirement` must follow, but the file ends (some.txt, line 11)"),
        ("20 2 1 2", "20 2 1 2 3", "must end after the 2 customers, but goes on with '3' (some.txt, line 11)"),
        ("20 2", "-20 2", "`profit >= 0` must hold, but got -20 (some.txt, line 11)"),
        ("20 2", "20 -2", "`requests of the customer >= 0` must hold, but got -2 (some.txt, line 11)"),
        ("5 3", "5 4611686018427387904", "each cost must be below 2**62, but got"),
    ],
)
def test_messages_of_requests(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert message in sentence_of(read_requests, written(tmp_path, REQUESTS.replace(old, new)))


@pytest.mark.parametrize("ratio", [0, -0.1, 1.1, float("nan")])
def test_a_ratio_is_a_part_of_one(tmp_path: Path, ratio: float) -> None:
    with pytest.raises(InputError, match="0 < ratio <= 1"):
        read_requests(written(tmp_path, REQUESTS), ratio)


def test_more_needs_than_memory_holds_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    n = 100  # a chain of requirements, and as many customers who ask for its end
    monkeypatch.setattr(customer_release, "MOST_NEEDS", n * n)
    chain = "\n".join(f"{i} {i + 1}" for i in range(1, n))
    content = f"1 {n}\n{'1 ' * n}\n{n - 1}\n{chain}\n{n}\n" + f"1 1 {n}\n" * n
    read_requests(written(tmp_path, content))
    monkeypatch.setattr(customer_release, "MOST_NEEDS", n * n - 1)
    with pytest.raises(InputError, match="requirements in all"):
        read_requests(written(tmp_path, content))


@needs_public
def test_public_table() -> None:
    instance = read_table(PUBLIC / "extra" / "dataset2_sagrado.dat")
    assert isinstance(instance.problem, NextRelease)
    assert space_of(instance.problem).n == 100
    assert instance.problem.costs.sum() == 1037
    assert instance.problem.values[0] == 1 * 1 + 5 * 3 + 3 * 1 + 3 * 3 + 1 * 1
    assert instance.notes[1].startswith("42 dependencies")


@needs_public
def test_public_planner_set() -> None:
    instance = read_planner_set(PUBLIC / "extra" / "rp_ms_requirements.csv")
    assert isinstance(instance.problem, NextRelease)
    assert instance.name == "rp_ms"
    assert space_of(instance.problem).n == 50
    assert instance.problem.costs[0] == 66
    assert instance.problem.values[0] == 9 * 8 + 3 * 9 + 5 * 9 + 7 * 9


@needs_public
@pytest.mark.parametrize("row", rows_of(PUBLIC), ids=lambda row: row["name"])
def test_public_requests(row: dict[str, str]) -> None:
    stem, _, percent = row["name"].rpartition("-")
    instance = read_requests(PUBLIC / f"{stem}.txt", int(percent) / 100)
    assert isinstance(instance.problem, CustomerRelease)
    assert instance.name == row["name"]
    assert space_of(instance.problem).n == int(row["customers"])
    assert instance.problem.budget == int(row["budget_rounded"])
