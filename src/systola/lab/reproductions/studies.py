"""Studies beside the tables of a paper: what it calibrated in words only, and what it left for future work.

A study is some trials, each an engine on an instance with several seeds, kept in the store as all other runs are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from systola.engines.engine import Engine
from systola.errors import InputError
from systola.lab.experiment import Job
from systola.lab.reproductions.effort import Effort
from systola.lab.reproductions.products import Name, spell
from systola.lab.store import Store
from systola.lab.tables import Cell, Table
from systola.model.problem import Problem, digest_of
from systola.run.budget import Stop
from systola.solve import solve

Facts = Mapping[str, Any]
Place = tuple[str, str]  # an instance and the label of a row


@dataclass(frozen=True)
class Study:
    """One study of a paper."""

    problem: str  # what it is about
    part: str
    quick: bool = False


@dataclass(frozen=True)
class Trial:
    """An engine on an instance, until some budget is used up."""

    instance: str
    label: str
    problem: Problem
    engine: Engine
    stop: Stop
    about: dict[str, Any] = field(default_factory=dict)  # what else tells it apart in the store

    @property
    def place(self) -> Place:
        """Where it stands in a table."""
        return self.instance, self.label


def choose_studies(
    known: Mapping[str, str], item: Name | None, quick: bool = False, *, part: str, **narrowing: Sequence[str]
) -> tuple[Study, ...]:
    """The study of this name; an InputError if something else is asked for, too."""
    if item is not None:
        raise InputError(f"{spell(item)} and --part {part} are two choices, but got both; leave one of them out")
    if narrowing:
        raise InputError(f"a study has instances and algorithms of its own, but got --{next(iter(narrowing))}, too")
    return (Study(known[part], part, quick),)


def run_trials(
    trials: Sequence[Trial], runs: int, store: Store, experiment: str, effort: Effort, threads: int | None = 1
) -> dict[Place, list[Facts]]:
    """Make what is missing, seed by seed, and give back what all trials came to."""
    digests = {id(trial.problem): digest_of(trial.problem) for trial in trials}
    found: dict[Place, list[Facts]] = {trial.place: [] for trial in trials}
    for seed in range(1, runs + 1):
        for number, trial in enumerate(trials, (seed - 1) * len(trials) + 1):
            settings = {"study": trial.label, **trial.about}
            digest = digests[id(trial.problem)]
            job = Job(trial.instance, trial.engine.name, seed, settings, trial.stop, digest)
            key = job.key(experiment)
            if not store.has(key):
                store.add(key, _run(trial, seed, threads))
            found[trial.place].append(store.result(key))
            if effort.on_done:
                effort.on_done(number, runs * len(trials), job)
    return found


def _run(trial: Trial, seed: int, threads: int | None) -> dict[str, Any]:
    result = solve(trial.problem, trial.engine, stop=trial.stop, seed=seed, threads=threads, instance=trial.instance)
    if result.stop == "interrupted":  # what it found so far is not the outcome of this run
        raise KeyboardInterrupt
    return {
        "objective": result.objective,
        "feasible": result.feasible,
        "evaluations": result.evaluations,
        "iterations": result.iterations,
        "seconds": result.seconds,
        "stop": result.stop,
    }


def table_of(title: str, header: Sequence[str], rows: Sequence[Sequence[str]], notes: Sequence[str]) -> Table:
    """A table of plain texts."""
    return Table(title, tuple(header), tuple(tuple(map(Cell, row)) for row in rows), tuple(notes))


def told(runs: int) -> str:
    """How many runs, in words."""
    return f"{runs} run{'s' * (runs > 1)}"
