"""Files of multidimensional knapsacks: tiny ones of each format and each mistake, and the public ones."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import pytest
from instance_files import rows_of, written

from conftest import sentence_of
from systola.formats import Instance, Library, describe, look_up, open_instance
from systola.formats.multi_knapsack import read_named, read_numbered, read_single
from systola.model.problem import digest_of, space_of
from systola.problems.multi_knapsack import MultiKnapsack

PUBLIC = Path(__file__).parents[3] / "shared" / "instances" / "mkp"
needs_public = pytest.mark.skipif(not PUBLIC.is_dir(), reason="the public instances are not here")

NUMBERED = "2\n\n3 2 9\n5 4 3\n1 2 3\n4 5 6\n4 10\n\n2 1 0\n7 8\n1 1\n1\n"
DECIMAL = "1\n2 1 618.1\n600.10 18\n2 .25\n2.0\n"
SINGLE = "3 2 9\n5 4 3\n1 2 3\n4 5 6\n4 10\n"
NAMED = """ A collection of knapsacks.
 A problem instance, with
 comments, looks like this: problem EXAMPLE.DAT ++
 1 1 // of each

 ++++++++++

 problem ONE.DAT

 ++++++++++
 2 3
 5 4 3
 4 10
 1 2 3
 4 5 6

 9

 ++++++++++

 problem Two.dat

 ++++++++++
 1 2
 7 8
 1
 1 1
 0
