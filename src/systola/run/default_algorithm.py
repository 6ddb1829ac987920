"""The algorithm that is taken if none is named."""

from __future__ import annotations

import math
import time
from contextlib import suppress

import numba

from systola.model.problem import Problem, is_declared, space_of
from systola.run.budget import Stop
from systola.run.probing import compiles, evaluate_interpreted

_FEW = 5000  # evaluations, up to which `black-box` was better than simulated annealing


def default_algorithm(problem: Problem, elsewhere: bool, stop: Stop) -> str:
    """What is taken if no engine is named: for few evaluations another one than for many.

    They are few where solutions are measured elsewhere; by the budget; and by how long one takes, where Numba cannot
    compile it and the budget is in seconds.
    """
    if elsewhere:
        return "black-box"
    if type(problem).__module__.startswith("systola.") or is_declared(problem):
        return "auto"
    expected = math.inf if stop.evaluations is None else stop.evaluations
    if stop.seconds is not None and not numba.config.DISABLE_JIT:
        example = problem.encoding.example(space_of(problem))
        if not compiles(problem, example):
            began = time.perf_counter()
            with suppress(Exception):  # whatever it is, the run will tell it
                evaluate_interpreted(problem, example)
            expected = min(expected, stop.seconds / max(1e-9, time.perf_counter() - began))
    return "black-box" if expected < _FEW else "auto"
