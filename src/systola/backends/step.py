"""One step, as kernels see it: what they work on and where they are. Engines get it as `s`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from systola.engines.engine import step_constants
from systola.jit.compile import inlined
from systola.jit.records import Record
from systola.model.encodings import Space
from systola.model.population import Lanes, Population


class Step(NamedTuple):
    """Everything that a cell may read or write, beside the engine's own record."""

    problem: Any
    space: Any
    population: Any
    lanes: Any
    seed: Any
    step: Any  # from 1 on; 0 while the first population is made
    shared: Any  # three numbers that the engine computes once a step


def before_steps(problem: Record, space: Space, population: Population, lanes: Lanes, seed: int) -> Step:
    """The record that a run begins with; of the same type as any other, so that nothing is compiled twice."""
    zero = np.int64(0)
    return Step(problem, space, population, lanes, np.uint64(seed), zero, (zero, zero, zero))


@inlined
def at_step(engine: Any, s: Any, step: Any) -> Any:
    """The record of another step of the same run."""
    a, b, c = step_constants(engine, step)
    shared = (np.int64(a), np.int64(b), np.int64(c))
    return Step(s.problem, s.space, s.population, s.lanes, s.seed, np.int64(step), shared)
