"""`solve`: what it takes, what it refuses, and that its answers are right whoever computes them."""

import json
import subprocess
import sys
import warnings

import numba
import numpy as np
import pytest

import systola as sy
import systola.run.loop
from conftest import Balance, OneMax, binary_problems, changed, small_knapsack, small_release, story
from own_problems import FirstPlace
from systola.backends import cpu
from systola.model.objective import evaluate
from systola.model.problem import digest_of, record_of, space_of

ENGINES = [
    *(sy.SGS(flavour, length=9, width=3) for flavour in "TEVB"),
    sy.SGA(size=20),
    sy.EGA(size=21),
    sy.RS(size=15),
    sy.GA(size=11),
    sy.SNS(exponential=True),
    sy.SNS(exponential=True, random=True, moving=True),
]
TWO_THREADS = pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="needs two threads")

FINE, RAISES, RAISES_RUNTIME, DIVIDES, DIVIDES_FLOAT, NAN, NEVER_FEASIBLE, PICKY = range(8)


class Moody(sy.Problem):
    """The number of ones; solutions with at least `limit` ones are treated as `mood` says."""

    encoding = sy.Binary("n")
    n: int
    mood: int = FINE
    limit: int = 0

    def evaluate(self, x):
        ones = 0
        for i in range(self.n):
            if x[i]:
                ones += 1
        value = float(ones)
        broken = 0.0
        if ones >= self.limit:
            if self.mood == RAISES:
                raise ValueError("too many ones")
            if self.mood == RAISES_RUNTIME:
                raise RuntimeError("too many ones")
            if self.mood == DIVIDES:
                value = float(10 // (ones - ones))
            if self.mood == DIVIDES_FLOAT:
                value = 1.0 / (ones - ones)
            if self.mood == NAN:
                value = np.nan
            if self.mood == NEVER_FEASIBLE:
                broken = 1.0 + self.n - ones
        return value, broken

    def violation(self, measures):
        if self.mood == PICKY and measures[0] >= self.limit:
            raise ValueError("too many")
        return measures[1]


def run(problem=None, engine=None, steps=5, **rest):
    return sy.solve(problem or small_knapsack(), engine or sy.SGA(size=20), stop=sy.Iterations(steps), **rest)


def plain_value(problem, solution):
    """The objective by the class's own method, on Python integers."""
    return type(problem).evaluate(problem, solution.astype(int))


@pytest.fixture
def every_step(monkeypatch):
    """Callbacks are called after every step."""
    monkeypatch.setattr(systola.run.loop, "REPORT_SECONDS", 0)


# One seed, one answer


# Each engine with two problems or more, and each problem with one kernel or more: pairs take long to compile.
KERNELS = {"sgs-t": 0, "sgs-e": 0, "sgs-v": 0, "sgs-b": 0, "sga": 1, "ega": 1, "ga": 1, "rs": 2}
PAIRS = [
    pytest.param(
        problem,
        engine,
        id=f"{engine.name}-{type(problem).__name__}",
        marks=pytest.mark.long if k in (1, 2, 4) or (k == 3 and engine.name != "rs") else [],
    )
    for k, problem in enumerate(binary_problems())
    for engine in ENGINES
    if (KERNELS.get(engine.name, 3) + k) % 5 < 2 or k == 0
]


@pytest.mark.parametrize(("problem", "engine"), PAIRS)
def test_threads_and_interpreter_agree(problem, engine):
    one = run(problem, engine, 4, seed=11, threads=1)
    most = numba.config.NUMBA_NUM_THREADS
    assert story(run(problem, engine, 4, seed=11, threads=min(2, most))) == story(one)
    assert story(run(problem, engine, 4, seed=11)) == story(one)
    interpreted = run(problem, engine, 4, seed=11, backend="python")
    assert story(interpreted) == story(one)
    assert (one.backend, interpreted.backend) == ("cpu", "python")
    assert story(run(problem, engine, 4, seed=12)) != story(one)


@pytest.mark.parametrize("engine", ENGINES, ids=lambda e: e.name)
@pytest.mark.parametrize("n", [1, 2, 63, 64, 65, 129])
def test_sizes_at_the_edge_of_a_word(engine, n):
    problem = small_knapsack(n)
    result = run(problem, engine, 3)
    assert result.solution.shape == (n,)
    assert result.objective == problem.profits @ result.solution


def test_interpreted_sums_do_not_overflow():
    engine = sy.RS(size=1)
    ones = np.ones(300, int)
    assert run(OneMax(300), engine, 0, start=ones).objective == 300
    assert run(OneMax(300), engine, 0, start=ones, backend="python").objective == 300


def test_another_seed_is_another_run():
    assert story(run(seed=1)) != story(run(seed=2))
    assert story(run(seed=0)) != story(run(seed=2**64 - 1))


# Objectives


def test_integers_stay_integers_and_floats_floats():
    whole = run(small_knapsack())
    assert type(whole.objective) is int
    assert whole.objective == plain_value(small_knapsack(), whole.solution)[0]
    problem = Balance(np.random.default_rng(5).random(33))
    fraction = run(problem)
    assert type(fraction.objective) is float
    assert fraction.objective == plain_value(problem, fraction.solution)
    scaled = run(sy.MMDP(36))
    assert type(scaled.objective) is float
    assert scaled.objective * sy.MMDP.scale == plain_value(sy.MMDP(36), scaled.solution)


def test_two_objectives_are_a_list():
    problem = small_release()
    result = run(problem)
    assert [type(value) for value in result.objective] == [int, int]
    assert tuple(result.objective) == plain_value(problem, result.solution)


def test_minimise():
    problem = Balance(np.random.default_rng(5).random(33))
    short, long = run(problem, steps=1), run(problem, steps=60)
    assert long.objective < short.objective


class Both(sy.Problem):
    encoding = sy.Binary("n")
    sense = (sy.MAXIMISE, sy.MINIMISE)
    n: int

    def evaluate(self, x):
        return int(x[0]), int(x[1])


def test_several_objectives_need_a_fitness():
    with pytest.raises(sy.InputError, match=r"Both has 2 objectives, and no method `fitness`.*; add it, or take PLS"):
        run(Both(4), sy.SGA(size=2))
    front = sy.solve(Both(4), stop=sy.Iterations(3), backend="python")
    assert front.algorithm == "pls"
    assert np.array(front.front).tolist() == [[1, 0]]

    class Weighed(Both):
        def fitness(self, measures):
            return measures[0] - 2 * measures[1]

    start = [[1, 1, 0, 0], [0, 0, 1, 1]]
    result = run(Weighed(4), sy.SGA(size=2), 0, start=start, backend="python")
    assert result.objective == [0, 0]


@pytest.mark.filterwarnings("ignore::systola.SlowObjectiveWarning")
@pytest.mark.parametrize("value", ["text", None, (1, 2, 3, 4, 5), (), 1j, (1, "two"), np.array([1, 2])], ids=repr)
def test_what_is_no_objective(value):
    class Answer(sy.Problem):
        encoding = sy.Binary("n")
        n: int

        def evaluate(self, x):
            return value

    with pytest.raises(sy.ObjectiveError, match="Answer returned"):
        run(Answer(4), sy.RS(size=2))


def test_fewer_objectives_than_declared():
    class Poor(Both):
        def evaluate(self, x):
            return 1

        def fitness(self, measures):
            return measures[0]

    with pytest.raises(sy.ObjectiveError, match="Poor declares 2 objectives, but evaluate returned 1"):
        run(Poor(4), sy.RS(size=2))


@pytest.mark.parametrize("backend", ["cpu", "python"])
@pytest.mark.parametrize("start", [np.eye(20, dtype=int)[:1], None], ids=["later", "at once"])
def test_nan_is_refused_with_an_example(backend, start):
    problem = Moody(20, NAN, limit=4)
    with pytest.raises(sy.ObjectiveError, match=r"Moody\.evaluate .*NaN.*one of them is \[") as caught:
        run(problem, sy.SGA(size=64), 50, start=start, backend=backend)
    example = [int(digit) for digit in str(caught.value).rpartition("[")[2].rstrip("]").split()]
    assert len(example) == 20
    assert sum(example) >= 4


@pytest.mark.parametrize("threads", [1, pytest.param(2, marks=TWO_THREADS)])
def test_a_constraint_that_raises_later(threads):
    with pytest.raises(sy.ObjectiveError, match="Moody raised ValueError: too many"):
        run(Moody(60, PICKY, limit=41), sy.SGA(size=64), 200, threads=threads)


def test_an_objective_that_raises_at_once():
    with pytest.raises(
        sy.ObjectiveError, match=r"Moody.evaluate raised ValueError: too many ones, for the solution \["
    ):
        run(Moody(20, RAISES, limit=0))


MOODS = {"raise ValueError": RAISES, "raise RuntimeError": RAISES_RUNTIME, "//": DIVIDES, "/": DIVIDES_FLOAT}


@pytest.mark.parametrize("threads", [1, pytest.param(2, marks=TWO_THREADS)])
@pytest.mark.parametrize("mood", MOODS)
def test_an_objective_that_raises_later(mood, threads):
    with pytest.raises(sy.ObjectiveError, match="Moody"):
        run(Moody(20, MOODS[mood], limit=8), sy.SGA(size=64), threads=threads)


@TWO_THREADS
def test_an_error_on_another_thread():
    """One of 64 solutions raises, the last one, which the second thread measures."""
    start = np.zeros((64, 20), int)
    start[63] = 1
    with pytest.raises(sy.ObjectiveError, match="Moody"):
        run(Moody(20, RAISES, limit=20), sy.SGA(size=64), 0, start=start, threads=2)


@pytest.mark.parametrize(
    "mood",
    [
        "raise ValueError",
        pytest.param("raise RuntimeError"),
        "//",
        "/",
    ],
)
def test_an_interpreted_objective_that_raises_later(mood):
    with pytest.raises(sy.ObjectiveError, match="Moody"):
        run(Moody(20, MOODS[mood], limit=8), sy.SGA(size=64), backend="python")


# Objectives that Numba cannot compile


class Filed(sy.Problem):
    """The number of ones, by a dict of lists and the standard library."""

    encoding = sy.Binary("n")
    n: int

    def evaluate(self, x):
        places = {0: [], 1: []}
        for i in range(self.n):
            places[int(x[i])].append(i)
        return len(json.loads(json.dumps(places[1])))


def line_of(text):
    with open(__file__, encoding="utf-8") as file:
        return next(number for number, line in enumerate(file, 1) if text in line and "line_of" not in line)


def test_an_objective_in_plain_python():
    with pytest.warns(sy.SlowObjectiveWarning, match=r"Numba cannot compile Filed\.evaluate.*slower") as caught:
        result = run(Filed(30), sy.RS(size=15))
    assert caught[0].filename == __file__
    assert result.backend == "python"
    assert type(result.objective) is int
    assert story(result) == story(run(OneMax(30), sy.RS(size=15)))


def test_the_warning_names_the_line():
    with pytest.warns(sy.SlowObjectiveWarning) as caught:
        run(Filed(30), sy.RS(size=2))
    message = str(caught[0].message)
    assert "test_solve.py" in message
    lines = [line_of(text) for text in ("places = {0: [], 1: []}", "places[int(x[i])]", "json.loads(json.dumps")]
    assert any(f"line {number}" in message for number in lines)


@pytest.mark.filterwarnings("ignore::systola.SlowObjectiveWarning")
def test_an_interpreted_objective_keeps_its_fractions():
    class Share(sy.Problem):
        encoding = sy.Binary("n")
        n: int

        def evaluate(self, x):
            json.dumps("")
            return sum(map(int, x)) / self.n if x.any() else 0

    assert run(Share(10), sy.RS(size=15)).objective > 0


@pytest.mark.filterwarnings("ignore::systola.SlowObjectiveWarning")
@pytest.mark.parametrize("late", [False, True], ids=["at once", "later"])
def test_a_mistake_in_an_interpreted_objective(late):
    class Mistaken(sy.Problem):
        encoding = sy.Binary("n")
        n: int

        def evaluate(self, x):
            return 0 if late and not x.any() else mistyped(x)  # noqa: F821

    with pytest.raises(sy.ObjectiveError, match="mistyped"):
        run(Mistaken(10), sy.RS(size=15))


def test_an_incremental_method_that_numba_cannot_compile():
    class Lazy(sy.Problem):
        encoding = sy.Binary("n")
        n: int
        evaluate = OneMax.evaluate

        def flip(self, x, row, i, measures):
            json.dumps("")
            measures[0] += 1 - 2 * sy.bit(x, row, i)

        capabilities = (sy.Flips(flip),)

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sy.SlowObjectiveWarning)
            result = run(Lazy(10))
    except sy.ObjectiveError:
        return
    assert story(result) == story(run(OneMax(10)))


