"""`systola instances`, `devices`, `bench`, and what all commands share: help and version."""

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

import systola as sy
from conftest import refused
from systola.cli import _COMMANDS, cli
from systola.cli.devices import CAPABILITIES, occupancy
from systola.formats import open_instance
from systola.model.problem import digest_of

TINY_CASES = (("knapsack:20-100", "sgs-b", 3), ("knapsack:20-100", "rs", 2))


@pytest.fixture
def call(run_command, tmp_path, monkeypatch):
    """Run a command here, in a folder of its own; gives exit code, standard output and standard error."""
    monkeypatch.chdir(tmp_path)
    return run_command


# All commands


@pytest.mark.parametrize(
    "command", [[], *([name] for name in _COMMANDS), ["instances", "show"], ["instances", "convert"]]
)
@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help(call, command, flag):
    code, out, err = call(*command, flag)
    assert (code, err) == (0, "")
    assert out.startswith(f"Usage: {' '.join(['systola', *command])}")


def test_help_names_every_command_and_option(call):
    _, out, _ = call("--help")
    assert all(name in out for name in _COMMANDS)
    for name in _COMMANDS:
        command = cli.get_command(None, name)
        _, out, _ = call(name, "--help")
        for option in command.params:
            assert option.opts[0] in out or option.param_type_name == "argument"


def test_no_command_shows_the_help(call):
    code, out, err = call()
    assert code in (0, 2)
    assert "Usage: systola" in out + err


@pytest.mark.parametrize("args", [["slove"], ["instances", "shwo"], ["--verison"]])
def test_unknown_commands(call, args):
    code, out, err = call(*args)
    assert (code, out) == (2, "")
    assert args[-1] in err


