"""Declared structure: the same numbers as a plain objective, whatever the part, the engine and the backend."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import systola as sy
from conftest import story
from model.declared_problems import MaxSat, PlainTour, Qubo, Tour, pairs
from ptx.device import PtxDevice
from ptx.needs import needs_executor
from systola.extend import check_problem
from systola.model.problem import record_of
from systola.model.structure.declare import kept_size
from systola.model.structure.part import init_structure
from systola.model.structure.repairs import NONE, draw_repair

KINDS = list(pairs(0))
CHAINS = [sy.SimulatedAnnealing(chains=2), sy.IteratedLocalSearch(chains=2)]
OF_ALL = [
    *CHAINS,
    sy.Cellular(size=9),
    sy.SteadyState(size=9),
    sy.Tabu(),
    sy.HillClimbing(),
    sy.HillClimbing(improvement="first"),
    sy.PLS(),
    sy.RS(20),
]
OF_BITS = [
    sy.SGS("B", length=4, width=4),
    sy.SGS("E", length=4, width=4),
    sy.SNS(True, True, True),
    sy.GA(16),
    sy.SGA(16),
]
OF_ORDERS = [sy.Cellular(size=9, local_search="best-swap", local_search_interval=1)]


def runs():
    """Every kind of structure with every engine that takes its encoding."""
    for kind, (declared, _) in pairs(0).items():
        own = {sy.Binary: OF_BITS, sy.Permutation: OF_ORDERS}.get(type(declared.encoding), [])
        for engine in [*OF_ALL, *own]:
            yield kind, engine


def name_of(value):
    """Of a parameter, for people."""
    options = [str(v) for v in getattr(value, "__dict__", {}).values() if isinstance(v, str) and v != "auto"]
    return "-".join([value.name, *options]) if hasattr(value, "name") else value


def compare(first, *others):
    """Runs with the same numbers."""
    for other in others:
        assert story(other)[:4] == story(first)[:4]
        assert story(other)[-1] == story(first)[-1]
        assert str(other.front) == str(first.front)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 9))
def test_moves_agree_with_evaluate(kind, seed, n):
    declared, _ = pairs(seed, n)[kind]
    check_problem(declared, trials=3, seed=seed)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 9))
def test_the_derived_objective_is_the_plain_one(kind, seed, n):
    declared, plain = pairs(seed, n)[kind]
    draws = np.random.default_rng(seed)
    space = plain.encoding.space(plain)
    for _ in range(3):
        if isinstance(plain.encoding, sy.Permutation):
            x = draws.permutation(space.n)
        else:
            x = draws.integers(getattr(space, "low", 0), getattr(space, "high", np.ones(space.n, int)) + 1)
        assert declared.evaluate(x) == plain.evaluate(x)


@pytest.mark.filterwarnings("ignore::systola.InfeasibleWarning")
@pytest.mark.parametrize(("kind", "engine"), list(runs()), ids=name_of)
def test_the_same_run_as_with_the_plain_objective(kind, engine):
    solve = partial(sy.solve, engine=engine, stop=sy.Iterations(3), seed=5, backend="python")
    compare(*map(solve, pairs(3, 8)[kind]))


@pytest.mark.filterwarnings("ignore::systola.InfeasibleWarning")
@pytest.mark.parametrize("engine", [sy.Tabu(), sy.HillClimbing()], ids=lambda e: e.name)
@pytest.mark.parametrize("kind", KINDS)
def test_the_same_walk_as_with_the_plain_objective(kind, engine):
    declared, plain = pairs(3, 8)[kind]
    orders = isinstance(declared.encoding, sy.Permutation)
    for neighbourhood in ("swap", "insertion", "reversal") if orders else (None,):
        walk = replace(engine, neighbourhood=neighbourhood)
        results = [sy.solve(p, walk, stop=sy.Iterations(10), seed=5, backend="python") for p in (declared, plain)]
        assert len({(str(r.objective), r.feasible, tuple(r.solution)) for r in results}) == 1


def usual_or_long(usual, all_of_them):
    """Those that are compiled by the usual tests; the rest by the long ones."""
    return [pytest.param(*case, marks=() if case in usual else pytest.mark.long) for case in all_of_them]


USUAL = [("a chain and a passage", CHAINS[0])]


@pytest.mark.filterwarnings("ignore::systola.InfeasibleWarning")
@pytest.mark.parametrize(("kind", "engine"), usual_or_long(USUAL, list(runs())), ids=name_of)
def test_compiled_as_interpreted(kind, engine):
    declared, plain = pairs(4, 9)[kind]
    solve = partial(sy.solve, engine=engine, stop=sy.Iterations(4), seed=2)
    compiled = [solve(declared, threads=threads) for threads in (1, 2)]
    compare(solve(plain, backend="python"), solve(declared, backend="python"), *compiled)


BY_PTX = [("terms over bits", OF_ALL[-1]), ("a chain and a passage", OF_ALL[-1])]


@needs_executor
@pytest.mark.filterwarnings("ignore::systola.InfeasibleWarning")
@pytest.mark.parametrize(
    ("kind", "engine"),
    usual_or_long(BY_PTX, [(kind, engine) for kind in KINDS for engine in (OF_ALL[-1], CHAINS[0])]),
    ids=name_of,
)
def test_executed_ptx_as_interpreted(kind, engine):
    """Of integers the usual tests execute iterated tabu search, which moves, too."""
    declared, plain = pairs(4, 9)[kind]
    solve = partial(sy.solve, engine=engine, stop=sy.Iterations(3), seed=2)
    compare(solve(plain, backend="python"), solve(declared, backend="cuda", device=PtxDevice(race=True)))


def test_floats_do_not_drift():
    draws = np.random.default_rng(7)
    distances = draws.random((12, 12)) * 10.0 ** draws.integers(-3, 6, (12, 12))
    distances += distances.T
    result = sy.solve(Tour(distances), CHAINS[0], stop=sy.Iterations(30), seed=1, backend="python")
    assert result.objective == PlainTour(distances).evaluate(result.solution)


class Sparing(sy.Problem):
    """A term that reads one more decision than it says."""

    encoding = sy.Binary("n")
    n: int

    def both(self, x, k):
        return 1 if x[k] == 1 and x[(k + 1) % self.n] == 1 else 0

    def reads(self):
        return [[k] for k in range(self.n)]

    structure = sy.Terms(both, reads)


def test_a_term_that_reads_more_than_it_says_is_found():
    with pytest.raises(sy.CheckFailed, match=r"term \d of Sparing changes with decision \d, but `reads` names only"):
        check_problem(Sparing(7))


def test_a_wrong_declaration_never_gives_a_wrong_answer():
    with pytest.raises(sy.CheckFailed):
        sy.solve(Sparing(7), CHAINS[0], stop=sy.Iterations(5), seed=1, backend="python")


def _class(**body):
    return type("Wrong", (sy.Problem,), {"__annotations__": {"n": int}, **body})


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({"structure": 3, "encoding": sy.Binary("n")}, "must be a part such as Chain"),
        ({"structure": [], "encoding": sy.Binary("n")}, "must be a part such as Chain"),
        ({"structure": sy.Chain(lambda self, a, b: 1), "encoding": sy.Binary("n")}, "is for the encoding Permutation"),
        ({"structure": sy.Chain(lambda self, a: 1), "encoding": sy.Permutation("n")}, r"must take \(self, a, b\)"),
        ({"structure": sy.Chain(3), "encoding": sy.Permutation("n")}, "must be a plain function"),
        ({"structure": sy.Linear("n", "<"), "encoding": sy.Binary("n")}, "must be one of <=, >=, =="),
        ({"structure": sy.Linear("n", "<="), "encoding": sy.Binary("n")}, "has only one of them"),
        ({"structure": sy.Linear("n", "<=", 3), "encoding": sy.Binary("n")}, "each objective needs a part"),
        (
            {"structure": sy.Quadratic("n"), "encoding": sy.Binary("n"), "evaluate": lambda self, x: 0},
            "has both; leave one",
        ),
        ({"structure": sy.Quadratic("n", objective=1), "encoding": sy.Binary("n")}, "must be a number below 1"),
        ({"structure": sy.Quadratic("n", hard=True, weight=-1), "encoding": sy.Binary("n")}, "`weight > 0` must hold"),
        (
            {
                "structure": sy.Quadratic("n"),
                "encoding": sy.Binary("n"),
                "capabilities": [sy.Flips(lambda self, x, row, i, state: None)],
            },
            "lists Flips; leave it out",
        ),
    ],
)
def test_a_wrong_structure_is_refused(body, sentence):
    with pytest.raises(sy.InputError, match=sentence):
        _class(**body)


def _with(cls, part):
    return type("Other", (cls,), {"structure": part})


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: MaxSat(2, [[1, 2, 3]]), "names decision 2 for term 0, but decisions are 0..1"),
        (lambda: _with(MaxSat, sy.Terms(MaxSat.holds, "nowhere"))(2, [[1]]), "names the field 'nowhere'"),
        (lambda: _with(Qubo, sy.Quadratic(lambda self: np.ones((3, 2))))(np.eye(3)), "must have 3 columns"),
        (lambda: _with(Qubo, sy.Quadratic(lambda self: ([5], [0], [1])))(np.eye(3)), "must have 3 rows"),
    ],
)
def test_wrong_data_are_refused(make, sentence):
    with pytest.raises(sy.InputError, match=sentence):
        make()


def test_what_a_problem_can_do_is_told():
    told = {kind: declared.summary() for kind, (declared, _) in pairs(1, 9).items()}
    assert "declared     Terms, objective 1: 27 terms; a decision is read by" in told["terms over integers"]
    assert "declared     Passage, a constraint: a passage with 1 number of state" in told["a chain and a passage"]
    assert "each costs a whole `evaluate`" in pairs(1)["a passage"][1].summary()
    assert "declare it as `structure`" in pairs(1)["groups"][1].summary()


def test_repairs_flip_a_decision_that_helps_a_broken_constraint():
    declared, _ = pairs(2, 9)["linear"]
    record, draws = record_of(declared), np.random.default_rng(5)
    found = set()
    for _ in range(200):
        x = (draws.random(18) < 0.1).astype(np.int64)
        kept, measures = np.zeros(kept_size(declared), np.int64), np.zeros(2, np.int64)
        init_structure(record.structure, record, x, kept, measures)
        i = int(draw_repair(record.structure, x, kept, *draws.integers(2**32, size=2, dtype=np.uint64)))
        assert (i == NONE) == (measures[1] == 0)
        if i != NONE:
            x[i] ^= 1
            assert declared.evaluate(x)[1] < measures[1]
        found.add(i)
    assert len(found) > 5


def test_guided_moves_are_for_declared_parts():
    declared, plain = pairs(2, 9)["linear"]
    engine = sy.SimulatedAnnealing(chains=2, guided=True)
    assert sy.solve(declared, engine, stop=sy.Iterations(3), seed=1, backend="python").feasible
    with pytest.raises(sy.InputError, match="`guided` is for declared linear constraints over bits"):
        sy.solve(plain, engine, stop=sy.Iterations(3))


class Wordy(sy.Problem):
    encoding = sy.Permutation("n")
    n: int

    def link(self, a, b):
        return len(f"{a} to {b}")

    structure = sy.Chain(link)


def test_a_part_that_cannot_be_compiled_is_named_and_runs_all_the_same():
    with pytest.warns(sy.SlowObjectiveWarning, match=r"test_structure.py, line \d+: return len\(f"):
        result = sy.solve(Wordy(9), stop=sy.Iterations(2), seed=1)
    assert result.backend == "python"
    assert result.objective == 9 * len("1 to 2")


def test_workers_evaluate_declared_problems():
    declared, plain = pairs(5, 9)["a symmetric chain"]
    engine, stop = sy.Cellular(size=9), sy.Evaluations(40)
    here = {"stop": stop, "seed": 1, "backend": "python"}
    results = [sy.solve(declared, engine, stop=stop, seed=1, workers=1), sy.solve(plain, engine, **here)]
    search = sy.ask_and_tell(declared, engine, **here)
    while len(asked := search.ask()):
        search.tell(asked, [plain.evaluate(x) for x in asked])
    results.append(search.result())
    assert len({(r.objective, tuple(r.solution)) for r in results}) == 1
