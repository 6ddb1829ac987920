"""How long the runs of a table take in several ways: on one thread, on all, on a GPU; one run at a time."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os.path import join
from typing import Any

import numba

from systola.engines.catalog import make_engine
from systola.errors import InfeasibleWarning
from systola.formats.source import Source
from systola.lab.experiment import Job
from systola.lab.reproductions.effort import OnDone
from systola.lab.store import Store
from systola.solve import solve

Place = tuple[str, str]  # an instance and an algorithm, as the tables name them
Seconds = dict[Place, list[float]]


@dataclass(frozen=True)
class Way:
    """How runs are executed."""

    label: str
    threads: int | None
    backend: str = "cpu"


def ways_of(backend: str = "cpu", threads: int | None = None) -> tuple[Way, ...]:
    """One thread; all of them, or as many as are asked for, if that is more; and the GPU, if it is asked for."""
    most = threads or int(numba.config.NUMBA_NUM_THREADS)
    ways = [Way("1 thread", 1)]
    if most > 1:
        ways.append(Way(f"{most} threads", most))
    if backend == "cuda":
        ways.append(Way("GPU", None, "cuda"))
    return tuple(ways)


def other_ways(backend: str, threads: int | None) -> tuple[Way, ...]:
    """Beside runs on all threads, or on as many as are asked for: one thread, unless those are on one; the GPU."""
    first, *others = ways_of(backend, threads)
    alone = any(way.backend == "cpu" for way in others)
    return (*((first,) if alone else ()), *(way for way in others if way.backend != "cpu"))


def time_runs(
    jobs: Mapping[Place, Sequence[Job]],
    ways: Sequence[Way],
    store: Store,
    experiment: str,
    on_done: OnDone | None = None,
) -> dict[str, Seconds]:
    """Seconds of each job in each way, by the label of the way; ways take turns, so that all see the same machine."""
    seconds: dict[str, Seconds] = {way.label: {place: [] for place in jobs} for way in ways}
    total = sum(map(len, jobs.values())) * len(ways)
    done = 0
    for place, some in jobs.items():
        for job in some:
            for way in ways:
                key = replace(job, algorithm=f"{job.algorithm} on {way.label}").key(experiment)
                if not store.has(key):
                    store.add(key, _run(job, way))
                seconds[way.label][place].append(float(store.result(key)["seconds"]))
                done += 1
                if on_done:
                    on_done(done, total, job)
    return seconds


def _run(job: Job, way: Way) -> dict[str, Any]:
    found = (job.source or Source(join(job.folder, job.instance))).open()
    engine = make_engine(job.algorithm, found.problem, job.settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InfeasibleWarning)  # only seconds are of interest
        result = solve(
            found.problem,
            engine,
            stop=job.stop,
            seed=job.seed,
            threads=way.threads,
            backend=way.backend,
            instance=found.name,
            callback=lambda progress: None,
        )
    if result.stop == "interrupted":
        raise KeyboardInterrupt
    return result.to_json()
