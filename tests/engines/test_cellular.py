"""The cellular engine against its naive twin; parity of backends; neighbourhoods; what is refused."""

import contextlib
from dataclasses import replace
from functools import lru_cache, partial
from itertools import islice

import numpy as np
import pytest
from numba import njit

import systola as sy
from conftest import OneMax, small_knapsack, story
from engines import naive_cellular
from engines.opened import check_resumed
from own_problems import Tour, Valley
from systola.backends.cpu import CpuSession
from systola.backends.session import Setup, allocate
from systola.backends.step import before_steps
from systola.engines.topology import near_square, ring, torus
from systola.jit.records import widen
from systola.model.encodings import sample
from systola.model.problem import bind, record_of, space_of
from systola.model.rng import SEARCH, START, below, numbers
from systola.operators.local_search import tabu

SEED = 6


def assignment(n, symmetric=True, seed=1, most=20):
    draws = np.random.default_rng(seed)
    flows, distances = draws.integers(0, most, (2, n, n))
    if symmetric:
        flows, distances = flows + flows.T, distances + distances.T
    return sy.QuadraticAssignment(flows, distances)


VALLEY = Valley(np.array([-3, 0, 5, -9, 2, 0, 0]), np.array([4, 0, 9, 9, 2, 1, 30]), np.array([1, 0, 6, -2, 2, 1, 17]))


def world_of(problem):
    """The problem as the twin sees it, computed from plain numbers."""
    if isinstance(problem, sy.Knapsack):
        profits, weights, room = problem.profits.tolist(), problem.weights.tolist(), problem.capacity

        def measures(x):
            return [sum(v for v, taken in zip(values, x, strict=True) if taken) for values in (profits, weights)]

        return naive_cellular.World(
            lambda x: measures(x)[0] - room * max(0, measures(x)[1] - room),
            lambda x: max(0, measures(x)[1] - room),
            measures,
            binary=True,
        )
    if isinstance(problem, sy.QuadraticAssignment):
        flows, distances = problem.flows.tolist(), problem.distances.tolist()

        def cost(x):
            return sum(flows[i][k] * distances[x[i]][x[k]] for i in range(len(x)) for k in range(len(x)))
    elif isinstance(problem, Valley):

        def cost(x):
            return sum((a - b) ** 2 for a, b in zip(x, problem.middle.tolist(), strict=True))
    else:

        def cost(x):
            return sum((x[i] * x[i - 1] + 3 * i * x[i]) % 17 for i in range(len(x)))

    known, space = lru_cache(maxsize=None)(cost), space_of(problem)
    low, high = (space.low.tolist(), space.high.tolist()) if hasattr(space, "low") else ([], [])
    return naive_cellular.World(lambda x: -known(tuple(x)), measures=lambda x: [known(tuple(x))], low=low, high=high)


def session_of(problem, engine, compiled=False):
    bind(type(problem))
    design = engine.prepare(problem)
    measures = 2 if isinstance(problem, sy.Knapsack) else 1
    session = CpuSession(Setup(problem, design, measures, np.int64, SEED), 1, compiled)
    session.start(0, session.lanes)
    return design, session


def individuals(problem, engine, design, session, step):
    """The population after a step as lists, and its measures."""
    size = design.started
    base = step % 2 * size if engine.update == "synchronous" else 0
    population = session.population()
    x = problem.encoding.load(space_of(problem), population.x[base : base + size])
    return x.tolist(), population.scores[base : base + size].tolist()


def first_of(problem, size):
    """The first individuals, drawn as `sample` draws them."""
    x = problem.encoding.empty(space_of(problem), size)
    for row in range(size):
        sample(space_of(problem), x, row, SEED, START, 0, row)
    return problem.encoding.load(space_of(problem), x)


def check_twin(problem, engine, steps, compiled=False):
    """All individuals, their measures, and the best with its step and cell, after every step."""
    design, session = session_of(problem, engine, compiled)
    world = world_of(problem)
    ordered = isinstance(problem.encoding, sy.Permutation)
    twin = naive_cellular.run(
        world,
        engine,
        first_of(problem, design.started).tolist(),
        SEED,
        design.shape,
        engine.crossover or ("pmx" if ordered else "two-point"),
        engine.mutation or ("swap" if ordered else "random-value"),
    )
    states = list(islice(twin, steps + 1))
    assert len({repr(state.population) for state in states}) >= 3  # the run goes somewhere
    for step, wanted in enumerate(states):
        if step:
            session.sweep(step, 1, 0, session.lanes)
        x, scores = individuals(problem, engine, design, session, step)
        assert x == wanted.population, f"step {step}"
        assert scores == [world.measures(y) for y in x]
        best = session.best()
        assert problem.encoding.load(space_of(problem), best.best)[0].tolist() == wanted.best
        assert (best.step[0], best.cell[0]) == wanted.found


