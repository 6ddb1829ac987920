"""Moves proposed one after the other to the solution in a row of the population: measured, then made or not.

Where the structure of a problem is declared, a move is measured by what it changes, and made only if it is taken.
Otherwise the lane has a copy, in which a move is made, measured by delta or full evaluation, and undone if not taken.
Either way the same moves give the same solutions and, where they are whole numbers, the same measures.
"""

from __future__ import annotations

from typing import Any

from systola.jit.compile import called, inlined
from systola.jit.dispatch import Implementation, dispatched, dispatched_call, register
from systola.model.elementary_moves import NO_MOVE, make_move, make_plain_move, undo_move
from systola.model.encodings import Bits, Digits, Order, decode
from systola.model.population import NEVER, are_finite, note_fault, ranks_above, replace_row, update_best
from systola.model.problem import Problem, is_declared, record_type_of
from systola.model.structure.part import add_delta, update_structure
from systola.operators.decisions import copy
from systola.operators.declared import has_floats, measure_parts
from systola.operators.evaluation import choose_delta_evaluation, evaluate_delta
from systola.operators.guided_moves import (
    begin_guided,
    draw_guided,
    follow_move,
    is_guided,
    is_guided_kind,
    prepare_guided,
    prepare_unguided,
)
from systola.operators.random_moves import draw_move


@dispatched
def begin_proposals(s: Any, row: Any, lane: Any) -> Any:
    """Before the first proposal, and whenever the row has changed otherwise."""


@dispatched
def draw_proposal(s: Any, row: Any, lane: Any, kind: Any, r1: Any, r2: Any, r3: Any) -> Any:
    """A move of this kind, by three random numbers of 32 bits; its kind is NO_MOVE if there is none."""


@dispatched_call
def try_move(s: Any, row: Any, lane: Any, move: Any) -> Any:
    """Measure the solution after a move, into lanes.trial[2 * lane]."""


@dispatched
def take_move(s: Any, row: Any, lane: Any, move: Any) -> Any:
    """The move that was tried last is made."""


@dispatched
def drop_move(s: Any, row: Any, lane: Any, move: Any) -> Any:
    """The move that was tried last is not made."""


@dispatched
def offer_neighbour(s: Any, row: Any, lane: Any, move: Any) -> Any:
    """Remember the neighbour that was tried last if it is the best solution that the lane has seen."""


@dispatched_call
def push_move(s: Any, row: Any, lane: Any, move: Any) -> Any:
    """Make a move whatever it gives; `end_pushing` must follow the last one."""


@dispatched
def end_pushing(s: Any, row: Any, lane: Any) -> Any:
    """After moves that were pushed: the row has them all, and its measures."""


# By a copy.


def _copy_row(s: Any, row: Any, lane: Any) -> None:
    copy(s.lanes.child[lane], s.population.x[row])


def _draw_from_child(s: Any, row: Any, lane: Any, kind: Any, r1: Any, r2: Any, r3: Any) -> Any:
    return draw_move(s.space, s.lanes.child[lane], kind, r1, r2, r3)


def _make_and_evaluate(s: Any, row: Any, lane: Any, move: Any) -> None:
    kind, i, j, k = move
    make_move(s.space, s.lanes.child[lane], kind, i, j, k)
    evaluate_delta(s, row, s.lanes.child, lane, lane, s.lanes.state[2 * lane], s.lanes.trial[2 * lane])


def _replace(s: Any, row: Any, lane: Any, move: Any) -> None:
    replace_row(s, row, s.lanes.child, lane, 2 * lane)


def _undo(s: Any, row: Any, lane: Any, move: Any) -> None:
    kind, i, j, k = move
    undo_move(s.space, s.lanes.child[lane], kind, i, j, k)


def _offer_child(s: Any, row: Any, lane: Any, move: Any) -> None:
    update_best(s, lane, s.lanes.child, lane, s.lanes.trial[2 * lane], s.step, row)


def _push_in_child(s: Any, row: Any, lane: Any, move: Any) -> None:
    kind, i, j, k = move
    make_move(s.space, s.lanes.child[lane], kind, i, j, k)


def _evaluate_child(s: Any, row: Any, lane: Any) -> None:
    evaluate_delta(s, row, s.lanes.child, lane, lane, s.lanes.state[2 * lane], s.lanes.trial[2 * lane])
    replace_row(s, row, s.lanes.child, lane, 2 * lane)


_BY_COPY: dict[str, Implementation] = {
    "begin_proposals": _copy_row,
    "draw_proposal": _draw_from_child,
    "try_move": _make_and_evaluate,
    "take_move": _replace,
    "drop_move": _undo,
    "offer_neighbour": _offer_child,
    "push_move": _push_in_child,
    "end_pushing": _evaluate_child,
}


# By declared parts. Bits are packed in a row; parts read plain ones, which the lane has.


@dispatched
def measure_in_row(space: Any, s: Any, row: Any, lane: Any, move: Any, measures: Any) -> Any:
    """Add what a move of the solution in a row would change to the measures."""


@dispatched
def make_in_row(space: Any, s: Any, row: Any, lane: Any, move: Any) -> Any:
    """Make a move of the solution in a row, and bring its state up to date."""


def _measure_with_plain_bits(space: Any, s: Any, row: Any, lane: Any, move: Any, measures: Any) -> None:
    add_delta(s.problem.structure, s.problem, space, s.lanes.decisions[lane], move, s.population.state[row], measures)


def _measure_with_row(space: Any, s: Any, row: Any, lane: Any, move: Any, measures: Any) -> None:
    add_delta(s.problem.structure, s.problem, space, s.population.x[row], move, s.population.state[row], measures)


