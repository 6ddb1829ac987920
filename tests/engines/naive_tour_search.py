"""Tour search as one would first write it: tours are lists, and lengths are summed from scratch."""

import numpy as np

from systola.model.encodings import sample
from systola.model.problem import space_of
from systola.model.rng import CHANCE, SEARCH, START, STEP, below, draw, exponential
from systola.model.structure.declare import parts_of

WARMTH = (0.0, 0.01, 0.03, 0.1)


def reverse_places(x, first, length):
    """Reverse what is in `length` places from `first` on, around the end."""
    places = [(first + k) % len(x) for k in range(length)]
    for p, city in zip(places, [x[p] for p in reversed(places)], strict=True):
        x[p] = city


def reverse_path(x, one, other):
    """Reverse the path from one city forwards to another, or the rest if that is shorter."""
    n, first = len(x), x.index(one)
    length = (x.index(other) - first) % n + 1
    if 2 * length > n:
        reverse_places(x, (first + length) % n, n - length)
    else:
        reverse_places(x, first, length)


def exchange_segments(x, one, two, rest):
    """Exchange the segments that begin with two cities; of them and the rest of the tour the longest stays. How many
    cities each of the two has that move."""
    n, begins = len(x), [x.index(city) for city in (rest, one, two)]
    lengths = [(begins[(k + 1) % 3] - begins[k]) % n for k in range(3)]
    stays = lengths.index(max(lengths))
    first, p, q = begins[(stays + 1) % 3], lengths[(stays + 1) % 3], lengths[(stays + 2) % 3]
    places = [(first + k) % n for k in range(p + q)]
    cities = [x[place] for place in places]
    for place, city in zip(places, cities[p:] + cities[:p], strict=True):
        x[place] = city
    return p, q


class Chain:
    def __init__(self, tour, length):
        self.tour, self.length = tour, length
        self.best, self.best_length = list(tour), length
        self.idle = 0


