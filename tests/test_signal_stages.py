"""A signal ends every command well while it starts and while it saves, too; `test_signals.py` has the other stages."""

import json
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import pytest

import systola as sy
from processes import allowed_seconds, begin, each_signal, end, finish, wait_for, wait_for_stage

# To measure these takes long: a population takes seconds.
SLOW = ["solve", "qap:grid-20x20", "--algorithm"]
INTERPRETED = ["solve", "qap:grid-8x8", "--backend", "python", "--algorithm"]
QUICK = ["solve", "gap:c-3x20", "--algorithm", "ssga"]


@each_signal(signal.SIGTERM)
def test_while_the_first_population_is_made(number, tmp_path):
    path, output = tmp_path / "state", tmp_path / "result.json"
    process = begin(*SLOW, "memetic", "--set", "size=12000", "--checkpoint", path, "--output", output)
    wait_for_stage(process, "starting")
    code, out, err, took = end(process, number)
    assert (code, err) == (3, "")
    assert took < allowed_seconds()
    found = sy.Result.load(output)
    assert (found.stop, found.iterations) == ("interrupted", 0)
    assert 0 < found.evaluations < 12000
    assert f"{found.objective:,}" in out
    assert not path.exists()  # there was no whole step


@pytest.mark.parametrize(
    ("slow", "size"),
    [(INTERPRETED, 150), pytest.param(SLOW, 1500, marks=pytest.mark.long)],
    ids=["interpreted", "compiled"],
)
@each_signal(signal.SIGTERM)
def test_while_the_first_populations_of_demes_are_made(number, slow, size, tmp_path):
    path, output = tmp_path / "state", tmp_path / "result.json"
    process = begin(*slow, "ssga", "--set", f"size={size}", "--islands", 8, "--checkpoint", path, "--output", output)
    wait_for_stage(process, "starting")
    code, out, err, took = end(process, number)
    assert code == 3
    assert "Traceback" not in err
    assert took < allowed_seconds()
    found = sy.Result.load(output)
    assert (found.stop, found.iterations) == ("interrupted", 0)
    assert size <= found.evaluations < 8 * size
    assert f"{found.objective:,}" in out
    assert not (path / "manifest.json").exists()


@each_signal(signal.SIGHUP)
def test_while_a_checkpoint_is_written(number, tmp_path):
    path = tmp_path / "state"
    command = [*QUICK, "--set", "size=50000", "--json", "--iterations"]
    process = begin(*command, 10**9, "--checkpoint", path, "--checkpoint-every", 0)
    wait_for(process, path.exists)
    wait_for(process, lambda: any(tmp_path.glob(".state.systola-*")), nap=0.001)
    code, out, err, took = end(process, number)
    assert (code, err) == (3, "")
    assert took < allowed_seconds()
    assert [file.name for file in tmp_path.iterdir()] == ["state"]
    facts = json.loads(out)
    more = facts["iterations"] + 100
    resumed = json.loads(finish(*command, more, "--resume", path))
    assert resumed["iterations"] == more
    assert resumed["objective"] <= facts["objective"]


@each_signal(signal.SIGINT)
def test_while_a_checkpoint_of_demes_is_written(number, tmp_path):
    folder = tmp_path / "demes"
    command = [*QUICK, "--set", "size=25000", "--islands", 3, "--json", "--iterations"]
    process = begin(*command, 10**9, "--checkpoint", folder, "--checkpoint-every", 0)
    wait_for(process, (folder / "manifest.json").exists)
    wait_for(process, lambda: any(folder.glob("*/*/.deme-*.systola-*")), nap=0.001)
    code, out, err, took = end(process, number)
    assert (code, err) == (3, "")
    assert took < allowed_seconds()
    assert not [file for file in folder.rglob(".*") if file.is_file()]
    facts = json.loads(out)
    resumed = json.loads(finish(*command, facts["iterations"] + 50, "--resume", folder))
    assert resumed["objective"] <= facts["objective"]


def test_a_film_is_left_out_and_the_answer_is_not(tmp_path):
    """A film needs runs of its own, for which there is no time."""
    path, film = tmp_path / "state", tmp_path / "film.svg"
    command = ["solve", "mmdp:120", "--algorithm", "sgs-b", "--iterations", 10**9, "--json", "--film", film]
    process = begin(*command, "--checkpoint", path, "--checkpoint-every", 0.05)
    wait_for(process, path.exists)
    code, out, err, took = end(process, signal.SIGTERM)
    assert code == 3
    assert took < allowed_seconds()
    assert json.loads(out)["stop"] == "interrupted"
    assert err == f"systola: interrupted: the film {film} is not made\n"


