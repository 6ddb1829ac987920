"""What users' environments do to a run: threads, forks, no compiler."""

import json
import os
import subprocess
import sys

import pytest

import systola as sy
from conftest import small_knapsack, story


def run_python(source, *args, **environment):
    return subprocess.run(
        [sys.executable, "-c", source, *args],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.parametrize(
    ("name", "given"), [("NUMBA_NUM_THREADS", "0"), ("NUMBA_NUM_THREADS", "two"), ("SYSTOLA_COMPILERS", "0")]
)
def test_an_unfit_number_of_threads_is_told_in_a_sentence(name, given):
    command = "import sys; from systola.cli import main; sys.exit(main(['devices']))"
    done = run_python(command, **{name: given})
    assert done.returncode == 2
    assert done.stderr == (
        f"systola: {name} must be a whole number of at least 1, but is '{given}'; correct it or unset it\n"
    )


def test_with_an_unfit_number_of_threads_nothing_is_solved():
    command = "import systola as sy\ntry:\n    sy.solve(sy.MMDP(6))\nexcept sy.InputError as error:\n    print(error)"
    assert "NUMBA_NUM_THREADS must be" in run_python(command, NUMBA_NUM_THREADS="-1").stdout


ENGINES = {"sgs-b": 3, "sga": 3, "ssga": 20, "hill": 3}

INTERPRETED = """
import json
import sys
from conftest import small_knapsack, story
import systola as sy

for name, steps in json.loads(sys.argv[1]).items():
    result = sy.solve(small_knapsack(12), name, stop=sy.Iterations(steps))
    print(json.dumps([result.backend, story(result)]))
"""


def test_without_a_compiler_all_is_interpreted():
    done = run_python(INTERPRETED, json.dumps(ENGINES), NUMBA_DISABLE_JIT="1")
    assert done.returncode == 0, done.stderr
    expected = [
        ["python", story(sy.solve(small_knapsack(12), name, stop=sy.Iterations(steps), backend="python"))]
        for name, steps in ENGINES.items()
    ]
    assert [json.loads(line) for line in done.stdout.splitlines()] == json.loads(json.dumps(expected))


FORKED = """
import multiprocessing
import sys
from conftest import small_knapsack
import systola as sy

def solve(seed):
    return sy.solve(small_knapsack(), sy.SGS("B"), stop=sy.Iterations(20), seed=seed, threads=2).objective

def solve_in_children(seeds, seconds):
    with multiprocessing.get_context("fork").Pool(len(seeds)) as pool:
        return pool.map_async(solve, seeds).get(timeout=seconds)

before = solve_in_children([1], 240)
after = [solve(1)]
print("same" if before == after else f"{before} {after}")
for seed, told in zip([1, 2], solve_in_children([1, 2], 30)):
    print("same" if told == solve(seed) else told)

within = []
def fork_once(progress):
    if progress.stage == "running" and not within:
        within.extend(solve_in_children([1], 30))
sy.solve(small_knapsack(), sy.SGS("B"), stop=sy.Seconds(1), threads=2, callback=fork_once)
print("same" if within == after else within)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a fork")
def test_a_fork_after_a_run_can_solve():
    """Threads do not survive a fork; the child starts its own. So does it while a run of the parent is under way."""
    done = run_python(FORKED)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["same"] * 4


TWO_AT_ONCE = """
import threading
from conftest import small_knapsack
import systola as sy

def solve(seed, into):
    into.append(sy.solve(small_knapsack(60), sy.SGS("B"), stop=sy.Iterations(200), seed=seed, threads=2).trace)

alone, together = [], [[], [], []]
for seed in range(3):
    solve(seed, alone)
threads = [threading.Thread(target=solve, args=(seed, together[seed])) for seed in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join(60)
objectives = [[s.objective for s in trace.samples] for trace in alone]
assert [[s.objective for s in runs[0].samples] for runs in together] == objectives
"""


def test_runs_in_several_threads_do_not_meet():
    done = run_python(TWO_AT_ONCE)
    assert done.returncode == 0, done.stderr