Small = partial(sy.Cellular, size=10, radius=2, mutation_probability=0.4)


def test_ring_with_blocks_and_best_swap():
    """The paper's method: decisions for blocks of neighbours, one position for all in a generation."""
    check_twin(assignment(7), Small(block=4, local_search="best-swap", local_search_interval=2), 14)


@pytest.mark.parametrize("most", [20, 2])
def test_torus_with_replacement_by_the_better_and_descent(most):
    engine = Small(size=12, topology="L5", replacement="better", local_search="descent", local_search_interval=5)
    check_twin(assignment(8, symmetric=False, most=most), engine, 11)


@pytest.mark.parametrize("restart_duplicates", [False, True])
def test_replacement_after_the_search(restart_duplicates):
    """A short search often ends worse than the individual was."""
    engine = Small(
        replacement="searched", local_search="best-swap", local_search_interval=1, restart_duplicates=restart_duplicates
    )
    check_twin(assignment(6), engine, 12)


def test_the_later_of_twins_begins_anew():
    problem, engine = (
        assignment(4),
        Small(replacement="better", restart_duplicates=True, local_search="descent", local_search_interval=1),
    )
    check_twin(problem, engine, 12)
    kept = session_of(problem, replace(engine, restart_duplicates=False), False)[1]
    restarted = session_of(problem, engine, False)[1]
    for session in (kept, restarted):
        session.sweep(1, 12, 0, session.lanes)
    count = [len(np.unique(session.population().x[:10], axis=0)) for session in (kept, restarted)]
    assert count[0] < count[1]


@pytest.mark.parametrize("search", ["best-swap", "descent"])
def test_the_first_of_exchanges_that_are_alike(search):
    """Matrices of zeros and ones have many."""
    check_twin(assignment(8, most=2), Small(local_search=search, local_search_interval=1), 8)


def test_children_that_differ_in_a_few_places():
    """More than two and less than a third of all: measured exchange by exchange."""
    engine = Small(size=12, mutation="insertion", mutation_probability=0.9, crossover_probability=0.3)
    check_twin(assignment(15, symmetric=False), engine, 6)


@pytest.mark.parametrize("update", ["line-sweep", "fixed-random", "new-random", "uniform-choice"])
@pytest.mark.parametrize("replacement", ["generation", "better"])
def test_one_after_the_other(update, replacement):
    engine = Small(update=update, replacement=replacement, local_search="best-swap", local_search_interval=3)
    check_twin(assignment(6, symmetric=False), engine, 10)


def test_blocks_of_turns():
    """Where cells come in another order, a block is of turns, not of places."""
    check_twin(assignment(6), Small(update="new-random", block=3), 8)


@pytest.mark.parametrize("selection", ["random", "tournament", "best", "proportional"])
@pytest.mark.parametrize(("crossover", "mutation"), [("pmx", "inversion"), ("order", "insertion"), ("cycle", "swap")])
def test_operators_of_permutations(selection, crossover, mutation):
    """On a problem that offers nothing but its objective."""
    check_twin(Tour(7), Small(selection=selection, crossover=crossover, mutation=mutation), 8)


@pytest.mark.parametrize("search", ["best-swap", "descent"])
def test_local_search_by_plain_evaluation(search):
    check_twin(Tour(6), Small(local_search=search, local_search_interval=3), 7)


@pytest.mark.parametrize("shape", ["L5", "L9", "C9", "C13"])
def test_each_shape(shape):
    engine = Small(size=None, topology=shape, shape=(5, 6), selection="tournament", replacement="better")
    check_twin(Tour(6), engine, 3)


