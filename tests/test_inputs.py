"""Whatever users give, a file or an argument: a sentence and exit code 2, soon; never a traceback, never a hang."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import numpy as np
import pytest

import systola as sy
from fuzz.targets import attempt, parts_of, sign, write_checkpoint
from fuzz.workshop import ISLANDS, RUNS, Workshop, call
from systola.formats import open_instance

LONG = 300_000


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory):
    here = Path.cwd()
    yield Workshop(tmp_path_factory.mktemp("shop"))
    os.chdir(here)


def refused(*args: str) -> str:
    """The sentence with which a command line is refused."""
    code, _, err = call(list(args))
    assert code == 2, err
    assert "systola: " in err
    assert "Traceback" not in err
    return err


@pytest.mark.parametrize("word", ["0", "9", "1.", ".", "+", "0x"])
@pytest.mark.parametrize("name", ["gk.dat", "knapsack.txt", "qap.dat", "table.txt"])
def test_long_words_are_read_or_refused_soon(shop, name, word) -> None:
    words = Path(name).read_text().split(" ")
    Path("long.txt").write_text(" ".join([*words[:-1], word * (LONG // len(word)) + "x", words[-1]]))
    began = time.process_time()
    refused("instances", "show", "long.txt")
    assert time.process_time() - began < 5


def test_zeros_in_front_do_not_matter(shop) -> None:
    Path("zeros.txt").write_text("0" * 9000 + "3 10\n5 4\n6 5\n+" + "0" * 9000 + "7 6\n")
    assert open_instance("zeros.txt").problem.profits.tolist() == [5, 6, 7]


def test_a_long_option_of_an_instance_is_refused_soon(shop) -> None:
    began = time.process_time()
    refused("instances", "show", "nrp:3-3?weight=" + "1" * 100_000 + "x")
    assert time.process_time() - began < 5


def test_brackets_in_names_are_no_markup(shop) -> None:
    options = ["--algorithm", "rs", "--iterations", "1", "--backend", "python"]
    for name in ("[red]name [x", "mknap2.txt#[/b]"):
        code, out, err = call(["solve", name, *options])
        assert code == 0, err
        assert open_instance(name).name in out
        assert open_instance(name).name in err


@pytest.mark.parametrize("path", ["pipe", "/dev/zero", "directory", "missing", "deep.json", "deep.toml", "binary"])
@pytest.mark.parametrize(
    "line",
    [
        ("solve", "--config"),
        ("solve", *RUNS["sga"], "--backend", "python", "--resume"),
        ("solve", *ISLANDS, "--backend", "python", "--replay"),
        ("draw", "convergence", "--output", "drawn.svg"),
        ("instances", "show"),
    ],
    ids=lambda line: f"{line[0]} {line[-1]}",
)
def test_what_is_no_such_file_is_refused_at_once(shop, line, path) -> None:
    refused(*line, path)


@pytest.mark.parametrize(
    "text",
    [
        "islands = 3",
        "islands = false",
        "deme = [{algorithm = 3}]",
        "deme = [{algorithm = 'ssga', parameters = 3}]",
        "deme = ''",
        "deme = [3]",
        "algorithm = 3",
        "instance = []",
        "seed = 'x'",
        "backend = 3",
        "threads = 1.5",
        "parameters = []",
        "stop = [1]",
        "stop = {seconds = 'x'}",
        "parameters = {size = 'x'}",
        "islands = {delays = 5}",
        "islands = {delays = 'xx'}",
        "islands = {rate = 'x'}",
        "islands = {synchronous = 1}",
    ],
)
@pytest.mark.parametrize("option", [[], ["--migration", "rate=1"]], ids=["", "migration"])
def test_values_of_a_wrong_type_in_a_configuration(shop, text, option) -> None:
    key = text.split(" ")[0]
    if "rate" in text and option:
        return  # the option takes the place of the wrong value
    lines = [line for line in ("instance = 'single'", "algorithm = 'ssga'") if not line.startswith(key)]
    Path("wrong.toml").write_text("\n".join([*lines, text]))
    refused("solve", "--config", "wrong.toml", "--iterations", "1", "--backend", "python", *option)


def test_a_value_nested_too_deeply(shop) -> None:
    assert "nested" in refused("solve", "single", "--set", "size=" + "[" * 9000)


def replay(data: object) -> str:
    Path("damaged.json").write_text(json.dumps(data))
    return refused("solve", *ISLANDS, "--backend", "python", "--replay", "damaged.json")


@pytest.mark.parametrize("folder", ["/", "."])
def test_a_record_is_no_folder(shop, folder) -> None:
    assert "is a folder" in refused("solve", *ISLANDS, "--backend", "python", "--record", folder)


def test_a_record_that_waits_for_a_parcel_that_never_comes(shop) -> None:
    data = shop.read_json("record.json")
    deme = next(k for k, rows in data["imports"].items() if rows)
    data["imports"][deme][0][2] = 20  # a message with this number could have been sent, but was not
    assert "never sent" in replay(data)


@pytest.mark.parametrize("value", [None, -1, "x", [], 0.5, 2**70, [[1, 2]], {"x": 1}])
@pytest.mark.parametrize("key", ["schema", "last", "imports", "skipped", "run"])
def test_records_of_a_wrong_type(shop, key, value) -> None:
    data = shop.read_json("record.json")
    replay({**data, key: value})
    if key in ("last", "imports") and value != []:
        replay({**data, key: {**data[key], "0": value}})


def resume(name: str, state: object, arrays: dict[str, np.ndarray], compressed: bool = False) -> str:
    write_checkpoint(Path("forged.checkpoint"), state, arrays, compressed)
    return refused("solve", *RUNS[name], "--backend", "python", "--iterations", "9", "--resume", "forged.checkpoint")


@pytest.mark.parametrize("name", ["sgs", "pls", "ssga", "tabu"])
def test_arrays_of_a_checkpoint_that_do_not_fit(shop, name) -> None:
    state, arrays = parts_of(Path(f"{name}.checkpoint"))
    for key, array in arrays.items():
        for wrong in (array.astype(np.complex128), array.astype(np.float32), np.array(3), array[None], array[:0]):
            resume(name, state, {**arrays, key: wrong})
        resume(name, state, {k: v for k, v in arrays.items() if k != key})


def test_numbers_of_rows_and_decisions_outside_of_a_population(shop) -> None:
    for name, key, value in (
        ("sgs", "population.slots", 2**30),
        ("sgs", "population.x", 2**63),
        ("ssga", "population.x", 2**30),
        ("ssga", "best.best", -1),
        ("tabu", "population.x", 1),
        ("pls", "population.memory", 2**40),
        ("pls", "population.memory", -1),
        ("sgs", "best.step", -1),
        ("sgs", "best.score", 12345),
    ):
        state, arrays = parts_of(Path(f"{name}.checkpoint"))
        resume(name, state, {**arrays, key: np.full_like(arrays[key], value)})


@pytest.mark.parametrize("value", [None, -1, "x", [], 0.5, 2**70, {"x": 1}, [2**63]])
@pytest.mark.parametrize("key", ["step", "trace"])
def test_states_of_a_wrong_type(shop, key, value) -> None:
    state, arrays = parts_of(Path("sga.checkpoint"))
    resume("sga", {**state, key: value}, arrays)
    if key == "trace":
        resume("sga", {**state, key: {**state[key], "stride": value}}, arrays)
        resume("sga", {**state, key: {**state[key], "step": value}}, arrays)


def test_a_small_checkpoint_that_would_inflate(shop) -> None:
    state, arrays = parts_of(Path("sga.checkpoint"))
    assert "compressed" in resume("sga", state, {**arrays, "population.x": np.zeros(2**26, np.uint8)}, True)
    raw = io.BytesIO()
    np.savez(raw, **arrays)
    shape = str(arrays["population.x"].shape).encode()
    forged = raw.getvalue().replace(b"'shape': " + shape, b"'shape': (" + b"9" * (len(shape) - 3) + b",)")
    sign(Path("forged.checkpoint"), state, forged)
    refused("solve", *RUNS["sga"], "--backend", "python", "--resume", "forged.checkpoint")


@pytest.mark.parametrize("value", [None, -1, "x", [], 2**70, {"x": 1}, [["x"]], [[1], [1, 2]]])
@pytest.mark.parametrize("key", ["front", "trace", "algorithm", "solution"])
def test_results_of_a_wrong_type(shop, key, value) -> None:
    if (key, value) == ("algorithm", "x"):
        return
    Path("wrong.json").write_text(json.dumps({**shop.read_json("pls.json"), key: value}))
    refused("draw", "front", "wrong.json", "--output", "drawn.svg")


@pytest.mark.parametrize("problem", ["abc", None, 3, sy.Knapsack, [1, 2]], ids=str)
def test_what_is_no_problem(problem) -> None:
    with pytest.raises(sy.InputError, match="a problem"):
        sy.solve(problem)


@pytest.mark.parametrize("stop", [0.0, 0, np.float64(0), np.int32(0), np.float32(0)])
def test_a_number_is_a_budget_of_seconds(stop) -> None:
    result = sy.solve(sy.MMDP(12), "rs", stop=stop, backend="python")
    assert result.limits == {"seconds": 0.0}


@pytest.mark.parametrize(
    "wrong",
    [
        *({"stop": v} for v in ("x", True, [], -1, float("nan"))),
        {"callback": 3},
        {"checkpoint": 3},
        {"resume": 3},
        {"checkpoint_every": "x"},
        {"instance": 3},
        {"engine": 3},
    ],
    ids=str,
)
def test_arguments_of_a_wrong_type(wrong) -> None:
    with pytest.raises(sy.InputError):
        sy.solve(sy.MMDP(12), **{"engine": "rs", "backend": "python", **wrong})


class Vast(sy.Problem):
    encoding = sy.Binary("n")
    n: int

    def evaluate(self, x):
        return x[0]


@pytest.mark.parametrize("n", [2**40, 2**62, 2**31])
@pytest.mark.parametrize("engine", ["rs", sy.SGA(8)], ids=["rs", "sga"])
def test_more_decisions_than_memory_holds(engine, n) -> None:
    with pytest.raises(sy.InputError, match="decisions"):
        sy.solve(Vast(n), engine, backend="python")


def test_a_process_alone_speaks_for_itself_whatever_its_rank(tmp_path) -> None:
    told = {**os.environ, "SLURM_PROCID": "1"}
    line = [sys.executable, "-m", "systola", "instances", "show", "missing"]
    done = subprocess.run(line, capture_output=True, text=True, env=told, cwd=tmp_path)
    assert done.returncode == 2
    assert "missing" in done.stderr


@pytest.mark.parametrize(
    ("target", "inputs"),
    [
        *(("texts", 500), ("options", 60), ("configs", 40), ("checkpoints", 60), ("records", 40), ("results", 15)),
        *(("tables", 500), ("objects", 300), ("archives", 200), ("own problems", 60)),
    ],
)
def test_a_few_inputs_of_the_fuzz_run(shop, target, inputs) -> None:
    for number in Random(target).sample(range(10**6), inputs):
        assert attempt(target, number, shop) == ""


@pytest.mark.parametrize("option", ["--checkpoint", "--output"])
def test_a_pipe_that_nobody_reads_is_told_and_not_waited_for(option, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    command = ["solve", "mmdp:12", "--algorithm", "rs", "--iterations", "1", "--backend", "python", "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "systola", *command, option, str(tmp_path / "pipe")],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 2
    assert json.loads(done.stdout)["objective"] >= 0
    assert "pipe" in done.stderr
    assert "Traceback" not in done.stderr
