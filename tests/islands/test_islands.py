"""Islands on threads: repeatable if synchronous, replayed if not; nothing lost; any engine; checkpoints; bad input."""

import json
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import systola as sy
from conftest import OneMax, small_knapsack, story
from engines.naive_steady_state import Twin
from systola.formats.generalized_assignment_generator import generate
from systola.islands.deme import Deme, seed_of
from systola.islands.deme_session import DemeSession
from systola.islands.islands import Islands
from systola.islands.message import Message, message_size, pack, unpack
from systola.islands.torus import connectivity, neighbours_of
from systola.islands.transport import Mailboxes
from systola.model.problem import space_of


def assignment(jobs=40, agents=5, seed=1):
    return generate("e", agents, jobs, seed)


def run(islands, steps=400, problem=None, **rest):
    return sy.solve(problem or assignment(), islands, stop=sy.Iterations(steps), **rest)


def told(result):
    """All that must not depend on who computed it: clocks left out."""
    demes = [{k: v for k, v in d.items() if k not in ("computing", "migrating")} for d in result.islands["demes"]]
    return story(result), demes


# Where demes are and what they send


@pytest.mark.parametrize("demes", [1, 2, 3, 4, 5, 6, 9, 12, 64, 97])
def test_neighbours_are_mutual(demes):
    for deme in range(demes):
        around = neighbours_of(deme, demes)
        assert len(around) == len(set(around)) == connectivity(demes)
        assert deme not in around
        assert all(deme in neighbours_of(other, demes) for other in around)
    assert connectivity(demes) == {1: 0, 2: 1, 4: 2}.get(demes, connectivity(demes))
    if demes >= 9 and demes != 97:
        assert connectivity(demes) == 4


@pytest.mark.parametrize("dtype", [np.int32, np.uint64])
def test_parcels_survive_packing(dtype):
    rows = np.arange(14).reshape(2, 7).astype(dtype)
    message = Message(3, 1, 12, 450, np.array([1, 0], np.uint8), rows)
    room = np.zeros(message_size(2, rows[0]), np.uint8)
    pack(message, room)
    again = unpack(room, rows[0])
    assert again[:4] == message[:4]
    assert again.elite.tolist() == [1, 0]
    assert again.rows.tolist() == rows.tolist()
    pack(message._replace(elite=message.elite[:1], rows=rows[:1]), room)
    assert unpack(room, rows[0]).rows.tolist() == rows[:1].tolist()


def test_demes_have_streams_of_their_own():
    seeds = [seed_of(1, deme) for deme in range(1000)]
    assert len(set(seeds)) == 1000
    assert seed_of(2, 0) != seeds[0]


def test_a_full_box_refuses_and_takes_again_when_emptied():
    box = Mailboxes(1, slots=4, rate=2)
    message = Message(1, 0, 0, 50, np.zeros(2, np.uint8), np.zeros((2, 3), np.int32))
    assert [box.post(message) for _ in range(3)] == [True, True, False]
    assert box.post(message._replace(source=2))
    assert not box.post(message._replace(target=3))  # slots are for all neighbours together
    assert len(box.collect(1, 0)) == 3
    assert box.post(message)
    assert box.post(message._replace(target=3))
    assert not box.post(message)
    assert len(box.collect(3, 0)) == 1
    assert box.post(message)


def test_what_was_under_way_takes_its_slots_again():
    box = Mailboxes(1, slots=4, rate=2)
    message = Message(1, 0, 0, 50, np.zeros(2, np.uint8), np.zeros((2, 3), np.int32))
    box.restore([message, message._replace(target=2)])
    assert not box.post(message)
    assert len(box.collect(2, 0)) == 1
    assert box.post(message)


# One seed, one answer


@pytest.mark.parametrize("demes", [1, 2, 5])
def test_synchronous_islands_can_be_repeated(demes):
    islands = Islands(sy.SteadyState(size=20), demes, synchronous=True)
    one = run(islands, threads=1)
    assert told(run(islands, threads=2)) == told(one)
    assert one.repeatable
    other = run(islands, threads=1, seed=2)
    assert told(other) != told(one)
    assert (one.seed, other.seed) == (1, 2)


def test_asynchronous_demes_in_turns_can_be_repeated():
    """However long a stretch takes, and in however many calls."""
    slow, quick = (Islands(sy.SteadyState(size=20), 5, delays=delays) for delays in ((0.002, 0, 0.001, 0, 0), ()))
    stop = sy.Stop(stall=400)
    one = sy.solve(assignment(), quick, stop=stop, seed=1, threads=1)
    assert one.repeatable
    assert told(sy.solve(assignment(), slow, stop=stop, seed=1, threads=1)) == told(one)
    assert one.islands["injected"] > 100
    assert not run(quick, threads=2).repeatable
    assert not sy.solve(assignment(), quick, stop=sy.Seconds(0.1), threads=1).repeatable


