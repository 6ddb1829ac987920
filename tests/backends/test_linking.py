"""Kernels that call a user's functions by address find what kernels compiled for the problem alone find."""

import os

import numpy as np
import pytest

import systola as sy
from own_problems import FirstBit, RoundTrip
from systola import assembly
from systola.jit.compile import kernel
from systola.jit.located import Located, put_record, record_at, size_of
from systola.jit.records import record_type

RNG = np.random.default_rng(5)


class Covering(sy.Problem):
    """Bits, a constraint, two measures."""

    encoding = sy.Binary("costs")
    sense = sy.MINIMISE
    costs: np.ndarray
    covers: np.ndarray

    def evaluate(self, x):
        covered = np.zeros(self.covers.shape[0], np.int64)  # which is allocated in compiled code, each time
        for j in range(len(self.costs)):
            if x[j]:
                covered += self.covers[:, j]
        return (self.costs * x).sum(), (covered == 0).sum()

    def violation(self, measures):
        return measures[1]


class Weighted(sy.Problem):
    """Integers, three measures of which two are objectives, a real fitness and a constraint that is true or false."""

    encoding = sy.Integers("n", -2, 3)
    sense = sy.MAXIMISE, sy.MINIMISE
    n: int
    weight: float
    label: str = "of no use to kernels"

    def evaluate(self, x):
        return x.sum(), 0.5 * (x * x).sum(), x[0]

    def fitness(self, measures):
        return self.weight * measures[0] - measures[1]

    def violation(self, measures):
        return measures[2] == 0


class Whole(sy.Problem):
    """A fitness that is a whole number."""

    encoding = sy.Permutation("order")
    order: np.ndarray
    least: np.int32

    def evaluate(self, x):
        return np.abs(self.order - x).sum()

    def fitness(self, measures):
        return max(measures[0] // 2, self.least)


CASES = {
    "bits": (lambda: Covering(RNG.integers(1, 9, 40), RNG.random((25, 40)) < 0.1), sy.SGS("B")),
    "integers": (lambda: Weighted(30, 1.25), sy.SteadyState(size=20)),
    "order": (lambda: Whole(np.arange(30)[::-1].copy(), 3), sy.Cellular(size=16)),
    "walk": (lambda: RoundTrip(RNG.integers(1, 99, (30, 30))), sy.Tabu()),
    "race": (lambda: RoundTrip(RNG.integers(1, 99, (30, 30))), None),
    "islands": (lambda: Weighted(30, 1.25), sy.Islands(sy.SteadyState(size=20), 3, synchronous=True)),
}


def numbers(result):
    return result.objective, result.feasible, result.found_at, result.solution.tolist(), result.evaluations


@pytest.fixture
def linked(monkeypatch):
    """The links of runs, one after the other."""
    found, usual = [], assembly.link

    def link(*args):
        found.append(usual(*args))
        return found[-1]

    monkeypatch.setattr(assembly, "link", link)
    return found


@pytest.mark.parametrize("name", CASES)
def test_the_same_run(name, linked):
    make, engine = CASES[name]
    problem, stop = make(), sy.Evaluations(3000)
    by_address = sy.solve(problem, engine, stop=stop, seed=3, threads=2)
    assert linked[0] is not None
    interpreted = sy.solve(problem, engine, stop=stop, seed=3, backend="python")
    assert numbers(by_address) == numbers(interpreted)


def test_kernels_for_one_problem_serve_the_next():
    new = int.from_bytes(os.urandom(4), "little")  # so that no other run of this test has compiled it

    class Other(sy.Problem):
        encoding = sy.Permutation("n")
        sense = sy.MINIMISE
        n: int

        def evaluate(self, x):
            return abs(x[0] - 2) + x[1] + new

    sy.warm(RoundTrip(RNG.integers(1, 99, (30, 30))), sy.SimulatedAnnealing())
    assert sy.warm(Other(9), sy.SimulatedAnnealing()).kernels == 3  # `evaluate` for the host and by address; the data
    assert sy.solve(Other(9), sy.SimulatedAnnealing(), stop=sy.Evaluations(5000)).objective == new


def test_what_evaluate_raises_is_told():
    class Raises(sy.Problem):
        encoding = sy.Binary("n")
        n: int

        def evaluate(self, x):
            if x[:3].sum() == 3:
                raise ValueError("three ones")
            return x.sum()

    with pytest.raises(sy.ObjectiveError, match="raised ValueError: three ones"):
        sy.solve(Raises(20), sy.SimulatedAnnealing(), stop=sy.Evaluations(5000))


def test_what_fitness_raises_is_told():
    class Raises(FirstBit):
        def fitness(self, measures):
            if measures[0] == 1:
                raise ValueError("a one")
            return measures[0]

    with pytest.raises(sy.ObjectiveError, match="ValueError"):
        sy.solve(Raises(20), sy.SimulatedAnnealing(), stop=sy.Evaluations(5000))


def test_a_users_operator_reads_the_problem(linked):
    def mutation(problem, space, x, row, seed, step, cell, probability):
        x[row, 0] = np.uint64(problem.n)

    sy.solve(FirstBit(9), sy.Cellular(size=16), stop=sy.Iterations(3))
    sy.solve(FirstBit(9), sy.Cellular(size=16, crossover="one-point"), stop=sy.Iterations(3))
    assert None not in linked
    with pytest.raises(sy.SystolaError):
        sy.solve(FirstBit(9), sy.Cellular(size=16, mutation=mutation), stop=sy.Iterations(3))
    assert linked[-1] is None


def test_problems_of_ours_have_kernels_of_their_own(linked):
    sy.solve(sy.MMDP(60), sy.SGA(size=16), stop=sy.Iterations(3))
    assert linked == [None]


def test_the_answer_outlives_the_problem():
    def solved():
        return sy.solve(RoundTrip(np.full((300, 300), 7)), sy.SimulatedAnnealing(), stop=sy.Iterations(50), threads=2)

    assert [solved().objective for _ in range(5)] == [2100] * 5


def _lay_down(record, address):
    if address:
        put_record(record, address)
    return size_of(record)


def _read(where):
    record = record_at(where)
    return record.flag, record.ratio, record.count, record.inner.rows[2, 1], record.columns[1, 2], record.inner.k


def test_a_record_read_where_it_lies():
    inner = record_type("LocatedInner", ["rows", "k"])
    outer = record_type("LocatedOuter", ["flag", "ratio", "inner", "columns", "count"])
    rows = np.arange(12, dtype=np.int32).reshape(4, 3)
    record = outer(True, 0.25, inner(rows, 3), np.asfortranarray(rows.astype(float)), 2**40)
    put, read = kernel(_lay_down), kernel(_read)
    room = np.zeros(put(record, 0) // 8 + 1, np.int64)
    put(record, room.ctypes.data)
    assert read(Located(record, room.ctypes.data)) == (True, 0.25, 2**40, 7, 5.0, 3)
