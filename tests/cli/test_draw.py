"""`systola draw`: pictures from the command line."""

import json
import warnings

import numpy as np
import pytest

import systola as sy
from systola.cli import main

SHOP = "flowshop:8x3@5?objectives=makespan,tardiness"


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Results of small runs, in files."""
    folder = tmp_path_factory.mktemp("results")
    for name, args in {
        "one": [SHOP, "--algorithm", "pls", "--seed", "1"],
        "two": [SHOP, "--algorithm", "pls", "--seed", "2"],
        "three": ["flowshop:8x3@5?objectives=makespan,tardiness,tardy", "--algorithm", "pls"],
        "alone": ["flowshop:8x3@5", "--algorithm", "ig"],
    }.items():
        assert not main(
            ["solve", *args, "--iterations", "4", "--backend", "python", "--quiet", "--output", str(folder / name)]
        )
    return folder


@pytest.mark.parametrize(
    ("kind", "names", "instance"),
    [
        ("front", ["one", "two"], SHOP),
        ("front", ["three"], None),
        ("attainment", ["one", "two"], None),
        ("gantt", ["alone"], "flowshop:8x3@5"),
        ("convergence", ["alone"], None),
        ("solution", ["alone"], "flowshop:8x3@5"),
    ],
)
def test_pictures(saved, tmp_path, kind, names, instance):
    target = tmp_path / "picture.svg"
    more = ["--instance", instance] if instance else []
    assert not main(["draw", kind, *(str(saved / name) for name in names), *more, "--output", str(target)])
    assert "<svg" in target.read_text()


@pytest.mark.parametrize(
    ("kind", "names", "instance", "message"),
    [
        ("front", ["alone"], None, "has no front: ig looks for one solution"),
        ("front", ["one", "three"], None, "as many objectives, but these have [2, 3]"),
        ("front", ["one"], "flowshop:8x3@5", "the instance has 1 objectives, but the fronts have 2"),
        ("gantt", ["alone"], None, "a Gantt chart needs the flowshop that was solved"),
        ("gantt", ["one", "two"], SHOP, "a Gantt chart is of one result, but got 2"),
        ("gantt", ["alone"], "flowshop:8x3@6", "the result is not one of"),
        ("solution", ["alone"], None, "a solution is drawn by its problem"),
        ("solution", ["one", "two"], SHOP, "a drawing is of one result, but got 2"),
        ("solution", ["alone"], "flowshop:8x3@6", "the result is not one of"),
        ("solution", ["alone"], "flowshop:8x3@5", "the name must end in .svg"),
        ("convergence", ["one"], None, "has several objectives, and a convergence plot is of one"),
    ],
)
def test_what_cannot_be_drawn(saved, tmp_path, capsys, kind, names, instance, message):
    more = ["--instance", instance] if instance else []
    with pytest.raises(SystemExit) as end:
        main(["draw", kind, *(str(saved / name) for name in names), *more, "--output", str(tmp_path / "x.png")])
    assert end.value.code == 2
    assert message in capsys.readouterr().err


def test_the_front_is_in_the_result(saved):
    data = json.loads((saved / "one").read_text())
    assert data["front"] == sorted(data["front"])
    assert len(data["front"]) == len(data["front_solutions"])
    assert "front" not in json.loads((saved / "alone").read_text())


def test_infeasible_runs_are_told_in_a_convergence_plot(saved, tmp_path, capsys):
    pytest.importorskip("matplotlib", reason='needs the extra "plots"')
    heavy = sy.Knapsack(np.ones(20, int), np.full(20, 100), 50)  # nothing fits but nothing
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        never = sy.solve(heavy, sy.SGA(size=4), stop=sy.Iterations(0), backend="python")
    assert not never.feasible
    never.save(tmp_path / "never")
    target = tmp_path / "picture.svg"
    assert not main(["draw", "convergence", str(saved / "alone"), str(tmp_path / "never"), "--output", str(target)])
    assert "sga (1 of 1 infeasible)" in target.read_text()
    with pytest.raises(SystemExit):
        main(["draw", "convergence", str(tmp_path / "never"), "--output", str(target)])
    assert "a convergence plot needs one feasible run or more" in capsys.readouterr().err
