"""The race of engines: turns as a plain reference has them, the same on every machine, with checkpoints, in time."""

import functools
import math
import threading
import time
from itertools import count

import numpy as np
import pytest

import systola as sy
from engines.test_annealing import cover
from model.declared_problems import PlainQubo
from systola.backends import cpu
from systola.backends.cpu import CpuSession
from systola.backends.session import Setup
from systola.engines.race import Race
from systola.extend import open_search
from systola.jit.compile import Call, kernel
from systola.run.budget import Stop
from systola.run.compilers import Job
from systola.run.engine_search import EngineSearch
from systola.run.race import open_race
from systola.run.racer import Racer

ENGINES = (sy.SimulatedAnnealing(chains=1), sy.IteratedLocalSearch(chains=1), sy.Tabu(ties="random"), sy.SGS("B", 4, 4))


def qubo(n=24):
    return PlainQubo(np.random.default_rng(3).integers(-20, 30, (n, n)))


def opened(problem, race, stop, slow=None):
    """The search of a race, interpreted; those of `slow` are ready only when its event is set."""

    def open_one(setup, engine):
        if slow and setup.design.record.__class__.__name__.startswith(tuple(slow)):
            assert next(
                event for name, event in slow.items() if setup.design.record.__class__.__name__.startswith(name)
            ).wait(60)
        return EngineSearch(setup, CpuSession(setup, None, compiled=False))

    setup = Setup(problem, race.prepare(problem), 1, np.int64, 5)
    search = open_race(race, setup, stop, open_one)
    search.compile()
    return search


def run(search, steps, chunk=7):
    """In calls of so many steps."""
    while search.step < steps or not search.whole:
        search.advance(min(chunk, steps - search.step))


def play(search, seconds, meanwhile=lambda: None):
    """From the start on, until the clock of the race says so."""
    search.start()
    while search._clock < seconds:
        search.advance(1000, 0.05)
        meanwhile()


def told(search):
    return [(row["algorithm"], row["verdict"], row.get("objective"), row.get("iterations")) for row in search.race()]


def told_at_the_end(search):
    return told(search), search.best().step, search.best().decisions.tolist()


@functools.cache
def whole():
    """What is told of a race of 60 iterations without a pause."""
    search = opened(qubo(), Race(ENGINES), Stop(iterations=60))
    search.start()
    run(search, 60)
    return told_at_the_end(search)


def reference(problem, engines, iterations, share):
    """A race as one would first write it, of searches that are run one after the other: (verdict, best, steps) each."""
    searches = [open_search(problem, engine, seed=5, backend="python") for engine in engines]
    turn = [share / len(engines), share / 2]
    spent = 0

    def make_turn(search, part):
        nonlocal spent
        until = math.ceil((spent / iterations + part) * iterations)
        search.advance(until - spent)
        spent = until

    def worth(search):
        return int(search.best().measures[0])

    for search in searches:
        search.start()
        make_turn(search, turn[0])
    ranked = sorted(searches, key=worth, reverse=True)  # stable: of equals the first
    for search in ranked[:2]:
        make_turn(search, turn[1])
    order = sorted(searches, key=worth, reverse=True)
    winner = order[0]
    winner.inject([search.best().decisions for search in order[1:]])
    winner.advance(iterations - spent)
    verdicts = [
        "won" if s is winner else f"out after the {'second' if s in ranked[:2] else 'first'} round" for s in searches
    ]
    return [(verdict, worth(s), s.step) for verdict, s in zip(verdicts, searches, strict=True)]


@pytest.mark.parametrize("iterations", [40, pytest.param(100, marks=pytest.mark.long)])
@pytest.mark.parametrize("engines", [ENGINES, ENGINES[::-1], ENGINES[1:]])
def test_turns_are_those_of_the_reference(engines, iterations):
    search = opened(qubo(), Race(engines, share=0.3), Stop(iterations=iterations))
    search.start()
    run(search, iterations)
    wanted = reference(qubo(), engines, iterations, 0.3)
    assert [(verdict, best, steps) for _, verdict, best, steps in told(search)] == wanted
    assert search.best().measures[0] == max(best for _, best, _ in wanted)
    assert sum(steps for *_, steps in wanted) == iterations


@pytest.mark.parametrize("chunk", [1, pytest.param(3, marks=pytest.mark.long), 1000])
def test_calls_may_be_of_any_length(chunk):
    search = opened(qubo(), Race(ENGINES), Stop(iterations=60))
    search.start()
    run(search, 60, chunk)
    assert told_at_the_end(search) == whole()


