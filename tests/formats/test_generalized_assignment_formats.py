"""Files and generators of generalized assignments: tiny files with each mistake, the public ones, rules by number."""

from __future__ import annotations

import hashlib
import json
import tempfile
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instance_files import refusal, rows_of, written

from conftest import sentence_of
from systola import GeneralizedAssignment, InputError
from systola.cli import main
from systola.formats import Instance, Library, describe, look_up, open_instance
from systola.formats.generalized_assignment import measure, read_numbered, read_single, read_solution, write
from systola.formats.generalized_assignment_generator import KINDS, cheapest_load, generate, own_capacities
from systola.model.problem import digest_of
from systola.model.rng import below, draw

PUBLIC = Path(__file__).parents[3] / "shared" / "instances" / "gap"
needs_public = pytest.mark.skipif(not PUBLIC.is_dir(), reason="the public instances are not here")

COSTS = [[5, -4, 3], [3, 3, 9]]
LOADS = [[1, 2, 1], [2, 0, 2]]
CAPACITIES = [3, 2]
BODY = "2 3\n5 -4 3\n3 3 9\n1 2 1\n2 0 2\n3 2\n"
BEST = "1 0 0\n"  # costs 3 - 4 + 3, loads 3 and 2


def gap(instance: Instance) -> GeneralizedAssignment:
    assert isinstance(instance.problem, GeneralizedAssignment)
    return instance.problem


def data_of(problem: GeneralizedAssignment) -> list[object]:
    return [problem.costs.tolist(), problem.loads.tolist(), problem.capacities.tolist()]


# Files


def test_costs_come_before_loads_and_agents_before_jobs(tmp_path: Path) -> None:
    path = written(tmp_path, BODY, "x10003")
    for instance in (open_instance(str(path)), open_instance(str(path), "gap"), read_single(path)):
        assert data_of(gap(instance)) == [COSTS, LOADS, CAPACITIES]
        assert not gap(instance).maximise
        assert (instance.name, instance.kind, instance.best_known) == ("x10003", "gap", None)
        assert (instance.notes, instance.solution) == ((), None)
        assert instance.source == f"single gap, file {path}"
    assert refusal(f"{path}#1") == "x10003 holds a single problem, but got #1; leave it out"


def test_a_file_of_several_problems(tmp_path: Path) -> None:
    path = written(tmp_path, f"2\n{BODY}1 1 7 0 0")
    library = look_up(str(path))
    assert isinstance(library, Library)
    assert [(facts["agents"], facts["jobs"]) for facts in describe(library)["problems"]] == [(2, 3), (1, 1)]
    first, second = open_instance(f"{path}#1"), open_instance(f"{path}#2", "gap")
    assert data_of(gap(first)) == [COSTS, LOADS, CAPACITIES]
    assert data_of(gap(second)) == [[[7]], [[0]], [0]]
    assert (first.name, first.kind, first.best_known, first.notes) == ("some#1", "gap", None, ())
    assert first.source == f"gap, file {path}, problem 1"


