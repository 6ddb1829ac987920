"""Neighbourhoods: the moves of a solution, how neighbours are evaluated, and what a move makes tabu."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from systola.errors import InputError
from systola.jit.compile import called
from systola.jit.dispatch import Implementation, register
from systola.jit.records import RecordType
from systola.jit.stop_flag import must_leave
from systola.model import capabilities
from systola.model.capabilities import Buffer, InsertionBlocks, SwapTable, TieBreak, buffer_of, capability, offers
from systola.model.encodings import Bits, Digits, Order
from systola.model.incremental import (
    evaluate_insertions,
    fill_swap_table,
    insert,
    make_swap,
    measures_from_state,
    prepare_insertions,
    remove_item,
    reverse,
)
from systola.model.moves import (
    FlipMoves,
    InsertionMoves,
    ReassignmentMoves,
    ReversalMoves,
    SwapMoves,
    insert_in,
    insertion_of,
    pair_of,
    reassignment_of,
    reverse_in,
    swap_in,
    value_of_rank,
)
from systola.model.population import copy_state
from systola.model.problem import Problem, is_declared, senses_of, space_of
from systola.operators.declared_neighbours import ELEMENTARY, evaluate_moves_by_parts
from systola.operators.evaluation import evaluate_delta, evaluate_full, evaluate_swap
from systola.operators.neighbours import apply_move, change_state, evaluate_current
from systola.operators.tabu_list import (
    are_decisions_tabu,
    are_places_tabu,
    is_decision_tabu,
    is_precedence_tabu,
    is_value_tabu,
    set_decision_tabu,
    set_decisions_tabu,
    set_places_tabu,
    set_precedence_tabu,
    set_value_tabu,
)
from systola.simd.bits import toggle
from systola.simd.rows import padded

FIELDS = ("n", "starts", "others", "low", "sense")  # of an engine's record, for its neighbourhood


# Rows and places.


def _move_of_pair(self: Any, number: Any) -> Any:
    return pair_of(number, self.n)


def _move_of_insertion(self: Any, number: Any) -> Any:
    return insertion_of(number, self.n)


def _move_of_value(self: Any, number: Any) -> Any:
    return reassignment_of(number, self.starts, self.others)


def _end_of_values(self: Any, i: Any) -> Any:
    return np.int64(self.starts[i + 1] - self.starts[i])


def _move_of_decision(self: Any, number: Any) -> Any:
    return np.int64(0), np.int64(number)


def _end_of_all(self: Any, i: Any) -> Any:
    return np.int64(self.n)


def _begin_after(self: Any, i: Any) -> Any:
    return i + 1


def _begin_at_zero(self: Any, i: Any) -> Any:
    return np.int64(0)


def _is_always(self: Any, i: Any, j: Any) -> Any:
    return True


def _is_insertion(self: Any, i: Any, j: Any) -> Any:
    return j != i and j != i - 1


# What a move does.


def _swap(self: Any, space: Any, x: Any, row: Any, i: Any, j: Any) -> None:
    swap_in(x[row], i, j)


def _insert(self: Any, space: Any, x: Any, row: Any, i: Any, j: Any) -> None:
    insert_in(x[row], i, j)


def _reverse(self: Any, space: Any, x: Any, row: Any, i: Any, j: Any) -> None:
    reverse_in(x[row], i, j)


def _flip(self: Any, space: Any, x: Any, row: Any, i: Any, j: Any) -> None:
    toggle(x, row, j)


def _flip_both(self: Any, space: Any, x: Any, row: Any, i: Any, j: Any) -> None:
    toggle(x, row, i)
    toggle(x, row, j)


def _reassign(self: Any, space: Any, x: Any, row: Any, i: Any, j: Any) -> None:
    x[row, i] = value_of_rank(j, self.low[i], x[row, i])


# How neighbours are measured. Where each may take long, a stop is not kept waiting for all of them.


def _evaluate_copies(self: Any, s: Any, lane: Any, i: Any, first: Any, last: Any, fresh: Any, at: Any) -> None:
    space, x, lanes = s.space, s.population.x, s.lanes
    for j in range(first, last):
        if must_leave(lanes.stop):
            return
        for k in range(x.shape[1]):
            lanes.child[lane, k] = x[0, k]
        apply_move(self, space, lanes.child, lane, i, j)
        new = at + j - first
        evaluate_delta(s, 0, lanes.child, lane, lane, lanes.state[new], lanes.trial[new])


def _evaluate_swaps(self: Any, s: Any, lane: Any, i: Any, first: Any, last: Any, fresh: Any, at: Any) -> None:
    lanes = s.lanes
    for j in range(first, last):
        if must_leave(lanes.stop):
            return
        new = at + j - first
        evaluate_swap(s, 0, i, j, lane, lanes.state[new], lanes.trial[new])


def _read_table(self: Any, s: Any, lane: Any, i: Any, first: Any, last: Any, fresh: Any, at: Any) -> None:
    population, lanes = s.population, s.lanes
    for j in range(first, last):
        gain = population.neighbourhood_state[i * padded(self.n) + j]
        lanes.trial[at + j - first, 0] = population.scores[0, 0] + self.sense * gain


def _evaluate_insertion_block(self: Any, s: Any, lane: Any, i: Any, first: Any, last: Any, fresh: Any, at: Any) -> None:
    problem, population, lanes = s.problem, s.population, s.lanes
    x, prepared, work = population.x[0], population.neighbourhood_state, lanes.table[lane]
    if fresh and last - first > 1:
        remove_item(problem, x, i, prepared, work)
    evaluate_insertions(problem, x, i, first, last, prepared, work, lanes.trial[at : at + last - first])


def _insert_in_state(self: Any, problem: Any, x: Any, row: Any, i: Any, j: Any, state: Any) -> None:
    insert(problem, x, row, i, j, state)


def _reverse_in_state(self: Any, problem: Any, x: Any, row: Any, i: Any, j: Any, state: Any) -> None:
    reverse(problem, x, row, i, j, state)


def _evaluate_by_state(self: Any, s: Any, lane: Any, i: Any, first: Any, last: Any, fresh: Any, at: Any) -> None:
    problem, population, lanes = s.problem, s.population, s.lanes
    for j in range(first, last):
        state = lanes.state[at + j - first]
        copy_state(population, 0, state)
        change_state(self, problem, population.x, 0, i, j, state)
        measures_from_state(problem, state, lanes.trial[at + j - first])


# What is known of the present solution.


@called
def _evaluate_only(self: Any, s: Any) -> None:
    population, lanes = s.population, s.lanes
    evaluate_full(s, population.x, 0, 0, lanes.state[0], population.scores[0])
    for k in range(population.state.shape[1]):
        population.state[0, k] = lanes.state[0, k]


def _evaluate_and_fill_table(self: Any, s: Any) -> None:
    problem, population = s.problem, s.population
    _evaluate_only(self, s)
    fill_swap_table(problem, population.x, 0, population.neighbourhood_state)


def _evaluate_and_prepare(self: Any, s: Any) -> None:
    problem, population = s.problem, s.population
    _evaluate_only(self, s)
    prepare_insertions(problem, population.x[0], population.neighbourhood_state)


def _accept_and_evaluate(self: Any, s: Any, i: Any, j: Any, best_trial: Any) -> None:
    space, population = s.space, s.population
    apply_move(self, space, population.x, 0, i, j)
    evaluate_current(self, s)


def _accept_by_table(self: Any, s: Any, i: Any, j: Any, best_trial: Any) -> None:
    problem, population, lanes = s.problem, s.population, s.lanes
    make_swap(problem, population.x, 0, i, j, population.neighbourhood_state)
    if population.scores.shape[1] == 1:
        population.scores[0, 0] = lanes.trial[best_trial, 0]
    else:
        _evaluate_only(self, s)


_PAIRS: dict[str, Implementation] = {"move_of": _move_of_pair, "row_begin": _begin_after, "row_end": _end_of_all}
_PLAIN: dict[str, Implementation] = {
    "row_begin": _begin_at_zero,
    "row_end": _end_of_all,
    "is_move": _is_always,
    "evaluate_moves": _evaluate_copies,
    "evaluate_current": _evaluate_only,
    "accept_move": _accept_and_evaluate,
}
_PLACES: dict[str, Implementation] = {"set_tabu": set_places_tabu, "is_tabu": are_places_tabu}
_KNOWN: dict[str, tuple[Any, dict[str, Implementation]]] = {
    "flip": (
        Bits,
        {
            "move_of": _move_of_decision,
            "apply_move": _flip,
            "set_tabu": set_decision_tabu,
            "is_tabu": is_decision_tabu,
        },
    ),
    "flip-two": (
        Bits,
        {**_PAIRS, "apply_move": _flip_both, "set_tabu": set_decisions_tabu, "is_tabu": are_decisions_tabu},
    ),
    "reassign": (
        Digits,
        {
            "move_of": _move_of_value,
            "row_end": _end_of_values,
            "apply_move": _reassign,
            "set_tabu": set_value_tabu,
            "is_tabu": is_value_tabu,
        },
    ),
    "swap": (Order, {**_PAIRS, **_PLACES, "apply_move": _swap, "evaluate_moves": _evaluate_swaps}),
    "insertion": (
        Order,
        {
            "move_of": _move_of_insertion,
            "is_move": _is_insertion,
            "apply_move": _insert,
            "set_tabu": set_precedence_tabu,
            "is_tabu": is_precedence_tabu,
        },
    ),
    "reversal": (Order, {**_PAIRS, **_PLACES, "apply_move": _reverse}),
}
_SIZES = {
    "flip": lambda n: FlipMoves(n).size,
    "flip-two": lambda n: FlipMoves(n, 2).size,
    "swap": lambda n: SwapMoves(n).size,
    "insertion": lambda n: InsertionMoves(n).size,
    "reversal": lambda n: ReversalMoves(n).size,
}
_FIRST = {Bits: "flip", Digits: "reassign", Order: "swap"}
_FASTEST = (  # of orders, by what the problem can do
    ("insertion", InsertionBlocks),
    ("swap", SwapTable),
    ("reversal", capabilities.Reversals),
    ("swap", capabilities.Swaps),
    ("insertion", capabilities.Insertions),
)
_BY_STATE: dict[str, tuple[type[capabilities.Capability], Implementation]] = {
    "insertion": (capabilities.Insertions, _insert_in_state),
    "reversal": (capabilities.Reversals, _reverse_in_state),
}


@dataclass(frozen=True)
class NeighbourhoodPlan:
    """The moves of a problem's solutions, as an engine uses them."""

    label: str
    size: int  # how many moves there are
    tabu_size: int  # how many numbers a tabu list has
    values: tuple[Any, ...]  # of FIELDS
    functions: dict[str, Implementation]
    neighbourhood_state: Buffer | None
    work: Buffer | None
    single: int
    by_state: bool  # whether neighbours are measured from the state of the present solution

    def implement(self, record: RecordType) -> None:
        """Register what the functions of `operators.neighbours` do for an engine's record."""
        for name, function in self.functions.items():
            register(name, record, function)