def twice(value):
    return 2 * value


def test_plain_helpers_are_compiled_too():
    class Helped(sy.Problem):
        encoding = sy.Binary("n")
        n: int

        def evaluate(self, x):
            return twice(x[0])

    problem = Helped(4)
    assert cpu.evaluate_compiled(record_of(problem), np.ones(4, np.uint8)) == 2


# The last check


class WrongFlip(sy.Knapsack):
    def wrong(self, x, row, i, state):
        state[0] += self.profits[i]

    capabilities = changed(sy.Knapsack, sy.Flips, flip=wrong)


def cross_for_twice_as_much(s, h, v, n, plan, cell, row_h, row_v):
    right = next(entry for entry in sy.Knapsack.capabilities if isinstance(entry, sy.Segments))
    problem = s.problem._replace(entries=2 * s.problem.entries)
    right.cross(s._replace(problem=problem), h, v, n, plan, cell, row_h, row_v)


class WrongCross(sy.Knapsack):
    capabilities = changed(sy.Knapsack, sy.Segments, cross=cross_for_twice_as_much)


class WrongPrefix(sy.Knapsack):
    def nothing(self, x, row, prefix):
        prefix[row, :] = 0

    capabilities = changed(sy.Knapsack, sy.Segments, init=nothing)


@pytest.mark.parametrize(
    ("kind", "engine"),
    [
        (WrongFlip, sy.SGA(size=20)),
        (WrongCross, sy.SGS(length=9, width=3)),
        (WrongPrefix, sy.SGS(length=9, width=3)),
    ],
    ids=["flip", "cross", "prefix"],
)
def test_wrong_incremental_methods_are_found_out(kind, engine):
    right = small_knapsack(200)
    problem = kind(right.profits, right.weights, right.capacity)
    with pytest.raises(sy.CheckFailed, match=rf"plain objective of {kind.__name__}; one of its capabilities is wrong"):
        run(problem, engine, 10, backend="python")


