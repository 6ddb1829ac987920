"""Systolic Neighborhood Search, section 6: our Tables 2 to 9 beside the published ones.

The instances are public files that do not come with systola: the caller names the folder that holds them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from math import ceil
from pathlib import Path
from typing import Any

from systola.engines.neighbourhood import MOST_EVALUATIONS, evaluations_for
from systola.errors import InputError
from systola.formats.catalog import open_instance
from systola.lab.experiment import Job, do_jobs, key_of
from systola.lab.outcomes import Outcomes, Samples
from systola.lab.published import load_claims, load_figures
from systola.lab.reproductions.effort import USUAL_EFFORT, Effort
from systola.lab.reproductions.public_files import refuse_missing
from systola.lab.statistics import SMALLEST_SAMPLE, compare
from systola.lab.store import Store
from systola.lab.tables import BETTER, NEITHER, WORSE, Cell, Table, compact_table
from systola.model.problem import digest_of, space_of
from systola.run.budget import Stop

EXPERIMENT = "sns"
FULL_RUNS, QUICK_RUNS = 30, 10  # with fewer than 8, no rank test of 91 pairs can be significant
ABREAST = 8  # instances side by side, as in Tables 2 and 3

Place = tuple[str, str]  # an instance and an algorithm, as the tables name them


def _square(items: int) -> int:
    return items * items


def _exponential(items: int) -> int:
    return items * max(1, (items - 1).bit_length())


@dataclass(frozen=True)
class Contender:
    """An algorithm of the tables: its name there, its name here, its number of solutions, and more parameters."""

    name: str
    algorithm: str
    size: Callable[[int], int]
    more: Mapping[str, Any] = field(default_factory=dict)

    def settings(self, items: int) -> dict[str, Any]:
        """The parameters for so many items; the size of a mesh follows from the problem."""
        return {} if self.algorithm.startswith("sns") else {"size": self.size(items), **self.more}


CONTENDERS = (
    Contender("rs-cpu", "rs", lambda items: 1),
    Contender("rs-gpu", "rs", lambda items: items),
    Contender("ga-cpu", "ga", lambda items: 100),
    Contender("ga-gpu", "ga", lambda items: 100, {"replacement": "better"}),
    Contender("ga-sns", "ga", _square),
    Contender("ga-sns-exp", "ga", _exponential),
    *(Contender(name, name, _square) for name in ("sns", "sns-r", "sns-mr", "sns-r-mr")),
    *(Contender(name, name, _exponential) for name in ("sns-exp", "sns-exp-r", "sns-exp-mr", "sns-exp-r-mr")),
)


@dataclass(frozen=True)
class Group:
    """A table of profits and one of times, from the same runs."""

    problem: str
    profit_table: int
    time_table: int
    instances: Mapping[str, str]  # names in the tables, and files
    quick: bool = False  # whether a quick look includes it

    @property
    def tables(self) -> tuple[int, ...]:
        """Both table numbers."""
        return self.profit_table, self.time_table


_SMALL = "SENTO2 WEISH01 WEISH02 WEISH06 WEISH08 WEISH10 WEISH12 WEISH16 WEISH18 WEISH22 WEISH30 PB5 PB6 HP1 HP2 WEING7"


def _first_five(name: str, file: str) -> dict[str, str]:
    return {f"{name}.{k}": f"{file}#{k + 1}" for k in range(5)}


GROUPS = (
    Group("small", 2, 3, {name: f"mknap2.txt#{name}" for name in _SMALL.split()}, quick=True),
    Group("10 knapsacks", 4, 5, _first_five("10.250", "mknapcb5.txt") | _first_five("10.500", "mknapcb6.txt")),
    Group("30 knapsacks", 6, 7, _first_five("30.250", "mknapcb8.txt") | _first_five("30.500", "mknapcb9.txt")),
    Group("large", 8, 9, {f"GK{k:02d}": f"gk{k:02d}.dat" for k in range(8, 12)}),
)


def choose_groups(table: int | None, quick: bool = False) -> tuple[Group, ...]:
    """The groups to run for one table, or for all; a quick look has the small instances only."""
    groups = tuple(g for g in GROUPS if table is None or table in g.tables)
    if not groups:
        raise InputError(f"the SNS paper's Tables 2 to 9 can be reproduced, but got {table}")
    if quick and not any(g.quick for g in groups):
        raise InputError(f"a quick look has Tables 2 and 3 only, but got {table}; make it with few runs instead")
    return tuple(g for g in groups if g.quick or not quick)


def check_files(folder: str | None, groups: tuple[Group, ...] = GROUPS) -> None:
    """All files of these groups must be there: an error now, not after an hour."""
    needed = list(dict.fromkeys(spec.split("#")[0] for group in groups for spec in group.instances.values()))
    source = "mknap*.txt are in the OR-Library, gk*.dat in the collection of Glover and Kochenberger"
    refuse_missing("sns", folder, needed, source)


def jobs_of(group: Group, folder: str, runs: int) -> dict[Place, list[Job]]:
    """All runs of a group. What two populations of the budget do not cover makes one step all the same."""
    jobs = {}
    for name, spec in group.instances.items():
        problem = open_instance(str(Path(folder) / spec)).problem
        items, digest = space_of(problem).n, digest_of(problem)
        budget = evaluations_for(items)
        for contender in CONTENDERS:
            settings = contender.settings(items)
            stop = Stop(evaluations=max(budget, 2 * contender.size(items)))
            jobs[name, contender.name] = [
                Job(spec, contender.algorithm, seed, settings, stop, digest, folder) for seed in range(1, runs + 1)
            ]
    return jobs


def reproduce(
    group: Group, store: Store, effort: Effort = USUAL_EFFORT, *, workers: int | None = None, folder: str
) -> dict[int, tuple[Table, ...]]:
    """Run what is missing and make the tables of a group, by their number in the paper.

    Profits come with tables of significance for the algorithms of which the paper claims any.
    """
    count = effort.count(QUICK_RUNS, FULL_RUNS)
    jobs = jobs_of(group, folder, count)
    # Seed by seed; where two algorithms have the same parameters (100 solutions for 20 items), a run counts for both.
    once = {job.key(EXPERIMENT): job for batch in zip(*jobs.values(), strict=True) for job in batch}
    rows = {
        key_of(row, EXPERIMENT): row for row in do_jobs([*once.values()], store, EXPERIMENT, workers, effort.on_done)
    }
    done = {place: [rows[job.key(EXPERIMENT)] for job in some] for place, some in jobs.items()}

    outcomes = Outcomes(*(_samples(group, done, what) for what in ("objective", "violation")))
    seconds = _samples(group, done, "seconds")
    notes = (*_over_budget(jobs), *_infeasible(done))
    shown = f"({count} run{'s' * (count > 1)}; published figures in brackets)"
    title = f"mean profit, {group.problem} {shown}"
    profit_tables = _panels(group.profit_table, title, outcomes.feasible, 1, False, notes, outcomes.runs)
    time_tables = _panels(group.time_table, f"seconds a run on one core, {group.problem} {shown}", seconds, 3, True)
    significance = _significance(group.profit_table, outcomes) if count >= SMALLEST_SAMPLE else ()
    return {
        group.profit_table: (*profit_tables, *significance),
        group.time_table: time_tables,
    }


def _samples(group: Group, done: Mapping[Place, list[dict[str, Any]]], what: str) -> Samples:
    return {name: {c.name: [row[what] for row in done[name, c.name]] for c in CONTENDERS} for name in group.instances}


def _panels(
    number: int,
    what: str,
    samples: Samples,
    decimals: int,
    minimise: bool,
    notes: tuple[str, ...] = (),
    runs: Mapping[str, Mapping[str, int]] | None = None,
) -> tuple[Table, ...]:
    """A table, or several below each other where there are many instances; notes come after the last."""
    printed = load_figures("sns", number)
    names = list(samples)
    each = ceil(len(names) / ceil(len(names) / ABREAST))
    tables = []
    for start in range(0, len(names), each):
        part = {name: samples[name] for name in names[start : start + each]}
        title = f"Table {number}{', continued' if start else ''}: {what}"
        table = compact_table(part, title, decimals=decimals, minimise=minimise, published=printed.figures, runs=runs)
        if printed.optima:
            optima = (f"({printed.optima[name]:,.{decimals}f})" if name in printed.optima else "" for name in part)
            table = replace(table, rows=(*table.rows, (Cell("optimum"), *map(Cell, optima))))
        tables.append(table)
    whole = (*tables[-1].notes, *notes, *(f"Paper: {note}" for note in printed.notes))
    return (*(replace(table, notes=()) for table in tables[:-1]), replace(tables[-1], notes=whole))


def _significance(number: int, outcomes: Outcomes) -> tuple[Table, ...]:
    """For each algorithm with a claim of the paper whether it is significantly better than each other one."""
    tests = {
        name: compare(profits, minimise=False, welch=True, violations=outcomes.violations[name])
        for name, profits in outcomes.objectives.items()
    }
    claims = load_claims("sns", number)
    signs = {1: BETTER, -1: WORSE, 0: NEITHER}
    tables = []
    for champion, beaten in claims.better.items():
        rows = []
        for other in (c.name for c in CONTENDERS if c.name != champion):
            ours = (Cell(signs[test.verdict(champion, other)]) for test in tests.values())
            rows.append((Cell(other), *ours, Cell(BETTER if other in beaten else "")))
        notes = (
            f"{BETTER} {champion} is significantly better, {WORSE} significantly worse, {NEITHER} neither; "
            "infeasible runs rank after feasible ones.",
            *(f"Paper: {note}" for note in claims.notes),
        )
        title = f"Table {number}: {champion} against the others, 95 %"
        tables.append(Table(title, ("", *tests, "published"), tuple(rows), notes))
    return tuple(tables)


def _over_budget(jobs: Mapping[Place, list[Job]]) -> list[str]:
    names = _by_algorithm([place for place, some in jobs.items() if (some[0].stop.evaluations or 0) > MOST_EVALUATIONS])
    return [f"One step, though two populations are above the budget: {names}."] if names else []


def _infeasible(done: Mapping[Place, list[dict[str, Any]]]) -> list[str]:
    counts: dict[tuple[int, int], list[Place]] = defaultdict(list)
    for place, rows in done.items():
        failed = sum(not row["feasible"] for row in rows)
        if failed:
            counts[failed, len(rows)].append(place)
    return [
        f"{failed} of {of} runs ended infeasible and are not in the mean: {_by_algorithm(places)}."
        for (failed, of), places in sorted(counts.items(), reverse=True)
    ]


def _by_algorithm(places: list[Place]) -> str:
    """Algorithms and where, those of the same instances together."""
    instances: dict[str, tuple[str, ...]] = defaultdict(tuple)
    for instance, algorithm in places:
        instances[algorithm] += (instance,)
    algorithms: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for algorithm, where in instances.items():
        algorithms[where].append(algorithm)
    return "; ".join(f"{', '.join(names)} on {', '.join(where)}" for where, names in algorithms.items())
