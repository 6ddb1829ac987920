"""A search in plain Python that is no engine: all solutions of a small knapsack, one after the other."""

import itertools

import numpy as np

from systola.errors import InputError
from systola.extend import Found, Search


class Enumerator(Search):
    """Subsets in the order of their numbers; a step looks at `per_step` of them. It ends with a proof."""

    def __init__(self, problem, per_step=3, pause=None):
        self.problem, self.per_step = problem, per_step
        self.step = self.evaluations = 0
        self.calls = []  # what was asked for
        self._pause = pause or (lambda: None)
        self._number = 0
        self._asked = False

    def start(self, solutions=()):
        for x in [np.zeros(len(self.problem.profits), int), *map(np.asarray, solutions)]:
            self._look(x, 0)

    def advance(self, steps, seconds=float("inf")):
        self.calls.append((steps, seconds))
        made = 0
        while made < steps and not self._asked and not self.finished:
            self._pause()
            self.step += 1
            made += 1
            for _ in range(self.per_step):
                if not self.finished:
                    self._look(self._numbered(self._number), self.step)
                    self._number += 1
                    self.finished = self._number == 2 ** len(self.problem.profits)
            if seconds < float("inf"):
                break
        return made

    def _numbered(self, number):
        return np.array([number >> k & 1 for k in range(len(self.problem.profits))])

    def _look(self, x, step):
        self.evaluations += 1
        profit, weight = int(self.problem.profits @ x), int(self.problem.weights @ x)
        if weight <= self.problem.capacity and (step == 0 or profit > self._best.measures[0]):
            self._best = Found(np.array([profit, weight]), x, step)

    def best(self):
        return self._best

    def inject(self, solutions):
        for x in solutions:
            self._look(np.asarray(x), self.step)

    def save(self):
        state = {"step": self.step, "number": self._number, "evaluations": self.evaluations, "found": self._best.step}
        return state, {"best": self._best.decisions}

    def restore(self, state, arrays):
        if len(arrays["best"]) != len(self.problem.profits):
            raise InputError("the checkpoint is of another knapsack")
        self.step, self.evaluations, self._number = state["step"], state["evaluations"], state["number"]
        x = arrays["best"]
        self._best = Found(np.array([self.problem.profits @ x, self.problem.weights @ x]), x, state["found"])

    def stop(self, at_once=False):
        self._asked = True


def best_profit(problem):
    """By looking at all subsets."""
    n = len(problem.profits)
    return max(
        int(problem.profits @ x)
        for x in map(np.array, itertools.product((0, 1), repeat=n))
        if problem.weights @ x <= problem.capacity
    )
