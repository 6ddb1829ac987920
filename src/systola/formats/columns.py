"""Tables of the problems of systola: which columns they have, and how data are made of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from systola.errors import InputError
from systola.formats.csv_table import NAMES, CsvTable
from systola.formats.data import Data
from systola.formats.text import shown
from systola.model.encodings import Array

_PROFIT = ("profit", "profits", "value", "values")
_WEIGHT = ("weight", "weights", "size", "sizes")
_COST = ("cost", "costs")
_VALUE = ("value", "values")
_CAPACITY = ("capacity", "capacities")
_LOAD = ("load", "loads", *_WEIGHT)
_JOB, _AGENT = ("job", "jobs"), ("agent", "agents")
_ITEM, _REQUIREMENT = ("item", "items"), ("requirement", "requirements")
_DUE = ("due", "due date")
_RELEASE = ("release", "release date")


def _named(table: CsvTable, *words: str) -> tuple[int | None, list[str] | None]:
    """The column of names, if there is one, and the names."""
    column = table.find(*words, *NAMES)
    return column, None if column is None else table.names(column)


def _two_columns(table: CsvTable, words: Mapping[str, tuple[str, ...]], names: tuple[str, ...]) -> Data:
    """A table with a column for each of some fields, and no others but that of names."""
    column, labels = _named(table, *names)
    found = {key: table.find(*headings) for key, headings in words.items()}
    for key, place in found.items():
        if place is None:
            raise _lacks(table, words[key][0])
    for k, heading in enumerate(table.header):
        if k != column and k not in found.values():
            raise _surplus(table, heading, ("name", *(headings[0] for headings in words.values())))
    values = {key: table.whole_numbers(place) for key, place in found.items() if place is not None}
    return Data(table.name, "CSV", values, labels)


def _lacks(table: CsvTable, column: str) -> InputError:
    return InputError(f"a table must have a column {column!r}, but has {shown(', '.join(table.header))} ({table.head})")


def read_knapsack(table: CsvTable) -> Data:
    """Items by profit and weight."""
    return _two_columns(table, {"profits": _PROFIT, "weights": _WEIGHT}, _ITEM)


def read_next_release(table: CsvTable) -> Data:
    """Requirements by cost and value."""
    return _two_columns(table, {"costs": _COST, "values": _VALUE}, _REQUIREMENT)


def read_multi_knapsack(table: CsvTable) -> Data:
    """Items, with a column for each constraint; a row called capacity, without profit, has the capacities."""
    profit = table.find(*_PROFIT)
    if profit is None:
        raise _lacks(table, "profit")
    column = table.find(*_ITEM, *NAMES)
    others = [k for k in range(len(table.header)) if k not in (profit, column)]
    if not others:
        raise InputError(f"a table must have a column for each constraint, but has none ({table.head})")
    limits = [
        k
        for k, row in enumerate(table.rows)
        if column is not None and row[column].casefold() in _CAPACITY and not row[profit]
    ]
    if len(limits) > 1:
        raise InputError(f"capacities must be one row, but come again ({table.name}, line {table.lines[limits[1]]})")
    items = [k for k in range(len(table.rows)) if k not in limits]
    if not items:
        raise InputError(f"a table must have a row for each item, but has none ({table.name})")
    values: dict[str, Any] = {}
    rest, last = table.part(items), table.part(limits)
    values["profits"] = rest.whole_numbers(profit)
    values["weights"] = np.array([rest.whole_numbers(k) for k in others])
    if limits:
        values["capacities"] = np.array([last.whole_numbers(k)[0] for k in others])
    return Data(table.name, "CSV", values, None if column is None else rest.names(column))


def read_flowshop(table: CsvTable) -> Data:
    """Jobs by machines, the first column their names; columns called due and release have those dates."""
    dates = {key: table.find(*words) for key, words in (("due", _DUE), ("release", _RELEASE))}
    machines = [k for k in range(1, len(table.header)) if k not in dates.values()]
    if not machines:
        raise InputError(
            "a table must have the names of the jobs in its first column, then a column for each machine, but has "
            f"{shown(', '.join(table.header))} ({table.head})"
        )
    values: dict[str, Any] = {"times": np.stack([table.whole_numbers(k) for k in machines], axis=1)}
    for key, place in dates.items():
        if place is not None:
            values[key] = table.whole_numbers(place)
    return Data(table.name, "CSV", values, table.names(0))


def read_generalized_assignment(table: CsvTable) -> Data:
    """A row for each job with each agent: what it costs and how much of the agent's capacity it takes."""
    places = {words[0]: table.find(*words) for words in (_JOB, _AGENT, _COST, _LOAD)}
    for column, place in places.items():
        if place is None:
            raise _lacks(table, column)
    job, agent, cost, load = (place for place in places.values() if place is not None)
    limit = table.find(*_CAPACITY)
    for k, heading in enumerate(table.header):
        if k not in (job, agent, cost, load, limit):
            raise _surplus(table, heading, ("job", "agent", "cost", "load", "capacity"))
    jobs, agents = ({name: k for k, name in enumerate(dict.fromkeys(table.texts(k)))} for k in (job, agent))
    lines: dict[tuple[str, str], int] = {}
    for row, line in zip(table.rows, table.lines, strict=True):
        both = row[job], row[agent]
        if both in lines:
            raise InputError(
                f"each job must have one row with each agent, but {shown(both[0])} with {shown(both[1])} of line "
                f"{lines[both]} comes again ({table.name}, line {line})"
            )
        lines[both] = line
    if len(lines) < len(jobs) * len(agents):
        lone = next((a, b) for a in jobs for b in agents if (a, b) not in lines)
        pair = f"{shown(lone[0])} with {shown(lone[1])}"
        raise InputError(f"each job must have a row with each agent, but {pair} has none ({table.name})")
    shape = len(agents), len(jobs)
    where = [agents[row[agent]] for row in table.rows], [jobs[row[job]] for row in table.rows]
    values: dict[str, Any] = {"costs": np.empty(shape, np.int64), "loads": np.empty(shape, np.int64)}
    values["costs"][where], values["loads"][where] = table.whole_numbers(cost), table.whole_numbers(load)
    if limit is not None:
        values["capacities"] = _capacities(table, agent, limit, agents)
    return Data(table.name, "CSV", values, {"jobs": list(jobs), "agents": list(agents)})


