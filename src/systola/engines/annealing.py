"""Simulated annealing with reheating, which needs nothing but an objective: Kirkpatrick, Gelatt, Vecchi 1983.

Several chains run side by side. A chain draws a random move, makes it, and keeps the new solution if it is no worse, or
with a chance that falls with the temperature (Metropolis). Kinds of moves that improve more often are drawn more often.

Nobody has to give a temperature. A chain begins with the one at which an average random move would be kept or not with
like chances. Temperatures are rungs of a ladder, and a chain makes an epoch of proposals on each. Once hardly any worse
solution is kept and nothing better is found, the chain is frozen and its cycle ends. The next cycle begins with the
best solution that this chain, or one it is compared with, has found, on the last rung where enough worse solutions were
kept, and its epochs are twice as long. What is enough differs from chain to chain: some reheat more than others.

Nobody has to give a penalty either. Strict chains always keep what breaks the constraints less, never what breaks them
more. Other chains weigh the violation with a penalty that rises while their solution is infeasible and falls while it
is feasible, so that they cross the border again and again. The best solution is a feasible one whenever there is any.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

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
from systola.errors import InputError
from systola.jit.compile import called, inlined
from systola.jit.records import record_type
from systola.jit.stop_flag import must_leave
from systola.model.capabilities import Buffer
from systola.model.elementary_moves import NO_MOVE, kinds_of
from systola.model.encodings import Array
from systola.model.objective import fitness, violation
from systola.model.population import OUT_OF_ROOM, copy_row, ranks_above, update_best
from systola.model.problem import Problem, space_of
from systola.model.rng import CHANCE, STEP, below, draw, exponential
from systola.operators.guided_moves import fill_lists, is_guided, near_size
from systola.operators.move_kinds import REMEMBERED as KIND_COUNTS
from systola.operators.move_kinds import count_improvement, share_out_kinds
from systola.operators.proposals import begin_proposals, drop_move, offer_neighbour, take_move

_FIELDS = ("chains", "kinds", "epoch", "ladder", "penalised", "inertia", "guided")
# What a chain remembers, after the flag that all engines have: by how many proposals the first temperature was found,
# and the sum of their rungs. Of the epoch: proposals made, worse ones kept, whether a new best was found. Of the cycle:
# the rung, proposals an epoch, the rung to reheat to, frozen epochs in a row. Of the penalty: its rung, and for how
# many proposals more the solution was infeasible than feasible. Then what is remembered of each kind of moves.
_SAMPLED, _SUM, _MADE, _KEPT, _IMPROVED, _RUNG, _EPOCH, _REHEAT, _FROZEN, _PENALTY, _BROKEN, _COUNTS = range(12)
_REMEMBERED = _COUNTS + KIND_COUNTS
_SAMPLES = 100  # random moves by which the first temperature is found
_OCTAVE = 8  # rungs from one temperature to half of it
_HIGHEST, _LOWEST = 64, -64  # powers of two between which the ladder lies
_WARM = 12  # one of so many proposals must be worse and kept on the rung to reheat to; four times as many in the next
_COLD = 1000  # and fewer than one of so many where a chain is frozen
_FROZEN_EPOCHS = 2
_LONGEST_EPOCH = 10**12


def _make_ladder() -> Array:
    """Temperatures, falling; by square roots and products only, which are the same on every machine."""
    step = np.sqrt(np.sqrt(np.sqrt(0.5)))
    octave = np.cumprod(np.concatenate([[1.0], np.full(_OCTAVE - 1, step)]))
    return np.concatenate([np.ldexp(octave, power) for power in range(_HIGHEST, _LOWEST, -1)])


@inlined
def _at(chain: Any) -> Any:
    """Where a chain's numbers begin in memory."""
    return OUT_OF_ROOM + 1 + chain * _REMEMBERED


@inlined
def _loss(problem: Any, new: Any, old: Any) -> Any:
    """How much fitness is lost, as a float: a difference of whole numbers could wrap around."""
    return np.float64(fitness(problem, old)) - np.float64(fitness(problem, new))


@called
def _is_kept(self: Any, s: Any, chain: Any, new: Any, k: Any) -> Any:
    """Metropolis's rule for a neighbour with the measures `new`, of the k-th proposal."""
    memory, at, old = s.population.memory, _at(chain), s.population.scores[chain]
    broken, before = violation(s.problem, new), violation(s.problem, old)
    lost = _loss(s.problem, new, old)
    if broken != before:
        if not self.penalised[chain]:
            return broken < before
        lost += self.ladder[memory[at + _PENALTY]] * (np.float64(broken) - np.float64(before))
    r0, r1, _, _ = draw(s.seed, CHANCE, s.step, chain, k)
    return lost <= 0.0 or lost <= self.ladder[memory[at + _RUNG]] * exponential(r0, r1)


