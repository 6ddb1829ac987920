"""Files and generators of flowshops: tiny files with each mistake, the public ones, and both against each other."""

from __future__ import annotations

import hashlib
import json
import tempfile
from fractions import Fraction
from math import floor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instance_files import refusal, rows_of, written

from conftest import sentence_of
from systola import Flowshop, InputError
from systola.cli import main
from systola.formats import Instance, Library, describe, look_up, open_instance
from systola.formats.flowshop import read_liefooghe, read_minella, read_taillard, write
from systola.formats.flowshop_generator import SEEDS, taillard, uniform
from systola.model.problem import digest_of

PUBLIC = Path(__file__).parents[3] / "shared" / "instances" / "pfsp"
needs_public = pytest.mark.skipif(not PUBLIC.is_dir(), reason="the public instances are not here")

TIMES = [[3, 2], [1, 5], [6, 1]]  # three jobs, two machines
DUE = [9, 4, 30]
TITLE = "number of jobs, number of machines, initial seed, upper bound and lower bound :"
BLOCK = f"{TITLE}\n  3  2  77  14  12\nprocessing times :\n 3 1 6\n 2 5 1\n"
TAILLARD = BLOCK + f"{TITLE}\n1 1 5 0 0\nprocessing times :\n8\n"
LIEFOOGHE = "3\n2\n77\n0\n9\n3 2 \n1\n4\n1 5 \n2\n30\n6 1 \n"
MINELLA = "3 2\n0 3 1 2\n0 1 1 5\n0 6 1 1\nReldue\n-1 9 -1 1\n-1 4 -1 1\n-1 30 -1 1\n"


def shop(instance: Instance) -> Flowshop:
    assert isinstance(instance.problem, Flowshop)
    return instance.problem


# Taillard's files


def test_times_are_by_machine(tmp_path: Path) -> None:
    path = written(tmp_path, TAILLARD)
    library = look_up(str(path))
    assert isinstance(library, Library)
    assert [(facts["jobs"], facts["machines"]) for facts in describe(library)["problems"]] == [(3, 2), (1, 1)]
    first, second = open_instance(f"{path}#1"), open_instance(f"{path}#2")
    assert (shop(first).times.tolist(), shop(second).times.tolist()) == (TIMES, [[8]])
    assert (first.name, first.kind, first.best_known) == ("some#1", "flowshop", None)  # a bound is not best known
    assert first.notes == ("the file says that the least makespan is at least 12 and at most 14",)
    assert second.notes == ()
    assert shop(first).objectives == "makespan"
    assert shop(first).due.size == 0
    assert first.source == f"Taillard, file {path}, problem 1"


def test_published_instances_are_named_once(tmp_path: Path) -> None:
    times = taillard(1).times
    rows = "\n".join(" ".join(map(str, row)) for row in times.T.tolist())
    block = f"{TITLE}\n20 5 {SEEDS[0][2]} 1278 1232\nprocessing times :\n{rows}\n"
    library = read_taillard(written(tmp_path, block + block))
    assert [part.name for part in library.parts] == ["ta001", ""]
    named = open_instance(f"{tmp_path / 'some.txt'}#TA001")
    assert named.name == "some#ta001"
    assert digest_of(named.problem) == digest_of(taillard(1))


