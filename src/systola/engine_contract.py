"""Checks that an engine, built-in or your own, gives one answer for a seed, however it is run."""

from __future__ import annotations

import tempfile
import warnings
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numba
import numpy as np

from systola.engines.engine import Engine
from systola.engines.migration import supports_migration
from systola.errors import CheckFailed, InfeasibleWarning
from systola.islands.islands import Islands
from systola.model.problem import Problem
from systola.run.budget import Iterations
from systola.run.result import Result
from systola.solve import solve


def check_engine(engine: Engine, problem: Problem, steps: int = 6, seed: int = 1) -> None:
    """Run an engine in every way that this machine has; CheckFailed says which two differ.

    Interpreted, compiled on one thread and on two, interrupted and resumed from a checkpoint, the same run must come
    out bit for bit, with as many solutions as the design says; and the engine as a deme, if it can be one.

    Parameters
    ----------
    engine : Engine
        A dataclass with `name` and `prepare`.
    problem : Problem
        A small one: interpreted, steps are some hundred times slower.
    steps : int
        Steps of each run, at least 2.
    seed : int
        Of the runs.
    """
    if not is_dataclass(engine):
        raise CheckFailed(f"an engine must be a dataclass, whose fields are its parameters, but got {engine!r}")
    design = engine.prepare(problem)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InfeasibleWarning)
        plain = _run(engine, problem, steps, seed, backend="python")
        wanted = design.started + steps * design.per_step
        if plain.evaluations != wanted:
            raise CheckFailed(
                f"{engine.name} should make {wanted} solutions by its design, but {plain.evaluations} came"
            )
        for threads in range(1, min(2, int(numba.config.NUMBA_NUM_THREADS)) + 1):
            _compare(plain, _run(engine, problem, steps, seed, threads=threads), f"compiled, {threads} threads")
        with tempfile.TemporaryDirectory() as folder:
            saved = Path(folder) / "half.npz"
            _run(engine, problem, steps // 2, seed, checkpoint=saved)
            _compare(plain, _run(engine, problem, steps, seed, resume=saved), "resumed from a checkpoint")
        if supports_migration(design.record):
            demes = Islands(engine, demes=2, synchronous=True, export_every=2, import_every=1)
            one, two = (_run(demes, problem, steps, seed, threads=threads) for threads in (1, None))
            _compare(one, two, "islands on several threads")
    parameters = {f.name: getattr(engine, f.name) for f in fields(engine)}
    if type(engine)(**parameters) != engine:
        raise CheckFailed(f"{engine.name} must be equal to one with the same parameters; make it a frozen dataclass")


def _run(engine: Engine | Islands, problem: Problem, steps: int, seed: int, **rest: Any) -> Result:
    return solve(problem, engine, stop=Iterations(steps), seed=seed, **rest)


def _compare(one: Result, other: Result, how: str) -> None:
    for what, here, there in (
        ("trace", _numbers(one), _numbers(other)),
        ("solution", np.asarray(one.solution).tolist(), np.asarray(other.solution).tolist()),
        ("step of the best solution", one.found_at, other.found_at),
    ):
        if here != there:
            raise CheckFailed(f"the {what} is {here} interpreted, but {there} {how}")


def _numbers(result: Result) -> list[tuple[Any, ...]]:
    return [(sample.step, sample.evaluations, sample.objective) for sample in result.trace.samples]