def _make_in_both(space: Any, s: Any, row: Any, lane: Any, move: Any) -> None:
    kind, i, j, k = move
    make_move(space, s.population.x[row], kind, i, j, k)
    make_plain_move(space, s.lanes.decisions[lane], kind, i, j, k)
    update_structure(s.problem.structure, s.problem, space, s.lanes.decisions[lane], move, s.population.state[row])


def _make_in_one(space: Any, s: Any, row: Any, lane: Any, move: Any) -> None:
    kind, i, j, k = move
    make_move(space, s.population.x[row], kind, i, j, k)
    update_structure(s.problem.structure, s.problem, space, s.population.x[row], move, s.population.state[row])


register("measure_in_row", Bits, _measure_with_plain_bits)
register("make_in_row", Bits, _make_in_both)
for _space in (Digits, Order):
    register("measure_in_row", _space, _measure_with_row)
    register("make_in_row", _space, _make_in_one)


@inlined
def _begin_by_parts(s: Any, row: Any, lane: Any) -> None:
    decode(s.space, s.population.x, row, s.lanes.decisions, lane)
    if has_floats(s.population.scores):  # sums that are updated drift: afresh at every step
        measure_parts(s, s.lanes.decisions[lane], s.population.state[row], s.population.scores[row])


def _decode_row(s: Any, row: Any, lane: Any) -> None:
    _begin_by_parts(s, row, lane)


def _draw_from_row(s: Any, row: Any, lane: Any, kind: Any, r1: Any, r2: Any, r3: Any) -> Any:
    return draw_move(s.space, s.population.x[row], kind, r1, r2, r3)


# With guided moves: one more kind, by what the engine asks for.


def _begin_guided(s: Any, row: Any, lane: Any) -> None:
    _begin_by_parts(s, row, lane)
    begin_guided(s.space, s, row, lane)


def _draw_also_guided(s: Any, row: Any, lane: Any, kind: Any, r1: Any, r2: Any, r3: Any) -> Any:
    if is_guided_kind(s.space, kind):
        return draw_guided(s.space, s, row, lane, r1, r2, r3)
    return draw_move(s.space, s.population.x[row], kind, r1, r2, r3)


def _take_guided(s: Any, row: Any, lane: Any, move: Any) -> None:
    _take_by_parts(s, row, lane, move)
    follow_move(s.space, s, row, lane, move)


def _add_change(s: Any, row: Any, lane: Any, move: Any) -> None:
    new = s.lanes.trial[2 * lane]
    for k in range(new.shape[0]):
        new[k] = s.population.scores[row, k]
    measure_in_row(s.space, s, row, lane, move, new)
    if has_floats(new) and not are_finite(new):
        _note_neighbour(s, row, lane, move)


@called
def _note_neighbour(s: Any, row: Any, lane: Any, move: Any) -> None:
    """The objective of a neighbour of the solution in a row is not a finite number."""
    kind, i, j, k = move
    copy(s.lanes.child[lane], s.population.x[row])
    make_move(s.space, s.lanes.child[lane], kind, i, j, k)
    note_fault(s, s.lanes.child, lane, lane)


@inlined
def _take_by_parts(s: Any, row: Any, lane: Any, move: Any) -> None:
    make_in_row(s.space, s, row, lane, move)
    for k in range(s.population.scores.shape[1]):
        s.population.scores[row, k] = s.lanes.trial[2 * lane, k]


def _make_and_update(s: Any, row: Any, lane: Any, move: Any) -> None:
    _take_by_parts(s, row, lane, move)


def _nothing_was_made(s: Any, row: Any, lane: Any, move: Any) -> None:
    pass


def _offer_copy(s: Any, row: Any, lane: Any, move: Any) -> None:
    lanes = s.lanes
    if lanes.step[lane] == NEVER or ranks_above(s.problem, lanes.trial[2 * lane], lanes.score[lane]):
        kind, i, j, k = move
        copy(lanes.child[lane], s.population.x[row])
        make_move(s.space, lanes.child[lane], kind, i, j, k)
        update_best(s, lane, lanes.child, lane, lanes.trial[2 * lane], s.step, row)


def _push_in_row(s: Any, row: Any, lane: Any, move: Any) -> None:
    if move[0] != NO_MOVE:
        try_move(s, row, lane, move)
        take_move(s, row, lane, move)


def _all_is_there(s: Any, row: Any, lane: Any) -> None:
    pass


_BY_PARTS: dict[str, Implementation] = {
    "begin_proposals": _decode_row,
    "draw_proposal": _draw_from_row,
    "try_move": _add_change,
    "take_move": _make_and_update,
    "drop_move": _nothing_was_made,
    "offer_neighbour": _offer_copy,
    "push_move": _push_in_row,
    "end_pushing": _all_is_there,
}


_GUIDED: dict[str, Implementation] = {
    "begin_proposals": _begin_guided,
    "draw_proposal": _draw_also_guided,
    "take_move": _take_guided,
}


def choose_proposals(problem: Problem) -> bool:
    """Choose how proposals to solutions of this problem are measured; whether that needs the state of all solutions."""
    for name, function in (_BY_PARTS if is_declared(problem) else _BY_COPY).items():
        register(name, record_type_of(problem), function)
    prepare_unguided(problem)
    if is_guided(problem):
        prepare_guided(problem)
        for name, function in _GUIDED.items():
            register(name, record_type_of(problem), function)
    return choose_delta_evaluation(problem)