def test_being_watched_changes_nothing(monkeypatch):
    """Progress is told by a thread that must not reach into a session: others are at work in it."""
    monkeypatch.setattr("systola.islands.archipelago.REPORT_SECONDS", 0.0)
    islands = Islands(sy.SteadyState(size=20), 4, synchronous=True)
    look, lookers = DemeSession.best, []
    monkeypatch.setattr(DemeSession, "best", lambda self: lookers.append(threading.current_thread()) or look(self))
    heard = []
    watched = run(islands, 3000, threads=2, callback=lambda p: heard.append(p) and False)
    # For each deme: to compile it, its first population, and its report at the end.
    assert lookers.count(threading.main_thread()) == 3 * 4
    assert told(watched) == told(run(islands, 3000, threads=2))
    assert len(heard) > 20
    assert heard[-1].objective == watched.objective
    assert heard[-1].evaluations == watched.evaluations


def test_interpreted_islands_agree():
    islands = Islands(sy.SteadyState(size=6), 3, synchronous=True, export_every=10, import_every=5)
    problem = assignment(12, 3)
    assert told(run(islands, 40, problem, backend="python")) == told(run(islands, 40, problem))


def test_a_deme_equals_the_obvious_twin_with_immigrants():
    """Elites become children, others parents, one in each iteration, the oldest first."""
    problem, islands = assignment(15, 4), Islands(sy.SteadyState(size=8), 2)
    engine = sy.SteadyState(size=8)
    from systola.backends.session import Setup

    deme = Deme(0, Setup(problem, engine.prepare(problem), 2, np.int64, 5), islands, [1])
    deme.start()
    twin = Twin(problem, 8, engine.crossover_probability, engine.mutation_probability, 5)
    draws = np.random.default_rng(1)
    queue = []
    for stretch in range(4):
        rows = draws.integers(0, 4, (2, 15)).astype(np.int32)
        elite = np.array([stretch % 2, 0], np.uint8)
        deme.receive(Message(0, 1, stretch, 0, elite, rows))
        queue += list(zip(rows.tolist(), elite, strict=True))
        for step in range(25 * stretch + 1, 25 * stretch + 26):
            immigrant = queue.pop(0) if queue else (None, False)
            twin.advance(step, *immigrant)
        deme.advance(25 * (stretch + 1))
        assert deme.session.population().x[:8].tolist() == twin.population
    assert deme.counters.injected == deme.counters.received == 8


@pytest.mark.parametrize("threads", [1, 2])
def test_asynchronous_islands_can_be_replayed(tmp_path, threads):
    islands = Islands(sy.SteadyState(size=20), 6, delays=(0, 0.002, 0, 0, 0.001, 0))
    first = run(islands, 1000, record=tmp_path / "arrivals.json", threads=2)
    again = run(islands, 1000, replay=tmp_path / "arrivals.json", threads=threads)
    names = ("objective", "iterations", "injected", "sent")
    for one, two in zip(first.islands["demes"], again.islands["demes"], strict=True):
        assert [one[k] for k in names] == [two[k] for k in names]
    assert (again.objective, again.solution.tolist()) == (first.objective, first.solution.tolist())
    assert again.stop == "replayed"
    assert again.repeatable
    assert not first.repeatable


def test_a_run_by_the_clock_can_be_replayed(tmp_path):
    islands = Islands(sy.SteadyState(size=20), 4)
    first = sy.solve(assignment(), islands, stop=sy.Seconds(0.3), record=tmp_path / "a.json")
    again = sy.solve(assignment(), islands, stop=sy.Seconds(0.3), replay=tmp_path / "a.json")
    assert [d["iterations"] for d in again.islands["demes"]] == [d["iterations"] for d in first.islands["demes"]]
    assert again.solution.tolist() == first.solution.tolist()


def test_a_record_of_another_run_is_refused(tmp_path):
    islands = Islands(sy.SteadyState(size=20), 3)
    run(islands, record=tmp_path / "a.json")
    with pytest.raises(sy.InputError, match="another run: its seed is 1"):
        run(islands, replay=tmp_path / "a.json", seed=2)
    (tmp_path / "b.json").write_text("{}")
    with pytest.raises(sy.InputError, match="not a record"):
        run(islands, replay=tmp_path / "b.json")
    with pytest.raises(sy.InputError, match="for islands"):
        run(sy.SteadyState(), 1, record=tmp_path / "c.json")