def test_objectives_of_a_file_without_due_dates(tmp_path: Path) -> None:
    path = written(tmp_path, TAILLARD)
    chosen = shop(open_instance(f"{path}#1?objectives=flowtime,makespan&weights=2,3"))
    assert (chosen.objectives, chosen.weights.tolist()) == ("flowtime,makespan", [2, 3])
    assert refusal(f"{path}#1?objectives=tardy") == (
        "the objective tardy needs due dates, but there are none; give `due`, or leave out tardy (some.txt#1)"
    )
    assert refusal(f"{path}#1?weights=1,2") == "each of the 1 objectives needs a weight, but got 2 (some.txt#1)"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "`number of jobs, ... :` must come first, but the file is empty (some.txt)"),
        ("3 2\n", "`number of jobs, ... :` must follow, but got '3' (some.txt, line 1)"),
        (TITLE[:-1], "`:` must follow, but the file ends (some.txt, line 1)"),
        (TITLE, "`jobs` must follow, but the file ends (some.txt, line 1)"),
        (BLOCK.replace("3  2", "0  2"), "`jobs >= 1` must hold, but got 0 (some.txt, line 2)"),
        (BLOCK.replace("3  2", "3  0"), "`machines >= 1` must hold, but got 0 (some.txt, line 2)"),
        (BLOCK.replace("3  2", "3  99"), "`machines` must be what the rest of the file can hold, but got 99 (some.tx"),
        (BLOCK.replace("77", "x"), "`seed` must be a whole number, but got 'x' (some.txt, line 2)"),
        (BLOCK.replace("14", "-1"), "`upper bound >= 0` must hold, but got -1 (some.txt, line 2)"),
        (BLOCK.replace("processing", "due"), "`processing times :` must follow, but got 'due' (some.txt, line 3)"),
        (BLOCK.replace("5", "-5"), "`processing time >= 0` must hold, but got -5 (some.txt, line 5)"),
        (BLOCK.replace("5", "2.5"), "`processing time` must be a whole number, but got '2.5' (some.txt, line 5)"),
        (BLOCK[:-2], "`processing time` must follow, but the file ends (some.txt, line 5)"),
        (BLOCK + "4", "`number of jobs, ... :` must follow, but got '4' (some.txt, line 6)"),
        (BLOCK + TITLE + "\n", "`jobs` must follow, but the file ends (some.txt, line 6)"),
    ],
)
def test_mistakes_in_files_of_taillard(tmp_path: Path, content: str, message: str) -> None:
    assert sentence_of(read_taillard, written(tmp_path, content)).startswith(message)


# Files with due dates


@pytest.mark.parametrize(("content", "form"), [(LIEFOOGHE, "Liefooghe"), (MINELLA, "Minella")])
def test_files_with_due_dates(tmp_path: Path, content: str, form: str) -> None:
    path = written(tmp_path, content)
    for instance in (open_instance(str(path)), open_instance(str(path), "flowshop")):
        problem = shop(instance)
        assert (problem.times.tolist(), problem.due.tolist()) == (TIMES, DUE)
        assert (problem.objectives, problem.weights.tolist()) == ("makespan,tardiness", [1, 1])
        assert (instance.name, instance.kind, instance.best_known, instance.notes) == ("some", "flowshop", None, ())
        assert instance.source == f"{form}, file {path}"
    chosen = shop(open_instance(f"{path}?objectives=tardy&weights=4"))
    assert (chosen.objectives, chosen.weights.tolist()) == ("tardy", [4])
    assert shop(open_instance(f"{path}?weights=0,4")).weights.tolist() == [0, 4]
    # The file has its format, so the other formats are not held against it.
    assert refusal(f"{path}?weights=1,2,3") == "each of the 2 objectives needs a weight, but got 3 (some.txt)"
    assert refusal(f"{path}?weights=0,0") == "one of the weights must be above 0, but got [0, 0] (some.txt)"
    assert refusal(f"{path}#1") == "some.txt holds a single problem, but got #1; leave it out"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("objectives=makespan,tardyness", "but got 'tardyness'; did you mean 'tardiness'?"),
        ("objectives=", "an objective must be one of makespan, tardiness, tardy, flowtime, but got ''"),
        ("objectives=tardy,tardy", "an objective must come once, but 'tardy' comes again; leave it out"),
        ("weights=1,x", "`weight` must be a whole number, but got 'x'"),
        ("weights=", "`weight` must be a whole number, but got ''"),
        ("weights=-1,2", "`weight >= 0` must hold, but got -1"),
        ("objective=tardy", "must be one of objectives, weights, but got 'objective'; did you mean 'objectives'?"),
        ("ratio=0.5", "must be one of objectives, weights, but got 'ratio'"),
    ],
)
@pytest.mark.parametrize("generated", [False, True], ids=["file", "generated"])
def test_options_that_are_none(tmp_path: Path, options: str, message: str, generated: bool) -> None:
    assert message in refusal(f"{'flowshop:ta001' if generated else written(tmp_path, LIEFOOGHE)}?{options}")


