"""Problems whose objectives are plain Python, some of them troublesome, in a module that workers can import."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import systola as sy

FOLDER = "SYSTOLA_TEST_FOLDER"  # in the environment, which workers inherit


class Weighted(sy.Problem):
    """Ones with weights; `import` keeps Numba from compiling it."""

    encoding = sy.Binary("n")
    n: int
    milliseconds: int = 0

    def evaluate(self, x):
        import math

        time.sleep(self.milliseconds / 1000)
        return math.floor((x * (np.arange(self.n) * 7 % 11 + 1)).sum())


class Limited(sy.Problem):
    """Two measures, and a constraint on the second."""

    encoding = sy.Integers("n", 0, 4)
    sense = sy.MINIMISE
    n: int
    least: int

    def evaluate(self, x):
        import math

        return math.sqrt(float((x * np.arange(1, self.n + 1)).sum())), int(x.sum())

    def violation(self, measures):
        return max(0, self.least - measures[1])


class Tour(sy.Problem):
    """A permutation."""

    encoding = sy.Permutation("n")
    sense = sy.MINIMISE
    n: int

    def evaluate(self, x):
        import math

        return math.fsum(abs(float(x[i] - x[i - 1])) ** 0.5 for i in range(self.n))


FINE, DIES, HANGS, RAISES, EXITS, LEAVES, NAN, TEXT, PAIR, SIMULATES = range(10)


class Trouble(sy.Problem):
    """The number of ones; the first `times` evaluations with at least `limit` of them go wrong."""

    encoding = sy.Binary("n")
    n: int
    mood: int = FINE
    limit: int = 0
    times: int = 1

    def evaluate(self, x):
        ones = int(x.sum())
        if ones >= self.limit and _is_bad_time(self):
            _go_wrong(self)
            if self.mood == NAN:
                return float("nan")
            if self.mood == TEXT:
                return "many"
            if self.mood == PAIR:
                return ones, ones
        return ones


def _is_bad_time(self) -> bool:
    """Whether this happens less than `times` times so far, in whichever process."""
    for number in range(self.times):
        try:
            (Path(os.environ[FOLDER]) / str(number)).touch(exist_ok=False)
            return True
        except FileExistsError:
            continue
    return False


def _go_wrong(self) -> None:
    if self.mood == DIES:
        os.kill(os.getpid(), signal.SIGSEGV)
    if self.mood == EXITS:
        os._exit(7)
    if self.mood == LEAVES:
        sys.exit(7)
    if self.mood == HANGS:
        time.sleep(600)
    if self.mood == RAISES:
        raise ValueError("no licence")
    if self.mood == SIMULATES:
        simulator = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        (Path(os.environ[FOLDER]) / "simulator").write_text(str(simulator.pid))
        simulator.wait()
