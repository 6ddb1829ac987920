"""A stop at once: whatever an engine is about, it measures hardly another solution, however long one takes."""

import numpy as np
import pytest

import systola as sy
from systola.backends import cpu
from systola.backends.session import Setup, allocate
from systola.engines.catalog import engine_names, make_engine
from systola.model.problem import bind

MOST = 1  # solutions that may still be measured: the second child of a cell


class Bell:
    """Counts evaluations, and asks a session to stop at one of them."""

    def __init__(self):
        self.count, self.at, self.session = 0, None, None

    def ring(self):
        self.count += 1
        if self.count == self.at:
            self.session.ask_to_stop(at_once=True)


BELL = Bell()


class Bits(sy.Problem):
    encoding = sy.Binary("n")
    n: int

    def evaluate(self, x):
        BELL.ring()
        return float(np.sum(x * np.arange(1, self.n + 1)) % 17)


class Order(Bits):
    encoding = sy.Permutation("n")

    def evaluate(self, x):
        BELL.ring()
        return float(np.sum(x * np.arange(1, self.n + 1)) % 17)


class Digits(Bits):
    encoding = sy.Integers("n", 0, 5)

    def evaluate(self, x):
        BELL.ring()
        return float(np.sum(x * np.arange(1, self.n + 1)) % 17)


def pairs():
    for kind in (Bits, Order, Digits):
        problem = kind(14)
        for name in engine_names():
            try:
                engine = make_engine(name, problem)
                engine.prepare(problem)
            except sy.InputError:
                continue
            yield pytest.param(problem, engine, id=f"{kind.__name__}-{name}")


@pytest.mark.parametrize(("problem", "engine"), list(pairs()))
@pytest.mark.parametrize("chunk", [1, 64])
def test_hardly_a_solution_is_measured_after_a_stop(problem, engine, chunk, monkeypatch):
    """Interpreted with the blocks of compiled kernels, too."""
    monkeypatch.setattr(cpu, "allocate", lambda setup, lanes, _: allocate(setup, lanes, chunk))
    bind(type(problem))
    setup = Setup(problem, engine.prepare(problem), 1, np.float64, 5)
    for later in (1, 6, 40):
        session = BELL.session = cpu.CpuSession(setup, 1, compiled=False)
        BELL.at = None
        session.start(0, session.lanes)
        BELL.count, BELL.at = 0, later
        session.sweep(1, 60, 0, session.lanes)
        assert BELL.at <= BELL.count <= BELL.at + MOST
