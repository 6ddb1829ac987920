"""Results to JSON and back, to files and back, and what is no result."""

import dataclasses
import errno
import json
import os
from pathlib import Path

import numpy as np
import pytest

import systola as sy
from conftest import Balance, small_knapsack, small_release, story

PROBLEMS = {
    "integer": small_knapsack(),
    "float": Balance(np.random.default_rng(5).random(33)),
    "two objectives": small_release(),
}


def solve(problem):
    return sy.solve(problem, sy.SGA(size=10), stop=sy.Iterations(20), seed=3, instance="small ± one")


@pytest.fixture(scope="module")
def result():
    return solve(PROBLEMS["integer"])


@pytest.fixture
def data(result):
    return json.loads(json.dumps(result.to_json()))


@pytest.mark.parametrize("name", PROBLEMS)
def test_there_and_back(name, tmp_path):
    first = solve(PROBLEMS[name])
    first.save(tmp_path / "result.json")
    for second in (
        sy.Result.from_json(json.loads(json.dumps(first.to_json()))),
        sy.Result.load(tmp_path / "result.json"),
        sy.Result.load(str(tmp_path / "result.json")),
    ):
        assert story(second) == story(first)
        assert second.to_json() == first.to_json()
        assert type(second.objective) is type(first.objective)
        for field in dataclasses.fields(sy.Result):
            if field.name != "solution":
                assert getattr(second, field.name) == getattr(first, field.name), field.name


def test_json_is_plain_and_strict(data, result):
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert data["schema"] == 1
    assert data["solution"] == result.solution.tolist()
    assert set(data["solution"]) <= {0, 1}


def test_a_result_can_be_repeated(data):
    again = sy.Result.from_json(data)
    engine = {"sga": sy.SGA}[again.algorithm](**again.parameters)
    repeated = sy.solve(PROBLEMS["integer"], engine, stop=sy.Stop(**again.limits), seed=again.seed)
    assert story(repeated) == story(again)
    assert repeated.digest == again.digest
    assert {"python", "numpy", "numba"} <= set(again.versions)
    assert again.version == sy.__version__


def test_arrays_among_the_parameters(tmp_path):
    turn = np.arange(16).reshape(2, 8)
    first = sy.solve(small_knapsack(), sy.SGS("V", length=8, width=2, mutation_plan=turn), stop=sy.Iterations(5))
    first.save(tmp_path / "r.json")
    again = sy.Result.load(tmp_path / "r.json")
    assert again.parameters["mutation_plan"] == turn.tolist()
    repeated = sy.solve(small_knapsack(), sy.SGS(**again.parameters), stop=sy.Iterations(5))
    assert story(repeated) == story(first)


@pytest.mark.parametrize("schema", [0, 2, "1", None, [1]])
def test_another_schema_is_refused(data, schema):
    with pytest.raises(sy.InputError, match="schema 1"):
        sy.Result.from_json({**data, "schema": schema})


def test_no_schema_is_refused(data):
    del data["schema"]
    with pytest.raises(sy.InputError, match="schema"):
        sy.Result.from_json(data)


REQUIRED = [f.name for f in dataclasses.fields(sy.Result) if f.default is f.default_factory is dataclasses.MISSING]


@pytest.mark.parametrize("key", REQUIRED)
def test_a_missing_key_is_named(data, key):
    del data[key]
    with pytest.raises(sy.InputError, match=key):
        sy.Result.from_json(data)


@pytest.mark.parametrize("key", ["stride", "step", "seconds"])
def test_a_missing_column_of_the_trace_is_named(data, key):
    del data["trace"][key]
    with pytest.raises(sy.InputError, match=key):
        sy.Result.from_json(data)


@pytest.mark.parametrize(
    "change",
    [{"colour": "red"}, {"trace": 5}, {"trace": {}}, {"trace": None}, {"solution": [[1], [1, 2]]}],
    ids=repr,
)
def test_what_does_not_fit_is_refused(data, change):
    with pytest.raises(sy.InputError, match="not a complete result"):
        sy.Result.from_json({**data, **change})


def test_columns_of_different_length_are_refused(data):
    data["trace"]["step"].pop()
    with pytest.raises(sy.InputError, match="not a complete result"):
        sy.Result.from_json(data)


def test_loading_does_not_change_the_data(data):
    before = json.dumps(data)
    sy.Result.from_json(data)
    assert json.dumps(data) == before


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "JSON"),
        (b"{", "JSON"),
        (b"dear diary", "JSON"),
        (b"\xff\xfe\x00", "JSON"),
        (b"[1, 2]", "does not hold a result"),
        (b"17", "does not hold a result"),
        (b"{}", "schema"),
    ],
)
def test_files_that_hold_no_result(tmp_path, content, message):
    path = tmp_path / "other.json"
    path.write_bytes(content)
    with pytest.raises(sy.InputError, match=message):
        sy.Result.load(path)


def test_a_truncated_file(result, tmp_path):
    path = tmp_path / "result.json"
    result.save(path)
    whole = path.read_bytes()
    for length in range(0, len(whole) - 2, 97):
        path.write_bytes(whole[:length])
        with pytest.raises(sy.InputError, match=r"result\.json"):
            sy.Result.load(path)


def test_paths_that_cannot_be_read_or_written(result, tmp_path):
    for path, why in ((tmp_path / "no" / "r.json", os.strerror(errno.ENOENT)), (tmp_path, os.strerror(errno.EISDIR))):
        with pytest.raises(sy.InputError, match=f"cannot read.*{why}"):
            sy.Result.load(path)
        with pytest.raises(sy.InputError, match=f"cannot write.*{why}"):
            result.save(path)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk(result):
    with pytest.raises(sy.InputError, match=os.strerror(errno.ENOSPC)):
        result.save("/dev/full")


def test_a_failed_save_keeps_the_old_file(result, tmp_path):
    resource = pytest.importorskip("resource")
    path = tmp_path / "result.json"
    result.save(path)
    before = path.read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))  # stands for a disk with 100 bytes left
    try:
        with pytest.raises(sy.InputError, match="cannot write"):
            result.save(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_bytes() == before


def test_a_result_tells_its_worth_in_a_line(result):
    assert repr(result) == f"<Result: {result.objective:,}, sga, {result.seconds:.2f} s, stop: iterations>"
    worse = dataclasses.replace(result, feasible=False, violation=2.5)
    assert repr(worse).startswith(f"<Result: {result.objective:,} (infeasible by 2.5), ")
    near = dataclasses.replace(result, objective=[3, 4.25], gap=0.01)
    assert repr(near).startswith("<Result: 3 / 4.25 (gap 1.000%), ")


@pytest.mark.parametrize(("threads", "told"), [(1, "cpu, 1 thread"), (2, "cpu, 2 threads")])
def test_a_summary_counts_threads_as_people_do(result, threads, told):
    summary = dataclasses.replace(result, threads=threads).summary()
    assert [line for line in summary.splitlines() if line.endswith(told)]


def test_a_summary_has_a_line_for_all_that_is_known(result):
    lines = dict(line.split(None, 1) for line in result.summary().replace("found at", "found_at").splitlines())
    assert set(lines) == {"instance", "objective", "algorithm", "found_at", "time", "repeatable"}
    full = dataclasses.replace(result, bound=12345, front=[[1, 2]], notes=["one", "two"], repeatable=False).summary()
    assert "bound       12,345" in full
    assert "front       1 solutions" in full
    assert "notes       one; two" in full
    assert "repeatable  no" in full
