"""Logs of runs, read while they are written: each line is checked, so that whoever shows it need not."""

from __future__ import annotations

import base64
import json
import math
import os
import re
import stat
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from systola.errors import InputError
from systola.model.drawing import Drawing
from systola.reading import Json, is_number, is_whole

FORMAT = 1
MOST_BYTES = 64 * 2**20  # a writer stays below 50 MB
MOST_LINE = 4 * 2**20
MOST_ENTRIES = 100_000
MOST_SIDE = 64  # of a picture
MOST_FRONT = 200
_COMPARED = 64  # bytes before the place where reading goes on

Check = Callable[[Any], bool]


class LogReader:
    """A log that may still be written; `read` gives what has come since the last call.

    Parameters
    ----------
    path
        The file.

    Attributes
    ----------
    anew : bool
        Whether the last call of `read` began at the first line again, because the file had been thinned or written
        anew: what was read before is void then.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.anew = False
        self._file: tuple[int, int] | None = None  # device and inode
        self._offset = self._lines = 0
        self._before = b""  # the last bytes that were read, by which a file that was written anew is known
        self._id = ""

    def read(self, most: int = MOST_BYTES) -> list[dict[str, Any]]:
        """Entries that are whole by now: a header first, then frames, messages and an end, as they were written.

        About `most` bytes are read, and the next call goes on. A torn last line is none yet. An InputError says what
        is wrong with the file, if it is damaged, too large, of another version or no log at all; what comes before the
        damage is given first.
        """
        raw = self._read_on(most)
        lines = raw.split(b"\n")
        entries: list[dict[str, Any]] = []
        for line in lines[:-1]:
            try:
                entry = self._check(line)
            except InputError:
                if not entries:
                    raise
                return entries
            entries.append(entry)
            self._lines += 1
            self._offset += len(line) + 1
            self._before = (self._before + line + b"\n")[-_COMPARED:]
        if len(lines[-1]) > MOST_LINE:
            raise InputError(f"{self.path} is no log of systola: a line of it has more than {MOST_LINE // 2**20} MB")
        return entries

    def read_header(self) -> dict[str, Any]:
        """The first line; an InputError if this is no log. Nothing else is read."""
        try:
            with open(self.path, "rb", opener=_open_at_once) as file:
                line = file.readline(MOST_LINE)
        except OSError as error:
            raise InputError(f"cannot read the log {self.path}: {error.strerror}") from None
        return self._parse(line)

    @property
    def position(self) -> str:
        """How much has been read, as a short text for `resume`."""
        return f"{self._offset:x}.{self._lines:x}.{zlib.crc32(self._before):x}"

    def resume(self, position: str) -> bool:
        """Go on where another reader of the file was; if it is not the same file any more, nothing, and False."""
        if not re.fullmatch(r"[0-9a-f]{1,12}\.[0-9a-f]{1,12}\.[0-9a-f]{1,8}", position):
            return False
        offset, lines, digest = (int(part, 16) for part in position.split("."))
        try:
            with open(self.path, "rb", opener=_open_at_once) as file:
                told = os.fstat(file.fileno())
                if not stat.S_ISREG(told.st_mode) or told.st_size < offset:
                    return False
                file.seek(max(offset - _COMPARED, 0))
                before = file.read(min(offset, _COMPARED))
        except (OSError, ValueError):
            return False
        if zlib.crc32(before) != digest:
            return False
        self._file = told.st_dev, told.st_ino
        self._offset, self._lines, self._before = offset, lines, before
        return True

    def _read_on(self, most: int) -> bytes:
        """Bytes that were not read yet, up to the end of a line if they are many."""
        try:
            with open(self.path, "rb", opener=_open_at_once) as file:
                told = os.fstat(file.fileno())
                if not stat.S_ISREG(told.st_mode):
                    raise InputError(f"cannot read the log {self.path}: it must be a regular file, but is not")
                if told.st_size > MOST_BYTES:
                    raise InputError(
                        f"cannot read the log {self.path}: it must have at most {MOST_BYTES // 2**20} MB, but has more"
                    )
                place = told.st_dev, told.st_ino
                file.seek(self._offset - len(self._before))
                is_same = place == self._file and file.read(len(self._before)) == self._before
                self.anew = self._file is not None and not is_same
                if self.anew:
                    self._offset = self._lines = 0
                    self._id, self._before = "", b""
                    file.seek(0)
                self._file = place
                raw = file.read(most)
                return raw + file.readline(MOST_LINE + 1) if len(raw) == most else raw
        except OSError as error:
            raise InputError(f"cannot read the log {self.path}: {error.strerror}") from None
        except ValueError as error:
            raise InputError(f"cannot read the log {str(self.path)!r}: {error}") from None

    def _check(self, line: bytes) -> dict[str, Any]:
        """The entry in the line after the last that was read."""
        if self._lines >= MOST_ENTRIES or len(line) > MOST_LINE:
            raise InputError(f"{self.path} is no log of systola: it is longer than one can be")
        return self._parse(line)

    def _parse(self, line: bytes) -> dict[str, Any]:
        try:
            entry = json.loads(line, parse_constant=_refuse_constant)
        except (ValueError, RecursionError):
            entry = None
        if not isinstance(entry, dict) or not isinstance(entry.get("kind"), str):
            if not self._lines:
                raise InputError(f"{self.path} is no log of systola; one is written by --log")
            raise self._damage("it is not JSON of the kind that a log has")
        kind = entry["kind"]
        if not self._lines and (kind != "header" or "format" not in entry):
            raise InputError(f"{self.path} is no log of systola; one is written by --log")
        if kind == "header" and entry.get("format") != FORMAT:
            raise InputError(
                f"{self.path} has format {str(entry.get('format'))[:20]} of logs, this version reads {FORMAT}"
            )
        if kind not in _ENTRIES:
            raise self._damage(f"{kind[:20]!r} is no kind of entry")
        wrong = find_wrong(entry)
        if wrong:
            raise self._damage(f"{wrong!r} of a {kind} is not what it must be")
        if kind == "header":
            if self._id and entry["id"] != self._id:
                raise self._damage("it is the header of another run")
            self._id = entry["id"]
        return entry

    def _damage(self, why: str) -> InputError:
        return InputError(f"{self.path} is damaged: line {self._lines + 1}: {why}")


def read_log(path: str | Path) -> list[dict[str, Any]]:
    """All entries of a log as it is now; an InputError if it has none or is no log."""
    reader = LogReader(path)
    entries = reader.read()
    while more := reader.read():
        entries += more
    if not entries:
        raise InputError(f"{path} is no log of systola: it has no whole line")
    return entries


def find_wrong(entry: Mapping[str, Any]) -> str:
    """The name of what cannot be in an entry of a log; empty if all can."""
    required, optional = _ENTRIES[entry["kind"]]
    for name, holds in required.items():
        if name not in entry or not holds(entry[name]):
            return name
    for name, holds in optional.items():
        if name in entry and not holds(entry[name]):
            return name
    return ""


def _open_at_once(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _is_text(value: Json) -> bool:
    return isinstance(value, str)


def _is_count(value: Json) -> bool:
    return is_whole(value)


def _is_real(value: Json) -> bool:
    return is_number(value) and not isinstance(value, (str, list, dict)) and value is not None and math.isfinite(value)


def _is_time(value: Json) -> bool:
    return _is_real(value) and value >= 0  # type: ignore[operator]


def _is_flag(value: Json) -> bool:
    return isinstance(value, bool)


def _is_table(value: Json) -> bool:
    return isinstance(value, dict)


def _or_null(holds: Check) -> Check:
    return lambda value: value is None or holds(value)


def _list_of(holds: Check, least: int = 0, most: int = MOST_ENTRIES) -> Check:
    return lambda value: isinstance(value, list) and least <= len(value) <= most and all(map(holds, value))


_is_value = _or_null(_is_real)
_are_values = _list_of(_is_value, 1, 64)


def _is_objective(value: Json) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("name"), str)
        and value.get("sense") in ("maximise", "minimise")
    )


def _is_sample(value: Json) -> bool:
    """Evaluations, seconds, and the best objectives."""
    return isinstance(value, list) and len(value) >= 3 and all(map(_is_value, value))


def _is_side(value: Json) -> bool:
    return is_whole(value, 1, MOST_SIDE)


def _is_field(told: dict[str, Any]) -> bool:
    if not (_is_side(told.get("rows")) and _is_side(told.get("columns")) and isinstance(told.get("values"), str)):
        return False
    try:
        values = base64.b64decode(told["values"], validate=True)
    except ValueError:
        return False
    named = isinstance(told.get("name"), str) and all(key in told and _is_value(told[key]) for key in ("low", "high"))
    return named and len(values) == told["rows"] * told["columns"]


def _are_demes(told: dict[str, Any]) -> bool:
    if not (_is_side(told.get("rows")) and _is_side(told.get("columns"))):
        return False
    demes = told["rows"] * told["columns"]
    moves = told.get("migrations")
    return (
        all(
            _list_of(holds, demes, demes)(told.get(name))
            for name, holds in (("best", _is_value), ("iterations", _is_value))
        )
        and isinstance(moves, list)
        and len(moves) <= 16 * demes
        and all(
            isinstance(move, list) and len(move) == 3 and all(map(is_whole, move)) and max(move[:2]) < demes
            for move in moves
        )
    )


def _is_walk(told: dict[str, Any]) -> bool:
    return all(_list_of(_is_value, 1, 4096)(told.get(name)) for name in ("current", "best"))


def _is_front(told: dict[str, Any]) -> bool:
    return _list_of(_list_of(_is_real, 1, 16), 0, MOST_FRONT)(told.get("points")) and is_whole(told.get("size"))


_PICTURES: dict[str, Check] = {"field": _is_field, "demes": _are_demes, "walk": _is_walk, "front": _is_front}


def _is_picture(value: Json) -> bool:
    kind = value.get("type") if isinstance(value, dict) else None
    return isinstance(kind, str) and kind in _PICTURES and _PICTURES[kind](value)


def _is_drawing(value: Json) -> bool:
    try:
        Drawing.from_json(value)
    except InputError:
        return False
    return True


def _is_id(value: Json) -> bool:
    return isinstance(value, str) and re.fullmatch("[0-9a-f]{16}", value) is not None


_PROGRESS: dict[str, Check] = {
    "seconds": _is_time,
    **dict.fromkeys(("iterations", "evaluations"), _is_count),
    "best": _or_null(_are_values),
    "feasible": _is_flag,
    "violation": _is_value,
}

# Of each kind of entry: what it must have, and what it may have.
_ENTRIES: dict[str, tuple[dict[str, Check], dict[str, Check]]] = {
    "header": (
        {
            "format": _is_count,
            "id": _is_id,
            **dict.fromkeys(("started", "instance", "problem", "algorithm", "engine", "backend", "version"), _is_text),
            "seed": lambda value: is_whole(value, 0, 2**64),
            **dict.fromkeys(("threads", "rank", "ranks"), _is_count),
            "objectives": _list_of(_is_objective, 1, 64),
            "known": _or_null(_are_values),
            **dict.fromkeys(("stop", "parameters"), _is_table),
        },
        {"run": _is_id, "resumed": _is_flag},
    ),
    "frame": ({**_PROGRESS, "stage": _is_text}, {"picture": _is_picture, "drawing": _is_drawing}),
    "message": ({"seconds": _is_time, "text": _is_text}, {}),
    "end": ({**_PROGRESS, "stop": _is_text, "trace": _list_of(_is_sample)}, {"drawing": _is_drawing}),
}
