"""Hill climbing, tabu search and iterated greedy against their naive twins; parity of backends; what is refused."""

from functools import lru_cache, partial
from itertools import islice

import numpy as np
import pytest

import systola as sy
from conftest import OneMax, small_knapsack, small_multi_knapsack, small_release, story
from engines import naive_walks
from engines.opened import check_resumed
from own_problems import Line, Tour, Valley
from problems import naive_flowshop
from systola.backends import cpu
from systola.backends.cpu import CpuSession
from systola.backends.session import Setup
from systola.jit.records import widen
from systola.model.capabilities import BestInsertion, capability
from systola.model.contracts import check_problem
from systola.model.encodings import sample
from systola.model.incremental import fill_swap_table
from systola.model.objective import evaluate
from systola.model.problem import bind, record_of, senses_of, space_of
from systola.model.rng import START
from systola.operators.neighbourhoods import plan_neighbourhood
from systola.simd.rows import padded

SEED = 6


class Bumpy(Valley):
    """With neighbours that matter to each other, too."""

    def evaluate(self, x):
        total = 0
        for i in range(len(self.middle)):
            total += abs(x[i] - self.middle[i]) + (x[i] + x[i - 1]) % 3
        return total


class Apart(Line):
    """With a constraint, and few values; of all moves only swaps are measured from a state."""

    capabilities = (sy.Swaps(Line.swap),)

    def violation(self, measures):
        return max(0, measures[1] - 2)


def length(x, row, i, j):
    """Of a tour in which i and j are exchanged."""
    n, total = x.shape[1], 0
    for k in range(n):
        here = x[row, j if k == i else i if k == j else k]
        before = (k + n - 1) % n
        there = x[row, j if before == i else i if before == j else before]
        total += (here * there + 3 * k * here) % 17
    return total


class Fined(Tour):
    """A table of gains that says nothing of the second measure, by which solutions are compared, too."""

    def evaluate(self, x):
        total = 0
        for i in range(self.n):
            total += (x[i] * x[i - 1] + 3 * i * x[i]) % 17
        return total, x[0]

    def fill(self, x, row, table):
        for i in range(self.n):
            for j in range(i + 1, self.n):
                table[i * padded(self.n) + j] = length(x, row, 0, 0) - length(x, row, i, j)

    def make_swap(self, x, row, i, j, table):
        x[row, i], x[row, j] = x[row, j], x[row, i]
        fill_swap_table(self, x, row, table)

    capabilities = (sy.SwapTable(lambda p: sy.Buffer(p.n * padded(p.n), np.int64), fill, make_swap),)

    def violation(self, measures):
        return measures[1]


def assignment(n, symmetric=True, most=20):
    flows, distances = np.random.default_rng(n).integers(0, most, (2, n, n))
    if symmetric:
        flows, distances = flows + flows.T, distances + distances.T
    return sy.QuadraticAssignment(flows, distances)