def _compares_by_itself(problem: Problem) -> bool:
    """Whether a problem says how to compare solutions: then a gain in fitness does not give the measures."""
    return any(hasattr(problem, name) for name in ("fitness", "violation")) or offers(problem, TieBreak)


def plan_neighbourhood(name: str | None, problem: Problem) -> NeighbourhoodPlan:
    """The neighbourhood called so, by default the most usual one of the problem's encoding."""
    space = space_of(problem)
    kind = type(space)
    if name is None:
        name = next((move for move, wanted in _FASTEST if offers(problem, wanted)), _FIRST[kind])
    fitting = [n for n, (encoding, _) in _KNOWN.items() if encoding is kind]
    if name not in fitting:
        raise InputError(
            f"the neighbourhood of {type(problem).__name__} must be one of {', '.join(fitting)}, but got {name!r}"
        )
    n = space.n
    if n < 2:
        raise InputError("a neighbourhood needs solutions of at least two decisions, but got one")
    functions: dict[str, Implementation] = {**_PLAIN, **_KNOWN[name][1]}
    starts, others, low, tabu_size = np.zeros(2, np.int64), 0, np.zeros(2, np.int32), n if kind is Bits else n * n
    if kind is Digits:
        moves = ReassignmentMoves(space.low, space.high)
        starts, others, low, tabu_size = moves.starts, moves.others, moves.low, moves.size + n
        size = moves.size
        if size == 0:
            raise InputError("a neighbourhood needs a decision with two values or more, but there is none")
    else:
        size = _SIZES[name](n)
    neighbourhood_state, work, single, by_state = None, None, 0, False
    blocks, table = capability(problem, InsertionBlocks), capability(problem, SwapTable)
    if name == "insertion" and blocks:
        functions |= {"evaluate_moves": _evaluate_insertion_block, "evaluate_current": _evaluate_and_prepare}
        neighbourhood_state, work = buffer_of(problem, blocks.prepared), buffer_of(problem, blocks.work)
        name, single = "insertion_blocks", blocks.single(problem)
    elif name == "swap" and table and len(senses_of(problem)) == 1 and not _compares_by_itself(problem):
        functions |= {
            "evaluate_moves": _read_table,
            "evaluate_current": _evaluate_and_fill_table,
            "accept_move": _accept_by_table,
        }
        name, neighbourhood_state = "swap_table", buffer_of(problem, table.buffer)
    elif name in ELEMENTARY and is_declared(problem):
        functions |= {"evaluate_moves": evaluate_moves_by_parts, "elementary_move": ELEMENTARY[name]}
        name, by_state = f"{name}_parts", True
    elif name in _BY_STATE and offers(problem, _BY_STATE[name][0]):
        functions |= {"evaluate_moves": _evaluate_by_state, "change_state": _BY_STATE[name][1]}
        name, by_state = f"{name}_state", True
    values = (n, starts, others, low, senses_of(problem)[0])
    return NeighbourhoodPlan(
        name.replace("-", "_"), size, tabu_size, values, functions, neighbourhood_state, work, single, by_state
    )
