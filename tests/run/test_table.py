"""Results as tables: CSV, and frames of pandas."""

import csv
import json
import sys

import pytest

import systola as sy
from systola.model.names import label

RUN = {"stop": sy.Iterations(5), "backend": "python", "seed": 1}


@pytest.fixture(scope="module")
def items():
    problem = sy.Knapsack([5, 6, 7], [4, 5, 6], 10)
    label(problem, ["tent", 'rope, "long"', "pan"])
    return sy.solve(problem, **RUN)


@pytest.fixture(scope="module")
def plan():
    problem = sy.Flowshop([[1, 5], [4, 2], [3, 3]])
    label(problem, values=["saw", "drill", "paint"])
    return sy.solve(problem, "ig", **RUN)


@pytest.fixture(scope="module")
def shares():
    problem = sy.GeneralizedAssignment([[1, 9, 1], [9, 1, 9]], [[1, 1, 1], [1, 1, 1]], [3, 3])
    label(problem, ["a", "b", "c"], ["x", "y"])
    return sy.solve(problem, **RUN)


@pytest.fixture(scope="module")
def front():
    problem = sy.Flowshop([[1, 5], [4, 2], [3, 3]], due=[2, 5, 9], objectives="makespan,tardiness")
    label(problem, values=["saw", "drill", "paint"])
    return sy.solve(problem, "pls", **RUN)


def saved(result, path):
    result.save(path)
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def test_csv_of_solutions(items, plan, shares, tmp_path):
    rows = saved(items, tmp_path / "items.csv")
    assert rows == [["item", "chosen"], ["tent", "1"], ['rope, "long"', "0"], ["pan", "1"]]
    rows = saved(plan, tmp_path / "plan.CSV")
    assert rows[0] == ["position", "job"]
    assert [row[0] for row in rows[1:]] == ["1", "2", "3"]
    assert [row[1] for row in rows[1:]] == [["saw", "drill", "paint"][k] for k in plan.solution]
    assert saved(shares, tmp_path / "shares.csv") == [["job", "agent"], ["a", "x"], ["b", "y"], ["c", "x"]]


def test_csv_without_names(tmp_path):
    result = sy.solve(sy.QuadraticAssignment([[0, 1], [1, 0]], [[0, 1], [1, 0]]), **RUN)
    rows = saved(result, tmp_path / "plain.csv")
    assert rows[0] == ["facility", "location"]
    assert [[int(cell) for cell in row] for row in rows[1:]] == [[0, result.solution[0]], [1, result.solution[1]]]
    assert "named_solution" not in result.to_json()


def test_csv_of_a_front(front, tmp_path):
    rows = saved(front, tmp_path / "front.csv")
    assert rows[0] == ["objective 1", "objective 2", "position 1", "position 2", "position 3"]
    assert [[int(cell) for cell in row[:2]] for row in rows[1:]] == front.front
    assert {frozenset(row[2:]) for row in rows[1:]} == {frozenset(("saw", "drill", "paint"))}


def test_json_has_the_names(items, plan, shares, tmp_path):
    for result, named in (
        (items, ["tent", "pan"]),
        (plan, [["saw", "drill", "paint"][k] for k in plan.solution]),
        (shares, {"a": "x", "b": "y", "c": "x"}),
    ):
        assert result.named_solution == named
        result.save(tmp_path / "result.json")
        assert json.loads((tmp_path / "result.json").read_text())["named_solution"] == named
        again = sy.Result.load(tmp_path / "result.json")
        assert again.names == result.names
        assert again.named_solution == named


def test_a_result_of_before_names(items):
    data = items.to_json()
    for key in ("names", "named_solution"):
        del data[key]
    old = sy.Result.from_json(data)
    assert old.names is None
    assert old._table("solution").columns == ("decision", "value")


@pytest.mark.parametrize("names", [5, {"kind": "x"}, {"decisions": ["a"]}, {"colour": "red"}, {"values": "ab"}])
def test_names_that_do_not_fit_a_result(items, names):
    with pytest.raises(sy.InputError, match="not a complete result"):
        sy.Result.from_json({**items.to_json(), "names": names})


def test_fronts_with_too_few_solutions(front):
    data = front.to_json()
    data["front_solutions"] = data["front_solutions"][:-1]
    with pytest.raises(sy.InputError, match="front_solutions"):
        sy.Result.from_json(data)


def test_a_table_that_cannot_be_written(items, tmp_path):
    with pytest.raises(sy.InputError, match="cannot write the result"):
        items.save(tmp_path / "no" / "items.csv")


def test_frames(items, plan, shares, front):
    pytest.importorskip("pandas", reason="needs the extra pandas")
    frame = items.to_frame()
    assert list(frame.columns) == ["item", "chosen"]
    assert frame[frame.chosen].item.tolist() == ["tent", "pan"]
    assert plan.to_frame().job.tolist() == plan.named_solution
    assert shares.to_frame().set_index("job").agent.to_dict() == shares.named_solution
    assert front.to_frame("front")[["objective 1", "objective 2"]].to_numpy().tolist() == front.front
    trace = plan.to_frame("trace")
    assert trace.objective.tolist() == [s.objective for s in plan.trace.samples]
    assert list(front.to_frame("trace").columns)[3:5] == ["objective 1", "objective 2"]
    assert len(sy.solve(sy.MMDP(12), **RUN).to_frame()) == 12


def test_parts_that_are_none(items):
    with pytest.raises(sy.InputError, match="this result has none; solve with PLS"):
        items._table("front")
    with pytest.raises(sy.InputError, match="solution, the front or the trace"):
        items.to_frame("answer")


def test_frames_without_pandas(items, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(sy.MissingExtra, match=r'pip install "systola\[pandas\]"'):
        items.to_frame()


def test_sweeps_keep_names():
    from systola.lab.sweep import sweep_weights

    problem = sy.NextRelease([1, 2], [3, 4])
    label(problem, ["login", "search"])
    swept = sweep_weights(problem, None, 2, **RUN)
    assert all(result.names.decisions == ("login", "search") for result in swept.results)
    assert all(set(result.named_solution) <= {"login", "search"} for result in swept.results)
