"""`systola solve`: what it prints, what it refuses and how, and its exit codes."""

import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

import systola as sy
from conftest import changed, small_knapsack
from systola.formats import Instance, catalog
from systola.formats.source import Source

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SMALL = ["knapsack:100-1000", "--set", "length=20", "--set", "width=3"]
PROMISED = {
    *("instance", "problem", "algorithm", "seed", "objective", "feasible"),
    *("evaluations", "iterations", "seconds", "stop", "solution", "version"),
}


@pytest.fixture
def call(run_command):
    """Run `systola solve` here; gives exit code, standard output and standard error."""
    return partial(run_command, "solve")


@pytest.fixture
def solve(call):
    """Run `systola solve --json`, which must end well; gives the facts that do not depend on the clock."""

    def solve(*args):
        code, out, err = call(*args, "--json")
        facts = json.loads(out)
        assert (code, err == "") == ((0, True) if facts["feasible"] else (5, False))
        for name in ("seconds", "compile_seconds", "threads"):
            del facts[name]
        del facts["trace"]["seconds"]
        return facts

    return solve


def refused(outcome):
    """The sentence of a command that ended with exit code 2, without a result and without a traceback."""
    code, out, err = outcome
    assert code == 2
    assert out == ""
    assert "Traceback" not in err
    return err


# What it prints


def test_json_has_what_is_promised(call):
    code, out, err = call(*SMALL, "--iterations", 5, "--seed", 9, "--json")
    facts = json.loads(out)
    assert (code, facts["feasible"]) == (5, False)
    assert "no feasible solution" in err
    assert set(facts) >= PROMISED
    assert (facts["instance"], facts["problem"], facts["algorithm"]) == ("knapsack:100-1000", "Knapsack", "sgs-b")
    assert (facts["seed"], facts["iterations"], facts["evaluations"]) == (9, 5, 720)
    assert (facts["stop"], facts["version"]) == ("iterations", sy.__version__)
    assert len(facts["solution"]) == 100
    problem = catalog.open_instance("knapsack:100-1000").problem
    assert facts["objective"] == int(problem.profits @ facts["solution"])
    assert facts["feasible"] == (problem.weights @ facts["solution"] <= problem.capacity)


def test_objectives_of_a_pair_are_a_list(solve):
    facts = solve("nrp:10-20?weight=0.3", "--iterations", 5, "--algorithm", "sga", "--set", "size=10")
    assert [type(value) for value in facts["objective"]] == [int, int]


def test_text_for_people(call):
    code, out, _ = call("knapsack:100-1000", "--target", 5676)
    assert code == 0
    assert "5,676  the best known value" in out
    assert "stop: target" in out
    assert "chosen" in out
    code, out, _ = call("knapsack:100-1000", "--iterations", 0)
    assert code == 5
    assert "infeasible by" in out


def test_progress_goes_to_standard_error(call):
    _, out, err = call(*SMALL, "--iterations", 5)
    assert "compiling" in err
    assert "compiling" not in out
    assert call("mmdp:120", "--iterations", 5, "--quiet")[2] == ""


def test_output(call, solve, tmp_path):
    path = tmp_path / "result.json"
    facts = solve(*SMALL, "--iterations", 5, "--output", path)
    saved = sy.Result.load(path)
    assert (saved.objective, saved.seed) == (facts["objective"], 1)
    assert saved.solution.tolist() == facts["solution"]


@pytest.mark.parametrize("where", ["no/result.json", "."])
def test_output_that_cannot_be_written(call, tmp_path, where):
    code, out, err = call(*SMALL, "--iterations", 5, "--output", tmp_path / where, "--json")
    assert code == 2
    assert json.loads(out)["iterations"] == 5  # printed all the same
    assert err.startswith("systola: cannot write the result")


def test_a_checkpoint_that_cannot_be_written(call, tmp_path):
    code, out, err = call(*SMALL, "--iterations", 5, "--checkpoint", tmp_path / "no" / "c", "--json")
    assert code == 2
    assert json.loads(out)["iterations"] == 5
    assert err.startswith("systola: checkpoint ")


def test_checkpoint_and_resume(solve, tmp_path):
    path = tmp_path / "run.checkpoint"
    solve(*SMALL, "--iterations", 11, "--checkpoint", path)
    resumed = solve(*SMALL, "--iterations", 30, "--resume", path)
    assert resumed == solve(*SMALL, "--iterations", 30)


