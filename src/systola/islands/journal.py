"""The record of an asynchronous run: what arrived where and when. With it the run can be made again bit for bit.

A deme's steps depend on its seed and on what it imports, so it is enough to know, for each import, which parcels it
brought, and which parcels found no slot. The replay holds a deme back until what it needs has been sent again.
"""

from __future__ import annotations

import json
import threading
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from systola.errors import InputError
from systola.files import write_atomically
from systola.islands.parcel import Parcel
from systola.islands.transport import Mailboxes
from systola.reading import is_whole, parse_json, read_file

_SCHEMA = 1
_MOST_BYTES = 2**30


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


def read_journal(path: Path, identity: dict[str, Any], demes: int) -> Journal:
    """What `save` wrote, of this run; an InputError if it is something else."""
    try:
        data = parse_json(read_file(path, "the record of arrivals", _MOST_BYTES))
        schema, run = data["schema"], dict(data["run"])
        parts = ({int(k): v for k, v in data[n].items()} for n in ("last", "imports", "skipped"))
        journal = Journal(*parts)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InputError(f"{path} is not a record of arrivals; one is written by --record") from None
    if schema != _SCHEMA:
        raise InputError(f"{path} has schema {schema!r}, this version reads {_SCHEMA}")
    for key, wanted in json.loads(json.dumps(identity)).items():
        if run.get(key) != wanted:
            raise InputError(f"{path} belongs to another run: its {key} is {run.get(key)!r}, this run has {wanted!r}")
    wrong = _find_wrong(journal, demes)
    if wrong:
        raise InputError(f"{path} is damaged: {wrong}")
    return journal


def _find_wrong(journal: Journal, demes: int) -> str:
    """What cannot have happened in a run of so many demes; empty if all can."""
    last, everyone = journal.last, range(demes)
    if set(last) != set(everyone) or not all(map(is_whole, last.values())):
        return f"it must have the last step of each of {demes} demes"
    arrived: set[tuple[int, int, int]] = set()
    for name, table in (("imports", journal.imports), ("skipped", journal.skipped)):
        for deme, rows in table.items():
            if deme not in last or not isinstance(rows, list):
                return f"its {name} must be lists of demes that there are"
            for row in rows:
                if not isinstance(row, list) or not all(map(is_whole, row)) or len(row) < 2 or row[0] > last[deme]:
                    return f"the {name} of deme {deme} must be whole numbers, the first of them a step up to its last"
                if name == "skipped" and (len(row) != 2 or row[1] not in last):
                    return f"what deme {deme} has skipped must have a step and a deme"
            if name == "imports" and len({row[0] for row in rows}) < len(rows):
                return f"deme {deme} must have imported once after a step"
            for row in rows if name == "imports" else ():
                parcels = [(source, deme, serial) for source, serial in zip(row[1::2], row[2::2], strict=False)]
                # A parcel for each step of its sender, at most, and each of them arrives once.
                if len(row) % 2 == 0 or any(s not in last or serial >= last[s] for s, _, serial in parcels):
                    return f"deme {deme} must have imported parcels that can have been sent"
                if len(set(parcels)) < len(parcels) or arrived & set(parcels):
                    return f"deme {deme} must have imported a parcel once"
                arrived.update(parcels)
    return ""


class Replay(Mailboxes):
    """A transport that lets arrive what arrived then."""

    def __init__(self, workers: int, journal: Journal) -> None:
        super().__init__(workers, 1, 1)
        self._events = 0  # parcels sent or taken in
        self._idle: dict[int, int] = {}  # of each thread with nothing to do: how many events there had been then
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
            self._events += 1
            self._sent[parcel.source, parcel.target, parcel.serial] = parcel
        return True

    def is_ready(self, deme: int, step: int) -> bool:
        with self._lock:
            return all(link in self._sent for link in self._imports.get(deme, {}).get(step, ()))

    def collect(self, deme: int, step: int) -> list[Parcel]:
        with self._lock:
            self._events += 1
            return [self._sent.pop(link) for link in self._imports.get(deme, {}).get(step, ())]

    def note_round(self, idle: bool) -> None:
        """A round of a worker is over; an InputError if nobody can do anything until a parcel is sent."""
        with self._lock:
            if not idle:
                self._idle.pop(threading.get_ident(), None)
                return
            self._idle[threading.get_ident()] = self._events
            stuck = len(self._idle) == self.workers and set(self._idle.values()) == {self._events}
            if stuck and not self._halted.is_set() and len(self._done) < self.workers:
                raise InputError("the record of arrivals waits for a parcel that is never sent; it is damaged")
