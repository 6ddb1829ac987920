"""Files that users name, read whole: regular ones of a bounded size, so that none is waited for or fills the memory."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any, TypeAlias

from systola.errors import InputError

# What a file of JSON or TOML holds.
Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

MOST_BYTES = 256 * 2**20


def _open_at_once(path: str, flags: int) -> int:
    """A pipe without a writer is opened, too, instead of waiting for one; then it is seen what it is."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def read_file(path: str | Path, what: str, most: int = MOST_BYTES) -> bytes:
    """All bytes of a regular file of at most `most`; `what` names it in the message of an InputError."""
    try:
        with open(path, "rb", opener=_open_at_once) as file:
            told = os.fstat(file.fileno())
            if not stat.S_ISREG(told.st_mode):
                raise InputError(f"cannot read {what} {path}: it must be a regular file, but is not")
            if told.st_size > most:
                raise InputError(f"cannot read {what} {path}: it must have at most {most // 2**20} MB, but has more")
            return file.read()
    except OSError as error:
        raise InputError(f"cannot read {what} {path}: {error.strerror}") from None
    except ValueError as error:
        raise InputError(f"cannot read {what} {str(path)!r}: {error}") from None
    except MemoryError:
        raise InputError(f"cannot read {what} {path}: it is larger than the memory that there is") from None


def parse_json(raw: bytes) -> Any:
    """The data in a JSON text; a ValueError whatever is wrong with it."""
    try:
        return json.loads(raw)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def is_whole(value: Json, low: int = 0, high: int = 2**62) -> bool:
    """Whether a value of a file is a whole number in a range."""
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def is_number(value: Json) -> bool:
    """Whether a value of a file is a number, NaN included, that fits into 64 bits."""
    return is_whole(value, -(2**63), 2**63 - 1) or isinstance(value, float)
