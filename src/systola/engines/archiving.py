"""The archive of Pareto local search: what comes into it, and what leaves it.

Candidates are neighbours that no member weakly dominates; `lanes.move` says how many each lane has. The archive is one
section of the population, the front of all searches before another one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from systola.engines.constrained_dominance import is_weakly_dominated, weakly_dominates
from systola.jit.compile import called, inlined
from systola.jit.stop_flag import must_leave
from systola.model.population import NEVER, copy_row

# In memory: counts, then for each member whether it was explored.
MEMBERS, FRONT, RESTARTS, FLAGS = range(1, 5)


@inlined
def _copy_candidate(population: Any, source: Any, target: Any) -> None:
    population.candidate_moves[target] = population.candidate_moves[source]
    for k in range(population.candidates.shape[1]):
        population.candidates[target, k] = population.candidates[source, k]


@called
def filter_candidates(self: Any, s: Any) -> None:
    """Leave out candidates that another one weakly dominates; the others become those of the first lane, however many.

    So there need be room only for those that come into the archive: of one objective the best, of thousands. Done a
    second time, after the archive has got more room, it changes nothing.
    """
    problem, candidates, lanes = s.problem, s.population.candidates, s.lanes
    count = np.int64(0)
    for lane in range(lanes.step.shape[0]):
        first = self.size * lane // lanes.step.shape[0]
        for at in range(first, first + lanes.move[lane] + 1):
            if must_leave(lanes.stop):
                return
            if is_weakly_dominated(self, problem, candidates, 0, count, candidates, at):
                continue
            k = np.int64(0)
            while k < count:
                if weakly_dominates(self, problem, candidates, at, candidates, k):
                    count -= 1
                    if k != count:
                        _copy_candidate(s.population, count, k)
                else:
                    k += 1
            _copy_candidate(s.population, at, count)
            count += 1
        lanes.move[lane] = NEVER
    lanes.move[0] = count - 1


@called
def remove_dominated(self: Any, s: Any, base: Any, count: Any, first: Any, flagged: Any) -> Any:
    """Remove members of a section that are weakly dominated by one of those from `first` on; the last ones take their
    places. How many are left.

    No member from `first` on is weakly dominated by another one of them.
    """
    problem, population = s.problem, s.population
    scores, memory = population.scores, population.memory
    k = np.int64(0)
    while k < first and not must_leave(s.lanes.stop):
        if is_weakly_dominated(self, problem, scores, base + first, base + count, scores, base + k):
            first -= 1
            count -= 1
            if k != first:
                copy_row(population, base + first, base + k)
                if flagged:
                    memory[FLAGS + k] = memory[FLAGS + first]
            if first != count:
                copy_row(population, base + count, base + first)
                if flagged:
                    memory[FLAGS + first] = memory[FLAGS + count]
        else:
            k += 1
    return count


@called
def has_room(self: Any, problem: Any, population: Any, base: Any, count: Any, other: Any, at: Any) -> Any:
    """Whether a section may take other[at]: if it is not full, or has a member that would leave."""
    found = self.archive_size == 0 or count < self.archive_size
    for k in range(count):
        found = found or weakly_dominates(self, problem, other, at, population.scores, base + k)
    return found


@called
def merge_into_front(self: Any, s: Any) -> None:
    """The archive of this search joins the front of all before."""
    problem, population = s.problem, s.population
    scores, memory = population.scores, population.memory
    base = 1 + memory.shape[0] - FLAGS
    count = memory[FRONT]
    for k in range(1, 1 + memory[MEMBERS]):
        if must_leave(s.lanes.stop):
            break
        if not is_weakly_dominated(self, problem, scores, base, base + count, scores, k) and has_room(
            self, problem, population, base, count, scores, k
        ):
            copy_row(population, k, base + count)
            count = remove_dominated(self, s, base, count + 1, count, False)
    memory[FRONT] = count
