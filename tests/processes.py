"""The command line as a process of its own, and signals to it."""

import os
import signal
import subprocess
import sys
import time

import pytest

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]

_SCRIPT = """
import signal, sys
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # also where the parent ignores it
    signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
from systola.cli import main
sys.exit(main())
"""


def each_signal(usual):
    """All signals; but for this one, in long tests."""
    return pytest.mark.parametrize(
        "number",
        [n if n == usual else pytest.param(n, marks=pytest.mark.long) for n in SIGNALS],
        ids=lambda s: s.name,
    )


def allowed_seconds():
    """How long a command may take to end: 2 s, and more on a machine that is busy with something else."""
    load = os.getloadavg()[0] / (os.cpu_count() or 1) if hasattr(os, "getloadavg") else 1.0
    return 2.0 * max(2.0, load)


def begin(*args, **rest):
    """Start `systola` with these arguments."""
    command = [sys.executable, "-c", _SCRIPT, *map(str, args)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **rest)


def end(process, number):
    """Exit code, output, errors, and how long it took from the signal on."""
    try:
        began = time.monotonic()
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
        return process.returncode, out, err, time.monotonic() - began
    finally:
        process.kill()
        process.wait()


def wait_for(process, happened, nap=0.01):
    """Until something has happened, or the process has ended; what is there for a moment only needs short naps."""
    deadline = time.monotonic() + 300  # kernels may have to be compiled first
    while not happened() and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(nap)


def wait_for_stage(process, stage):
    """Until progress, on standard error, tells of this stage."""
    wait_for(process, lambda: stage in process.stderr.readline())


def finish(*args):
    """Run `systola` to its end; what it printed."""
    command = [sys.executable, "-m", "systola", *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, timeout=90, check=True).stdout
