"""A signal or a time limit ends a run well, between steps and within one; what was found is given back."""

import json
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import systola as sy
from processes import allowed_seconds, begin, each_signal, end, finish, wait_for
from systola.run.signals import ended_by_signals

ENDLESS = ["solve", "mmdp:120", "--algorithm", "sgs-b", "--iterations", 10**9, "--json"]


@each_signal(signal.SIGTERM)
def test_a_signal_ends_a_run_with_its_best_solution_a_checkpoint_and_code_3(number, tmp_path):
    path, output = tmp_path / "state", tmp_path / "result.json"
    process = begin(*ENDLESS, "--checkpoint", path, "--checkpoint-every", 0.05, "--output", output)
    wait_for(process, path.exists)
    code, out, err, took = end(process, number)
    assert (code, err) == (3, "")
    facts = json.loads(out)
    assert facts["stop"] == "interrupted"
    assert sy.Result.load(output).objective == facts["objective"]
    assert took < allowed_seconds()
    more = facts["iterations"] + 10
    assert json.loads(finish(*ENDLESS[:5], more, "--json", "--resume", path))["iterations"] == more


@each_signal(signal.SIGINT)
def test_a_signal_while_compiling_ends_promptly_with_a_sentence(number, tmp_path):
    process = begin(*ENDLESS[:-1], env={**os.environ, "SYSTOLA_CACHE_DIR": str(tmp_path)})
    assert "compiling" in process.stderr.readline()
    time.sleep(0.5)
    code, out, err, took = end(process, number)
    assert (code, out) == (3, "")
    assert err.splitlines()[-1] == "systola: interrupted"
    assert "Traceback" not in err
    assert took < allowed_seconds()


WRITING = """
import io, os, signal, sys
from systola.run.signals import ended_by_signals, interruptible

class Terminal(io.RawIOBase):  # on which somebody types Ctrl-C while it is written to
    def writable(self):
        return True

    def fileno(self):
        return 2

    def write(self, data):
        os.kill(os.getpid(), signal.SIGINT)
        return len(data)

signal.signal(signal.SIGINT, signal.default_int_handler)
sys.stderr = io.TextIOWrapper(io.BufferedWriter(Terminal()), line_buffering=True)
with ended_by_signals(for_good=True), interruptible():
    print("compiling", file=sys.stderr)
print("went on")
"""


