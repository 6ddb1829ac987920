"""Problems of one's own: FILE.py:NAME, with data from JSON, CSV and NumPy archives."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import sentence_of
from systola import InputError
from systola.formats import load_problem, look_up, open_instance
from systola.formats.source import Source
from systola.model.names import labels_of

CODE = """
import numpy as np
import systola as sy
from numpy.typing import NDArray
from beside import FEE

print("said while loading")


class TSP(sy.Problem):
    encoding = sy.Permutation("distances")
    sense = sy.MINIMISE
    names = sy.Names("position", "city")
    distances: NDArray[np.float64]
    fee: int = FEE
    note: str = ""

    def evaluate(self, x):
        total = float(self.fee)
        for k in range(len(x)):
            total += self.distances[x[k - 1], x[k]]
        return total


class Items(sy.Problem):
    encoding = sy.Binary("worth")
    worth: np.ndarray
    size: np.ndarray
    room: int

    def check(self):
        if self.room < 0:
            raise sy.InputError(f"`room >= 0` must hold, but got {self.room}")
        if self.room == 13:
            raise ValueError("not this one")

    def evaluate(self, x):
        return x[0]


class Fixed(sy.Problem):
    encoding = sy.Binary("n")
    n: int = 5

    def evaluate(self, x):
        return x[0]


class Other:
    pass


def make(n: int, seed: int = 1):
    return Fixed(n + seed)


def wrong():
    return 5


