"""Random tables, objects of JSON and archives, for the problems of systola and for one of a user's own."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from fuzz.workshop import Workshop
from systola import SystolaError
from systola.formats import describe, load_problem, look_up
from systola.formats.json_form import to_json
from systola.formats.source import Source

PROBLEMS = (None, None, None, "flowshop", "gap", "knapsack", "mkp", "mmdp", "nrp", "qap")
TABLES = (
    "name,profit,weight\ntent,5,4\nrope,6,5\npan,7,6\n",
    "weight;value\n4;5\n5;6\n",
    'item\tprofit\tw\tv\n"a, b"\t1\t2\t3\nc\t4\t5\t6\ncapacity\t\t9\t9\n',
    "name,cost,value\nlogin,1,3\nsearch,2,4\n",
    "job,saw,drill,due,release\na,1,5,9,0\nb,4,2,8,1\n",
    "job,agent,cost,load,capacity\na,x,1,2,5\nb,x,3,4,5\na,y,5,6,7\nb,y,7,7,7\n",
    ",Rome,Oslo\nRome,0,1\nOslo,1,0\n",
    "worth,size\n1,2\n3,4.5\n",
)
OBJECTS: tuple[dict[str, Any], ...] = (
    {"profits": [5, 6], "weights": [4, 5], "capacity": 9, "names": ["a", "b"]},
    {"problem": "mkp", "profits": [5, 6], "weights": [[4, 5], [1, 2]], "capacities": [5, 9], "scale": 10},
    {"costs": [[1, 3], [5, 7]], "weights": [[2, 4], [6, 7]], "capacities": [5, 7], "names": {"jobs": ["a", "b"]}},
    {
        "flows": [[0, 1], [2, 0]],
        "distances": [[0, 3], [4, 0]],
        "names": {"facilities": ["a", "b"], "locations": [1, 2]},
    },
    {"times": [[1, 2], [3, 4]], "due": [3, 4], "objectives": "makespan,tardy", "weights": [1, 2]},
    {"costs": [1, 2], "values": [3, 4], "weight": 0.5},
    {"profits": [5, 6], "costs": [2, 3, 4], "requests": [[1], [0, 2]], "dependencies": [[0, 1]], "budget": 8},
    {"profits": [5, 6], "costs": [2, 3], "starts": [0, 1, 2], "customers": [0, 1], "budget": 8},
    {"n": 12},
    {"worth": [1.5, 2], "size": [3, 4], "room": 5, "names": ["a", "b"]},
)
CODE = """
import numpy as np
import systola as sy
from numpy.typing import NDArray


class Own(sy.Problem):
    encoding = sy.Binary("worth")
    worth: NDArray[np.float64]
    size: np.ndarray
    room: int = 3
    note: str = ""

    def evaluate(self, x):
        return x[0]


class Tour(sy.Problem):
    encoding = sy.Permutation("distances")
    names = sy.Names("position", "city")
    distances: np.ndarray

    def evaluate(self, x):
        return x[0]


def make(n: int, worth: NDArray[np.float64] = None):
    return Own(np.arange(n), np.arange(n))