def test_a_signal_while_progress_is_written_ends_with_a_sentence():
    done = subprocess.run([sys.executable, "-c", WRITING], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (3, "", "systola: interrupted\n")


def test_a_second_signal_ends_at_once(tmp_path):
    path = tmp_path / "state"
    process = begin(*ENDLESS, "--checkpoint", path, "--checkpoint-every", 0.05)
    wait_for(process, path.exists)
    process.send_signal(signal.SIGTERM)
    time.sleep(0.01)
    code, _, err, took = end(process, signal.SIGTERM)
    assert code == 3
    assert "Traceback" not in err
    assert took < allowed_seconds()


def test_ignored_signals_stay_ignored(tmp_path):
    """As under nohup."""
    path = tmp_path / "state"
    command = [sys.executable, "-c", "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n" + SCRIPT_BODY]
    command += [*map(str, ENDLESS), "--checkpoint", str(path), "--checkpoint-every", "0.05"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_for(process, path.exists)
    process.send_signal(signal.SIGHUP)
    time.sleep(0.5)
    assert process.poll() is None
    assert end(process, signal.SIGTERM)[0] == 3


SCRIPT_BODY = "import sys\nfrom systola.cli import main\nsys.exit(main())\n"


def long_step():
    """A problem and an engine whose first step takes many minutes."""
    draws = np.random.default_rng(1)
    return sy.Flowshop(draws.integers(1, 99, (60, 5)), objectives="makespan"), sy.IteratedGreedy(rounds=10**6)


def compile_first(problem):
    sy.solve(problem, sy.IteratedGreedy(rounds=1), stop=sy.Iterations(1), threads=1)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_signal_ends_a_run_within_a_step_that_takes_minutes(threads, tmp_path):
    """In the main thread of a program of one's own; the checkpoint has the last whole step."""
    problem, engine = long_step()
    compile_first(problem)
    path = tmp_path / "state"
    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        sent = []

        def send():
            """When signals are the run's; before, this one would end the tests."""
            while signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
                time.sleep(0.01)
            time.sleep(0.7)
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGTERM)

        threading.Thread(target=send, daemon=True).start()
        result = sy.solve(problem, engine, threads=threads, checkpoint=path)
        took = time.monotonic() - sent[0]
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    finally:
        signal.signal(signal.SIGTERM, before)
    assert (result.stop, result.iterations, result.repeatable) == ("interrupted", 0, False)
    assert took < allowed_seconds()
    again = sy.solve(problem, engine, threads=threads, resume=path, stop=sy.Iterations(0))
    assert result.objective <= again.objective  # of the first population, which was whole


def test_a_time_limit_ends_a_run_within_a_step():
    problem, engine = long_step()
    compile_first(problem)
    began = time.monotonic()
    result = sy.solve(problem, engine, stop=sy.Seconds(0.5), threads=1)
    assert time.monotonic() - began < 0.5 + allowed_seconds()
    assert (result.stop, result.iterations) == ("seconds", 0)
    assert result.seconds >= 0.5
    assert result.objective == problem.evaluate(result.solution.astype(np.int64))[0]


def test_a_callback_that_raises_gives_the_best_so_far():
    class Mine(Exception):
        pass

    def fail(progress):
        if progress.stage == "done":
            raise Mine

    with pytest.raises(Mine) as caught:
        sy.solve(sy.MMDP(12), sy.SGA(8), stop=sy.Iterations(3), backend="python", callback=fail)
    assert caught.value.result.iterations == 3


ISLANDS = ["solve", "gap:c-3x20", "--algorithm", "ssga", "--islands", 3, "--iterations", 10**9, "--json"]


@pytest.mark.parametrize("synchronous", ["false", "true"])
def test_a_signal_ends_islands_with_a_checkpoint_that_can_be_resumed(synchronous, tmp_path):
    folder = tmp_path / "demes"
    command = [*ISLANDS, "--migration", f"synchronous={synchronous}"]
    process = begin(*command, "--checkpoint", folder, "--checkpoint-every", 0.2)
    wait_for(process, (folder / "manifest.json").exists)
    code, out, err, took = end(process, signal.SIGTERM)
    assert (code, err) == (3, "")
    facts = json.loads(out)
    assert facts["stop"] == "interrupted"
    assert took < allowed_seconds()
    command[command.index(10**9)] = facts["iterations"] + 50
    assert json.loads(finish(*command, "--resume", folder))["objective"] <= facts["objective"]


@pytest.mark.long
def test_a_time_limit_ends_demes_within_a_step(tmp_path):
    problem, engine = long_step()
    sy.solve(problem, sy.Islands(sy.IteratedGreedy(rounds=1), 2), stop=sy.Iterations(1))  # compiled
    began = time.monotonic()
    result = sy.solve(problem, sy.Islands(engine, 2), stop=sy.Seconds(0.5), checkpoint=tmp_path)
    assert time.monotonic() - began < 0.5 + allowed_seconds()
    assert (result.stop, result.iterations) == ("seconds", 0)
    assert not (tmp_path / "manifest.json").exists()  # there was no whole step


def test_a_callback_of_islands_that_raises_gives_the_best_so_far(tmp_path):
    def fail(progress):
        if progress.stage == "running":
            raise LookupError("mine")

    islands = sy.Islands(sy.SteadyState(size=8), 2, synchronous=True, export_every=8, import_every=4)
    draws = np.random.default_rng(1)
    problem = sy.GeneralizedAssignment(draws.integers(1, 30, (3, 12)), draws.integers(1, 9, (3, 12)), [40, 40, 40])
    with pytest.raises(LookupError, match="mine") as caught:
        sy.solve(problem, islands, stop=sy.Iterations(10**9), callback=fail, checkpoint=tmp_path)
    found = caught.value.result
    assert found.stop == "callback"
    again = sy.solve(problem, islands, stop=sy.Iterations(found.iterations + 40), resume=tmp_path)
    assert again.objective <= found.objective


def test_a_callback_ends_islands_while_they_start():
    """As it ends one search; what it raises ends the making of first populations at once."""
    stages = []

    def refuse(progress):
        stages.append(progress.stage)
        if progress.stage == "starting":
            raise LookupError("mine")

    problem = sy.QuadraticAssignment(*np.random.default_rng(1).integers(0, 99, (2, 300, 300)))
    islands = sy.Islands(sy.SteadyState(size=5000), 4)
    with pytest.raises(LookupError, match="mine") as caught:
        sy.solve(problem, islands, stop=sy.Iterations(5), callback=refuse)
    found = caught.value.result
    assert (stages[:2], found.stop, found.iterations) == (["compiling", "starting"], "callback", 0)
    assert 5000 <= found.evaluations < 4 * 5000


def test_what_an_interruption_is_turned_into_is_an_interruption():
    """As the import of an extension module does, and a class that is being made in older versions of Python."""

    def import_interrupted():
        try:
            signal.raise_signal(signal.SIGTERM)
        except BaseException:
            raise RuntimeError("Error calling __set_name__") from None

    with pytest.raises(KeyboardInterrupt), ended_by_signals(for_good=False):
        import_interrupted()


def test_other_exceptions_are_what_they_are_also_after_an_interruption():
    with pytest.raises(KeyboardInterrupt), ended_by_signals(for_good=False):
        signal.raise_signal(signal.SIGTERM)
    with pytest.raises(RuntimeError, match="mistake"), ended_by_signals(for_good=False):
        raise RuntimeError("mistake")


def test_a_program_that_called_one_which_was_interrupted_goes_on(tmp_path):
    """A process that has come to the end of the one program is not ended because that did not end at once."""
    (tmp_path / "calls.py").write_text(
        "import signal, time\n"
        "from systola.run.signals import ended_by_signals\n"
        "try:\n"
        "    with ended_by_signals(for_good=False):\n"
        "        try:\n"
        "            signal.raise_signal(signal.SIGTERM)\n"
        "        finally:\n"
        "            time.sleep(0.5)\n"
        "except KeyboardInterrupt:\n"
        "    time.sleep(2)\n"
        "    print('goes on')\n"
    )
    done = subprocess.run([sys.executable, "-m", "calls"], cwd=tmp_path, timeout=60, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, b"goes on\n")
