"""Engines of a user's own: what they are made of, and their names."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from types import FunctionType
from typing import Any

from systola.engines.engine import implement
from systola.engines.migration import enable_migration
from systola.errors import InputError
from systola.jit.digest import digest_of_functions
from systola.jit.dispatch import Implementation, register_helpers
from systola.jit.records import record_type
from systola.model.source import load

# What a function of an engine is given, after the engine's record.
_ARGUMENTS = {
    "do_cell": "s, cell, lane",
    "step_cells": "s, first, last, lane",
    "step_constants": "step",
    "init_row": "s, row, lane",
    "end_step": "s",
    "reduce_lanes": "s, lane, stride",
    "migration_slot": "number, step",
    "accept_immigrant": "s, immigrants, which, elite",
}


def engine_record(name: str, fields: Iterable[str], **functions: Implementation) -> Any:
    """The record type by which kernels know an engine of your own.

    Parameters
    ----------
    name : str
        The engine's.
    fields : names
        What the record holds: numbers and arrays, the engine's parameters.
    **functions
        What the engine does: at least `do_cell(record, s, cell, lane)`, or `step_cells` in its stead; with
        `migration_slot` the engine can be a deme. An edit of any of them, or of what they call, makes another type.

    Returns
    -------
    type
        A NamedTuple; `prepare` puts one into the `Design`.
    """
    for key, function in functions.items():
        if key not in _ARGUMENTS:
            raise InputError(f"an engine has no function {key!r}; there are: {', '.join(_ARGUMENTS)}")
        if not isinstance(function, FunctionType):
            raise InputError(f"`{key}` of {name} must be a plain function, but got {function!r}")
        wanted = 1 + len(_ARGUMENTS[key].split(","))
        if len(inspect.signature(function).parameters) != wanted:
            raise InputError(
                f"`{key}` of {name} must take (record, {_ARGUMENTS[key]}), but {function.__name__} takes "
                f"{inspect.signature(function)}"
            )
    if not {"do_cell", "step_cells"} & set(functions):
        raise InputError(f"{name} needs a function `do_cell(record, s, cell, lane)`: what a cell does in a step")
    digest, helpers = digest_of_functions(functions)  # type: ignore[arg-type]
    register_helpers(helpers)
    record = record_type(f"{name}_{digest}", fields)
    immigrants = {key: functions.pop(key) for key in ("migration_slot", "accept_immigrant") if key in functions}
    implement(record, **functions)
    if immigrants:
        if "migration_slot" not in immigrants:
            raise InputError(f"{name} has `accept_immigrant`, but no `migration_slot`: the row that it may replace")
        enable_migration(record, **immigrants)
    return record


def load_engine(name: str) -> Any:
    """The engine class that FILE.py:CLASS names; the file is executed."""
    return load(name, "engine")
