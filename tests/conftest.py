"""Shared by all tests."""

from __future__ import annotations

import builtins
import dataclasses
import importlib.util
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import systola as sy
from own_problems import Balance, OneMax
from systola.cli import main

sys.path.insert(0, str(Path(__file__).parent))

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell lets what it starts in the background ignore Ctrl-C, and processes that tests start would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)


# Tests that run side by side have all cores: kernels of each are compiled by its own process.
os.environ.setdefault("SYSTOLA_COMPILERS", "1")

# The files that take longest, which begin first: else one of them may be the last, and all other processes wait for it.
SLOWEST = (
    "backends/test_cuda.py",
    "golden/test_golden.py",
    "golden/test_golden_ptx.py",
    "islands/test_mpi.py",
    "test_docs.py",
    "test_solve.py",
    "cli/test_lab_commands.py",
    "run/test_checkpoint.py",
    "engines/test_chains.py",
    "test_signal_stages.py",
    "lab/test_mls_reproduction.py",
    "model/test_capabilities.py",
    "crosscheck/test_interpreted.py",
    "jit/test_cache.py",
    "run/test_race.py",
    "cli/test_solve_command.py",
    "islands/test_islands.py",
    "test_signals.py",
    "islands/test_checkpoints.py",
    "soak/test_soak.py",
)


def pytest_configure(config: pytest.Config) -> None:
    """Processes take files in the order of the tests, not those with most tests first."""
    if hasattr(config.option, "loadscopereorder"):
        config.option.loadscopereorder = False


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    ranks = {Path(__file__).parent / name: rank for rank, name in enumerate(SLOWEST)}
    items.sort(key=lambda item: ranks.get(item.path, len(ranks)))


@pytest.fixture
def run_command(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Run `systola` with these arguments here; gives exit code, standard output and standard error."""

    def run(*args: object) -> tuple[int, str, str]:
        try:
            code = main([str(arg) for arg in args])
        except SystemExit as end:
            code = end.code
        printed = capsys.readouterr()
        return code or 0, printed.out, printed.err

    return run


@pytest.fixture
def without_package(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """From the call on, a package that is not one of ours cannot be imported."""
    real = builtins.__import__

    def forbid(package: str) -> None:
        def refuse(name: str, *rest: Any, **named: Any) -> Any:
            if name.startswith(package):
                raise ImportError(name)
            return real(name, *rest, **named)

        monkeypatch.setattr(builtins, "__import__", refuse)

    return forbid


def needs(package: str, extra: str) -> pytest.MarkDecorator:
    """For tests of what is done with a package that is an extra."""
    reason = f"needs the extra systola[{extra}]"
    return pytest.mark.skipif(importlib.util.find_spec(package) is None, reason=reason)


def refused(outcome: tuple[int, str, str]) -> str:
    """What a command said that was refused: exit code 2, a sentence, and nothing that looks like an answer."""
    code, out, err = outcome
    assert (code, out) == (2, "")
    assert "Traceback" not in err
    return err


def sentence_of(call: Callable[..., object], *args: Any, **named: Any) -> str:
    """What the InputError says that a call raises."""
    with pytest.raises(sy.InputError) as caught:
        call(*args, **named)
    return str(caught.value)


def imports(module: str, package: str) -> bool:
    """Whether a new process that imports a module has then imported this package, too."""
    clean = subprocess.run(
        [sys.executable, "-c", f"import {module}, sys; print({package!r} in sys.modules)"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
        capture_output=True,
        text=True,
        check=True,
    )
    return clean.stdout.strip() == "True"


def small_knapsack(n: int = 40, seed: int = 0) -> sy.Knapsack:
    draws = np.random.default_rng(seed)
    weights = draws.integers(1, 50, n)
    return sy.Knapsack(draws.integers(1, 50, n), weights, int(weights.sum() // 3))


def small_release(n: int = 40, seed: int = 0, weight: float = 0.3) -> sy.NextRelease:
    draws = np.random.default_rng(seed)
    return sy.NextRelease(draws.integers(1, 20, n), draws.integers(0, 90, n), weight)


def small_multi_knapsack(n: int = 40, m: int = 3, seed: int = 0, tightness: float = 0.4) -> sy.MultiKnapsack:
    draws = np.random.default_rng(seed)
    weights = draws.integers(0, 50, (m, n))
    return sy.MultiKnapsack(draws.integers(1, 50, n), weights, (tightness * weights.sum(axis=1)).astype(int))


def binary_problems() -> list[sy.Problem]:
    """One of each kind of binary problem, for contracts that hold for all."""
    draws = np.random.default_rng(5)
    return [small_knapsack(), sy.MMDP(36), small_release(), OneMax(30), Balance(draws.random(33))]


def story(result: sy.Result) -> tuple[object, ...]:
    """All of a result that must not depend on who computed it."""
    return (
        result.objective,
        result.violation,
        result.solution.tolist(),
        result.found_at,
        result.iterations,
        result.evaluations,
        result.stop,
        [(s.step, s.evaluations, s.objective, s.violation) for s in result.trace.samples],
    )


def changed(kind, capability, **functions):
    """What a class of problems lists, with other functions in one capability."""
    return tuple(
        dataclasses.replace(entry, **functions) if isinstance(entry, capability) else entry
        for entry in kind.capabilities
    )
