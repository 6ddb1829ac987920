"""A problem from the values of a file and those that a caller gives beside it, with names for its decisions."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from typing import Any

from systola.errors import InputError, SystolaError
from systola.formats.data import Data
from systola.formats.text import located, shown
from systola.formats.values import fit, parameters_of, show
from systola.model.names import CHOICE, ORDER, label, plural, words_of
from systola.model.problem import Problem
from systola.model.source import tell_failure
from systola.reading import Json


def make(
    maker: Callable[..., Any], title: str, data: Data, given: Mapping[str, Any], code: str = ""
) -> tuple[Problem, dict[str, Any]]:
    """Make a problem.

    Parameters
    ----------
    maker
        A class, or a function, whose parameters are the names of values.
    title
        What messages call it.
    data
        The values of a file; all must be known.
    given
        Values beside the file, of which those are taken that it leaves open.
    code
        The file that defines the maker, if it is a user's.

    Returns
    -------
    Problem and dict
        What was made, and which of the given values were taken.
    """
    known = parameters_of(maker)
    place = f" ({data.name})" if data.name else ""
    for key in data.values:
        if key not in known:
            near = difflib.get_close_matches(key, known, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ";"
            raise InputError(f"{title} has no field {shown(key)}{hint} It has: {', '.join(known) or 'none'}{place}")
    taken = {key: value for key, value in given.items() if key in known and key not in data.values}
    missing = [key for key, wanted in known.items() if wanted.required and key not in data.values and key not in taken]
    if missing:
        file = f"which {data.name} does not have" if data.name else "but there is no file of data"
        fill = f"add --set {missing[0]}=VALUE" if data.name else f"add --data FILE, or --set {missing[0]}=VALUE"
        raise InputError(f"{title} needs `{'`, `'.join(missing)}`, {file}; {fill}")
    keywords = {}
    for key, value in data.values.items():
        with located(data.name):
            keywords[key] = fit(value, known[key], f"{title}.{key}")
    for key, value in taken.items():
        keywords[key] = fit(value, known[key], f"{title}.{key}")
    problem = _call(maker, title, keywords, data.name, code)
    if data.names is not None:
        with located(data.name):
            name(problem, data.names)
    return problem, taken


def _call(maker: Callable[..., Any], title: str, keywords: Mapping[str, Any], file: str, code: str) -> Problem:
    try:
        problem = maker(**keywords)
    except SystolaError as error:
        raise InputError(f"{error} ({file})" if file else str(error)) from None
    except Exception as error:
        if not code:
            raise
        source = f" from {file}" if file else ""
        raise InputError(f"{title} cannot be made{source}: {tell_failure(error, code)}") from error
    if not isinstance(problem, Problem):
        raise InputError(f"{title} must return a Problem, but returned {type(problem).__name__} ({code})")
    return problem


def name(problem: Problem, names: Json) -> None:
    """Name the decisions of a problem, or their values, as a file says it: by a list, or by an object of lists."""
    kind, words = words_of(problem.encoding, problem.names)
    keys = {plural(words.decision): "decisions", plural(words.value): "values"}
    if kind == ORDER:
        del keys[plural(words.decision)]
    if kind == CHOICE:
        del keys[plural(words.value)]
    main = next(iter(keys))
    lists = names if isinstance(names, dict) else {main: names}
    found = {}
    for key, entries in lists.items():
        if key not in keys:
            raise InputError(f"`names` may have {' and '.join(keys)}, but got {shown(key)}")
        if not isinstance(entries, list):
            raise InputError(f"`names` must be a list of the {key}' names, but got {show(entries)}")
        for entry in entries:
            if isinstance(entry, bool) or not isinstance(entry, (str, int)):
                raise InputError(f"each of the {key} must have a text as its name, but got {show(entry)}")
        found[keys[key]] = [str(entry) for entry in entries]
    label(problem, **found)
