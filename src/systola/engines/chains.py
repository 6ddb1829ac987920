"""Chains that run side by side, as annealing and iterated local search have them, and how solutions come and go.

A chain has three rows: its solution, one that it may go back to, `chains` rows later, and its best one, another
`chains` rows later.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from systola.engines.migration import replace_if_better
from systola.jit.compile import called
from systola.model.population import copy_row
from systola.model.rng import STEP, below, draw

NO_CHAIN = -1


@called
def init_chain(self: Any, s: Any, chain: Any) -> None:
    """Before the first step: the first solution is all that a chain knows."""
    copy_row(s.population, chain, chain + self.chains)
    copy_row(s.population, chain, chain + 2 * self.chains)


def best_of_chain(self: Any, number: Any, step: Any) -> Any:
    """The implementation of `migration_slot`: the best solution of one of the chains."""
    return 2 * self.chains + below(number, self.chains)


@called
def offer_to_chain(self: Any, s: Any, immigrants: Any, which: Any) -> Any:
    """An immigrant that is better than the best of a chain drawn at random takes its place: of which, or NO_CHAIN."""
    number, _, _, _ = draw(s.seed, STEP, s.step, self.chains, 0)
    best = 2 * self.chains + below(number, self.chains)
    return best - 2 * self.chains if replace_if_better(s, immigrants, which, best) else np.int64(NO_CHAIN)
