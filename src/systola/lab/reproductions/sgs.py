"""Systolic Genetic Search, section 4: our Tables 1 to 22 and Figures 11 to 14 beside the published ones.

The knapsack and MMDP instances are the paper's own. Its next release instances are not public: ours have the same
sizes, so Tables 7 to 9 and 12 show our figures, and the published ones only for orientation.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from systola.errors import InputError
from systola.formats.catalog import open_instance
from systola.lab.experiment import Job, do_jobs, plan
from systola.lab.outcomes import Samples
from systola.lab.published import load_figures, load_verdicts
from systola.lab.reproductions.c_baselines import c_table, load_baseline, run_systolic, time_c
from systola.lab.reproductions.effort import USUAL_EFFORT, Effort
from systola.lab.reproductions.products import Made, Name, figure, in_order, pick, spell, text_table
from systola.lab.reproductions.sgs_instances import deceptive_function, knapsacks
from systola.lab.reproductions.sgs_releases import (
    best_releases,
    best_table,
    published_best,
    release_errors,
    release_seconds,
)
from systola.lab.reproductions.sgs_speed import TIMED, speed_products
from systola.lab.reproductions.timing import Place, Seconds, time_runs, ways_of
from systola.lab.statistics import SMALLEST_SAMPLE, compare
from systola.lab.store import Store
from systola.lab.tables import Cell, Table, mean_table, significance_table

EXPERIMENT = "sgs"
ALGORITHMS = ("rs", "sga", "ega", "sgs-t", "sgs-e", "sgs-v", "sgs-b")
WEIGHTS = tuple(k / 10 for k in range(11))
FULL_RUNS, QUICK_RUNS = 50, 10  # with fewer, no rank test of 21 pairs can be significant
LEAST_RUNS = 10
TIMED_RUNS = 3  # of each way to execute them; a quick look has one

_INFERRED = "†"


@dataclass(frozen=True)
class Group:
    """Tables and figures that are about the same problem."""

    problem: str
    error_table: int
    verdict_table: int
    time_table: int
    instances: tuple[str, ...]
    quick: tuple[str, ...]
    best_table: int | None = None
    about_table: int | None = None  # what the instances are
    block_table: int | None = None  # threads of a block
    gpu_table: int | None = None
    ratio_table: int | None = None
    rate_table: int | None = None
    figures: tuple[int, ...] = ()
    algorithms: tuple[str, ...] = ALGORITHMS
    wanted: Name | None = None  # the only product that is made, if one is named

    @property
    def tables(self) -> tuple[int, ...]:
        """All table numbers of the group, in order."""
        return tuple(sorted(n for n in (*self._from_runs, *self._from_nothing, *self._speed) if isinstance(n, int)))

    @property
    def products(self) -> tuple[Name, ...]:
        """All that the group makes."""
        return (*self.tables, *map(figure, self.figures))

    @property
    def _from_runs(self) -> tuple[Name | None, ...]:
        return self.best_table, self.error_table, self.verdict_table, self.time_table

    @property
    def _from_nothing(self) -> tuple[Name | None, ...]:
        return self.about_table, self.block_table

    @property
    def _speed(self) -> tuple[Name | None, ...]:
        return self.gpu_table, self.ratio_table, self.rate_table, *map(figure, self.figures)

    @property
    def needs_runs(self) -> bool:
        """Whether something that is wanted comes from the runs on one core."""
        return self.wanted is None or self.wanted in self._from_runs

    @property
    def needs_timing(self) -> bool:
        """Whether something that is wanted is about speed."""
        return any(n is not None for n in self._speed) and (self.wanted is None or self.wanted in self._speed)

    def narrow(self, sizes: Sequence[str] | None, algorithms: Sequence[str] | None) -> Group | None:
        """With these instances and algorithms only; None if it has none of the instances."""
        group = self if algorithms is None else replace(self, algorithms=pick(algorithms, ALGORITHMS, "algorithm"))
        if sizes is None:
            return group
        chosen = tuple(n for n in self.instances if n in sizes or n.split(":")[1] in sizes)
        return replace(group, instances=chosen, quick=chosen) if chosen else None


def _names(problem: str, sizes: str) -> tuple[str, ...]:
    return tuple(f"{problem}:{size}" for size in sizes.split())


GROUPS = (
    Group(
        *("knapsack", 3, 4, 10),
        _names("knapsack", "100-1000 100-10000 200-1000 200-10000 500-1000 500-10000 1000-1000 1000-10000"),
        _names("knapsack", "100-1000 100-10000"),
        about_table=1,
        block_table=13,
        gpu_table=16,
        ratio_table=19,
        figures=(11, 13),
    ),
    Group(
        *("mmdp", 5, 6, 11),
        _names("mmdp", "300 600 900 1200 1500"),
        _names("mmdp", "300"),
        about_table=2,
        block_table=14,
        gpu_table=17,
        ratio_table=20,
        figures=(12, 14),
    ),
    Group(
        *("nrp", 8, 9, 12),
        _names("nrp", "100-20 100-25 35-35 15-40 50-80 100-140 2-200"),
        _names("nrp", "100-20 35-35"),
        best_table=7,
        block_table=15,
        gpu_table=18,
        ratio_table=21,
        rate_table=22,
    ),
)


def choose_groups(
    item: Name | None,
    quick: bool = False,
    sizes: Sequence[str] | None = None,
    algorithms: Sequence[str] | None = None,
) -> tuple[Group, ...]:
    """The groups to run for one table or figure, or for all; each has instances for a quick look, which leaves out
    random search on MMDP: it would take as long as everything else together."""
    groups = tuple(replace(g, wanted=item) for g in GROUPS if item is None or item in g.products)
    if not groups:
        raise InputError(
            f"the SGS paper's Tables 1 to 22 and Figures 11 to 14 can be reproduced, but got {spell(item or 0)}"
        )
    if quick and algorithms is None and sizes is None:
        groups = tuple(replace(g, algorithms=ALGORITHMS[1:]) if g.problem == "mmdp" else g for g in groups)
    if sizes is not None:
        for size in sizes:
            pick([size], [n if ":" in size else n.split(":")[1] for g in groups for n in g.instances], "instance")
    narrowed = (group.narrow(sizes, algorithms) for group in groups)
    return tuple(group for group in narrowed if group is not None)


def jobs_of(group: Group, quick: bool, runs: int) -> list[Job]:
    """All runs of a group; a next release execution is eleven runs, one for each weight."""
    return plan([spec for name in _instances(group, quick) for spec in _specs(group, name)], group.algorithms, runs)


def reproduce(group: Group, store: Store, effort: Effort = USUAL_EFFORT) -> Made:
    """Run what is missing and make the tables and figures of a group, by their number in the paper: ours, then the
    published.

    Figures stand side by side in one table; verdicts and best solutions are two tables.
    """
    made: Made = {}
    if group.about_table:
        known = _instances(group, effort.quick)
        made[group.about_table] = (knapsacks(known) if group.problem == "knapsack" else deceptive_function(),)
    if group.block_table:
        about = f"threads of a block that were quickest on the paper's GPU, {group.problem}"
        ours = "Ours cannot be made: our kernels have one number of threads in a block for all problems."
        made[group.block_table] = (text_table("sgs", group.block_table, about, (ours,)),)
    if group.needs_runs:
        made |= _quality(group, store, effort)
    if group.needs_timing:
        names = _instances(group, effort.quick)
        seconds = _time(group, names, store, effort)
        numbers = {
            "time": group.time_table,
            "gpu": group.gpu_table,
            "ratio": group.ratio_table,
            "rate": group.rate_table,
        }
        made |= speed_products(numbers, group.figures, group.problem, names, seconds)
        if group.ratio_table and group.problem != "nrp":
            made[group.ratio_table] += _beside_c(group, names, seconds, store)
    return in_order(made)


def _instances(group: Group, quick: bool) -> tuple[str, ...]:
    return group.quick if quick else group.instances


def _specs(group: Group, name: str) -> tuple[str, ...]:
    """The instances that an execution solves one after the other."""
    return tuple(f"{name}?weight={w}" for w in WEIGHTS) if group.problem == "nrp" else (name,)


def _time(group: Group, names: Sequence[str], store: Store, effort: Effort) -> dict[str, Seconds]:
    """Seconds of an execution in each way, by instance and algorithm."""
    algorithms = [a for a in TIMED if a in group.algorithms]
    runs = 1 if effort.quick else TIMED_RUNS
    jobs: dict[Place, list[Job]] = {}
    for name in names:
        for job in plan(_specs(group, name), algorithms, runs):
            jobs.setdefault((job.instance, job.algorithm), []).append(job)
    parts = time_runs(jobs, ways_of(effort.backend), store, EXPERIMENT, effort.on_done)
    whole: dict[str, Seconds] = {}
    for label, seconds in parts.items():
        whole[label] = {
            (name, a): [sum(run) for run in zip(*(seconds[s, a] for s in _specs(group, name)), strict=True)]
            for name in names
            for a in algorithms
        }
    return whole


def _beside_c(group: Group, names: Sequence[str], seconds: dict[str, Seconds], store: Store) -> tuple[Table, ...]:
    """SGS_B in C beside ours, if a compiler is there."""
    if load_baseline("baseline") is None or "sgs-b" not in group.algorithms:
        return ()
    c = time_c({name: name for name in names}, "sgs-b", run_systolic, store, EXPERIMENT)
    ours = {way: {name: fmean(some[name, "sgs-b"]) for name in names} for way, some in seconds.items()}
    return (c_table(f"Table {group.ratio_table}: sgs-b beside C, {group.problem}, seconds a run", c, ours, names),)


def _quality(group: Group, store: Store, effort: Effort) -> Made:
    """Errors, significance, best solutions and seconds, from the runs on one core."""
    count = effort.count(QUICK_RUNS, FULL_RUNS)
    rows = do_jobs(jobs_of(group, effort.quick, count), store, EXPERIMENT, effort.workers, effort.on_done)
    infeasible = sum(not row["feasible"] for row in rows)
    if infeasible:
        raise InputError(f"{infeasible} of {len(rows)} runs ended with an infeasible solution: no error can be stated")
    order = {name: k for k, name in enumerate(group.instances)}
    rows.sort(key=lambda row: order[row["instance"].split("?")[0]])
    made: Made = {}
    if group.problem == "nrp":
        best = best_releases(rows)
        made[group.best_table or 0] = (best_table(best, WEIGHTS), published_best())
        errors = release_errors(rows, best)
        seconds = release_seconds(rows)
    else:
        errors = _errors(rows)
        seconds = _by_algorithm(rows, lambda row: row["seconds"])
    shown = f"({count} runs; published figures in brackets)"
    title = f"Table {group.error_table}: mean error ± standard deviation, {group.problem} {shown}"
    made[group.error_table] = (_means(errors, title, group.error_table),)
    if count >= SMALLEST_SAMPLE:
        verdicts = {name: compare(samples).verdicts for name, samples in errors.items()}
        title = f"Table {group.verdict_table}: statistical significance, {group.problem}, 95 %"
        ours = significance_table(group.algorithms, verdicts, title) if len(group.algorithms) > 1 else None
        made[group.verdict_table] = (*([ours] if ours else []), _published_verdicts(group.verdict_table, title))
    title = f"Table {group.time_table}: seconds a run on one core, {group.problem} {shown}"
    made[group.time_table] = (_means(seconds, title, group.time_table),)
    return made


def _means(samples: Samples, title: str, number: int) -> Table:
    printed = load_figures("sgs", number)
    table = mean_table(samples, title, published=printed.figures)
    return replace(table, notes=(*table.notes, *(f"Paper: {note}" for note in printed.notes)))


def _published_verdicts(number: int, title: str) -> Table:
    """As printed where the signs can be read, and marked where the prose and the means must stand for them."""
    printed = load_verdicts("sgs", number)
    table = significance_table(printed.algorithms, printed.verdicts, f"{title}, as published")
    rows = []
    for row in table.rows:
        cells = [row[0]]
        for column, cell in zip(table.header[1:], row[1:], strict=True):
            inferred = cell.text and (row[0].text, column) not in printed.legible
            cells.append(Cell(f"{cell.text} {_INFERRED}") if inferred else cell)
        rows.append(tuple(cells))
    mark = f"{_INFERRED} not all signs can be read: what is shown follows from the means and the prose of the paper."
    notes = (*table.notes, mark, *(f"Paper: {note}" for note in printed.notes))
    return replace(table, rows=tuple(rows), notes=notes)


def _by_algorithm(rows: list[dict[str, Any]], measure: Callable[[dict[str, Any]], float]) -> Samples:
    samples: Samples = defaultdict(lambda: defaultdict(list))
    for row in rows:
        samples[row["instance"]][row["algorithm"]].append(measure(row))
    return {name: dict(by_name) for name, by_name in samples.items()}


def _errors(rows: list[dict[str, Any]]) -> Samples:
    optimum = {name: open_instance(name).best_known for name in {row["instance"] for row in rows}}
    return _by_algorithm(rows, lambda row: abs(float(optimum[row["instance"]] or 0) - row["objective"]))
