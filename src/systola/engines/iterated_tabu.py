"""Iterated tabu search by a table of gains: Glover, Lü, Hao 2010 and Palubeckis 2006 for quadratic forms over bits.

Several chains run side by side. In a step a chain makes many moves, each a flip or another value of one decision, the
best that is not tabu, and remembers the best solution that it comes across. It begins from the best of its chain,
changed at random in some decisions, or crossed with the best of another chain where these differ. The gains of all
moves are in a table, so that a move costs what it changes, whatever the size of the objective.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from systola.engines.engine import Design, check_number, implement
from systola.engines.migration import enable_migration
from systola.engines.picture import Walks
from systola.errors import InputError
from systola.jit.compile import called, inlined
from systola.jit.dispatch import dispatched, register_each
from systola.jit.records import record_type
from systola.jit.stop_flag import must_leave
from systola.model.capabilities import Buffer, TieBreak, offers
from systola.model.elementary_moves import FLIP, REASSIGN, make_plain_move
from systola.model.encodings import Bits, Digits, Order, decode
from systola.model.objective import fitness
from systola.model.population import OUT_OF_ROOM, are_finite, copy_row, note_fault, ranks_above, update_best
from systola.model.problem import Problem, senses_of, space_of
from systola.model.rng import CROSS, MUTATE, SEARCH, below, draw
from systola.model.structure.declare import parts_of
from systola.model.structure.gains import add_gains, after_change, before_change
from systola.operators.decisions import get, put
from systola.operators.declared import has_floats, measure_parts
from systola.operators.evaluation import choose_delta_evaluation

_FIELDS = ("chains", "moves", "width", "sense", "shortest", "choices")
_LEAST_MOVES = 2000  # of a chain in a step
_MOVES_PER_DECISION = 8
_LOWEST = 1 << 62  # no gain is as low as this negated


@dispatched
def tabu_move(space: Any, x: Any, width: Any, number: Any) -> Any:
    """The move with this number in the table of gains."""


def _flip(space: Any, x: Any, width: Any, number: Any) -> Any:
    return np.int64(FLIP), np.int64(number), np.int64(0), np.int64(0)


def _reassign(space: Any, x: Any, width: Any, number: Any) -> Any:
    i = np.int64(number) // width
    return np.int64(REASSIGN), i, np.int64(x[i]), np.int64(number) - i * width + np.int64(space.low[i])


@dispatched
def settle_gains(space: Any, x: Any, move: Any, width: Any, gains: Any) -> Any:
    """The gains of a decision that has been changed by a move."""


def _negate(space: Any, x: Any, move: Any, width: Any, gains: Any) -> None:
    gains[move[1]] = -gains[move[1]]


def _less_the_change(space: Any, x: Any, move: Any, width: Any, gains: Any) -> None:
    _, i, _, new = move
    change = gains[i * width + new - space.low[i]]
    for v in range(space.low[i], space.high[i] + 1):
        gains[i * width + v - space.low[i]] -= change


@dispatched
def forbid_at_first(space: Any, x: Any, width: Any, until: Any, never: Any) -> Any:
    """Before the first move: what is no move is tabu for good."""


def _forbid_nothing(space: Any, x: Any, width: Any, until: Any, never: Any) -> None:
    for number in range(until.shape[0]):
        until[number] = 0


def _forbid_what_is(space: Any, x: Any, width: Any, until: Any, never: Any) -> None:
    for number in range(until.shape[0]):
        until[number] = never
    for i in range(space.n):
        for v in range(space.low[i], space.high[i] + 1):
            if v != x[i]:
                until[i * width + v - space.low[i]] = 0


@dispatched
def forbid(space: Any, move: Any, width: Any, until: Any, tenure_end: Any, never: Any) -> Any:
    """After a move: what it changed must not come back before `tenure_end`."""


def _forbid_flip(space: Any, move: Any, width: Any, until: Any, tenure_end: Any, never: Any) -> None:
    until[move[1]] = tenure_end


def _forbid_old_value(space: Any, move: Any, width: Any, until: Any, tenure_end: Any, never: Any) -> None:
    _, i, old, new = move
    until[i * width + old - space.low[i]] = tenure_end
    until[i * width + new - space.low[i]] = never


register_each("tabu_move", {Bits: _flip, Digits: _reassign})
register_each("settle_gains", {Bits: _negate, Digits: _less_the_change})
register_each("forbid_at_first", {Bits: _forbid_nothing, Digits: _forbid_what_is})
register_each("forbid", {Bits: _forbid_flip, Digits: _forbid_old_value})


@dispatched
def random_move(space: Any, x: Any, i: Any, number: Any) -> Any:
    """A move of decision i, by a random number of 32 bits."""


def _random_flip(space: Any, x: Any, i: Any, number: Any) -> Any:
    return np.int64(FLIP), np.int64(i), np.int64(0), np.int64(0)


def _random_reassignment(space: Any, x: Any, i: Any, number: Any) -> Any:
    low, high, old = np.int64(space.low[i]), np.int64(space.high[i]), np.int64(x[i])
    new = low + below(number, max(high - low, np.int64(1)))
    new = new + 1 if new >= old and new < high else new
    return np.int64(REASSIGN), np.int64(i), old, new


register_each("random_move", {Bits: _random_flip, Digits: _random_reassignment})


@called
def _begin(self: Any, s: Any, cell: Any, lane: Any) -> None:
    """Plain decisions to begin a step with: those of the chain's best solution, crossed or changed at random."""
    population, lanes, n = s.population, s.lanes, np.int64(s.space.n)
    x = lanes.decisions[lane]
    decode(s.space, population.x, cell + self.chains, lanes.decisions, lane)
    if s.step == 1:
        return
    r0, r1, r2, _ = draw(s.seed, MUTATE, s.step, cell, 0)
    other = below(r1, self.chains)
    differing = np.int64(0)
    mate = population.x[other + self.chains]
    if r0 & np.uint64(1):
        for i in range(n):
            differing += x[i] != get(s.space, mate, i)
    if 8 * differing >= min(n, 80):
        for i in range(n):
            number, _, _, _ = draw(s.seed, CROSS, s.step, cell, i)
            if number & np.uint64(1):
                x[i] = get(s.space, mate, i)
        return
    # How many decisions change is drawn by magnitude, from 4 to a third of them.
    most = max(n // 3, np.int64(1))
    magnitudes = np.int64(1)
    while (np.int64(4) << magnitudes) <= most:
        magnitudes += 1
    changes = min(most, (np.int64(4) << below(r2, magnitudes)))
    for k in range(changes):
        r0, r1, _, _ = draw(s.seed, MUTATE, s.step, cell, 1 + k)
        kind, i, j, m = random_move(s.space, x, below(r0, n), r1)
        make_plain_move(s.space, x, kind, i, j, m)


@inlined
def _best_number(gains: Any, until: Any, sense: Any, now: Any, needed: Any, start: Any) -> Any:
    """The number of the best move that is not tabu, or gives more than needed; of equals the next after `start`."""
    count = gains.shape[0]
    lowest = needed * 0 - _LOWEST
    top = lowest
    for k in range(count):
        gain = sense * gains[k]
        gain = gain if until[k] <= now or gain > needed else lowest
        top = max(top, gain)
    if top == lowest:
        return np.int64(-1)
    k = np.int64(start)
    for _ in range(count):
        gain = sense * gains[k]
        if gain == top and (until[k] <= now or gain > needed):
            return k
        k = k + 1 if k + 1 < count else np.int64(0)
    return np.int64(-1)  # none is a number


@called
def _remember(s: Any, cell: Any, lane: Any) -> None:
    """The present solution is the best of this step."""
    for i in range(s.space.n):
        put(s.space, s.population.x[cell], i, s.lanes.decisions[lane, i])


@called
def _note_neighbour(self: Any, s: Any, lane: Any, gains: Any) -> None:
    """The objective of a neighbour of the lane's decisions is not a finite number."""
    lanes, number = s.lanes, np.int64(0)
    while are_finite(gains[number : number + 1]):
        number += 1
    for i in range(s.space.n):
        lanes.faulty[lane, i] = lanes.decisions[lane, i]
    kind, i, old, value = tabu_move(s.space, lanes.decisions[lane], self.width, number)
    make_plain_move(s.space, lanes.faulty[lane], kind, i, old, value)
    lanes.faults[lane] += 1


def _do_cell(self: Any, s: Any, cell: Any, lane: Any) -> None:
    """Moves of a chain in a step. Row `cell` gets the best solution of these, `chains` rows later is that of all."""
    problem, space, population, lanes = s.problem, s.space, s.population, s.lanes
    part, count, scores = problem.structure, np.int64(space.n) * self.width, population.scores
    x, state = lanes.decisions[lane], population.state[cell]
    gains, until = lanes.table[lane, :count], lanes.table[lane, count:]
    _begin(self, s, cell, lane)
    measure_parts(s, x, state, scores[cell])
    for k in range(count):
        gains[k] = 0
    add_gains(part, problem, space, x, state, gains)
    if has_floats(gains) and not are_finite(gains):
        _note_neighbour(self, s, lane, gains)
    never = self.moves + self.shortest + self.choices
    forbid_at_first(space, x, self.width, until, never)
    _remember(s, cell, lane)
    now, best = fitness(problem, scores[cell]), fitness(problem, scores[cell])
    for t in range(self.moves):
        if must_leave(lanes.stop):
            break
        r0, r1, _, _ = draw(s.seed, SEARCH, s.step, cell, t)
        number = _best_number(gains, until, self.sense, t, best - now, below(r0, count))
        if number < 0:
            continue
        move = tabu_move(space, x, self.width, number)
        kind, i, old, value = move
        now += self.sense * gains[number]
        before_change(part, problem, space, x, i, gains)
        make_plain_move(space, x, kind, i, old, value)
        after_change(part, problem, space, x, i, gains)
        settle_gains(space, x, move, self.width, gains)
        forbid(space, move, self.width, until, t + 1 + self.shortest + below(r1, self.choices), never)
        if now > best:
            best = now
            _remember(s, cell, lane)
    decode(space, population.x, cell, lanes.decisions, lane)
    measure_parts(s, x, state, scores[cell])
    if has_floats(scores) and not are_finite(scores[cell]):
        note_fault(s, population.x, cell, lane)
    update_best(s, lane, population.x, cell, scores[cell], s.step, cell)


def _end_step(self: Any, s: Any) -> Any:
    for chain in range(self.chains):
        best = chain + self.chains
        if s.step == 0 or ranks_above(s.problem, s.population.scores[chain], s.population.scores[best]):
            copy_row(s.population, chain, best)
    return True


def _best_of_chain(self: Any, number: Any, step: Any) -> Any:
    return self.chains + below(number, self.chains)


def has_gains(problem: Problem) -> bool:
    """Whether a problem has a table of gains: one objective without constraints, all of whose parts keep one."""
    parts = parts_of(problem)
    return (
        bool(parts)
        and all(part.has_gains and not part.hard for part in parts)
        and not isinstance(space_of(problem), Order)
        and len(senses_of(problem)) == 1
        and not hasattr(problem, "fitness")
        and not hasattr(problem, "violation")
        and not offers(problem, TieBreak)
    )


@dataclass(frozen=True)
class IteratedTabu:
    """Iterated tabu search by a table of gains, for bits and integers with a declared structure.

    Parts must be `Terms`, `Quadratic` or `Linear` without a relation.

    Parameters
    ----------
    chains : int
        How many run side by side.
    tenure : int, optional
        For how many moves at least what was changed must not come back; by default 10, less for few decisions.
    tenure_range : int, optional
        Up to how many moves more, drawn at random; by default as many.
    moves : int, optional
        Of a chain in a step, between two perturbations; by default 8 for each decision, at least 2,000.
    """

    chains: int = 4
    tenure: int | None = None
    tenure_range: int | None = None
    moves: int | None = None
    name = "its"

    def prepare(self, problem: Problem) -> Design:
        if not has_gains(problem):
            raise InputError(
                "iterated tabu search is for one objective over bits or integers, declared by Terms, Quadratic or "
                f"Linear sums and without constraints, but {type(problem).__name__} is another; choose auto or Tabu"
            )
        space = space_of(problem)
        width = 1 if isinstance(space, Bits) else int((space.high.astype(np.int64) - space.low).max()) + 1
        usual = max(1, min(10, space.n // 8))
        tenure = usual if self.tenure is None else self.tenure
        tenure_range = usual if self.tenure_range is None else self.tenure_range
        moves = max(_LEAST_MOVES, _MOVES_PER_DECISION * space.n) if self.moves is None else self.moves
        check_number("chains", self.chains, 1, 10**6)
        check_number("tenure", tenure, 0, 10**9)
        check_number("tenure_range", tenure_range, 0, 10**9)
        check_number("moves", moves, 1, 10**9)
        record = record_type("IteratedTabu", _FIELDS)
        implement(record, do_cell=_do_cell, end_step=_end_step)
        enable_migration(record, migration_slot=_best_of_chain)
        return Design(
            record=record(self.chains, moves, width, senses_of(problem)[0], tenure, tenure_range + 1),
            cells=self.chains,
            rows=2 * self.chains,
            started=self.chains,
            per_step=self.chains * moves,
            steps=200,
            keeps_state=choose_delta_evaluation(problem),
            table=Buffer(2 * space.n * width, None),
            memory_size=OUT_OF_ROOM + 1,
            layout=Walks(self.chains, self.chains),
        )