def test_resuming_another_run_is_refused(call, solve, tmp_path):
    path = tmp_path / "run.checkpoint"
    solve(*SMALL, "--iterations", 11, "--checkpoint", path)
    err = refused(call(*SMALL, "--iterations", 30, "--resume", path, "--seed", 2))
    assert "its seed is 1, this run has 2" in err


def test_parameters_by_name(solve):
    facts = solve(
        "knapsack:100-1000",
        "--algorithm",
        "sga",
        "--set",
        "size=12",
        "--set",
        "crossover_probability=0.5",
        "--iterations",
        3,
    )
    assert facts["parameters"] == {"size": 12, "crossover_probability": 0.5}
    assert facts["evaluations"] == 48


def test_interpreted(solve):
    run = [*SMALL, "--iterations", 2]
    compiled, interpreted = solve(*run), solve(*run, "--backend", "python")
    assert (compiled.pop("backend"), interpreted.pop("backend")) == ("cpu", "python")
    assert interpreted == compiled


SWEEP = ["nrp:10-20", "--algorithm", "sga", "--set", "size=20", "--iterations", 5, "--sweep", 3]


def test_a_sweep_over_weights(call, solve):
    code, out, err = call(*SWEEP, "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert [result["weight"] for result in found["results"]] == [0, 0.5, 1]
    alone = solve("nrp:10-20?weight=0.5", *SWEEP[1:-2])
    assert found["results"][1]["solution"] == alone["solution"]
    objectives = [result["objective"] for result in found["results"]]
    assert found["front"]
    assert all(point in objectives for point in found["front"])
    code, out, _ = call(*SWEEP, "--quiet")
    assert code == 0
    assert len(out.splitlines()) == 4
    assert "at least 2 weights" in refused(call(*SWEEP[:-1], 1, "--quiet"))
    assert "a problem with several objectives" in refused(call("knapsack:100-1000", "--sweep", 3, "--quiet"))


@pytest.mark.parametrize("option", ["--output", "--checkpoint", "--backend", "0"])
def test_a_sweep_heeds_its_options(call, tmp_path, option):
    if option == "0":
        refused(call(*SWEEP[:-1], 0))  # now a single run
    elif option == "--backend":
        _, out, _ = call(*SWEEP, "--json", "--backend", "python")
        assert {result["backend"] for result in json.loads(out)["results"]} == {"python"}
    else:
        path = tmp_path / "file"
        code, _, _ = call(*SWEEP, option, path)
        assert code == 2 or path.exists()


def test_a_failed_check_has_its_own_exit_code(call, monkeypatch):
    class Wrong(sy.Knapsack):
        def wrong(self, x, row, i, state):
            state[0] += 1
            state[1] = 0

        capabilities = changed(sy.Knapsack, sy.Flips, flip=wrong)

    right = small_knapsack()
    problem = Wrong(right.profits, right.weights, right.capacity)
    monkeypatch.setattr(Source, "open", lambda self: Instance("wrong", problem, None, ""))
    code, out, err = call("wrong", "--algorithm", "sga", "--set", "size=10", "--backend", "python", "--iterations", 9)
    assert (code, out) == (4, "")
    assert "one of its capabilities is wrong" in err


# Configuration


@pytest.mark.parametrize(
    "args",
    [
        ["knapsack:100-1000", "--iterations", "4"],
        ["knapsack:100-1000", "--algorithm", "sga", "--seed", "7", "--set", "size=30", "--evaluations", "200"],
        [*SMALL, "--target", "2500.5", "--stall", "50", "--iterations", "100", "--threads", "1"],
        ["nrp:10-20@3?weight=0.3", "--algorithm", "ega", "--set", "size=9", "--iterations", "3"],
        ["knapsack:4-10", "--set", "length=2", "--set", "width=2", "--set", "mutation_plan=[[0, 1], [2, 3]]"],
    ],
    ids=lambda args: " ".join(args)[:40],
)
def test_the_printed_configuration_repeats_the_run(call, solve, tmp_path, args):
    code, out, err = call(*args, "--print-config")
    assert (code, err) == (0, "")
    assert tomllib.loads(out)["instance"] == args[0]
    path = tmp_path / "run.toml"
    path.write_text(out)
    assert solve("--config", path) == solve(*args)
    assert call("--config", path, "--print-config")[1] == out


def test_options_override_the_configuration(solve, tmp_path):
    path = tmp_path / "run.toml"
    path.write_text(
        'instance = "mmdp:60"\nalgorithm = "rs"\nseed = 5\n[stop]\niterations = 9\n[parameters]\nsize = 7\n'
    )
    facts = solve("knapsack:100-1000", "--config", path, "--iterations", 2, "--set", "size=8")
    assert (facts["instance"], facts["algorithm"], facts["seed"]) == ("knapsack:100-1000", "rs", 5)
    assert (facts["iterations"], facts["parameters"]) == (2, {"size": 8, "sampling": "constructed"})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("algoritm = 'sga'", "unknown key 'algoritm'"),
        (
            "algorithm = 'sga'\n[parameters]\ncrossover = 0.5",
            "of sga is called 'crossover_probability' now; write that",
        ),
        ("[islands]\nholding = 0.5", "'holding' in [islands] is called 'export_probability' now; write that"),
        ("[stop]\nsecnds = 3", "[stop] has an unknown key 'secnds'"),
        ("[parameters]\nlenght = 3", "did you mean 'length'?"),
        ("stop = 5", "[stop] must be a table"),
        ("seed = 'x'", "`seed` must be a whole number"),
        ("backend = 'gpu'", "cpu, cuda or python"),
        ("[stop]\nevaluations = 'many'", "`evaluations >= 0` must hold"),
        ("x =", "is not TOML"),
        ("\x00", "is not TOML"),
        pytest.param("algoritm = 'sga'", "did you mean 'algorithm'?"),
        pytest.param("parameters = 5", "[parameters] must be a table"),
        pytest.param("threads = '2'", "threads"),
        pytest.param("algorithm = 5", "algorithm"),
        pytest.param("problem = 5", "problem"),
        pytest.param("[stop]\ntarget = 'best'", "target"),
    ],
)
def test_bad_configurations(call, tmp_path, content, message):
    path = tmp_path / "run.toml"
    path.write_text(content)
    assert message in refused(call("knapsack:100-1000", "--config", path, "--iterations", 2))


