"""Reassignments and a problem's own local search against `evaluate`."""

from __future__ import annotations

import numpy as np

from systola.errors import CheckFailed
from systola.jit.records import widen
from systola.jit.stop_flag import new_flag
from systola.model.capabilities import LocalSearch, buffer_of
from systola.model.contracts.cases import compare, loaded, measure, measures_of, new_state, random_solution, stored
from systola.model.encodings import Array
from systola.model.incremental import quick_search, reassign, search_around
from systola.model.objective import fitness, violation
from systola.model.problem import Problem, record_of
from systola.model.rng import SEARCH

_LENGTH = 20  # of the searches that are tried


def check_reassignments(problem: Problem, x: Array, draws: np.random.Generator) -> None:
    """Three reassignments, one after the other."""
    rows = stored(problem, x)
    state = new_state(problem, rows, measure(problem, x))
    for _ in range(3):
        before = rows.copy()
        i = int(draws.integers(len(x)))
        value = int(random_solution(problem, draws)[i])
        reassign(widen(record_of(problem)), rows, 0, i, value, state)
        if not np.array_equal(rows, before):
            raise CheckFailed(f"reassign writes to the solution {before[0].tolist()}; it only says what would follow")
        rows[0, i] = value
        compare(
            problem, state, loaded(problem, rows), f"reassign, after decision {i} of {before[0].tolist()} is {value},"
        )


def check_quick_search(problem: Problem, x: Array, own: LocalSearch, draws: np.random.Generator) -> None:
    """Its state against evaluate, and a solution no less feasible."""
    record, rows, measures = widen(record_of(problem)), stored(problem, x), measure(problem, x)
    state = new_state(problem, rows, measures)
    work = np.full(own.integers(problem), 7, np.int32)  # as what others have left there
    quick_search(record, rows[0], state, work, (np.uint64(draws.integers(2**32)), SEARCH, 1, 0))
    made = loaded(problem, rows)
    compare(problem, state, made, f"the state that LocalSearch.quick leaves of {made.tolist()}")
    if violation(record, measures_of(problem, state, measures)) > violation(record, measures):
        raise CheckFailed(f"LocalSearch.quick leaves a solution less feasible than {x.tolist()}: {made.tolist()}")


def check_search(problem: Problem, x: Array, own: LocalSearch, draws: np.random.Generator) -> None:
    """A short search: its state against evaluate, and a solution no less fit."""
    data = own.data(problem)
    if data is None:
        return
    record, rows, measures = widen(record_of(problem)), stored(problem, x), measure(problem, x)
    buffer, state = buffer_of(problem, own.work), new_state(problem, rows, measures)
    work: Array = np.zeros(buffer.size, buffer.dtype)
    key = (int(draws.integers(2**32)), SEARCH, 1, 0)
    search_around(record, rows[0], state, data, work, _LENGTH, key, new_flag())
    made = loaded(problem, rows)
    compare(problem, state, made, f"the state that LocalSearch.search leaves of {made.tolist()}")
    if fitness(record, measures_of(problem, state, measures)) < fitness(record, measures):
        raise CheckFailed(f"LocalSearch.search leaves a solution less fit than {x.tolist()}: {made.tolist()}")
