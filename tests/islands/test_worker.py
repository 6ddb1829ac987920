"""Whose turn it is on a thread, what a run costs beside its steps, and what is done before its clock starts."""

import json
import os
import subprocess
import sys
import tracemalloc
from dataclasses import dataclass

import numpy as np
import pytest

import systola as sy
from conftest import OneMax, small_knapsack, story
from systola.backends.session import Setup
from systola.formats import open_instance
from systola.islands.deme import Deme
from systola.islands.transport import Mailboxes
from systola.islands.worker import Worker
from systola.run.budget import Budget

PROBLEM = open_instance("gap:e-5x40").problem


def told(result):
    demes = [{k: v for k, v in d.items() if k not in ("computing", "migrating")} for d in result.islands["demes"]]
    return story(result), demes


def iterations(result):
    return [deme["iterations"] for deme in result.islands["demes"]]


def test_demes_take_turns_by_the_solutions_they_make():
    """A generation of one is 20 iterations of the other; nobody looks at a clock, so it can be repeated."""
    islands = sy.Islands([sy.SteadyState(size=20), sy.SGA(size=20)])
    one, two = (
        sy.solve(OneMax(60), islands, stop=sy.Target(55) | sy.Iterations(10**6), threads=1, backend="python")
        for _ in range(2)
    )
    quick, slow = iterations(one)
    assert slow >= 50  # several turns
    assert quick >= 10 * slow
    assert one.stop == "target"
    assert one.repeatable
    assert told(one) == told(two)


def test_demes_take_turns_by_the_clock_if_there_is_one():
    islands = sy.Islands(sy.SteadyState(), 2, delays=(0.05, 0))
    slow, quick = iterations(sy.solve(PROBLEM, islands, stop=sy.Seconds(1), threads=1))
    assert quick > 10 * slow


def test_a_target_ends_synchronous_demes_alike_on_any_number_of_threads():
    islands = sy.Islands(sy.SteadyState(), 6, synchronous=True)
    samples = sy.solve(PROBLEM, islands, stop=sy.Iterations(400)).trace.samples
    target = sy.Target(samples[-1].objective) | sy.Iterations(400)
    one, two = (sy.solve(PROBLEM, islands, stop=target, threads=threads) for threads in (1, 2))
    assert one.stop == "target"
    assert one.repeatable
    assert told(one) == told(two)


@pytest.mark.parametrize("synchronous", [False, True])
def test_no_step_is_made_after_the_time_is_over(synchronous):
    """The first populations may have taken all of it."""
    problem, islands = small_knapsack(16), sy.Islands(sy.SteadyState(size=4), 3, synchronous=synchronous)
    setup = Setup(problem, sy.SteadyState(size=4).prepare(problem), 2, np.int64, 5)
    demes = [Deme(number, setup, islands, [], compiled=False) for number in range(3)]
    for deme in demes:
        deme.start()
    budgets = {deme.number: Budget(sy.Seconds(1)) for deme in demes}
    worker = Worker(demes, Mailboxes(1, 20, 2), budgets, lambda: 1.5, lambda: False, lambda: None, synchronous)
    worker.run()
    assert worker.reason == "seconds"
    assert [deme.step for deme in demes] == [0, 0, 0]


def test_interpreted_islands_are_interpreted():
    result = sy.solve(small_knapsack(16), sy.Islands(sy.SGA(size=6), 2), stop=sy.Iterations(3), backend="python")
    assert result.backend == "python"


class Raising(sy.Problem):
    encoding = sy.Binary("n")
    n: int

    def evaluate(self, x):
        if x.sum() > 8:
            raise ValueError("too many")
        return x.sum()


def test_an_interpreted_objective_that_raises_is_a_sentence():
    with pytest.raises(sy.ObjectiveError, match="Raising raised ValueError: too many"):
        sy.solve(Raising(12), sy.Islands(sy.SteadyState(size=4), 2), stop=sy.Iterations(10**4), backend="python")


prepared = []


@dataclass(frozen=True)
class Counted(sy.SteadyState):
    def prepare(self, problem):
        prepared.append(problem)
        return super().prepare(problem)


def test_demes_of_one_engine_are_laid_out_once():
    prepared.clear()
    sy.solve(PROBLEM, sy.Islands(Counted(size=4), 64), stop=sy.Iterations(1))
    assert len(prepared) == 1


def test_arrivals_are_noted_only_when_asked(tmp_path):
    islands = sy.Islands(sy.SteadyState(size=10), 2, export_every=2, import_every=1, rate=1, export_probability=1.0)
    peaks = []
    sy.solve(PROBLEM, islands, stop=sy.Iterations(10), threads=1)  # compiles
    for steps in (1000, 5000):
        tracemalloc.start()
        result = sy.solve(PROBLEM, islands, stop=sy.Iterations(steps), threads=1)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert result.islands["received"] > 4000
    assert peaks[1] < peaks[0] + 200_000
    sy.solve(PROBLEM, islands, stop=sy.Iterations(500), record=tmp_path / "arrivals.json")
    assert [path.name for path in tmp_path.iterdir()] == ["arrivals.json"]


@pytest.mark.long
def test_compiling_is_no_part_of_the_time(tmp_path):
    """With an empty cache."""
    command = [sys.executable, "-m", "systola", "solve", "gap:e-5x40", "--algorithm", "ssga", "--islands", "2"]
    environment = {**os.environ, "SYSTOLA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([*command, "--seconds", "1", "--json"], env=environment, capture_output=True, check=True)
    result = json.loads(done.stdout)
    assert result["trace"]["seconds"][0] < 0.5
    assert result["iterations"] > 1000
    assert result["seconds"] < 2