@pytest.mark.parametrize(
    "step",
    [pytest.param(step, marks=pytest.mark.long if step in (5, 14, 33) else []) for step in (0, 1, 5, 9, 14, 20, 33)],
)
def test_a_race_goes_on_from_a_checkpoint(step):
    first, second = (opened(qubo(), Race(ENGINES), Stop(iterations=60)) for _ in range(2))
    first.start()
    run(first, step)
    state, arrays = first.save()
    assert state["step"] == step
    second.restore(state, {name: array.copy() for name, array in arrays.items()})
    run(second, 60)
    assert told_at_the_end(second) == whole()


@pytest.fixture(scope="module")
def saved():
    """The state of a race after 20 iterations."""
    search = opened(qubo(), Race(ENGINES), Stop(iterations=60))
    search.start()
    run(search, 20)
    state, arrays = search.save()
    return state, {name: array.copy() for name, array in arrays.items()}


@pytest.mark.parametrize("part", ["racers", "turn", "contenders", "best"])
@pytest.mark.parametrize("bad", [None, 3, [], [9, 9], [None] * 4, [None] * 6, [["x"] * 4] * 4])
def test_a_checkpoint_that_is_none(part, bad, saved):
    if part == "contenders" and bad == []:
        pytest.skip("as before the second round")
    state, arrays = saved
    with pytest.raises(sy.InputError, match="must be one of a race"):
        opened(qubo(), Race(ENGINES), Stop(iterations=60)).restore({**state, part: bad}, arrays)


@pytest.mark.parametrize("engines", [ENGINES[:2], pytest.param(ENGINES, marks=pytest.mark.long)], ids=len)
def test_the_same_seed_gives_the_same_race(engines):
    problem, stop = cover(12, 24), sy.Evaluations(30_000)
    plain, one, two = (
        sy.solve(problem, Race(engines), stop=stop, seed=3, **how)
        for how in ({"backend": "python"}, {"threads": 1}, {"threads": 2})
    )
    for result in (one, two):
        assert result.repeatable
        assert result.solution.tolist() == plain.solution.tolist()
        assert [s.objective for s in result.trace.samples] == [s.objective for s in plain.trace.samples]
        rows = [{**row, "seconds": 0} for row in result.race]
        assert rows == [{**row, "seconds": 0} for row in plain.race]
    assert plain.evaluations <= 30_000


def test_a_run_of_a_race_goes_on_from_a_file(tmp_path):
    problem, race = qubo(), Race(ENGINES)
    whole = sy.solve(problem, race, stop=sy.Iterations(60), backend="python")
    sy.solve(
        problem,
        race,
        stop=sy.Iterations(60),
        backend="python",
        checkpoint=tmp_path / "c",
        callback=lambda p: p.step > 9,
    )
    again = sy.solve(problem, race, stop=sy.Iterations(60), backend="python", resume=tmp_path / "c")
    assert again.solution.tolist() == whole.solution.tolist()
    assert [{**row, "seconds": 0} for row in again.race] == [{**row, "seconds": 0} for row in whole.race]


@pytest.fixture
def clock(monkeypatch):
    """A millisecond passes whenever somebody looks, so that a busy machine changes nothing."""
    ticks = count()
    monkeypatch.setattr(time, "perf_counter", lambda: next(ticks) / 1000)


def race_for(seconds, search, events=()):
    """Set each event after its part of the time."""
    search.start()
    spent = 0.0
    while spent < seconds:
        search.advance(2, 0.05)
        spent = sum(row.get("seconds", 0.0) for row in search.race())
        for after, event in events:
            if spent > after:
                event.set()
                for racer in search.racers:
                    racer.ready.wait(60)


def test_who_is_not_compiled_in_time_is_left_out(clock):
    never = threading.Event()
    search = opened(qubo(6), Race(ENGINES, share=0.5), Stop(seconds=0.5), slow={"Tabu": never})
    search.racers[1].ready.wait(60)
    race_for(0.5, search)
    never.set()
    rows = {name: verdict for name, verdict, *_ in told(search)}
    assert rows["tabu"] == "left out: its kernels were still being compiled"
    assert rows["sgs-b"] == "left out: its kernels were still being compiled"  # they are compiled in their order
    assert sorted((rows["sa"], rows["ils"])) == ["out after the first round", "won"]


