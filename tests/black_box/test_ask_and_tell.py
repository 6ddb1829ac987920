"""Ask and tell: the same run as `solve`, however solutions are asked for and told of."""

from __future__ import annotations

import dataclasses
import random

import numpy as np
import pytest
from measured import Limited, Tour, Weighted

import systola as sy
from conftest import Balance, small_knapsack, story
from systola.extend import Design, engine_record, evaluate_full, update_best
from systola.model.problem import record_of
from systola.run.probing import evaluate_interpreted

SMALL = {"size": 9, "topology": "L5", "selection": "tournament"}
BINARY = [
    sy.SGS("B", length=6, width=2),
    sy.SGS("E", length=5, width=3),
    sy.SNS(),
    sy.SNS(exponential=True, random=True, moving=True),
    sy.SGA(size=8),
    sy.EGA(size=7),
    sy.GA(size=6),
    sy.RS(size=6),
    sy.SteadyState(size=6),
    sy.Cellular(**SMALL),
    sy.Cellular(**SMALL, replacement="better", restart_duplicates=True),
    sy.Cellular(**SMALL, update="line-sweep"),
    sy.Cellular(**SMALL, update="uniform-choice"),
    sy.HillClimbing(),
    sy.HillClimbing(improvement="first", on_local_optimum="restart"),
    sy.Tabu(),
    sy.Tabu(ties="random"),
]
ORDERED = [
    sy.Cellular(**SMALL),
    sy.Cellular(**SMALL, local_search="best-swap", local_search_interval=2),
    sy.Cellular(**SMALL, local_search="descent", local_search_interval=1),
    sy.SteadyState(size=6),
    sy.HillClimbing(neighbourhood="insertion"),
    sy.Tabu(),
]
PAIRS = [
    *((Weighted(20), engine) for engine in BINARY),
    *((Tour(7), engine) for engine in ORDERED),
    *((Limited(6, 9), engine) for engine in (sy.Cellular(**SMALL), sy.SteadyState(size=6), sy.HillClimbing())),
    (Weighted(6), sy.SimulatedAnnealing(chains=2)),  # these two ask often, so let there be few solutions
    (Weighted(6), sy.IteratedLocalSearch()),
    (small_knapsack(20), sy.SGS("B", length=6, width=2)),  # with capabilities, which change no run
]


def measure(problem: sy.Problem, x: np.ndarray) -> tuple[float, ...]:
    value = evaluate_interpreted(problem, x)
    return value if isinstance(value, tuple) else (value,)


def converse(search: sy.AskAndTell, problem: sy.Problem) -> int:
    """All that is asked for at once, again and again; how many solutions that were."""
    count = 0
    while not search.over:
        solutions = search.ask()
        count += len(solutions)
        search.tell(solutions, [measure(problem, x) for x in solutions])
    return count


def measures_of(problem: sy.Problem) -> int:
    return len(measure(problem, problem.encoding.example(problem.encoding.space(problem))))


@pytest.mark.filterwarnings("ignore::systola.SlowObjectiveWarning", "ignore::systola.InfeasibleWarning")
@pytest.mark.parametrize(("problem", "engine"), PAIRS, ids=lambda value: getattr(value, "name", type(value).__name__))
def test_it_is_the_run_of_solve(problem, engine):
    stop = sy.Iterations(5)
    search = sy.ask_and_tell(problem, engine, stop=stop, seed=4, backend="python", measures=measures_of(problem))
    count = converse(search, problem)
    wanted = sy.solve(problem, engine, stop=stop, seed=4, backend="python")
    assert story(search.result()) == story(wanted)
    assert type(search.result().objective) is type(wanted.objective)
    if getattr(engine, "local_search", None) is None:  # which is not counted
        assert count <= wanted.evaluations
    assert search.evaluations == wanted.evaluations


@pytest.mark.long
def test_compiled_kernels_do_the_same():
    """As interpreted ones, which are quicker to start."""
    problem, options = Balance(np.random.default_rng(3).random(20)), {"stop": sy.Iterations(12), "seed": 2}
    search = sy.ask_and_tell(problem, **options)
    converse(search, problem)
    assert search.result().backend == "cpu"
    assert story(search.result()) == story(sy.solve(problem, "black-box", backend="python", **options))