def test_a_configured_instance_must_be_a_name(call, tmp_path):
    path = tmp_path / "run.toml"
    path.write_text("instance = 5")
    assert "instance" in refused(call("--config", path))


def test_a_configuration_that_cannot_be_read(call, tmp_path):
    assert os.strerror(2) in refused(call("--config", tmp_path / "none.toml"))
    assert "Is a directory" in refused(call("--config", tmp_path))
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    assert "is not TOML" in refused(call("--config", tmp_path / "binary"))


# Bad usage


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([], "an instance is needed"),
        (["knapsack:100-1000", "--secnds", "3"], "--seconds"),
        (["knapsack:100-1000", "--seed"], "requires an argument"),
        (["knapsack:100-1000", "--seed", "x"], "not a valid integer"),
        (["knapsack:100-1000", "mmdp:60"], "unexpected extra argument"),
        (["knapsack:100-1000", "--backend", "gpu"], "gpu"),
        (["knapsack:100-1000", "--algorithm", "sgsb"], "did you mean 'sgs-b'?"),
        (["knapsack:100-1000", "--set", "lenght=3"], "did you mean 'length'?"),
        (["knapsack:100-1000", "--set", "length"], "--set needs key=value, but got 'length'"),
        (["knapsack:100-1000", "--set", "=3"], "--set needs key=value"),
        (["knapsack:100-1000", "--set", "length=0"], "1 <= length <= 1000000"),
        (["knapsack:100-1000", "--set", "flavour=T"], "no parameter 'flavour'"),
        (["knapsack:100-1000", "--seed", "-1"], "0 <= seed < 2**64"),
        (["knapsack:100-1000", "--seed", str(2**64)], "0 <= seed < 2**64"),
        (["knapsack:100-1000", "--threads", "0"], "threads"),
        (["knapsack:100-1000", "--iterations", "-1"], "`iterations >= 0` must hold"),
        (["knapsack:100-1000", "--seconds", "nan"], "`seconds >= 0` must hold"),
        (["knapsack:100-1000", "--target", "nan"], "the target must be a number"),
        (["knapsack:100-1000", "--problem", "knapsak"], "did you mean 'knapsack'?"),
        (["knapsack:100-1000", "--problem", "nrp"], "makes a knapsack"),
        (["knapsak:100-1000"], "did you mean 'knapsack'?"),
        (["knapsack:99999999999-1000"], "`1 <= items <= 1000000` must hold"),
        (["mmdp:7"], "multiple of 6"),
        (["missing.txt"], "there is none at 'missing.txt'"),
        (["."], "is a directory"),
        (["knapsack:100-1000", "--resume", "missing"], "cannot read the checkpoint missing"),
        (["knapsack:100-1000", "--set", "length=abc"], "`length` must be"),
        (["knapsack:100-1000", "--algorithm", "sga", "--set", "size=2.5"], "`size` must be"),
        (
            ["knapsack:100-1000", "--algorithm", "sga", "--set", "crossover_probability=abc"],
            "`crossover_probability` must be",
        ),
        (["knapsack:100-1000", "--algorithm", "rs", "--set", "size=abc"], "`size` must be"),
        pytest.param(["knapsack:100-1000", "--set", "crossover_plan=0.5"], "crossover"),
        *(
            pytest.param(
                ["knapsack:100-1000", "--iterations", "1", "--checkpoint", "c", "--checkpoint-every", value],
                "checkpoint",
            )
            for value in ("-1", "nan")
        ),
    ],
    ids=lambda value: " ".join(value)[-40:] if isinstance(value, list) else "",
)
def test_bad_usage(call, tmp_path, monkeypatch, args, message):
    monkeypatch.chdir(tmp_path)
    assert message in refused(call(*args))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b" \n\n", "the file is empty"),
        (b"3 10\n5 4\n6 5\n7", "`weight` must follow, but the file ends (items.txt, line 4)"),
        (b"3 10\n5 4\n6", "`items` must be what the rest of the file can hold"),
        (b"3 -10\n5 4\n6 5\n7 6\n", "`capacity >= 0` must hold, but got -10 (items.txt, line 1)"),
        (b"3 10\n5 4\n6 -5\n7 6\n", "`weight >= 0` must hold, but got -5 (items.txt, line 3)"),
        (b"3 10\n5 4\n6 five\n7 6\n", "`weight` must be a whole number, but got 'five' (items.txt, line 3)"),
        (b"3 10\n5 4\n6 nan\n7 6\n", "`weight` must be a whole number, but got 'nan'"),
        (b"99999999999 10\n5 4\n", "`items` must be what the rest of the file can hold, but got 99999999999"),
        (b"3 10\n5 4\n6 99999999999999999999\n7 6\n", "`weight` must fit into 64 bits"),
        (b"3 10\n5 4\n6 5\n7 6\n0 1\n", "`decision` must follow"),
        (b"3 10\n5 4\n6 5\n7 6\n1 1 1\n", "must weigh at most 10"),
        (b"3 10\n5 4\n6 5\n7 6\n0 1 0 7\n", "must end after"),
        (b"\x89PNG\r\n\x1a\n\0", "must be text"),
        (b"0 10\n", "`items >= 1` must hold"),
    ],
    ids=lambda value: value[:30].decode("latin-1") if isinstance(value, bytes) else "",
)
@pytest.mark.parametrize("named", [[], ["--problem", "knapsack"]], ids=["recognised", "named"])
def test_bad_files(call, tmp_path, content, message, named):
    path = tmp_path / "items.txt"
    path.write_bytes(content)
    err = refused(call(path, *named))
    if not named and message not in err:  # what is wrong with every format would be a page
        message = "items.txt has none of the known formats; add --problem NAME to learn why"
        assert err.count("\n") == 1
    assert message in err