"""
CELLS = (
    "",
    "0",
    "-1",
    "1.5",
    "x",
    "nan",
    "1e999",
    "9" * 30,
    "9" * 5000,
    '"',
    '""',
    '"a\nb"',
    "a b",
    "ü",
    "\udcff",
    "\0",
)
CELLS += (",", ";", "\t", "\n", "\r", "capacity", "name", "profit", "due", "job", "room", "=1+1", "|", "1,5", "'")
GIVEN = ("capacity", "capacities", "weight", "weights", "objectives", "maximise", "room", "note", "n", "scale", "x", "")
VALUES: tuple[Any, ...] = (3, -1, 0.5, True, "x", "1,2", "[1, 2]", [1, 2], [[1], [2]], {}, None, 2**70, "[" * 5000, [])


def table(random: Random) -> bytes:
    """A table with some cells changed, lost, doubled, or very long."""
    text = random.choice(TABLES)
    sign = random.choice(",;\t") if random.random() < 0.1 else max(",;\t", key=text.count)
    rows = [line.split(sign) for line in text.splitlines()]
    for _ in range(random.randint(1, 4)):
        row = random.choice(rows)
        at = random.randrange(len(row)) if row else 0
        change = random.randrange(8)
        if change == 0 and row:
            del row[at]
        elif change == 1:
            row.insert(at, random.choice(CELLS))
        elif change == 2:
            rows.remove(row)
        elif change == 3:
            rows.insert(random.randrange(len(rows) + 1), list(row))
        elif change == 4 and random.random() < 0.05:  # rarely, because it takes a while to read
            row[at : at + 1] = [random.choice(("0", '"', "x", ",", '"",', "1\n", "é"))] * 10**5
        elif row:
            row[at] = random.choice(CELLS)
        rows = rows or [[]]
    raw = "\n".join(sign.join(row) for row in rows).encode("utf-8", "surrogateescape")
    if random.random() < 0.1 and raw:
        at = random.randrange(len(raw))
        raw = raw[:at] + bytes([random.randrange(256)]) + raw[at + 1 :]
    return raw


def archive(random: Random, data: dict[str, Any], another: Callable[[Random, Any], Any]) -> bytes:
    """An archive of arrays, some of which are others or lie about themselves."""
    arrays: dict[str, Any] = {}
    for key, value in data.items():
        try:
            arrays[key] = np.array(value)
        except ValueError:  # lists of different lengths
            arrays[key] = np.array(0)
        if random.random() < 0.3 and arrays[key].ndim and arrays[key].dtype.kind in "biuf":
            arrays[key] = another(random, arrays[key])
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w", random.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as made:
        for key, array in arrays.items():
            held = io.BytesIO()
            np.save(held, array, allow_pickle=True)
            raw = held.getvalue()
            if random.random() < 0.2:
                other = random.choice((b"(99999999999,)", b"(-1,)", b"()", b"('x',)", b"(1, 2, 3)", b"(" * 200))
                raw = raw.replace(b"'shape': " + str(array.shape).encode(), b"'shape': " + other)
            made.writestr(f"{key}.npy", raw if random.random() < 0.9 else raw[: random.randrange(len(raw) + 1)])
    whole = body.getvalue()
    return whole if random.random() < 0.9 else whole[: random.randrange(len(whole))]


def given(random: Random) -> dict[str, Any]:
    return {random.choice(GIVEN): random.choice(VALUES) for _ in range(random.randint(0, 2))}


def read(path: Path, random: Random) -> None:
    """As an instance, and as the data of a problem of one's own; what is understood can be told and written."""
    if not Path("own.py").exists():
        Path("own.py").write_text(CODE)
    values = given(random)
    own = random.choice(("own.py:Own", "own.py:Tour", "own.py:make"))
    for attempt in (
        lambda: look_up(str(path), random.choice(PROBLEMS)),
        lambda: Source(str(path), random.choice(PROBLEMS), None, values).look_up(),
        lambda: load_problem(own, path, fields=values),
    ):
        try:
            found: Any = attempt()
            json.dumps(describe(found)).encode()
            json.dumps(to_json(found.problem, found.kind)).encode()
        except SystolaError as error:
            str(error).encode("utf-8", "surrogateescape")


def try_table(random: Random, shop: Workshop) -> None:
    path = Path(random.choice(("fuzzed.csv", "fuzzed.csv", "fuzzed.tsv")))
    path.write_bytes(table(random))
    read(path, random)


def objects(distort: Callable[[Random, Any], Any], damaged: Callable[[Random, bytes], bytes]) -> Any:
    """A target: objects of JSON with something wrong in them."""

    def try_object(random: Random, shop: Workshop) -> None:
        data: Any = random.choice(OBJECTS)
        for _ in range(random.randint(0, 3)):
            data = distort(random, data)
        raw = json.dumps(data).encode()
        if random.random() < 0.1:
            raw = damaged(random, raw)
        path = Path(random.choice(("fuzzed.json", "fuzzed.json", "fuzzed.data")))
        path.write_bytes(raw)
        read(path, random)

    return try_object


def archives(another: Callable[[Random, Any], Any]) -> Any:
    """A target: NumPy archives with something wrong in them."""

    def try_archive(random: Random, shop: Workshop) -> None:
        path = Path("fuzzed.npz")
        path.write_bytes(archive(random, random.choice(OBJECTS), another))
        read(path, random)

    return try_archive


def try_own(random: Random, shop: Workshop) -> list[str]:
    """A command line with a table, or with a problem of one's own."""
    if not Path("own.py").exists():
        Path("own.py").write_text(CODE)
    data = random.choice(OBJECTS)
    Path("fuzzed.json").write_text(json.dumps(data))
    Path("fuzzed.csv").write_text(random.choice(TABLES))
    spec = random.choice(
        ("own.py:Own", "own.py:Tour", "own.py:make", "fuzzed.csv", "fuzzed.json", "own.py", "own.py:x")
    )
    args = ["solve", spec] if random.random() < 0.8 else ["instances", "show", spec]
    if random.random() < 0.6:
        args += [
            "--data",
            random.choice(("fuzzed.json", "fuzzed.csv", "directory", "pipe", "missing", "binary", "own.py")),
        ]
    for _ in range(random.randint(0, 3)):
        key = random.choice(("", "", "problem.", "algorithm.")) + random.choice((*GIVEN, "size", "length"))
        args += ["--set", f"{key}={str(random.choice(VALUES))[:99]}"]
    if random.random() < 0.2:
        args += ["--problem", str(random.choice(PROBLEMS))]
    if args[0] == "instances":
        return args
    if random.random() < 0.3:
        args += ["--output", random.choice(("written.csv", "written.json", "directory", "missing/x.csv", "/dev/full"))]
    if random.random() < 0.1:
        args += ["--print-config"]
    return [*args, "--algorithm", random.choice(("auto", "rs")), "--iterations", "1", "--backend", "python", "--quiet"]
