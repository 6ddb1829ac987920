"""`systola compare` that is interrupted or loses a worker: what is stored, a sentence, a code, and no process left."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks processes up in /proc")

PAIR = ["knapsack:20-100", "--algorithms", "rs,sga", "--set", "size=8", "--runs", "3", "--workers", "1"]
LONG = [*PAIR, "--seconds", "60", "--quiet"]
SHORT = [*PAIR, "--iterations", "4", "--quiet", "--json"]


@pytest.fixture
def start(tmp_path):
    """Starts a comparison in a folder and a process group of its own; whatever is left is killed in the end."""
    started = []

    def start(*args, **environment):
        started.append(
            subprocess.Popen(
                [sys.executable, "-m", "systola", "compare", *args],
                cwd=tmp_path,
                env={**os.environ, **environment},
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )
        )
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


def find_worker(process):
    """The number of the process that makes runs, as soon as there is one."""
    while process.poll() is None:
        for child in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split():
            try:
                if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes():
                    return int(child)
            except OSError:
                continue
        time.sleep(0.02)
    raise AssertionError(process.communicate())


def lives(number):
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def check_end(process, worker, began):
    _, err = process.communicate(timeout=60)
    assert time.monotonic() - began < 5  # 2 s on a machine that has nothing else to do
    assert process.returncode == 3
    state = "0 of 6 runs are in results/compare.sqlite; the same command makes the others"
    assert err == f"systola: interrupted: {state}\n"
    assert not lives(worker)


@pytest.mark.parametrize(
    ("name", "to_all"),
    [
        ("SIGINT", True),  # Ctrl-C
        pytest.param("SIGINT", False, marks=pytest.mark.long),
        pytest.param("SIGTERM", True, marks=pytest.mark.long),
        pytest.param("SIGHUP", False, marks=pytest.mark.long),
    ],
)
def test_a_signal_ends_it(start, name, to_all):
    process = start(*LONG)
    worker = find_worker(process)
    time.sleep(2)
    began = time.monotonic()
    (os.killpg if to_all else os.kill)(process.pid, getattr(signal, name))
    check_end(process, worker, began)


def test_a_signal_ends_it_while_kernels_are_compiled(start, tmp_path):
    process = start(*LONG, SYSTOLA_CACHE_DIR=str(tmp_path / "cold"))
    worker = find_worker(process)
    time.sleep(2)
    began = time.monotonic()
    process.terminate()
    check_end(process, worker, began)


def test_a_worker_that_dies_is_named_and_the_others_go_on(start):
    process = start(*SHORT)
    os.kill(find_worker(process), signal.SIGKILL)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 3
    assert "processes died in the middle of runs: knapsack:20-100, rs, seed 1 (killed by SIGKILL)" in err
    assert "5 of 6 runs are in results/compare.sqlite; the same command makes the others" in err
    assert "Traceback" not in err
    found = json.loads(out)
    samples = found["samples"]["knapsack:20-100"]
    assert (found["missing"], [len(samples[name]) for name in ("rs", "sga")], found["tests"]) == (1, [2, 3], {})

    again = start(*SHORT)
    out, err = again.communicate(timeout=120)
    assert again.returncode == 0
    found = json.loads(out)
    assert found["missing"] == 0
    assert found["samples"]["knapsack:20-100"]["rs"][1:] == samples["rs"]


def test_workers_end_with_a_killed_command(start):
    process = start(*LONG)
    worker = find_worker(process)
    process.kill()
    process.communicate()
    until = time.monotonic() + 20
    while lives(worker):
        assert time.monotonic() < until
        time.sleep(0.05)