def broken(n: int = 3):
    return Fixed(1 // (n - 3))


ready = Fixed(7)
number = 5
"""
CITIES = [[0, 3, 5], [3, 0, 2], [5, 2, 0]]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in ("beside", "systola_user_my"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    (tmp_path / "my.py").write_text(CODE)
    (tmp_path / "beside.py").write_text("FEE = 4\n")
    (tmp_path / "cities.json").write_text(json.dumps({"distances": CITIES, "names": ["Rome", "Oslo", "Bern"]}))
    return tmp_path


def refusal(spec: str, data: str | None = None, **fields: Any) -> str:
    said = sentence_of(load_problem, spec, data, fields=fields)
    assert "\n" not in said
    return said


def values(problem: Any) -> tuple[Any, ...]:
    return problem.distances.tolist(), problem.distances.dtype, problem.fee


def test_a_class_with_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = load_problem("my.py:TSP", "cities.json")
    assert values(found.problem) == (CITIES, np.float64, 4)
    assert labels_of(found.problem).values == ("Rome", "Oslo", "Bern")
    assert (found.name, found.kind, found.source) == ("cities", "TSP", "my.py:TSP, data from cities.json")
    assert capsys.readouterr() == ("", "said while loading\n")  # standard output is for the answer
    again = load_problem("./my.py:TSP", Path("cities.json"), fields={"fee": 9, "note": "dear"})
    assert values(again.problem) == (CITIES, np.float64, 9)
    assert again.fields == {"fee": 9, "note": "dear"}
    assert capsys.readouterr().err == ""  # executed once
    assert type(again.problem) is type(found.problem)


def test_an_edited_file_is_executed_again(folder: Path) -> None:
    before = load_problem("my.py:Fixed").problem
    (folder / "my.py").write_text(CODE.replace("n: int = 5", "n: int = 6"))
    assert (before.n, load_problem("my.py:Fixed").problem.n) == (5, 6)  # type: ignore[attr-defined]


def test_two_files_of_the_same_name(folder: Path) -> None:
    (folder / "deep").mkdir()
    (folder / "deep" / "my.py").write_text(CODE.replace("n: int = 5", "n: int = 8"))
    first, second = load_problem("my.py:Fixed").problem, load_problem("deep/my.py:Fixed").problem
    assert (first.n, second.n) == (5, 8)  # type: ignore[attr-defined]
    assert type(first).__module__ != type(second).__module__


def test_archives(folder: Path) -> None:
    np.savez("cities.npz", distances=np.array(CITIES, ">i4"), fee=3, names=np.array(["a", "b", "c"]))
    found = load_problem("my.py:TSP", "cities.npz")
    assert values(found.problem) == (CITIES, np.float64, 3)
    assert labels_of(found.problem).values == ("a", "b", "c")


def test_tables(folder: Path) -> None:
    Path("matrix.csv").write_text(",Rome,Oslo,Bern\nRome,0,3,5\nOslo,3,0,2\nBern,5,2,0\n")
    found = load_problem("my.py:TSP", "matrix.csv")
    assert values(found.problem) == (CITIES, np.float64, 4)
    assert labels_of(found.problem).values == ("Rome", "Oslo", "Bern")
    Path("matrix.tsv").write_text("a\tb\tc\n0\t3\t5\n3\t0\t2\n5\t2\t0\n")
    found = load_problem("my.py:TSP", "matrix.tsv")
    assert values(found.problem) == (CITIES, np.float64, 4)
    assert not labels_of(found.problem).named
    Path("points.csv").write_text("city,x,y\nRome,0,1\nOslo,1,0.5\nBern,1,1\n")  # a row each, as wide as you like
    found = load_problem("my.py:TSP", "points.csv")
    assert values(found.problem) == ([[0, 1], [1, 0.5], [1, 1]], np.float64, 4)
    assert labels_of(found.problem).values == ("Rome", "Oslo", "Bern")
    Path("items.csv").write_text("id,Size,worth\ntent,4,5.5\nrope,5,6\n")
    found = load_problem("my.py:Items", "items.csv", fields={"room": 7})
    problem: Any = found.problem
    assert (problem.worth.tolist(), problem.size.tolist(), problem.room) == ([5.5, 6.0], [4, 5], 7)
    assert labels_of(problem).decisions == ("tent", "rope")


def test_without_data(folder: Path) -> None:
    assert load_problem("my.py:Fixed").problem.n == 5  # type: ignore[attr-defined]
    assert load_problem("my.py:Fixed", fields={"n": 3}).problem.n == 3  # type: ignore[attr-defined]
    found = load_problem("my.py:ready")
    assert (found.name, found.problem.n) == ("ready", 7)  # type: ignore[attr-defined]
    made = load_problem("my.py:make", fields={"n": 3, "seed": 2})
    assert (made.name, made.kind, made.problem.n) == ("make", "Fixed", 5)  # type: ignore[attr-defined]
    Path("n.json").write_text('{"n": 4}')
    assert load_problem("my.py:make", "n.json").problem.n == 5  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("spec", "data", "fields", "said"),
    [
        ("my.py", None, {}, "my.py is Python code, in which a name must say which problem is meant: my.py:TSP"),
        ("my.py:", None, {}, "my.py is Python code, in which a name must say which problem is meant: my.py:TSP"),
        ("nowhere.py:TSP", None, {}, "there is no file 'nowhere.py', in which the problem TSP should be"),
        ("\0.py:TSP", None, {}, "there is no file"),
        ("x" * 5000 + ".py:TSP", None, {}, "there is no file"),
        ("my.py:TPS", None, {}, "my.py has no class or function 'TPS'; did you mean 'TSP'? It has: TSP, Items, Fixed"),
        ("my.py:number", None, {}, "or a function that returns one, but is a int"),
        ("my.py:Other", None, {}, "but is the class Other"),
        ("my.py:wrong", None, {}, "wrong must return a Problem, but returned int (my.py)"),
        (
            "my.py:broken",
            None,
            {},
            "broken cannot be made: ZeroDivisionError: integer division or modulo by zero (my.py",
        ),
        ("my.py:TSP", None, {}, "TSP needs `distances`, but there is no file of data; add --data FILE"),
        ("my.py:make", None, {}, "make needs `n`, but there is no file of data; add --data FILE, or --set n=VALUE"),
        ("my.py:Items", "cities.json", {}, "Items has no field 'distances'; It has: worth, size, room (cities.json)"),
        ("my.py:ready", "cities.json", {}, "is a problem with its data already, but got the file cities.json"),
        ("my.py:TSP", "cities.json", {"colour": 3}, "my.py:TSP has no field 'colour' that is left open"),
        ("my.py:TSP", "cities.json", {"distances": [1]}, "my.py:TSP has no field 'distances' that is left open"),
        ("my.py:TSP", "missing.json", {}, "there is none at 'missing.json'"),
        ("my.py:TSP", "beside.py", {}, "a file of data must be .json, .csv or .npz, but got 'beside.py'"),
        ("my.py:TSP", ".", {}, "is a directory"),
    ],
)
def test_what_cannot_be(folder: Path, spec: str, data: str | None, fields: dict[str, Any], said: str) -> None:
    assert said in refusal(spec, data, **fields)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"distances": CITIES, "fee": 1.5}, "TSP.fee must be a whole number, but got 1.5 (t.json)"),
        ({"distances": CITIES, "note": 5}, "TSP.note must be a text, but got 5 (t.json)"),
        ({"distances": 5}, "TSP.distances must be an array of numbers, but got 5 (t.json)"),
        (
            {"distances": [[0, "x"], [1, 0]]},
            "TSP.distances must be an array of numbers, but got the text 'x' at [0][1]",
        ),
        (
            {"distances": [[0, 1], [1]]},
            "TSP.distances must be an array of numbers, but its rows differ in length (t.js",
        ),
        ({"distances": CITIES, "names": ["a"]}, "a name for each city, 3 in all, but got 1 (t.json)"),
        ({"distances": CITIES, "names": {"stops": []}}, "`names` may have cities, but got 'stops' (t.json)"),
        ({"distances": CITIES, "problem": "tsp"}, "TSP has no field 'problem'"),
        ({}, "TSP needs `distances`, which t.json does not have"),
    ],
)
def test_json_that_does_not_fit(folder: Path, data: Any, said: str) -> None:
    Path("t.json").write_text(json.dumps(data))
    assert said in refusal("my.py:TSP", "t.json")


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (
            "Items",
            "worth,size,colour\n1,2,3\n",
            "Items has no field 'colour'; it has: worth, size, room (t.csv, line 1)",
        ),
        (
            "Items",
            "worth,size,room\n1,2,3\n",
            "Items.room is a single value, but is a column here; leave it out, and add",
        ),
        ("Items", "worth,size\n1,2\n", "Items needs `room`, which t.csv does not have; add --set room=VALUE"),
        ("Items", "worth,size\n1,x\n", "each `size` must be a number, but got 'x' (t.csv, line 2)"),
        ("Items", "a,b\n1,2\n", "a column must be called as a field of Items, worth, size, room, but there are 'a, b'"),
        ("TSP", "a\nx\n", "a column of numbers for TSP.distances, but has none (t.csv)"),
        ("TSP", ",b,a\na,0,1\nb,1,0\n", "columns must be in the order of the rows of the same names"),
        ("Fixed", "a\n1\n", "a column must be called as a field of Fixed, n, but there are 'a'"),
    ],
)
def test_tables_that_do_not_fit(folder: Path, name: str, text: str, said: str) -> None:
    Path("t.csv").write_text(text)
    assert said in refusal(f"my.py:{name}", "t.csv")


def test_rules_of_the_class(folder: Path) -> None:
    Path("t.json").write_text('{"worth": [1], "size": [2], "room": -1}')
    assert refusal("my.py:Items", "t.json") == "`room >= 0` must hold, but got -1 (t.json)"
    Path("t.json").write_text('{"worth": [1], "size": [2], "room": 13}')
    line = CODE.splitlines().index('            raise ValueError("not this one")') + 1
    said = f"Items cannot be made from t.json: ValueError: not this one (my.py, line {line})"
    assert refusal("my.py:Items", "t.json") == said


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("1 / 0", "cannot be loaded: ZeroDivisionError: division by zero (bad.py, line 2)"),
        ("def f(:", "cannot be loaded: SyntaxError: invalid syntax (bad.py, line 2)"),
        ("import nowhere_at_all", "cannot be loaded: ModuleNotFoundError: No module named 'nowhere_at_all'"),
        (
            "raise SystemExit(3)",
            'put what runs only when it is a program of its own under `if __name__ == "__main__":`',
        ),
        ("import systola as sy\nclass P(sy.Problem):\n    n: int", "cannot be loaded: a problem needs `encoding` and"),
        ("\udcff", "cannot be loaded"),
        ("x = '\\0'", "has no class or function 'P'; It has: none"),
    ],
)
def test_files_that_cannot_be_executed(folder: Path, code: str, said: str) -> None:
    (folder / "bad.py").write_bytes(f"\n{code}\n".encode("utf-8", "surrogateescape"))
    assert said in refusal("bad.py:P")


def test_code_is_executed_only_where_it_is_asked_for(folder: Path) -> None:
    for spec in ("my.py:TSP", "my.py:Fixed", "my.py"):
        for use in (open_instance, look_up, lambda name: Source(name).open()):
            with pytest.raises(InputError, match="Python code, which is executed only where its file is named"):
                use(spec)
    assert "systola_user_my" not in sys.modules
    assert Source("my.py:Fixed", code=True).open().problem.n == 5  # type: ignore[attr-defined]


def test_sources(folder: Path) -> None:
    with pytest.raises(InputError, match="--data is for a problem of your own"):
        Source("knapsack:10-10", data="cities.json").open()
    with pytest.raises(InputError, match="says itself which problem it is"):
        Source("my.py:Fixed", "knapsack", code=True).open()
    left = Source("my.py:Fixed", given={"n": 3, "size": 4}, code=True).open()
    assert left.fields == {"n": 3}  # the rest is for others