def test_an_engine_of_ones_own():
    """One whose cells make two solutions, the second by the measures of the first."""

    def do_cell(self, s, cell, lane):
        population, lanes = s.population, s.lanes
        for _ in range(2):
            row = cell
            x = np.uint64(population.scores[row, 0] + s.step) * np.uint64(2654435761)
            lanes.child[lane, 0] = (x ^ (x >> np.uint64(7)) ^ population.x[row, 0]) & np.uint64(2**20 - 1)
            evaluate_full(s, lanes.child, lane, lane, lanes.state[lane], lanes.trial[lane])
            update_best(s, lane, lanes.child, lane, lanes.trial[lane], s.step, cell)
            if lanes.trial[lane, 0] > population.scores[row, 0]:
                population.x[row, 0] = lanes.child[lane, 0]
                population.scores[row, 0] = lanes.trial[lane, 0]

    class Chained:
        name = "chained"

        def prepare(self, problem):
            record = engine_record("Chained", ["size"], do_cell=do_cell)
            return Design(record=record(4), cells=4, rows=4, started=4, per_step=8, steps=10)

    engine = dataclasses.dataclass(frozen=True)(Chained)()
    problem, stop = Weighted(20), sy.Iterations(8)
    search = sy.ask_and_tell(problem, engine, stop=stop, backend="python")
    converse(search, problem)
    with pytest.warns(sy.SlowObjectiveWarning):
        wanted = sy.solve(problem, engine, stop=stop, backend="cpu")
    assert story(search.result()) == story(wanted)


@pytest.mark.parametrize("seed", range(3))
def test_any_portions_in_any_order(seed):
    problem, stop, draws = Weighted(20), sy.Iterations(6), random.Random(seed)
    plain = sy.ask_and_tell(problem, sy.Cellular(**SMALL), stop=stop, backend="python")
    converse(plain, problem)
    search = sy.ask_and_tell(problem, sy.Cellular(**SMALL), stop=stop, backend="python")
    open_questions: list[np.ndarray] = []
    while not search.over:
        open_questions += list(search.ask(draws.randint(1, 5)))
        assert len(search.unanswered) == len(open_questions)
        draws.shuffle(open_questions)
        for x in open_questions[: draws.randint(1, 4)]:
            search.tell(x, measure(problem, x)[0])
        open_questions = list(search.unanswered)
    assert story(search.result()) == story(plain.result())


@pytest.mark.parametrize("told_before", [0, 3, 9, 14, 40], ids=lambda told: f"after-{told}")
def test_saved_and_restored_at_any_moment(told_before, tmp_path):
    problem, options = Weighted(20), {"engine": sy.Cellular(**SMALL), "stop": sy.Iterations(4), "backend": "python"}
    plain = sy.ask_and_tell(problem, **options)
    wanted = converse(plain, problem)
    first = sy.ask_and_tell(problem, **options)
    for _ in range(told_before):
        first.tell(x := first.ask(1), measure(problem, x[0]))
    first.ask(2)  # and never told of
    first.save(tmp_path / "half")
    second = sy.ask_and_tell(problem, **options, resume=tmp_path / "half")
    assert told_before + converse(second, problem) == wanted
    assert story(second.result()) == story(plain.result())


@pytest.mark.filterwarnings("ignore::systola.SlowObjectiveWarning")
def test_solve_goes_on_from_it(tmp_path):
    problem, engine = Weighted(20), sy.Cellular(**SMALL)
    search = sy.ask_and_tell(problem, engine, stop=sy.Iterations(3), backend="python")
    converse(search, problem)
    search.save(tmp_path / "half")
    resumed = sy.solve(problem, engine, stop=sy.Iterations(6), resume=tmp_path / "half")
    whole = sy.solve(problem, engine, stop=sy.Iterations(6))
    assert story(resumed) == story(whole)


