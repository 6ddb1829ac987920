"""Neighbourhoods: what can be done to a solution in one move, what that makes of it, and what then is banned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from systola.errors import InputError
from systola.jit.compile import called, inlined
from systola.jit.dispatch import Body, give_body
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
from systola.model.problem import Problem, senses_of, space_of
from systola.operators.appraisal import appraise, gauge, try_swap
from systola.operators.neighbours import make, observe
from systola.simd.bits import toggle
from systola.simd.rows import padded

FIELDS = ("n", "starts", "others", "low", "sense")  # of an engine's record, for its neighbourhood


# What is banned: a value in a place, or of two values which comes first.


def _ban_places(self: Any, x: Any, i: Any, j: Any, until: Any, at: Any, one: Any, two: Any) -> None:
    until[at + np.int64(x[0, i]) * self.n + i] = one
    until[at + np.int64(x[0, j]) * self.n + j] = two


def _are_banned_places(self: Any, x: Any, i: Any, j: Any, until: Any, at: Any, now: Any) -> Any:
    one = until[at + np.int64(x[0, i]) * self.n + j] >= now
    return one and until[at + np.int64(x[0, j]) * self.n + i] >= now


def _ban_precedence(self: Any, x: Any, i: Any, j: Any, until: Any, at: Any, one: Any, two: Any) -> None:
    # Not a place, as items that are neighbours change places by a move of either of them.
    before = i if i < j else i - 1
    until[at + np.int64(x[0, before]) * self.n + x[0, before + 1]] = one


def _is_banned_precedence(self: Any, x: Any, i: Any, j: Any, until: Any, at: Any, now: Any) -> Any:
    taken = np.int64(x[0, i])
    found = False
    for k in range(i + 1, j + 1):
        found = found or until[at + np.int64(x[0, k]) * self.n + taken] >= now
    for k in range(j, i):
        found = found or until[at + taken * self.n + x[0, k]] >= now
    return found


def _ban_decision(self: Any, x: Any, i: Any, j: Any, until: Any, at: Any, one: Any, two: Any) -> None:
    until[at + j] = one


def _is_banned_decision(self: Any, x: Any, i: Any, j: Any, until: Any, at: Any, now: Any) -> Any:
    return until[at + j] >= now


@inlined
def _value_at(self: Any, i: Any, value: Any) -> Any:
    """Where a list of bans has this value of decision i."""
    return self.starts[i] + i + value - self.low[i]


def _ban_value(self: Any, x: Any, i: Any, j: Any, until: Any, at: Any, one: Any, two: Any) -> None:
    until[at + _value_at(self, i, x[0, i])] = one


def _is_banned_value(self: Any, x: Any, i: Any, j: Any, until: Any, at: Any, now: Any) -> Any:
    return until[at + _value_at(self, i, value_of_rank(j, self.low[i], x[0, i]))] >= now


def _ban_decisions(self: Any, x: Any, i: Any, j: Any, until: Any, at: Any, one: Any, two: Any) -> None:
    until[at + i] = one
    until[at + j] = two


def _are_banned_decisions(self: Any, x: Any, i: Any, j: Any, until: Any, at: Any, now: Any) -> Any:
    return until[at + i] >= now or until[at + j] >= now


# Rows and places.


def _locate_pair(self: Any, number: Any) -> Any:
    return pair_of(number, self.n)


def _locate_insertion(self: Any, number: Any) -> Any:
    return insertion_of(number, self.n)


def _locate_value(self: Any, number: Any) -> Any:
    return reassignment_of(number, self.starts, self.others)


def _end_of_values(self: Any, i: Any) -> Any:
    return np.int64(self.starts[i + 1] - self.starts[i])


def _locate_decision(self: Any, number: Any) -> Any:
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


# How neighbours are measured.


def _survey_children(self: Any, s: Any, lane: Any, i: Any, first: Any, last: Any, fresh: Any, at: Any) -> None:
    space, population, lanes = s.space, s.population, s.lanes
    x = population.x
    for j in range(first, last):
        for k in range(x.shape[1]):
            lanes.child[lane, k] = x[0, k]
        make(self, space, lanes.child, lane, i, j)
        new = at + j - first
        appraise(s, 0, lanes.child, lane, lane, lanes.state[new], lanes.trial[new])


def _survey_swaps(self: Any, s: Any, lane: Any, i: Any, first: Any, last: Any, fresh: Any, at: Any) -> None:
    lanes = s.lanes
    for j in range(first, last):
        new = at + j - first
        try_swap(s, 0, i, j, lane, lanes.state[new], lanes.trial[new])


def _survey_table(self: Any, s: Any, lane: Any, i: Any, first: Any, last: Any, fresh: Any, at: Any) -> None:
    population, lanes = s.population, s.lanes
    for j in range(first, last):
        gain = population.outlook[i * padded(self.n) + j]
        lanes.trial[at + j - first, 0] = population.scores[0, 0] + self.sense * gain


def _survey_insertions(self: Any, s: Any, lane: Any, i: Any, first: Any, last: Any, fresh: Any, at: Any) -> None:
    problem, population, lanes = s.problem, s.population, s.lanes
    x, prepared, work = population.x[0], population.outlook, lanes.table[lane]
    if fresh and last - first > 1:
        remove_item(problem, x, i, prepared, work)
    evaluate_insertions(problem, x, i, first, last, prepared, work, lanes.trial[at : at + last - first])


def _survey_by_insert(self: Any, s: Any, lane: Any, i: Any, first: Any, last: Any, fresh: Any, at: Any) -> None:
    problem, population, lanes = s.problem, s.population, s.lanes
    for j in range(first, last):
        state = lanes.state[at + j - first]
        for k in range(state.shape[0]):
            state[k] = population.state[0, k]
        insert(problem, population.x, 0, i, j, state)
        measures_from_state(problem, state, lanes.trial[at + j - first])


def _survey_by_reverse(self: Any, s: Any, lane: Any, i: Any, first: Any, last: Any, fresh: Any, at: Any) -> None:
    problem, population, lanes = s.problem, s.population, s.lanes
    for j in range(first, last):
        state = lanes.state[at + j - first]
        for k in range(state.shape[0]):
            state[k] = population.state[0, k]
        reverse(problem, population.x, 0, i, j, state)
        measures_from_state(problem, state, lanes.trial[at + j - first])


# What is known of the present solution.


@called
def _observe_nothing(self: Any, s: Any) -> None:
    population, lanes = s.population, s.lanes
    gauge(s, population.x, 0, 0, lanes.state[0], population.scores[0])
    for k in range(population.state.shape[1]):
        population.state[0, k] = lanes.state[0, k]


def _observe_table(self: Any, s: Any) -> None:
    problem, population = s.problem, s.population
    _observe_nothing(self, s)
    fill_swap_table(problem, population.x, 0, population.outlook)


def _observe_outlook(self: Any, s: Any) -> None:
    problem, population = s.problem, s.population
    _observe_nothing(self, s)
    prepare_insertions(problem, population.x[0], population.outlook)


def _follow_anew(self: Any, s: Any, i: Any, j: Any, seat: Any) -> None:
    space, population = s.space, s.population
    make(self, space, population.x, 0, i, j)
    observe(self, s)


def _follow_by_table(self: Any, s: Any, i: Any, j: Any, seat: Any) -> None:
    problem, population, lanes = s.problem, s.population, s.lanes
    make_swap(problem, population.x, 0, i, j, population.outlook)
    if population.scores.shape[1] == 1:
        population.scores[0, 0] = lanes.trial[seat, 0]
    else:
        _observe_nothing(self, s)


_PAIRS: dict[str, Body] = {"locate": _locate_pair, "row_begin": _begin_after, "row_end": _end_of_all}
_PLAIN: dict[str, Body] = {
    "row_begin": _begin_at_zero,
    "row_end": _end_of_all,
    "is_move": _is_always,
    "survey": _survey_children,
    "observe": _observe_nothing,
    "follow": _follow_anew,
}
_PLACES: dict[str, Body] = {"ban": _ban_places, "is_banned": _are_banned_places}
_KNOWN: dict[str, tuple[Any, dict[str, Body]]] = {
    "flip": (
        Bits,
        {"locate": _locate_decision, "make": _flip, "ban": _ban_decision, "is_banned": _is_banned_decision},
    ),
    "flip-two": (Bits, {**_PAIRS, "make": _flip_both, "ban": _ban_decisions, "is_banned": _are_banned_decisions}),
    "reassign": (
        Digits,
        {
            "locate": _locate_value,
            "row_end": _end_of_values,
            "make": _reassign,
            "ban": _ban_value,
            "is_banned": _is_banned_value,
        },
    ),
    "swap": (Order, {**_PAIRS, **_PLACES, "make": _swap, "survey": _survey_swaps}),
    "insertion": (
        Order,
        {
            "locate": _locate_insertion,
            "is_move": _is_insertion,
            "make": _insert,
            "ban": _ban_precedence,
            "is_banned": _is_banned_precedence,
        },
    ),
    "reversal": (Order, {**_PAIRS, **_PLACES, "make": _reverse}),
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
_BY_STATE: dict[str, tuple[type[capabilities.Capability], Body]] = {
    "insertion": (capabilities.Insertions, _survey_by_insert),
    "reversal": (capabilities.Reversals, _survey_by_reverse),
}


@dataclass(frozen=True)
class Neighbourhood:
    """The moves of a problem's solutions, laid out for an engine."""

    label: str
    size: int  # how many moves there are
    bans: int  # how many numbers a list of what is banned has
    values: tuple[Any, ...]  # of FIELDS
    bodies: dict[str, Body]
    outlook: Buffer | None
    work: Buffer | None
    single: int
    by_state: bool  # whether neighbours are measured from the state of the present solution

    def equip(self, record: Any) -> None:
        """Give an engine's record what the verbs do in this neighbourhood."""
        for name, body in self.bodies.items():
            give_body(name, record, body)