class TourTwin:
    """`kicks`, `patience` and `log` are constants of the engine."""

    def __init__(self, problem, chains, candidates, longest, seed, kicks, patience, log):
        self.problem, self.seed, self.longest = problem, seed, longest
        self.kicks, self.patience, self.log = kicks, patience, log
        (self.part,) = parts_of(problem)
        self.n = n = space_of(problem).n
        self.symmetric = self.part.symmetric
        others = [[j for j in range(n) if j != i] for i in range(n)]
        self.after_lists = [sorted(o, key=lambda j: (self.link(i, j), j))[:candidates] for i, o in enumerate(others)]
        self.before_lists = [sorted(o, key=lambda j: (self.link(j, i), j))[:candidates] for i, o in enumerate(others)]
        rows = problem.encoding.empty(space_of(problem), chains)
        for row in range(chains):
            sample(space_of(problem), rows, row, np.uint64(seed), START, 0, row)
        self.chains = [Chain(row.tolist(), self.length(row.tolist())) for row in rows]
        self.full = self.restarts = self.worse = (
            0  # how often a log was full, a chain went elsewhere, kept a worse tour
        )

    def link(self, a, b):
        return self.part.link(self.problem, a, b)

    def length(self, x):
        return sum(self.link(x[p - 1], x[p]) for p in range(self.n))

    def step(self, step):
        for number, chain in enumerate(self.chains):
            self.queue = []
            if step == 1:
                self.logged, self.logs = 1, False
                for city in list(chain.tour):
                    self.wait(city)
                self.descend(chain.tour)
                self.settle(chain)
            self.logs = True
            for k in range(self.kicks):
                before, self.logged = list(chain.tour), 1
                self.kick(chain.tour, number, step, k)
                self.descend(chain.tour)
                gained = self.length(before) - self.length(chain.tour)
                if gained < 0 and not self.is_kept(chain, number, step, k, -gained):
                    chain.tour[:] = before
                else:
                    self.worse += gained < 0
                    self.settle(chain)
        for number, chain in enumerate(self.chains):
            chain.idle += 1
            if chain.idle > self.patience:
                self.restarts += 1
                other = self.chains[below(draw(self.seed, STEP, step, number, 0)[0], len(self.chains))]
                if other.best_length < chain.best_length:
                    chain.best, chain.best_length = list(other.best), other.best_length
                chain.tour, chain.length, chain.idle = list(chain.best), chain.best_length, 0

    def settle(self, chain):
        chain.length = self.length(chain.tour)
        if chain.length < chain.best_length:
            chain.best, chain.best_length, chain.idle = list(chain.tour), chain.length, 0

    def is_kept(self, chain, number, step, k, lost):
        r0, r1, _, _ = draw(self.seed, CHANCE, step, number, k)
        return lost <= WARMTH[number % len(WARMTH)] * (float(chain.length) / self.n) * exponential(r0, r1)

    def kick(self, x, number, step, k):
        n, reach = self.n, min(50, self.n // 4)
        r0, r1, r2, _ = draw(self.seed, SEARCH, step, number, k)
        first, one, two = below(r0, n), 1 + below(r1, reach), 1 + below(r2, reach)
        begins = [first, first + one, first + one + two]
        touched = [x[(p + back) % n] for p in begins for back in (-1, 0)]
        self.exchange(x, *touched[1::2])
        for city in touched:
            self.wait(city)

    def wait(self, city):
        if city not in self.queue:
            self.queue.append(city)

    def exchange(self, x, one, two, rest):
        p, q = exchange_segments(x, one, two, rest)
        self.logged += 2 * sum(length > 1 for length in (p, q, p + q)) if self.logs else 0

    def reverse(self, x, one, other):
        length = (x.index(other) - x.index(one)) % self.n + 1
        self.logged += 2 * (min(length, self.n - length) > 1) if self.logs else 0
        reverse_path(x, one, other)

    def descend(self, x):
        while self.queue:
            city = self.queue.pop(0)
            touched = (self.symmetric and self.reversals(x, city)) or self.segments(x, city)
            if touched:
                for other in (*touched, city):
                    self.wait(other)
                if self.logged + 8 > self.log:
                    self.full += 1
                    self.queue.clear()

    def after(self, x, city, steps=1):
        return x[(x.index(city) + steps) % self.n]

    def improves(self, x, new):
        """Whether a new tour is shorter: then it is the tour."""
        if self.length(new) < self.length(x):
            x[:] = new
            return True
        return False

    def reversals(self, x, city):
        """The cities that a 2-opt move has touched, if there is one."""
        for way in (1, -1):
            other = self.after(x, city, way)
            for third in self.after_lists[city]:
                if self.link(city, third) >= self.link(city, other):
                    break
                fourth, new, logged = self.after(x, third, way), list(x), self.logged
                self.reverse(new, *((other, third) if way == 1 else (city, fourth)))
                if self.improves(x, new):
                    return city, other, third, fourth
                self.logged = logged
        return ()

    def segments(self, x, city):
        """The cities that an or-opt move has touched, if there is one."""
        for begins in (False, True):
            for length in range(1, self.longest + 1):
                far = self.after(x, city, (1 if begins else -1) * (length - 1))
                first, last = (city, far) if begins else (far, city)
                left, right = self.after(x, first, -1), self.after(x, last)
                inside = [self.after(x, first, k) for k in range(length)]
                loose = self.link(left, first) + self.link(last, right) - self.link(left, right)
                lists = self.before_lists if begins and not self.symmetric else self.after_lists
                for third in lists[city]:
                    if (self.link(third, city) if begins else self.link(city, third)) >= loose:
                        break
                    if third in inside:
                        continue
                    for turned in (False, True) if self.symmetric else (False,):
                        # The segment comes after `third` if it begins with the city then, else before it.
                        comes_after = begins != turned
                        fourth = self.after(x, third, 1 if comes_after else -1)
                        if third == (left if comes_after else right):
                            continue
                        new, logged = list(x), self.logged
                        self.exchange(new, first, right, fourth if comes_after else third)
                        if turned:
                            self.reverse(new, first, last)
                        if self.improves(x, new):
                            return left, right, third, fourth, first, last
                        self.logged = logged
        return ()
