"""Finished replications in one SQLite file: an interrupted experiment loses only the run it was in.

Every replication is one transaction. A process may be killed at any moment, and several may write at once.
"""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from os import PathLike, fspath
from types import TracebackType
from typing import Any, NamedTuple

from systola.errors import InputError
from systola.reading import Json

SCHEMA_VERSION = 1

_APPLICATION_ID = 0x53797374  # "Syst": tells our files from other SQLite files
_PATIENCE = 60.0  # seconds to wait for another writer
_OUTCOME = ("objective", "feasible", "evaluations", "iterations")
_SHORT = (
    "experiment, instance, algorithm, seed, config, objective, feasible, "
    "json_extract(result, '$.violation') AS violation, evaluations, iterations, seconds"
)

_SCHEMA = """
CREATE TABLE replications (
    experiment TEXT NOT NULL,
    instance TEXT NOT NULL,
    algorithm TEXT NOT NULL,
    seed TEXT NOT NULL,      -- decimal: an unsigned 64-bit seed does not fit an SQLite integer
    config TEXT NOT NULL,
    objective TEXT NOT NULL, -- JSON: a number or a list
    feasible INTEGER NOT NULL,
    evaluations INTEGER NOT NULL,
    iterations INTEGER NOT NULL,
    seconds REAL NOT NULL,
    result TEXT NOT NULL,    -- JSON: the whole result
    PRIMARY KEY (experiment, instance, algorithm, seed, config)
)
"""


class Key(NamedTuple):
    """What names a replication: the same key, the same run.

    Attributes
    ----------
    experiment, instance, algorithm
        Names.
    seed
        The seed of the run.
    config
        A digest of everything else that decides the outcome: parameters, budget, instance contents.
    """

    experiment: str
    instance: str
    algorithm: str
    seed: int
    config: str


