"""Problems of one's own and tables with names, on the command line."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import systola as sy
from conftest import refused
from processes import allowed_seconds

CODE = """
import numpy as np
import systola as sy

open("executed", "a").write("x")
print("loaded")


class Tour(sy.Problem):
    encoding = sy.Permutation("distances")
    sense = sy.MINIMISE
    names = sy.Names("position", "city")
    distances: np.ndarray
    size: int = 0

    def evaluate(self, x):
        total = self.size
        for k in range(len(x)):
            total += self.distances[x[k - 1], x[k]]
        return total


def make(n: int = 4):
    return Tour(np.ones((n, n), np.int64))
"""
ENGINE = """
from dataclasses import dataclass

import systola as sy


@dataclass(frozen=True)
class Mine(sy.RS):
    name = "mine"
"""
CITIES = {
    "distances": [[0, 3, 5, 1], [3, 0, 2, 4], [5, 2, 0, 9], [1, 4, 9, 0]],
    "names": ["Rome", "Oslo", "Bern", "Kyiv"],
}
ITEMS = "name,profit,weight\ntent,5,4\nrope,6,5\npan,7,6\n"
QUICK = ["--iterations", "5", "--backend", "python"]
SEARCH = ["--algorithm", "rs", "--set", "algorithm.size=20", *QUICK]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    Path("my.py").write_text(CODE)
    Path("mine.py").write_text(ENGINE)
    Path("cities.json").write_text(json.dumps(CITIES))
    Path("items.csv").write_text(ITEMS)
    return tmp_path


@pytest.fixture
def call(run_command):
    return run_command


def test_solve_a_class_with_data(call):
    code, out, err = call("solve", "my.py:Tour", "--data", "cities.json", *SEARCH, "--json")
    facts = json.loads(out)
    assert (code, facts["problem"], facts["instance"], facts["objective"]) == (0, "Tour", "cities", 12)
    assert facts["named_solution"] == [CITIES["names"][k] for k in facts["solution"]]
    assert facts["names"] == {
        **{"kind": "order", "decision": "position", "value": "city"},
        **{"decisions": None, "values": CITIES["names"]},
    }
    assert err == "loaded\n"


def test_solve_what_a_function_returns(call):
    code, out, _ = call("solve", "my.py:make", "--set", "n=6", *SEARCH, "--json")
    assert (code, len(json.loads(out)["solution"])) == (0, 6)
    assert "solution" in call("solve", "my.py:make", *SEARCH, "--quiet")[1]


def test_few_evaluations_of_what_cannot_be_compiled(call):
    """Here and by workers, which load the file themselves, and make as many by default."""
    Path("slow.py").write_text(CODE.replace("total = self.size", "total = int(str(self.size))"))
    found = []
    for where in (["--evaluations", "500"], ["--workers", "1"]):
        args = ["slow.py:Tour", "--data", "cities.json", "--backend", "python", *where, "--json"]
        code, out, _ = call("solve", *args)
        facts = json.loads(out)
        assert (code, facts["limits"], facts["stop"]) == (0, {"evaluations": 500}, "evaluations")
        found.append([facts[name] for name in ("algorithm", "parameters", "objective", "evaluations", "solution")])
    assert found[0] == found[1]
    config = call("solve", "slow.py:Tour", "--data", "cities.json", "--workers", "1", "--print-config")[1]
    assert 'algorithm = "cellular"' in config
    assert "evaluations = 500" in config


def test_names_on_the_screen_and_in_files(call):
    run = ["items.csv", "--problem", "knapsack", "--set", "capacity=10", *QUICK, "--quiet"]
    code, out, _ = call("solve", *run, "--output", "out.csv")
    assert code == 0
    assert out.splitlines()[-1].split(maxsplit=1)[1].strip() == "tent, pan"
    assert Path("out.csv").read_text() == "item,chosen\ntent,1\nrope,0\npan,1\n"
    assert call("solve", *run, "--output", "out.json")[0] == 0
    assert sy.Result.load("out.json").named_solution == ["tent", "pan"]
    code, out, _ = call("solve", "my.py:Tour", "--data", "cities.json", *SEARCH, "--quiet")
    assert "order" in out
    assert "Rome" in out
    many = {"n": 60, "names": [f"bit {k}" for k in range(60)]}
    Path("many.json").write_text(json.dumps(many))
    assert ", ... (" in call("solve", "many.json", *QUICK, "--quiet")[1]


def test_names_with_brackets(call):
    Path("items.csv").write_text(ITEMS.replace("tent", "[red]tent[/b]"))
    assert "[red]tent[/b], pan" in call("solve", "items.csv", "--set", "capacity=10", *QUICK, "--quiet")[1]


def test_assignments_by_name(call):
    Path("gap.json").write_text(
        json.dumps(
            {
                "costs": [[1, 9], [9, 1]],
                "weights": [[1, 1], [1, 1]],
                "capacities": [2, 2],
                "names": {"jobs": ["a", "b"], "agents": ["x", "y"]},
            }
        )
    )
    assert "agents" in call("solve", "gap.json", *QUICK, "--quiet")[1]
    assert call("solve", "gap.json", *QUICK, "--quiet", "--output", "out.csv")[0] == 0
    assert Path("out.csv").read_text() == "job,agent\na,x\nb,y\n"


def test_sweeps_as_tables(call):
    Path("next.csv").write_text("name,cost,value\nlogin,1,3\nsearch,2,4\n")
    assert call("solve", "next.csv", "--sweep", 3, *QUICK, "--quiet", "--output", "swept.csv")[0] == 0
    lines = Path("swept.csv").read_text().splitlines()
    assert lines[0] == "weight,objective 1,objective 2,violation"
    assert [line.split(",")[0] for line in lines[1:]] == ["0.0", "0.5", "1.0"]


# Who is meant by --set


def test_what_an_instance_leaves_open_goes_first(call):
    code, out, _ = call("solve", "items.csv", "--set", "capacity=10", "--set", "length=4", *QUICK, "--print-config")
    assert code == 0
    assert "[fields]\ncapacity = 10" in out
    assert "length = 4" in out
    Path("run.toml").write_text(out)
    again = json.loads(call("solve", "--config", "run.toml", "--backend", "python", "--json")[1])
    assert again["parameters"]["length"] == 4
    assert again["named_solution"] == ["tent", "pan"]
    other = json.loads(call("solve", "--config", "run.toml", "--set", "capacity=4", *QUICK, "--json")[1])
    assert other["named_solution"] == ["tent"]


def test_a_name_that_is_both_must_say_which(call):
    run = ["solve", "my.py:Tour", "--data", "cities.json", "--algorithm", "rs", *QUICK, "--json"]
    assert "'size' is a field of Tour and a parameter of rs; write --set problem.size=... or" in refused(
        call(*run, "--set", "size=3")
    )
    told = json.loads(call(*run, "--set", "problem.size=3", "--set", "algorithm.size=5")[1])
    assert (told["objective"], told["parameters"]["size"]) == (15, 5)


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["items.csv"], "Knapsack needs `capacity`, which items.csv does not have; add --set capacity=VALUE"),
        (["items.csv", "--set", "capacity=x"], "Knapsack.capacity must be a whole number, but got the text 'x'"),
        (["items.csv", "--set", "capacity=3", "--set", "problem.x=1"], "items leaves no field 'x' open; leave it out"),
        (["items.csv", "--set", "capacity=3", "--set", "x=1"], "has no parameter 'x'"),
        (["knapsack:10-10", "--set", "capacity=3"], "auto has no parameter 'capacity', and the field 'capacity' of Kn"),
        (["knapsack:10-10", "--data", "cities.json"], "--data is for a problem of your own"),
        (["my.py:Tour", "--problem", "qap"], "says itself which problem it is"),
        (["my.py"], "a name must say which problem is meant: my.py:Tour"),
        (
            ["my.py:Tour", "--data", "cities.json", "--set", "distances=3"],
            "and the field 'distances' of Tour has a value in my.py:Tour, data from cities.json; change it there",
        ),
        (["missing.csv"], "there is none at 'missing.csv'; check the path"),
    ],
)
def test_refusals(call, args, said):
    err = refused(call("solve", *args, *QUICK))
    assert said in err
    assert len(err.replace("loaded\n", "").strip().splitlines()) == 1


def test_a_file_of_no_format_is_told_in_a_line(call):
    Path("prose.txt").write_text("once upon a time")
    err = refused(call("solve", "prose.txt"))
    assert err == (
        "systola: prose.txt has none of the known formats; add --problem NAME to learn why, or list them all by: "
        "systola instances formats\n"
    )


# Code and configurations


def executed():
    return Path("executed").exists()


def test_a_configuration_alone_executes_nothing(call):
    Path("run.toml").write_text('instance = "my.py:Tour"\ndata = "cities.json"\nalgorithm = "rs"\n')
    err = refused(call("solve", "--config", "run.toml", *QUICK))
    assert "run.toml names Python code, my.py:Tour, which is executed only if the command line names its file" in err
    assert "add my.py:Tour, as the instance or by --algorithm" in err
    assert not executed()
    Path("engine.toml").write_text('instance = "knapsack:10-10"\nalgorithm = "my.py:Tour"\n')
    assert "names Python code" in refused(call("solve", "--config", "engine.toml", *QUICK))
    Path("demes.toml").write_text('instance = "knapsack:10-10"\n[[deme]]\nalgorithm = "my.py:Tour"\n')
    assert "names Python code" in refused(call("solve", "--config", "demes.toml", *QUICK))
    Path("bare.toml").write_text('instance = "my.py"\n')
    assert "names Python code" in refused(call("solve", "--config", "bare.toml", *QUICK))
    assert not executed()
    # What the configuration says does not count if the command line says something else.
    assert call("solve", "knapsack:10-10", "--config", "bare.toml", *QUICK, "--print-config")[0] == 0
    assert not executed()


def test_a_configuration_beside_the_code(call):
    run = ["my.py:Tour", "--data", "cities.json", *SEARCH]
    code, text, _ = call("solve", *run, "--print-config")
    assert code == 0
    assert text.startswith("# Code must be named on the command line, too: systola solve my.py:Tour --config FILE\n")
    assert 'data = "cities.json"' in text
    Path("run.toml").write_text(text)
    first, again = (
        json.loads(call("solve", *args, "--json")[1])
        for args in (run, ["./my.py:Tour", "--config", "run.toml", "--backend", "python"])
    )
    assert first["solution"] == again["solution"]
    assert first["parameters"] == again["parameters"]


def test_an_engine_of_ones_own_in_a_configuration(call):
    run = ["knapsack:10-10", "--algorithm", "mine.py:Mine", "--set", "size=5", *QUICK]
    code, text, _ = call("solve", *run, "--print-config")
    assert code == 0
    assert 'algorithm = "mine.py:Mine"' in text
    Path("run.toml").write_text(text)
    args = ["--algorithm", "mine.py:Mine", "--config", "run.toml", "--backend", "python", "--json"]
    assert json.loads(call("solve", *args)[1])["parameters"]["size"] == 5


def test_no_other_file_executes_code(call):
    Path("named.json").write_text(json.dumps({"problem": "my.py:Tour", **CITIES}))
    assert "`problem` must be one of flowshop" in refused(call("solve", "named.json", *QUICK))
    assert not executed()


# Other commands


def test_show(call):
    both = ["my.py:Tour", "items.csv", "--data", "cities.json", "--set", "capacity=9"]
    assert [f["problem"] for f in json.loads(call("instances", "show", *both, "--json")[1])] == ["Tour", "knapsack"]
    code, out, _ = call("instances", "show", "my.py:Tour", "--data", "cities.json")
    assert code == 0
    assert "cities         Rome, Oslo, Bern, Kyiv" in out
    (facts,) = json.loads(call("instances", "show", "items.csv", "--set", "capacity=9", "--json")[1])
    assert facts["names"] == {"items": ["tent", "rope", "pan"]}
    assert facts["data"]["capacity"] == 9
    assert "make leaves no field 'x' open" in refused(call("instances", "show", "my.py:make", "--set", "x=3"))
    many = {"n": 60, "names": [f"bit {k}" for k in range(60)]}
    Path("many.json").write_text(json.dumps(many))
    assert "bit 9, ... (60 in all)" in call("instances", "show", "many.json")[1]


def test_convert_to_json(call):
    assert call("instances", "convert", "items.csv", "items.json", "--set", "capacity=10")[0] == 0
    assert json.loads(Path("items.json").read_text()) == {
        **{"problem": "knapsack", "profits": [5, 6, 7], "weights": [4, 5, 6], "capacity": 10},
        "names": {"items": ["tent", "rope", "pan"]},
    }
    assert call("instances", "convert", "mmdp:12", "mmdp.json")[0] == 0
    assert call("instances", "show", "mmdp.json")[0] == 0
    assert call("instances", "convert", "my.py:Tour", "tour.json", "--data", "cities.json")[0] == 0
    assert call("instances", "show", "my.py:Tour", "--data", "tour.json")[0] == 0
    assert "but mmdp:12 is a MMDP; write it to a file called .json" in refused(
        call("instances", "convert", "mmdp:12", "mmdp.txt")
    )
    assert "the file must be writable" in refused(call("instances", "convert", "mmdp:12", "no/mmdp.json"))


def test_formats(call):
    code, out, _ = call("instances", "formats")
    assert code == 0
    assert "knapsack  CSV" in out
    assert "columns name, profit, weight; --set capacity=N" in out
    (form,) = (f for f in json.loads(call("instances", "formats", "qap", "--json")[1]) if f["format"] != "QAPLIB")
    assert form == {
        "problem": "qap",
        "format": "JSON or .npz",
        "layout": "flows, distances, [costs], [names]",
        "options": [],
    }
    assert "did you mean 'knapsack'?" in refused(call("instances", "formats", "knapsak"))


@pytest.mark.long
def test_compare(call):
    np.savez("other.npz", distances=np.array(CITIES["distances"]) + 1)
    run = ["my.py:Tour", "--data", "cities.json", "--data", "other.npz", "--algorithms", "rs,hill", "--runs", 3]
    run += ["--iterations", 3, "--workers", 1, "--quiet", "--json"]
    code, out, _ = call("compare", *run)
    assert code == 0
    samples = json.loads(out)["samples"]
    assert set(samples) == {"my.py:Tour cities.json", "my.py:Tour other.npz"}
    assert all(len(values) == 3 for by_name in samples.values() for values in by_name.values())
    assert json.loads(call("compare", *run)[1])["samples"] == samples  # from the store
    assert "--data is for a problem of your own" in refused(
        call("compare", "mmdp:12", "--data", "cities.json", "--algorithms", "rs,hill")
    )


def test_compare_tables(call):
    run = ["items.csv", "knapsack:10-100", "--algorithms", "rs,sga", "--runs", 3, "--iterations", 2, "--workers", 1]
    code, out, _ = call("compare", *run, "--set", "capacity=10", "--set", "size=8", "--quiet", "--json")
    assert code == 0
    assert set(json.loads(out)["samples"]) == {"items.csv", "knapsack:10-100"}
    assert "has no parameter 'x'" in refused(call("compare", *run, "--set", "capacity=10", "--set", "x=8"))
    assert "needs `capacity`" in refused(call("compare", *run))


def test_draw(call):
    pytest.importorskip("matplotlib", reason="needs the extra plots")
    Path("shop.csv").write_text("job,saw,drill\na,1,5\nb,4,2\n")
    assert call("solve", "shop.csv", "--algorithm", "ig", *QUICK, "--quiet", "--output", "plan.json")[0] == 0
    assert call("draw", "gantt", "plan.json", "--instance", "shop.csv", "--output", "plan.svg")[0] == 0
    assert "leaves no field 'x' open" in refused(
        call("draw", "gantt", "plan.json", "--instance", "shop.csv", "--set", "x=1", "--output", "plan.svg")
    )


@pytest.mark.long
def test_a_command_does_not_wait_for_kernels_that_nobody_needs_any_more():
    """With an empty cache, the others of a race are still being compiled when the time is over."""
    command = [sys.executable, "-m", "systola", "solve", "my.py:Tour", "--data", "cities.json", "--seconds", "0.5"]
    environment = {**os.environ, "SYSTOLA_CACHE_DIR": str(Path("cold").absolute())}
    done = subprocess.run([*command, "--output", "out.json"], capture_output=True, text=True, env=environment)
    ended = time.time()
    assert done.returncode == 0, done.stderr
    assert "objective" in done.stdout
    verdicts = [row["verdict"] for row in sy.Result.load("out.json").race]
    assert any("still being compiled" in verdict or "ended before" in verdict for verdict in verdicts)
    assert ended - Path("out.json").stat().st_mtime < allowed_seconds()
