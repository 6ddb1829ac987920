"""NamedTuples of arrays, scalars and further such records: the only compound values that kernels see.

Numba stores compiled kernels on disk under the types of their arguments, and finds a NamedTuple type again by
module and name. Classes made at run time (a user's problem in a script, say) therefore live in a module of their
own that rebuilds any of them from its name alone: ``Stem__field__field``. A digest in the stem makes an edited
problem a new type, so that no kernel compiled for the old one can be served.
"""

from __future__ import annotations

import re
import sys
from collections import namedtuple
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from systola.errors import InputError

_SEPARATOR = "__"

Record = tuple[Any, ...]  # a named tuple; its fields are known when a kernel is compiled
RecordType = type[Record]


class _Home(ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or _SEPARATOR not in name:
            raise AttributeError(name)  # not one of ours: Python asks for all kinds of attributes
        made = namedtuple(name, name.split(_SEPARATOR)[1:])  # type: ignore[misc]
        made.__module__ = self.__name__
        setattr(self, name, made)
        return made


_home = sys.modules.setdefault("systola.recorded", _Home("systola.recorded"))


def record_type(stem: str, fields: Iterable[str]) -> Any:
    """The NamedTuple class called `stem` with these fields; the same class whenever asked again."""
    fields = list(fields)
    for field in fields:
        if _SEPARATOR in field or field.startswith("_"):
            raise InputError(
                f"field names have no leading and no double underscore, but got {field!r} in {stem}; rename it"
            )
    stem = re.sub("__+", "_", stem).strip("_")
    return getattr(_home, _SEPARATOR.join([stem, *fields]))


def change_arrays(record: Record, change: Callable[[NDArray[Any]], Any]) -> Any:
    """The same record with each of its arrays changed, those of records in it, too."""
    values = []
    for value in record:
        if isinstance(value, np.ndarray):
            value = change(value)
        elif isinstance(value, tuple):
            value = change_arrays(value, change)
        values.append(value)
    return type(record)(*values)


def widen(record: Record) -> Any:
    """A record for interpreted use: NumPy keeps small integers small, compiled code computes with 64 bits.

    Records in it stay as they are: their arrays have 64 bits, or are written to.
    """
    return type(record)(
        *(
            v.astype(np.int64) if isinstance(v, np.ndarray) and v.dtype.kind in "iu" and v.itemsize < 8 else v
            for v in record
        )
    )


def count_numbers(record: Record) -> int:
    """How many numbers a record holds."""
    return sum(count_numbers(v) if isinstance(v, tuple) else int(np.size(v)) for v in record)