# Infeasible only


def test_nothing_feasible_gives_the_least_infeasible():
    result = run(Moody(20, NEVER_FEASIBLE), sy.SGA(size=64), 30)
    assert not result.feasible
    assert result.violation == 21 - result.solution.sum()
    assert result.violation == min(s.violation for s in result.trace.samples)
    assert result.violation < 21 - 12


def test_less_violation_beats_more_profit():
    problem = small_knapsack()
    greedy = np.ones(40, int)
    modest = greedy.copy()
    modest[:5] = 0
    result = run(problem, sy.SGA(size=2), 0, start=[greedy, modest])
    assert not result.feasible
    assert result.solution.tolist() == modest.tolist()
    assert result.violation == problem.weights[5:].sum() - problem.capacity


# Warm start


@pytest.mark.parametrize("engine", ENGINES, ids=lambda e: e.name)
def test_given_solutions_are_used(engine):
    good = run(steps=40)
    cold = run(engine=engine, steps=0)
    warm = run(engine=engine, steps=0, start=good.solution)
    assert cold.objective < good.objective or not cold.feasible
    assert warm.objective >= good.objective
    assert warm.trace.samples[0].objective >= good.objective
    assert warm.evaluations == cold.evaluations


def test_a_whole_population_is_given():
    start = np.random.default_rng(1).integers(0, 2, (20, 40))
    rows = []
    run(steps=0, start=start, callback=lambda p: rows.append(p.snapshot()) if p.stage == "done" else None)
    problem = small_knapsack()
    assert problem.encoding.load(space_of(problem), rows[0].x)[:20].tolist() == start.tolist()


