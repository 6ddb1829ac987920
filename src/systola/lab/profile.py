"""Where the time of a Pareto local search goes: into measuring neighbours, keeping the archive, and the search itself.

At several moments of a run its next step is timed several times, always from the same state, and so is each part of
it alone: what a step takes depends much on the solution that it looks around.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import numba

from systola.backends.cpu import CpuSession
from systola.backends.session import Setup
from systola.engines.engine import Design
from systola.engines.pareto import PLS
from systola.errors import InputError
from systola.model.encodings import Array
from systola.model.problem import Problem, bind, space_of
from systola.run.probing import measures_of

MOMENTS, REPEATS = 20, 5

Round = tuple[float, float, float]  # seconds of a step, of its evaluation and of its search


@dataclass(frozen=True)
class Profile:
    """A run and its rounds, in which a step and its parts were timed one after the other.

    Attributes
    ----------
    rounds
        Seconds of a whole step, of measuring all neighbours, and of choosing the next solution and looking at it.
    threads
        How many the run had.
    best
        Measures of the best solution that it found.
    """

    rounds: Sequence[Round]
    threads: int
    best: list[Any]

    @property
    def step(self) -> float:
        """Seconds of a step: the median."""
        return median(whole for whole, _, _ in self.rounds)

    def shares(self) -> tuple[float, float, float]:
        """Evaluation, archiving and search in percent: medians over all rounds, and for archiving what these leave.

        Noise may leave less than nothing; then archiving has none, and the others are cut down to 100.
        """
        evaluation = 100 * median(part / whole for whole, part, _ in self.rounds)
        search = max(0.0, 100 * median(part / whole for whole, _, part in self.rounds))
        over = max(1.0, (evaluation + search) / 100)
        return evaluation / over, max(0.0, 100 - evaluation - search), search / over


def profile_search(problem: Problem, engine: PLS, iterations: int, seed: int = 1, threads: int = 1) -> Profile:
    """Make a run of Pareto local search, the same as `solve` makes, and time the parts of its steps.

    This is done at 20 moments, or as many as there are steps, in the middle of equal stretches of the run. On one
    thread its own time is taken, which other programs do not disturb; on several, that of a clock.

    Parameters
    ----------
    problem, engine, seed, threads
        As for `solve`.
    iterations
        Steps of the run.
    """
    if iterations < 1:
        raise InputError(f"`iterations >= 1` must hold for a profile, but got {iterations}")
    if not 1 <= threads <= numba.config.NUMBA_NUM_THREADS:
        raise InputError(f"`1 <= threads <= {numba.config.NUMBA_NUM_THREADS}` must hold here, but got {threads}")
    bind(type(problem))
    run = _open(problem, engine.prepare(problem), seed, threads)
    designs = [engine.prepare(problem), *(engine.prepare_part(problem, part) for part in ("evaluation", "search"))]
    parts = [_Part(problem, design, seed, threads) for design in designs]
    run.start(0, run.lanes)
    step, rounds = 0, list[Round]()
    moments = min(MOMENTS, iterations)
    for moment in range(moments):
        middle = iterations * (2 * moment + 1) // (2 * moments)
        run.sweep(step + 1, middle - step, 0, run.lanes)
        step = middle
        state = run.save()
        for _ in range(REPEATS):
            whole, measuring = (part.time(state, step) for part in parts[:2])
            # Over no lanes a step is its end alone; of the evaluation that is nothing but the loop around it.
            looking = parts[2].time(state, step, alone=True) - parts[1].time(state, step, alone=True)
            rounds.append((whole, measuring, looking))
    run.sweep(step + 1, iterations - step, 0, run.lanes)
    return Profile(rounds, threads, run.best().score[0].tolist())


class _Part:
    """Steps, or one part of them, from states of a run."""

    def __init__(self, problem: Problem, design: Design, seed: int, threads: int) -> None:
        self._args, self._threads = (problem, design, seed, threads), threads
        self._session = _open(*self._args)

    def time(self, state: dict[str, Array], step: int, alone: bool = False) -> float:
        """Seconds of the step after this one; its end alone, if it has no lanes. The second time: caches are warm."""
        took = 0.0
        for _ in range(2):
            if len(state["population.memory"]) < len(self._session.save()["population.memory"]):
                self._session = _open(*self._args)  # it has grown since
            self._session.restore(state)
            self._session.threads = 1 if alone else self._threads
            took = _pace(self._session, step, self._session.lanes if alone else 0)
        return took


def _open(problem: Problem, design: Design, seed: int, threads: int) -> CpuSession:
    """A session, compiled before anything is timed."""
    _, measures, dtype = measures_of(problem, problem.encoding.example(space_of(problem)), "cpu")
    session = CpuSession(Setup(problem, design, measures, dtype, seed), threads)
    session.compile()
    return session


def _pace(session: CpuSession, step: int, low: int) -> float:
    """Seconds of the step after this one, of the lanes from `low` on."""
    clock = time.thread_time if session.threads == 1 else time.perf_counter
    began = clock()
    session.sweep(step + 1, 1, low, session.lanes)
    return clock() - began
