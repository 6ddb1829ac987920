"""Pareto local search against its naive twin, and what must hold whatever it does."""

import itertools

import numpy as np
import pytest

import systola as sy
from conftest import story
from engines import naive_pareto
from own_problems import total
from systola.backends.cpu import CpuSession
from systola.backends.lane import step_lane
from systola.backends.session import Setup
from systola.backends.step import at_step
from systola.engines import archiving, pareto
from systola.engines.engine import end_step
from systola.model.problem import bind, senses_of
from systola.pareto.archive import nondominated

SEED = 11


def shop(jobs=6, objectives="makespan,tardiness,tardy", seed=1):
    draws = np.random.default_rng(seed)
    times = draws.integers(1, 20, (jobs, 3))
    return sy.Flowshop(times, due=draws.integers(20, 20 * jobs, jobs), objectives=objectives)


def session_of(problem, engine, compiled=False, threads=1):
    bind(type(problem))
    session = CpuSession(Setup(problem, engine.prepare(problem), 4, np.int64, SEED), threads, compiled)
    session.start(0, session.lanes)
    return session


def sections(population):
    """Solutions of the archive with whether they were explored, and those put aside."""
    memory = population.memory
    count, aside = memory[archiving.MEMBERS], memory[archiving.FRONT]
    room = len(memory) - archiving.FLAGS
    rows = population.x[1 : 1 + count].tolist()
    flags = memory[archiving.FLAGS :][:count].astype(bool).tolist()
    return list(zip(rows, flags, strict=True)), population.x[1 + room :][:aside].tolist()


@pytest.mark.parametrize("engine", [sy.PLS(), sy.PLS("dominating"), sy.PLS(archive_size=3)], ids=repr)
@pytest.mark.parametrize("objectives", ["makespan,tardiness,tardy", "flowtime,makespan", "makespan"])
def test_twin(engine, objectives):
    problem = shop(objectives=objectives)
    count = len(senses_of(problem))

    def measure(x):
        return 0, tuple(int(v) for v in problem.evaluate(np.array(x))[:count])

    session = session_of(problem, engine)
    first = session.population().x[0].tolist()
    restarts = 0
    for step, wanted in enumerate(itertools.islice(naive_pareto.run(measure, engine, first, SEED), 25)):
        if step:
            session.sweep(step, 1, 0, session.lanes)
            population = session.population()
            assert population.x[0].tolist() == wanted.now, f"step {step}"
            archive, aside = sections(population)
            assert archive == [(m.x, m.explored) for m in wanted.archive], f"step {step}"
            assert aside == [m.x for m in wanted.aside]
            restarts = wanted.restarts
    assert restarts > 0 or len(archive) > 5  # the run goes somewhere


@pytest.mark.parametrize("accept", ["non-dominated", "dominating"])
def test_same_story_whoever_runs_it(accept):
    problem, engine, stop = shop(7), sy.PLS(accept), sy.Iterations(20)
    runs = [
        sy.solve(problem, engine, stop=stop, seed=3, **how)
        for how in ({"backend": "python"}, {"threads": 1}, {"threads": 2})
    ]
    assert len({str((story(r), r.front, r.front_solutions.tolist())) for r in runs}) == 1


def test_the_front_holds_what_it_says():
    problem = shop(9, "makespan,tardiness")
    result = sy.solve(problem, sy.PLS(), stop=sy.Iterations(60), seed=2)
    vectors = np.array(result.front)
    assert nondominated(vectors).all()
    assert vectors.tolist() == sorted(vectors.tolist())
    for vector, x in zip(result.front, result.front_solutions, strict=True):
        assert vector == [int(v) for v in problem.evaluate(x)[:2]]
    assert result.objective in result.front


def test_small_fronts_are_exact():
    """Of six jobs all orders can be tried; with restarts the search finds the whole front."""
    problem = shop(6, "makespan,tardiness")
    every = np.array([problem.evaluate(np.array(x))[:2] for x in itertools.permutations(range(6))])
    wanted = np.unique(every[nondominated(every)], axis=0)
    result = sy.solve(problem, sy.PLS(), stop=sy.Iterations(400))
    assert result.front == wanted.tolist()


