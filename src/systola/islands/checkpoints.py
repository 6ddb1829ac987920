"""The checkpoint of islands: a folder with a file of each deme, as all were together, and a manifest that names them.

Files are written into one of two subfolders, the one that the manifest does not name. When all are there, the manifest
is replaced. So whenever a process ends, the manifest names a set that is whole. Synchronous demes are saved at the end
of the same round; asynchronous ones have no common moment, each is saved when its worker comes to it.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from systola.errors import InputError
from systola.files import write_atomically
from systola.islands.deme import Deme
from systola.islands.transport import Transport, Vote, World
from systola.model.encodings import Array
from systola.reading import parse_json, read_file
from systola.run.checkpoint import check_identity, pack_checkpoint, read_checkpoint, tell_renamed

_SCHEMA = 2  # 1 had other names of parameters and arrays
_SETS = ("a", "b")
_MANIFEST = "manifest.json"
_PER_FOLDER = 256  # files
_SPREAD_SECONDS = 10.0  # in which workers write, one after the other: a common disk is not asked by all at once


def _file_of(folder: Path, name: str, deme: int) -> Path:
    return folder / name / f"{deme // _PER_FOLDER:04d}" / f"deme-{deme:05d}.checkpoint"


@dataclass(frozen=True)
class SavedSet:
    """What a manifest names."""

    folder: Path
    name: str  # of the subfolder
    digests: list[str]  # of the demes' files

    def read(self, deme: int) -> tuple[dict[str, Any], dict[str, Array]]:
        """The state of a deme; an InputError if its file is not the one that the manifest names."""
        path = _file_of(self.folder, self.name, deme)
        try:
            digest = _digest(path.read_bytes())
        except OSError as error:
            raise InputError(
                f"the checkpoint of deme {deme} cannot be read ({path}: {error.strerror}); {_ADVICE}"
            ) from None
        state, arrays = read_checkpoint(path)
        if digest != self.digests[deme] or state.get("deme") != deme:
            raise InputError(f"{path} is not the file of deme {deme} that {_MANIFEST} names; {_ADVICE}")
        return state, arrays


_ADVICE = "only a whole folder, as a run has left it, can be resumed from"


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a folder; an InputError if it is none."""
    path = folder / _MANIFEST
    if not path.exists():
        raise InputError(f"{folder} is no whole checkpoint of islands: it has no {_MANIFEST}")
    try:
        data = parse_json(read_file(path, "the manifest of islands"))
    except ValueError:
        data = None
    named = data.get("files") if isinstance(data, dict) and isinstance(data.get("run"), dict) else None
    if not isinstance(named, list) or data.get("set") not in _SETS or not all(isinstance(d, str) for d in named):
        raise InputError(f"{path} is not a manifest of islands; {_ADVICE}")
    if data.get("schema") != _SCHEMA:
        raise InputError(
            f"{path} has schema {data.get('schema')!r}, this version reads {_SCHEMA}{tell_renamed(data['run'])}"
        )
    return dict(data)


def open_checkpoint(folder: Path, identity: dict[str, Any], demes: int) -> SavedSet:
    """The whole set in a folder, of the run that this identity describes."""
    data = read_manifest(folder)
    check_identity(data["run"], identity, folder)
    if len(data["files"]) != demes:
        raise InputError(f"{folder / _MANIFEST} names {len(data['files'])} demes, but this run has {demes}; {_ADVICE}")
    return SavedSet(folder, data["set"], data["files"])


def free_set(folder: Path) -> int:
    """Which of the two sets in a folder may be written: not the one that its manifest names."""
    try:
        return 1 - _SETS.index(read_manifest(folder)["set"])
    except InputError:
        return 0


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@dataclass(frozen=True)
class Saving:
    """What all workers know of the checkpoints of a run."""

    folder: Path
    identity: dict[str, Any]
    every: float  # seconds
    first: int  # the set that is written first
    workers: int
    together: bool  # demes are synchronous
    clock: Callable[[], float]
    asked: Callable[[], float]  # when a signal last asked for a checkpoint
    report_failures: Callable[[list[str]], None]  # of the last checkpoint