def test_booleans_and_whole_floats_are_decisions():
    for start in (np.ones(40, bool), np.ones(40), [1] * 40, [[1.0] * 40]):
        assert run(steps=0, engine=sy.RS(size=1), start=start).solution.sum() == 40


@pytest.mark.parametrize(
    ("start", "rule"),
    [
        ([1] * 39, "40 decisions"),
        (np.zeros((2, 41), int), "40 decisions"),
        (np.zeros((1, 1, 40), int), "40 decisions"),
        ([2] + [0] * 39, "0 or 1, but got 2"),
        ([-1] + [0] * 39, "0 or 1"),
        ([0.5] + [0] * 39, "whole numbers"),
        ([float("nan")] + [0] * 39, "whole numbers"),
        (np.zeros((21, 40), int), "at most 20 solutions"),
        pytest.param([[0, 1], [1]], "40 decisions"),
        pytest.param(["a"] * 40, "whole numbers"),
    ],
)
def test_bad_starts(start, rule):
    with pytest.raises(sy.InputError, match=rule):
        run(start=start)


def test_random_search_starts_from_one():
    with pytest.raises(sy.InputError, match="at most 1 solutions"):
        run(engine=sy.RS(size=5), start=np.zeros((2, 40), int))


# Callbacks


def test_what_a_callback_is_told(every_step):
    told = []
    result = run(steps=6, callback=told.append)
    stages = [progress.stage for progress in told]
    assert stages[0] == "compiling"
    assert "starting" in stages
    assert stages[-1] == "done"
    running = [progress for progress in told if progress.stage == "running" and progress.fraction == progress.step / 6]
    assert [progress.step for progress in running if progress.step][-6:] == [1, 2, 3, 4, 5, 6]
    assert told[-1].evaluations == result.evaluations
    assert told[-1].objective == result.objective
    assert told[-1].violation == result.violation