def _compares_by_itself(problem: Problem) -> bool:
    """Whether a problem says how to compare solutions: then a gain in fitness does not give the measures."""
    return any(hasattr(problem, name) for name in ("fitness", "violation")) or offers(problem, TieBreak)


def lay_out(name: str | None, problem: Problem) -> Neighbourhood:
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
    bodies = {**_PLAIN, **_KNOWN[name][1]}
    starts, others, low, bans = np.zeros(2, np.int64), 0, np.zeros(2, np.int32), n if kind is Bits else n * n
    if kind is Digits:
        moves = ReassignmentMoves(space.low, space.high)
        starts, others, low, bans = moves.starts, moves.others, moves.low, moves.size + n
        size = moves.size
        if size == 0:
            raise InputError("a neighbourhood needs a decision with two values or more, but there is none")
    else:
        size = _SIZES[name](n)
    outlook, work, single, by_state = None, None, 0, False
    blocks, table = capability(problem, InsertionBlocks), capability(problem, SwapTable)
    if name == "insertion" and blocks:
        bodies |= {"survey": _survey_insertions, "observe": _observe_outlook}
        outlook, work = buffer_of(problem, blocks.prepared), buffer_of(problem, blocks.work)
        name, single = "insertion_outlook", blocks.single(problem)
    elif name == "swap" and table and len(senses_of(problem)) == 1 and not _compares_by_itself(problem):
        bodies |= {"survey": _survey_table, "observe": _observe_table, "follow": _follow_by_table}
        name, outlook = "swap_table", buffer_of(problem, table.buffer)
    elif name in _BY_STATE and offers(problem, _BY_STATE[name][0]):
        bodies["survey"], by_state = _BY_STATE[name][1], True
        name += "_state"
    values = (n, starts, others, low, senses_of(problem)[0])
    return Neighbourhood(name.replace("-", "_"), size, bans, values, bodies, outlook, work, single, by_state)