@pytest.mark.parametrize(
    ("read", "content", "old", "new", "message"),
    [
        (
            read_liefooghe,
            LIEFOOGHE,
            "3\n2\n",
            "3 2\n",
            "the numbers of jobs and machines and the seed must have a line each, but ",
        ),
        (
            read_liefooghe,
            LIEFOOGHE,
            "2\n77\n",
            "2 77\n",
            "the numbers of jobs and machines and the seed must have a line each, ",
        ),
        (
            read_liefooghe,
            LIEFOOGHE,
            "\n1\n4",
            "\n2\n4",
            "jobs must be numbered 0, 1, 2 and so on, but 2 comes instead of 1 (some",
        ),
        (read_liefooghe, LIEFOOGHE, "\n4\n", "\n-4\n", "`due date >= 0` must hold, but got -4 (some.txt, line 8)"),
        (
            read_liefooghe,
            LIEFOOGHE,
            "1 5",
            "1 x",
            "`processing time` must be a whole number, but got 'x' (some.txt, line 9)",
        ),
        (
            read_liefooghe,
            LIEFOOGHE,
            "6 1",
            f"6 {2**61}",
            "measures and their weighted sum must be below 2**62, but with these data could reach ",
        ),
        (
            read_minella,
            MINELLA,
            "1 5",
            "2 5",
            "a job must pass the machines 0 to 1 in this order, but got '0 2' (some.txt, li",
        ),
        (
            read_minella,
            MINELLA,
            "0 1 1 5",
            "1 5 0 1",
            "a job must pass the machines 0 to 1 in this order, but got '1 0' (some",
        ),
        (
            read_minella,
            MINELLA,
            "1 5",
            "1 -5",
            "`machine and processing time >= 0` must hold, but got -5 (some.txt, line 3)",
        ),
        (read_minella, MINELLA, "Reldue", "Due", "`Reldue` must follow the times, but got 'Due' (some.txt, line 5)"),
        (
            read_minella,
            MINELLA,
            "-1 4",
            "0 4",
            "a job must have -1, a due date, -1 and a weight, but got '0 4 -1 1' (some.txt",
        ),
        (
            read_minella,
            MINELLA,
            "4 -1",
            "4 1",
            "a job must have -1, a due date, -1 and a weight, but got '-1 4 1 1' (some.txt",
        ),
        (
            read_minella,
            MINELLA,
            "-1 4",
            "-1 -1",
            "a job must have -1, a due date, -1 and a weight, but got '-1 -1 -1 1' (some",
        ),
    ],
)
def test_mistakes_in_files(tmp_path: Path, read: Any, content: str, old: str, new: str, message: str) -> None:
    assert sentence_of(read, written(tmp_path, content.replace(old, new))).startswith(message)


@pytest.mark.parametrize(
    ("read", "content", "message"),
    [
        (read_liefooghe, "", "`jobs` must come first, but the file is empty (some.txt)"),
        (read_liefooghe, LIEFOOGHE[:-4], "`processing time` must follow, but the file ends (some.txt, line 12)"),
        (
            read_liefooghe,
            LIEFOOGHE + "3\n",
            "the file must end after the 3 jobs, but goes on with '3' (some.txt, line 13)",
        ),
        (
            read_liefooghe,
            "999999999\n1\n1\n",
            "`jobs` must be what the rest of the file can hold, but got 999999999 (some.txt, line 1)",
        ),
        (read_minella, MINELLA[:-3], "`due date and weight` must follow, but the file ends (some.txt, line 8)"),
        (
            read_minella,
            MINELLA + "5",
            "the file must end after the 3 due dates, but goes on with '5' (some.txt, line 9)",
        ),
    ],
)
def test_files_that_are_too_short_or_too_long(tmp_path: Path, read: Any, content: str, message: str) -> None:
    assert sentence_of(read, written(tmp_path, content)).startswith(message)


def test_weights_of_jobs_are_left_out_and_said_so(tmp_path: Path) -> None:
    weighted = open_instance(
        str(written(tmp_path, MINELLA.replace("-1 4 -1 1", "-1 4 -1 7").replace("Reldue", "RELDUE")))
    )
    assert weighted.notes == ("the weights of jobs are not part of the problem: all jobs count alike",)


def test_a_layout_is_preferred_to_words(tmp_path: Path) -> None:
    # Two jobs on a machine are nine numbers, and so are two matrices of two rows and their size.
    content = "2\n1\n5\n0\n7\n3\n1\n9\n4\n"
    assert open_instance(str(written(tmp_path, content)), "qap").kind == "qap"
    assert shop(open_instance(str(tmp_path / "some.txt"))).due.tolist() == [7, 9]
    assert open_instance(str(written(tmp_path, content.replace("\n", " ")))).kind == "qap"