@pytest.mark.parametrize(
    ("name", "maximise"),
    [
        *((f"gap{number}.txt", True) for number in range(1, 13)),
        ("GAP7", True),
        *((f"{name}.txt", False) for name in ("gap0", "gap13", "gap01", "gapa", "gapd", "gap1x", "agap1")),
    ],
)
def test_names_tell_the_sense(tmp_path: Path, name: str, maximise: bool) -> None:
    path = written(tmp_path, f"1 {BODY}", name)
    instance = open_instance(str(path))
    assert gap(instance).maximise == maximise
    assert instance.notes == (
        ("costs are maximised, as the name of the file says; ?sense=min changes it",) if maximise else ()
    )
    for sense in ("min", "max"):
        told = open_instance(f"{path}?sense={sense}")
        assert gap(told).maximise == (sense == "max")
        assert told.notes == ()
    # A single problem is minimised, whatever its name.
    assert not gap(open_instance(str(written(tmp_path, BODY, name)))).maximise


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("sense=maximum", "`sense` must be one of min, max, but got 'maximum'; did you mean 'max'?"),
        ("sense=", "`sense` must be one of min, max, but got ''"),
        ("sens=min", "must be one of sense, but got 'sens'; did you mean 'sense'?"),
    ],
)
def test_options_that_are_none(tmp_path: Path, options: str, message: str) -> None:
    assert message in refusal(f"{written(tmp_path, BODY)}?{options}")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "`agents` must come first, but the file is empty (some.txt)"),
        ("2", "`agents` must be what the rest of the file can hold, but got 2 (some.txt, line 1)"),
        ("0 3\n", "`agents >= 1` must hold, but got 0 (some.txt, line 1)"),
        ("x\n", "`agents` must be a whole number, but got 'x' (some.txt, line 1)"),
        (BODY.replace("2 3", "2 0", 1), "`jobs >= 1` must hold, but got 0 (some.txt, line 1)"),
        (BODY.replace("2 3", "2 99", 1), "`jobs` must be what the rest of the file can hold, but got 99 (some.txt, li"),
        (BODY.replace("-4", "-4.5"), "`cost` must be a whole number, but got '-4.5' (some.txt, line 2)"),
        (BODY.replace("1 2 1", "1 -2 1"), "`load >= 0` must hold, but got -2 (some.txt, line 4)"),
        (BODY.replace("3 2\n", "-3 2\n"), "`capacity >= 0` must hold, but got -3 (some.txt, line 6)"),
        (BODY[:-2], "`capacity` must follow, but the file ends (some.txt, line 6)"),
        (BODY + "1", "the file must end after the capacities, but goes on with '1' (some.txt, line 7)"),
        (
            BODY.replace("2 0 2", "2 9 2").replace("1 2 1", "1 4 1"),
            "each job must fit into the capacity of some agent, but job 2 fits none: its loads begin at 4, the largest "
            "capacity is 3; correct its loads or a capacity (some.txt)",
        ),
        (
            BODY.replace("5 -4", f"{2**61} -4"),
            "the size of fitness must be below 2**62, but with these data could reach ",
        ),
    ],
)
def test_mistakes_in_files_of_one_problem(tmp_path: Path, content: str, message: str) -> None:
    assert sentence_of(read_single, written(tmp_path, content)).startswith(message)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "`problems` must come first, but the file is empty (some.txt)"),
        ("0", "`problems >= 1` must hold, but got 0 (some.txt, line 1)"),
        ("9" * 9, "`problems` must be what the rest of the file can hold, but got 999999999 (some.txt, line 1)"),
        (f"2\n{BODY}", "`agents` must follow, but the file ends (some.txt, line 7)"),
        (f"1\n{BODY}4", "the file must end after the 1 problems, but goes on with '4' (some.txt, line 8)"),
    ],
)
def test_mistakes_in_files_of_several_problems(tmp_path: Path, content: str, message: str) -> None:
    assert sentence_of(read_numbered, written(tmp_path, content)).startswith(message)


def test_a_problem_that_is_none_harms_no_other(tmp_path: Path) -> None:
    path = written(tmp_path, f"2\n1 1 5 9 3\n{BODY}")
    assert data_of(gap(open_instance(f"{path}#2"))) == [COSTS, LOADS, CAPACITIES]
    assert refusal(f"{path}#1").endswith("; correct its loads or a capacity (some.txt#1)")


def test_a_file_that_fits_another_format_too(tmp_path: Path) -> None:
    """One agent, one job; or one item, which is taken."""
    path = written(tmp_path, "1 1\n1 1\n1\n")
    assert "fits single gap and knapPI; name the problem" in refusal(path)
    assert data_of(gap(open_instance(str(path), "gap"))) == [[[1]], [[1]], [1]]
    assert open_instance(str(path), "knapsack").best_known == 1


# Solutions


def test_a_solution_beside(tmp_path: Path) -> None:
    path = written(tmp_path, BODY, "x10003")
    written(tmp_path, BEST, "x10003.sol")
    instance = open_instance(str(path))
    assert (instance.best_known, instance.notes) == (2, ())
    assert instance.solution is not None
    assert instance.solution.tolist() == [1, 0, 0] == read_solution(tmp_path / "x10003.sol", gap(instance)).tolist()
    # It says nothing of the most that can be had.
    profits = open_instance(f"{path}?sense=max")
    assert (profits.best_known, profits.solution, profits.notes) == (None, None, ())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "`agent` must come first, but the file is empty (some.sol)"),
        ("1 0", "`agent` must follow, but the file ends (some.sol, line 1)"),
        ("1 0 0 0", "the file must end after the agents of 3 jobs, but goes on with '0' (some.sol, line 1)"),
        ("1 0 2", "`0 <= agent <= 1` must hold, but got 2 (some.sol, line 1)"),
        ("1 0 -1", "`0 <= agent <= 1` must hold, but got -1 (some.sol, line 1)"),
        ("0 0 0", "a solution must keep all capacities, but this one exceeds them by 1 (some.sol)"),
    ],
)
def test_a_wrong_solution_does_no_harm(tmp_path: Path, content: str, message: str) -> None:
    written(tmp_path, content, "some.sol")
    instance = read_single(written(tmp_path, BODY))
    assert (instance.best_known, instance.solution) == (None, None)
    assert instance.notes == (f"the solution beside it is not used: {message}",)


