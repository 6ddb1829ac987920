"""Problems of a user's own: a class, an instance or a function of a Python file, with data from another file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from systola.errors import InputError
from systola.formats.csv_table import NAMES, CsvTable, read_csv
from systola.formats.data import Data, is_archive, read_archive, read_json
from systola.formats.instance import Instance
from systola.formats.making import make
from systola.formats.text import located, read_text, shown
from systola.formats.values import parameters_of
from systola.model.names import Names, plural
from systola.model.problem import Problem
from systola.model.source import load

_NO_DATA = Data("", "", {})


def load_problem(spec: str, data: str | Path | None = None, *, fields: Mapping[str, Any] | None = None) -> Instance:
    """Load a problem of your own from a Python file. The file is executed: never pass a name that you do not trust.

    Parameters
    ----------
    spec
        ``FILE.py:NAME``: a class, whose fields are the data; a function that returns a problem, whose parameters are
        the data; or a problem.
    data
        A file with the data: an object of JSON, a CSV table, or a NumPy archive, ``.npz``, with the names of fields.
    fields
        Values that the file leaves open.

    Raises
    ------
    InputError
        If something is missing, unknown, or of another type than the annotation of its field.
    """
    found = find_problem(spec, data, fields or {})
    for key in fields or {}:
        if key not in found.fields:
            raise InputError(f"{spec} has no field {shown(key)} that is left open")
    return found


def find_problem(spec: str, data: str | Path | None, given: Mapping[str, Any]) -> Instance:
    """As `load_problem`, but given values that the problem has no use for are left alone."""
    maker = load(spec, "problem")
    code, _, title = spec.rpartition(":")
    name = Path(data).stem if data is not None else title
    source = f"{spec}, data from {data}" if data is not None else spec
    if isinstance(maker, Problem):
        if data is not None:
            raise InputError(f"{spec} is a problem with its data already, but got the file {data}; leave it out")
        return Instance(name, maker, None, source, kind=type(maker).__name__)
    is_problem = isinstance(maker, type) and issubclass(maker, Problem)
    if not is_problem and (isinstance(maker, type) or not callable(maker)):
        what = f"the class {maker.__name__}" if isinstance(maker, type) else f"a {type(maker).__name__}"
        raise InputError(
            f"{spec} must be a problem: a subclass of sy.Problem, an instance of one, or a function that returns one, "
            f"but is {what}"
        )
    values = _NO_DATA if data is None else _read(Path(data), maker, title, given)
    problem, taken = make(maker, title, values, given, code)
    return Instance(name, problem, None, source, kind=type(problem).__name__, fields=taken)


def _read(path: Path, maker: Callable[..., Any], title: str, given: Mapping[str, Any]) -> Data:
    """The values of a file, by the names of fields."""
    if is_archive(path):
        return _restore(read_archive(path), maker)
    if path.suffix.lower() in (".csv", ".tsv"):
        return _from_table(read_csv(path), maker, title, given)
    if path.suffix.lower() != ".json" and not read_text(path).lstrip().startswith("{"):
        raise InputError(f"a file of data must be .json, .csv or .npz, but got {str(path)!r}")
    return _restore(read_json(path), maker)


def _restore(data: Data, maker: Callable[..., Any]) -> Data:
    """A problem of one's own may call its values `names` or `problem`, too."""
    known, values = parameters_of(maker), dict(data.values)
    if data.problem is not None:
        values["problem"] = data.problem
    if data.names is not None and "names" in known:
        values["names"] = data.names
        return replace(data, values=values, names=None)
    return replace(data, values=values)


def _from_table(table: CsvTable, maker: Callable[..., Any], title: str, given: Mapping[str, Any]) -> Data:
    """Columns that are called as fields are these; if none is, the table is the one array that is missing."""
    known = parameters_of(maker)
    lower = {key.casefold(): key for key in known}
    columns = {lower[heading.casefold()]: k for k, heading in enumerate(table.header) if heading.casefold() in lower}
    others = [k for k in range(len(table.header)) if k not in columns.values()]
    names, words = set(NAMES), getattr(maker, "names", None)
    if isinstance(words, Names):
        names |= {words.decision, words.value, plural(words.decision), plural(words.value)}
    labels = [k for k in others if table.header[k].casefold() in names]
    if not columns:
        return _whole(table, [k for k in known if known[k].required and k not in given], known, labels, title)
    for k in others:
        if k not in labels[:1]:
            raise InputError(
                f"{title} has no field {shown(table.header[k])}; it has: {', '.join(known)} ({table.head})"
            )
    for key in columns:
        if known[key].kind not in (None, np.ndarray):
            raise InputError(
                f"{title}.{key} is a single value, but is a column here; leave it out, and add --set {key}=VALUE "
                f"({table.head})"
            )
    values = {key: table.numbers(k) for key, k in columns.items()}
    return Data(table.name, "CSV", values, table.names(labels[0]) if labels else None)


def _whole(table: CsvTable, missing: list[str], known: Mapping[str, Any], labels: list[int], title: str) -> Data:
    """A table without a column that is called as a field: all of it is a matrix, with names of its rows before it."""
    arrays = [key for key in missing if known[key].kind in (None, np.ndarray)]
    if len(arrays) != 1:
        raise InputError(
            f"a column must be called as a field of {title}, {', '.join(known) or 'which has none'}, but there are "
            f"{shown(', '.join(table.header))} ({table.head})"
        )
    first = labels[0] if labels else None if table.are_numbers(0) else 0
    numbers = [k for k in range(len(table.header)) if k != first]
    if not numbers:
        raise InputError(f"a table must have a column of numbers for {title}.{arrays[0]}, but has none ({table.name})")
    names = None if first is None else table.names(first)
    headings = [table.header[k] for k in numbers]
    if names is not None and set(headings) == set(names) and headings != names:
        with located(table.head):
            raise InputError("columns must be in the order of the rows of the same names, but are in another")
    return Data(table.name, "CSV", {arrays[0]: np.stack([table.numbers(k) for k in numbers], axis=1)}, names)