def _capacities(table: CsvTable, agent: int, limit: int, agents: Mapping[str, int]) -> Array:
    """That of each agent, which all of its rows say."""
    found = np.full(len(agents), -1, np.int64)
    for row, line, number in zip(table.rows, table.lines, table.whole_numbers(limit), strict=True):
        k = agents[row[agent]]
        if number < 0 or found[k] not in (-1, number):
            rule = "`capacity >= 0` must hold" if number < 0 else f"{shown(row[agent])} must have one capacity"
            known = "" if number < 0 else f"{found[k]} and "
            raise InputError(f"{rule}, but got {known}{number} ({table.name}, line {line})")
        found[k] = number
    return found


def _surplus(table: CsvTable, heading: str, wanted: tuple[str, ...]) -> InputError:
    return InputError(
        f"a table must have the columns {', '.join(wanted)}, but has {shown(heading)}, too; leave it out ({table.head})"
    )


def _headings(table: CsvTable, names: tuple[str, ...]) -> list[str]:
    """All but that of names."""
    return [h for h in (heading.casefold() for heading in table.header) if h not in NAMES and h not in names]


def is_knapsack(table: CsvTable) -> bool:
    """Whether a table has the columns of items, and no others."""
    rest = _headings(table, _ITEM)
    return len(rest) == 2 and any(h in _PROFIT for h in rest) and any(h in _WEIGHT for h in rest)


def is_next_release(table: CsvTable) -> bool:
    """Whether a table has the columns of requirements, and no others."""
    rest = _headings(table, _REQUIREMENT)
    return len(rest) == 2 and any(h in _COST for h in rest) and any(h in _VALUE for h in rest)


def is_multi_knapsack(table: CsvTable) -> bool:
    """Whether a table has profits, and columns that may be constraints."""
    rest = _headings(table, _ITEM)
    return len(rest) > 1 and any(h in _PROFIT for h in rest)


def is_generalized_assignment(table: CsvTable) -> bool:
    """Whether a table has columns of jobs and agents."""
    headings = _headings(table, ())
    return any(h in _JOB for h in headings) and any(h in _AGENT for h in headings)


def is_flowshop(table: CsvTable) -> bool:
    """Whether a table begins with jobs, and knows no agents."""
    return table.header[0].casefold() in _JOB and not is_generalized_assignment(table)