@pytest.mark.filterwarnings("ignore::systola.SlowObjectiveWarning")
def test_the_other_way_round(tmp_path):
    problem, engine = Weighted(20), sy.Cellular(**SMALL)
    sy.solve(problem, engine, stop=sy.Iterations(3), checkpoint=tmp_path / "half")
    whole = sy.solve(problem, engine, stop=sy.Iterations(6))
    options = {"stop": sy.Iterations(6), "backend": "python", "resume": tmp_path / "half"}
    search = sy.ask_and_tell(problem, engine, **options)
    assert search.result().objective == search.result().trace.samples[-1].objective  # known from the checkpoint only
    converse(search, problem)
    assert story(search.result()) == story(whole)


class Tasting(sy.Problem):
    """Measured by people."""

    encoding = sy.Integers(4, 0, 3)
    evaluate = None


def test_without_evaluate():
    search = sy.ask_and_tell(Tasting(), seed=5, stop=sy.Evaluations(200), backend="python")
    while not search.over:
        recipes = search.ask(5)
        search.tell(recipes, recipes.sum(axis=1))
    assert search.result().objective == 12
    with pytest.raises(sy.InputError, match=r"`evaluate` of Tasting is None.*ask_and_tell"):
        sy.solve(Tasting())
    with pytest.raises(sy.InputError, match=r"`evaluate` of Tasting is None.*ask_and_tell"):
        sy.solve(Tasting(), workers=1)


def test_start_from_given_solutions():
    given = np.ones((2, 20), int)
    search = sy.ask_and_tell(Weighted(20), sy.SGA(size=6), start=given, backend="python")
    assert search.ask(1).tolist() == [[1] * 20]
    assert len(search.ask()) == 4  # the two are one and the same solution


def test_a_small_space_is_never_asked_for_twice():
    problem = Weighted(4)
    search = sy.ask_and_tell(problem, sy.Cellular(**SMALL), stop=sy.Iterations(50), backend="python")
    assert converse(search, problem) <= 16
    assert search.over
    assert search.ask().shape == (0, 4)
    assert search.result().stop == "iterations"


def test_several_objectives_give_a_front():
    class Two(sy.Problem):
        encoding = sy.Binary(7)
        sense = (sy.MAXIMISE, sy.MINIMISE)
        evaluate = None

        def fitness(self, measures):
            return measures[0] - measures[1]

    search = sy.ask_and_tell(Two(), sy.PLS(), stop=sy.Iterations(3), backend="python")
    weights = np.arange(1, 8) ** 2 % 7 + 1
    while not search.over:
        solutions = search.ask()
        search.tell(solutions, np.stack([solutions.sum(axis=1), solutions @ weights], axis=1))
    result = search.result()
    assert result.front == [[int(x.sum()), int(x @ weights)] for x in result.front_solutions]
    assert len(result.front) > 2


def opened(**options) -> sy.AskAndTell:
    return sy.ask_and_tell(Weighted(10), sy.SGA(size=6), **{"backend": "python", **options})


def test_before_anything_was_told():
    search = opened()
    with pytest.raises(sy.InputError, match="no result yet: `ask` for solutions and `tell`"):
        search.result()
    search.tell(x := search.ask(1), measure(Weighted(10), x[0]))
    result = search.result()
    assert (result.stop, result.evaluations, result.iterations) == ("unfinished", 1, 0)
    assert result.objective == measure(Weighted(10), x[0])[0]


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ([1, 2], r"`tell` needs a number for each of 3 solutions, but got an array of shape \(2,\)"),
        ([[1, 2]] * 3, r"needs a number for each of 3 solutions, but got an array of shape \(3, 2\)"),
        (["a", "b", "c"], r"needs a number for each of 3 solutions, but got \['a', 'b', 'c'\]"),
        ([[1], [1, 2], [3]], "needs a number for each of 3 solutions, but got"),
        (None, "needs a number for each of 3 solutions, but got None"),
        ([1.0, float("nan"), 2.0], r"must be finite numbers.*solution 1 is worth \[nan\]; leave out what could not"),
        ([1.0, 2.0, float("inf")], r"must be finite numbers.*solution 2 is worth \[inf\]"),
        ([1, 2, 2**53 + 1], "at most 53 bits"),
    ],
)
def test_wrong_values_are_sentences(values, sentence):
    search = opened()
    solutions = search.ask(3)
    with pytest.raises(sy.InputError, match=sentence):
        search.tell(solutions, values)
    assert len(search.unanswered) == 3  # nothing of it was taken