def test_a_callback_ends_the_run(every_step):
    result = run(steps=50, callback=lambda progress: progress.step >= 7)
    assert (result.stop, result.iterations) == ("callback", 7)
    assert not result.repeatable


def test_a_callback_is_not_called_all_the_time():
    told = []
    run(engine=sy.RS(size=2), steps=2000, threads=1, callback=told.append)
    assert len([progress for progress in told if progress.stage == "running"]) < 20


@pytest.mark.parametrize(
    "kind",
    [
        RuntimeError,
        TypeError,
        pytest.param(ValueError),
        pytest.param(KeyError),
    ],
)
@pytest.mark.parametrize("stage", ["compiling", "running"])
def test_errors_of_a_callback_are_its_own(every_step, kind, stage):
    def fail(progress):
        if progress.stage == stage:
            raise kind("in the callback")

    with pytest.raises(kind, match="in the callback"):
        run(callback=fail)


def interrupt_at(stage, step=0):
    def interrupt(progress):
        if progress.stage == stage and progress.step >= step:
            raise KeyboardInterrupt

    return interrupt


def interrupted(*args, **rest):
    """`run`, but an interrupt that comes out of it fails the test instead of ending the session."""
    try:
        return run(*args, **rest)
    except KeyboardInterrupt:
        pytest.fail("the interrupt came out of solve, and the best so far is lost")


@pytest.mark.parametrize("engine", ENGINES, ids=lambda e: e.name)
def test_an_interrupt_returns_the_best_so_far(every_step, engine):
    result = interrupted(engine=engine, steps=50, callback=interrupt_at("running", 9))
    assert (result.stop, result.iterations) == ("interrupted", 9)
    assert not result.repeatable
    assert result.objective == run(engine=engine, steps=9).objective
    assert result.objective == plain_value(small_knapsack(), result.solution)[0]


@pytest.mark.parametrize(
    "engine",
    [
        sy.SGS(length=20, width=4),
        sy.SGA(size=200),
        *(pytest.param(engine) for engine in (sy.SGS(length=9, width=3), sy.SGA(size=20), sy.RS(size=15))),
    ],
    ids=lambda e: f"{e.name} of {e.prepare(small_knapsack()).started}",
)
def test_an_interrupt_while_starting(every_step, engine):
    result = interrupted(engine=engine, callback=interrupt_at("starting"))
    assert (result.stop, result.iterations) == ("interrupted", 0)
    assert result.objective == plain_value(small_knapsack(), result.solution)[0]


def test_an_interrupt_at_the_very_end(every_step):
    result = interrupted(callback=interrupt_at("done"))
    assert result.iterations == 5


# Bad arguments