# Writing


@st.composite
def problems(draw: st.DrawFn) -> GeneralizedAssignment:
    agents, jobs = draw(st.integers(1, 5)), draw(st.integers(1, 6))
    pairs = agents * jobs
    costs = draw(st.lists(st.integers(-(10**9), 10**9), min_size=pairs, max_size=pairs))
    loads = draw(st.lists(st.integers(0, 10**6), min_size=pairs, max_size=pairs))
    capacities = draw(st.lists(st.integers(0, 10**7), min_size=agents, max_size=agents))
    capacities[0] = max(capacities[0], *loads)
    shape = agents, jobs
    return GeneralizedAssignment(np.array(costs).reshape(shape), np.array(loads).reshape(shape), np.array(capacities))


@settings(deadline=None)
@given(problems(), st.data())
def test_what_is_written_is_read(problem: GeneralizedAssignment, data: st.DataObject) -> None:
    agent = st.integers(0, problem.last)
    solution = np.array(data.draw(st.lists(agent, min_size=problem.jobs, max_size=problem.jobs)), np.int32)
    cost, unfitness = measure(problem, solution)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "some"
        write(problem, path)
        plain = open_instance(str(path), "gap")
        assert digest_of(plain.problem) == digest_of(problem)
        assert (plain.best_known, plain.solution, plain.notes) == (None, None, ())
        if unfitness:
            with pytest.raises(InputError, match=f"exceeds them by {unfitness}"):
                write(problem, path, solution)
        else:
            write(problem, path, solution)
            solved = read_single(path)
            assert solved.best_known == cost
            assert solved.solution is not None
            assert solved.solution.tolist() == solution.tolist()


@settings(deadline=None)
@given(problems(), st.data())
def test_numbers_are_read_wherever_lines_end(problem: GeneralizedAssignment, data: st.DataObject) -> None:
    arrays = (np.array(problem.costs.shape), problem.costs, problem.loads, problem.capacities)
    numbers = [number for values in arrays for number in values.ravel().tolist()]
    spaces = st.lists(st.text(" \t\n\r", min_size=1, max_size=4), min_size=len(numbers), max_size=len(numbers))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "some.txt"
        text = "".join(f"{gap}{number}" for gap, number in zip(data.draw(spaces), numbers, strict=True))
        path.write_bytes(text.encode())
        assert digest_of(read_single(path).problem) == digest_of(problem)
        path.write_bytes(f"2{text}{text}".encode())
        for part in ("1", "2"):
            assert digest_of(read_numbered(path).choose(part).problem) == digest_of(problem)


def test_what_is_not_written(tmp_path: Path) -> None:
    problem = GeneralizedAssignment(COSTS, LOADS, CAPACITIES)
    with pytest.raises(InputError, match=r"an instance must not be named \.sol"):
        write(problem, tmp_path / "some.SOL")
    written(tmp_path, BEST, "some.sol")
    with pytest.raises(InputError, match="no solution of another instance must lie beside"):
        write(problem, tmp_path / "some.txt")
    with pytest.raises(InputError, match="0 <= x"):
        write(problem, tmp_path / "one.txt", np.array([0, 5, 0]))
    with pytest.raises(InputError, match="the file must be writable"):
        write(problem, tmp_path / "none" / "one.txt")
    profits = GeneralizedAssignment(COSTS, LOADS, CAPACITIES, maximise=True)
    with pytest.raises(InputError, match="minimised problems only"):
        write(profits, tmp_path / "one.txt", np.array([1, 0, 0]))
    assert [path.name for path in tmp_path.iterdir()] == ["some.sol"]