def test_a_file(solve, tmp_path):
    path = tmp_path / "items.txt"
    path.write_text("3 10\n5 4\n6 5\n7 6\n")
    facts = solve(path)
    assert (facts["instance"], facts["objective"], facts["solution"]) == ("items", 12, [1, 0, 1])


# Processes

SCRIPT = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # also where the parent ignores it
from systola.cli import main
sys.exit(main(sys.argv[1:]))
"""


def begin(*args, **rest):
    command = [sys.executable, "-c", SCRIPT, "solve", *map(str, args)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **rest)


def interrupt(process):
    try:
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    finally:
        process.kill()
        process.wait()
    return process.returncode, out, err


def wait_for(happened):
    deadline = time.monotonic() + 90
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_interrupted_with_json(tmp_path):
    path = tmp_path / "run.checkpoint"
    endless = ["knapsack:500-1000", "--iterations", 10**9, "--json"]
    process = begin(*endless, "--checkpoint", path, "--checkpoint-every", 0.01)
    wait_for(lambda: path.exists() or process.poll() is not None)
    code, out, err = interrupt(process)
    facts = json.loads(out)
    assert (code, err == "") == (3, facts["feasible"])
    assert facts["stop"] == "interrupted"
    assert 0 < facts["iterations"] < 10**9
    problem = catalog.open_instance("knapsack:500-1000").problem
    assert facts["objective"] == int(problem.profits @ facts["solution"])


def test_interrupted_with_text():
    process = begin("knapsack:500-1000", "--iterations", 10**9)
    assert "compiling" in process.stderr.readline()
    assert "running" in process.stderr.readline()
    code, out, err = interrupt(process)
    assert code == 3
    assert "objective" in out
    assert "stop: interrupted" in out
    assert "Traceback" not in err


def test_interrupted_while_compiling(tmp_path):
    process = begin("knapsack:500-1000", env={**os.environ, "SYSTOLA_CACHE_DIR": str(tmp_path)})
    assert "compiling" in process.stderr.readline()
    code, out, err = interrupt(process)
    assert (code, out) == (3, ""), err
    assert "Traceback" not in err


def test_exit_codes_of_the_process(tmp_path):
    def code(*args):
        command = [sys.executable, "-m", "systola", *map(str, args)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=90, check=False)
        assert "Traceback" not in done.stderr
        return done.returncode

    assert code("solve", "mmdp:120", "--iterations", 2, "--json") == 0
    assert code("solve", "mmdp:120", "--algorithm", "sa", "--evaluations", 4, "--json") == 0  # with a note
    assert code("solve", *SMALL, "--iterations", 2, "--json") == 5
    assert code("solve", "missing.txt") == 2
    assert code("solve", *SMALL, "--iterations", 2, "--output", tmp_path) == 2
    assert code("solve", "--frobnicate") == 2
    assert code("--version") == 0


def test_a_closed_pipe_is_no_error():
    command = f"{sys.executable} -m systola instances generate | true"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60, check=False)
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_for_the_output(call):
    code, out, err = call(*SMALL, "--iterations", 2, "--output", "/dev/full", "--json")
    assert code == 2
    assert json.loads(out)["iterations"] == 2
    assert "No space left" in err


@pytest.mark.long
def test_workers_change_nothing(solve, tmp_path):
    """Nor does a configuration that says the same."""
    facts = solve("knapsack:30-100", "--workers", 2, "--evaluation-seconds", 60)
    assert (facts["algorithm"], facts["stop"], facts["limits"]) == ("cellular", "evaluations", {"evaluations": 500})
    config = tmp_path / "run.toml"
    config.write_text('instance = "knapsack:30-100"\nalgorithm = "black-box"\nworkers = 1\n')
    assert solve("--config", config) == facts


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["--workers", "0"], "`1 <= workers <= 1024` must hold, but got 0"),
        (["--evaluation-seconds", "2"], "give `workers`, too"),
        (["--workers", "1", "--evaluation-seconds", "-1"], "`evaluation_seconds > 0` must hold, but got -1.0"),
        (["--workers", "2", "--islands", "2"], "with `workers` there is one population"),
        (["--workers", "2", "--sweep", "3"], "--workers is for a single run, not for a sweep"),
        (["--workers", "2", "--algorithm", "sns-exp", "--set", "repair=true"], "capabilities are not used"),
    ],
)
def test_workers_where_they_cannot_be(args, sentence, call):
    code, out, err = call("mkp:20x3", *args)
    assert (code, out) == (2, "")
    assert sentence in err


def test_seeds_and_a_pool(solve, call, tmp_path):
    facts = solve(*SMALL, "--iterations", 3, "--seed", 5, "--seeds", 3, "--pool", 4)
    assert [run["seed"] for run in facts["runs"]] == [5, 6, 7]
    best = max(facts["runs"], key=lambda run: (-run["violation"], run["objective"]))
    assert facts["objective"] == best["objective"] == facts["pool"][0]["objective"]
    code, out, _ = call(*SMALL, "--iterations", "3", "--seed", "5", "--seeds", "3", "--pool", "4", "--quiet")
    assert code == (0 if facts["feasible"] else 5)
    assert f"5: {facts['runs'][0]['objective']:,}" in out
    assert "4 different solutions" in out