"""


def data_of(instance: Instance) -> tuple[list[int], list[list[int]], list[int]]:
    problem = instance.problem
    assert isinstance(problem, MultiKnapsack)
    return problem.profits.tolist(), problem.weights.tolist(), problem.capacities.tolist()


FIRST = ([5, 4, 3], [[1, 2, 3], [4, 5, 6]], [4, 10])
SECOND = ([7, 8], [[1, 1]], [1])


def test_numbered_problems(tmp_path: Path) -> None:
    library = read_numbered(written(tmp_path, NUMBERED))
    first, second = library.choose("1"), library.choose("2")
    assert (data_of(first), first.name, first.kind, first.best_known) == (FIRST, "some#1", "mkp", 9)
    assert (data_of(second), second.name, second.kind, second.best_known) == (SECOND, "some#2", "mkp", None)
    assert "some.txt, problem 2" in second.source


def test_named_problems(tmp_path: Path) -> None:
    library = read_named(written(tmp_path, NAMED))
    for word in ("ONE", "one", "1"):
        first = library.choose(word)
        assert (data_of(first), first.name, first.best_known) == (FIRST, "some#ONE", 9)
    for word in ("TWO", "Two", "2"):
        second = library.choose(word)
        assert (data_of(second), second.name, second.best_known) == (SECOND, "some#Two", None)


def test_a_single_problem(tmp_path: Path) -> None:
    instance = read_single(written(tmp_path, SINGLE))
    assert (data_of(instance), instance.name, instance.kind, instance.best_known) == (FIRST, "some", "mkp", 9)
    assert read_single(written(tmp_path, SINGLE.replace("9", "0"))).best_known is None


def test_decimals_are_counted_in_the_largest_unit_that_makes_them_whole(tmp_path: Path) -> None:
    instance = read_numbered(written(tmp_path, DECIMAL)).choose(None)
    assert data_of(instance) == ([60010, 1800], [[200, 25]], [200])
    assert instance.problem.scale == 100
    assert instance.best_known == 618.1
    assert instance.notes == ("data count in units of 1/100, so that all are whole numbers",)
    whole = read_numbered(written(tmp_path, "1 1 1 5.0 5.0 1. +2")).choose(None)
    assert (data_of(whole), whole.problem.scale, whole.best_known, whole.notes) == (([5], [[1]], [2]), 1, 5, ())
    assert isinstance(whole.best_known, int)


@pytest.mark.parametrize(
    ("content", "spec"), [(NUMBERED, "#2"), (DECIMAL, ""), (NAMED, "#two"), (SINGLE, "")], ids=["K", "1", "named", "gk"]
)
@pytest.mark.parametrize("space", [" ", "\n", "\r\n", " \t \n\n"], ids=repr)
def test_formats_are_recognised_wherever_lines_end(tmp_path: Path, content: str, spec: str, space: str) -> None:
    plain = open_instance(f"{written(tmp_path, content)}{spec}")
    path = tmp_path / "other"
    path.write_bytes(re.sub(r"\s+", space, content).encode())
    for problem in (None, "mkp"):
        instance = open_instance(f"{path}{spec}", problem)
        assert digest_of(instance.problem) == digest_of(plain.problem)
        assert instance.best_known == plain.best_known


def test_a_file_with_several_problems_is_given_whole_or_in_part(tmp_path: Path) -> None:
    path = written(tmp_path, NAMED)
    library = look_up(str(path))
    assert isinstance(library, Library)
    assert describe(library) == {
        "name": "some",
        "problem": "mkp",
        "source": f"mknap2, file {path}",
        "problems": [
            {
                "instance": f"{path}#ONE",
                "number": 1,
                "name": "ONE",
                "items": 3,
                "constraints": 2,
                "best_known": 9,
            },
            {
                "instance": f"{path}#Two",
                "number": 2,
                "name": "Two",
                "items": 2,
                "constraints": 1,
                "best_known": None,
            },
        ],
    }
    for facts in library.describe()["problems"]:
        part = look_up(facts["instance"])
        assert isinstance(part, Instance)
        assert space_of(part.problem).n == facts["items"]
    single = look_up(str(written(tmp_path, DECIMAL)))
    assert isinstance(single, Instance)


@pytest.mark.parametrize(
    ("content", "spec", "message"),
    [
        (NUMBERED, "", "one problem must be named, but some.txt holds 2: write some.txt#1; "),
        (NAMED, "", "one problem must be named, but some.txt holds 2: write some.txt#ONE; "),
        (NUMBERED, "#3", "a problem of some.txt must be a number from 1 to 2, but got '3'; "),
        (NUMBERED, "#0", "a problem of some.txt must be a number from 1 to 2, but got '0'; "),
        (NUMBERED, "#one", "a problem of some.txt must be a number from 1 to 2, but got 'one'; "),
        (NUMBERED, "#" + "9" * 5000, "a problem of some.txt must be a number from 1 to 2, but got '999"),
        (NAMED, "#3", "a problem of some.txt must be a number from 1 to 2 or a name, but got '3'; "),
        (NAMED, "#tow", "a number from 1 to 2 or a name, but got 'tow'; did you mean Two? "),
        (NAMED, "#one.dat", "a number from 1 to 2 or a name, but got 'one.dat'; did you mean ONE? "),
    ],
)
def test_choices_that_are_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str, spec: str, message: str
) -> None:
    written(tmp_path, content)
    monkeypatch.chdir(tmp_path)
    said = sentence_of(open_instance, f"some.txt{spec}")
    assert message in said
    assert said.endswith("`systola instances show some.txt` lists them")


def refusal(tmp_path: Path, content: str, spec: str = "", problem: str | None = None) -> str:
    return sentence_of(open_instance, f"{written(tmp_path, content)}{spec}", problem)


def test_what_does_not_apply_is_refused(tmp_path: Path) -> None:
    assert "some.txt holds a single problem, but got #1; leave it out" in refusal(tmp_path, SINGLE, "#1")
    assert "the format mknap1 and mknapcb takes no options" in refusal(tmp_path, NUMBERED, "#1?tightness=1")
    assert "the format gk takes no options" in refusal(tmp_path, SINGLE, "?ratio=1")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "`problems` must come first, but the file is empty (some.txt)"),
        ("0", "`problems >= 1` must hold, but got 0 (some.txt, line 1)"),
        ("1.5", "`problems` must be a whole number, but got '1.5' (some.txt, line 1)"),
        ("99\n1 1 0 1 1 1\n", "`problems` must be what the rest of the file can hold, but got 99 (some.txt, line 1)"),
        ("1\n0 1 0 1 1 1\n", "`items >= 1` must hold, but got 0 (some.txt, line 2)"),
        ("1\n1 0 0 1 1 1\n", "`constraints >= 1` must hold, but got 0 (some.txt, line 2)"),
        (
            "1\n999999999 1 0 1 1 1\n",
            "`items` must be what the rest of the file can hold, but got 999999999 (some.txt, line 2)",
        ),
        (
            "1\n2 999999999999 0 1 1 1\n",
            "`constraints` must be what the rest of the file can hold, but got 999999999999 (some.txt, line 2)",
        ),
        ("1\n1 1 -4\n1 1 1\n", "`optimum >= 0` must hold, but got '-4' (some.txt, line 2)"),
        ("1\n1 1 5\n4\n1\n1\n", "`optimum` must be at most 4, the sum of the profits, but got 5 (some.txt, line 3)"),
        ("1\n1 1 best\n1 1 1\n", "`optimum` must be a number, but got 'best' (some.txt, line 2)"),
        (NUMBERED.replace("5 4 3", "5 -4 3"), "`profit >= 0` must hold, but got '-4' (some.txt, line 4)"),
        (NUMBERED.replace("5 4 3", "5 1e3 3"), "`profit` must be a number, but got '1e3' (some.txt, line 4)"),
        (NUMBERED.replace("4 5 6", "4 x 6"), "`weight` must be a number, but got 'x' (some.txt, line 6)"),
        (NUMBERED.replace("4 10", "4 ."), "`capacity` must be a number, but got '.' (some.txt, line 7)"),
        (
            NUMBERED.replace("4 10", "4 1." + "3" * 5000),
            "`capacity` must have at most 18 digits, but got '1." + "3" * 38 + "...' (some.txt, line 7)",
        ),
        (
            NUMBERED.replace("4 10", "0.000000000000000001 999999999999999999"),
            "each `capacity`, without its decimal point, must fit into 64 bits (some.txt, line 7)",
        ),
        (NUMBERED[:-3], "`capacity` must follow, but the file ends (some.txt, line 11)"),
        (NUMBERED[:-6], "`weight` must follow, but the file ends (some.txt, line 10)"),
        (NUMBERED + "7", "the file must end after the 2 problems, but goes on with '7' (some.txt, line 13)"),
        (NUMBERED + "end", "the file must end after the 2 problems, but goes on with 'end' (some.txt, line 13)"),
    ],
)
def test_messages_of_numbered_problems(tmp_path: Path, content: str, message: str) -> None:
    assert sentence_of(read_numbered, written(tmp_path, content)) == message


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "`items` must come first, but the file is empty (some.txt)"),
        (SINGLE + "7", "the file must end after the capacities, but goes on with '7' (some.txt, line 6)"),
        (SINGLE[:-4], "`capacity` must follow, but the file ends (some.txt, line 5)"),
        (SINGLE.replace("5 4 3", "5 4 no"), "`profit` must be a number, but got 'no' (some.txt, line 2)"),
        ("1 1 0 2147483648 1 1", "each profit must be below 2**31, but got 2.14748e+09 (some.txt)"),
        ("1 1 0 1 1 999999999999999999", "each capacity must be below 2**31, but got 1e+18 (some.txt)"),
        (
            "1 1 0 1 30000000 0.01",
            "each weight must be below 2**31 in units of 1/100, but got 3e+07 (some.txt)",
        ),
        (
            "2 1 0 2147483647 1 1 1 1",
            "the sum of all profits, and that of each row of weights, must be below 2**31, but with these data could "
            "reach 2147483648; scale the data down (some.txt)",
        ),
    ],
)
def test_messages_of_a_single_problem(tmp_path: Path, content: str, message: str) -> None:
    assert sentence_of(read_single, written(tmp_path, content)) == message


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "`problem NAME` and a line of + must come first, but there are none (some.txt)"),
        ("no problem here", "`problem NAME` and a line of + must come first, but there are none (some.txt)"),
        ("problem X.DAT\n++++\n", "`constraints` must follow, but the file ends (some.txt, line 2)"),
        (
            NAMED.replace("Two", "one"),
            "a problem must have a name of its own, but 'one' comes again (some.txt, line 21)",
        ),
        (NAMED.replace("5 4 3", "5 -4 3"), "`profit >= 0` must hold, but got '-4' (some.txt, line 12)"),
        (NAMED.replace("5 4 3", "5 4"), "`optimum` must be a number, but got '++++++++++' (some.txt, line 19)"),
        (
            NAMED.replace(" 9", " 12.5"),
            "`optimum` must be at most 12, the sum of the profits, but got 12.5 (some.txt, line 17)",
        ),
        (NAMED.replace("4 5 6", "4 5 6 7"), "a line of + must follow, but got '9' (some.txt, line 17)"),
        (NAMED.replace("problem Two", "Two"), "`problem` must follow, but got 'Two.dat' (some.txt, line 21)"),
        (NAMED + "7", "a line of + must follow, but got '7' (some.txt, line 29)"),
        (NAMED + "++++\nthe end", "`problem` must follow, but got 'the' (some.txt, line 30)"),
        (NAMED[:-3], "`optimum` must follow, but the file ends (some.txt, line 27)"),
        (
            NAMED.replace("2 3\n", "999999999 3\n", 1),
            "`constraints` must be what the rest of the file can hold, but got 999999999 (some.txt, line 11)",
        ),
        (
            NAMED.replace("2 3\n", "2 999999999\n", 1),
            "`items` must be what the rest of the file can hold, but got 999999999 (some.txt, line 11)",
        ),
    ],
)
def test_messages_of_named_problems(tmp_path: Path, content: str, message: str) -> None:
    assert sentence_of(read_named, written(tmp_path, content)) == message


def test_a_problem_that_is_too_large_is_found_when_it_is_chosen(tmp_path: Path) -> None:
    content = NAMED.replace("7 8", "7 2147483648")
    assert open_instance(f"{written(tmp_path, content)}#one").best_known == 9
    assert refusal(tmp_path, content, "#two").endswith("but got 2.14748e+09 (some.txt#Two)")


def test_a_broken_file_says_what_was_tried(tmp_path: Path) -> None:
    message = refusal(tmp_path, NUMBERED + "7", "#1", "mkp")
    assert message.startswith("some.txt has none of the formats of the problem mkp; tried")
    assert "\n  mknap1 and mknapcb: the file must end after the 2 problems, but goes on with '7'" in message


def test_a_table_of_requirements_has_the_words_but_not_the_lines(tmp_path: Path) -> None:
    # Both have two sizes and a number, then as many numbers; a table of requirements also needs its lines.
    table = "2 3 6\n1 5 2\n4 1 2 3\n7 0 1 0\n"
    path = written(tmp_path, table)
    assert open_instance(str(path)).kind == "nrp"
    assert data_of(open_instance(str(path), "mkp")) == ([1, 5], [[2, 4], [1, 2], [3, 7]], [0, 1, 0])
    assert open_instance(str(written(tmp_path, table.replace("\n", " ")))).kind == "mkp"


# The public files


@needs_public
def test_public_named_problems() -> None:
    library = read_named(PUBLIC / "mknap2.txt")
    assert len(library.parts) == 48
    known = {row["name"].upper(): row for row in rows_of(PUBLIC)}
    for number, part in enumerate(library.parts, 1):
        row, instance = known[part.name], library.choose(part.name.lower())
        assert instance.best_known == int(row["best_known"])
        assert part.sizes == {"items": int(row["n_items"]), "constraints": int(row["m_constraints"])}
        assert digest_of(instance.problem) == digest_of(library.choose(str(number)).problem)
    optima = {"WEISH16": 7289, "SENTO2": 8722, "WEING7": 1095445, "HP2": 3186}
    assert {name: open_instance(f"{PUBLIC / 'mknap2.txt'}#{name}").best_known for name in optima} == optima


@needs_public
def test_public_numbered_problems() -> None:
    library = read_numbered(PUBLIC / "mknap1.txt")
    assert [part.best_known for part in library.parts] == [3800, 8706.1, 4015, 6120, 12400, 10618, 16537]
    assert [part.sizes["items"] for part in library.parts] == [6, 10, 15, 20, 28, 39, 50]
    assert [part.sizes["constraints"] for part in library.parts] == [10, 10, 10, 10, 10, 5, 5]
    assert [library.choose(str(number)).problem.scale for number in range(1, 8)] == [1, 10, 1, 1, 1, 1, 1]


@needs_public
@pytest.mark.parametrize(("name", "items", "constraints"), [("mknapcb5", 250, 10), ("mknapcb9", 500, 30)])
def test_public_problems_of_chu_and_beasley(name: str, items: int, constraints: int) -> None:
    library = look_up(str(PUBLIC / f"{name}.txt"))
    assert isinstance(library, Library)
    assert len(library.parts) == 30
    for number, part in enumerate(library.parts):
        assert (part.sizes, part.best_known) == ({"items": items, "constraints": constraints}, None)
        problem = library.choose(str(number + 1)).problem
        assert isinstance(problem, MultiKnapsack)
        tightness = Fraction(1 + number // 10, 4)
        totals = problem.weights.sum(axis=1).tolist()
        assert problem.capacities.tolist() == [int(tightness * total + Fraction(1, 2)) for total in totals]


@needs_public
@pytest.mark.parametrize(
    ("name", "items", "constraints", "best_known"),
    [("gk08", 500, 50, 18806), ("gk09", 1500, 25, 58087), ("gk10", 1500, 50, 57295), ("gk11", 2500, 100, 95237)],
)
def test_public_single_problems(name: str, items: int, constraints: int, best_known: int) -> None:
    instance = open_instance(str(PUBLIC / f"{name}.dat"))
    assert isinstance(instance.problem, MultiKnapsack)
    assert instance.problem.weights.shape == (constraints, items)
    assert (instance.name, instance.best_known) == (name, best_known)
