"""Iterated local search as one would first write it: one chain after the other, plain numbers, whole evaluations."""

import numpy as np

from engines.naive_annealing import WHOLE
from systola.model.elementary_moves import NO_MOVE, kinds_of, make_move
from systola.model.encodings import sample
from systola.model.objective import fitness, violation
from systola.model.problem import record_of, space_of
from systola.model.rng import MUTATE, SEARCH, START, STEP, below, draw
from systola.operators.random_moves import draw_move

PROPOSALS = 128


class Chain:
    def __init__(self, found, kinds):
        self.now = self.home = self.best = found  # a solution and its worth
        self.idle, self.strength, self.failed = 0, 2, 0
        self.tried, self.gained = [0] * kinds, [0] * kinds
        self.share_out()

    def share_out(self):
        rates = [((g + 1) << 24) // (t + 16) + 1 for g, t in zip(self.gained, self.tried, strict=True)]
        least = WHOLE // 20
        free = (WHOLE - len(rates) * least) // sum(rates)
        self.shares = [least + free * rate for rate in rates]
        self.tried, self.gained = [t // 2 for t in self.tried], [g // 2 for g in self.gained]

    def pick(self, number):
        upper = np.cumsum(self.shares[:-1])
        return int((number >= upper).sum())


class IteratedSearch:
    """Solutions are tuples of plain decisions, and worth (-violation, fitness): larger is better."""

    def __init__(self, problem, chains, patience, seed):
        self.problem, self.patience, self.seed = problem, patience, seed
        self.record, self.space = record_of(problem), space_of(problem)
        self.kinds, self.strongest = kinds_of(self.space), max(2, self.space.n // 2)
        rows = problem.encoding.empty(self.space, chains)
        for row in range(chains):
            sample(self.space, rows, row, np.uint64(seed), START, 0, row)
        self.chains = [Chain(self.found(row), self.kinds) for row in rows]
        self.restarts = self.perturbations = 0

    def found(self, row):
        x = tuple(int(v) for v in self.problem.encoding.load(self.space, row[None])[0])
        value = self.problem.evaluate(np.array(x))
        measures = np.array(value if isinstance(value, tuple) else [value])
        return x, (-violation(self.record, measures), fitness(self.record, measures))

    def step(self, step):
        for number, chain in enumerate(self.chains):
            for k in range(PROPOSALS):
                if chain.strength > self.strongest:
                    break
                if chain.idle >= self.patience:
                    self.perturb(chain, number, step, k)
                else:
                    self.propose(chain, number, step, k)
        for number, chain in enumerate(self.chains):
            if chain.strength > self.strongest:
                other = self.chains[below(draw(self.seed, STEP, step, number, 0)[0], len(self.chains))]
                chain.now = chain.home = other.best
                chain.idle, chain.strength, chain.failed = 0, 2, 0
                self.restarts += 1

    def move(self, row, kind, numbers):
        kind, *move = draw_move(self.space, row, kind, *numbers)
        make_move(self.space, row, kind, *move)
        return kind

    def propose(self, chain, number, step, k):
        r0, *numbers = draw(self.seed, SEARCH, step, number, k)
        row = self.problem.encoding.store(self.space, [chain.now[0]])[0]
        kind = self.move(row, chain.pick(int(r0)), numbers)
        chain.idle += 1
        if kind == NO_MOVE:
            return
        new = self.found(row)
        chain.tried[kind] += 1
        if new[1] > chain.now[1]:
            chain.gained[kind] += 1
            chain.idle = 0
        if new[1] >= chain.now[1]:
            self.go_to(chain, new)

    def go_to(self, chain, new):
        chain.now = new
        if new[1] > chain.best[1]:
            chain.best = new

    def perturb(self, chain, number, step, k):
        self.perturbations += 1
        if chain.now[1] > chain.home[1]:
            chain.strength, chain.failed = 2, 0
        else:
            chain.failed += 1
            if chain.failed == 8:
                chain.strength, chain.failed = 2 * chain.strength, 0
        chain.idle = 0
        chain.share_out()
        if chain.now[1] >= chain.home[1]:
            chain.home = chain.now
        row = self.problem.encoding.store(self.space, [chain.home[0]])[0]
        for move in range(min(chain.strength, self.strongest)):
            r0, *numbers = draw(self.seed, MUTATE, step, number, k * 2**20 + move)
            self.move(row, below(r0, self.kinds), numbers)
        self.go_to(chain, self.found(row))