@pytest.mark.parametrize("seed", [-1, 2**64, 1.0, "1", True, None, [1]])
def test_bad_seeds(seed):
    with pytest.raises(sy.InputError, match=r"0 <= seed < 2\*\*64"):
        run(seed=seed)


def test_seeds_of_numpy():
    assert story(run(seed=np.uint64(2**64 - 1))) == story(run(seed=2**64 - 1))


@pytest.mark.parametrize(
    "threads",
    [
        0,
        -1,
        10**6,
        pytest.param("2"),
        pytest.param(1.0),
    ],
)
def test_bad_threads(threads):
    with pytest.raises(sy.InputError, match="threads"):
        run(threads=threads)


def test_engines_have_names():
    problem = small_knapsack()
    by_name = sy.solve(problem, "sgs-e", stop=sy.Iterations(3), backend="python")
    assert story(by_name) == story(sy.solve(problem, sy.SGS("E"), stop=sy.Iterations(3), backend="python"))


@pytest.mark.parametrize(
    ("engine", "words"),
    [
        ("sgs-x", "no algorithm 'sgs-x'; did you mean"),
        (sy.SGS, "but got <class 'systola"),
        (3, "a name such as 'sgs-b'"),
    ],
)
def test_what_is_no_engine(engine, words):
    with pytest.raises(sy.InputError, match=words):
        sy.solve(small_knapsack(), engine)


@pytest.mark.parametrize("backend", ["gpu", "CPU", "", None])
def test_bad_backends(backend):
    with pytest.raises(sy.InputError, match="cpu, cuda or python"):
        run(backend=backend)


def test_no_gpu_is_a_sentence():
    cuda = pytest.importorskip("numba.cuda", reason="numba-cuda is not installed")
    if cuda.is_available():
        pytest.skip("a GPU is here")
    with pytest.raises(sy.SystolaError, match="GPU"):
        run(backend="cuda")


@pytest.mark.parametrize(
    "engine",
    [
        sy.SGA(size=1),
        sy.SGA(size=10**8),
        sy.SGA(crossover_probability=1.5),
        sy.SGA(mutation_probability=-0.1),
        sy.RS(size=0),
        sy.SGS(length=10**7),
        sy.SGS(width=1.5),
        sy.SGA(size=2.5),
        sy.SGA(size="20"),
        sy.SGA(crossover_probability="often"),
        sy.RS(size="many"),
        sy.SGS(length="abc"),
        pytest.param(sy.SGS(crossover_plan=0.5)),
    ],
    ids=repr,
)
def test_bad_parameters(engine):
    with pytest.raises(sy.InputError):
        run(engine=engine, steps=0)


HUGE = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (4 * 2**30, 4 * 2**30))
import numpy as np, systola as sy
n = int(sys.argv[1])
problem = sy.Knapsack(np.ones(n, int), np.ones(n, int), 5)
try:
    sy.solve(problem, eval(sys.argv[2], vars(sy)), stop=sy.Iterations(1))
except sy.InputError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("n", "engine"),
    [
        (20_000, "SGA(size=10**7)"),
        pytest.param(40, "SGS(length=10**6, width=10**3)"),
        (200_000, "SGS()"),
    ],
)
def test_absurd_sizes_are_refused(n, engine):
    pytest.importorskip("resource")
    done = subprocess.run(
        [sys.executable, "-c", HUGE, str(n), engine], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr[-500:]
    assert "GiB, more than this machine gives" in done.stdout


def test_names_and_places():
    problem = small_knapsack()
    result = run(problem, instance="mine")
    assert (result.instance, result.problem, result.algorithm) == ("mine", "Knapsack", "sga")
    assert run(problem).instance == str(problem)
    assert result.digest == digest_of(problem)
    assert result.parameters == {"size": 20, "crossover_probability": 0.9}


def test_the_recommended_engine():
    problem = small_knapsack()
    assert sy.solve(problem, stop=sy.Iterations(2)).algorithm == "sgs-b"


def test_other_encodings_have_a_recommended_engine():
    result = sy.solve(FirstPlace(4), stop=sy.Iterations(1), backend="python")
    assert (result.algorithm, result.objective) == ("race", 3)


def test_the_plain_objective_agrees():
    for problem in binary_problems():
        solution = run(problem, backend="python").solution
        assert evaluate(record_of(problem), solution.astype(int)) == plain_value(problem, solution)