@pytest.mark.parametrize(
    "layout",
    [
        {"topology": "grid", "shape": (3, 4, 3), "radius": 1},
        {"topology": "grid", "shape": (5, 1, 7), "radius": 2},
        {"topology": [[(i + 1) % 9, (i + 3 + i % 2) % 9, (i + 7) % 9] for i in range(9)]},
        {"topology": np.array([[1, 2], [2, 0], [3, 1], [0, 2]])},
    ],
)
def test_grids_of_any_dimension_and_neighbours_of_your_own(layout):
    engine = Small(size=None, selection="tournament", replacement="better", **layout)
    check_twin(Tour(6), engine, 3)


@pytest.mark.parametrize(
    ("neighbours", "told"),
    [
        ([[1], [2]], "3 to 10,000,000 individuals must have a list of neighbours, but 2 have"),
        ([[1, 2], [0], [0, 1]], "individual 0 has 2 and individual 1 1"),
        ([[], [], []], "one or more, but individual 0 has 0 and individual 0 0"),
        ([[1], 2, [0]], "individual 0 has 1 and individual 1 no list"),
        ([[1], [2], [3]], "different numbers from 0 to 2, its own left out, but those of individual 2 are \\[3\\]"),
        ([[1], [1], [0]], "those of individual 1 are \\[1\\]"),
        ([[1, 1], [0, 2], [0, 1]], "those of individual 0 are \\[1, 1\\]"),
        ([[1], [2.5], [0]], "those of individual 1 are \\[2.5\\]"),
    ],
)
def test_neighbours_of_your_own_that_are_refused(neighbours, told):
    with pytest.raises(sy.InputError, match=told):
        sy.Cellular(topology=neighbours).prepare(Tour(5))


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"topology": "grid", "shape": (3, 4, 3)}, "`2 \\* radius < side` .* but got radius 4 and the shape 3 x 4 x 3"),
        ({"topology": "grid", "shape": ()}, "`shape` must be one whole number or more, but got \\(\\)"),
        (
            {"topology": "grid", "shape": (1, 2), "radius": 1},
            "`shape` must have 3 to 10,000,000 places, but 1 x 2 has 2",
        ),
        ({"topology": "L5", "shape": (3, 4, 3)}, "`shape` must be two whole numbers, but got"),
        (
            {"topology": [[1], [2], [0]], "size": 4},
            "neighbours of 3 individuals are listed; leave `size` and `shape` out",
        ),
        ({"topology": 5}, "the topology must be one of ring, L5, L9, C9, C13, grid, but got 5"),
    ],
)
def test_grids_that_are_refused(options, told):
    with pytest.raises(sy.InputError, match=told):
        sy.Cellular(**options).prepare(Tour(5))


@pytest.mark.parametrize(("crossing", "mutating"), [(0, 0.5), (1, 0), (1.0, 1.0), (0.5, 0.0)])
@pytest.mark.parametrize("block", [0, 1, 5])
def test_chances_of_operators(crossing, mutating, block):
    """Never, always, sometimes; a block of one also lets both children mutate or none."""
    engine = Small(crossover_probability=crossing, mutation_probability=mutating, block=block, selection="random")
    check_twin(Tour(7), engine, 4)


@pytest.mark.parametrize("update", ["synchronous", "new-random"])
def test_tabu_search(update):
    """Searches so short that how long they are shows, and with it who has which random numbers."""
    engine = Small(size=6, local_search="tabu", local_search_interval=1, local_search_steps=1, update=update)
    check_twin(assignment(11), engine, 2)


def key_of(doublings, cells):
    """A key to tabu searches that are doubled as often."""
    return next(
        (np.uint64(SEED), SEARCH, 3, cell)
        for cell in cells
        if naive_cellular.tabu_length(1, naive_cellular.stream(SEED, SEARCH, 3, cell)) == 2**doublings
    )