def test_the_population_grows(monkeypatch):
    """Room for two members at first: the same run as with more, and as one that goes on from a checkpoint."""
    problem, engine = shop(8), sy.PLS()
    wanted = session_of(problem, engine)
    wanted.sweep(1, 15, 0, wanted.lanes)
    monkeypatch.setattr(pareto, "_FIRST_ROOM", 2)
    small = session_of(problem, engine)
    memory = small.memory
    small.sweep(1, 8, 0, small.lanes)
    assert small.memory > memory
    again = session_of(problem, engine)
    again.restore(small.save())
    for session in (small, again):
        session.sweep(9, 7, 0, session.lanes)
        assert sections(session.population()) == sections(wanted.population())


def test_there_is_room_only_for_what_stays(monkeypatch):
    """Of one objective the best of all neighbours comes into the archive, however many are better than its members."""
    monkeypatch.setattr(pareto, "_FIRST_ROOM", 3)
    session = session_of(shop(12, "flowtime"), sy.PLS())
    memory = session.memory
    for step in range(1, 12):
        session.sweep(step, 1, 0, session.lanes)
        found = session._lanes.move.max() + 1
        assert (session.memory, found <= 1) == (memory, True)


@pytest.mark.parametrize("engine", [sy.PLS(), sy.PLS(archive_size=3)], ids=repr)
def test_the_end_of_a_step_can_be_left(engine):
    """A stop that comes when all neighbours are measured: nobody waits until thousands are compared with each other."""
    session = session_of(shop(9), engine)
    session.sweep(1, 1, 0, session.lanes)
    before = sections(session.population())
    design = session._setup.design
    s = at_step(design.record, session._base, 2)
    for lane in range(session.lanes):
        step_lane(design.record, s, design.cells, lane)
    assert (session._lanes.move >= 0).any()
    session.ask_to_stop(at_once=True)
    assert end_step(design.record, s)
    assert session.is_left()
    assert sections(session.population()) == before


def test_a_full_archive_takes_only_what_dominates():
    session = session_of(shop(9, "makespan,tardiness"), sy.PLS(archive_size=2))
    most = [0, 0]
    for step in range(1, 41):
        session.sweep(step, 1, 0, session.lanes)
        most = [max(m, len(s)) for m, s in zip(most, sections(session.population()), strict=True)]
    assert most == [2, 2]


class Choice(sy.Problem):
    """Two profits of a selection, both to be maximised, against its size."""

    encoding = sy.Binary("one")
    sense = (sy.MAXIMISE, sy.MAXIMISE, sy.MINIMISE)
    one: np.ndarray
    two: np.ndarray

    def evaluate(self, x):
        size = 0
        for i in range(len(x)):
            size += x[i]
        return total(self.one, x), total(self.two, x), size

    def fitness(self, measures):
        return measures[0] + measures[1] - measures[2]


@pytest.mark.parametrize("neighbourhood", ["flip", "flip-two"])
def test_senses_of_objectives(neighbourhood):
    problem = Choice(np.array([5, 3, 9, 2, 7]), np.array([2, 8, 1, 9, 3]))
    result = sy.solve(problem, sy.PLS(neighbourhood=neighbourhood), stop=sy.Iterations(200), backend="python")
    every = np.array([problem.evaluate(np.array(x)) for x in itertools.product((0, 1), repeat=5)])
    best = np.unique(every[nondominated(-every * np.array(senses_of(problem)))], axis=0).tolist()
    assert all(vector in best for vector in result.front) if neighbourhood == "flip-two" else result.front == best


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"accept": "all"}, "`accept` must be non-dominated or dominating, but got 'all'"),
        ({"archive_size": 0}, "`archive_size` must be a whole number with 1 <= archive_size"),
        ({"neighbourhood": "flip"}, "the neighbourhood of Flowshop must be one of swap, insertion, reversal"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(sy.InputError, match=message):
        sy.solve(shop(), sy.PLS(**parameters))