def test_wrong_solutions_are_sentences():
    search = opened()
    solutions = search.ask(3)
    with pytest.raises(sy.InputError, match="a binary encoding needs 10 decisions"):
        search.tell(solutions[:, :4], [1, 2, 3])
    with pytest.raises(sy.InputError, match="binary decisions are 0 or 1"):
        search.tell(solutions + 2, [1, 2, 3])
    others = 1 - solutions
    with pytest.raises(sy.InputError, match="takes solutions that `ask` gave, but solution 0 is none of them: "):
        search.tell(others, [1, 2, 3])
    with pytest.raises(sy.InputError, match=r"solution 1 is worth \(2,\) now and was worth \(1,\) before"):
        search.tell(solutions[[0, 0]], [1, 2])
    search.tell(solutions[[0, 0]], [1, 1])
    search.tell(solutions[0], 1)
    with pytest.raises(sy.InputError, match=r"solution 0 is worth \(5,\) now and was worth \(1,\) before"):
        search.tell(solutions[0], 5)


def test_wrong_options_are_sentences(tmp_path):
    with pytest.raises(sy.InputError, match="islands have several; name the engine of a deme"):
        sy.ask_and_tell(Weighted(10), sy.Islands(sy.SGA(size=6)))
    with pytest.raises(sy.InputError, match="a race has several; name one of them, or none"):
        sy.ask_and_tell(Weighted(10), "race")
    with pytest.raises(sy.InputError, match="the backend is cuda; leave it out"):
        opened(backend="cuda")
    with pytest.raises(sy.InputError, match="`measures` must be a whole number with 1 <= measures <= 4"):
        opened(measures=5)
    with pytest.raises(sy.InputError, match="`count >= 1` must hold"):
        opened().ask(0)
    with pytest.raises(sy.InputError, match=r"needs .*; capabilities are not used where solutions are measured"):
        sy.ask_and_tell(sy.Flowshop(np.ones((3, 4), int)), sy.IteratedGreedy())
    with pytest.raises(sy.InputError, match="cannot be written"):
        opened().save(tmp_path / "no" / "folder")
    opened(seed=2).save(tmp_path / "other")
    with pytest.raises(sy.InputError, match="belongs to another run: its seed is 2"):
        opened(resume=tmp_path / "other")


def test_a_forged_checkpoint_is_a_sentence(tmp_path):
    from systola.run.checkpoint import read_checkpoint, write_checkpoint

    search = opened()
    search.tell(x := search.ask(4), [measure(Weighted(10), row)[0] for row in x])
    search.save(tmp_path / "good")
    state, arrays = read_checkpoint(tmp_path / "good")
    for name, forged in (
        ("told.solutions", arrays["told.solutions"] + 2),
        ("told.solutions", arrays["told.solutions"][:, :5]),
        ("told.solutions", arrays["told.solutions"][:2]),
        ("told.values", arrays["told.values"] * np.nan),
        ("told.values", arrays["told.values"].astype(np.int64)),
        ("told.known", arrays["told.known"] + 5),
        ("given", np.zeros((1, 7), np.uint64)),
    ):
        write_checkpoint(tmp_path / "bad", state, {**arrays, name: forged})
        with pytest.raises(sy.InputError):
            opened(resume=tmp_path / "bad")


def test_the_record_of_the_user_stays_his():
    """Black boxes have records of their own; the problem is as it was."""
    problem = Limited(6, 9)
    before = type(record_of(problem))
    sy.ask_and_tell(problem, sy.SteadyState(size=6), backend="python", measures=2)
    assert type(record_of(problem)) is before