def walk(problem, lengths, search=tabu, doublings=0, cells=range(10**4)):
    """Where tabu searches of these lengths end, and the best that they leave in the population; the twin's, too."""
    design = Small(local_search="tabu").prepare(problem)
    population, lanes, _ = allocate(Setup(problem, design, 1, np.int64, SEED), 2, 1)
    x, world, key = first_of(problem, 1)[0], world_of(problem), key_of(doublings, cells)
    record = widen(record_of(problem)) if search is tabu else record_of(problem)
    steps = naive_cellular.tabu_walk(world, x.tolist(), naive_cellular.stream(*key))
    steps = list(islice(steps, max(lengths) << doublings))
    found = []
    for length in lengths:
        population.x[1], population.scores[1] = x, world.measures(x.tolist())
        population.state[1] = population.scores[1]
        s = before_steps(record, space_of(problem), population, lanes, SEED)
        search(design.record._replace(local_search_steps=length), s, 1, key, 1)
        found.append((lanes.child[1].tolist(), population.x[1].tolist()))
        assert population.scores[1].tolist() == world.measures(found[-1][1])
    return found, [steps[(length << doublings) - 1] for length in lengths]


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("n", [3, 4, 11, 12])
def test_walk_of_a_tabu_search(n, symmetric):
    """Every step is that of robust tabu search with a dictionary of what is forbidden; interpreted."""
    found, wanted = walk(assignment(n, symmetric), (1, 2, 3, 7, 12, 40))
    assert found == wanted


@pytest.mark.parametrize("doublings", [1, 2, 5, 6])
def test_length_of_a_tabu_search(doublings):
    """Doubled as often as coins say, up to 64 times as long."""
    found, wanted = walk(assignment(4), (1, 2), doublings=doublings)
    assert found == wanted


def test_no_tabu_search_is_longer_than_64_times():
    """Seven zeros before the first one count as six."""
    seven = next(c for c in range(10**4) if naive_cellular.stream(SEED, SEARCH, 3, c)(0)[0] % 128 == 0)
    found, wanted = walk(assignment(4), (1, 2), doublings=6, cells=[seven])
    assert found == wanted


@pytest.mark.parametrize("n", [3, 4, 11, 12, 5, 8, 10, 15, 20])
def test_how_long_exchanges_are_forbidden(n):
    """Over many keys, all of 0.9 n to 1.1 n steps after the first exchange, and nothing else."""
    problem = assignment(n)
    design = Small(local_search="tabu").prepare(problem)
    population, lanes, _ = allocate(Setup(problem, design, 1, np.int64, SEED), 2, 1)
    seen = set()
    for cell in range(40):
        key = (SEED, SEARCH, 3, cell)
        if naive_cellular.tabu_length(1, naive_cellular.stream(*key)) == 1:
            population.x[0] = np.arange(n)
            s = before_steps(widen(record_of(problem)), space_of(problem), population, lanes, SEED)
            tabu(design.record._replace(local_search_steps=1), s, 0, key, 0)
            seen |= set(lanes.scratch[0].tolist()) - {0}
    assert seen == {1 + steps for steps in naive_cellular.tenures(n)}


def test_walk_with_all_forbidden():
    """With two decisions there is one exchange, and it is forbidden every other step."""
    found, wanted = walk(assignment(2), range(1, 61))
    assert found == wanted