@called
def _sample(self: Any, s: Any, chain: Any, new: Any) -> None:
    """One more of the moves by which the first temperature is found; after the last one the first cycle begins."""
    memory, at = s.population.memory, _at(chain)
    change = abs(_loss(s.problem, new, s.population.scores[chain]))
    rung = np.int64(0)
    if change > 0.0:
        while rung < self.ladder.shape[0] - 1 and self.ladder[rung] > change:
            rung += 1
        memory[at + _SUM] += rung
        memory[at + _IMPROVED] += 1
    memory[at + _SAMPLED] += 1
    if memory[at + _SAMPLED] == _SAMPLES:
        rung = memory[at + _SUM] // max(np.int64(1), memory[at + _IMPROVED])
        memory[at + _PENALTY] = rung
        _begin_cycle(self, s, chain, rung)


def _do_cell(self: Any, s: Any, cell: Any, lane: Any) -> None:
    """A chain's proposals of one step. Its solution is row `cell`, the best of this cycle comes `chains` rows later,
    the best of all cycles another `chains` rows later."""
    problem, population, lanes = s.problem, s.population, s.lanes
    memory, scores, at = population.memory, population.scores, _at(cell)
    new, best = lanes.trial[2 * lane], cell + self.chains
    begin_proposals(s, cell, lane)
    for k in range(PROPOSALS):
        if memory[at + _FROZEN] == _FROZEN_EPOCHS or must_leave(lanes.stop):
            return
        kind, move = propose(self, s, cell, lane, at + _COUNTS, k)
        memory[at + _MADE] += 1
        if move[0] != NO_MOVE:
            if memory[at + _SAMPLED] < _SAMPLES:
                offer_neighbour(s, cell, lane, move)
                drop_move(s, cell, lane, move)
                _sample(self, s, cell, new)
            elif _is_kept(self, s, cell, new, k):
                if ranks_above(problem, new, scores[cell]):
                    count_improvement(memory, at + _COUNTS, kind)
                elif ranks_above(problem, scores[cell], new):
                    memory[at + _KEPT] += 1
                take_move(s, cell, lane, move)
                if ranks_above(problem, scores[cell], scores[best]):
                    copy_row(population, cell, best)
                    update_best(s, lane, population.x, cell, scores[cell], s.step, cell)
                    memory[at + _IMPROVED] = 1
            else:
                drop_move(s, cell, lane, move)
        _weigh(self, memory, at, violation(problem, scores[cell]) > 0)
        if memory[at + _SAMPLED] == _SAMPLES and memory[at + _MADE] >= memory[at + _EPOCH]:
            _cool(self, memory, at, cell)


@inlined
def _weigh(self: Any, memory: Any, at: Any, infeasible: Any) -> None:
    """A higher penalty after many infeasible solutions, a lower one after many feasible ones."""
    memory[at + _BROKEN] += 1 if infeasible else -1
    if abs(memory[at + _BROKEN]) >= self.inertia:
        rung = memory[at + _PENALTY] + (-1 if infeasible else 1)
        memory[at + _PENALTY] = min(max(rung, np.int64(0)), np.int64(self.ladder.shape[0] - 1))
        memory[at + _BROKEN] = 0


@called
def _cool(self: Any, memory: Any, at: Any, chain: Any) -> None:
    """The end of an epoch: a lower temperature, unless the chain is frozen."""
    made, kept = memory[at + _MADE], memory[at + _KEPT]
    if kept * (np.int64(_WARM) << (2 * (chain & 3))) >= made:
        memory[at + _REHEAT] = memory[at + _RUNG]
    frozen = kept * _COLD < made and memory[at + _IMPROVED] == 0
    memory[at + _FROZEN] = memory[at + _FROZEN] + 1 if frozen else np.int64(0)
    memory[at + _RUNG] = min(memory[at + _RUNG] + 1, np.int64(self.ladder.shape[0] - 1))
    for k in (_MADE, _KEPT, _IMPROVED):
        memory[at + k] = 0
    share_out_kinds(memory, at + _COUNTS, self.kinds)


