"""A solution judged once more in integers that have no end.

Compiled code and NumPy compute with 64 bits, in which a sum or a product beyond 2**63 wraps around without a word.
Python's own integers do not, so the plain objective is interpreted with these.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np

from systola.errors import CheckFailed
from systola.jit.records import Record, change_arrays, count_numbers, widen
from systola.model.encodings import Array
from systola.model.objective import evaluate, fitness, violation
from systola.model.problem import Problem, record_of

Measures = float | tuple[float, ...]  # what `evaluate` returns; numbers of NumPy, too

_MOST_NUMBERS = 10**6  # of a problem's data
_MOST_SECONDS = 1.0
_LEAST_SECONDS, _SHARE = 0.05, 0.01  # of a budget
_NUMBERS_A_SECOND = 5 * 10**6  # that become Python's integers


class _Enough(BaseException):
    """The time is over; not an Exception, which a user's code might catch."""


def check_exactly(problem: Problem, decisions: Array, found: Measures, budget: float | None = None) -> None:
    """CheckFailed if what `evaluate` found is something else in exact integers, or if fitness or violation are.

    Nothing is checked where measures are not integers, where the code cannot run with Python's integers or takes
    longer than a second so, and for problems with more than a million numbers. A run with a budget in seconds must end
    in time: then a hundredth of these, or 50 ms, are the limit, and as many numbers as can be converted in that time.

    Parameters
    ----------
    problem
        What is solved.
    decisions
        Of the solution.
    found
        What `evaluate` returned for it, compiled or with NumPy's integers.
    budget
        The seconds that the run was given, if they were limited.
    """
    seconds = _MOST_SECONDS if budget is None else min(_MOST_SECONDS, max(_LEAST_SECONDS, _SHARE * budget))
    record = record_of(problem)
    measures = _integers(found)
    if measures is None or count_numbers(record) > min(_MOST_NUMBERS, _NUMBERS_A_SECOND * seconds):
        return
    exact = change_arrays(record, _endless)
    wanted = _integers(_try(seconds, evaluate, exact, decisions.astype(object)))
    if wanted is None:
        return
    if wanted != measures:
        raise _wrapped(problem, "objective", wanted, measures)
    for function in (fitness, violation):
        inexact = _integers(_try(seconds, function, widen(record), np.array(measures)))
        worth = _integers(_try(seconds, function, exact, np.array(wanted, object)))
        if inexact is not None and worth is not None and worth != inexact:
            raise _wrapped(problem, function.__name__, worth, inexact)


def _endless(values: Array) -> Array:
    return values.astype(object) if values.dtype.kind in "iu" else values


def _integers(value: Measures | None) -> list[int] | None:
    """A number or a tuple of numbers as a list; None if one is not an integer."""
    if value is None:
        return None
    values = value if isinstance(value, tuple) else (value,)
    return [int(v) for v in values] if all(isinstance(v, (int, np.integer)) for v in values) else None


def _try(seconds: float, call: Callable[..., Any], *args: Record | Array) -> Any:
    """What a call returns, interpreted; None if it raises or takes too long.

    Each line looks at the clock: loops that end by wrapping around do not end with integers that never do.
    """
    end = time.perf_counter() + seconds

    def look(frame: FrameType, event: str, *_: Any) -> Any:
        if time.perf_counter() > end:
            raise _Enough
        return look

    before = sys.gettrace()
    try:
        with np.errstate(all="ignore"):
            sys.settrace(look)
            return call(*args)
    except (Exception, _Enough):
        return None
    finally:
        sys.settrace(before)


def _wrapped(problem: Problem, what: str, exact: list[int], found: list[int]) -> CheckFailed:
    told = [", ".join(map(str, values)) for values in (exact, found)]
    return CheckFailed(
        f"the {what} of the best solution is {told[0]} in exact integers, but {told[1]} in 64 bits, where sums and "
        f"products beyond 2**63 wrap around; scale the data of {type(problem).__name__} down, or compute with floats"
    )
