"""A user's functions compiled apart, so that engines' kernels can call them by address: see `model.linked`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from types import FunctionType
from typing import Any, Literal, cast

import numpy as np
from numba import types
from numba.core.errors import NumbaError
from numba.extending import overload
from numpy.typing import DTypeLike

from systola.engines.engine import Engine
from systola.engines.race import Race
from systola.jit.compile import Call, compile_for, kernel
from systola.jit.located import Located, put_record, record_at, size_of
from systola.jit.private import Entry, entry_of
from systola.model.linked import Link, LinkKind
from systola.model.objective import fitness, violation
from systola.model.population import try_evaluate
from systola.model.problem import Problem, is_declared, record_of, senses_of, space_of

_WORD_BYTES = 8


def _lay_down(record: Any, address: Any) -> Any:
    """Put the record down there, if anywhere; how many bytes it takes."""
    if address != 0:
        put_record(record, address)
    return size_of(record)


def _evaluate_at(data: Any, x: Any, measures: Any) -> Any:
    """Measure plain decisions; whether that worked."""
    return try_evaluate(record_at(data), x, measures)


def _fitness_at(data: Any, measures: Any) -> Any:
    return _as_wide(fitness(record_at(data), measures))


def _violation_at(data: Any, measures: Any) -> Any:
    return _as_wide(violation(record_at(data), measures))


def _as_wide(value: Any) -> Any:
    """The number as one of 64 bits."""
    return value


@overload(_as_wide, strict=False)  # type: ignore[untyped-decorator]
def _as_wide_compiled(value: types.Type) -> Any:
    if isinstance(value, types.Integer) and not value.signed and value.bitwidth == 64:
        return None  # not all of them are numbers that kernels compute with
    if isinstance(value, (types.Integer, types.Boolean)):
        return lambda value: np.int64(value)
    return (lambda value: np.float64(value)) if isinstance(value, types.Float) else None


lay_down = kernel(_lay_down)
evaluate_at = kernel(_evaluate_at)
fitness_at = kernel(_fitness_at)
violation_at = kernel(_violation_at)


def link(problem: Problem, engines: Iterable[Engine], measures: int, dtype: DTypeLike) -> Link | None:
    """Compile a problem's functions, and say where they are; None if kernels must be compiled for it alone.

    That is so where they read more of it than its methods do, or where systola has it, which brings kernels of its own.

    Parameters
    ----------
    problem
        Whose `evaluate` can be compiled.
    engines
        All whose kernels may run.
    measures, dtype
        How many there are of a solution, and their type.
    """
    plain = not problem.capabilities and not is_declared(problem)
    if not plain or _is_of(type(problem), "systola.problems") or not all(_knows_no_data(engine) for engine in engines):
        return None
    record, row = record_of(problem), np.zeros((2, measures), dtype, order="F")[0]  # a vector with gaps
    x = problem.encoding.blank(space_of(problem), 1)[0]  # as lanes have decisions
    room = np.zeros(lay_down(record, 0) // _WORD_BYTES + 1, np.int64)
    lay_down(record, room.ctypes.data)
    located = Located(record, room.ctypes.data)
    cls, comparing = type(problem), (located, row)
    try:
        evaluated = _find(Call(evaluate_at, (located, x, row)))
        compared = _find(Call(fitness_at, comparing)) if hasattr(cls, "fitness") else Entry()
        broken = _find(Call(violation_at, comparing)) if hasattr(cls, "violation") else Entry()
    except NumbaError:  # which is told when kernels are compiled for it
        return None
    if not (evaluated and compared and broken):
        return None
    kind = LinkKind(
        "objective" if compared.result is None else _number(compared.result),
        "none" if broken.result is None else _number(broken.result),
    )
    addresses = evaluated.address, compared.address, broken.address, located.address
    return Link(kind, (*addresses, senses_of(problem)[0]), (room, record))


def _is_of(cls: type, package: str) -> bool:
    return f"{cls.__module__}.".startswith(f"{package}.")


def _knows_no_data(engine: Engine) -> bool:
    """Whether it is one of ours, without operators of a user's: these may read the fields of a problem."""
    if isinstance(engine, Race):
        return all(_knows_no_data(one) for one in engine.engines)
    values = [getattr(engine, f.name) for f in fields(cast("Any", engine))]
    return _is_of(type(engine), "systola.engines") and not any(isinstance(value, FunctionType) for value in values)


def _find(call: Call) -> Entry | None:
    compile_for(call)
    return entry_of(call.kernel, call.arguments)


def _number(result: types.Type) -> Literal["whole", "real"]:
    return "whole" if isinstance(result, types.Integer) else "real"
