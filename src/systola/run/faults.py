"""What is wrong with an objective, told in a sentence: it raises, it is not a number, or it cannot be compiled."""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FunctionType

import numba
import numpy as np
from numba.core.errors import NumbaError

from systola.backends.cpu import evaluate_compiled
from systola.backends.session import Session
from systola.errors import ObjectiveError
from systola.jit.private import CALLED
from systola.jit.records import widen
from systola.model.encodings import Array
from systola.model.objective import evaluate
from systola.model.problem import Problem, record_of
from systola.model.structure.declare import parts_of


def check_faults(problem: Problem, session: Session) -> None:
    """Raise what the objective raised in a kernel, or that it was not a finite number."""
    count, example = session.faults()
    if example is not None:
        raise ObjectiveError(
            f"{type(problem).__name__}.evaluate {explain_fault(problem, example)} for {count} solutions; one of "
            f"them is {np.array2string(example, threshold=20)}"
        )


def explain_fault(problem: Problem, x: Array) -> str:
    """What is wrong with the objective of these decisions."""
    try:
        value = evaluate_compiled(record_of(problem), x.copy())
    except NumbaError:
        value = evaluate(widen(record_of(problem)), x.astype(np.int64))
    except Exception as error:
        return f"raised {type(error).__name__}: {error},"
    values = np.ravel(value)
    if np.isinf(values).any():
        return f"must return a finite number (`violation` says what is infeasible), but returned {values.tolist()}"
    return "must return a number, but returned NaN"


@contextmanager
def explaining_errors(problem: Problem) -> Iterator[None]:
    """While kernels are compiled: Numba's long errors become a sentence."""
    try:
        yield
    except NumbaError as error:
        told = [
            line.strip()
            for line in str(error).splitlines()
            if line.strip().startswith(("Untyped", "Unknown", "No impl"))
        ]
        raise ObjectiveError(
            f"Numba cannot compile a function of {type(problem).__name__}: "
            f"{told[-1] if told else str(error).splitlines()[0]}; change it, or leave out `fitness`, `violation` and "
            "the capabilities: then `evaluate` may run as plain Python"
        ) from None


def explain_refusal(problem: Problem, probe: Array) -> str:
    """What Numba says of the objective, or of a function of its declared parts, and the line of the user's code."""
    record = numba.typeof(record_of(problem))
    small = {"x": numba.typeof(probe), "state": numba.types.int64[::1], "load": numba.types.int64}
    for part in parts_of(problem):
        for name, function in part.given().items():
            types = [small.get(argument, numba.types.int64) for argument in part.takes[name]]
            refusal = _refusal(function, (record, *types), CALLED)
            if refusal:
                return f"{refusal}; functions of parts must not make arrays" if "NRT" in refusal else refusal
    body = type(problem).evaluate  # type: ignore[attr-defined]
    return _refusal(body, (record, numba.typeof(probe)), {}) or "what it calls cannot be compiled"


def _refusal(function: FunctionType, types: tuple[numba.types.Type, ...], options: dict[str, bool]) -> str:
    """What Numba says of a function with arguments of these types, and where; nothing if it compiles."""
    try:
        numba.njit(**options)(function).compile(types)
    except Exception as error:
        lines = [re.sub(r"\.+ Raised from .*", "", line).strip() for line in str(error).splitlines() if line.strip()]
        code = function.__code__
        file = re.escape(Path(code.co_filename).name)
        places = re.findall(rf'File "[^"]*{file}", line (\d+)|Raised from [^"]*{file} \((\d+)\)', str(error))
        line = int("".join(places[-1])) if places else code.co_firstlineno
        what = next((t for t in lines if not t.startswith(("Failed in", "During", "File", "Overload", "There"))), "")
        source = linecache.getline(code.co_filename, line).strip()
        return f"{what} ({Path(code.co_filename).name}, line {line}: {source})"
    return ""
