"""Where the time of a Pareto local search goes: into measuring neighbours, keeping the archive, and the search itself.

The parts of a step are too short to be timed one by one. At several moments of a run some of its steps are timed, and
then as many that make one part only, around the same solution.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any

import numpy as np

from systola.backends.cpu import CpuSession, judge
from systola.backends.session import Work
from systola.engines.engine import Design
from systola.engines.pareto import PLS
from systola.errors import InputError
from systola.problem import Problem

MOMENTS, REPEATS = 20, 5
_BURST_SECONDS = 0.01  # steps that are timed together last about this long


@dataclass(frozen=True)
class Profile:
    """How long the steps of a run and their parts took, on average over the moments at which they were timed.

    Attributes
    ----------
    step, evaluation, search
        Seconds of a whole step; of measuring all neighbours; of choosing a solution and looking at it.
    threads
        How many the run had in the end.
    best
        Measures of the best solution that it found.
    """

    step: float
    evaluation: float
    search: float
    threads: int
    best: list[Any]

    def shares(self) -> tuple[float, float, float]:
        """Evaluation, archiving and search in percent; archiving is what the others leave, and nothing at least."""
        whole = max(self.step, self.evaluation + self.search)
        evaluation, search = 100 * self.evaluation / whole, 100 * self.search / whole
        return evaluation, max(0.0, 100 - evaluation - search), search


def profile_search(
    problem: Problem, engine: PLS, iterations: int, seed: int = 1, threads: int | None = None
) -> Profile:
    """Make a run of Pareto local search, the same as `solve` makes, and time the parts of its steps.

    This is done at 20 moments, or as many as there are steps, in the middle of equal stretches of the run. At each of
    them a burst of steps is timed, and then as many steps of each part, in turns, five times; the median counts.

    Parameters
    ----------
    problem, engine, seed, threads
        As for `solve`.
    iterations
        Steps of the run.
    """
    if iterations < 1:
        raise InputError(f"`iterations >= 1` must hold for a profile, but got {iterations}")
    problem.bind()
    run = _open(problem, engine.prepare(problem), seed, threads)
    evaluation, search = (_open(problem, engine.prepare_part(problem, p), seed, 1) for p in ("evaluation", "search"))
    run.start(0, run.lanes)
    step, pace, timed = 0, 0.0, []
    moments = min(MOMENTS, iterations)
    for moment in range(moments):
        end = iterations * (moment + 1) // moments
        burst = min(max(1, int(_BURST_SECONDS / pace)) if pace else 1, end - step)
        repeats = min(REPEATS, (end - step) // burst)
        before = (end - step - repeats * burst) // 2
        run.sweep(step + 1, before, 0, run.lanes)
        step += before
        rounds = []
        for _ in range(repeats):
            evaluation.threads = run.threads
            pace = _pace(run, step, burst)
            step += burst
            state = run.save()
            evaluation.restore(state)
            search.restore(state)
            measuring = _pace(evaluation, step, burst)
            # Over no lanes a step is what concludes it; of the evaluation that is nothing but the loop around it.
            evaluation.threads = 1
            looking = _pace(search, step, burst, search.lanes) - _pace(evaluation, step, burst, evaluation.lanes)
            rounds.append((pace, measuring, looking))
        timed.append([median(times) for times in zip(*rounds, strict=True)])
        run.sweep(step + 1, end - step, 0, run.lanes)
        step = end
    whole, measured, searched = (fmean(times) for times in zip(*timed, strict=True))
    return Profile(whole, measured, max(0.0, searched), run.threads, run.best().score[0].tolist())


def _open(problem: Problem, design: Design, seed: int, threads: int | None) -> CpuSession:
    """A session, compiled before anything is timed."""
    values = judge(problem.record, problem.encoding.example(problem.space))
    values = values if isinstance(values, tuple) else (values,)
    whole = all(isinstance(value, (int, np.integer)) for value in values)
    session = CpuSession(Work(problem, design, len(values), np.int64 if whole else np.float64, seed), threads)
    session.start(0, 0)
    session.sweep(1, 0, 0, session.lanes)
    return session


def _pace(session: CpuSession, step: int, steps: int, low: int = 0) -> float:
    """Seconds that a step takes after this one, of the lanes from `low` on."""
    began = time.perf_counter()
    session.sweep(step + 1, steps, low, session.lanes)
    return (time.perf_counter() - began) / steps
