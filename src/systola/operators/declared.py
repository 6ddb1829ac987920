"""Evaluation of problems with a declared structure: what is kept of a solution is its state, and moves change it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.extending import overload

from systola.jit.compile import called, inlined
from systola.jit.dispatch import dispatched, register_each
from systola.model.elementary_moves import FLIP, REASSIGN, SWAP, make_plain_move
from systola.model.encodings import Bits, Digits, Order, decode
from systola.model.population import are_finite, copy_state, note_fault
from systola.model.structure.part import add_delta, init_structure, update_structure
from systola.operators.decisions import FEW, count_differing
from systola.simd.bits import lowest_one


def has_floats(values: Any) -> bool:
    """Whether an array is of floats: then sums that are updated drift, and are taken afresh from time to time."""
    return bool(values.dtype.kind == "f")


@overload(has_floats, strict=False)  # type: ignore[untyped-decorator]
def _has_floats(values: Any) -> Any:
    if getattr(values.dtype, "bitwidth", 0) and "float" in str(values.dtype):
        return lambda values: True
    return lambda values: False


@called
def measure_parts(s: Any, x: Any, state: Any, measures: Any) -> None:
    """Measures and state of plain decisions, from scratch."""
    for k in range(measures.shape[0]):
        measures[k] = 0
    init_structure(s.problem.structure, s.problem, x, state, measures)


@inlined
def make_and_update(s: Any, x: Any, move: Any, state: Any, measures: Any) -> None:
    """Make a move of plain decisions, and bring their state and measures up to date."""
    kind, i, j, k = move
    add_delta(s.problem.structure, s.problem, s.space, x, move, state, measures)
    make_plain_move(s.space, x, kind, i, j, k)
    update_structure(s.problem.structure, s.problem, s.space, x, move, state)


@dispatched
def walk_to_child(
    space: Any, s: Any, parent: Any, children: Any, child: Any, lane: Any, state: Any, measures: Any
) -> Any:
    """From the plain decisions of a parent in lanes.decisions[lane] to those of a child, move by move; false if they
    differ in so many that this does not pay."""


def _walk_in_bits(
    space: Any, s: Any, parent: Any, children: Any, child: Any, lane: Any, state: Any, measures: Any
) -> Any:
    population = s.population
    for w in range(population.x.shape[1]):
        differing = population.x[parent, w] ^ children[child, w]
        while differing != np.uint64(0):
            i = (np.int64(w) << 6) + lowest_one(differing)
            move = (np.int64(FLIP), np.int64(i), np.int64(0), np.int64(0))
            make_and_update(s, s.lanes.decisions[lane], move, state, measures)
            differing &= differing - np.uint64(1)
    return True


@dispatched
def move_towards(space: Any, x: Any, i: Any, value: Any) -> Any:
    """The move after which decision i of the plain decisions x, another one now, is `value`; those before i stay."""


def _reassign_towards(space: Any, x: Any, i: Any, value: Any) -> Any:
    return np.int64(REASSIGN), i, np.int64(x[i]), np.int64(value)


def _swap_towards(space: Any, x: Any, i: Any, value: Any) -> Any:
    j = i + 1
    while x[j] != value:
        j += 1
    return np.int64(SWAP), i, j, np.int64(0)


register_each("move_towards", {Digits: _reassign_towards, Order: _swap_towards})


def _walk_by_decisions(
    space: Any, s: Any, parent: Any, children: Any, child: Any, lane: Any, state: Any, measures: Any
) -> Any:
    if FEW * count_differing(space, s.population.x, parent, children, child) > space.n:
        return False
    x = s.lanes.decisions[lane]
    for i in range(space.n):
        if children[child, i] != x[i]:
            make_and_update(s, x, move_towards(space, x, np.int64(i), children[child, i]), state, measures)
    return True


register_each("walk_to_child", {Bits: _walk_in_bits, Digits: _walk_by_decisions, Order: _walk_by_decisions})


@inlined
def _measure_stored(s: Any, x: Any, row: Any, lane: Any, state: Any, measures: Any) -> None:
    decode(s.space, x, row, s.lanes.decisions, lane)
    measure_parts(s, s.lanes.decisions[lane], state, measures)
    if has_floats(measures) and not are_finite(measures):
        note_fault(s, x, row, lane)


def evaluate_full_by_parts(s: Any, x: Any, row: Any, lane: Any, state: Any, measures: Any) -> None:
    """The implementation of `evaluate_full`."""
    _measure_stored(s, x, row, lane, state, measures)


def evaluate_delta_by_parts(
    s: Any, parent: Any, children: Any, child: Any, lane: Any, state: Any, measures: Any
) -> None:
    """The implementation of `evaluate_delta`. Floats are measured in full: sums would drift from child to child."""
    population, lanes = s.population, s.lanes
    if not has_floats(population.scores):
        copy_state(population, parent, state)
        for k in range(measures.shape[0]):
            measures[k] = population.scores[parent, k]
        decode(s.space, population.x, parent, lanes.decisions, lane)
        if walk_to_child(s.space, s, parent, children, child, lane, state, measures):
            return
    _measure_stored(s, children, child, lane, state, measures)


def evaluate_swap_by_parts(s: Any, row: Any, i: Any, j: Any, lane: Any, state: Any, measures: Any) -> None:
    """The implementation of `evaluate_swap`."""
    population, lanes = s.population, s.lanes
    decode(s.space, population.x, row, lanes.decisions, lane)
    copy_state(population, row, state)
    for k in range(measures.shape[0]):
        measures[k] = population.scores[row, k]
    move = (np.int64(SWAP), np.int64(min(i, j)), np.int64(max(i, j)), np.int64(0))
    make_and_update(s, lanes.decisions[lane], move, state, measures)