@pytest.mark.long
def test_walk_of_a_compiled_tabu_search():
    """Long enough for the tabu list to be full, and more decisions than a vector has numbers."""
    compiled = njit(tabu)
    for n, length in ((4, 300), (12, 300), (21, 60)):
        found, wanted = walk(assignment(n, seed=n), (1, 2, length // 2, length), compiled)
        assert found == wanted


@pytest.mark.parametrize(
    ("crossover", "mutation"),
    [(None, None), ("one-point", "swap"), ("uniform", "random-value"), ("two-point", "inversion")],
)
def test_binary(crossover, mutation):
    engine = Small(topology="C9", size=12, crossover=crossover, mutation=mutation)
    check_twin(small_knapsack(70), engine, 6)


@pytest.mark.parametrize(
    ("crossover", "mutation"),
    [("two-point", "random-value"), ("uniform", None), ("one-point", "insertion")],
)
def test_integers(crossover, mutation):
    """Random values stay within bounds; moving values between places would not, so a space of equal ranges."""
    problem = VALLEY
    if mutation == "insertion":
        problem = Valley(np.full(7, -9), np.full(7, 9), VALLEY.middle)
    check_twin(problem, Small(crossover=crossover, mutation=mutation, replacement="better"), 12)


@pytest.mark.parametrize(
    "engine",
    [
        Small(block=4, local_search="best-swap", local_search_interval=2),
        pytest.param(
            Small(update="new-random", local_search="best-swap", local_search_interval=3), marks=pytest.mark.long
        ),
        Small(size=12, topology="L5", replacement="better", local_search="best-swap", local_search_interval=3),
    ],
    ids=["blocks", "new-random", "torus"],
)
def test_compiled_equals_twin(engine):
    check_twin(assignment(7), engine, 12, compiled=True)


@pytest.mark.long
def test_compiled_equals_twin_of_bits():
    check_twin(small_knapsack(70), Small(size=12), 8, compiled=True)


def blend(engine, space, one, two, child, sibling, work, key):
    """Each decision between those of the parents."""
    for i in range(space.n):
        r0, _, _, _ = numbers(key, i)
        low, high = min(one[i], two[i]), max(one[i], two[i])
        child[i] = low + below(r0, high - low + 1)
        sibling[i] = high - (child[i] - low)


def nearer(value, goal):
    """A helper that is not decorated."""
    return value + 1 if value < goal else value - 1 if value > goal else value


def drift(engine, space, x, key):
    """One decision goes a step towards the middle of its range."""
    r0, _, _, _ = numbers(key, 0)
    i = below(r0, space.n)
    x[i] = nearer(x[i], (space.low[i] + space.high[i]) // 2)


def twin_of_blend(world, one, two, numbers):
    low, high = zip(*(sorted(pair) for pair in zip(one, two, strict=True)), strict=True)
    child = [low[i] + int(below(numbers(i)[0], high[i] - low[i] + 1)) for i in range(len(one))]
    return child, [low[i] + high[i] - child[i] for i in range(len(one))]


def twin_of_drift(world, x, numbers):
    i = int(below(numbers(0)[0], len(x)))
    middle = (world.low[i] + world.high[i]) // 2
    return [*x[:i], x[i] + (x[i] < middle) - (x[i] > middle), *x[i + 1 :]]


OWN = Small(crossover=blend, mutation=drift)


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=pytest.mark.long)])
def test_own_crossover_and_mutation(compiled, monkeypatch):
    """A user's functions, with a helper, in the place of those that come with systola."""
    monkeypatch.setitem(naive_cellular.CROSSOVERS, blend, twin_of_blend)
    monkeypatch.setitem(naive_cellular.MUTATIONS, drift, twin_of_drift)
    check_twin(VALLEY, OWN, 8, compiled)


def best_of_all(engine, problem, scores, base, places, key):
    """A selection that looks past the neighbours."""
    chosen = base
    for row in range(base, base + engine.size):
        if scores[row, 0] < scores[chosen, 0]:
            chosen = row
    return chosen


def reverse(engine, s, row, key, lane):
    """A local search that turns a tour around, if that is shorter."""
    space, population, lanes = s.space, s.population, s.lanes
    for k in range(space.n):
        lanes.spare[lane, k] = population.x[row, space.n - 1 - k]
    value = problem_cost(lanes.spare[lane], space.n)
    if value < population.scores[row, 0]:
        population.scores[row, 0] = value
        for k in range(space.n):
            population.x[row, k] = lanes.spare[lane, k]


def problem_cost(x, n):
    total = 0
    for i in range(n):
        total += (x[i] * x[i - 1] + 3 * i * x[i]) % 17
    return total


def test_own_selection_and_local_search(monkeypatch):
    engine = Small(selection=best_of_all, local_search=reverse, local_search_interval=2)
    problem = Tour(7)
    design, session = session_of(problem, engine)
    session.sweep(1, 4, 0, session.lanes)
    world = world_of(problem)
    x, scores = individuals(problem, engine, design, session, 4)
    assert scores == [world.measures(y) for y in x]
    assert all(world.fitness(y) >= world.fitness(y[::-1]) for y in x)
    plain, session = session_of(problem, Small(selection="random"))
    session.sweep(1, 4, 0, session.lanes)
    assert x != individuals(problem, engine, plain, session, 4)[0]


def test_results_and_checkpoints_of_own_operators(tmp_path):
    solve = partial(sy.solve, VALLEY, OWN, seed=SEED, backend="python")
    whole = solve(stop=sy.Iterations(4))
    whole.save(tmp_path / "result.json")
    assert story(sy.Result.load(tmp_path / "result.json")) == story(whole)
    solve(stop=sy.Iterations(2), checkpoint=tmp_path / "state")
    assert story(solve(stop=sy.Iterations(4), resume=tmp_path / "state")) == story(whole)


