"""Who runs on what for a table of a paper: the runs that a store does not have yet, and what it has in the end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from systola.engines.engine import Engine
from systola.lab.experiment import Job
from systola.lab.reproductions.effort import OnDone
from systola.lab.store import Store
from systola.model.problem import Problem

Place = tuple[str, str]  # an instance, as the tables name it, and the label of a column


@dataclass(frozen=True)
class TableGroup:
    """One table, and on which instances."""

    problem: str  # what the table is about
    table: int
    instances: tuple[str, ...]


@dataclass(frozen=True)
class Contender:
    """An engine on an instance, and all its runs."""

    problem: Problem
    engine: Engine
    jobs: tuple[Job, ...]


Results = Mapping[Place, Sequence[Mapping[str, Any]]]
C = TypeVar("C", bound=Contender)


def run_missing(
    contenders: Mapping[Place, C],
    store: Store,
    experiment: str,
    run: Callable[[C, Job], dict[str, Any]],
    on_done: OnDone | None,
) -> None:
    """Seed by seed, so that an interrupted reproduction has as many runs of each as possible."""
    pairs = zip(*([(one, job) for job in one.jobs] for one in contenders.values()), strict=True)
    queue = [pair for batch in pairs for pair in batch]
    for done, (one, job) in enumerate(queue, 1):
        key = job.key(experiment)
        if not store.has(key):
            store.add(key, run(one, job))
        if on_done:
            on_done(done, len(queue), job)


def results_of(contenders: Mapping[Place, C], store: Store, experiment: str) -> dict[Place, list[dict[str, Any]]]:
    """The results of all runs."""
    return {place: [store.result(job.key(experiment)) for job in one.jobs] for place, one in contenders.items()}