# Migration


def test_no_solution_is_lost_or_doubled():
    """More than 10,000 migrations under random delays, counted end to end."""
    draws = np.random.default_rng(1)
    delays = tuple(draws.uniform(0, 0.002, 6))
    islands = Islands(sy.SteadyState(size=10), 6, export_every=8, import_every=4, export_probability=1.0, delays=delays)
    counted = run(islands, 4000, assignment(10, 3)).islands
    assert counted["sent"] > 10_000
    assert counted["received"] == counted["sent"]
    assert counted["injected"] + counted["overwritten"] + counted["waiting"] == counted["received"]


def test_exports_are_held_when_nothing_better_was_found():
    problem = assignment(10, 3)
    never = run(Islands(sy.SteadyState(size=10), 4, export_probability=0.0, synchronous=True), 5000, problem).islands
    always = run(Islands(sy.SteadyState(size=10), 4, export_probability=1.0, synchronous=True), 5000, problem).islands
    assert always["held"] == 0
    assert always["exports"] == 4 * 100 * 2
    assert never["held"] > 350


def test_a_slow_deme_holds_up_only_synchronous_ones():
    delays = (0.02, 0, 0, 0)
    done = {}
    for synchronous in (False, True):
        islands = Islands(sy.SteadyState(size=20), 4, synchronous=synchronous, delays=delays)
        result = sy.solve(assignment(), islands, stop=sy.Seconds(1.0))
        done[synchronous] = sum(d["iterations"] for d in result.islands["demes"])
    assert done[False] >= 1.5 * done[True]


def test_what_one_deme_finds_reaches_the_others():
    """With migration all demes end near the best of them."""
    problem = assignment(100, 8)
    together = run(Islands(sy.SteadyState(size=20), 9, synchronous=True), 3000, problem).islands["demes"]
    values = [d["objective"] for d in together]
    alone = run(
        Islands(sy.SteadyState(size=20), 9, synchronous=True, export_probability=0, export_every=10**6), 3000, problem
    )
    apart = [d["objective"] for d in alone.islands["demes"]]
    assert np.ptp(values) < np.ptp(apart)
    assert np.mean(values) < np.mean(apart)


ENGINES = {
    "ssga": sy.SteadyState(size=20),
    "cellular": sy.Cellular(size=25, topology="L5"),
    "line-sweep": sy.Cellular(size=25, topology="L5", update="line-sweep"),
    "sgs": sy.SGS("B", length=8, width=4),
    "sgs-e": sy.SGS("E", length=8, width=4),
    "sns": sy.SNS(exponential=True, random=True, moving=True),
    "sga": sy.SGA(size=20),
    "hill": sy.HillClimbing(),
    "tabu": sy.Tabu(),
}
LONG = ("line-sweep", "sgs-e", "sns", "sga", "hill", "tabu")


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=pytest.mark.long if n in LONG else []) for n in ENGINES],
)
def test_any_engine_can_be_a_deme(name):
    """Interpreted; two of them compiled as well, which takes its time."""
    problem = small_knapsack(16)
    islands = Islands(ENGINES[name], 3, export_every=4, import_every=2, rate=1, synchronous=True)
    result = run(islands, 16, problem, backend="python")
    if name in ("sgs", "tabu"):
        assert told(run(islands, 16, problem, threads=2)) == told(result)
    assert result.islands["injected"] > 0
    assert result.objective == problem.profits @ result.solution


def test_an_immigrant_better_than_all_is_what_a_deme_goes_on_from():
    problem = small_knapsack(16)
    best = sy.solve(problem, sy.SGA(size=20), stop=sy.Iterations(30), backend="python")
    row = problem.encoding.store(space_of(problem), best.solution[None])
    from systola.backends.session import Setup

    for name, engine in ENGINES.items():
        if name == "ssga":
            continue
        deme = Deme(0, Setup(problem, engine.prepare(problem), 2, np.int64, 5), Islands(engine, 2), [1], compiled=False)
        deme.start()
        deme.receive(Message(0, 1, 0, 0, np.ones(1, np.uint8), row))
        deme.advance(1)
        deme.update_history(0.0)
        assert deme.history[-1][2][0] >= best.objective, name


@pytest.mark.long
def test_each_deme_has_its_own_engine():
    engines = [sy.SteadyState(size=20), sy.Cellular(size=25, topology="L5"), sy.Tabu()]
    result = run(Islands(engines, synchronous=True), 10, assignment(12, 3), backend="python")
    assert [d["engine"] for d in result.islands["demes"]] == ["ssga", "cellular", "tabu"]
    assert result.feasible


