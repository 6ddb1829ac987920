"""Systolic Neighborhood Search, section 6: our Tables 1 to 9 and Figures 5 to 8 beside the published ones.

The instances are public files that do not come with systola: the caller names the folder that holds them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
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
from systola.lab.reproductions.products import Made, Name, figure, in_order, pick, spell, text_table
from systola.lab.reproductions.public_files import refuse_missing
from systola.lab.reproductions.sns_figures import FIGURES, sketches
from systola.lab.reproductions.sns_labels import label_table
from systola.lab.reproductions.sns_speed import TIMED, speed_table
from systola.lab.reproductions.timing import time_runs, ways_of
from systola.lab.statistics import SMALLEST_SAMPLE, compare
from systola.lab.store import Store
from systola.lab.tables import BETTER, NEITHER, WORSE, Cell, Table, compact_table
from systola.model.problem import digest_of, space_of
from systola.run.budget import Stop

EXPERIMENT = "sns"
FULL_RUNS, QUICK_RUNS = 30, 10  # with fewer than 8, no rank test of 91 pairs can be significant
LEAST_RUNS = 8
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
    Contender("rs-cpu", "rs", lambda items: 1, {"sampling": "uniform"}),
    Contender("rs-gpu", "rs", lambda items: items, {"sampling": "uniform"}),
    Contender("ga-cpu", "ga", lambda items: 100),
    Contender("ga-gpu", "ga", lambda items: 100, {"replacement": "better", "first_parent": "own"}),
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
    quick: tuple[str, ...] = ()  # those of a quick look
    figures: tuple[int, ...] = ()
    algorithms: tuple[str, ...] = tuple(c.name for c in CONTENDERS)
    wanted: Name | None = None  # the only product that is made, if one is named

    @property
    def tables(self) -> tuple[int, ...]:
        """Both table numbers."""
        return self.profit_table, self.time_table

    @property
    def products(self) -> tuple[Name, ...]:
        """All that the group makes; the first also has the table of parameters."""
        return (*([1] if self.figures else []), *self.tables, *map(figure, self.figures))

    @property
    def contenders(self) -> tuple[Contender, ...]:
        """Those that run."""
        return tuple(c for c in CONTENDERS if c.name in self.algorithms)


_SMALL = "SENTO2 WEISH01 WEISH02 WEISH06 WEISH08 WEISH10 WEISH12 WEISH16 WEISH18 WEISH22 WEISH30 PB5 PB6 HP1 HP2 WEING7"


def _first_five(name: str, file: str) -> dict[str, str]:
    return {f"{name}.{k}": f"{file}#{k + 1}" for k in range(5)}


_QUICK = ("WEISH01", "WEISH16", "PB5", "HP1")
GROUPS = (
    Group("small", 2, 3, {name: f"mknap2.txt#{name}" for name in _SMALL.split()}, _QUICK, tuple(FIGURES)),
    Group("10 knapsacks", 4, 5, _first_five("10.250", "mknapcb5.txt") | _first_five("10.500", "mknapcb6.txt")),
    Group("30 knapsacks", 6, 7, _first_five("30.250", "mknapcb8.txt") | _first_five("30.500", "mknapcb9.txt")),
    Group("large", 8, 9, {f"GK{k:02d}": f"gk{k:02d}.dat" for k in range(8, 12)}),
)


def choose_groups(
    item: Name | None,
    quick: bool = False,
    sizes: Sequence[str] | None = None,
    algorithms: Sequence[str] | None = None,
) -> tuple[Group, ...]:
    """The groups to run for one table or figure, or for all; a quick look has some of the small instances only."""
    groups = tuple(replace(g, wanted=item) for g in GROUPS if item is None or item in g.products)
    if not groups:
        raise InputError(
            f"the SNS paper's Tables 1 to 9 and Figures 5 to 8 can be reproduced, but got {spell(item or 0)}"
        )
    if algorithms is not None:
        chosen = pick(algorithms, [c.name for c in CONTENDERS], "algorithm")
        groups = tuple(replace(g, algorithms=chosen) for g in groups)
    if sizes is not None:
        names = pick(sizes, [name for g in groups for name in g.instances], "instance")
        groups = tuple(_narrow(g, [n for n in g.instances if n in names]) for g in groups)
        return tuple(g for g in groups if g.instances)
    if not quick:
        return groups
    if not any(g.quick for g in groups):
        raise InputError(
            f"a quick look has Tables 1 to 3 and the figures only, but got {spell(item or 0)}; make it with few runs "
            "or --sizes instead"
        )
    return tuple(_narrow(g, g.quick) for g in groups if g.quick)


def _narrow(group: Group, names: Sequence[str]) -> Group:
    return replace(group, instances={name: group.instances[name] for name in names}, quick=())


def check_files(folder: str | None, groups: tuple[Group, ...] = GROUPS) -> None:
    """All files of these groups must be there: an error now, not after an hour."""
    needed = list(
        dict.fromkeys(spec.split("#")[0] for group in groups if group.wanted != 1 for spec in group.instances.values())
    )
    source = "mknap*.txt are in the OR-Library, gk*.dat in the collection of Glover and Kochenberger"
    refuse_missing("sns", folder, needed, source)


def jobs_of(group: Group, folder: str, runs: int) -> dict[Place, list[Job]]:
    """All runs of a group. What two populations of the budget do not cover makes one step all the same."""
    jobs = {}
    for name, spec in group.instances.items():
        problem = open_instance(str(Path(folder) / spec)).problem
        items, digest = space_of(problem).n, digest_of(problem)
        budget = evaluations_for(items)
        for contender in group.contenders:
            settings = contender.settings(items)
            stop = Stop(evaluations=max(budget, 2 * contender.size(items)))
            jobs[name, contender.name] = [
                Job(spec, contender.algorithm, seed, settings, stop, digest, folder) for seed in range(1, runs + 1)
            ]
    return jobs


def reproduce(group: Group, store: Store, effort: Effort = USUAL_EFFORT, *, folder: str | None) -> Made:
    """Run what is missing and make the tables of a group, by their number in the paper, and its figures.

    Profits come with tables of significance for the algorithms of which the paper claims any, and of labels that are
    probably exchanged; seconds with our own speed-up.
    """
    made: Made = {}
    if 1 in group.products:
        made[1] = (text_table("sns", 1, "parameters of the genetic algorithms, which ours have", _PARAMETERS),)
    if group.figures and folder:
        made |= {figure(number): (one,) for number, one in sketches(folder).items() if number in group.figures}
    if folder and (group.wanted is None or group.wanted in group.tables):
        made |= _tables(group, store, effort, folder)
    return in_order(made)


_PARAMETERS = ("Ours: crossover always; ga-gpu replaces by the better, and one parent is the individual itself.",)


def _tables(group: Group, store: Store, effort: Effort, folder: str) -> dict[Name, tuple[Table, ...]]:
    count = effort.count(QUICK_RUNS, FULL_RUNS)
    jobs = jobs_of(group, folder, count)
    # Seed by seed; where two algorithms have the same parameters (100 solutions for 20 items), a run counts for both.
    once = {job.key(EXPERIMENT): job for batch in zip(*jobs.values(), strict=True) for job in batch}
    rows = {
        key_of(row, EXPERIMENT): row
        for row in do_jobs([*once.values()], store, EXPERIMENT, effort.workers, effort.on_done)
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
    profits = label_table(group.profit_table, outcomes.feasible, "profit")
    times = label_table(group.time_table, seconds, "seconds")
    timed = {place: some[:1] for place, some in jobs.items() if place[1] in TIMED}
    found = time_runs(timed, ways_of(effort.backend), store, EXPERIMENT, effort.on_done) if timed else {}
    speed = (speed_table(group.time_table, list(group.instances), found),) if found else ()
    return {
        group.profit_table: (*profit_tables, *significance, *profits),
        group.time_table: (*time_tables, *times, *speed),
    }


def _samples(group: Group, done: Mapping[Place, list[dict[str, Any]]], what: str) -> Samples:
    return {
        name: {c.name: [row[what] for row in done[name, c.name]] for c in group.contenders} for name in group.instances
    }


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
    if any(len(profits) < 2 for profits in outcomes.objectives.values()):
        return ()
    tests = {
        name: compare(profits, minimise=False, welch=True, violations=outcomes.violations[name])
        for name, profits in outcomes.objectives.items()
    }
    claims = load_claims("sns", number)
    signs = {1: BETTER, -1: WORSE, 0: NEITHER}
    tables = []
    names = list(next(iter(outcomes.objectives.values())))
    for champion, beaten in claims.better.items():
        rows = []
        if champion not in names or len(names) < 2:
            continue
        for other in (name for name in names if name != champion):
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
