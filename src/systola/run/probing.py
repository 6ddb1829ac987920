"""What an objective returns, found out by trying it: how many numbers, of which type, and whether it compiles."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba.core.errors import NumbaError

from systola.backends.cpu import evaluate_compiled
from systola.errors import InputError, ObjectiveError, SlowObjectiveWarning, warn
from systola.jit.compile import Call, is_compiled
from systola.jit.records import count_numbers, widen
from systola.model.encodings import Array
from systola.model.objective import MOST_MEASURES, Returned, evaluate
from systola.model.problem import Problem, record_of, senses_of
from systola.run.faults import explain_refusal

_FEW_NUMBERS = 100_000  # of a problem's data


def measures_of(problem: Problem, probe: Array, backend: str) -> tuple[bool, int, Any]:
    """Whether the objective compiles, how many numbers it returns, and whether they are integers."""
    _check_there_is_one(problem)
    compiled = not numba.config.DISABLE_JIT
    if compiled and _is_our_own(problem) and not is_known(problem, probe):
        return compiled, *kind_of_measures(problem, evaluate_interpreted(problem, probe), compiled)
    try:
        value = (
            evaluate_compiled(record_of(problem), probe.copy()) if compiled else evaluate_interpreted(problem, probe)
        )
    except NumbaError:
        if backend == "cuda":
            raise ObjectiveError(
                f"Numba cannot compile {type(problem).__name__}.evaluate: {explain_refusal(problem, probe)}"
            ) from None
        if backend == "cpu":
            warn(
                f"Numba cannot compile {type(problem).__name__}.evaluate, so it runs as plain Python, much slower: "
                f"{explain_refusal(problem, probe)}",
                SlowObjectiveWarning,
            )
        compiled = False
        try:
            value = evaluate_interpreted(problem, probe)
        except Exception as error:
            raise _raised(problem, probe, error) from error
    except Exception as error:
        raise _raised(problem, probe, error) from error
    return compiled, *kind_of_measures(problem, value, compiled)


def _is_our_own(problem: Problem) -> bool:
    """Whether it compiles for sure, and interpreting it once is quicker."""
    return type(problem).__module__.startswith("systola.") and count_numbers(record_of(problem)) <= _FEW_NUMBERS


def kind_of_measures(problem: Problem, value: Returned, compiled: bool) -> tuple[int, Any]:
    """How many numbers the objective returns, and of which type, by what it returned once."""
    values = value if isinstance(value, tuple) else (value,)
    if not 1 <= len(values) <= MOST_MEASURES or not all(
        isinstance(v, (int, float, np.integer, np.floating, np.bool_)) for v in values
    ):
        raise ObjectiveError(
            f"evaluate must return a number or a tuple of at most {MOST_MEASURES} numbers, but "
            f"{type(problem).__name__} returned {value!r}"
        )
    if len(values) < len(senses_of(problem)):
        raise ObjectiveError(
            f"{type(problem).__name__} declares {len(senses_of(problem))} objectives, but evaluate returned "
            f"{len(values)}"
        )
    # Interpreted code may return 0 here and 0.5 elsewhere; compiled code has one type for good, and so has our own.
    steady = compiled or type(problem).evaluate.__module__.startswith("systola.")  # type: ignore[attr-defined]
    whole = all(isinstance(v, (int, np.integer)) for v in values) and steady
    return len(values), np.int64 if whole else np.float64


def is_known(problem: Problem, probe: Array) -> bool:
    """Whether the objective was compiled before."""
    return is_compiled(Call(evaluate_compiled, (record_of(problem), probe)))


def compiles(problem: Problem, probe: Array) -> bool:
    """Whether Numba can compile the objective; it is not called."""
    _check_there_is_one(problem)
    if numba.config.DISABLE_JIT:
        return False
    try:
        evaluate_compiled.compile((numba.typeof(record_of(problem)), numba.typeof(probe)))
    except NumbaError:
        return False
    return True


def _check_there_is_one(problem: Problem) -> None:
    if type(problem).evaluate is None:  # type: ignore[attr-defined]
        raise InputError(
            f"`evaluate` of {type(problem).__name__} is None: its solutions are measured elsewhere; use ask_and_tell, "
            "or write the method"
        )


def _raised(problem: Problem, probe: Array, error: Exception) -> ObjectiveError:
    return ObjectiveError(
        f"{type(problem).__name__}.evaluate raised {type(error).__name__}: {error}, for the solution "
        f"{np.array2string(probe, threshold=20)}"
    )


def evaluate_interpreted(problem: Problem, decisions: Array) -> Any:
    """The objective interpreted, with integers as wide as compiled code has them."""
    return evaluate(widen(record_of(problem)), decisions.astype(np.int64))