def stepping(by):
    def step(engine, space, x, key):
        x[0] = min(space.high[0], max(space.low[0], x[0] + by))

    return step


def test_a_checkpoint_belongs_to_what_an_operator_does(tmp_path):
    """A function by the same name that does something else makes another run."""
    solve = partial(sy.solve, VALLEY, backend="python")
    solve(Small(mutation=stepping(1)), stop=sy.Iterations(2), checkpoint=tmp_path / "state")
    with pytest.raises(sy.InputError, match="belongs to another run"):
        solve(Small(mutation=stepping(2)), stop=sy.Iterations(4), resume=tmp_path / "state")


def test_a_function_without_a_name():
    """Refused in a sentence, or taken."""
    engine = Small(mutation=lambda engine, space, x, key: drift(engine, space, x, key))
    with contextlib.suppress(sy.InputError):
        sy.solve(VALLEY, engine, stop=sy.Iterations(1), backend="python")


BOTH = pytest.mark.parametrize(
    ("problem", "engine"),
    [
        (assignment(7), Small(block=4, local_search="best-swap", local_search_interval=2)),
        (assignment(7), Small(update="uniform-choice", local_search="best-swap", local_search_interval=3)),
        pytest.param(small_knapsack(70), Small(size=12), marks=pytest.mark.long),
        pytest.param(VALLEY, OWN, marks=pytest.mark.long),
    ],
    ids=["assignment", "one after the other", "knapsack", "own operators"],
)


@BOTH
def test_backends_agree(problem, engine):
    """One thread, two, and interpreted: the same best, found in the same step, and the same trace."""
    stop = sy.Iterations(12)
    runs = [
        sy.solve(problem, engine, stop=stop, seed=SEED, threads=1),
        sy.solve(problem, engine, stop=stop, seed=SEED, threads=2),
        sy.solve(problem, engine, stop=stop, seed=SEED, backend="python"),
    ]
    assert story(runs[0]) == story(runs[1]) == story(runs[2])
    assert runs[0].evaluations == 25 * engine.size
    assert runs[0].algorithm == "cellular"


def test_trace_is_that_of_the_twin():
    problem, engine = assignment(7), Small(block=4, local_search="best-swap", local_search_interval=2)
    result = sy.solve(problem, engine, stop=sy.Iterations(9), seed=SEED, backend="python")
    world = world_of(problem)
    twin = naive_cellular.run(world, engine, first_of(problem, 10).tolist(), SEED, (1, 10), "pmx", "swap")
    states = list(islice(twin, 10))
    assert [s.objective for s in result.trace.samples] == [-world.fitness(state.best) for state in states]
    assert result.solution.tolist() == states[-1].best
    assert result.found_at == states[-1].found[0]


@pytest.mark.parametrize(
    ("problem", "engine"),
    [
        (assignment(6), Small(block=4, local_search="best-swap", local_search_interval=2)),
        (assignment(6), Small(local_search="tabu", local_search_interval=3, local_search_steps=5)),
        *((assignment(6), Small(update=u)) for u in ("line-sweep", "fixed-random", "new-random", "uniform-choice")),
        (small_knapsack(70), Small(replacement="better")),
        (VALLEY, Small(size=None, topology="L5", shape=(3, 4))),
    ],
)
@pytest.mark.parametrize("pause", [4, 7])
def test_resumed_runs_end_alike(problem, engine, pause, tmp_path):
    """After an even and an odd number of generations; with an order of cells that was drawn in the first step."""
    check_resumed(problem, engine, SEED, 12, pause, tmp_path)


def test_resumed_on_another_backend(tmp_path):
    problem, engine, path = (
        assignment(7),
        Small(update="fixed-random", local_search="best-swap", local_search_interval=2),
        tmp_path / "s",
    )
    whole = sy.solve(problem, engine, stop=sy.Iterations(12), seed=SEED, backend="python")
    sy.solve(problem, engine, stop=sy.Iterations(5), seed=SEED, threads=1, checkpoint=path)
    on_python = sy.solve(problem, engine, stop=sy.Iterations(12), seed=SEED, backend="python", resume=path)
    on_cpu = sy.solve(problem, engine, stop=sy.Iterations(12), seed=SEED, resume=path)
    assert story(whole) == story(on_python) == story(on_cpu)


