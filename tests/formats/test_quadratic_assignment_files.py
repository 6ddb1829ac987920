"""Files of quadratic assignments: tiny ones with each mistake, and the public ones with their solutions."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from instance_files import rows_of

from conftest import sentence_of
from systola import InputError
from systola.cli import main
from systola.formats import Instance, describe, open_instance
from systola.formats.quadratic_assignment import cost, read_qaplib, read_solution, write
from systola.model.problem import digest_of, space_of
from systola.problems import QuadraticAssignment

PUBLIC = Path(__file__).parents[3] / "shared" / "instances" / "qap"
needs_public = pytest.mark.skipif(not PUBLIC.is_dir(), reason="the public instances are not here")

FLOWS = [[0, 5, -2], [1, 0, 3], [4, 0, 7]]
DISTANCES = [[1, 2, 9], [6, 0, 3], [4, 8, 0]]
SMALL = "3\n\n0 5 -2\n1 0 3\n4 0 7\n\n1 2 9\n6 0 3\n4 8 0\n"
CYCLE = [1, 2, 0]  # its inverse is another permutation, of another cost


def by_hand(solution: list[int]) -> int:
    return sum(FLOWS[i][k] * DISTANCES[solution[i]][solution[k]] for i in range(3) for k in range(3))


DIRECT, INVERSE = by_hand(CYCLE), by_hand([2, 0, 1])


def written(folder: Path, content: str, name: str = "some.dat") -> Path:
    path = folder / name
    path.write_text(content, encoding="utf-8")
    return path


def matrices_of(instance: Instance) -> list[list[list[int]]]:
    problem = instance.problem
    assert isinstance(problem, QuadraticAssignment)
    return [problem.flows.tolist(), problem.distances.tolist()]


def small(folder: Path, solution: str | None = None) -> Instance:
    if solution is not None:
        written(folder, solution, "some.sln")
    return read_qaplib(written(folder, SMALL))


# Instances


def test_flows_come_before_distances(tmp_path: Path) -> None:
    instance = small(tmp_path)
    assert matrices_of(instance) == [FLOWS, DISTANCES]  # neither is symmetric, nor are the diagonals zero
    assert (instance.name, instance.kind, instance.best_known, instance.notes) == ("some", "qap", None, ())
    assert instance.solution is None
    assert "QAPLIB" in instance.source
    assert "some.dat" in instance.source


def test_the_smallest_instance(tmp_path: Path) -> None:
    instance = open_instance(str(written(tmp_path, "1 -4 +3")))
    assert (instance.kind, matrices_of(instance)) == ("qap", [[[-4]], [[3]]])


@st.composite
def assignments(draw: st.DrawFn) -> QuadraticAssignment:
    n = draw(st.integers(1, 6))
    entries = st.lists(st.integers(-(10**7), 10**7), min_size=n * n, max_size=n * n)
    flows, distances = (np.array(draw(entries), np.int64).reshape(n, n) for _ in range(2))
    return QuadraticAssignment(flows, distances)


@given(assignments(), st.data())
def test_numbers_are_read_wherever_lines_end(problem: QuadraticAssignment, data: st.DataObject) -> None:
    numbers = [len(problem.flows), *problem.flows.ravel().tolist(), *problem.distances.ravel().tolist()]
    space = st.text(" \t\n\r", min_size=1, max_size=4)
    spaces = data.draw(st.lists(space, min_size=len(numbers), max_size=len(numbers)))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "some.dat"
        path.write_bytes("".join(f"{gap}{number}" for gap, number in zip(spaces, numbers, strict=True)).encode())
        for instance in (read_qaplib(path), open_instance(str(path), "qap")):
            assert digest_of(instance.problem) == digest_of(problem)


@given(assignments(), st.data())
def test_what_is_written_is_read(problem: QuadraticAssignment, data: st.DataObject) -> None:
    n = len(problem.flows)
    solution = np.array(data.draw(st.permutations(range(n))), np.int32)
    best = cost(problem, solution)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "some.dat"
        write(problem, path)
        plain = read_qaplib(path)
        assert digest_of(plain.problem) == digest_of(problem)
        assert (plain.best_known, plain.solution, plain.notes) == (None, None, ())
        write(problem, path, best)
        told = read_qaplib(path)
        assert (told.best_known, told.solution) == (best, None)
        assert told.notes == ("the best known cost is unchecked: some.sln has no solution to it",)
        write(problem, path, best, solution)
        solved = read_qaplib(path)
        assert (solved.best_known, solved.notes) == (best, ())
        assert solved.solution is not None
        assert solved.solution.tolist() == solution.tolist()


@given(assignments(), st.data())
def test_costs_are_those_of_the_problem(problem: QuadraticAssignment, data: st.DataObject) -> None:
    solution = np.array(data.draw(st.permutations(range(len(problem.flows)))), np.int32)
    assert cost(problem, solution) == problem.evaluate(solution)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "`n` must come first, but the file is empty (some.dat)"),
        (" \n\n", "`n` must come first, but the file is empty (some.dat)"),
        ("three\n", "`n` must be a whole number, but got 'three' (some.dat, line 1)"),
        ("\n3.5\n", "`n` must be a whole number, but got '3.5' (some.dat, line 2)"),
        ("0\n", "`n >= 1` must hold, but got 0 (some.dat, line 1)"),
        ("-3 1 2\n", "`n >= 1` must hold, but got -3 (some.dat, line 1)"),
        ("9" * 30, "`n` must fit into 64 bits, but got '" + "9" * 30 + "' (some.dat, line 1)"),
        (
            SMALL[:-3],
            "a file with n = 3 must have 1 + 2*n*n = 19 numbers, but has 18; "
            "correct n, or complete the file (some.dat, line 1)",
        ),
        (
            "999999999 1 2",
            "a file with n = 999999999 must have 1 + 2*n*n = 1999999996000000003 numbers, "
            "but has room for 7 at most; correct n (some.dat, line 1)",
        ),
        (
            "9223372036854775807",
            f"a file with n = 9223372036854775807 must have 1 + 2*n*n = {1 + 2 * (2**63 - 1) ** 2} numbers, "
            "but has room for 10 at most; correct n (some.dat, line 1)",
        ),
        (
            SMALL + "\n7\n",
            "the file must end after 1 + 2*n*n = 19 numbers, as n = 3, but goes on with '7' (some.dat, line 11)",
        ),
        (
            SMALL + "end",
            "the file must end after 1 + 2*n*n = 19 numbers, as n = 3, but goes on with 'end' (some.dat, line 10)",
        ),
        (SMALL.replace("1 0 3", "1 0 3.5"), "`flow` must be a whole number, but got '3.5' (some.dat, line 4)"),
        (SMALL.replace("4 0 7", "4 x 7"), "`flow` must be a whole number, but got 'x' (some.dat, line 5)"),
        (SMALL.replace("4 8 0", "4 1e3 0"), "`distance` must be a whole number, but got '1e3' (some.dat, line 9)"),
        (SMALL.replace("4 8 0", "4 ٣ 0"), "`distance` must be a whole number, but got '٣' (some.dat, line 9)"),
        (
            SMALL.replace("4 8 0", "4 9223372036854775808 0"),
            "`distance` must fit into 64 bits, but got '9223372036854775808' (some.dat, line 9)",
        ),
        (
            SMALL.replace("0 5 -2", "0 5 -9223372036854775809"),
            "`flow` must fit into 64 bits, but got '-9223372036854775809' (some.dat, line 3)",
        ),
        (
            SMALL.replace("4 8 0", f"4 {2**62} 0"),
            f"each distance must be below 2**61, but got {2**62}; scale the data down (some.dat)",
        ),
    ],
)
def test_messages(tmp_path: Path, content: str, message: str) -> None:
    path = written(tmp_path, content)
    assert sentence_of(read_qaplib, path) == message
    with pytest.raises(InputError) as caught:
        open_instance(str(path), "qap")  # the only format of the problem, so its message stands alone
    assert str(caught.value) == message


def test_what_does_not_apply_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, SMALL)
    with pytest.raises(InputError, match="holds a single problem, but got #1; leave it out"):
        open_instance(f"{path}#1")
    with pytest.raises(InputError, match="the format QAPLIB takes no options, but got 'ratio'"):
        open_instance(f"{path}?ratio=0.5")


def test_a_file_that_is_also_a_list_of_knapsacks_asks_for_the_problem(tmp_path: Path) -> None:
    # Three knapsacks of one item and one constraint are 1 + 3 * 6 numbers, and so are two matrices of 3 * 3.
    path = written(tmp_path, "3\n" + "1 1 1\n" * 6)
    with pytest.raises(InputError, match=r"some\.dat fits mknap1 and mknapcb and QAPLIB; name the problem"):
        open_instance(str(path))
    assert space_of(open_instance(str(path), "qap").problem).n == 3


# Solutions


def test_the_two_directions_differ() -> None:
    assert DIRECT != INVERSE


@pytest.mark.parametrize(
    ("content", "solution"),
    [
        (f"3 {DIRECT}\n2 3 1\n", CYCLE),
        (f"3 {DIRECT} 2 3\n\n 1", CYCLE),
        (f"3, {DIRECT}\n2,3, 1\n", CYCLE),
        (f"3 {DIRECT}\n1 2 0\n", CYCLE),  # from 0
        (f"3 {INVERSE}\n2 3 1\n", [2, 0, 1]),  # the facility of each location
        (f"3 {DIRECT}\n2 0 1\n", CYCLE),  # both
    ],
    ids=["direct", "lines", "commas", "from 0", "inverse", "inverse from 0"],
)
def test_solutions_by_any_convention(tmp_path: Path, content: str, solution: list[int]) -> None:
    instance = small(tmp_path, content)
    assert (instance.best_known, instance.notes) == (by_hand(solution), ())
    assert instance.solution is not None
    assert instance.solution.tolist() == solution
    assert isinstance(instance.problem, QuadraticAssignment)
    assert read_solution(tmp_path / "some.sln", instance.problem).tolist() == solution
    assert describe(instance)["best_known"] == by_hand(solution)


def test_a_cost_without_a_solution_is_taken_unchecked(tmp_path: Path) -> None:
    instance = small(tmp_path, "3 -17\n")
    assert (instance.best_known, instance.solution) == (-17, None)
    assert instance.notes == ("the best known cost is unchecked: some.sln has no solution to it",)
    assert isinstance(instance.problem, QuadraticAssignment)
    assert (
        sentence_of(read_solution, tmp_path / "some.sln", instance.problem)
        == "a permutation must follow the cost, but the file ends (some.sln)"
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "`n` must come first, but the file is empty (some.sln)"),
        ("solution\n", "`n` must be a whole number, but got 'solution' (some.sln, line 1)"),
        ("4 70\n1 2 3 4\n", "`n` must be 3, as in the instance, but got 4 (some.sln, line 1)"),
        ("3\n", "`cost` must follow, but the file ends (some.sln, line 1)"),
        ("3 7.5\n1 2 3\n", "`cost` must be a whole number, but got '7.5' (some.sln, line 1)"),
        ("3 " + "9" * 20, "`cost` must fit into 64 bits, but got '" + "9" * 20 + "' (some.sln, line 1)"),
        ("3 70\n1 2\n", "`location` must follow, but the file ends (some.sln, line 2)"),
        ("3 70 (OPT)\n1 2\n", "`location` must be a whole number, but got '(OPT)' (some.sln, line 1)"),
        ("3 70\n1 2 3\n4", "the file must end after the 3 locations, but goes on with '4' (some.sln, line 3)"),
        (
            "3 70\n1 2 2\n",
            "the locations must be a permutation of 1..3 or of 0..2, but got '1 2 2' (some.sln, line 2)",
        ),
        (
            "3 70\n0 1 3\n",
            "the locations must be a permutation of 1..3 or of 0..2, but got '0 1 3' (some.sln, line 2)",
        ),
        (
            "3 70\n2 3 4\n",
            "the locations must be a permutation of 1..3 or of 0..2, but got '2 3 4' (some.sln, line 2)",
        ),
        (
            "3 70\n2 3 1\n",
            f"the permutation must cost 70, as the file says, but costs {DIRECT}, and its inverse {INVERSE} "
            "(some.sln, line 2)",
        ),
    ],
)
def test_a_bad_solution_is_a_note_of_the_instance(tmp_path: Path, content: str, message: str) -> None:
    instance = small(tmp_path, content)
    assert matrices_of(instance) == [FLOWS, DISTANCES]
    assert (instance.best_known, instance.solution) == (None, None)
    assert instance.notes == (f"the best known cost beside it is not used: {message}",)
    assert isinstance(instance.problem, QuadraticAssignment)
    assert sentence_of(read_solution, tmp_path / "some.sln", instance.problem) == message


def test_a_solution_that_is_no_text_is_a_note(tmp_path: Path) -> None:
    (tmp_path / "some.sln").write_bytes(b"3 \xff")
    (note,) = small(tmp_path).notes
    assert note.endswith("a file must be text in UTF-8, but byte 3 of some.sln is no part of one")


def test_a_folder_beside_is_no_solution(tmp_path: Path) -> None:
    (tmp_path / "some.sln").mkdir()
    assert small(tmp_path).notes == ()


def test_a_missing_solution_is_an_input_error(tmp_path: Path) -> None:
    problem = small(tmp_path).problem
    assert isinstance(problem, QuadraticAssignment)
    with pytest.raises(InputError, match="there is none at"):
        read_solution(tmp_path / "other.sln", problem)


# Writing


def test_what_cannot_be_written(tmp_path: Path) -> None:
    problem = small(tmp_path).problem
    assert isinstance(problem, QuadraticAssignment)
    with pytest.raises(InputError, match="must be writable"):
        write(problem, tmp_path / "missing" / "some.dat")
    with pytest.raises(InputError, match="must be writable"):
        write(problem, ".", 5)
    with pytest.raises(InputError, match=r"must not be named \.sln, as its solution is"):
        write(problem, tmp_path / "other.SLN")
    with pytest.raises(InputError, match=f"a solution must cost {DIRECT}, but this one costs {INVERSE}"):
        write(problem, tmp_path / "other.dat", DIRECT, np.array([2, 0, 1]))
    with pytest.raises(InputError):
        write(problem, tmp_path / "other.dat", DIRECT, np.array([2, 0, 0]))
    assert not list(tmp_path.glob("other*"))


def test_an_instance_is_not_written_beside_the_solution_of_another(tmp_path: Path) -> None:
    instance = small(tmp_path, f"3 {DIRECT}\n2 3 1\n")
    assert isinstance(instance.problem, QuadraticAssignment)
    with pytest.raises(InputError, match=r"no solution of another instance must lie beside, but .*some\.sln' does"):
        write(instance.problem, tmp_path / "some.txt")
    write(instance.problem, tmp_path / "some.txt", instance.best_known, instance.solution)
    assert open_instance(str(tmp_path / "some.txt")).best_known == DIRECT


# On the command line


def test_instances_are_shown_and_converted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copy, generated = tmp_path / "copy.dat", tmp_path / "grid.dat"
    small(tmp_path, f"3 {INVERSE}\n2 3 1\n")
    assert main(["instances", "convert", str(tmp_path / "some.dat"), str(copy)]) == 0
    assert main(["instances", "convert", "qap:grid-2x3@4", str(generated)]) == 0
    assert capsys.readouterr().err == (
        f"systola: wrote quadratic assignment of 3 facilities to {copy}\n"
        f"systola: wrote quadratic assignment of 6 facilities to {generated}\n"
    )
    assert (tmp_path / "copy.sln").read_text() == f"3 {INVERSE}\n3 1 2\n"
    grid = open_instance("qap:grid-2x3@4")
    assert digest_of(open_instance(str(generated)).problem) == digest_of(grid.problem)
    assert main(["instances", "show", "--json", str(copy), str(generated)]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert [(facts["problem"], facts["best_known"]) for facts in shown] == [("qap", INVERSE), ("qap", grid.best_known)]


# The public files


@needs_public
def test_every_public_instance_is_listed() -> None:
    assert {path.stem for path in PUBLIC.glob("*.dat")} == {row["name"] for row in rows_of(PUBLIC)}


@needs_public
@pytest.mark.parametrize("row", rows_of(PUBLIC), ids=lambda row: row["name"])
def test_public_instances(row: dict[str, str]) -> None:
    instance = open_instance(str(PUBLIC / f"{row['name']}.dat"))  # recognised
    problem, best_known = instance.problem, int(row["best_known"])
    assert isinstance(problem, QuadraticAssignment)
    assert problem.flows.shape == problem.distances.shape == (int(row["n"]), int(row["n"]))
    assert (instance.name, instance.kind, instance.notes) == (row["name"], "qap", ())
    if not (PUBLIC / f"{row['name']}.sln").exists():
        assert (instance.best_known, instance.solution) == (None, None)
        return
    assert instance.best_known == best_known
    assert problem.evaluate(instance.solution) == best_known
    assert read_solution(PUBLIC / f"{row['name']}.sln", problem).tolist() == instance.solution.tolist()


@needs_public
def test_the_convention_of_a_public_solution_is_the_one_listed() -> None:
    for row in (row for row in rows_of(PUBLIC) if (PUBLIC / f"{row['name']}.sln").exists()):
        problem = read_qaplib(PUBLIC / f"{row['name']}.dat").problem
        assert isinstance(problem, QuadraticAssignment)
        words = (PUBLIC / f"{row['name']}.sln").read_text().split()
        direct = np.array([int(word) - 1 for word in words[2:]])
        inverted = "inverse" in row["sln_source_and_convention"]
        assert cost(problem, np.argsort(direct) if inverted else direct) == int(row["best_known"])