# Writing


@st.composite
def shops(draw: st.DrawFn) -> Flowshop:
    n, m = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    numbers = st.integers(0, 10**6)
    times = draw(st.lists(numbers, min_size=n * m, max_size=n * m))
    due = draw(st.just([]) | st.lists(numbers, min_size=n, max_size=n))
    return Flowshop(np.array(times).reshape(n, m), np.array(due, np.int64))


@given(shops())
def test_what_is_written_is_read(problem: Flowshop) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "some.txt"
        write(problem, path)
        again = open_instance(f"{path}?objectives=makespan")
    assert digest_of(again.problem) == digest_of(problem)


def test_what_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="without release dates can be written, but got one of 4 at \\[2\\]"):
        write(Flowshop(TIMES, release=[0, 4, 2]), tmp_path / "some.txt")
    with pytest.raises(InputError, match="must be writable"):
        write(Flowshop(TIMES), tmp_path / "missing" / "some.txt")
    assert not list(tmp_path.iterdir())


# Generators


def lehmer(seed: int, count: int) -> list[int]:
    """As Taillard prints it, after Bratley, Fox, Schrage: no product exceeds 32 bits."""
    states = []
    for _ in range(count):
        k = seed // 127773
        seed = 16807 * (seed % 127773) - k * 2836
        if seed < 0:
            seed += 2147483647
        states.append(seed)
    return states


@settings(max_examples=60)
@given(st.integers(1, 12), st.integers(1, 8), st.integers(1, 2**31 - 2), st.booleans())
def test_times_and_due_dates_are_drawn_number_by_number(n: int, m: int, seed: int, dated: bool) -> None:
    problem = uniform(n, m, seed, "makespan,tardy" if dated else "flowtime")
    states = lehmer(seed, n * m + n)
    drawn = [1 + int(state / 2147483647 * 99) for state in states[: n * m]]
    assert problem.times.T.ravel().tolist() == drawn
    mean = Fraction(sum(drawn), n * m)
    low, high = mean * m, mean * (n + m - 1)
    due = [floor(low + Fraction(state, 2147483647) * (high - low + 1)) for state in states[n * m :]]
    assert problem.due.tolist() == (due if dated else [])
    if dated:
        assert floor(low) <= problem.due.min() <= problem.due.max() <= high + 1


@pytest.mark.parametrize(
    ("seed", "like"), [(2**31 - 1, 1), (2**31, 2), (0, 2**31 - 2), (2**64 - 1, (2**64 - 2) % (2**31 - 2) + 1)]
)
def test_any_seed_is_counted_on_in_circles(seed: int, like: int) -> None:
    assert digest_of(uniform(3, 2, seed)) == digest_of(uniform(3, 2, like))


def test_specs_reach_the_generators() -> None:
    assert digest_of(open_instance("flowshop:6x3@9").problem) == digest_of(uniform(6, 3, 9))
    assert digest_of(open_instance("flowshop:6x3").problem) == digest_of(uniform(6, 3, 1))
    assert digest_of(open_instance("flowshop:20x5@873654221").problem) == digest_of(taillard(1))
    spec = "flowshop:ta120?objectives=tardiness,flowtime&weights=2,5"
    instance = open_instance(spec)
    assert digest_of(instance.problem) == digest_of(taillard(120, "tardiness,flowtime", [2, 5]))
    assert (instance.name, instance.kind, instance.best_known) == (spec, "flowshop", None)
    assert shop(instance).times.shape == (500, 20)
    assert describe(instance)["senses"] == ["minimise", "minimise"]
    # What is minimised does not change what is drawn.
    assert shop(open_instance("flowshop:ta031?objectives=tardy")).times.tolist() == taillard(31).times.tolist()


