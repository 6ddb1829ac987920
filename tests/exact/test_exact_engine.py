"""The exact engine and the proof beside an engine, as users reach them; HiGHS runs in its own process."""

from itertools import product

import numpy as np
import pytest

import systola as sy
from systola.backends.platform import Platform
from systola.engines.catalog import make_engine
from systola.exact import solver_process
from systola.exact.opening import with_proof
from systola.exact.program_search import ProgramSearch
from systola.exact.solver_process import has_highspy
from systola.formats import open_instance
from systola.model.integer_program import IntegerProgram, program_of
from systola.model.problem import bind, senses_of, space_of

needs_highspy = pytest.mark.skipif(not has_highspy(), reason='the extra "exact" is not installed')


class Cover(sy.Problem):
    """Own and declared: sets of least cost that cover all."""

    encoding = sy.Binary("costs")
    sense = sy.MINIMISE
    structure = (
        sy.Linear("costs"),
        sy.Linear("sets", ">=", 1),
        sy.Linear(lambda p: np.ones((1, len(p.costs))), "<=", 5),
    )
    costs: np.ndarray
    sets: np.ndarray


def cover():
    draws = np.random.default_rng(5)
    return Cover(draws.integers(1, 30, 12), (draws.random((7, 12)) < 0.35).astype(int) | np.eye(7, 12, dtype=int))


def customers():
    requests = [[0, 1], [1], [2, 3], [4], [0, 4, 5], [5]]
    return sy.CustomerRelease.from_requests([9, 4, 7, 5, 12, 6], [3, 2, 4, 3, 2, 5], requests, [(0, 3)], 11)


def profits():
    problem = open_instance("gap:c-3x7@5").problem
    return sy.GeneralizedAssignment(problem.costs, problem.loads, 2 * problem.capacities, maximise=True)


PROBLEMS = {
    "knapsack": lambda: open_instance("knapsack:pisinger-5-12-100@40").problem,
    "mkp": lambda: open_instance("mkp:12x3@4").problem,
    "gap": lambda: open_instance("gap:d-3x7@2").problem,
    "profit": profits,
    "customers": customers,
    "cover": cover,
}


def optimum(problem):
    space, best = space_of(problem), None
    values = (0, 1) if isinstance(problem.encoding, sy.Binary) else range(len(problem.capacities))
    sign = senses_of(problem)[0]
    for decisions in product(values, repeat=space.n):
        objective, *rest = np.atleast_1d(problem.evaluate(np.array(decisions))).tolist()
        broken = problem.violation((objective, *rest))
        if broken == 0 and (best is None or sign * objective > sign * best):
            best = objective
    return best


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_answer_is_the_best_of_all_and_says_so(name):
    problem = PROBLEMS[name]()
    bind(type(problem))
    result = sy.solve(problem, sy.Exact(), stop=sy.Seconds(60))
    assert result.proven
    assert (result.gap, result.stop, result.feasible) == (0, "finished", True)
    assert result.objective == result.bound == optimum(problem)
    assert "proven best" in result.summary()
    assert "proven best" in repr(result)
    assert sy.Result.from_json(result.to_json()).proven


@pytest.mark.parametrize("name", ["mkp", "gap", "customers", "cover"])
def test_columns_and_decisions_are_the_same_solution(name):
    problem = PROBLEMS[name]()
    program, draws = program_of(problem), np.random.default_rng(1)
    rows, columns, values = program.entries
    for _ in range(30):
        space = space_of(problem)
        most = 2 if isinstance(problem.encoding, sy.Binary) else len(problem.capacities)
        decisions = draws.integers(0, most, space.n)
        chosen = program.encode(decisions)
        assert program.decode(chosen).tolist() == decisions.tolist()
        measures = np.atleast_1d(problem.evaluate(decisions))
        assert program.costs @ chosen == measures[0]
        left = np.bincount(rows, values * chosen[columns], len(program.least))
        holds = bool(((left >= program.least) & (left <= program.largest)).all())
        assert holds == (problem.violation(measures) == 0)