def test_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, copy = tmp_path / "one", tmp_path / "two.txt"
    written(tmp_path, BODY, "one")
    written(tmp_path, BEST, "one.sol")
    assert main(["instances", "convert", str(path), str(copy)]) == 0
    assert capsys.readouterr().err == f"systola: wrote generalized assignment of 3 jobs to 2 agents to {copy}\n"
    assert (copy.read_text(), (tmp_path / "two.sol").read_text()) == (BODY, BEST)
    assert main(["instances", "show", "gap:b-3x8@2", "--json"]) == 0
    (shown,) = json.loads(capsys.readouterr().out)
    assert (shown["problem"], shown["senses"], shown["decisions"]) == ("gap", ["minimise"], 8)
    for sense, best in (("min", 2), ("max", 17)):
        assert main(["solve", f"{path}?sense={sense}", "--iterations", "20", "--backend", "python", "--json"]) == 0
        result = json.loads(capsys.readouterr().out)
        assert (result["objective"], result["feasible"]) == (best, True)


# Generators


def loads_and_costs(kind: str, m: int, n: int, seed: int) -> tuple[list[list[int]], list[list[int]]]:
    """By the rules, one number after the other."""
    loads, costs = ([[0] * n for _ in range(m)] for _ in range(2))
    for i in range(m):
        for j in range(n):
            first, second = (int(draw(seed, 9, stream, j, i)[0]) for stream in range(2))
            if kind == "e":
                u = Decimal(first + 1) / 2**32
                loads[i][j] = floor(1 - 10 * u.ln())
                v = Fraction(second + 1, 2**32)
                costs[i][j] = max(floor(1000 // loads[i][j] - 10 * v), 0)
            elif kind == "d":
                loads[i][j] = 1 + int(below(first, 100))
                costs[i][j] = 111 - loads[i][j] + int(below(second, 21)) - 10
            else:
                loads[i][j] = 5 + int(below(first, 21))
                costs[i][j] = 10 + int(below(second, 41))
    return loads, costs


@settings(deadline=None)
@given(st.sampled_from(KINDS), st.integers(1, 5), st.integers(1, 9), st.integers(0, 2**64 - 1))
def test_generated_instances_are_drawn_number_by_number(kind: str, m: int, n: int, seed: int) -> None:
    loads, costs = loads_and_costs(kind, m, n, seed)
    if kind in "ab":
        where = [min(range(m), key=lambda i: costs[i][j]) for j in range(n)]
        most = max(sum(loads[i][j] for j in range(n) if where[j] == i) for i in range(m))
        share = Fraction(6, 10) * Fraction(n, m) * 15 + Fraction(4, 10) * most
        capacities = [floor(share if kind == "a" else Fraction(7, 10) * share)] * m
    else:
        capacities = [max(floor(Fraction(8, 10) * sum(row) / m), *row) for row in loads]
    if any(all(loads[i][j] > capacities[i] for i in range(m)) for j in range(n)):
        assert kind in "ab"
        with pytest.raises(InputError, match=rf"\(type {kind}, {m} agents, {n} jobs, seed {seed}\)$"):
            generate(kind, m, n, seed)
        return
    problem = generate(kind, m, n, seed)
    assert data_of(problem) == [costs, loads, capacities]
    assert not problem.maximise


def test_generated_data_fill_their_ranges() -> None:
    a, d, e = (generate(kind, 20, 2000, 3) for kind in "ade")
    assert (a.loads.min(), a.loads.max(), a.costs.min(), a.costs.max()) == (5, 25, 10, 50)
    assert (d.loads.min(), d.loads.max()) == (1, 100)
    assert ((d.costs + d.loads).min(), (d.costs + d.loads).max()) == (101, 121)
    # A tenth part of what is left is gone with each unit of load: the mean is that of a geometric distribution.
    assert abs(e.loads.mean() - 1 / (1 - np.exp(-0.1))) < 0.1
    light = e.costs[e.loads == 1]
    assert (light.min(), light.max()) == (990, 999)


def test_generated_instances_stay_what_they_are() -> None:
    problem = generate("e", 2, 4, 7)
    assert data_of(problem) == [[[994, 193, 494, 77], [107, 499, 122, 141]], [[1, 5, 2, 12], [9, 2, 8, 7]], [12, 10]]
    again = open_instance("gap:e-2x4@7")
    assert (again.name, again.kind, again.best_known) == ("gap:e-2x4@7", "gap", None)
    assert digest_of(again.problem) == digest_of(problem)
    assert digest_of(open_instance("gap:e-2x4").problem) == digest_of(generate("e", 2, 4, 1)) != digest_of(problem)
    large = generate("e", 20, 400, 3)
    digest = hashlib.sha256(np.concatenate([large.costs, large.loads]).astype("<i8").tobytes()).hexdigest()
    assert digest[:16] == "8fc857174ec929c4"


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("gap:f-5x100", "`type` must be one of a, b, c, d, e, but got 'f'"),
        ("gap:A-5x100", "must look like gap:TYPE-AGENTSxJOBS[@SEED], but got 'gap:A-5x100'"),
        ("gap:5x100", "must look like gap:TYPE-AGENTSxJOBS[@SEED], but got 'gap:5x100'"),
        ("gap:c-0x100", "`agents >= 1` must hold, but got 0"),
        ("gap:c-5x0", "`jobs >= 1` must hold, but got 0"),
        ("gap:c-10000x10000", "`agents * jobs <= 10000000` must hold, but got 10000 * 10000"),
        ("gap:c-5x5@x", "a seed must be a whole number after @, but got 'x'"),
        ("gap:c-5x5?sense=max", "gap: takes no options, but got 'sense'"),
        ("gap:a-3x1@4", "fits none: its loads begin at "),
    ],
)
def test_the_generator_refuses_what_it_cannot_make(spec: str, message: str) -> None:
    assert message in refusal(spec)


