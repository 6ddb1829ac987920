"""`systola solve --log`: what a run looks like while it goes on, in a file."""

import json

import pytest

from systola.run.log_reading import read_log

SMALL = ["solve", "flowshop:8x3@5", "--algorithm", "ig", "--iterations", "4", "--backend", "python"]


def test_the_log_tells_what_the_answer_tells(run_command, tmp_path):
    path = tmp_path / "run.log"
    code, out, err = run_command(*SMALL, "--json", "--log", path)
    assert (code, err) == (0, "")
    header, *_, end = read_log(path)
    answer = json.loads(out)
    assert (header["instance"], header["algorithm"], header["seed"]) == ("flowshop:8x3@5", "ig", 1)
    assert (end["best"], end["iterations"]) == ([answer["objective"]], 4)
    assert end["drawing"]["caption"] == f"makespan {answer['objective']:,}"
    assert json.loads(run_command(*SMALL, "--json")[1])["solution"] == answer["solution"]


def test_the_best_known_value_is_told(run_command, tmp_path):
    path = tmp_path / "run.log"
    run_command(
        "solve", "knapsack:100-1000", "--algorithm", "rs", "--iterations", "1", "--backend", "python", "--log", path
    )
    assert read_log(path)[0]["known"] == [5676]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--log", "none/run.log"], "`log` must be in a folder that there is"),
        (["--log", "."], "is a folder"),
        (["--log", "other"], "`log` does not write over other files"),
        (["--log", "run.log", "--seeds", "2"], "a log is of one"),
    ],
)
def test_what_is_refused(run_command, tmp_path, monkeypatch, args, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other").write_text("something")
    code, out, err = run_command(*SMALL, *args)
    assert (code, out) == (2, "")
    assert message in err


def test_a_sweep_has_no_log(run_command, tmp_path):
    code, _, err = run_command(
        "solve", "nrp:20-5", "--sweep", "2", "--backend", "python", "--log", tmp_path / "run.log"
    )
    assert code == 2
    assert "--log is for a single run, not for a sweep" in err
