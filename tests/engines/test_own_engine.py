"""Engines of a user's own: the one of docs/own-engine.md, by file, name and class; what is refused, and edits."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

import systola as sy
from conftest import small_knapsack, story
from ptx.device import PtxDevice
from ptx.needs import needs_executor
from systola.cli import main
from systola.engines.catalog import make_engine
from systola.engines.own import load_engine
from systola.extend import Design, check_engine, engine_record, register_engine

DOCS = Path(__file__).parents[2] / "docs" / "own-engine.md"


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """The engine of the docs, in a file; without what solves something."""
    source = re.search(r"```python\n(.*?)\nknapsack = ", DOCS.read_text(), re.DOTALL)[1]
    path = tmp_path_factory.mktemp("own") / "annealing.py"
    path.write_text(source)
    return path


@pytest.fixture(scope="module")
def annealing(file):
    return load_engine(f"{file}:Annealing")


def run(engine, **rest):
    return sy.solve(small_knapsack(12), engine, stop=sy.Iterations(4), backend="python", **rest)


def numbers(result):
    return [(s.step, s.objective) for s in result.trace.samples], result.solution.tolist()


def test_by_class_by_name_and_by_file(annealing, file):
    first = numbers(run(annealing(chains=3, moves=4)))
    for name in ("annealing", f"{file}:Annealing"):
        made = make_engine(name, small_knapsack(12), {"chains": 3, "moves": 4})
        assert numbers(run(made)) == first
    assert numbers(run("annealing")) == numbers(run(annealing()))


def test_as_demes(annealing):
    islands = sy.Islands([annealing(chains=3, moves=4), sy.SGS("B")], synchronous=True, export_every=2, import_every=1)
    assert run(islands).feasible


@needs_executor
def test_on_a_gpu(annealing):
    """Its PTX, executed on the CPU."""
    problem, device = small_knapsack(70), PtxDevice(race=True)
    runs = [
        sy.solve(problem, annealing(chains=6, moves=9), stop=sy.Iterations(5), **rest)
        for rest in ({}, {"backend": "cuda", "device": device})
    ]
    assert story(runs[0]) == story(runs[1])
    assert device.launches["sweep"] >= 5


def test_on_the_command_line(file, capsys, tmp_path):
    name = f"{file}:Annealing"
    args = ["--iterations", "3", "--backend", "python", "--json"]
    assert main(["solve", "knapsack:20-100", "--algorithm", name, "--set", "chains=3", *args]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["algorithm"], told["parameters"]["chains"]) == ("annealing", 3)
    config = tmp_path / "run.toml"
    config.write_text(f"instance = 'knapsack:20-100'\nalgorithm = '{name}'\n[parameters]\nchains = 3\n")
    assert main(["solve", "--algorithm", name, "--config", str(config), *args]) == 0
    again = json.loads(capsys.readouterr().out)
    assert again["solution"] == told["solution"]
    with pytest.raises(SystemExit):  # code is never executed because a configuration says so
        main(["solve", "--config", str(config), *args])
    assert "executed only if the command line names its file, too" in capsys.readouterr().err


@pytest.mark.long
def test_in_comparisons(file, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = f"{file}:Annealing"
    command = ["compare", "knapsack:20-100", "--algorithms", f"{name},rs", "--runs", "3", "--iterations", "3", "--json"]
    assert main(command) == 0
    found = json.loads(capsys.readouterr().out)["samples"]["knapsack:20-100"]
    assert {key: len(values) for key, values in found.items()} == {name: 3, "rs": 3}


def test_an_edit_makes_another_type(file, tmp_path, annealing):
    edited = tmp_path / "annealing.py"
    edited.write_text(file.read_text().replace("lost <= temperature", "lost < temperature"))
    other = load_engine(f"{edited}:Annealing")
    types = [type(kind().prepare(small_knapsack(12)).record).__name__ for kind in (annealing, other, annealing)]
    assert types[0] == types[2] != types[1]


def test_a_checkpoint_of_the_engine_before_an_edit_is_refused(file, tmp_path, annealing):
    run(annealing(), checkpoint=tmp_path / "saved.npz")
    edited = tmp_path / "annealing.py"
    edited.write_text(file.read_text().replace("lost <= temperature", "lost < temperature"))
    with pytest.raises(sy.InputError, match="checkpoint"):
        run(load_engine(f"{edited}:Annealing")(), resume=tmp_path / "saved.npz")


def stay(self, s, cell, lane):
    pass


def wrong(self, s, cell):
    pass


@pytest.mark.parametrize(
    ("functions", "said"),
    [
        ({}, "needs a function `do_cell"),
        ({"do_cell": wrong}, r"must take \(record, s, cell, lane\), but wrong takes"),
        ({"do_cells": stay}, "has no function 'do_cells'"),
        ({"do_cell": "stay"}, "must be a plain function"),
        ({"do_cell": stay, "accept_immigrant": lambda self, s, immigrants, which, elite: None}, "no `migration_slot`"),
    ],
)
def test_what_is_no_engine(functions, said):
    with pytest.raises(sy.InputError, match=said):
        engine_record("Mine", ("size",), **functions)


@dataclass(frozen=True)
class Idle:
    """Makes no solution."""

    size: int = 4
    promised: int = 0
    name = "idle"

    def prepare(self, problem):
        record = engine_record("Idle", ("size",), do_cell=stay)
        return Design(record(self.size), self.size, self.size, self.size, self.promised, 10)


def test_names_that_cannot_be():
    for name, said in (("sgs-b", "systola's own"), ("auto", "cannot be called"), ("", "cannot be called")):
        with pytest.raises(sy.InputError, match=said):
            register_engine(Idle, name)
    with pytest.raises(sy.InputError, match="must be a dataclass"):
        register_engine(object)
    register_engine(Idle)
    register_engine(Idle)
    assert make_engine("idle", small_knapsack(12)) == Idle()


@pytest.mark.parametrize(
    ("name", "said"), [("nowhere.py:Mine", "there is no file"), (f"{__file__}:Mine", "has no class")]
)
def test_files_without_an_engine(name, said):
    with pytest.raises(sy.InputError, match=said):
        make_engine(name, small_knapsack(12))


def test_a_file_that_fails(tmp_path):
    (tmp_path / "bad.py").write_text("1 / 0")
    with pytest.raises(sy.InputError, match="cannot be loaded: ZeroDivisionError"):
        make_engine(f"{tmp_path / 'bad.py'}:Mine", small_knapsack(12))


@dataclass(frozen=True)
class Forgetful(Idle):
    """Remembers on the host what it did: resumed, it does something else."""

    name = "forgetful"

    def prepare(self, problem):
        CALLS.append(1)
        record = engine_record("Forgetful", ("size",), do_cell=stay)
        return Design(record(self.size), self.size, self.size, 1 + len(CALLS) % 3, 1, 10)


CALLS: list[int] = []


def test_the_contract_finds_what_is_wrong():
    with pytest.raises(sy.CheckFailed, match=r"should make \d+ solutions by its design"):
        check_engine(Forgetful(), small_knapsack(12))
