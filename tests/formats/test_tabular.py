"""The problems of systola in CSV, JSON and NumPy archives, with names."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import systola as sy
from conftest import sentence_of
from systola.formats import data as data_module
from systola.formats import describe, list_formats, open_instance
from systola.formats.json_form import write
from systola.model.names import label, labels_of
from systola.model.problem import digest_of

ITEMS = "weight,name,profit\n4,tent,5\n5,rope,6\n6,pan,7\n"
JOBS = "job,saw,drill,due\na,1,5,9\nb,4,2,8\n"
PAIRS = "job,agent,cost,load,capacity\na,x,1,2,5\nb,x,3,4,5\na,y,5,6,7\nb,y,7,7,7\n"


@pytest.fixture
def put(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)

    def put(name: str, content: Any) -> str:
        if isinstance(content, str):
            (tmp_path / name).write_text(content, encoding="utf-8")
        elif name.endswith(".npz"):
            np.savez(tmp_path / name, **content)
        else:
            (tmp_path / name).write_text(json.dumps(content))
        return name

    return put


def same(found: sy.Problem, expected: sy.Problem) -> bool:
    return digest_of(found) == digest_of(expected)


def refusal(spec: str, problem: str | None = None, **fields: Any) -> str:
    said = sentence_of(open_instance, spec, problem, fields=fields)
    assert "\n" not in said
    return said


# Tables


def test_items(put: Any) -> None:
    put("items.csv", ITEMS)
    for problem in (None, "knapsack"):
        found = open_instance("items.csv", problem, fields={"capacity": 10})
        assert same(found.problem, sy.Knapsack([5, 6, 7], [4, 5, 6], 10))
        assert labels_of(found.problem).decisions == ("tent", "rope", "pan")
        assert (found.name, found.kind, found.fields) == ("items", "knapsack", {"capacity": 10})
        assert found.source == "CSV file items.csv"
    assert same(open_instance("items.csv?capacity=10").problem, found.problem)
    put("plain.csv", "Size;VALUE\n4;5\n5;6\n6;7\n")
    plain = open_instance("plain.csv?capacity=10").problem
    assert same(plain, found.problem)
    assert not labels_of(plain).named


def test_requirements(put: Any) -> None:
    put("next.csv", "requirement,value,cost\nlogin,3,1\nsearch,4,2\n")
    found = open_instance("next.csv")
    assert same(found.problem, sy.NextRelease([1, 2], [3, 4]))
    assert labels_of(found.problem).decisions == ("login", "search")
    assert same(open_instance("next.csv?weight=0.25", "nrp").problem, sy.NextRelease([1, 2], [3, 4], 0.25))


def test_items_with_several_constraints(put: Any) -> None:
    put("many.csv", "name,profit,weight,volume\ntent,5,4,9\nrope,6,5,2\n")
    expected = sy.MultiKnapsack([5, 6], [[4, 5], [9, 2]], [8, 9])
    for fields in ({"capacities": [8, 9]}, {"capacities": "8,9"}):
        found = open_instance("many.csv", fields=fields)
        assert (found.kind, same(found.problem, expected)) == ("mkp", True)
    put("full.csv", "name,profit,weight,volume\ntent,5,4,9\ncapacity,,8,9\nrope,6,5,2\n")
    found = open_instance("full.csv")
    assert same(found.problem, expected)
    assert labels_of(found.problem).decisions == ("tent", "rope")
    one = open_instance("items.csv", "mkp", fields={"capacities": [9]}) if put("items.csv", ITEMS) else found
    assert same(one.problem, sy.MultiKnapsack([5, 6, 7], [[4, 5, 6]], [9]))


def test_jobs_by_machines(put: Any) -> None:
    put("shop.csv", JOBS)
    expected = sy.Flowshop([[1, 5], [4, 2]], due=[9, 8], objectives="tardiness,makespan")
    found = open_instance("shop.csv?objectives=tardiness,makespan")
    assert same(found.problem, expected)
    assert labels_of(found.problem).values == ("a", "b")
    put("other.csv", "Auftrag,1,2\n17,1,5\n18,4,2\n")
    found = open_instance("other.csv", "flowshop")
    assert same(found.problem, sy.Flowshop([[1, 5], [4, 2]]))
    assert labels_of(found.problem).values == ("17", "18")
    assert "add --problem NAME" in refusal("other.csv")


def test_jobs_by_agents(put: Any) -> None:
    put("gap.csv", PAIRS)
    expected = sy.GeneralizedAssignment([[1, 3], [5, 7]], [[2, 4], [6, 7]], [5, 7])
    found = open_instance("gap.csv")
    assert same(found.problem, expected)
    assert labels_of(found.problem).decisions == ("a", "b")
    assert labels_of(found.problem).values == ("x", "y")
    put("open.csv", "agent,weight,job,cost\nx,2,a,1\ny,7,b,7\nx,4,b,3\ny,6,a,5\n")
    assert same(open_instance("open.csv?capacities=5,7").problem, expected)
    assert "leaves no field 'capacities' open" in refusal("gap.csv?capacities=5,7")


@pytest.mark.parametrize(
    ("text", "problem", "said"),
    [
        (ITEMS, None, "Knapsack needs `capacity`, which t.csv does not have; add --set capacity=VALUE"),
        (ITEMS, "qap", "t.csv: a qap is no table, but can be an object of JSON with the keys flows, distances"),
        (ITEMS, "nrp", "a table must have a column 'cost', but has 'weight, name, profit' (t.csv, line 1)"),
        ("name,profit\na,1\n", "knapsack", "a table must have a column 'weight', but has 'name, profit'"),
        ("name,profit\na,1\n", "mkp", "a column for each constraint, but has none (t.csv, line 1)"),
        ("name,weight\na,1\n", "mkp", "a table must have a column 'profit'"),
        ("name,profit,weight,colour\na,1,2,3\n", "knapsack", "but has 'colour', too; leave it out (t.csv, line 1)"),
        ("name,profit,weight\na,1,x\n", "knapsack", "`weight` must be a whole number, but got 'x' (t.csv, line 2)"),
        ("name,profit,weight\na,1,-5\n", "knapsack", "Knapsack needs `capacity`"),
        ("name,profit,weight\na,1,2\na,1,2\n", "knapsack", "'a' of line 2 comes again (t.csv, line 3)"),
        ("colour,sound\n1,2\n", None, "which do not say of which problem it is; add --problem NAME"),
        ("name,profit,w\na,1,2\ncapacity,,3\nCapacity,,4\n", "mkp", "capacities must be one row, but come again (t.c"),
        ("name,profit,w\ncapacity,,3\n", "mkp", "a row for each item, but has none"),
        ("job\na\n", "flowshop", "then a column for each machine, but has 'job'"),
        ("job,agent,cost\na,x,1\n", None, "a table must have a column 'load'"),
        (PAIRS + "a,x,1,1,5\n", None, "'a' with 'x' of line 2 comes again (t.csv, line 6)"),
        (PAIRS + "c,x,1,1,5\n", None, "but 'c' with 'y' has none (t.csv)"),
        (PAIRS.replace("b,x,3,4,5", "b,x,3,4,6"), None, "'x' must have one capacity, but got 5 and 6 (t.csv, line 3)"),
        (PAIRS.replace("b,y,7,7,7", "b,y,7,7,-7"), None, "`capacity >= 0` must hold, but got -7 (t.csv, line 5)"),
        (PAIRS.replace("capacity", "colour"), None, "but has 'colour', too; leave it out"),
    ],
)
def test_tables_that_are_wrong(put: Any, text: str, problem: str | None, said: str) -> None:
    assert said in refusal(put("t.csv", text), problem)


def test_rules_of_a_problem_name_the_file(put: Any) -> None:
    put("items.csv", "name,profit,weight\na,1,-5\n")
    assert refusal("items.csv", capacity=3) == "`weight >= 0` must hold, but got -5 at [1] (items.csv)"
    put("items.csv", ITEMS)
    assert refusal("items.csv", capacity="much") == "Knapsack.capacity must be a whole number, but got the text 'much'"
    assert "leaves no field 'colour' open" in refusal("items.csv", capacity=3, colour=2)
    assert "leaves no field 'profits' open" in refusal("items.csv", capacity=3, profits=[2])
    assert "leaves no field 'colour' open" in refusal("items.csv?colour=2", capacity=3)
    assert "holds a single problem, but got #2" in refusal("items.csv#2")
    assert "`capacity` comes" in refusal("items.csv?capacity=3&capacity=4").replace("'", "`")
    # A field that only one problem has says which is meant.
    put("typo.csv", "name,profit,wieght\na,1,5\n")
    assert "a table must have a column 'weight', but has 'name, profit, wieght'" in refusal("typo.csv", capacity=3)


def test_other_files_called_csv(put: Any) -> None:
    put("w_requirements.csv", "A|5|B|\nB|7||A\n")
    put("w_stakeholders.csv", "1\n2\n")
    put("w_value.csv", "A|1|2\nB|3|4\n")
    assert open_instance("w_requirements.csv").source.startswith("release planning set")
    put("knap.csv", "3 10\n5 4\n6 5\n7 6\n")
    assert open_instance("knap.csv").source.startswith("knapPI")


# JSON and archives


PROBLEMS: dict[str, tuple[str, sy.Problem]] = {
    "flowshop": ("flowshop", sy.Flowshop([[1, 5], [4, 2]], due=[9, 8], objectives="tardiness", weights=[3])),
    "gap": ("gap", sy.GeneralizedAssignment([[1, 3], [5, 7]], [[2, 4], [6, 7]], [5, 7], maximise=True)),
    "knapsack": ("knapsack", sy.Knapsack([5, 6], [4, 5], 10)),
    "mkp": ("mkp", sy.MultiKnapsack([5, 6], [[4, 5], [9, 2]], [8, 9], scale=10)),
    "mmdp": ("mmdp", sy.MMDP(12)),
    "nrp": ("nrp", sy.NextRelease([1, 2], [3, 4], 0.25)),
    "customers": ("nrp", sy.CustomerRelease.from_requests([5, 6], [2, 3, 4], [[1], [0, 2]], [(0, 1)], 8)),
    "qap": ("qap", sy.QuadraticAssignment([[0, 1], [2, 0]], [[0, 5], [6, 0]])),
}
NAMES: dict[str, dict[str, list[str]]] = {
    "flowshop": {"values": ["saw", "drill"]},
    "gap": {"decisions": ["a", "b"], "values": ["x", "y"]},
    "qap": {"decisions": ["a", "b"], "values": ["x", "y"]},
    "knapsack": {"decisions": ["tent", "rope"]},
    "customers": {"decisions": ["tent", "rope"]},
}


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("named", [False, True])
def test_every_problem_there_and_back(put: Any, name: str, named: bool) -> None:
    kind, problem = PROBLEMS[name]
    problem = type(problem)(**{f: getattr(problem, f) for f in problem.__dataclass_fields__ if f in fields_of(problem)})
    if named:
        label(problem, **NAMES.get(name, {}))
    write(problem, kind, "p.json")
    for spec, given in (("p.json", None), ("p.json", kind)):
        found = open_instance(spec, given)
        assert same(found.problem, problem)
        assert (found.kind, labels_of(found.problem)) == (kind, labels_of(problem))
    content = json.loads(Path("p.json").read_text())
    del content["problem"]  # the keys say it
    put("keys.any", content)
    assert same(open_instance("keys.any").problem, problem)
    names = content.pop("names", None)
    arrays = {key: np.array(value) for key, value in content.items()}
    put("p.npz", arrays if not isinstance(names, list) else {**arrays, "names": np.array(names)})
    assert same(open_instance("p.npz").problem, problem)


def fields_of(problem: sy.Problem) -> list[str]:
    return [f.name for f in problem.__dataclass_fields__.values() if f.init]  # type: ignore[attr-defined]


def test_json_of_requests(put: Any) -> None:
    data = {"profits": [5, 6], "costs": [2, 3, 4], "requests": [[1], [0, 2]], "dependencies": [[0, 1]], "budget": 8}
    put("nrp.json", {**data, "names": ["acme", "umbrella"]})
    found = open_instance("nrp.json")
    assert same(found.problem, PROBLEMS["customers"][1])
    assert labels_of(found.problem).decisions == ("acme", "umbrella")
    for key, value, said in (
        ("requests", 5, "`requests` must be a list of lists of numbers, but got 5"),
        ("requests", [5, 6], "but got 5 at [0]"),
        ("requests", [[5], ["x"]], "`requests` must hold whole numbers, but got the text 'x' at [1]"),
        ("requests", [[1]], "but got 1 for 2 customers"),
        ("requests", [[1], [7]], "`0 <= requirement < 3` must hold, but got 7"),
        ("dependencies", [[1, 2, 3]], "must be a pair [a, b]: b needs a, but got 3 numbers"),
        ("costs", [[1, 2]], "profits and costs must be lists of numbers, but have rows"),
        ("budget", -1, "`budget >= 0` must hold"),
    ):
        put("bad.json", {**data, key: value})
        assert said in refusal("bad.json", "nrp"), key


def test_loads_may_be_called_weights(put: Any) -> None:
    data = {"costs": [[1, 3], [5, 7]], "weights": [[2, 4], [6, 7]], "capacities": [5, 7]}
    put("gap.json", {**data, "names": {"jobs": ["a", "b"], "agents": ["x", "y"]}})
    found = open_instance("gap.json")
    assert same(found.problem, sy.GeneralizedAssignment(data["costs"], data["weights"], data["capacities"]))  # type: ignore[arg-type]
    assert labels_of(found.problem).values == ("x", "y")
    put("both.json", {**data, "loads": [[1, 1], [1, 1]]})
    assert "must have one of weights and loads, but has both" in refusal("both.json", "gap")


def test_json_that_leaves_something_open(put: Any) -> None:
    put("open.json", {"profits": [5, 6], "weights": [4, 5]})
    assert same(open_instance("open.json", fields={"capacity": 10}).problem, PROBLEMS["knapsack"][1])
    assert same(open_instance("open.json?capacity=10").problem, PROBLEMS["knapsack"][1])
    assert "Knapsack needs `capacity`, which open.json does not have" in refusal("open.json", "knapsack")
    assert 'add a key "problem", or --problem NAME' in refusal("open.json")


@pytest.mark.parametrize(
    ("text", "problem", "said"),
    [
        ("[1]", None, "must be an object of JSON, {...}, but is a list (t.json)"),
        ("{", None, "must be JSON, but it is not: Expecting property name enclosed in double quotes (t.json, line 1)"),
        ('{"n": 12,\n "n": 18}', None, "a key must come once, but 'n' comes again (t.json)"),
        ('{"n": NaN}', None, "NaN is no number that JSON has (t.json)"),
        ('{"n": ' + "9" * 5000 + "}", None, "must be JSON that can be read, but is not: Exceeds the limit"),
        ('{"n": 1' + "0" * 30 + "}", None, "MMDP.n must fit into 64 bits"),
        ('{"a": ' + "[" * 100_000, None, "(t.json)"),
        ('{"problem": 5, "n": 12}', None, "`problem` must be a text, but got 5 (t.json)"),
        ('{"problem": "tsp", "n": 12}', None, "`problem` must be one of flowshop, gap, knapsack"),
        ('{"problem": "qap", "n": 12}', "mmdp", "says that it is of the problem 'qap', not mmdp"),
        ('{"n": 12, "colour": 3}', "mmdp", "MMDP has no field 'colour'; It has: n (t.json)"),
        (
            '{"capcity": 3, "profits": [1], "weights": [1]}',
            "knapsack",
            "has no field 'capcity'; did you mean 'capacity'?",
        ),
        ('{"n": "12"}', None, "MMDP.n must be a whole number, but got the text '12' (t.json)"),
        ('{"n": 13}', None, "positive multiple of 6, but got 13 (t.json)"),
        (
            '{"flows": [[0, 1], [1]], "distances": []}',
            None,
            "QuadraticAssignment.flows must be an array of numbers, but ",
        ),
        (
            '{"flows": {"a": 1}, "distances": []}',
            None,
            "QuadraticAssignment.flows must be an array of numbers, but got an",
        ),
        ('{"colour": 3}', None, "does not say which problem it is of"),
        ('{"distances": [[0]]}', None, "does not say which problem it is of"),
        ('{"n": 6, "names": ["a"]}', None, "there must be a name for each decision, 6 in all, but got 1 (t.json)"),
        ('{"n": 6, "names": "abcdef"}', None, "`names` must be a list of the decisions' names, but got the text"),
        ('{"n": 6, "names": [1, 2, 3, 4, 5, null]}', None, "must have a text as its name, but got null (t.json)"),
        ('{"n": 6, "names": {"items": []}}', None, "`names` may have decisions, but got 'items' (t.json)"),
    ],
)
def test_json_that_is_wrong(put: Any, text: str, problem: str | None, said: str) -> None:
    assert said in refusal(put("t.json", text), problem)


def test_archives_that_are_wrong(put: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "cannot read the archive missing.npz" in refusal("missing.npz")
    Path("noise.npz").write_bytes(b"PK" + bytes(range(256)))
    assert "must be a NumPy archive without objects, but is not" in refusal("noise.npz")
    np.savez("objects.npz", n=np.array([{}], object))
    assert "must be a NumPy archive without objects, but is not" in refusal("objects.npz")
    put("p.npz", {"n": np.array(12), "problem": np.array(["x"])})
    assert "`problem` must be a text" in refusal("p.npz")
    with zipfile.ZipFile("bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        body = io.BytesIO()
        np.save(body, np.zeros(10_000, np.int64))
        archive.writestr("n.npy", body.getvalue())
    monkeypatch.setattr(data_module, "MOST_BYTES", 20_000)
    assert "its arrays must have at most 20,000 bytes, but have more" in refusal("bomb.npz")


def test_compressed_archives(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "p.npz", profits=[5, 6], weights=np.array([4, 5], np.int16), capacity=10)
    assert same(open_instance(str(tmp_path / "p.npz")).problem, PROBLEMS["knapsack"][1])


def test_what_is_shown(put: Any) -> None:
    put("items.csv", ITEMS)
    facts = describe(open_instance("items.csv?capacity=10"))
    assert facts["names"] == {"items": ["tent", "rope", "pan"]}
    assert "names" not in describe(open_instance("mmdp:12"))
    assert json.loads(json.dumps(facts)) == facts


def test_every_problem_has_a_form() -> None:
    known = {(form.problem, form.name) for form in list_formats()}
    kinds = {kind for kind, _ in PROBLEMS.values()}
    assert {problem for problem, name in known if name == "JSON or .npz"} == kinds
    assert {problem for problem, name in known if name == "CSV"} == kinds - {"mmdp", "qap"}
    assert all(form.layout for form in list_formats())


def test_listed_formats_read(put: Any) -> None:
    put("items.csv", "name,cost,value\na,1,2\n")
    (form,) = (f for f in list_formats() if (f.problem, f.name) == ("nrp", "CSV"))
    found = form.read(Path("items.csv"))
    assert same(found.problem, sy.NextRelease([1], [2]))  # type: ignore[union-attr]
