"""Iterated tabu search as one would first write it: every neighbour is measured from scratch before every move."""

import numpy as np

from systola.model.encodings import Bits, sample
from systola.model.problem import senses_of, space_of
from systola.model.rng import CROSS, MUTATE, SEARCH, START, below, draw


class TabuTwin:
    """Solutions are tuples; a chain's best is (solution, fitness)."""

    def __init__(self, problem, chains, moves, tenure, tenure_range, seed):
        self.problem, self.seed, self.moves = problem, seed, moves
        self.tenure, self.choices = tenure, tenure_range + 1
        space = self.space = space_of(problem)
        self.n, binary = space.n, isinstance(space, Bits)
        bounds = [(0, 1)] * self.n if binary else list(zip(space.low.tolist(), space.high.tolist(), strict=True))
        self.values = [list(range(low, high + 1)) for low, high in bounds]
        self.width = 1 if binary else max(map(len, self.values))
        rows = problem.encoding.empty(space, chains)
        for row in range(chains):
            sample(space, rows, row, np.uint64(seed), START, 0, row)
        starts = [tuple(x) for x in problem.encoding.load(space, rows).tolist()]
        self.best = [(x, self.fitness(x)) for x in starts]
        self.found = list(self.best)  # by the latest step
        self.aspired = self.crossed = self.stuck = 0

    def fitness(self, x):
        return senses_of(self.problem)[0] * self.problem.evaluate(np.array(x))

    def number(self, i, value):
        """Of a move in the order in which moves are tried."""
        return i if self.width == 1 else i * self.width + self.values[i].index(value)

    def neighbours(self, x):
        return [(i, v, (*x[:i], v, *x[i + 1 :])) for i in range(self.n) for v in self.values[i] if v != x[i]]

    def step(self, step):
        self.found = [self.search(self.begin(chain, step), chain, step) for chain in range(len(self.best))]
        self.best = [max(pair, key=lambda known: known[1]) for pair in zip(self.best, self.found, strict=True)]

    def begin(self, chain, step):
        x = list(self.best[chain][0])
        if step == 1:
            return tuple(x)
        r0, r1, r2, _ = draw(self.seed, MUTATE, step, chain, 0)
        mate = self.best[below(r1, len(self.best))][0]
        differing = sum(a != b for a, b in zip(x, mate, strict=True))
        if int(r0) % 2 == 1 and differing > 0 and 8 * differing >= min(self.n, 80):
            self.crossed += 1
            coins = [int(draw(self.seed, CROSS, step, chain, i)[0]) % 2 for i in range(self.n)]
            return tuple(b if coin else a for a, b, coin in zip(x, mate, coins, strict=True))
        most = max(1, self.n // 3)
        sizes = [4] + [size for size in (8 * 2**k for k in range(40)) if size <= most]
        for k in range(min(most, sizes[below(r2, len(sizes))])):
            r0, r1, _, _ = draw(self.seed, MUTATE, step, chain, 1 + k)
            i = below(r0, self.n)
            others = [v for v in self.values[i] if v != x[i]]
            if others:
                x[i] = others[below(r1, len(others))]
        return tuple(x)

    def search(self, x, chain, step):
        """The best solution of a step; of equals the first."""
        best = x, self.fitness(x)
        last_tabu = {}  # the last move at which a decision must not get a value back
        for t in range(self.moves):
            r0, r1, _, _ = draw(self.seed, SEARCH, step, chain, t)
            start = below(r0, self.n * self.width)
            ranked = []
            for i, v, y in self.neighbours(x):
                gained = self.fitness(y)
                is_tabu = last_tabu.get((i, v), -1) >= t
                if not is_tabu or gained > best[1]:
                    ranked.append((-gained, (self.number(i, v) - start) % (self.n * self.width), i, is_tabu, y))
            if not ranked:
                self.stuck += 1
                continue
            lost, _, i, is_tabu, y = min(ranked)
            self.aspired += is_tabu
            last_tabu[i, x[i]] = t + self.tenure + below(r1, self.choices)
            last_tabu.pop((i, y[i]), None)
            x = y
            if -lost > best[1]:
                best = x, -lost
        return best
