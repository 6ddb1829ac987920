"""Solutions to start from, out of a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from systola.errors import InputError
from systola.reading import Json

_KEYS = ("pool", "front_solutions", "solutions", "solution")


def read_start(path: str) -> list[Any]:
    """The solutions of a file: JSON with a list of them, or with what `--output` writes; or one a line, numbers apart
    by spaces or commas."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not text"
        raise InputError(f"--start needs a file with solutions, but {path} cannot be read: {why}") from None
    if text.lstrip()[:1] in ("[", "{"):
        try:
            found = _solutions_in(json.loads(text))
        except json.JSONDecodeError as error:
            raise InputError(f"--start needs a file with solutions, but {path} is not JSON: {error}") from None
    else:
        found = _read_lines(path, text)
    if not found:
        raise InputError(f"--start needs a file with solutions, but there is none in {path}")
    return found


def _solutions_in(data: Json) -> list[Any]:
    if isinstance(data, dict):
        named = next((data[key] for key in _KEYS if data.get(key)), [])
        return _solutions_in(named)
    if not isinstance(data, list):
        return []
    pooled = [one["solution"] for one in data if isinstance(one, dict) and "solution" in one]
    if pooled and len(pooled) == len(data):
        return pooled
    return data if data and all(isinstance(one, list) for one in data) else ([data] if data else [])


def _read_lines(path: str, text: str) -> list[list[int]]:
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.replace(",", " ").split()
        try:
            found += [[int(word) for word in words]] if words else []
        except ValueError:
            raise InputError(
                f"--start needs a file with solutions, one a line in whole numbers, but got {line[:40]!r} ({path}, "
                f"line {number})"
            ) from None
    return found
