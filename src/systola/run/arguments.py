"""What `solve` is given, checked before anything is done with it."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numba
import numpy as np

from systola.engines.engine import Design
from systola.errors import InputError
from systola.model.problem import Problem, is_declared, space_of
from systola.run.budget import Stop
from systola.run.execution import Callback
from systola.run.probing import compiles, evaluate_interpreted

_FEW_FOR_AUTO = 5000  # evaluations, up to which `black-box` was better than simulated annealing

_FEW_EVALUATIONS = 500  # that a black box gets by default


def check_problem(problem: Problem) -> None:
    """It must be an instance of a problem."""
    if isinstance(problem, type) and issubclass(problem, Problem):
        raise InputError(f"a problem needs its data: write {problem.__name__}(...), not the class alone")
    if not isinstance(problem, Problem):
        raise InputError(
            f"a problem must be one of systola.problems or your own subclass of systola.Problem, but got {problem!r}; "
            "a file is opened by systola.formats.open_instance(path).problem"
        )


def make_stop(stop: Stop | float | None) -> Stop:
    """A budget; a number alone is one of seconds."""
    if stop is None:
        return Stop()
    if isinstance(stop, Stop):
        return stop
    if isinstance(stop, (int, float, np.integer, np.floating)) and not isinstance(stop, bool):
        return Stop(seconds=float(stop))
    raise InputError(f"`stop` must be a budget such as Seconds(10) | Target(5), or seconds, but got {stop!r}")


def usual_evaluations(design: Design) -> int:
    """A budget that suits the size of a problem: what an engine makes by default."""
    return design.started + design.steps * design.per_step


def limit(stop: Stop, designs: list[Design], few: bool, races: bool = False) -> Stop:
    """A budget by which a run ends; an InputError if it is not even enough to begin with."""
    if not stop.limited and few:
        stop = stop | Stop(evaluations=max(_FEW_EVALUATIONS, designs[0].started + 10 * designs[0].per_step))
    elif not stop.limited and races:  # whose steps are of several sizes
        stop = stop | Stop(evaluations=usual_evaluations(designs[0]))
    elif not stop.limited:
        stop = stop | Stop(iterations=max(d.steps for d in designs))
    started = sum(d.started for d in designs)
    if stop.evaluations is not None and stop.evaluations < started:
        raise InputError(
            f"`evaluations` must be at least {started}, the size of the first population, but got "
            f"{stop.evaluations}; choose a smaller grid or population"
        )
    return stop


@dataclass(frozen=True)
class RunFiles:
    """Where the state of a run is kept, how often, and what it goes on from.

    Parameters
    ----------
    checkpoint, checkpoint_every
        A file, or the folder of islands, and seconds from one to the next.
    resume
        A checkpoint to go on from.
    record, replay
        Of asynchronous islands: what arrived where and when, to write and to repeat.
    """

    checkpoint: Path | None = None
    checkpoint_every: float = 60.0
    resume: Path | None = None
    record: Path | None = None
    replay: Path | None = None

    def __post_init__(self) -> None:
        every = self.checkpoint_every
        number = isinstance(every, (int, float, np.integer, np.floating)) and not isinstance(every, bool)
        if not number or not every >= 0:
            raise InputError(f"`checkpoint_every >= 0` must hold, in seconds, but got {every!r}")
        if self.record is not None and self.record.is_dir():
            raise InputError(f"`record` must be a file to write, but {str(self.record)!r} is a folder")

    @classmethod
    def named(cls, checkpoint_every: float = 60.0, **paths: str | os.PathLike[str] | None) -> RunFiles:
        """By what a user gives: texts, paths or nothing."""
        for name, path in paths.items():
            if path is not None and not isinstance(path, (str, os.PathLike)):
                raise InputError(f"`{name}` must be a path, but got {path!r}")
        found: dict[str, Any] = {name: Path(path) for name, path in paths.items() if path}
        return cls(checkpoint_every=checkpoint_every, **found)

    @property
    def none(self) -> bool:
        """Whether there are none."""
        return not any((self.checkpoint, self.resume, self.record, self.replay))


def check_options(callback: Callback | None, instance: str) -> None:
    """The other arguments that have one type only."""
    if callback is not None and not callable(callback):
        raise InputError(f"`callback` must be a function, but got {callback!r}")
    if not isinstance(instance, str):
        raise InputError(f"`instance` must be a text, but got {instance!r}")


@contextmanager
def within_memory(problem: Problem) -> Iterator[None]:
    """While a run is laid out: say so if there is not enough memory for it."""
    try:
        yield
    except MemoryError:
        raise InputError(
            f"a run with {space_of(problem).n:,} decisions a solution needs more memory than this machine gives; "
            "choose a smaller problem, grid (length, width) or population (size)"
        ) from None


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
    return "black-box" if expected < _FEW_FOR_AUTO else "auto"
