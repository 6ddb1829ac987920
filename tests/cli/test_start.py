"""`systola solve --start`: solutions out of a file."""

import json
from pathlib import Path

import pytest

from conftest import refused
from systola.cli.start import read_start

ROWS = [[1, 0, 1, 0, 0, 0], [0, 0, 0, 0, 1, 1]]
RUN = ["solve", "knapsack:6-10", "--algorithm", "rs", "--set", "size=1", "--iterations", 0, "--backend", "python"]


@pytest.fixture
def call(run_command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return run_command


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(ROWS),
        json.dumps({"solutions": ROWS}),
        json.dumps({"solution": ROWS[0], "pool": [{"solution": row, "objective": 1} for row in ROWS]}),
        json.dumps({"solution": ROWS[0], "front_solutions": ROWS, "front": [[1], [2]]}),
        "1 0 1 0 0 0\n0,0,0,0,1,1\n\n",
    ],
)
def test_forms(tmp_path, text):
    (tmp_path / "start").write_text(text)
    assert read_start(str(tmp_path / "start")) == ROWS


def test_a_run_starts_from_it(call):
    Path("start.txt").write_text("0 0 0 0 0 0\n")
    code, out, _ = call(*RUN, "--start", "start.txt", "--json")
    assert code == 0
    assert json.loads(out)["solution"] == [0] * 6
    call(*RUN, "--output", "first.json")
    first = json.loads(Path("first.json").read_text())
    code, out, _ = call(*RUN, "--seed", 9, "--start", "first.json", "--json")
    assert json.loads(out)["solution"] == first["solution"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "there is none in start"),
        ("1 0 x", "one a line in whole numbers, but got '1 0 x' (start, line 1)"),
        ("[1, 0", "start is not JSON"),
        ("{}", "there is none in start"),
        ("1 0 1", "6"),
        ("0 0 0 0 0 7", "7"),
    ],
)
def test_files_that_are_refused(call, text, told):
    Path("start").write_text(text)
    assert told in refused(call(*RUN, "--start", "start"))
    assert "cannot be read" in refused(call(*RUN, "--start", "nowhere"))
    assert "--start is for a single run" in refused(call("solve", "nrp:5-10", "--sweep", 3, "--start", "start"))
