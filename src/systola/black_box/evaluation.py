"""One evaluation, wherever it is made, and what becomes of it."""

from __future__ import annotations

import math
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike

from systola.backends.cpu import evaluate_compiled
from systola.errors import ObjectiveError
from systola.jit.digest import digest_of_functions
from systola.jit.dispatch import has_implementation, register, register_helpers
from systola.jit.records import widen
from systola.model.encodings import Array
from systola.model.objective import MOST_MEASURES
from systola.model.problem import Problem, record_of, space_of


@dataclass(frozen=True)
class Failure:
    """An evaluation that gave no measures. `what` goes on with "evaluate ..."."""

    what: str
    trace: str = ""


Outcome = tuple[Any, ...] | Failure  # measures as Python's numbers


class Evaluator(Protocol):
    """Who measures solutions, side by side and in any order."""

    def open(self) -> None:
        """Get ready."""

    def submit(self, number: int, decisions: Array) -> None:
        """Let a solution be measured; it is spoken of by this number."""

    def gather(self, seconds: float) -> list[tuple[int, Outcome]]:
        """What has been measured since, as soon as there is anything; after so many seconds it may be nothing."""

    def close(self) -> None:
        """Measure nothing more, and end what was started for it."""


class Objective:
    """The objective of a problem, for one solution after the other; made to be sent to where these are measured.

    It holds the function `evaluate` and the problem's data, and not the class: what pickles classes that were defined
    in a notebook, as the executors of Dask and loky do, makes them piece by piece, and pieces are no problems.
    """

    def __init__(self, problem: Problem, compiled: bool) -> None:
        self.function: FunctionType = type(problem).evaluate  # type: ignore[attr-defined]
        self._compiled, self._record = compiled, record_of(problem)
        self._dtype = problem.encoding.blank(space_of(problem), 1).dtype if compiled else np.dtype(np.int64)
        self._call: Callable[..., Any] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_call": None}

    def _prepare(self) -> Callable[..., Any]:
        """In the process that measures: what is to be called."""
        if not self._compiled:
            self._record = widen(self._record)
            return self.function
        if not has_implementation("evaluate", type(self._record)):
            _, helpers = digest_of_functions({"evaluate": self.function})
            register_helpers(helpers)
            register("evaluate", type(self._record), self.function)
        made: Callable[..., Any] = evaluate_compiled
        return made

    def measure(self, decisions: Array) -> Outcome:
        """The measures of a solution, or what the objective raised or returned in their place."""
        try:
            self._call = self._call or self._prepare()
            value = self._call(self._record, decisions.astype(self._dtype))  # a copy: `evaluate` may change it
        except (Exception, SystemExit) as error:
            return Failure(f"raised {type(error).__name__}: {error}", traceback.format_exc())
        values = value if isinstance(value, tuple) else (value,)
        if 1 <= len(values) <= MOST_MEASURES and all(map(_is_number, values)):
            return tuple(v.item() if isinstance(v, np.generic) else v for v in values)
        return Failure(f"must return a number or a tuple of at most {MOST_MEASURES} numbers, but returned {value!r}")


def _is_number(value: float | np.generic) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating, np.bool_))


def check_measures(problem: Problem, decisions: Array, values: tuple[Any, ...], count: int, dtype: DTypeLike) -> None:
    """An ObjectiveError if an evaluation does not fit those before it, or is not finite."""
    told = values[0] if len(values) == 1 else values
    if len(values) != count:
        what = f"must return as many numbers for every solution, but returned {count} for another one and {told!r}"
    elif any(math.isnan(v) for v in values):
        what = f"must return a number, but returned {told!r}"
    elif any(math.isinf(v) for v in values):
        what = f"must return a finite number (`violation` says what is infeasible), but returned {told!r}"
    elif dtype == np.int64 and not all(isinstance(v, int) and -(2**63) <= v < 2**63 for v in values):
        what = f"must return whole numbers of 64 bits, as for another solution, but returned {told!r}"
    else:
        return
    raise ObjectiveError(f"{type(problem).__name__}.evaluate {what} for the solution {shown(decisions)}")


def shown(decisions: Array) -> str:
    """A solution in a message."""
    return np.array2string(decisions, threshold=200, max_line_width=10**6)
