"""Files of data by name: an object of JSON, or a NumPy archive."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from systola.errors import InputError
from systola.formats.text import MOST_BYTES, read_text, shown
from systola.formats.values import show
from systola.model.archive import unpack_arrays
from systola.reading import read_file


@dataclass(frozen=True)
class Data:
    """What a file says, by name.

    Attributes
    ----------
    name
        Of the file.
    form
        ``JSON``, ``NumPy archive`` or ``CSV``.
    values
        All but what follows.
    names
        What decisions are called, if the file says it.
    problem
        Of which problem the values are, if the file says it.
    """

    name: str
    form: str
    values: Mapping[str, Any] = field(repr=False)
    names: Any = None
    problem: str | None = None


def is_archive(path: Path) -> bool:
    """Whether a file is to be read as a NumPy archive."""
    return path.suffix.lower() == ".npz"


def read_json(path: Path) -> Data:
    """Read an object of JSON; an InputError names the line of what is wrong."""
    text = read_text(path)
    try:
        found = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_without_repeats)
    except json.JSONDecodeError as error:
        place = f"{path.name}, line {error.lineno}"
        raise InputError(f"a file must be JSON, but it is not: {error.msg} ({place})") from None
    except RecursionError:
        raise InputError(f"a file must be JSON that can be read, but is nested too deeply ({path.name})") from None
    except ValueError as error:
        raise InputError(f"a file must be JSON that can be read, but is not: {error} ({path.name})") from None
    if not isinstance(found, dict):
        raise InputError(f"a file must be an object of JSON, {{...}}, but is {show(found)} ({path.name})")
    names, problem = found.pop("names", None), found.pop("problem", None)
    if problem is not None and not isinstance(problem, str):
        raise InputError(f"`problem` must be a text, but got {show(problem)} ({path.name})")
    return Data(path.name, "JSON", found, names, problem)


def read_archive(path: Path) -> Data:
    """Read a file as `numpy.savez` writes it."""
    raw = read_file(path, "the archive", MOST_BYTES)
    try:
        found: dict[str, Any] = dict(unpack_arrays(raw, MOST_BYTES, kinds="biufU"))
    except MemoryError:
        raise
    except Exception as error:  # readers of archives and of headers raise almost anything
        raise InputError(f"a file must be a NumPy archive without objects, but is not: {error} ({path.name})") from None
    found = {key: array.item() if array.ndim == 0 else array for key, array in found.items()}
    names, problem = found.pop("names", None), found.pop("problem", None)
    if names is not None:
        names = names.tolist() if hasattr(names, "tolist") else names
    if problem is not None and not isinstance(problem, str):
        raise InputError(f"`problem` must be a text, but got {show(problem)} ({path.name})")
    return Data(path.name, "NumPy archive", found, names, problem)


def _refuse_constant(word: str) -> Any:
    raise ValueError(f"{word} is no number that JSON has")


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"a key must come once, but {shown(twice)} comes again")
    return found
