"""Processes of our own: what is posted waits for them, and nobody waits for what is posted."""

from __future__ import annotations

import time
from multiprocessing.connection import Connection

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
