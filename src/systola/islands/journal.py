"""The record of an asynchronous run: what arrived where and when. With it the run can be made again bit for bit.

A deme's steps depend on its seed and on what it imports, so it is enough to know, for each import, which parcels it
brought, and which parcels found no slot. The replay holds a deme back until what it needs has been sent again.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from systola.checkpoint import write_atomically
from systola.errors import InputError
from systola.islands.parcel import Parcel
from systola.islands.transport import Mailboxes

_SCHEMA = 1


@dataclass
class Journal:
    """Of each deme: the last step, imports as [step, source, serial, ...], and skipped parcels as [step, target]."""

    last: dict[int, int] = field(default_factory=dict)
    imports: dict[int, list[list[int]]] = field(default_factory=lambda: defaultdict(list))
    skipped: dict[int, list[list[int]]] = field(default_factory=lambda: defaultdict(list))

    def note_import(self, deme: int, step: int, parcels: list[Parcel]) -> None:
        """These parcels were taken in by a deme after this step."""
        if parcels:
            self.imports[deme].append([step, *(v for p in parcels for v in (p.source, p.serial))])

    def note_skip(self, parcel: Parcel) -> None:
        """This parcel found no slot."""
        self.skipped[parcel.source].append([parcel.step, parcel.target])

    def absorb(self, other: Journal) -> None:
        """What another worker has noted, of other demes."""
        self.last.update(other.last)
        self.imports.update(other.imports)
        self.skipped.update(other.skipped)

    def save(self, path: Path, identity: dict[str, Any]) -> None:
        """Write JSON."""
        names = ("last", "imports", "skipped")
        data = {n: {str(k): v for k, v in sorted(getattr(self, n).items())} for n in names}
        try:
            write_atomically(path, (json.dumps({"schema": _SCHEMA, "run": identity, **data}) + "\n").encode())
        except OSError as error:
            raise InputError(f"cannot write the record of arrivals to {path}: {error.strerror}") from None


def read_journal(path: Path, identity: dict[str, Any]) -> Journal:
    """What `save` wrote, of this run; an InputError if it is something else."""
    try:
        data = json.loads(path.read_text())
        if data["schema"] != _SCHEMA:
            raise InputError(f"{path} has schema {data['schema']}, this version reads {_SCHEMA}")
        parts = ({int(k): v for k, v in data[n].items()} for n in ("last", "imports", "skipped"))
        journal, run = Journal(*parts), data["run"]
    except OSError as error:
        raise InputError(f"cannot read the record of arrivals {path}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InputError(f"{path} is not a record of arrivals; one is written by --record") from None
    for key, wanted in json.loads(json.dumps(identity)).items():
        if run.get(key) != wanted:
            raise InputError(f"{path} belongs to another run: its {key} is {run.get(key)!r}, this run has {wanted!r}")
    return journal


class Replay(Mailboxes):
    """A transport that lets arrive what arrived then."""

    def __init__(self, workers: int, journal: Journal) -> None:
        super().__init__(workers, 1, 1)
        self._sent: dict[tuple[int, int, int], Parcel] = {}
        self._skipped = {d: {(step, target) for step, target in rows} for d, rows in journal.skipped.items()}
        self._imports = {
            deme: {row[0]: [(s, deme, k) for s, k in zip(row[1::2], row[2::2], strict=True)] for row in rows}
            for deme, rows in journal.imports.items()
        }

    def post(self, parcel: Parcel) -> bool:
        if (parcel.step, parcel.target) in self._skipped.get(parcel.source, ()):
            return False
        with self._lock:
            self._sent[parcel.source, parcel.target, parcel.serial] = parcel
        return True

    def is_ready(self, deme: int, step: int) -> bool:
        with self._lock:
            return all(link in self._sent for link in self._imports.get(deme, {}).get(step, ()))

    def collect(self, deme: int, step: int) -> list[Parcel]:
        with self._lock:
            return [self._sent.pop(link) for link in self._imports.get(deme, {}).get(step, ())]