@pytest.mark.parametrize("command", [["-m", "systola"], ["-c", "from systola.cli import main; main()"]])
def test_version(command):
    done = subprocess.run(
        [sys.executable, *command, "--version"], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (0, f"systola, version {sy.__version__}\n")


# Instances


def test_show(call):
    code, out, err = call("instances", "show", "knapsack:100-1000", "mmdp:60")
    assert (code, err) == (0, "")
    assert "5676" in out
    assert "MMDP, 60 decisions" in out
    shown = json.loads(call("instances", "show", "knapsack:100-1000", "mmdp:60", "--json")[1])
    assert [facts["best_known"] for facts in shown] == [5676, 10]
    assert shown[0]["digest"] == digest_of(open_instance("knapsack:100-1000").problem)
    assert shown[0]["data"]["profits"]["shape"] == [100]


def test_show_lists_the_problems_of_a_file(call):
    Path("two.txt").write_text("2\n3 2 8.5\n5 4 3\n1 2 3\n4 5 6\n4 10\n2 1 0\n7 8\n1 1\n1\n")
    code, out, err = call("instances", "show", "two.txt", "mmdp:60")
    assert (code, err) == (0, "")
    lines = [line.split() for line in out.splitlines()]
    assert ["number", "items", "constraints", "best", "known"] in lines
    assert ["1", "3", "2", "8.5"] in lines
    assert ["2", "2", "1", "-"] in lines
    assert "A problem is named by # and its number: systola solve two.txt#1" in out
    assert "MMDP, 60 decisions" in out
    listed, other = json.loads(call("instances", "show", "two.txt", "mmdp:60", "--json")[1])
    assert (listed["name"], listed["problem"], other["problem"]) == ("two", "mkp", "mmdp")
    assert listed["problems"] == [
        {"instance": "two.txt#1", "number": 1, "name": None, "items": 3, "constraints": 2, "best_known": 8.5},
        {"instance": "two.txt#2", "number": 2, "name": None, "items": 2, "constraints": 1, "best_known": None},
    ]
    (facts,) = json.loads(call("instances", "show", "two.txt#2", "--json")[1])
    assert (facts["name"], facts["decisions"], facts["best_known"]) == ("two#2", 2, None)
    assert facts["data"]["weights"]["shape"] == [1, 2]


def test_show_lists_names_of_problems(call):
    block = "problem {}.DAT\n+++\n1 2\n5 4\n3\n1 2\n9\n"
    Path("named.txt").write_text("prose\n" + block.format("ONE") + "+++\n" + block.format("[bold]"))
    _, out, _ = call("instances", "show", "named.txt")
    assert ["1", "ONE", "2", "1", "9"] in [line.split() for line in out.splitlines()]
    assert ["2", "[bold]", "2", "1", "9"] in [line.split() for line in out.splitlines()]
    assert "by # and its number or name: systola solve named.txt#1 or named.txt#ONE" in out
    assert json.loads(call("instances", "show", "named.txt#one", "--json")[1])[0]["name"] == "named#ONE"


def test_a_file_of_several_problems_asks_for_one(call):
    Path("two.txt").write_text("2 1 1 0 5 1 4 1 1 0 5 1 4")
    code, out, err = call("solve", "two.txt")
    assert (code, out) == (2, "")
    assert "holds 2: write two.txt#1; `systola instances show two.txt` lists them" in err


def test_convert_and_show(call):
    code, out, err = call("instances", "convert", "knapsack:30-100", "items.txt")
    assert (code, out) == (0, "")
    assert "30 decisions" in err
    made = open_instance("items.txt", "knapsack").problem
    assert digest_of(made) == digest_of(open_instance("knapsack:30-100").problem)
    assert call("instances", "show", "items.txt", "--problem", "knapsack")[0] == 0


def test_convert_keeps_the_known_solution(call):
    Path("one.txt").write_text("3 10\n5 4\n6 5\n7 6\n1 0 1\n")
    assert call("instances", "convert", "one.txt", "two.txt")[0] == 0
    assert open_instance("two.txt").best_known == 12


def test_generate(call):
    _, out, _ = call("instances", "generate")
    assert "knapsack:ITEMS-SPREAD" in out
    usages = [entry["usage"] for entry in json.loads(call("instances", "generate", "--json")[1])]
    kinds = [*["flowshop"] * 2, "gap", *["knapsack"] * 2, "mkp", "mmdp", "nrp", *["qap"] * 3]
    assert [usage.partition(":")[0] for usage in usages] == kinds


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["show"], "Missing argument"),
        (["show", "missing.txt"], "there is none at"),
        (["show", "knapsak:5-5"], "did you mean 'knapsack'?"),
        (["convert", "knapsack:5-5"], "Missing argument"),
        (["convert", "mmdp:60", "out.txt"], "write it to a file called .json"),
        (["convert", "knapsack:5-5", "no/out.txt"], "must be writable"),
        (["convert", "knapsack:5-5", "."], "must be writable"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_instances(call, args, message):
    assert message in refused(call("instances", *args))


# Devices


def test_devices(call):
    code, out, err = call("devices")
    assert (code, err) == (0, "")
    assert "kernel cache" in out
    facts = json.loads(call("devices", "--json")[1])
    assert facts["systola"] == sy.__version__
    assert facts["threads"] >= 1
    assert facts["gpu"]


def test_devices_refuses_other_architectures(call):
    code, _, err = call("devices", "--kernels", "--arch", "76")
    assert code == 2
    assert "'76' is not one of '75'" in err


@pytest.mark.long
def test_kernels_do_not_spill(call, monkeypatch):
    """Compiled and linked for the oldest architecture; tests of the backend have all pairs of problems and engines."""
    pairs = {"knapsack:100-1000": ("sgs-b", "hill"), "qap:uniform-20": ("tabu",)}
    monkeypatch.setattr("systola.cli.samples._SAMPLES", pairs)
    for module in ("numba_cuda", "cuda.bindings.nvjitlink"):
        pytest.importorskip(module, reason='needs the extra "cu12" or "cu13"')
    code, out, _ = call("devices", "--kernels", "--arch", "75", "--json")
    assert code == 0
    rows = json.loads(out)["kernels"]
    assert {row["kernel"] for row in rows} == {
        "start",
        "sweep",
        "reduce_best_partial",
        "reduce_best",
        "reduce_lanes",
        "end_step",
    }
    assert {row["problem"] for row in rows} == {"Knapsack", "QuadraticAssignment"}
    assert {row["engine"] for row in rows} == {"sgs-b", "hill", "tabu"}
    assert len(rows) == 3 * 4 + 2 * 2  # a walk has two kernels more
    for row in rows:
        assert row["sm"] == "75"
        assert row["spilled_bytes"] == 0, row
        assert 0 < row["registers"] <= 255
        assert 0 < row["occupancy"] <= 1
        assert row["cubin_bytes"] > 0


@pytest.mark.parametrize("capability", CAPABILITIES.values(), ids=str)
def test_occupancy(capability):
    shares = [occupancy(registers, 128, capability) for registers in range(1, 256)]
    assert shares == sorted(shares, reverse=True)
    assert 0 < shares[-1] < shares[0] <= 1


def test_occupancy_of_a_known_case():
    """64 registers for each of 2048 threads are twice what 65,536 registers give."""
    assert occupancy(64, 128, (9, 0)) == 0.5
    assert occupancy(32, 128, (9, 0)) == 1.0


# Bench


def test_bench(call, monkeypatch):
    monkeypatch.setattr(importlib.import_module("systola.cli.bench"), "_CASES", TINY_CASES)
    code, out, _ = call("bench", "--repeat", 2)
    assert code == 0
    assert out.count("M solutions/s") == 2
    code, out, err = call("bench", "--repeat", 3, "--json", "--threads", 1)
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert (found["backend"], found["repeat"]) == ("cpu", 3)
    assert [(row["instance"], row["algorithm"], len(row["all"])) for row in found["rates"]] == [
        ("knapsack:20-100", "sgs-b", 3),
        ("knapsack:20-100", "rs", 3),
    ]
    for row in found["rates"]:
        assert sorted(row["all"])[1] == row["solutions_per_second"] > 0


def test_the_cases_of_bench_can_be_opened():
    from systola.engines.catalog import make_engine

    for spec, name, steps in importlib.import_module("systola.cli.bench")._CASES:
        assert make_engine(name, open_instance(spec).problem).name == name
        assert steps > 0


@pytest.mark.parametrize(
    "args",
    [
        ["--threads", "0"],
        ["--backend", "gpu"],
        pytest.param(["--repeat", "0"]),
        pytest.param(["--repeat", "-3"]),
    ],
    ids=" ".join,
)
def test_bad_bench(call, monkeypatch, args):
    monkeypatch.setattr(importlib.import_module("systola.cli.bench"), "_CASES", TINY_CASES)
    code, out, err = call("bench", "--json", *args)
    assert (code, out) == (2, "")
    assert args[0].strip("-") in err
