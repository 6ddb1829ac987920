"""Random solutions, what `evaluate` says of them, and what a problem's state says."""

from __future__ import annotations

import numpy as np

from systola.errors import CheckFailed
from systola.jit.records import widen
from systola.model.capabilities import Buffer, EvaluationState, buffer_of, capability
from systola.model.encodings import Array, Bits, Digits
from systola.model.incremental import measures_from_state, state_of
from systola.model.objective import evaluate
from systola.model.problem import Problem, record_of, space_of


def random_solution(problem: Problem, draws: np.random.Generator) -> Array:
    """Plain decisions."""
    space = space_of(problem)
    if isinstance(space, Bits):
        return (draws.random(space.n) < draws.random()).astype(np.int64)
    if isinstance(space, Digits):
        return np.asarray(draws.integers(space.low, space.high + 1))
    return np.asarray(draws.permutation(space.n))


def measure(problem: Problem, x: Array) -> Array:
    """What `evaluate` says of plain decisions, which it must leave as they are."""
    given = x.copy()
    value = evaluate(widen(record_of(problem)), given)
    if not np.array_equal(given, x):
        raise CheckFailed(f"evaluate changes the solution that it is given, {x.tolist()}; work on x.copy() there")
    return np.array(value if isinstance(value, tuple) else (value,))


def agree(got: Array, wanted: Array) -> bool:
    """Whether two arrays are equal; floats that were updated step by step may differ by rounding."""
    if wanted.dtype.kind == "f":
        return bool(np.allclose(got, wanted, rtol=1e-9, atol=1e-9))
    return np.array_equal(got, wanted)


def stored(problem: Problem, x: Array) -> Array:
    """One row of storage."""
    return problem.encoding.store(space_of(problem), x[None])


def loaded(problem: Problem, rows: Array) -> Array:
    """The plain decisions of the first row."""
    plain: Array = problem.encoding.load(space_of(problem), rows)[0].astype(np.int64)
    return plain


def new_state(problem: Problem, rows: Array, measures: Array) -> Array:
    """The state of the first row, whose measures are known; it must give them back."""
    own = capability(problem, EvaluationState)
    buffer = buffer_of(problem, own.buffer) if own else Buffer(len(measures), measures.dtype)
    state: Array = np.zeros(buffer.size, buffer.dtype)
    state_of(widen(record_of(problem)), rows, 0, measures, state)
    if not agree(measures_of(problem, state, measures), measures):
        raise CheckFailed(
            f"the state does not give back the measures {measures.tolist()} of {loaded(problem, rows).tolist()}"
        )
    return state


def measures_of(problem: Problem, state: Array, like: Array) -> Array:
    """The measures that follow from a state."""
    found = np.zeros_like(like)
    measures_from_state(widen(record_of(problem)), state, found)
    return found


def compare(problem: Problem, state: Array, x: Array, what: str) -> None:
    """CheckFailed if a state gives other measures than `evaluate` for these decisions."""
    wanted = measure(problem, x)
    found = measures_of(problem, state, wanted)
    if not agree(found, wanted):
        raise CheckFailed(f"{what} says {found.tolist()}, evaluate says {wanted.tolist()}")
