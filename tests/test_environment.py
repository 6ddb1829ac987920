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


@pytest.mark.parametrize("given", ["0", "two"])
def test_an_unfit_number_of_threads_is_told_in_a_sentence(given):
    command = "import sys; from systola.cli import main; sys.exit(main(['devices']))"
    done = run_python(command, NUMBA_NUM_THREADS=given)
    assert done.returncode == 2
    assert done.stderr == (
        f"systola: NUMBA_NUM_THREADS must be a whole number of at least 1, but is '{given}'; correct it or unset it\n"
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
    try:
        return sy.solve(small_knapsack(), sy.SGS("B"), stop=sy.Iterations(20), seed=seed).objective
    except sy.SystolaError as error:
        return str(error)

def solve_in_children(seeds, seconds):
    with multiprocessing.get_context("fork").Pool(len(seeds)) as pool:
        return pool.map_async(solve, seeds).get(timeout=seconds)

before = solve_in_children([1], 240)
assert before == [solve(1)], before
for told in solve_in_children([1, 2], 30):
    print(told)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="GNU OpenMP is Linux's")
def test_a_fork_after_a_run_is_told_instead_of_hanging():
    """Before it, forks are fine."""
    done = run_python(FORKED)
    assert done.returncode == 0, done.stderr
    told = done.stdout.splitlines()
    assert len(told) == 2
    assert all("start processes by spawn" in line for line in told)
