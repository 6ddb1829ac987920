"""The record of an asynchronous run: what arrived where and when. With it the run can be made again bit for bit.

A deme's steps depend on its seed and on what it imports, so it is enough to know, for each import, which messages it
brought, and which messages found no slot. Each worker notes that in a file of its own, and in the end they become one.
The replay holds a deme back until what it needs has been sent again.
"""

from __future__ import annotations

import errno
import json
import threading
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from systola.errors import InputError
from systola.files import write_atomically
from systola.islands.message import Message
from systola.islands.transport import Mailboxes
from systola.reading import is_whole, parse_json, read_file
from systola.run.checkpoint import tell_renamed

_SCHEMA = 1
_MOST_BYTES = 2**30
_LAST, _IMPORTS, _SKIPPED = "last", "import", "skip"  # what a line is about


class ArrivalRecorder:
    """What a worker notes while it runs, in a file of its own: a line of numbers for each thing."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: IO[str] | None = None
        self.failure = ""

    def record_import(self, deme: int, step: int, messages: list[Message]) -> None:
        """A deme imported these messages after this step."""
        if messages:
            self._write(_IMPORTS, deme, step, *(v for p in messages for v in (p.source, p.serial)))

    def record_skip(self, message: Message) -> None:
        """This message found no slot."""
        self._write(_SKIPPED, message.source, message.step, message.target)

    def record_last_step(self, deme: int, step: int) -> None:
        """The last step of a deme; there is nothing more to note of it."""
        self._write(_LAST, deme, step)

    def _write(self, kind: str, *numbers: int) -> None:
        """A run is worth more than its record: if it cannot be written, that is told at the end."""
        if self.failure:
            return
        try:
            if self._file is None:
                self._file = self._path.open("w")
            self._file.write(f"{kind} {' '.join(map(str, numbers))}\n")
        except OSError as error:
            self.failure = error.strerror or str(error)

    def close(self) -> None:
        """All is noted."""
        try:
            if self._file is not None:
                self._file.close()
        except OSError as error:
            self.failure = error.strerror or str(error)


def part_of(path: Path, worker: int) -> Path:
    """Where a worker notes its part of a record."""
    return path.with_name(f"{path.name}.part-{worker}")


def join_records(path: Path, workers: int, demes: int, identity: dict[str, Any]) -> None:
    """Make one JSON file of what the workers have noted, and remove their files; OSError if it cannot be done."""
    noted: dict[str, dict[int, list[str]]] = {kind: defaultdict(list) for kind in (_LAST, _IMPORTS, _SKIPPED)}
    parts = [part for part in (part_of(path, k) for k in range(workers)) if part.exists()]
    for part in parts:
        with part.open() as file:
            for line in file:
                kind, deme, rest = line.split(None, 2)
                noted[kind][int(deme)].append(rest.strip().replace(" ", ", "))
    if len(noted[_LAST]) < demes:
        raise OSError(errno.ENOENT, f"those of {demes - len(noted[_LAST])} demes are not in this folder")
    fields = [f'"schema": {_SCHEMA}', f'"run": {json.dumps(identity)}']
    for kind, name in ((_LAST, "last"), (_IMPORTS, "imports"), (_SKIPPED, "skipped")):
        shape = "{}" if kind == _LAST else "[[{}]]"
        rows = (f'"{deme}": ' + shape.format("], [".join(lines)) for deme, lines in sorted(noted[kind].items()))
        fields.append(f'"{name}": {{{", ".join(rows)}}}')
    write_atomically(path, ("{" + ", ".join(fields) + "}\n").encode())
    for part in parts:
        part.unlink()


@dataclass
class ArrivalLog:
    """Of each deme: the last step, imports as [step, source, serial, ...], and skipped messages as [step, target]."""

    last: dict[int, int]
    imports: dict[int, list[list[int]]]
    skipped: dict[int, list[list[int]]]


def read_arrival_log(path: Path, identity: dict[str, Any], demes: int) -> ArrivalLog:
    """What `join_records` wrote, of this run; an InputError if it is something else."""
    try:
        data = parse_json(read_file(path, "the record of arrivals", _MOST_BYTES))
        schema, run = data["schema"], dict(data["run"])
        parts = ({int(k): v for k, v in data[n].items()} for n in ("last", "imports", "skipped"))
        log = ArrivalLog(*parts)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InputError(f"{path} is not a record of arrivals; one is written by --record") from None
    if schema != _SCHEMA:
        raise InputError(f"{path} has schema {schema!r}, this version reads {_SCHEMA}")
    for key, wanted in json.loads(json.dumps(identity)).items():
        if run.get(key) != wanted:
            raise InputError(
                f"{path} belongs to another run: its {key} is {run.get(key)!r}, this run has {wanted!r}"
                f"{tell_renamed(run)}"
            )
    wrong = _find_wrong(log, demes)
    if wrong:
        raise InputError(f"{path} is damaged: {wrong}")
    return log


def _find_wrong(log: ArrivalLog, demes: int) -> str:
    """What cannot have happened in a run of so many demes; empty if all can."""
    last, everyone = log.last, range(demes)
    if set(last) != set(everyone) or not all(map(is_whole, last.values())):
        return f"it must have the last step of each of {demes} demes"
    arrived: set[tuple[int, int, int]] = set()
    for name, table in (("imports", log.imports), ("skipped", log.skipped)):
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
                messages = [(source, deme, serial) for source, serial in zip(row[1::2], row[2::2], strict=False)]
                # A message for each step of its sender, at most, and each of them arrives once.
                if len(row) % 2 == 0 or any(s not in last or serial >= last[s] for s, _, serial in messages):
                    return f"deme {deme} must have imported messages that can have been sent"
                if len(set(messages)) < len(messages) or arrived & set(messages):
                    return f"deme {deme} must have imported a message once"
                arrived.update(messages)
    return ""


class Replay(Mailboxes):
    """A transport that lets arrive what arrived then."""

    def __init__(self, workers: int, log: ArrivalLog) -> None:
        super().__init__(workers, 1, 1)
        self._events = 0  # messages sent or imported
        self._idle: dict[int, int] = {}  # of each thread with nothing to do: how many events there had been then
        self._sent: dict[tuple[int, int, int], Message] = {}
        self._skipped = {d: {(step, target) for step, target in rows} for d, rows in log.skipped.items()}
        self._imports = {
            deme: {row[0]: [(s, deme, k) for s, k in zip(row[1::2], row[2::2], strict=True)] for row in rows}
            for deme, rows in log.imports.items()
        }

    def post(self, message: Message) -> bool:
        if (message.step, message.target) in self._skipped.get(message.source, ()):
            return False
        with self._lock:
            self._events += 1
            self._sent[message.source, message.target, message.serial] = message
        return True

    def is_ready(self, deme: int, step: int) -> bool:
        with self._lock:
            return all(link in self._sent for link in self._imports.get(deme, {}).get(step, ()))

    def collect(self, deme: int, step: int) -> list[Message]:
        with self._lock:
            self._events += 1
            return [self._sent.pop(link) for link in self._imports.get(deme, {}).get(step, ())]

    def end_round(self, idle: bool) -> None:
        """A round of a worker is over; an InputError if nobody can do anything until a message is sent."""
        with self._lock:
            if not idle:
                self._idle.pop(threading.get_ident(), None)
                return
            self._idle[threading.get_ident()] = self._events
            stuck = len(self._idle) == self.workers and set(self._idle.values()) == {self._events}
            if stuck and not self._sum_up().over:
                raise InputError("the record of arrivals waits for a message that is never sent; it is damaged")
