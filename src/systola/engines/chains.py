"""Chains that run side by side, as annealing and iterated local search have them, and how solutions come and go.

A chain has three rows: its solution, one that it may go back to, `chains` rows later, and its best one, another
`chains` rows later.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from systola.engines.engine import Design
from systola.engines.migration import replace_if_better
from systola.engines.picture import Walks
from systola.jit.compile import called, inlined
from systola.jit.records import Record
from systola.model.elementary_moves import NO_MOVE
from systola.model.population import OUT_OF_ROOM, copy_row
from systola.model.problem import Problem, space_of
from systola.model.rng import SEARCH, STEP, below, draw
from systola.operators.move_kinds import count_trial, pick_kind
from systola.operators.proposals import choose_proposals, draw_proposal, try_move

NO_CHAIN = -1
PROPOSALS = 128  # of a chain in a step


@called
def init_chain(self: Any, s: Any, chain: Any) -> None:
    """Before the first step: the first solution is all that a chain knows."""
    copy_row(s.population, chain, chain + self.chains)
    copy_row(s.population, chain, chain + 2 * self.chains)


@inlined
def propose(self: Any, s: Any, cell: Any, lane: Any, counts: Any, k: Any) -> Any:
    """The k-th proposal of a chain in a step, measured: its kind, and the move, NO_MOVE if there is none.

    `counts` is where the numbers of its kinds of moves begin in memory.
    """
    memory = s.population.memory
    r0, r1, r2, r3 = draw(s.seed, SEARCH, s.step, cell, k)
    kind = pick_kind(memory, counts, self.kinds, r0)
    move = draw_proposal(s, cell, lane, kind, r1, r2, r3)
    if move[0] != NO_MOVE:
        try_move(s, cell, lane, move)
        count_trial(memory, counts, kind)
    return kind, move


def best_of_chain(self: Any, number: Any, step: Any) -> Any:
    """The implementation of `migration_slot`: the best solution of one of the chains."""
    return 2 * self.chains + below(number, self.chains)


@called
def offer_to_chain(self: Any, s: Any, immigrants: Any, which: Any) -> Any:
    """An immigrant that is better than the best of a chain drawn at random takes its place: of which, or NO_CHAIN."""
    number, _, _, _ = draw(s.seed, STEP, s.step, self.chains, 0)
    best = 2 * self.chains + below(number, self.chains)
    return best - 2 * self.chains if replace_if_better(s, immigrants, which, best) else np.int64(NO_CHAIN)


def design_chains(problem: Problem, record: Record, chains: int, remembered: int) -> Design:
    """So many chains, of each of which so many numbers are remembered."""
    per_step = chains * PROPOSALS
    return Design(
        record=record,
        cells=chains,
        rows=3 * chains,
        started=chains,
        per_step=per_step,
        steps=max(1000, 20_000 * space_of(problem).n // per_step),
        keeps_state=choose_proposals(problem),
        memory_size=OUT_OF_ROOM + 1 + chains * remembered,
        layout=Walks(chains, 2 * chains),
    )
