"""A session of an engine on one thread, started: what twins are compared with step by step."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

import systola as sy
from conftest import Balance, story
from ptx.device import PtxDevice
from systola.backends.cpu import CpuSession
from systola.backends.session import Setup
from systola.engines.engine import Design, Engine
from systola.model.objective import evaluate
from systola.model.problem import record_of, space_of


def check_resumed(problem: sy.Problem, engine: Engine, seed: int, steps: int, pause: int, folder: Path) -> None:
    """A run that pauses after some steps, and goes on from its checkpoint, ends as one that does not."""
    solve = partial(sy.solve, problem, engine, seed=seed, backend="python")
    whole = solve(stop=sy.Iterations(steps))
    solve(stop=sy.Iterations(pause), checkpoint=folder / "state")
    assert story(solve(stop=sy.Iterations(steps), resume=folder / "state")) == story(whole)


def check_on_gpu(problem: sy.Problem, engine: Engine) -> None:
    """Its PTX, executed on the CPU."""
    solve = partial(sy.solve, problem, engine, stop=sy.Iterations(4), seed=2)
    plain, gpu = solve(backend="python"), solve(backend="cuda", device=PtxDevice(race=True))
    assert gpu.solution.tolist() == plain.solution.tolist()
    assert [s.objective for s in gpu.trace.samples] == [s.objective for s in plain.trace.samples]


def open_run(problem: sy.Problem, engine: Engine, seed: int) -> tuple[Design, CpuSession]:
    design = engine.prepare(problem)
    probe = evaluate(record_of(problem), np.zeros(space_of(problem).n, np.uint8))
    count = len(probe) if isinstance(probe, tuple) else 1
    dtype = np.float64 if isinstance(problem, Balance) else np.int64
    session = CpuSession(Setup(problem, design, count, dtype, seed), 1)
    session.start(0, session.lanes)
    return design, session
