"""Which logs are shown: files that were named, and all logs in folders that were named, also those that come later."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from systola.errors import InputError

MOST_LOGS = 64  # on one page; of a folder with more, the newest
_MOST_HEADER = 2**16  # bytes in which the first line of a log must end
_PATIENCE = 1.0  # seconds from one look into a folder to the next


@dataclass(frozen=True)
class Log:
    """A file that is shown; the page knows it by `key`, people by `name`."""

    key: str
    name: str
    path: Path


class Logs:
    """The logs of a page.

    Parameters
    ----------
    paths
        Files and folders; a file need not be there yet.
    """

    def __init__(self, paths: Sequence[str | Path]) -> None:
        self._paths = [Path(path) for path in paths]
        self._lock = threading.Lock()  # each viewer is served by a thread of its own
        self._looked_at = -_PATIENCE
        self._found: dict[str, Log] = {}
        self._known: dict[Path, bool] = {}  # files of folders that are logs, and such that are not

    def find(self) -> dict[str, Log]:
        """The logs that there are now, by their keys."""
        with self._lock:
            if time.monotonic() - self._looked_at >= _PATIENCE:
                self._looked_at = time.monotonic()
                self._found = {log.key: log for log in self._look()}
            return self._found

    def _look(self) -> Iterator[Log]:
        for path in self._paths:
            for file in self._logs_in(path) if path.is_dir() else [path]:
                yield Log(hashlib.sha256(os.fsencode(file.absolute())).hexdigest()[:16], str(file), file)

    def _logs_in(self, folder: Path) -> list[Path]:
        dated = []
        for path, told in _files_in(folder):
            if not self._known.get(path):
                self._known[path] = _begins_like_a_log(path)
            if self._known[path]:
                dated.append((told.st_mtime, path))
        return sorted(path for _, path in sorted(dated)[-MOST_LOGS:])


def logs_to_watch(paths: Sequence[str | Path]) -> Logs:
    """What a user named; nothing means the folder that is current. An InputError if there is none of it."""
    for path in map(Path, paths):
        if not path.exists():
            raise InputError(f"there is no log {path}; `systola solve --log {path}` writes one")
    if len(paths) > MOST_LOGS:
        raise InputError(f"a page has at most {MOST_LOGS} logs, but got {len(paths)}; name fewer")
    logs = Logs(paths or [Path()])
    if not paths and not logs.find():
        raise InputError("there is no log in this folder; `systola solve --log FILE` writes one")
    return logs


def _files_in(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """Regular files that do not hide; a folder that cannot be read has none."""
    with suppress(OSError):
        for path in folder.iterdir():
            with suppress(OSError):
                told = path.stat()
                if stat.S_ISREG(told.st_mode) and not path.name.startswith("."):
                    yield path, told


def _begins_like_a_log(path: Path) -> bool:
    try:
        with open(path, "rb") as file:
            line = file.readline(_MOST_HEADER)
        first = json.loads(line) if line.endswith(b"\n") else None
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(first, dict) and first.get("kind") == "header" and "format" in first