class Store:
    """A file of finished replications.

    Parameters
    ----------
    path
        The file; made if it does not exist. Its folder must exist.

    Raises
    ------
    InputError
        If the file is not a store, is damaged, was written by a newer systola, or cannot be opened.

    Examples
    --------
    >>> with Store(":memory:") as store:
    ...     key = Key("demo", "mmdp:300", "sgs-b", seed=1, config="d41d8c")
    ...     counts = {"evaluations": 900, "iterations": 3, "seconds": 0.1}
    ...     store.add(key, {"objective": 50, "feasible": True, **counts})
    ...     store.has(key)
    True
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = fspath(path)
        with self._explain():
            self._connection = sqlite3.connect(self.path, timeout=_PATIENCE, isolation_level=None)
        try:
            with self._explain():
                self._prepare()
        except BaseException:
            self._connection.close()
            raise

    def has(self, key: Key) -> bool:
        """Whether the replication is finished and stored."""
        with self._explain():
            return self._find(key, "1") is not None

    def add(self, key: Key, result: Mapping[str, Any]) -> None:
        """Store one finished replication; on return it is on the disk.

        A second result for the same key is ignored if it has the same outcome (objective, feasible,
        evaluations, iterations): two processes may race for one replication, and their seconds differ.

        Parameters
        ----------
        key
            The replication.
        result
            JSON values only; objective, feasible, evaluations, iterations and seconds must be among them.

        Raises
        ------
        InputError
            If something is missing or not JSON, or the key has another outcome already.
        """
        columns = self._read_columns(key, result)
        with self._explain(), self._transaction("IMMEDIATE"):
            stored = self._find(key, ", ".join(_OUTCOME))
            if stored is None:
                self._connection.execute(
                    "INSERT INTO replications VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (*_bind(key), *columns),
                )
            elif stored != columns[: len(_OUTCOME)]:
                old = dict(zip(_OUTCOME, stored, strict=True))
                new = dict(zip(_OUTCOME, columns, strict=False))
                raise InputError(
                    f"one key has one outcome, but {_describe(key)} has {old} stored and got {new} "
                    f"({self.path}); if the algorithm changed, use another experiment name or file"
                )

    def rows(self, experiment: str) -> list[dict[str, Any]]:
        """All replications of an experiment, sorted by instance, algorithm, seed and config.

        Returns
        -------
        list of dict
            The parts of the key, the outcome, violation (of an infeasible one without, infinite) and seconds; see
            `result` for the whole of one.
        """
        with self._explain():
            cursor = self._connection.execute(f"SELECT {_SHORT} FROM replications WHERE experiment = ?", (experiment,))
            names = [column[0] for column in cursor.description]
            found = [dict(zip(names, values, strict=True)) for values in cursor]
        for row in found:
            row["seed"] = int(row["seed"])
            row["feasible"] = bool(row["feasible"])
            row["objective"] = json.loads(row["objective"])
            if row["violation"] is None:
                row["violation"] = 0.0 if row["feasible"] else math.inf
        return sorted(found, key=lambda row: (row["instance"], row["algorithm"], row["seed"], row["config"]))

    def result(self, key: Key) -> dict[str, Any]:
        """The whole result of a replication."""
        with self._explain():
            found = self._find(key, "result")
        if found is None:
            raise InputError(f"{self.path} holds no {_describe(key)}")
        whole: dict[str, Any] = json.loads(found[0])
        return whole

    def close(self) -> None:
        """Close the file; what was added is there already."""
        self._connection.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _prepare(self) -> None:
        with self._transaction("DEFERRED"):  # one look, so that a file in the making is seen before or after
            mark = self._read_mark()
        if mark == (0, 0, 0):
            with self._transaction("IMMEDIATE"):
                mark = self._read_mark()
                if mark == (0, 0, 0):
                    self._connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
                    self._connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
                    self._connection.execute(_SCHEMA)
                    return
        application, version, _ = mark
        if application != _APPLICATION_ID:
            raise InputError(f"a store is a file that systola made, but {self.path} belongs to another program")
        if version != SCHEMA_VERSION:
            raise InputError(
                f"this systola reads stores of version {SCHEMA_VERSION}, but {self.path} has version "
                f"{version}; use the systola that wrote it, or start a new file"
            )
        damage = self._pragma("quick_check(1)")
        if damage != "ok":
            raise self._damaged(str(damage))

    def _read_mark(self) -> tuple[int, int, int]:
        (objects,) = self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        return self._pragma("application_id"), self._pragma("user_version"), objects

    def _pragma(self, name: str) -> Any:
        return self._connection.execute(f"PRAGMA {name}").fetchone()[0]

    def _find(self, key: Key, columns: str) -> tuple[Any, ...] | None:
        found: tuple[Any, ...] | None = self._connection.execute(
            f"SELECT {columns} FROM replications "
            "WHERE experiment = ? AND instance = ? AND algorithm = ? AND seed = ? AND config = ?",
            _bind(key),
        ).fetchone()
        return found

    def _read_columns(self, key: Key, result: Mapping[str, Any]) -> tuple[Any, ...]:
        missing = [name for name in (*_OUTCOME, "seconds") if name not in result]
        if missing:
            raise InputError(f"a result to store has no {', '.join(missing)} ({_describe(key)}); add what is missing")
        try:
            return (
                _dump(result["objective"]),
                int(bool(result["feasible"])),
                int(result["evaluations"]),
                int(result["iterations"]),
                float(result["seconds"]),
                _dump(dict(result)),
            )
        except (TypeError, ValueError) as error:
            raise InputError(
                f"a result to store holds finite JSON values only ({_describe(key)}): {error}; "
                "turn arrays into lists and leave NaN out"
            ) from error

    @contextmanager
    def _transaction(self, kind: str) -> Iterator[None]:
        self._connection.execute(f"BEGIN {kind}")
        try:
            yield
        except BaseException:
            if self._connection.in_transaction:  # SQLite ends some failed transactions itself
                self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    @contextmanager
    def _explain(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.ProgrammingError:  # a closed store, say: a mistake in the caller, not in the file
            raise
        except sqlite3.OperationalError as error:
            raise InputError(
                f"a store must be a file that can be read and written, but {self.path} cannot: {error}; "
                "check the folder, the permissions, and whether another process holds it"
            ) from error
        except sqlite3.DatabaseError as error:
            raise self._damaged(str(error)) from error

    def _damaged(self, why: str) -> InputError:
        return InputError(
            f"a store must be a sound SQLite file, but {self.path} is not: {why}; "
            "restore it from a copy, or move it away to start anew"
        )


def _bind(key: Key) -> tuple[str, str, str, str, str]:
    return key.experiment, key.instance, key.algorithm, str(int(key.seed)), key.config


def _describe(key: Key) -> str:
    return f"{key.experiment}, {key.instance}, {key.algorithm}, seed {key.seed}, config {key.config}"


def _dump(value: Json) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
