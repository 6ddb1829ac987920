"""Processes of our own: what is posted waits for them, and nobody waits for what is posted."""

from __future__ import annotations

import subprocess
import sys
import time
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np

from systola.run.child_process import ChildProcess

LARGE = np.zeros(1_000_000)  # far more than a pipe holds
BUSY = 1.0  # seconds


def talk_before_listening(pipe: Connection) -> None:
    """As a solver does that tells what it has found: it listens to nothing before that is taken."""
    pipe.send("ready")
    time.sleep(BUSY)
    pipe.send(LARGE)
    heard = []
    while not heard or heard[-1] != 3:
        heard.append(int(pipe.recv()[0]))
    pipe.send(heard)


def never_listen(pipe: Connection) -> None:
    pipe.send("ready")
    time.sleep(600)


def test_nobody_waits_for_what_is_posted_and_the_last_of_it_arrives():
    child = ChildProcess(talk_before_listening)
    try:
        assert child.receive() == "ready"
        began = time.perf_counter()
        for k in range(4):
            child.post(np.full(1_000_000, k))
        assert time.perf_counter() - began < BUSY / 2
        assert len(child.receive()) == len(LARGE)
        heard = child.receive()
        assert heard[-1] == 3
        assert heard == sorted(set(heard))
        assert len(heard) <= 3  # what was on its way, perhaps one more, and the last
        child.post(np.zeros(1_000_000))  # and it has gone now
    finally:
        child.end()


def test_it_can_be_ended_while_something_is_on_its_way():
    child = ChildProcess(never_listen)
    assert child.receive() == "ready"
    child.post(LARGE)
    began = time.perf_counter()
    child.end()
    assert time.perf_counter() - began < 5
    assert child.exit_code is not None


UNGUARDED = """
import sys
import numpy as np
import systola as sy
from systola.formats import open_instance
from systola.run.child_process import ChildProcess
from tests_of_child_process import never_listen

print("begun", flush=True)
"""
SOLVED = """
problem = open_instance("mkp:500x30").problem  # more data than a pipe holds
print(sy.solve(problem, "proof", stop=sy.Seconds(1), seed=1).feasible)
"""
DEAD = """
child = ChildProcess(never_listen, np.zeros(1_000_000), imports_main=True)
print(child.receive())
child.end()
"""


def run_script(folder, text):
    (folder / "tests_of_child_process.py").write_text(Path(__file__).read_text())
    (folder / "script.py").write_text(UNGUARDED + text)
    return subprocess.run([sys.executable, "script.py"], cwd=folder, capture_output=True, text=True, timeout=120)


def test_a_script_without_a_guard_is_not_executed_again_by_processes_that_do_not_need_it(tmp_path):
    ended = run_script(tmp_path, SOLVED)
    assert (ended.returncode, ended.stdout) == (0, "begun\nTrue\n"), ended.stderr


def test_nobody_waits_for_one_that_dies_when_it_executes_the_script(tmp_path):
    ended = run_script(tmp_path, DEAD)
    assert (ended.returncode, ended.stdout) == (0, "begun\nbegun\nNone\n"), ended.stderr
    assert "bootstrapping phase" in ended.stderr
