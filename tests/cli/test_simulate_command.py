"""`systola simulate`."""

import json
from functools import partial

import pytest

from conftest import refused
from systola.lab.machine import Machine
from systola.lab.simulation import simulate

SMALL = ["--demes", "4,16", "--rounds", "6"]


@pytest.fixture
def call(run_command):
    return partial(run_command, "simulate")


def test_tables_say_that_they_are_simulated(call):
    code, out, _ = call(*SMALL)
    assert code == 0
    titles = [line for line in out.splitlines() if line.startswith("Simulation")]
    assert len(titles) == 4
    assert titles[0].endswith("(6 rounds, seed 1)")


def test_json_is_what_the_library_gives(call):
    costs = {"iteration_seconds": 2e-3, "spread": 0.2, "stall_chance": 0.01, "stall_seconds": 0.1, "latency": 1e-4}
    options = [word for name, value in costs.items() for word in (f"--{name.replace('_', '-')}", value)]
    code, out, err = call(*SMALL, *options, "--seed", 9, "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert found["simulation"] is True
    assert costs.items() <= found["machine"].items()
    runs = [
        simulate(demes, 6, mode, machine=Machine(**costs), seed=9).to_json()
        for demes in (4, 16)
        for mode in ("asynchronous", "synchronous")
    ]
    assert found["runs"] == json.loads(json.dumps(runs))


def test_picture(call, tmp_path):
    pytest.importorskip("matplotlib", reason="needs the extra plots")
    code, _, _ = call(*SMALL, "--quiet", "--output", tmp_path / "scaling.svg")
    assert code == 0
    assert "Simulation" in (tmp_path / "scaling.svg").read_text()


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--demes", "64,many"], "--demes needs whole numbers with commas between, but got '64,many'"),
        (["--demes", "64,16"], "in increasing order, but got [64, 16]"),
        (["--demes", "13"], "13 of them form none; choose a number that is a product"),
        (["--rounds", "0"], "`rounds` must be a whole number with 1 <= rounds"),
        (["--spread", "-1"], "0 <= spread <= 3, but got -1"),
        (["--latency", "nan"], "`latency` must be a number"),
        (["--seed", "-1"], "0 <= seed < 2**64"),
        (["--output", "scaling.gif"], "the name of a plot ends in .png, .pdf, .svg, but got 'scaling.gif'"),
        (["--iterations", "3"], "No such option"),
    ],
)
def test_what_cannot_be_simulated(call, args, message):
    assert message in refused(call(*args))