def test_the_generator_checks_its_arguments() -> None:
    with pytest.raises(InputError, match="`kind` must be one of a, b, c, d, e, but got 'ab'"):
        generate("ab", 3, 3)
    with pytest.raises(InputError, match="seed"):
        generate("a", 3, 3, -1)


# The public files


@needs_public
@pytest.mark.parametrize("row", rows_of(PUBLIC), ids=lambda row: row["name"])
def test_public_instances(row: dict[str, str]) -> None:
    """Recognised, of the right size and sense, with the best known cost if a solution lies beside."""
    name, mark, part = row["name"].partition("-")
    path = PUBLIC / (f"{name}.txt" if mark else name)
    instance = open_instance(f"{path}#{part}" if mark else str(path), "gap" if path.stat().st_size > 10**6 else None)
    problem = gap(instance)
    assert problem.costs.shape == (int(row["agents"]), int(row["jobs"]))
    assert problem.maximise == (row["sense"] == "max")
    best = int(row["best_known"])
    bound = problem.bound()
    if mark:
        assert instance.best_known is None
        assert best <= bound
        return
    if (PUBLIC / f"{name}.sol").exists():
        assert instance.best_known == best
        assert measure(problem, instance.solution) == (best, 0)
    else:
        assert (instance.best_known, instance.solution) == (None, None)
    assert ceil(0.99 * best) <= bound <= best


@needs_public
def test_public_files_keep_the_rules_of_their_types() -> None:
    """The rounding, too."""
    for path in sorted(PUBLIC.iterdir()):
        if path.suffix or path.stat().st_size > 10**6:
            continue
        problem = gap(read_single(path))
        kind = path.name[0]
        assert problem.capacities.tolist() == own_capacities(problem.loads).tolist()
        costs, loads = problem.costs, problem.loads
        if kind == "d":
            assert ((costs + loads).min(), (costs + loads).max()) == (101, 121)
        if kind == "e":  # with a number from 0 to 10 instead of 1 to 10, but 0 is rare
            less = 1000 // loads - costs
            assert (less.min(), less.max()) == (0, 10)
            assert (less == 0).mean() < 0.02
    for part in read_numbered(PUBLIC / "gapa.txt").parts:
        problem = part.make()
        assert isinstance(problem, GeneralizedAssignment)
        agents, jobs = problem.costs.shape
        share = Fraction(9 * jobs, agents) + Fraction(2, 5) * cheapest_load(problem.costs, problem.loads)
        assert problem.capacities.tolist() == [floor(share)] * agents


@needs_public
def test_files_of_several_problems_have_those_of_single_ones() -> None:
    library = read_numbered(PUBLIC / "gapd.txt")
    assert [tuple(part.sizes.values()) for part in library.parts] == [
        (agents, jobs) for agents in (5, 10, 20) for jobs in (100, 200)
    ]
    for number, name in ((1, "d05100"), (3, "d10100"), (6, "d20200")):
        assert digest_of(library.choose(str(number)).problem) == digest_of(read_single(PUBLIC / name).problem)