def test_a_measurement_of_speed_ends_between_its_runs(tmp_path):
    program = tmp_path / "bench.py"
    program.write_text(
        "import importlib, sys\n"
        "from systola.cli import main\n"
        "importlib.import_module('systola.cli.bench')._CASES = (('mmdp:120', 'sgs-b', 50),)\n"
        "sys.stderr.write('ready\\n')\n"
        "sys.exit(main())\n"
    )
    process = subprocess.Popen(
        [sys.executable, program, "bench", "--repeat", str(10**6), "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_for_stage(process, "ready")
    time.sleep(1.5)
    code, out, err, took = end(process, signal.SIGTERM)
    assert (code, out) == (3, "")
    assert took < allowed_seconds()
    assert err.strip() == "systola: interrupted"


COMPARE = ["compare", "knapsack:20-100", "--algorithms", "rs,sga", "--set", "size=8", "--runs", 6, "--iterations", 4]


def wait_for_store(process, path):
    """Until a new store is ready for what is to come."""
    wait_for(process, lambda: path.exists() and path.stat().st_size and not path.with_name("s-journal").exists())


def wait_for_transaction(process, path):
    """Until a run is being written."""
    wait_for_store(process, path)
    wait_for(process, path.with_name("s-journal").exists, nap=0.001)


def count_rows(path):
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return connection.execute("SELECT count(*) FROM replications").fetchone()[0]


@each_signal(signal.SIGINT)
def test_while_workers_start(number, tmp_path):
    path = tmp_path / "s"
    process = begin(*COMPARE, "--workers", 2, "--store", path, "--quiet")
    wait_for_store(process, path)
    code, _, err, took = end(process, number)
    assert code == 3, err
    assert took < allowed_seconds()
    assert err.strip().startswith("systola: interrupted")  # with what is stored, if there could be anything yet
    assert "Traceback" not in err
    assert count_rows(path) == 0


@each_signal(signal.SIGTERM)
def test_while_a_run_of_a_comparison_is_stored(number, tmp_path):
    path = tmp_path / "s"
    process = begin(*COMPARE, "--workers", 1, "--store", path, "--quiet", "--json")
    wait_for_transaction(process, path)
    code, out, err, took = end(process, number)
    assert code == 3
    assert took < allowed_seconds()
    rows = count_rows(path)
    assert rows >= 1
    *notes, last = err.splitlines()
    assert last == f"systola: interrupted: {rows} of 12 runs are in {path}; the same command makes the others"
    assert all("ended with an infeasible solution" in line for line in notes)
    kept = json.loads(out)["samples"]["knapsack:20-100"]
    assert sum(map(len, kept.values())) == rows


@pytest.mark.parametrize(
    "paper",
    [
        ["sgs", "--table", 3, "--workers", 1],  # runs in processes of their own
        pytest.param(["mls", "--table", 2, "--threads", 1], marks=pytest.mark.long),  # in this one
    ],
    ids=["sgs", "mls"],
)
@each_signal(signal.SIGHUP)
def test_while_a_run_of_a_reproduction_is_stored(number, paper, tmp_path):
    path = tmp_path / "s"
    process = begin("reproduce", *paper, "--quick", "--store", path, "--quiet")
    wait_for_transaction(process, path)
    code, out, err, took = end(process, number)
    assert (code, out) == (3, "")
    assert took < allowed_seconds()
    assert "\nsystola: interrupted: " in f"\n{err}"
    assert "the same command makes the others" in err
    assert "Traceback" not in err
    count_rows(path)  # it is sound


def test_the_exit_code_is_kept_where_code_is_executed_from_strings(tmp_path):
    """As named tuples and dataclasses are, when a signal comes while modules are imported."""
    (tmp_path / "interrupted.py").write_text(
        "import sys\n"
        "from systola.run.signals import ended_by_signals\n"
        "try:\n"
        "    with ended_by_signals(for_good=True):\n"
        "        exec('import os, signal; os.kill(os.getpid(), signal.SIGTERM)\\nwhile True: pass')\n"
        "except KeyboardInterrupt:\n"
        "    sys.exit(3)\n"
    )
    done = subprocess.run([sys.executable, "-m", "interrupted"], cwd=tmp_path, timeout=60, check=False)
    assert done.returncode == 3