def test_starts_from_given_solutions():
    problem = assignment(7)
    given = [[6, 5, 4, 3, 2, 1, 0], [1, 0, 3, 2, 5, 4, 6]]
    told = []
    sy.solve(
        problem,
        Small(),
        stop=sy.Iterations(1),
        start=given,
        backend="python",
        callback=lambda p: told.append(p.snapshot().x) if p.snapshot else None,
    )
    assert told[-1][:2].tolist() == given  # the generation before the last is still there


# Neighbourhoods


def offsets(shape):
    """How far away neighbours are, from the drawing of a shape."""
    drawing = {
        "L5": ["..#..", ".#x#.", "..#.."],
        "L9": ["..#..", "..#..", "##x##", "..#..", "..#.."],
        "C9": [".###.", ".#x#.", ".###."],
        "C13": ["..#..", ".###.", "##x##", ".###.", "..#.."],
    }[shape]
    middle = len(drawing) // 2
    return {(i - middle, j - 2) for i, row in enumerate(drawing) for j, mark in enumerate(row) if mark == "#"}


@pytest.mark.parametrize("shape", ["L5", "L9", "C9", "C13"])
@pytest.mark.parametrize(("height", "width"), [(5, 5), (5, 8), (7, 6)])
def test_neighbours_on_a_torus(shape, height, width):
    places = torus(height, width, shape)
    assert places.shape == (height * width, len(offsets(shape)))
    assert len(offsets(shape)) == int(shape[1:]) - 1
    for cell, row in enumerate(places.tolist()):
        i, j = divmod(cell, width)
        wanted = {(i + di) % height * width + (j + dj) % width for di, dj in offsets(shape)}
        assert set(row) == wanted
        assert len(wanted) == len(row)
        assert cell not in row
        assert all(cell in places[other] for other in row)


@pytest.mark.parametrize(("size", "radius"), [(3, 1), (5, 2), (9, 4), (20, 4), (20, 9)])
def test_neighbours_on_a_ring(size, radius):
    places = ring(size, radius)
    assert places.shape == (size, 2 * radius)
    for cell, row in enumerate(places.tolist()):
        assert set(row) == {(cell + d) % size for d in range(-radius, radius + 1)} - {cell}
        assert len(set(row)) == len(row)
        assert all(cell in places[other] for other in row)


@pytest.mark.parametrize(
    ("shape", "least", "refused"), [("L5", 3, (2, 9)), ("C9", 3, (2, 9)), ("L9", 5, (9, 4)), ("C13", 5, (9, 4))]
)
def test_the_smallest_torus(shape, least, refused):
    places = torus(least, least, shape)
    assert all(len({cell, *row}) == len(row) + 1 for cell, row in enumerate(places.tolist()))
    got = f"{refused[0]} x {refused[1]}"
    with pytest.raises(sy.InputError, match=f"{shape} needs a torus of at least {least} x {least}, .* but got {got}"):
        torus(*refused, shape)


@pytest.mark.parametrize(("size", "radius"), [(2, 1), (8, 4), (5, 0)])
def test_rings_that_are_too_small(size, radius):
    with pytest.raises(
        sy.InputError, match=f"must hold, but got radius {radius} on a ring of {size}; choose a smaller"
    ):
        ring(size, radius)


@pytest.mark.parametrize(("size", "shape"), [(1, (1, 1)), (12, (3, 4)), (7, (1, 7)), (36, (6, 6)), (2048, (32, 64))])
def test_near_square(size, shape):
    assert near_square(size) == shape


def test_layout():
    """What a design says of the grid and of the work in a step."""
    design = sy.Cellular(topology="C13", shape=(6, 7)).prepare(Tour(5))
    assert (design.shape, design.cells, design.rows, design.started, design.per_step) == ((6, 7), 42, 84, 42, 84)
    design = sy.Cellular(size=30, topology="C13").prepare(Tour(5))
    assert design.shape == (5, 6)
    design = sy.Cellular(size=30, radius=3, update="line-sweep").prepare(Tour(5))
    assert (design.shape, design.cells, design.rows, design.started, design.per_step) == ((1, 30), 1, 30, 30, 60)