def test_scipy_serves_where_the_extra_is_missing(monkeypatch):
    """In this process, over a pipe of our own."""
    from multiprocessing import Pipe

    problem = PROBLEMS["mkp"]()
    program = program_of(problem)
    task = solver_process.Task(-program.costs, program.entries, program.least, program.largest, 0)
    monkeypatch.setattr(solver_process, "has_highspy", lambda: False)
    ours, theirs = Pipe()
    ours.send((None, 10.0))
    solver_process.serve(theirs, task, 1)
    assert ours.recv() == ("ready",)
    kind, columns = ours.recv()
    assert (kind, int(program.costs @ columns)) == (solver_process.FOUND, optimum(problem))
    assert ours.recv() == (solver_process.DONE, pytest.approx(-optimum(problem)), False)


def test_a_budget_in_seconds_is_kept():
    problem = open_instance("gap:d-10x100").problem
    result = sy.solve(problem, "exact", stop=sy.Seconds(1))
    assert result.seconds < 1.2
    assert result.stop == "seconds"
    assert not result.proven
    if result.feasible:
        assert result.bound < result.objective
        assert result.gap == pytest.approx((result.objective - result.bound) / result.bound)


def test_it_begins_with_what_it_is_given():
    problem = PROBLEMS["mkp"]()
    best = sy.solve(problem, "exact", stop=sy.Seconds(60)).solution
    given = sy.solve(problem, "exact", stop=sy.Iterations(0), start=[np.zeros(12, int), best])
    assert given.objective == optimum(problem)
    assert (given.stop, given.proven) == ("iterations", False)


def test_what_cannot_be_is_said():
    problem = Cover(np.ones(6, int), np.eye(6, dtype=int))  # six are needed, five allowed
    with pytest.warns(sy.InfeasibleWarning):
        result = sy.solve(problem, "exact", stop=sy.Seconds(60))
    assert not result.proven
    assert result.gap is None
    assert "there is no feasible solution: HiGHS has proven it" in result.notes


@needs_highspy
def test_a_checkpoint_holds_the_best_solution(tmp_path):
    problem, kept = open_instance("gap:d-10x60").problem, tmp_path / "state"
    first = sy.solve(problem, "exact", stop=sy.Seconds(2), checkpoint=kept)
    again = sy.solve(problem, "exact", stop=sy.Seconds(2.5), resume=kept)
    assert again.objective <= first.objective


def test_a_callback_ends_it():
    problem = open_instance("gap:d-10x100").problem
    result = sy.solve(problem, "exact", stop=sy.Seconds(60), callback=lambda progress: progress.stage == "running")
    assert result.stop == "callback"
    assert result.seconds < 20


def test_bounds_are_rounded_with_care():
    problem = PROBLEMS["mkp"]()
    search = ProgramSearch(problem, lambda x: np.array(problem.evaluate(x), np.int64))
    search._note(np.zeros(12, np.uint8))
    for value, limit in ((-100.6, 100), (-99.9999999, 100), (-99.5, 99), (-99.0000000001, 99)):
        search._limit = None
        search._take_bound(value)
        assert search.bound() == limit
        assert not search.is_proven()
    search._take_bound(float("-inf"))
    assert search.bound() == 99


@pytest.mark.parametrize(
    ("costs", "values", "sentence"),
    [
        ([2**53], [1], "needs numbers below 2\\*\\*53, but the sum of all costs is 9007199254740992"),
        ([1], [-(2**53)], "needs numbers below 2\\*\\*53, but a coefficient is 9007199254740992"),
    ],
)
def test_numbers_that_floats_skip_are_refused(costs, values, sentence):
    entry = np.zeros(1, np.int64)
    with pytest.raises(sy.InputError, match=sentence):
        IntegerProgram(np.array(costs), True, (entry, entry, np.array(values)), entry, entry)


class Fractions(Cover):
    """Not whole."""