def test_latecomers_have_their_turn(clock):
    late = threading.Event()
    search = opened(qubo(6), Race(ENGINES, share=0.5), Stop(seconds=0.5), slow={"Tabu": late})
    search.racers[1].ready.wait(60)
    race_for(0.5, search, [(0.15, late)])
    assert all(steps for *_, steps in told(search))


def test_an_engine_whose_step_is_too_large_is_left_out():
    result = sy.solve(qubo(), Race(ENGINES), stop=sy.Evaluations(3000), backend="python")
    rows = {row["algorithm"]: row["verdict"] for row in result.race}
    least = ENGINES[1].prepare(qubo()).started + ENGINES[1].prepare(qubo()).per_step
    assert rows["ils"] == f"left out: a first step takes {least} evaluations, and its turn has 120"
    assert not any(rows[name].startswith("left out") for name in ("sa", "tabu", "sgs-b"))
    assert result.evaluations <= 3000


def test_an_engine_that_does_not_fit_is_left_out():
    result = sy.solve(qubo(1), Race(ENGINES), stop=sy.Iterations(9), backend="python")
    assert next(row for row in result.race if row["algorithm"] == "tabu")["verdict"].startswith(
        "left out: a neighbourhood"
    )


def test_an_engine_that_cannot_be_compiled_is_left_out():
    search = opened(qubo(), Race(ENGINES), Stop(iterations=20))
    broken = search.racers[1]
    broken.ready.wait()
    search.racers[1] = Racer(broken.name, broken.design, broken.open)
    search.racers[1].failure = ValueError("no")
    search.racers[1].ready.set()
    search.start()
    run(search, 20)
    assert told(search)[1][1] == "left out: no"


def test_what_a_user_sees(tmp_path):
    result = sy.solve(qubo(), stop=sy.Iterations(60), backend="python")
    assert result.algorithm == "race"
    assert "won" in result.summary()
    result.save(tmp_path / "result.json")
    assert sy.Result.load(tmp_path / "result.json").race == result.race
    for bad in ("x", [3], [{"algorithm": 1, "verdict": ""}]):
        with pytest.raises(sy.InputError, match="its race is"):
            sy.Result.from_json({**result.to_json(), "race": bad})


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"engines": "sa"}, "a race is between engines"),
        ({"engines": (3, 4)}, "a race is between engines"),
        ({"engines": (sy.Tabu(),)}, "at least two engines, but got 1"),
        ({"engines": ENGINES, "share": 0.6}, "`share` must be"),
        ({"engines": ENGINES, "share": float("nan")}, "`share` must be"),
    ],
)
def test_what_is_refused(options, said):
    with pytest.raises(sy.InputError, match=said):
        Race(**options)


def test_a_cap_ends_a_run_and_is_told():
    result = sy.solve(qubo(), Race(ENGINES), stop=Stop(evaluations=10**9, cap=0.3), backend="python")
    assert result.stop == "seconds"
    assert not result.repeatable
    assert any("met its cap of 0.3 s before its budget of 1,000,000,000 evaluations" in note for note in result.notes)
    assert not result.faults
    short = sy.solve(qubo(), Race(ENGINES), stop=Stop(evaluations=3000, cap=60), backend="python")
    assert short.repeatable
    assert short.stop == "evaluations"


def _one_more(x):
    return x + 1


class _SearchWithJobs(EngineSearch):
    """Interpreted, with a kernel to compile all the same."""

    def jobs(self):
        return [Job(Call(kernel(_one_more), (1,)), "one more", "none", None)]


def test_racers_get_ready_where_no_other_process_compiles():
    def open_one(setup, engine):
        return _SearchWithJobs(setup, CpuSession(setup, None, compiled=False))

    race, problem = Race(ENGINES, share=0.3), qubo()
    search = open_race(race, Setup(problem, race.prepare(problem), 1, np.int64, 5), Stop(iterations=40), open_one)
    search.compile()
    for racer in search.racers:
        assert racer.ready.wait(20)


@pytest.mark.long
def test_the_winner_does_not_stop_to_compile_what_it_takes_solutions_by():
    def open_one(setup, engine):
        return EngineSearch(setup, CpuSession(setup, 1))

    race, problem = Race(ENGINES[:2], share=0.3), qubo()
    search = open_race(race, Setup(problem, race.prepare(problem), 1, np.int64, 5), Stop(iterations=40), open_one)
    search.compile()
    for racer in search.racers:
        assert racer.ready.wait(120)
    compiled = len(cpu.accept.signatures)
    assert compiled >= 2
    search.start()
    run(search, 40)
    assert len(cpu.accept.signatures) == compiled
