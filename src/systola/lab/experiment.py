"""Independent replications: many runs in parallel processes, each stored as it finishes, so that nothing is lost.

Each worker runs single-threaded; two runs side by side use two cores better than one run on two threads.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from systola.engines.catalog import make_engine
from systola.errors import Incomplete, InfeasibleWarning, InputError
from systola.formats.source import Source
from systola.jit.digest import digest_of_data
from systola.lab.store import Key, Store
from systola.lab.workers import Death, Request, work
from systola.model.problem import digest_of
from systola.run.budget import Stop
from systola.solve import solve
from systola.version import __version__


@dataclass(frozen=True)
class Job:
    """One run, described by plain data so that any process can do it."""

    instance: str
    algorithm: str
    seed: int
    settings: dict[str, Any] = field(default_factory=dict)
    stop: Stop = field(default_factory=Stop)
    digest: str = ""  # of the instance's data
    folder: str = ""  # where the file of the instance lies; its data decide, not its place
    source: Source | None = None  # how to open the instance, if its name alone does not say it

    def key(self, experiment: str) -> Key:
        """Under which the result is stored; other data, another budget, parameter or version is another key."""
        settings = json.dumps(self.settings, sort_keys=True)
        config = digest_of_data(__version__, self.digest, settings, sorted(self.stop.__dict__.items()))
        return Key(experiment, self.instance, self.algorithm, self.seed, config)


def plan(
    instances: Iterable[str] | Mapping[str, Source],
    algorithms: Iterable[str],
    runs: int,
    first_seed: int = 1,
    settings: dict[str, Any] | None = None,
    stop: Stop | None = None,
) -> list[Job]:
    """All jobs of an experiment, seed by seed, so that an interrupted one has as many runs of each as possible.

    Instances are names as for `open_instance`, or names for tables with the sources that they stand for.
    """
    algorithms = list(algorithms)
    named = instances if isinstance(instances, Mapping) else {}
    sources = {name: named.get(name) or Source(name) for name in instances}
    digests = {name: digest_of(source.open().problem) for name, source in sources.items()}
    return [
        Job(name, algorithm, seed, settings or {}, stop or Stop(), digests[name], "", named.get(name))
        for seed in range(first_seed, first_seed + runs)
        for name in sources
        for algorithm in algorithms
    ]


def count_runs(runs: int | None, default: int) -> int:
    """How many runs to make of each algorithm: the number asked for, at least one, or the default."""
    if runs is not None and runs < 1:
        raise InputError(f"`runs >= 1` must hold, but got {runs}")
    return default if runs is None else runs


def do_job(job: Job) -> dict[str, Any]:
    """Run a job here, on one thread; the result as plain data."""
    found = (job.source or Source(os.path.join(job.folder, job.instance))).open()
    engine = make_engine(job.algorithm, found.problem, job.settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InfeasibleWarning)  # rows say it
        result = solve(
            found.problem,
            engine,
            stop=job.stop,
            seed=job.seed,
            threads=1,
            instance=found.name,
            callback=lambda progress: None,  # the command shows how far it is, and nothing else may
        )
    if result.stop == "interrupted":  # what it found so far is not the outcome of this run
        raise KeyboardInterrupt
    return result.to_json()


def do_jobs(
    jobs: Sequence[Job],
    store: Store,
    experiment: str,
    workers: int | None = None,
    on_done: Callable[[int, int, Job], None] | None = None,
) -> list[dict[str, Any]]:
    """Do what the store does not hold yet; returns the rows of all jobs, oldest seed first.

    Raises Incomplete, which says why, if it was asked to finish or if workers died: what is finished is stored, and the
    same call goes on from there.
    """
    if workers is not None and workers < 1:
        raise InputError(f"`workers >= 1` must hold, but got {workers}")
    missing = [job for job in jobs if not store.has(job.key(experiment))]
    done = len(jobs) - len(missing)
    if on_done and jobs:
        on_done(done, len(jobs), jobs[0])
    if not missing:
        return stored(jobs, store, experiment)
    lost: list[str] = []
    with closing(work(do_job, missing, workers or os.cpu_count() or 1)) as items:
        for item in items:
            if isinstance(item, Request):
                raise Incomplete(f"interrupted: {_state(done, jobs, store)}")
            if isinstance(item, Death):
                lost.append(f"{item.task.instance}, {item.task.algorithm}, seed {item.task.seed} ({item.why})")
                continue
            job, result = item
            store.add(job.key(experiment), result)
            done += 1
            if on_done:
                on_done(done, len(jobs), job)
    if lost:
        raise Incomplete(f"processes died in the middle of runs: {', and '.join(lost)}: {_state(done, jobs, store)}")
    return stored(jobs, store, experiment)


def stored(jobs: Sequence[Job], store: Store, experiment: str) -> list[dict[str, Any]]:
    """The rows of those jobs that the store holds."""
    wanted = {job.key(experiment) for job in jobs}
    return [row for row in store.rows(experiment) if key_of(row, experiment) in wanted]


def _state(done: int, jobs: Sequence[Job], store: Store) -> str:
    return f"{done} of {len(jobs)} runs are in {store.path}; the same command makes the others"


def key_of(row: dict[str, Any], experiment: str) -> Key:
    """Under which a row is stored: that of its job."""
    return Key(experiment, row["instance"], row["algorithm"], row["seed"], row["config"])