# Bad input


@pytest.mark.parametrize(
    ("rest", "words"),
    [
        ({"import_every": 1000}, "Condition 1 .* set import_every to 500 or less, or send_slots to 40 or more"),
        ({"demes": 9, "export_every": 7}, "Condition 2 .* set export_every to 8 or more, or rate to 1 or less"),
        ({"demes": 9, "pool": 60}, "Condition 2 .* set pool to 80 or more, or send_slots to 15 or less"),
        ({"demes": 0}, "`demes`"),
        ({"rate": 0}, "`rate`"),
        ({"export_probability": 2}, "`export_probability`"),
        ({"delays": (1.0,)}, "`delays`"),
        ({"synchronous": 1}, "`synchronous`"),
        ({"engine": [sy.SteadyState()] * 3, "demes": 4}, "one engine for all demes or one for each"),
        ({"engine": "ssga"}, "the engine of a deme"),
        ({"engine": sy.RS()}, "rs does not support migration, so it cannot be used in Islands"),
    ],
)
def test_bad_parameters(rest, words):
    with pytest.raises(sy.InputError, match=words):
        run(Islands(**rest), 1, small_knapsack())


def test_a_missing_mpi4py_is_a_sentence(monkeypatch):
    """As a process that mpiexec has started, on a machine without the extra."""
    monkeypatch.setenv("PMI_SIZE", "4")
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    with pytest.raises(sy.MissingExtra, match=r'an MPI library must be there, too.*pip install "systola\[mpi\]"'):
        run(Islands(), 1)


def test_islands_do_not_run_on_a_gpu():
    with pytest.raises(sy.InputError, match="cuda"):
        run(Islands(), 1, backend="cuda")


class Undefined(OneMax):
    """Not a number, once a solution is good enough."""

    def evaluate(self, x):
        total = 1.0 * x.sum()
        return total if 4 * total < 3 * self.n else np.nan


@pytest.mark.parametrize("backend", ["python", pytest.param("cpu", marks=pytest.mark.long)])
@pytest.mark.parametrize("synchronous", [False, True])
def test_an_objective_that_fails_ends_all_demes(synchronous, backend):
    with pytest.raises(sy.ObjectiveError, match="returned NaN"):
        run(Islands(sy.SteadyState(size=20), 4, synchronous=synchronous), 10**6, Undefined(40), backend=backend)


def test_callback_and_target_end_a_run():
    seen = []
    result = sy.solve(assignment(), Islands(), stop=sy.Seconds(20), callback=lambda p: seen.append(p) or len(seen) > 2)
    assert result.stop == "callback"
    assert seen[0].stage == "compiling"
    assert seen[-1].stage == "done"
    easy = sy.solve(assignment(), Islands(), stop=sy.Seconds(20) | sy.Target(10**9))
    assert easy.stop == "target"
    assert easy.seconds < 5


def test_command_line(tmp_path):
    command = [sys.executable, "-m", "systola", "solve", "gap:e-5x40", "--algorithm", "ssga", "--islands", "4"]
    command += ["--migration", "synchronous=true", "--iterations", "200"]
    plain = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "4 demes, synchronous" in plain.stdout
    assert "migration" in plain.stdout
    short = subprocess.run([*command[:-1], "40"], capture_output=True, text=True, check=True)
    told_why = " ".join(short.stdout.split())
    assert "none: demes export every 50 iterations, but made 40 at most" in told_why
    assert "try --migration export_every=10 --migration import_every=5" in told_why
    config = subprocess.run([*command, "--print-config"], capture_output=True, text=True, check=True).stdout
    (tmp_path / "run.toml").write_text(config)
    again = [*command[:4], "--config", str(tmp_path / "run.toml"), "--json"]
    found = json.loads(subprocess.run(again, capture_output=True, text=True, check=True).stdout)
    assert found["islands"]["synchronous"]
    assert len(found["islands"]["demes"]) == 4
    demes = "[islands]\nsynchronous = true\n[[deme]]\nparameters = {size = 30}\n[[deme]]\nalgorithm = 'ssga'\n"
    Path(tmp_path / "two.toml").write_text(f"instance = 'gap:e-5x40'\n[stop]\niterations = 50\n{demes}")
    found = subprocess.run([*command[:4], "--config", str(tmp_path / "two.toml"), "--json"], capture_output=True)
    assert [d["engine"] for d in json.loads(found.stdout)["islands"]["demes"]] == ["ssga", "ssga"]