# What is refused


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"size": 2}, r"`size` must be a whole number with 3 <= size <= 10000000, but got 2"),
        ({"size": 9.5}, "`size` must be a whole number"),
        ({"radius": 0}, "`radius` must be a whole number with 1 <= radius <= 1000000, but got 0"),
        ({"size": 8, "radius": 4}, "`2 \\* radius < size` must hold, but got radius 4 on a ring of 8"),
        ({"crossover_probability": 1.5}, "`crossover_probability` must be a number with 0 <= .* <= 1, but got 1.5"),
        ({"crossover_probability": float("nan")}, "`crossover_probability` must be a number with 0 <= .*, but got nan"),
        ({"mutation_probability": -0.1}, "`mutation_probability` must be a number with 0 <= .* <= 1, but got -0.1"),
        ({"mutation_probability": "often"}, "`mutation_probability` must be a number with .*, but got 'often'"),
        ({"block": -1}, "`block` must be a whole number with 0 <= block <= 10000000, but got -1"),
        ({"block": True}, "`block` must be a whole number"),
        (
            {"local_search_interval": 0},
            "`local_search_interval` must be a whole number with 1 <= .* <= 1000000000, but got 0",
        ),
        (
            {"size": 10, "topology": "L5", "shape": (3, 4)},
            "a torus of 3 x 4 does not have `size` 10; leave one out",
        ),
        ({"size": 0}, "`size` must be a whole number with 3 <= size <= 10000000, but got 0"),
        ({"local_search_steps": 0}, "`local_search_steps` must be a whole number with 1 <= .* <= 16777216, but got 0"),
        ({"replacement": "never"}, "the replacement must be one of generation, better, searched, but got 'never'"),
        (
            {"replacement": "searched"},
            "the replacement 'searched' needs a local search, `local_search_interval` 1 and a synchronous",
        ),
        (
            {"update": "x"},
            "the update must be one of synchronous, line-sweep, fixed-random, new-random, uniform-choice, ",
        ),
        ({"topology": "L7"}, "the topology must be one of ring, L5, L9, C9, C13, grid, but got 'L7'"),
        ({"shape": (3, 4)}, "`shape` is for a torus, but the topology is a ring; leave it out"),
        ({"topology": "L5", "shape": 12}, "`shape` must be two whole numbers, but got 12"),
        ({"topology": "L5", "shape": (3, 4, 5)}, r"`shape` must be two whole numbers, but got \(3, 4, 5\)"),
        (
            {"topology": "L5", "shape": (2, 9)},
            "`shape` must be a whole number with 3 <= shape <= 100000, but got 2",
        ),
        ({"topology": "L9", "shape": (4, 9)}, "L9 needs a torus of at least 5 x 5, .* but got 4 x 9"),
        ({"topology": "L5", "size": 7}, "L5 needs a torus of at least 3 x 3, .* but got 1 x 7"),
        (
            {"selection": "roulette"},
            "the selection must be a function or one of random, proportional, best, tournament,",
        ),
        (
            {"crossover": "uniform"},
            "the crossover 'uniform' is not for Order solutions; choose one of pmx, order, cycle",
        ),
        (
            {"mutation": "random-value"},
            "the mutation 'random-value' is not for Order solutions; choose one of swap, ins",
        ),
        ({"mutation": "swop"}, "but got 'swop'; did you mean 'swap'"),
        ({"local_search": "2-opt"}, "a function or one of best-swap, descent, tabu, problem, but got"),
        ({"local_search": "tabu"}, "tabu search needs a problem with a SwapTable, which Tour does not list;"),
    ],
)
def test_bad_parameters(options, told):
    with pytest.raises(sy.InputError, match=told):
        sy.solve(Tour(5), sy.Cellular(**options), backend="python")


@pytest.mark.parametrize(
    ("problem", "options", "told"),
    [
        (OneMax(5), {"local_search": "descent"}, "the local search 'descent' is not for Bits solutions"),
        (
            OneMax(5),
            {"crossover": "pmx"},
            "the crossover 'pmx' is not for Bits solutions; choose one of one-point, two",
        ),
        (VALLEY, {"crossover": "cycle"}, "the crossover 'cycle' is not for Digits solutions; choose one of one-point"),
        (OneMax(1), {}, "a cellular algorithm needs solutions of at least two decisions, but got one"),
    ],
)
def test_problems_that_do_not_fit(problem, options, told):
    with pytest.raises(sy.InputError, match=told):
        sy.solve(problem, sy.Cellular(size=9, radius=1, **options), backend="python")
