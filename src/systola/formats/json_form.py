"""Problems written as objects of JSON, as `tabular` and `own` read them."""

from __future__ import annotations

import json
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import numpy as np

from systola.errors import InputError
from systola.files import write_atomically
from systola.formats.tabular import FORMS
from systola.model.names import labels_of, plural
from systola.model.problem import Problem


def to_json(problem: Problem, kind: str) -> dict[str, Any]:
    """The fields of a problem as plain data, with the names of its decisions; what is as by default is left out."""
    data: dict[str, Any] = {"problem": kind} if any(kind == form.problem for form in FORMS) else {}
    for entry in fields(problem):  # type: ignore[arg-type]
        if entry.init:
            value = getattr(problem, entry.name)
            usual = entry.default if entry.default_factory is MISSING else entry.default_factory()
            if usual is MISSING or not np.array_equal(value, usual):
                data[entry.name] = value.tolist() if isinstance(value, np.ndarray) else value
    labels = labels_of(problem)
    words = ((labels.decision, labels.decisions), (labels.value, labels.values))
    names = {plural(word): list(found) for word, found in words if found is not None}
    return {**data, "names": names} if names else data


def write(problem: Problem, kind: str, path: str | Path) -> None:
    """Write a problem, one line a field; the file is replaced if it exists."""
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in to_json(problem, kind).items()]
    text = "{\n  " + ",\n  ".join(lines) + "\n}\n"
    try:
        write_atomically(Path(path), text.encode())
    except OSError as error:
        raise InputError(f"the file must be writable, but {str(path)!r} is not: {error.strerror}") from None
