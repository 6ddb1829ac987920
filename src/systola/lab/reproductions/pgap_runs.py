"""Runs of islands for the scaling tests of PGAP: which are made, and what is read from their results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numba
import numpy as np

from systola.engines.engine import parameters_of
from systola.engines.steady_state import SteadyState
from systola.errors import InputError
from systola.islands.islands import Islands
from systola.lab.experiment import Job
from systola.lab.reproductions.effort import OnDone
from systola.lab.simulation import MODES
from systola.lab.store import Store
from systola.model.problem import Problem, digest_of
from systola.run.budget import Stop
from systola.run.result import Result
from systola.solve import solve

EXPERIMENT = "pgap"

Facts = Mapping[str, Any]  # a result as plain data


@dataclass(frozen=True)
class Setting:
    """So many demes of such a size on so many threads, in one mode."""

    demes: int
    size: int
    threads: int
    mode: str

    @property
    def islands(self) -> Islands:
        """For `solve`."""
        return Islands(SteadyState(size=self.size), self.demes, synchronous=self.mode == "synchronous")


Outcomes = Mapping[Setting, Sequence[Facts]]


def in_both_modes(layouts: Sequence[tuple[int, int, int]]) -> list[Setting]:
    """Settings of these numbers of demes, their sizes, and threads."""
    return [Setting(*layout, mode) for layout in layouts for mode in MODES]


def count_threads(threads: int | None) -> int:
    """The most threads to use: those asked for, or all cores."""
    most = int(numba.config.NUMBA_NUM_THREADS)
    if threads is not None and not 1 <= threads <= most:
        raise InputError(f"`1 <= threads <= {most}` must hold here, but got {threads}")
    return threads or most


def plan_runs(
    problem: Problem, instance: str, settings: Sequence[Setting], seconds: float, runs: int, name: str = "islands"
) -> list[tuple[Setting, Job]]:
    """All runs of all settings, seed by seed, so that an interrupted experiment has as many of each as possible."""
    digest = digest_of(problem)
    queue = []
    for seed in range(1, runs + 1):
        for setting in settings:
            told = {**parameters_of(setting.islands), "threads": setting.threads}
            queue.append((setting, Job(instance, name, seed, told, Stop(seconds=seconds), digest)))
    return queue


def run_missing(
    problem: Problem,
    queue: Sequence[tuple[Setting, Job]],
    store: Store,
    on_done: OnDone | None,
    do: Callable[[Problem, Setting, Job], Facts] | None = None,
) -> dict[Setting, list[Facts]]:
    """Make those runs that the store lacks; gives the outcomes of all."""
    outcomes: dict[Setting, list[Facts]] = {setting: [] for setting, _ in queue}
    for done, (setting, job) in enumerate(queue, 1):
        key = job.key(EXPERIMENT)
        if not store.has(key):
            store.add(key, (do or _solve)(problem, setting, job))
        outcomes[setting].append(store.result(key))
        if on_done:
            on_done(done, len(queue), job)
    return outcomes


def _solve(problem: Problem, setting: Setting, job: Job) -> Facts:
    return finished(solve(problem, setting.islands, stop=job.stop, seed=job.seed, threads=setting.threads))


def finished(result: Result) -> dict[str, Any]:
    """A result as plain data; what an interrupted run found so far is not its outcome."""
    if result.stop == "interrupted":
        raise KeyboardInterrupt
    return result.to_json()


def seconds_to(result: Facts, limit: float) -> float | None:
    """When a run first had a feasible solution with an objective of at most this; None if it never had."""
    trace = result["trace"]
    columns = zip(trace["seconds"], trace["objective"], trace["violation"], strict=True)
    reached = [seconds for seconds, objective, violation in columns if violation == 0 and objective <= limit]
    return min(reached, default=None)


def iterations_to(result: Facts, limit: float) -> int | None:
    """The iteration of a deme in which a run first had a feasible solution with an objective of at most this."""
    trace = result["trace"]
    columns = zip(trace["step"], trace["objective"], trace["violation"], strict=True)
    return min((step for step, objective, violation in columns if violation == 0 and objective <= limit), default=None)


def mean_seconds_to(results: Sequence[Facts], limit: float) -> float | None:
    """The mean over runs; None if one of them never got there."""
    each = [seconds_to(result, limit) for result in results]
    return None if None in each else fmean(seconds for seconds in each if seconds is not None)


def rates_of(results: Sequence[Facts]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Iterations a second, of each deme of each run."""
    return np.array([deme["iterations"] / r["seconds"] for r in results for deme in r["islands"]["demes"]])


def shares_of(results: Sequence[Facts]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The part of its time that migration takes, waiting included, of each deme of each run."""
    demes = (deme for result in results for deme in result["islands"]["demes"])
    return np.array([deme["migrating"] / max(deme["migrating"] + deme["computing"], 1e-9) for deme in demes])
