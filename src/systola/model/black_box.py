"""A problem whose solutions are measured elsewhere, as kernels see it: `evaluate` looks them up.

Kernels for it know nothing of the user's `evaluate`, so they are compiled once for all problems that compare solutions
in the usual way.
"""

from __future__ import annotations

from typing import Any

from systola.jit.dispatch import Implementation
from systola.model.capabilities import TieBreak
from systola.model.problem import Problem, kernel_fields, register_functions
from systola.model.value_table import ValueTable, look_up

_TABLE = "value_table"  # the field of the record
_COMPARING = ("fitness", "violation")


def _one(self: Any, x: Any) -> Any:
    return self.value_table.values[look_up(self.value_table, x), 0]


def _two(self: Any, x: Any) -> Any:
    row = look_up(self.value_table, x)
    return self.value_table.values[row, 0], self.value_table.values[row, 1]


def _three(self: Any, x: Any) -> Any:
    row = look_up(self.value_table, x)
    values = self.value_table.values
    return values[row, 0], values[row, 1], values[row, 2]


def _four(self: Any, x: Any) -> Any:
    row = look_up(self.value_table, x)
    values = self.value_table.values
    return values[row, 0], values[row, 1], values[row, 2], values[row, 3]


_EVALUATE: tuple[Implementation, ...] = (_one, _two, _three, _four)


def as_black_box(problem: Problem, measures: int) -> Problem:
    """The problem without structure and capabilities, but for how ties are broken, and its measures from a table.

    The table is given to it by `set_table`.
    """
    cls = type(problem)
    kept = tuple(entry for entry in cls.capabilities if isinstance(entry, TieBreak))
    members = {
        "capabilities": kept,
        "structure": None,
        "evaluate": _EVALUATE[measures - 1],
        "__module__": cls.__module__,
    }
    made: type[Problem] = type(cls.__name__, (cls,), members)
    own = bool(kept) or any(hasattr(cls, name) for name in _COMPARING)
    register_functions(made, cls.__name__ if own else "BlackBox", [_TABLE, *(kernel_fields(cls) if own else [])])
    twin = object.__new__(made)
    vars(twin).update(vars(problem))
    return twin


def set_table(twin: Problem, table: ValueTable) -> None:
    """What `evaluate` of a black box looks solutions up in."""
    vars(twin)[_TABLE] = table