def test_what_is_not_linear_or_not_whole_is_refused():
    with pytest.raises(sy.InputError, match=r"the exact method is for linear problems, .* but MMDP is none"):
        sy.solve(sy.MMDP(12), "exact")
    with pytest.raises(sy.InputError, match="the coefficients of Fractions are fractions; scale them"):
        sy.solve(Fractions(np.array([0.5, 1.0]), np.eye(2)), "exact")
    with pytest.raises(sy.InputError, match="the exact method runs on the CPU, but the backend is cuda"):
        sy.solve(PROBLEMS["mkp"](), "exact", backend="cuda")
    with pytest.raises(sy.InputError, match="`memory` must be a whole number"):
        sy.Exact(memory=0)
    with pytest.raises(sy.InputError, match="exact does not support migration"):
        sy.solve(PROBLEMS["mkp"](), sy.Islands(sy.Exact(), 2), stop=sy.Iterations(2))
    with pytest.raises(sy.InputError, match="the objective is a black box, but the exact method is for linear ones"):
        sy.ask_and_tell(PROBLEMS["mkp"](), "exact")
    with pytest.raises(sy.InputError, match="a proof is beside an engine that searches"):
        sy.Proof(sy.Exact())
    with pytest.raises(sy.InputError, match=r"a proof beside an engine is for linear problems, .* but MMDP is none"):
        sy.Proof(sy.RS()).prepare(sy.MMDP(12))


def test_auto_is_exact_where_that_is_better():
    here = Platform("cpu", 2)

    def chosen(spec, stop, where=here):
        problem = open_instance(spec).problem
        return with_proof(problem, make_engine("auto", problem), stop, where)

    assert chosen("knapsack:100-1000", sy.Stop()) == chosen("nrp:10-20", sy.Seconds(1)) == sy.Exact()
    assert chosen("knapsack:100-1000", sy.Iterations(5)) == sy.SGS("B")
    assert chosen("knapsack:100-1000", sy.Seconds(5), Platform("python", 2)) == sy.SGS("B")
    plain = make_engine("auto", open_instance("mkp:20x3").problem)
    assert chosen("mkp:20x3", sy.Seconds(1)) == sy.Proof(plain)
    for stop, where in (
        (sy.Stop(), here),
        (sy.Seconds(1), Platform("cpu", 1)),
        (sy.Seconds(1) | sy.Evaluations(9), here),
    ):
        assert chosen("mkp:20x3", stop, where) == plain
    assert chosen("qap:grid-3x3", sy.Seconds(1)) == make_engine("auto", open_instance("qap:grid-3x3").problem)


@pytest.mark.long
def test_a_proof_ends_the_run_of_an_engine(tmp_path):
    problem = PROBLEMS["mkp"]()
    engine = sy.Proof(sy.SGS("B", length=8, width=8))
    result = sy.solve(problem, engine, stop=sy.Seconds(60), checkpoint=tmp_path / "state", threads=1)
    assert (result.proven, result.stop) == (True, "finished")
    assert result.objective == optimum(problem)
    assert [row["algorithm"] for row in result.race] == ["sgs-b", "exact"]
    assert result.race[1]["verdict"] == "proved it best"
    again = sy.solve(problem, engine, stop=sy.Seconds(60), resume=tmp_path / "state", threads=1)
    assert again.proven
    assert again.objective == result.objective


@needs_highspy
@pytest.mark.parametrize(("spec", "seconds", "ended"), [("gap:d-20x200@1", 5.0, True), ("gap:c-5x40@1", 20.0, False)])
def test_an_exact_method_that_gets_nowhere_leaves_its_core_to_the_engine(spec, seconds, ended):
    problem = open_instance(spec).problem
    result = sy.solve(problem, "proof", stop=sy.Seconds(seconds), threads=2, seed=1)
    assert result.feasible
    assert result.race[1]["verdict"].endswith(", ended early") == ended
    assert result.proven != ended
    if ended:
        assert seconds <= result.seconds < seconds + 0.5


def test_one_that_tells_nothing_before_its_end_is_not_ended_early(monkeypatch):
    monkeypatch.setattr("systola.exact.program_search.has_highspy", lambda: False)
    monkeypatch.setattr("systola.exact.proof_search._LEAST_TRIAL", 0.0)
    result = sy.solve(open_instance("gap:d-20x200@1").problem, "proof", stop=sy.Seconds(1.0), threads=2, seed=1)
    assert result.feasible
    assert not result.race[1]["verdict"].endswith("ended early")