@called
def _begin_cycle(self: Any, s: Any, chain: Any, rung: Any) -> None:
    """From the present solution, at this temperature."""
    memory, at = s.population.memory, _at(chain)
    copy_row(s.population, chain, chain + self.chains)
    memory[at + _RUNG] = rung
    memory[at + _REHEAT] = rung
    for k in (_MADE, _KEPT, _IMPROVED, _FROZEN):
        memory[at + k] = 0


@called
def _reheat(self: Any, s: Any, chain: Any) -> None:
    """After a cycle: the next one, from the best solution of this chain or another one."""
    population, memory, scores, at = s.population, s.population.memory, s.population.scores, _at(chain)
    best = chain + 2 * self.chains
    if ranks_above(s.problem, scores[chain + self.chains], scores[best]):
        copy_row(population, chain + self.chains, best)
    memory[at + _EPOCH] = min(2 * memory[at + _EPOCH], _LONGEST_EPOCH)
    number, _, _, _ = draw(s.seed, STEP, s.step, chain, 0)
    other = 2 * self.chains + below(number, self.chains)
    copy_row(population, other if ranks_above(s.problem, scores[other], scores[best]) else best, chain)
    _begin_cycle(self, s, chain, memory[at + _REHEAT])


def _end_step(self: Any, s: Any) -> Any:
    memory = s.population.memory
    if s.step == 0 and self.guided:
        fill_lists(s)
    for chain in range(self.chains):
        at = _at(chain)
        if s.step == 0:
            for k in range(_REMEMBERED):
                memory[at + k] = 0
            memory[at + _EPOCH] = self.epoch
            share_out_kinds(memory, at + _COUNTS, self.kinds)
            init_chain(self, s, chain)
        elif memory[at + _FROZEN] == _FROZEN_EPOCHS:
            _reheat(self, s, chain)
    return True


def _accept(self: Any, s: Any, immigrants: Any, which: Any, elite: Any) -> None:
    """The chain whose best solution an immigrant replaces goes on from there."""
    chain = offer_to_chain(self, s, immigrants, which)
    if chain != NO_CHAIN:
        copy_row(s.population, chain + 2 * self.chains, chain)
        _begin_cycle(self, s, chain, s.population.memory[_at(chain) + _RUNG])


@dataclass(frozen=True)
class SimulatedAnnealing:
    """Simulated annealing with reheating, by random moves of several kinds: for any problem, by its objective alone.

    Parameters
    ----------
    chains : int
        How many run side by side. They learn from each other only between cycles.
    epoch : int, optional
        How many moves a chain tries at each temperature in its first cycle; in each later cycle twice as many as in
        the one before. By default eight times the number of decisions.
    constraints : {"mixed", "strict", "penalty"}
        How chains compare solutions that break constraints: strictly by how much they do, by a penalty that adapts,
        or every second chain in either way.
    guided : bool
        Whether declared parts suggest one more kind of move: flips that help a broken linear constraint, or, in an
        order with a chain, moves that bring an item next to one that it is linked to at little cost.
    """

    chains: int = 4
    epoch: int | None = None
    constraints: Literal["mixed", "strict", "penalty"] = "mixed"
    guided: bool = False
    name = "sa"

    def prepare(self, problem: Problem) -> Design:
        check_number("chains", self.chains, 1, 10**6)
        space = space_of(problem)
        epoch = 8 * space.n if self.epoch is None else self.epoch
        check_number("epoch", epoch, 1, _LONGEST_EPOCH)
        ways = {"strict": (False, False), "mixed": (True, False), "penalty": (True, True)}
        if self.constraints not in ways:
            raise InputError(f"`constraints` must be one of {', '.join(ways)}, but got {self.constraints!r}")
        if self.guided is not True and self.guided is not False:
            raise InputError(f"`guided` must be true or false, but got {self.guided!r}")
        if self.guided and not is_guided(problem):
            raise InputError(
                "`guided` is for declared linear constraints over bits and for declared chains, but "
                f"{type(problem).__name__} has none"
            )
        record = record_type("SimulatedAnnealing", _FIELDS)
        implement(record, do_cell=_do_cell, end_step=_end_step)
        enable_migration(record, migration_slot=best_of_chain, accept_immigrant=_accept)
        penalised = np.resize(np.array(ways[self.constraints]), max(2, self.chains))
        kinds, inertia = kinds_of(space) + self.guided, max(50, space.n // 5)
        data = record(self.chains, kinds, epoch, _make_ladder(), penalised, inertia, self.guided)
        design = design_chains(problem, data, self.chains, _REMEMBERED)
        near = near_size(problem) if self.guided else 0
        return replace(design, scratch=space.n, neighbourhood_state=Buffer(near, np.int32)) if near else design
