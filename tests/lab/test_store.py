"""The store: what goes in comes out, whoever writes at once and whoever is killed."""

from __future__ import annotations

import math
import os
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from systola.errors import InputError
from systola.lab.store import Key, Store

KEY = Key("sgs", "knapsack:100-1000", "sgs-b", 1, "abc")


def result(**changes: Any) -> dict[str, Any]:
    plain = {"objective": 5676, "feasible": True, "evaluations": 980, "iterations": 70, "seconds": 0.25}
    return {**plain, "solution": [0, 1, 1], **changes}


def test_violations(tmp_path: Path) -> None:
    """Of results with one, and of those that do not tell."""
    told: list[dict[str, Any]] = [{"feasible": False, "violation": 3.5}, {"feasible": False}, {"feasible": True}]
    with Store(tmp_path / "runs.sqlite") as store:
        for seed, facts in enumerate(told):
            store.add(KEY._replace(seed=seed), result(**facts))
        assert [row["violation"] for row in store.rows(KEY.experiment)] == [3.5, math.inf, 0.0]


def test_round_trip(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    with Store(path) as store:
        assert not store.has(KEY)
        store.add(KEY, result())
        assert store.has(KEY)
        assert not store.has(KEY._replace(seed=2))
        assert not store.has(KEY._replace(config="abd"))
    with Store(str(path)) as store:
        assert store.rows("sgs") == [
            {
                "experiment": "sgs",
                "instance": "knapsack:100-1000",
                "algorithm": "sgs-b",
                "seed": 1,
                "config": "abc",
                "objective": 5676,
                "feasible": True,
                "violation": 0.0,
                "evaluations": 980,
                "iterations": 70,
                "seconds": 0.25,
            }
        ]
        assert store.result(KEY) == result()
        assert store.rows("another") == []


def test_rows_are_sorted_by_number_of_the_seed(tmp_path: Path) -> None:
    with Store(tmp_path / "runs.sqlite") as store:
        for seed in (10, 9, 2**64 - 1, 100):
            store.add(KEY._replace(seed=seed), result())
        store.add(KEY._replace(algorithm="ega", seed=11), result())
        assert [row["seed"] for row in store.rows("sgs")] == [11, 9, 10, 100, 2**64 - 1]


def test_objectives_keep_their_type(tmp_path: Path) -> None:
    with Store(tmp_path / "runs.sqlite") as store:
        for seed, objective in enumerate([1, 1.5, [3, 4.25], 2**70]):
            store.add(KEY._replace(seed=seed), result(objective=objective))
        assert [row["objective"] for row in store.rows("sgs")] == [1, 1.5, [3, 4.25], 2**70]


def test_same_outcome_again_is_ignored(tmp_path: Path) -> None:
    with Store(tmp_path / "runs.sqlite") as store:
        store.add(KEY, result())
        store.add(KEY, result(seconds=9.0))
        (row,) = store.rows("sgs")
        assert row["seconds"] == 0.25


@pytest.mark.parametrize("change", [{"objective": 5675}, {"feasible": False}, {"evaluations": 981}, {"iterations": 71}])
def test_other_outcome_is_an_error(tmp_path: Path, change: dict[str, Any]) -> None:
    with Store(tmp_path / "runs.sqlite") as store:
        store.add(KEY, result())
        with pytest.raises(InputError, match=r"one key has one outcome.*seed 1"):
            store.add(KEY, result(**change))
        assert [row["objective"] for row in store.rows("sgs")] == [5676]
        store.add(KEY._replace(seed=2), result())  # the store is still usable


@pytest.mark.parametrize("name", ["objective", "feasible", "evaluations", "iterations", "seconds"])
def test_incomplete_result(tmp_path: Path, name: str) -> None:
    incomplete = result()
    del incomplete[name]
    with Store(tmp_path / "runs.sqlite") as store, pytest.raises(InputError, match=f"has no {name}"):
        store.add(KEY, incomplete)


@pytest.mark.parametrize("value", [float("nan"), {1, 2}, object()])
def test_not_json(tmp_path: Path, value: Any) -> None:
    with Store(tmp_path / "runs.sqlite") as store:
        with pytest.raises(InputError, match="JSON"):
            store.add(KEY, result(solution=value))
        assert not store.has(KEY)


def test_not_sqlite(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("dear diary\n" * 200)
    with pytest.raises(InputError, match=r"notes\.txt is not: file is not a database"):
        Store(path)
    assert path.read_text().startswith("dear diary")


def test_foreign_sqlite(tmp_path: Path) -> None:
    path = tmp_path / "other.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE bookmarks (url TEXT)")
    connection.commit()
    connection.close()
    with pytest.raises(InputError, match="belongs to another program"):
        Store(path)


def test_newer_version(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    Store(path).close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(InputError, match="has version 99"):
        Store(path)


def test_damaged(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    with Store(path) as store:
        for seed in range(200):
            store.add(KEY._replace(seed=seed), result(solution=[0, 1] * 100))
    content = bytearray(path.read_bytes())
    content[len(content) // 2 :] = b"\xff" * (len(content) - len(content) // 2)
    path.write_bytes(content)
    with pytest.raises(InputError, match="sound SQLite file"):
        Store(path)


def test_cut_short(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    Store(path).close()
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(InputError, match="sound SQLite file"):
        Store(path)


def test_empty_file_is_a_new_store(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    path.touch()
    with Store(path) as store:
        store.add(KEY, result())


def test_folder_missing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="check the folder"):
        Store(tmp_path / "nowhere" / "runs.sqlite")


def test_folder_instead_of_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="check the folder"):
        Store(tmp_path)


def test_closed_store(tmp_path: Path) -> None:
    store = Store(tmp_path / "runs.sqlite")
    store.close()
    with pytest.raises(sqlite3.ProgrammingError):
        store.has(KEY)


WRITER = """
import sys
from systola.lab.store import Key, Store
path, name, first, last = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
with Store(path) as store:
    for seed in range(first, last):
        outcome = {"objective": seed, "feasible": True, "evaluations": 1, "iterations": 1, "seconds": 0.5}
        store.add(Key("shared", "i", name, seed, ""), {**outcome, "solution": [seed % 2] * 5000})
        print(seed, flush=True)
"""


def start_writer(path: Path, name: str, first: int, last: int) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    command = [sys.executable, "-c", WRITER, str(path), name, str(first), str(last)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def test_several_writers_at_once(tmp_path: Path) -> None:
    # All four make the file, and two of them race for the same keys.
    path = tmp_path / "runs.sqlite"
    writers = [start_writer(path, name, 0, 25) for name in ("a", "b", "c", "c")]
    for writer in writers:
        writer.communicate(timeout=120)
        assert writer.returncode == 0
    with Store(path) as store:
        found = [(row["algorithm"], row["seed"]) for row in store.rows("shared")]
    assert found == [(name, seed) for name in "abc" for seed in range(25)]


@pytest.mark.parametrize("delay", [0.0, 0.003, 0.011, 0.05])
def test_killed_in_the_middle(tmp_path: Path, delay: float) -> None:
    path = tmp_path / "runs.sqlite"
    writer = start_writer(path, "a", 0, 10**9)
    assert writer.stdout is not None
    told = int(writer.stdout.readline())
    time.sleep(delay)
    writer.kill()
    told = max([told, *map(int, writer.communicate()[0].split())])
    with Store(path) as store:  # opening checks the file
        seeds = [row["seed"] for row in store.rows("shared")]
        assert seeds == list(range(len(seeds)))
        assert len(seeds) in (told + 1, told + 2)  # what was told is there; at most one more was on its way
        store.add(Key("shared", "i", "a", len(seeds), ""), result())


texts = st.text(st.characters(codec="utf-8"), max_size=12)
keys = st.builds(Key, texts, texts, texts, st.integers(0, 2**64 - 1), texts)


@settings(max_examples=50, deadline=None)
@given(st.sets(keys, max_size=8))
def test_any_names(many: set[Key]) -> None:
    with Store(":memory:") as store:
        for key in many:
            store.add(key, result(objective=hash(key)))
        assert all(store.has(key) for key in many)
        for key in many:
            mine = [row for row in store.rows(key.experiment) if Key(*(row[f] for f in Key._fields)) == key]
            assert [row["objective"] for row in mine] == [hash(key)]
