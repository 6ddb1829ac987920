"""Kernels compiled by several processes: the same kernels, and nothing lost if one of them dies."""

import json
import os
import subprocess
import sys
import time

import pytest

import systola as sy
from own_problems import OneMax
from systola.engines.random_search import RS
from systola.jit import cache
from systola.jit.compile import Call, is_compiled, kernel
from systola.run import compiler_process
from systola.run.compiler_process import CompilerProcess, KernelPlan, describe
from systola.run.compilers import Compilers, Job

# A script without a guard: a process that executed it would start another run, and print another line.
SCRIPT = """
import json

import numpy as np

import systola as sy
from systola.backends import cpu

WEIGHTS = np.array([3, 1, 2, 5, 4])

def weight(i):
    return WEIGHTS[i % 5]

class Mine(sy.Problem):
    encoding = sy.Binary("n")
    n: int

    def evaluate(self, x):
        total = 0
        for i in range(self.n):
            total += weight(i) * x[i]
        return total

told = []
found = [
    sy.solve(Mine(40), sy.RS(size=40), stop=sy.Iterations(20), threads=2, callback=lambda p: told.append(p.kernel)),
    sy.solve(Mine(40), sy.RS(size=40), stop=sy.Iterations(20), backend="python"),
]
print(json.dumps({
    "numbers": [[r.objective, r.found_at, r.solution.tolist()] for r in found],
    "told": [what for what in told if what],
    "loaded": [sum(k.stats.cache_hits.values()) for k in (cpu.run_orders, cpu.make_start)],
}))
"""


COMPILERS = {"SYSTOLA_COMPILERS": "2"}


def _plus(a, b):
    return a + b


def _minus(a, b):
    return a - b


@pytest.fixture
def jobs(tmp_path):
    """Two kernels that no other test compiles."""
    made = [Job(Call(kernel(f), (1.5, 2)), f.__name__, "none", b"no plan") for f in (_plus, _minus)]
    for job in made:
        for path in cache.cache_folder().glob(f"*{job.name}-*.nbc"):
            path.unlink()
    assert not any(is_compiled(job.call) for job in made)
    return made


def test_another_process_compiles_what_this_one_loads(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, script.name],
        cwd=tmp_path,
        env={**os.environ, "SYSTOLA_CACHE_DIR": str(tmp_path / "cache"), "NUMBA_NUM_THREADS": "2", **COMPILERS},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    compiled, interpreted = found["numbers"]
    assert compiled == interpreted
    assert found["told"][0] == "kernel 1 of 3: steps of rs"
    assert found["loaded"] == [0, 1]  # the steps were compiled here, the first population elsewhere


def test_a_process_that_dies_is_harmless(jobs, monkeypatch):
    monkeypatch.setattr(compiler_process, "_PROGRAM", "raise SystemExit(7)")
    check_all_are_compiled(jobs)


def test_a_process_that_cannot_compile_something_is_harmless(jobs):
    check_all_are_compiled(jobs)


def test_no_process_where_none_can_be_started(jobs, monkeypatch):
    monkeypatch.setattr(sys, "executable", os.devnull)
    check_all_are_compiled(jobs)


def check_all_are_compiled(jobs):
    told, compilers = [], Compilers(2)
    compilers.compile(jobs, told.append)
    compilers.end()
    assert all(job.call.kernel.overloads for job in jobs)
    assert told[0] == "kernel 1 of 2: _plus of none"
    assert compilers.busy == 0


def test_a_process_ends_with_its_pipe():
    process = CompilerProcess()
    process._process.stdin.close()  # as when the one that has started it is killed
    assert process._process.wait(timeout=60) == 1
    process.end()


def test_jobs_that_others_do_are_given_up_when_they_are_ended(jobs):
    compilers = Compilers(2)
    compilers.begin(jobs)
    compilers.end()
    for job in jobs:
        assert job.over.wait(timeout=10)
    deadline = time.monotonic() + 10
    while compilers.busy and time.monotonic() < deadline:
        time.sleep(0.01)
    assert compilers.busy == 0


# Compiles nothing, and takes a second for it.
SLOW = "import sys, time; sys.stdin.buffer.read(8); time.sleep(1); print('.', end='', flush=True); sys.stdin.read()"


def test_what_is_compiled_when_a_run_ends_is_finished_for_the_next_one(jobs, monkeypatch):
    monkeypatch.setattr(compiler_process, "_PROGRAM", SLOW)
    first, second = Compilers(2), Compilers(2)
    first.begin(jobs[:1])
    deadline = time.monotonic() + 10
    plan, kernels = KernelPlan(OneMax(8), RS(size=4), 1, int), {"_plus": jobs[0].call}
    while not second.jobs(plan, kernels)[0].is_begun and time.monotonic() < deadline:
        time.sleep(0.01)
    first.end()
    again = second.jobs(plan, kernels)
    assert again[0].over is jobs[0].over
    assert not again[0].over.is_set()
    second.begin(again)
    assert second.busy == 0  # which waits for what the other one has begun
    assert again[0].over.wait(timeout=10)
    assert not second.jobs(plan, kernels)[0].is_begun
    second.end()


def test_a_plan_of_users_classes_is_told_by_value():
    told = describe(KernelPlan(OneMax(8), RS(size=4), 1, int))
    assert told is not None
    assert b"own_problems\x94\x8c\x06OneMax" not in told  # as a name that is to be imported

    class Holding(OneMax):
        pass

    problem = Holding(8)
    object.__setattr__(problem, "n", (k for k in range(8)))  # which nobody can pickle
    assert describe(KernelPlan(problem, RS(size=4), 1, int)) is None


def test_a_cache_that_keeps_nothing_is_noted_once(monkeypatch):
    monkeypatch.setattr(cache, "_bases", list)
    monkeypatch.setattr(cache, "_warned", False)

    def plus(number):
        class Mine(sy.Problem):
            encoding = sy.Binary("n")
            n: int

            def evaluate(self, x):
                return x[0] + number

        return sy.solve(Mine(8), RS(size=4), stop=sy.Iterations(2), backend="python")

    with pytest.warns(sy.CacheWarning, match="cannot be kept"):
        assert [note.startswith(cache.UNKEPT) for note in plus(171).notes] == [True]
    assert plus(172).notes == []
