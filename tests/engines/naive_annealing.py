"""Simulated annealing as one would first write it: one chain after the other, plain numbers, whole evaluations."""

import math

import numpy as np

from systola.model.elementary_moves import NO_MOVE, kinds_of, make_move
from systola.model.encodings import sample
from systola.model.objective import fitness, violation
from systola.model.problem import record_of, space_of
from systola.model.rng import CHANCE, SEARCH, START, STEP, below, draw, exponential
from systola.operators.random_moves import draw_move

SAMPLES, PROPOSALS, WHOLE = 100, 128, 2**32


def temperatures():
    """Eight to the octave, from 2^64 down."""
    step = math.sqrt(math.sqrt(math.sqrt(0.5)))
    octave = [1.0]
    for _ in range(7):
        octave.append(octave[-1] * step)
    return [math.ldexp(part, power) for power in range(64, -64, -1) for part in octave]


class Chain:
    def __init__(self, x, worth, epoch, kinds):
        self.x, self.worth = x, worth
        self.cycle_best = self.best = (x, worth)
        self.epoch, self.kinds = epoch, kinds
        self.rungs, self.sampled = [], 0
        self.made = self.kept = self.frozen = self.broken = 0
        self.improved = False
        self.rung = self.reheat = self.penalty = 0
        self.tried, self.gained = [0] * kinds, [0] * kinds
        self.share_out()

    def share_out(self):
        rates = [((g + 1) << 24) // (t + 16) + 1 for g, t in zip(self.gained, self.tried, strict=True)]
        least = WHOLE // 20
        free = (WHOLE - self.kinds * least) // sum(rates)
        self.shares = [least + free * rate for rate in rates]
        self.tried = [t // 2 for t in self.tried]
        self.gained = [g // 2 for g in self.gained]

    def pick(self, number):
        for kind in range(self.kinds - 1):
            if number < sum(self.shares[: kind + 1]):
                return kind
        return self.kinds - 1

    def begin(self, rung):
        self.cycle_best = (self.x, self.worth)
        self.rung = self.reheat = rung
        self.made = self.kept = self.frozen = 0
        self.improved = False


class Annealing:
    """Solutions are tuples of plain decisions; `worth` is (violation, fitness)."""

    def __init__(self, problem, chains, epoch, penalised, seed):
        self.problem, self.seed, self.penalised = problem, seed, penalised
        self.record, self.space, self.ladder = record_of(problem), space_of(problem), temperatures()
        self.inertia = max(50, self.space.n // 5)
        rows = problem.encoding.empty(self.space, chains)
        for row in range(chains):
            sample(self.space, rows, row, np.uint64(seed), START, 0, row)
        kinds = kinds_of(self.space)
        self.chains = []
        for row in rows:
            x = self.plain(row)
            self.chains.append(Chain(x, self.worth(x), epoch, kinds))
        self.best = max((chain.worth for chain in self.chains), key=self.key)

    def plain(self, row):
        return tuple(int(v) for v in self.problem.encoding.load(self.space, row[None])[0])

    def worth(self, x):
        value = self.problem.evaluate(np.array(x))
        measures = np.array(value if isinstance(value, tuple) else [value])
        return violation(self.record, measures), fitness(self.record, measures)

    @staticmethod
    def key(worth):
        return -worth[0], worth[1]

    def step(self, step):
        for number, chain in enumerate(self.chains):
            for k in range(PROPOSALS):
                if chain.frozen == 2:
                    break
                self.propose(chain, number, step, k)
        for number, chain in enumerate(self.chains):
            if chain.frozen == 2:
                self.reheat(chain, number, step)

    def propose(self, chain, number, step, k):
        r0, r1, r2, r3 = draw(self.seed, SEARCH, step, number, k)
        row = self.problem.encoding.store(self.space, [chain.x])[0]
        kind, *move = draw_move(self.space, row, chain.pick(int(r0)), r1, r2, r3)
        chain.made += 1
        if kind != NO_MOVE:
            make_move(self.space, row, kind, *move)
            x = self.plain(row)
            worth = self.worth(x)
            chain.tried[kind] += 1
            if chain.sampled < SAMPLES:
                self.best = max(self.best, worth, key=self.key)
                self.sample(chain, worth)
            elif self.keeps(chain, number, worth, step, k):
                chain.gained[kind] += self.key(worth) > self.key(chain.worth)
                chain.kept += self.key(worth) < self.key(chain.worth)
                chain.x, chain.worth = x, worth
                if self.key(worth) > self.key(chain.cycle_best[1]):
                    chain.cycle_best, chain.improved = (x, worth), True
                    self.best = max(self.best, worth, key=self.key)
        infeasible = chain.worth[0] > 0
        chain.broken += 1 if infeasible else -1
        if abs(chain.broken) >= self.inertia:
            chain.penalty = min(max(chain.penalty - 1 if infeasible else chain.penalty + 1, 0), len(self.ladder) - 1)
            chain.broken = 0
        if chain.sampled == SAMPLES and chain.made >= chain.epoch:
            self.cool(chain, number)

    def sample(self, chain, worth):
        change = abs(float(chain.worth[1]) - float(worth[1]))
        if change > 0:
            below_it = [rung for rung, t in enumerate(self.ladder) if t <= change]
            chain.rungs.append(below_it[0] if below_it else len(self.ladder) - 1)
        chain.sampled += 1
        if chain.sampled == SAMPLES:
            chain.penalty = sum(chain.rungs) // max(1, len(chain.rungs))
            chain.begin(chain.penalty)

    def keeps(self, chain, number, worth, step, k):
        lost = float(chain.worth[1]) - float(worth[1])
        if worth[0] != chain.worth[0]:
            if not self.penalised[number]:
                return worth[0] < chain.worth[0]
            lost += self.ladder[chain.penalty] * (float(worth[0]) - float(chain.worth[0]))
        r0, r1, _, _ = draw(self.seed, CHANCE, step, number, k)
        return lost <= 0 or lost <= self.ladder[chain.rung] * exponential(r0, r1)

    def cool(self, chain, number):
        if chain.kept * 12 * 4 ** (number % 4) >= chain.made:
            chain.reheat = chain.rung
        chain.frozen = chain.frozen + 1 if chain.kept * 1000 < chain.made and not chain.improved else 0
        chain.rung = min(chain.rung + 1, len(self.ladder) - 1)
        chain.made = chain.kept = 0
        chain.improved = False
        chain.share_out()

    def reheat(self, chain, number, step):
        if self.key(chain.cycle_best[1]) > self.key(chain.best[1]):
            chain.best = chain.cycle_best
        chain.epoch *= 2
        r0, _, _, _ = draw(self.seed, STEP, step, number, 0)
        other = self.chains[below(r0, len(self.chains))]
        chain.x, chain.worth = other.best if self.key(other.best[1]) > self.key(chain.best[1]) else chain.best
        chain.begin(chain.reheat)
