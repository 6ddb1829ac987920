"""Declared structure against `evaluate`: what moves change, and what is kept of a solution."""

from __future__ import annotations

import numpy as np

from systola.errors import CheckFailed
from systola.jit.records import Record, widen
from systola.model.contracts.cases import agree, measure
from systola.model.elementary_moves import (
    CREEP,
    EXCHANGE,
    EXCHANGE_BITS,
    FLIP,
    REASSIGN,
    REVERSE,
    ROTATE,
    SWAP,
    make_plain_move,
    touched,
)
from systola.model.encodings import Array, Bits, Digits, Space
from systola.model.problem import Problem, record_of, space_of
from systola.model.structure.declare import kept_size, parts_of
from systola.model.structure.part import add_delta, init_structure, leaves_of, update_structure
from systola.model.structure.terms import Terms, user_term

_MOVES = 6  # one after the other
Move = tuple[int, int, int, int]


def check_structure(problem: Problem, x: Array, draws: np.random.Generator) -> None:
    """Several moves: what they are said to change, and what is kept, against `evaluate` and a fresh start."""
    record, space, x = widen(record_of(problem)), space_of(problem), x.astype(np.int64)
    measures = measure(problem, x)
    kept = np.zeros(max(2, kept_size(problem)), measures.dtype)
    _start(record.structure, record, x, kept, measures)
    for _ in range(_MOVES):
        move = _draw(space, x, draws)
        if move is None:
            return
        before, new = x.copy(), measures.copy()
        add_delta(record.structure, record, space, x, move, kept, new)
        if not np.array_equal(x, before):
            raise CheckFailed(f"measuring a move leaves another solution than {before.tolist()}")
        make_plain_move(space, x, *move)
        measures = measure(problem, x)
        if not agree(new, measures):
            _explain_terms(problem, before, x, move)
            raise CheckFailed(
                f"the declared structure says {new.tolist()} after a move from {before.tolist()} to {x.tolist()}, "
                f"evaluate says {measures.tolist()}"
            )
        update_structure(record.structure, record, space, x, move, kept)
        fresh = np.zeros_like(kept)
        _start(record.structure, record, x, fresh, measures)
        used = _compared(problem, kept)
        if not agree(kept[used], fresh[used]):
            raise CheckFailed(
                f"what is kept of {x.tolist()} after a move from {before.tolist()} is not what it is from scratch"
            )


def _start(structure: Record, record: Record, x: Array, kept: Array, wanted: Array) -> None:
    found = np.zeros_like(wanted)
    init_structure(structure, record, x, kept, found)
    if not agree(found, wanted):
        raise CheckFailed(f"evaluate says {wanted.tolist()} for {x.tolist()}, its parts say {found.tolist()}")


def _compared(problem: Problem, kept: Array) -> Array:
    """Which of the numbers kept mean something: a passage has room for a state at its end."""
    used, at = np.ones(len(kept), bool), 0
    for part in parts_of(problem):
        size = part.size(problem)
        used[at + size - part.room(problem) : at + size] = False
        at += size
    return used


def _draw(space: Space, x: Array, draws: np.random.Generator) -> Move | None:
    """A random move; None where there is none."""
    n = len(x)
    if isinstance(space, Bits):
        ones, zeros = np.flatnonzero(x == 1), np.flatnonzero(x == 0)
        if draws.random() < 0.5 or not len(ones) or not len(zeros):
            return FLIP, int(draws.integers(n)), 0, 0
        return EXCHANGE_BITS, int(draws.choice(ones)), int(draws.choice(zeros)), 0
    if isinstance(space, Digits):
        i, j = (int(k) for k in draws.integers(n, size=2))
        low, high = np.maximum(space.low[i], space.low[j]), np.minimum(space.high[i], space.high[j])
        if draws.random() < 0.4 and low <= min(x[i], x[j]) and max(x[i], x[j]) <= high and x[i] != x[j]:
            return EXCHANGE, i, j, 0
        others = [v for v in range(space.low[i], space.high[i] + 1) if v != x[i]]
        kind = REASSIGN if draws.random() < 0.5 else CREEP
        return (kind, i, int(x[i]), int(draws.choice(others))) if others else None
    if n < 2:
        return None
    i, j = sorted(int(k) for k in draws.choice(n, 2, replace=False))
    kind = int(draws.integers(3))
    return (ROTATE, i, int(draws.integers(i + 1, j + 1)), j + 1) if kind == ROTATE else (kind, i, j, 0)


assert {SWAP, ROTATE, REVERSE} == {0, 1, 2}  # what `_draw` counts on


def _explain_terms(problem: Problem, before: Array, after: Array, move: Move) -> None:
    """If a term changed although it reads none of the decisions that a move touches, say which."""
    record, space = widen(record_of(problem)), space_of(problem)
    first, last, stride = touched(space, *move)
    changed = set(range(first, last, stride))
    for part, own in zip(parts_of(problem), leaves_of(record.structure), strict=True):
        if not isinstance(part, Terms):
            continue
        for k in range(len(own.starts) - 1):
            reads = set(own.members[own.starts[k] : own.starts[k + 1]].tolist())
            if not reads & changed and user_term(own, record, before, k) != user_term(own, record, after, k):
                culprits = [i for i in sorted(changed) if _matters(own, record, before, after, k, i)]
                raise CheckFailed(
                    f"term {k} of {type(problem).__name__} changes with decision {(culprits or sorted(changed))[0]}, "
                    f"but `reads` names only {sorted(reads)} for it; add the decision there"
                )


def _matters(part: Record, record: Record, before: Array, after: Array, k: int, i: int) -> bool:
    mixed = before.copy()
    mixed[i] = after[i]
    return bool(user_term(part, record, before, k) != user_term(part, record, mixed, k))