def flowshop(jobs, machines=3, objectives="makespan,tardiness,tardy", most=9, release=False):
    draws = np.random.default_rng(jobs)
    due = draws.integers(0, (jobs + machines) * most, jobs)
    ready = draws.integers(0, jobs * most // 2, jobs) if release else None
    return sy.Flowshop(draws.integers(0, most, (jobs, machines)), due, ready, objectives)


VALLEY = Bumpy(np.array([-3, 0, 5, -2, 2, 0]), np.array([4, 0, 9, 3, 2, 1]), np.array([1, 0, 6, -2, 2, 1]))
FLAT = Bumpy(np.full(4, -1), np.full(4, 1), np.zeros(4, int))


def plain_measures(problem):
    """Measures of a list of decisions, computed from plain numbers."""
    if isinstance(problem, sy.Knapsack):
        rows = problem.profits.tolist(), problem.weights.tolist()
        return lambda x: [sum(v for v, taken in zip(row, x, strict=True) if taken) for row in rows]
    if isinstance(problem, sy.NextRelease):
        rows = problem.costs.tolist(), problem.values.tolist()
        return lambda x: [sum(v for v, taken in zip(row, x, strict=True) if taken) for row in rows]
    if isinstance(problem, sy.Flowshop):
        return partial(naive_flowshop.measures_of, problem)
    if isinstance(problem, sy.QuadraticAssignment):
        flows, distances = problem.flows.tolist(), problem.distances.tolist()

        return lambda x: [sum(flows[i][k] * distances[x[i]][x[k]] for i in range(len(x)) for k in range(len(x)))]
    if isinstance(problem, OneMax):
        return lambda x: [sum(x)]
    record = widen(record_of(problem))  # of problems whose `evaluate` is as plain as it gets
    return lambda x: [int(v) for v in np.atleast_1d(evaluate(record, np.array(x)))]


def world_of(problem):
    """The problem as the twins see it."""
    known = plain_measures(problem)
    measures = lru_cache(maxsize=None)(lambda x: tuple(known(list(x))))
    space = space_of(problem)
    kind = {"Bits": "bits", "Digits": "integers", "Order": "permutation"}[type(space).__name__]
    low, high = (space.low.tolist(), space.high.tolist()) if kind == "integers" else ([], [])
    world = naive_walks.World(
        lambda x: senses_of(problem)[0] * measures(tuple(x))[0],
        measures=lambda x: list(measures(tuple(x))),
        place=lambda x, item: naive_flowshop.best_place(problem, x, item),
        low=low,
        high=high,
        kind=kind,
    )
    if isinstance(problem, sy.Knapsack):
        room = problem.capacity
        world.violation = lambda x: max(0, world.measures(x)[1] - room)
        world.fitness = lambda x: world.measures(x)[0] - room * world.violation(x)
    elif isinstance(problem, sy.NextRelease):
        parts, share, cost, value = (int(getattr(problem, f)) for f in ("parts", "share", "all_cost", "all_value"))

        def fitness(x):
            c, v = world.measures(x)
            return parts * cost * value - max((parts - share) * c * value, share * (value - v) * cost)

        def dominates(new, old):
            (c, v), (d, w) = world.measures(new), world.measures(old)
            return c <= d and v >= w and (c, v) != (d, w)

        world.fitness = fitness
        world.beats = lambda new, old: (
            fitness(new) > fitness(old) or (fitness(new) == fitness(old) and dominates(new, old))
        )
        world.preference = lambda x: (-world.measures(x)[0], world.measures(x)[1])
    elif isinstance(problem, sy.Flowshop):
        world.fitness = partial(naive_flowshop.fitness_of, problem)
    elif isinstance(problem, Apart):
        world.violation = lambda x: max(0, x[0] - 2)
    elif isinstance(problem, Fined):
        world.violation = lambda x: x[0]
    elif isinstance(problem, sy.MultiKnapsack):
        gain, price = int(problem.gain), int(problem.price)
        world.violation = lambda x: world.measures(x)[1]
        world.fitness = lambda x: gain * world.measures(x)[0] - price * world.measures(x)[1]
    return world


def session_of(problem, engine, compiled=False):
    bind(type(problem))
    design = engine.prepare(problem)
    world = world_of(problem)
    count = len(world.measures(first_of(problem, 1)[0]))
    session = CpuSession(Setup(problem, design, count, np.int64, SEED), 1, compiled)
    session.start(0, session.lanes)
    return design, session, world


def first_of(problem, size):
    """The first solutions, drawn as `sample` draws them."""
    x = problem.encoding.empty(space_of(problem), size)
    for row in range(size):
        sample(space_of(problem), x, row, SEED, START, 0, row)
    return problem.encoding.load(space_of(problem), x).tolist()


def twin_of(problem, engine, world, size):
    """What the engine does, step by step."""
    first = first_of(problem, size)
    if isinstance(engine, sy.IteratedGreedy):
        return naive_walks.iterated_greedy(
            world, engine, capability(problem, BestInsertion).temperature(problem), first, SEED
        )
    name = engine.neighbourhood or {"bits": "flip", "integers": "reassign"}.get(world.kind)
    name = name or ("insertion" if isinstance(problem, sy.Flowshop) else "swap")
    if isinstance(engine, sy.HillClimbing):
        return naive_walks.hill(
            world, name, engine.improvement, engine.on_local_optimum, engine.perturbation_strength, first[0], SEED
        )
    n = len(first[0])
    tenure, tenure_range = (max(1, 9 * n // 10), n // 5) if world.kind == "permutation" else (max(4, n // 10), 4)
    if name == "insertion":
        tenure, tenure_range = min(8, n), 4
    tenure = tenure if engine.tenure is None else engine.tenure
    tenure_range = tenure_range if engine.tenure_range is None else engine.tenure_range
    return naive_walks.tabu(world, name, (tenure, tenure_range), engine.ties, first[0], SEED)


def check_twin(problem, engine, steps, compiled=False):
    """Where the walk is, its best, their measures, and the best of the run with its step; what the steps did."""
    design, session, world = session_of(problem, engine, compiled)
    greedy = isinstance(engine, sy.IteratedGreedy)
    states = list(islice(twin_of(problem, engine, world, design.started), steps + 1))
    for step, (wanted, _) in enumerate(states):
        if step:
            session.sweep(step, 1, 0, session.lanes)
        population, best = session.population(), session.best()
        if step or greedy:  # a walk sets out in its first step
            rows = wanted.now if greedy else [wanted.now, wanted.best]
            x = problem.encoding.load(space_of(problem), population.x[: len(rows)]).tolist()
            assert x == rows, f"step {step}"
            assert population.scores[: len(rows)].tolist() == [world.measures(y) for y in rows]
        assert problem.encoding.load(space_of(problem), best.best)[0].tolist() == wanted.best
        assert best.score[0].tolist() == world.measures(wanted.best)
        assert (best.step[0], best.cell[0]) == (wanted.found if greedy else (wanted.found, 0))
    return [did for _, did in states]


@pytest.mark.parametrize("problem", [Apart(6), Fined(6)], ids=lambda p: type(p).__name__)
def test_problems_made_for_these_tests(problem):
    check_problem(problem)


# Tabu search

TABU = [
    (small_knapsack(7), "flip", {}),
    (small_knapsack(7), "flip-two", {"tenure": 2, "tenure_range": 1}),
    (small_knapsack(70), None, {"tenure": 3}),
    (small_release(6), "flip-two", {"tenure": 1}),
    (small_multi_knapsack(8), "flip", {}),
    (OneMax(6), "flip", {}),
    (OneMax(5), "flip-two", {"tenure": 3, "tenure_range": 0}),
    (VALLEY, None, {}),
    (FLAT, "reassign", {"tenure": 1, "tenure_range": 2}),
    (assignment(6), "swap", {}),
    (assignment(6, symmetric=False, most=2), None, {"tenure": 2}),
    (assignment(5, most=2), "insertion", {}),
    (Fined(5), "swap", {"tenure": 2}),
    (Tour(6), "swap", {}),
    (Tour(5), "insertion", {}),
    (Tour(6), "reversal", {"tenure_range": 3}),
    (Apart(6), "swap", {}),
    (Apart(6), "reversal", {"tenure": 4}),
    (flowshop(6), None, {}),
    (flowshop(6, release=True), "insertion", {"tenure": 2}),
    (flowshop(6, objectives="makespan", release=True), "insertion", {}),
    (flowshop(6, objectives="tardy", most=4), "insertion", {}),
    (flowshop(5), "swap", {}),
    (flowshop(5, most=3), "reversal", {}),
    (OneMax(6), "flip", {"ties": "random"}),
    (FLAT, "reassign", {"ties": "random"}),
    (assignment(6, most=2), "swap", {"ties": "random"}),
    (flowshop(6, objectives="tardy", most=4), "insertion", {"ties": "random"}),
]


def name_of(value):
    return type(value).__name__ if isinstance(value, sy.Problem) else None


@pytest.mark.parametrize(("problem", "neighbourhood", "options"), TABU, ids=name_of)
def test_tabu(problem, neighbourhood, options):
    did = check_twin(problem, sy.Tabu(neighbourhood, **options), 30)
    assert did.count("move") > 4


@pytest.mark.parametrize(
    ("problem", "engine", "steps"),
    [
        (small_knapsack(9), sy.Tabu("flip", 10, 0), 8),
        (small_knapsack(10), sy.Tabu("flip-two", 10, 2), 6),
        (assignment(8), sy.Tabu("swap", 10, 0), 12),
        (Tour(8), sy.Tabu("reversal", 60, 0), 30),
        (Tour(5), sy.Tabu("insertion", 3, 2), 9),
        (flowshop(6, objectives="makespan", most=50), sy.Tabu("insertion", 6, 2), 9),
        (FLAT, sy.Tabu("reassign", 6, 2), 9),
    ],
    ids=lambda v: v.neighbourhood if isinstance(v, sy.Tabu) else "",
)
def test_tabu_goes_back_to_what_is_banned_for_the_best_so_far(problem, engine, steps):
    assert "aspire" in check_twin(problem, engine, steps)


@pytest.mark.parametrize(
    ("problem", "neighbourhood"),
    [
        (assignment(2), "swap"),
        (OneMax(3), "flip"),
        (OneMax(2), "flip-two"),
        (flowshop(2), "insertion"),
        (Tour(2), "reversal"),
        (FLAT, "reassign"),
    ],
    ids=["swap", "flip", "flip-two", "insertion", "reversal", "reassign"],
)
def test_tabu_with_all_forbidden(problem, neighbourhood):
    """The walk waits until something is allowed again."""
    did = check_twin(problem, sy.Tabu(neighbourhood, tenure=9, tenure_range=2), 45)
    assert {"move", "wait"} <= set(did)


def test_tabu_without_bans():
    """With a tenure of zero it goes up, and then to and fro."""
    did = check_twin(Tour(6), sy.Tabu("swap", tenure=0, tenure_range=0), 20)
    assert set(did[1:]) == {"move"}


@pytest.mark.parametrize(
    ("problem", "tenure", "choices"),
    [
        (assignment(20), 18, 5),
        (assignment(2), 1, 1),
        (OneMax(30), 4, 5),
        (OneMax(100), 10, 5),
        (flowshop(20), 8, 5),
        (flowshop(3), 3, 5),
        (Bumpy(np.zeros(3, int), np.full(3, 2), np.ones(3, int)), 4, 5),
    ],
)
def test_how_long_by_default(problem, tenure, choices):
    record = sy.Tabu().prepare(problem).record
    assert (record.shortest, record.choices) == (tenure, choices)


# Hill climbing

CLIMBS = [
    (small_knapsack(7), "flip"),
    (small_knapsack(7), "flip-two"),
    (small_release(8), "flip"),
    (OneMax(6), "flip"),
    (VALLEY, "reassign"),
    (FLAT, None),
    (assignment(6, most=3), "swap"),
    (Fined(5), "swap"),
    (Tour(6), "swap"),
    (Tour(5), "insertion"),
    (Apart(5), "reversal"),
    (flowshop(5), "insertion"),
    (flowshop(5, objectives="makespan", release=True), None),
]


@pytest.mark.parametrize("on_local_optimum", ["perturb", "restart", "stay"])
@pytest.mark.parametrize("move", ["best", "first"])
@pytest.mark.parametrize(("problem", "neighbourhood"), CLIMBS, ids=name_of)
def test_hill(problem, neighbourhood, move, on_local_optimum):
    engine = sy.HillClimbing(neighbourhood, move, on_local_optimum, perturbation_strength=2)
    did = check_twin(problem, engine, 16)
    assert on_local_optimum in did


@pytest.mark.parametrize("on_local_optimum", ["stay", "restart"])
def test_hill_goes_to_what_is_as_fit_and_dominates(on_local_optimum):
    """But not to what is as fit and only preferred."""
    problem = sy.NextRelease([3, 2, 2, 1, 3, 1, 1], [2, 1, 2, 1, 3, 1, 3], 0.5)
    check_twin(problem, sy.HillClimbing("flip-two", on_local_optimum=on_local_optimum), 16)


def test_how_strong_a_perturbation_is():
    for perturbation_strength in (1, 7):
        assert "perturb" in check_twin(VALLEY, sy.HillClimbing(perturbation_strength=perturbation_strength), 12)


def test_a_climb_that_stays_is_at_a_top():
    problem = assignment(7)
    result = sy.solve(problem, sy.HillClimbing(on_local_optimum="stay"), stop=sy.Iterations(40), backend="python")
    world = world_of(problem)
    near = naive_walks.neighbours(world, "swap", result.solution.tolist())
    assert world.fitness(result.solution.tolist()) >= max(world.fitness(y.x) for y in near)
    assert result.evaluations == 1 + 40 * 21


# Iterated greedy


@pytest.mark.parametrize(
    ("problem", "options"),
    [
        (flowshop(5), {}),
        (flowshop(6, most=40), {"destruction_size": 2, "temperature": 3.0}),
        (flowshop(7, objectives="makespan"), {"destruction_size": 6, "temperature": 10.0}),
        (flowshop(7, objectives="flowtime"), {"destruction_size": 1, "temperature": 3.0}),
        (flowshop(5, objectives="makespan", release=True), {"destruction_size": 1, "temperature": 0}),
        (flowshop(5, objectives="flowtime,makespan", release=True), {"destruction_size": 4, "rounds": 1}),
        (flowshop(4, machines=1, objectives="tardiness", most=3), {}),
        (flowshop(2), {}),
        (flowshop(1), {}),
    ],
)
def test_iterated_greedy(problem, options):
    engine = sy.IteratedGreedy(**{"size": 2, "rounds": 2, **options})
    accepted = check_twin(problem, engine, 4)[-1]
    assert accepted > 0 or engine.temperature < 1  # something worse, now and then


def test_temperature():
    """At zero nothing worse is accepted, at a high one everything."""
    problem = flowshop(6, most=40)
    assert check_twin(problem, sy.IteratedGreedy(2, rounds=1, temperature=0), 5)[-1] == 0
    design = sy.IteratedGreedy(temperature=2.5).prepare(problem)
    assert design.record.temperature == pytest.approx(0.25 * problem.times.mean())


# Who computes it does not matter

COMPILED = {
    "tabu-insertion": (flowshop(18), sy.Tabu(), 12),
    "tabu-table": (assignment(9), sy.Tabu(), 40),
    "hill-flip-two": (small_release(70), sy.HillClimbing("flip-two", perturbation_strength=2), 12),
    "ig": (flowshop(18, objectives="makespan", release=True), sy.IteratedGreedy(size=3, rounds=2), 3),
}


@pytest.mark.parametrize(
    ("problem", "engine", "steps"),
    [
        pytest.param(*case, id=name, marks=pytest.mark.long if name in ("tabu-table", "hill-flip-two") else [])
        for name, case in COMPILED.items()
    ],
)
def test_compiled(problem, engine, steps):
    """As the twin; and with one thread, two, and interpreted: the same best, found in the same step, same trace."""
    check_twin(problem, engine, steps, compiled=True)
    if engine.name == "ig":  # interpreted it would take minutes
        problem = flowshop(6, objectives="makespan", release=True)
    solve = partial(sy.solve, problem, engine, stop=sy.Iterations(min(steps, 6)), seed=SEED)
    runs = [solve(threads=1), solve(threads=2), solve(backend="python")]
    assert story(runs[0]) == story(runs[1]) == story(runs[2])


def test_compiled_makespan_by_acceleration():
    """The same kernel as for three objectives; blocks of neighbours that begin anywhere in a row."""
    check_twin(flowshop(33, objectives="makespan", release=True), sy.Tabu(), 4, compiled=True)
    check_twin(flowshop(16, objectives="makespan"), sy.Tabu(tenure=2), 8, compiled=True)
    check_twin(flowshop(2), sy.Tabu(), 6, compiled=True)


RESUMED = [
    (small_release(6), sy.Tabu("flip-two", tenure=1)),
    (VALLEY, sy.Tabu()),
    (assignment(6), sy.Tabu()),
    (flowshop(5), sy.Tabu()),
    (assignment(5), sy.HillClimbing()),
    (Tour(5), sy.HillClimbing("insertion", "first", "restart")),
    (flowshop(4), sy.IteratedGreedy(size=2, rounds=1)),
]


@pytest.mark.parametrize(("problem", "engine"), RESUMED, ids=name_of)
@pytest.mark.parametrize("pause", [1, 6])
def test_resumed_runs_end_alike(problem, engine, pause, tmp_path):
    check_resumed(problem, engine, SEED, 13, pause, tmp_path)


@pytest.mark.long
def test_resumed_on_another_backend(tmp_path):
    problem, engine, _ = COMPILED["tabu-table"]
    solve = partial(sy.solve, problem, engine, seed=SEED)
    whole = solve(stop=sy.Iterations(20), threads=1)
    solve(stop=sy.Iterations(7), checkpoint=tmp_path / "cpu")
    solve(stop=sy.Iterations(7), checkpoint=tmp_path / "python", backend="python")
    on_python = solve(stop=sy.Iterations(20), resume=tmp_path / "cpu", backend="python")
    on_cpu = solve(stop=sy.Iterations(20), resume=tmp_path / "python")
    assert story(whole) == story(on_python) == story(on_cpu)


@pytest.mark.parametrize("lanes", [1, 2, 3, 256])
@pytest.mark.parametrize(
    ("problem", "engine"),
    [
        (sy.NextRelease([3, 1, 1, 1, 1, 3], [3, 2, 1, 1, 1, 2], 0.5), sy.Tabu(tenure=1)),
        (sy.NextRelease([3, 2, 3, 3, 2, 3], [3, 1, 1, 1, 1, 3], 0.5), sy.Tabu(tenure=1)),
        (
            sy.NextRelease([1, 3, 2, 2, 1, 3], [2, 3, 2, 2, 1, 2], 0.5),
            sy.HillClimbing("flip-two", on_local_optimum="restart"),
        ),
        (OneMax(6), sy.Tabu("flip-two")),
        (flowshop(4), sy.HillClimbing(improvement="first")),
    ],
    ids=["release", "another", "release-hill", "bits", "flowshop"],
)
def test_the_number_of_lanes_does_not_matter(problem, engine, lanes, monkeypatch):
    """Also where a problem breaks ties by what is no order, as dominance."""
    monkeypatch.setattr(cpu, "LANES", lanes)
    check_twin(problem, engine, 12)


def test_starts_from_a_given_solution():
    problem = assignment(7)
    start = [[6, 5, 4, 3, 2, 1, 0]]
    result = sy.solve(problem, sy.Tabu(), stop=sy.Iterations(0), start=start, backend="python")
    assert result.solution.tolist() == start[0]


def test_layout():
    """Work in a step, and the neighbourhood that is taken unless another is asked for."""
    for problem, label, size in [
        (OneMax(5), "flip", 5),
        (VALLEY, "reassign", 7 + 4 + 5 + 1),
        (assignment(5), "swap_table", 10),
        (Fined(5), "swap", 10),
        (Tour(5), "swap", 10),
        (flowshop(5), "insertion_blocks", 16),
    ]:
        assert (plan_neighbourhood(None, problem).label, plan_neighbourhood(None, problem).size) == (label, size)
        for engine in (sy.Tabu(), sy.HillClimbing()):
            design = engine.prepare(problem)
            assert (design.cells, design.per_step, design.started, design.rows) == (size, size, 1, 2)
    design = sy.IteratedGreedy(size=7, rounds=3).prepare(flowshop(5))
    assert (design.cells, design.per_step, design.started, design.rows) == (7, 21, 7, 7)


# What is refused


@pytest.mark.parametrize(
    ("problem", "engine", "told"),
    [
        (OneMax(5), sy.Tabu("swap"), "neighbourhood of OneMax must be one of flip, flip-two, but got 'swap'"),
        (VALLEY, sy.HillClimbing("flip"), "neighbourhood of Bumpy must be one of reassign, but got 'flip'"),
        (Tour(5), sy.HillClimbing("2-opt"), "of Tour must be one of swap, insertion, reversal, but got '2-opt'"),
        (Tour(5), sy.Tabu(["swap"]), r"must be one of swap, insertion, reversal, but got \['swap'\]"),
        (Tour(1), sy.Tabu(), "a neighbourhood needs solutions of at least two decisions, but got one"),
        (OneMax(1), sy.HillClimbing(), "a neighbourhood needs solutions of at least two decisions, but got one"),
        (
            Bumpy(np.ones(3, int), np.ones(3, int), np.ones(3, int)),
            sy.Tabu(),
            "a neighbourhood needs a decision with two values or more, but there is none",
        ),
        (Tour(5), sy.Tabu(tenure=-1), "`tenure` must be a whole number with 0 <= tenure <= 1000000000, but got -1"),
        (Tour(5), sy.Tabu(tenure=2.5), "`tenure` must be a whole number"),
        (Tour(5), sy.Tabu(tenure=True), "`tenure` must be a whole number"),
        (
            Tour(5),
            sy.Tabu(tenure_range=-1),
            "`tenure_range` must be a whole number with 0 <= tenure_range <= 1000000000, but got -1",
        ),
        (Tour(5), sy.Tabu(tenure_range="much"), "`tenure_range` must be a whole number with .*, but got 'much'"),
        (
            Tour(5),
            sy.HillClimbing(perturbation_strength=0),
            "`perturbation_strength` must be a whole number with 1 <= perturbation_strength <= 1000000, but got 0",
        ),
        (Tour(5), sy.HillClimbing(improvement="worst"), "`improvement` must be one of best, first, but got 'worst'"),
        (
            Tour(5),
            sy.HillClimbing(on_local_optimum="jump"),
            "`on_local_optimum` must be one of stay, perturb, restart, but got 'jump'",
        ),
        (
            Tour(5),
            sy.IteratedGreedy(),
            "iterated greedy needs a problem with BestInsertion, which Tour does not list; choose hill or tabu",
        ),
        (OneMax(5), sy.IteratedGreedy(), "which OneMax does not list"),
        (flowshop(5), sy.IteratedGreedy(size=0), "`size` must be a whole number with 1 <= size <= 1000000, but got 0"),
        (
            flowshop(5),
            sy.IteratedGreedy(destruction_size=0),
            "`destruction_size` must be a whole number with 1 <= destruction_size <= 4, but got 0",
        ),
        (
            flowshop(5),
            sy.IteratedGreedy(destruction_size=5),
            "`destruction_size` must be a whole number with 1 <= destruction_size <= 4, but got 5",
        ),
        (flowshop(5), sy.IteratedGreedy(rounds=0), "`rounds` must be a whole number with 1 <= rounds"),
        (flowshop(5), sy.IteratedGreedy(temperature=-0.1), "`temperature` must be a number with 0 <= temperature"),
        (flowshop(5), sy.IteratedGreedy(temperature=float("nan")), "`temperature` must be a number .*, but got nan"),
    ],
)
def test_what_is_refused(problem, engine, told):
    with pytest.raises(sy.InputError, match=told):
        sy.solve(problem, engine, backend="python")
