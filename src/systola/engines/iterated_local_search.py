"""Iterated local search by random moves, which needs nothing but an objective: Lourenço, Martin, Stützle 2003.

Several chains run side by side. A chain tries random moves of several kinds and keeps what is no worse, until it has
tried many without an improvement: a local optimum, or close to one. If that is no worse than the one the chain came
from, it goes on from there; else it goes back. A perturbation, a few random moves at once, begins the next descent.

How strong perturbations are adapts: after an improvement they are weak again, after several failures twice as strong.
A chain for which the strongest ones have failed, too, goes on from the best solution of another one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from systola.engines.chains import (
    NO_CHAIN,
    PROPOSALS,
    best_of_chain,
    design_chains,
    init_chain,
    offer_to_chain,
    propose,
)
from systola.engines.engine import Design, check_number, implement
from systola.engines.migration import enable_migration
from systola.jit.compile import called, inlined
from systola.jit.records import record_type
from systola.jit.stop_flag import must_leave
from systola.model.elementary_moves import NO_MOVE, kinds_of
from systola.model.population import OUT_OF_ROOM, copy_row, ranks_above, update_best
from systola.model.problem import Problem, space_of
from systola.model.rng import MUTATE, STEP, below, draw
from systola.operators.move_kinds import REMEMBERED as KIND_COUNTS
from systola.operators.move_kinds import count_improvement, share_out_kinds
from systola.operators.proposals import begin_proposals, draw_proposal, drop_move, end_pushing, push_move, take_move

_FIELDS = ("chains", "kinds", "patience", "strongest")
# What a chain remembers, after the flag that all engines have: proposals since the last improvement; the strength of
# its perturbations, and how many of that strength have failed; then what is remembered of each kind of moves.
_IDLE, _STRENGTH, _FAILED, _COUNTS = range(4)
_REMEMBERED = _COUNTS + KIND_COUNTS
_WEAKEST = 2  # moves of a perturbation
_FAILURES = 8  # of perturbations before they get stronger


@inlined
def _at(chain: Any) -> Any:
    """Where a chain's numbers begin in memory."""
    return OUT_OF_ROOM + 1 + chain * _REMEMBERED


def _do_cell(self: Any, s: Any, cell: Any, lane: Any) -> None:
    """A chain's proposals of one step. Its solution is row `cell`, the local optimum that it came from is `chains` rows
    later, the best one of all another `chains` rows later."""
    lanes, memory, at = s.lanes, s.population.memory, _at(cell)
    new = lanes.trial[2 * lane]
    begin_proposals(s, cell, lane)
    for k in range(PROPOSALS):
        if memory[at + _STRENGTH] > self.strongest or must_leave(lanes.stop):
            return
        if memory[at + _IDLE] >= self.patience:
            _leave_local_optimum(self, s, cell, lane, k)
            continue
        kind, move = propose(self, s, cell, lane, at + _COUNTS, k)
        memory[at + _IDLE] += 1
        if move[0] != NO_MOVE:
            if ranks_above(s.problem, s.population.scores[cell], new):
                drop_move(s, cell, lane, move)
            else:
                if ranks_above(s.problem, new, s.population.scores[cell]):
                    count_improvement(memory, at + _COUNTS, kind)
                    memory[at + _IDLE] = 0
                take_move(s, cell, lane, move)
                _keep_best(self, s, cell, lane)


@called
def _keep_best(self: Any, s: Any, cell: Any, lane: Any) -> None:
    """Remember a chain's solution if it is its best."""
    population, best = s.population, cell + 2 * self.chains
    if ranks_above(s.problem, population.scores[cell], population.scores[best]):
        copy_row(population, cell, best)
        update_best(s, lane, population.x, cell, population.scores[cell], s.step, cell)


@called
def _leave_local_optimum(self: Any, s: Any, cell: Any, lane: Any, k: Any) -> None:
    """Accept the local optimum or go back to the last one; then perturb that."""
    population, at = s.population, _at(cell)
    memory, scores, home = population.memory, population.scores, cell + self.chains
    if ranks_above(s.problem, scores[cell], scores[home]):
        memory[at + _STRENGTH] = _WEAKEST
        memory[at + _FAILED] = 0
    else:
        memory[at + _FAILED] += 1
        if memory[at + _FAILED] == _FAILURES:
            memory[at + _STRENGTH] *= 2
            memory[at + _FAILED] = 0
    memory[at + _IDLE] = 0
    share_out_kinds(memory, at + _COUNTS, self.kinds)
    if ranks_above(s.problem, scores[home], scores[cell]):
        copy_row(population, home, cell)
        begin_proposals(s, cell, lane)
    else:
        copy_row(population, cell, home)
    for number in range(min(memory[at + _STRENGTH], self.strongest)):
        r0, r1, r2, r3 = draw(s.seed, MUTATE, s.step, cell, (np.int64(k) << 20) + number)
        push_move(s, cell, lane, draw_proposal(s, cell, lane, below(r0, self.kinds), r1, r2, r3))
    end_pushing(s, cell, lane)
    _keep_best(self, s, cell, lane)


def _end_step(self: Any, s: Any) -> Any:
    memory = s.population.memory
    for chain in range(self.chains):
        at = _at(chain)
        if s.step == 0:
            for k in range(_REMEMBERED):
                memory[at + k] = 0
            memory[at + _STRENGTH] = _WEAKEST
            share_out_kinds(memory, at + _COUNTS, self.kinds)
            init_chain(self, s, chain)
        elif memory[at + _STRENGTH] > self.strongest:
            number, _, _, _ = draw(s.seed, STEP, s.step, chain, 0)
            _begin_from(self, s, chain, 2 * self.chains + below(number, self.chains))
    return True


@called
def _begin_from(self: Any, s: Any, chain: Any, row: Any) -> None:
    """Go on from the solution in this row."""
    memory, at = s.population.memory, _at(chain)
    copy_row(s.population, row, chain)
    copy_row(s.population, row, chain + self.chains)
    memory[at + _IDLE] = 0
    memory[at + _FAILED] = 0
    memory[at + _STRENGTH] = _WEAKEST


def _accept(self: Any, s: Any, immigrants: Any, which: Any, elite: Any) -> None:
    """The chain whose best solution an immigrant replaces goes on from there."""
    chain = offer_to_chain(self, s, immigrants, which)
    if chain != NO_CHAIN:
        _begin_from(self, s, chain, chain + 2 * self.chains)


@dataclass(frozen=True)
class IteratedLocalSearch:
    """Iterated local search by random moves of several kinds: for any problem, by its objective alone.

    Parameters
    ----------
    chains : int
        How many run side by side. They learn from each other only where one of them is stuck.
    patience : int, optional
        After how many moves without an improvement a chain takes its solution for a local optimum; by default sixteen
        times the number of decisions.
    """

    chains: int = 4
    patience: int | None = None
    name = "ils"

    def prepare(self, problem: Problem) -> Design:
        check_number("chains", self.chains, 1, 10**6)
        space = space_of(problem)
        patience = 16 * space.n if self.patience is None else self.patience
        check_number("patience", patience, 1, 10**12)
        record = record_type("IteratedLocalSearch", _FIELDS)
        implement(record, do_cell=_do_cell, end_step=_end_step)
        enable_migration(record, migration_slot=best_of_chain, accept_immigrant=_accept)
        data = record(self.chains, kinds_of(space), patience, max(_WEAKEST, min(space.n // 2, 1 << 19)))
        return design_chains(problem, data, self.chains, _REMEMBERED)