class Saver:
    """Saves the demes of one worker from time to time; that of the first worker writes the manifest.

    A checkpoint is begun by all when one of them finds it due, and the next one not before this one is closed: with a
    manifest, or without, if a file could not be written.
    """

    def __init__(self, saving: Saving, worker: int, demes: list[Deme], transport: Transport) -> None:
        self._saving, self._worker, self._demes, self._transport = saving, worker, demes, transport
        self._begun = self._closed = self._whole = 0
        self._saved = time.perf_counter()
        self._packed: dict[int, bytes] | None = None  # to be written
        self._when, self._step = 0.0, 0
        self._parts: list[dict[str, Any]] = []

    def vote(self, vote: Vote) -> Vote:
        """With what this worker has to say of checkpoints."""
        now, saving = time.perf_counter(), self._saving
        due = now - self._saved >= saving.every or saving.asked() > self._saved
        return vote._replace(
            begun=self._begun + (due and self._begun == self._closed), closed=self._closed, whole=self._whole
        )

    def act_on(self, told: Vote | None) -> None:
        """Do what there is to do, by what all have said."""
        now, saving = time.perf_counter(), self._saving
        if told:
            self._closed, self._whole = max(told.closed, self._closed), max(told.whole, self._whole)
            if told.begun > self._begun:
                hurried = saving.asked() > self._saved
                self._begun, self._saved = told.begun, now
                self._packed = self._pack()
                if saving.together:
                    self._transport.flush()  # or what others send after it could be among what waits before it
                spread = 0.0 if hurried else min(_SPREAD_SECONDS, saving.every / 4)
                self._when = now + spread * self._worker / saving.workers
        if self._packed is not None and now >= self._when:
            self._transport.send_part(json.dumps(self._write(self._packed)).encode())
            self._packed = None
        if self._worker == 0:
            self._close()

    def finish(self, demes: list[Deme], world: World | None) -> None:
        """The last checkpoint: all workers have ended, and the first one of each process saves all of its demes."""
        self._demes = demes
        self._whole = world.broadcast(self._whole) if world else self._whole
        packed = self._pack()
        part = {"left": True} if packed is None else self._write(packed)
        parts = world.gather(part) if world else [part]
        if parts and not any("left" in part for part in parts):
            self._name(parts)

    def _pack(self) -> dict[int, bytes] | None:
        """None if a deme has left a step, as it may when the run ends: the set before stays the last whole one."""
        contents, self._step = {}, max((deme.step for deme in self._demes), default=0)
        for deme in self._demes:
            saved = deme.save(self._transport.waiting(deme.number))
            if saved is None:
                return None
            state, arrays = saved
            contents[deme.number] = pack_checkpoint({**state, "seconds": self._saving.clock()}, arrays)
        return contents

    @property
    def _set(self) -> str:
        """The one that may be written now."""
        return _SETS[(self._saving.first + self._whole) % 2]

    def _write(self, packed: dict[int, bytes]) -> dict[str, Any]:
        """What there is to tell the first worker: digests of the files, or why they are not there."""
        folder = self._saving.folder
        try:
            for deme, content in packed.items():
                path = _file_of(folder, self._set, deme)
                path.parent.mkdir(parents=True, exist_ok=True)
                write_atomically(path, content)
        except OSError as error:
            return {"number": self._begun, "failure": error.strerror}
        files = {str(deme): _digest(content) for deme, content in packed.items()}
        return {"number": self._begun, "step": self._step, "files": files}

    def _close(self) -> None:
        """Once all workers have written their demes."""
        self._parts += [json.loads(part) for part in self._transport.collect_parts()]
        ready = [part for part in self._parts if part["number"] == self._begun]  # others may have begun the next one
        if len(ready) == self._saving.workers:
            self._parts = [part for part in self._parts if part["number"] > self._begun]
            self._name(ready)
            self._closed = self._begun

    def _name(self, parts: list[dict[str, Any]]) -> None:
        """Write the manifest; a run is worth more than its checkpoint, so that it goes on if it cannot."""
        saving = self._saving
        failures = [part["failure"] for part in parts if "failure" in part]
        if not failures:
            digests = {int(deme): digest for part in parts for deme, digest in part["files"].items()}
            named = {"set": self._set, "step": max(part["step"] for part in parts), "run": saving.identity}
            data = {"schema": _SCHEMA, **named, "files": [digests[deme] for deme in sorted(digests)]}
            try:
                write_atomically(saving.folder / _MANIFEST, (json.dumps(data) + "\n").encode())
                self._whole += 1
            except OSError as error:
                failures = [error.strerror]
        saving.report_failures(failures)