def test_generated_instances_stay_what_they_are() -> None:
    problem = uniform(7, 4, 12345, "tardy")
    data = repr((problem.times.tolist(), problem.due.tolist()))
    assert hashlib.sha256(data.encode()).hexdigest()[:16] == "19a71d9163c172a8"


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("flowshop:ta000", "an instance of Taillard must be one of ta001 to ta120, but got number 0"),
        ("flowshop:ta121", "an instance of Taillard must be one of ta001 to ta120, but got number 121"),
        ("flowshop:ta001@3", "takes no seed, but got '@3'"),
        ("flowshop:0x5", "`jobs >= 1` must hold, but got 0"),
        ("flowshop:5x0", "`machines >= 1` must hold, but got 0"),
        ("flowshop:1001x1000", "`jobs * machines <= 1000000` must hold, but got 1001 * 1000"),
        ("flowshop:" + "9" * 5000 + "x1", "`jobs` must fit into 64 bits"),
        ("flowshop:5x5@99999999999999999999", "0 <= seed < 2**64"),
        ("flowshop:5x5?weights=1,2", "each of the 1 objectives needs a weight, but got 2"),
        ("flowshop:5", "must look like flowshop:taNNN[?objectives=LIST&weights=LIST] or flowshop:JOBSxMACHINES[@SEED]"),
    ],
)
def test_the_generators_refuse_what_they_cannot_make(spec: str, message: str) -> None:
    assert message in refusal(spec)


# On the command line


def test_instances_are_shown_converted_and_solved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plain, dated = tmp_path / "plain.txt", tmp_path / "dated.txt"
    assert main(["instances", "show", "flowshop:ta031"]) == 0
    assert "flowshop of 50 jobs on 5 machines, objectives makespan" in capsys.readouterr().out
    assert main(["instances", "convert", "flowshop:6x3@4", str(plain)]) == 0
    assert main(["instances", "convert", "flowshop:6x3@4?objectives=makespan,tardiness", str(dated)]) == 0
    assert capsys.readouterr().err == (
        f"systola: wrote flowshop of 6 jobs on 3 machines, objectives makespan to {plain}\n"
        f"systola: wrote flowshop of 6 jobs on 3 machines, objectives makespan, tardiness to {dated}\n"
    )
    assert digest_of(open_instance(str(plain)).problem) == digest_of(uniform(6, 3, 4))
    assert digest_of(open_instance(str(dated)).problem) == digest_of(uniform(6, 3, 4, "makespan,tardiness"))
    for spec, objectives in ((str(plain), int), (f"{dated}?objectives=tardy,makespan,flowtime", list)):
        assert main(["solve", spec, "--iterations", "2", "--backend", "python", "--json"]) == 0
        result = json.loads(capsys.readouterr().out)
        assert isinstance(result["objective"], objectives)
        assert sorted(result["solution"]) == list(range(6))


# The public files


@needs_public
def test_the_published_seeds_and_bounds() -> None:
    """Taillard's lower bounds are ours, and no makespan can be below."""
    rows = rows_of(PUBLIC)
    assert [row["name"] for row in rows] == [f"ta{number:03}" for number in range(1, 121)]
    assert [tuple(int(row[key]) for key in ("jobs", "machines", "time_seed")) for row in rows] == list(SEEDS)
    for number, row in enumerate(rows, 1):
        problem = taillard(number)
        assert problem.bound() == int(row["header_lower_bound"]) <= int(row["best_known"])
        assert problem.narrow


@needs_public
@pytest.mark.parametrize(("name", "first"), [("tai20_10", 11), ("tai50_20", 51), ("tai200_20", 101)])
def test_public_files_of_taillard_are_what_is_generated(name: str, first: int) -> None:
    library = look_up(str(PUBLIC / f"{name}.txt"))  # recognised
    assert isinstance(library, Library)
    assert [part.name for part in library.parts] == [f"ta{number:03}" for number in range(first, first + 10)]
    for number in range(first, first + 10):
        instance = library.choose(f"ta{number:03}")
        assert digest_of(instance.problem) == digest_of(taillard(number))
        assert instance.best_known is None


@needs_public
def test_public_files_of_liefooghe_are_what_is_generated() -> None:
    """Due dates, too, bit for bit."""
    paths = sorted((PUBLIC / "biobj_liefooghe").glob("*.txt"))
    assert len(paths) == 12
    sizes = list(dict.fromkeys(seed[:2] for seed in SEEDS))
    for path in paths:
        instance = open_instance(str(path))  # recognised
        jobs, machines, index = map(int, path.stem.split("_"))
        assert shop(instance).times.shape == (jobs, machines)
        number = 10 * sizes.index((jobs, machines)) + index
        assert digest_of(instance.problem) == digest_of(taillard(number, "makespan,tardiness"))
        assert digest_of(read_liefooghe(path, "tardy").problem) == digest_of(taillard(number, "tardy"))
