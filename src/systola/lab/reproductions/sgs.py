"""Systolic Genetic Search, section 4: our Tables 3 to 12 beside the published ones.

The knapsack and MMDP instances are the paper's own. Its next release instances are not public: ours have the same
sizes, so Tables 7 to 9 and 12 show our figures, and the published ones only for orientation.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from math import hypot
from typing import Any

from systola.errors import InputError
from systola.formats.catalog import open_instance
from systola.lab.experiment import Job, do_jobs, plan
from systola.lab.published import load_best, load_figures, load_verdicts
from systola.lab.reproductions.effort import USUAL_EFFORT, Effort
from systola.lab.statistics import SMALLEST_SAMPLE, compare
from systola.lab.store import Store
from systola.lab.tables import Cell, Table, mean_table, significance_table

EXPERIMENT = "sgs"
ALGORITHMS = ("rs", "sga", "ega", "sgs-t", "sgs-e", "sgs-v", "sgs-b")
WEIGHTS = tuple(k / 10 for k in range(11))
FULL_RUNS, QUICK_RUNS = 50, 10  # with fewer, no rank test of 21 pairs can be significant


@dataclass(frozen=True)
class Group:
    """Tables that come from the same runs."""

    problem: str
    error_table: int
    verdict_table: int
    time_table: int
    instances: tuple[str, ...]
    quick: tuple[str, ...]
    best_table: int | None = None

    @property
    def tables(self) -> tuple[int, ...]:
        """All table numbers of the group, in order."""
        best = (self.best_table,) if self.best_table else ()
        return (*best, self.error_table, self.verdict_table, self.time_table)


def _names(problem: str, sizes: str) -> tuple[str, ...]:
    return tuple(f"{problem}:{size}" for size in sizes.split())


GROUPS = (
    Group(
        "knapsack",
        3,
        4,
        10,
        _names("knapsack", "100-1000 100-10000 200-1000 200-10000 500-1000 500-10000 1000-1000 1000-10000"),
        _names("knapsack", "100-1000 100-10000 200-1000 200-10000"),
    ),
    Group("mmdp", 5, 6, 11, _names("mmdp", "300 600 900 1200 1500"), _names("mmdp", "300")),
    Group(
        "nrp",
        8,
        9,
        12,
        _names("nrp", "100-20 100-25 35-35 15-40 50-80 100-140 2-200"),
        _names("nrp", "100-20 100-25 35-35 15-40 50-80"),
        best_table=7,
    ),
)


def choose_groups(table: int | None, quick: bool = False) -> tuple[Group, ...]:
    """The groups to run for one table, or for all; each has instances for a quick look."""
    groups = tuple(g for g in GROUPS if table is None or table in g.tables)
    if not groups:
        raise InputError(f"the SGS paper's Tables 3 to 12 can be reproduced, but got {table}")
    return groups


def jobs_of(group: Group, quick: bool, runs: int) -> list[Job]:
    """All runs of a group; a next release execution is eleven runs, one for each weight."""
    instances = group.quick if quick else group.instances
    if group.problem == "nrp":
        instances = tuple(f"{name}?weight={w}" for name in instances for w in WEIGHTS)
    return plan(instances, ALGORITHMS, runs)


def reproduce(
    group: Group, store: Store, effort: Effort = USUAL_EFFORT, workers: int | None = None
) -> dict[int, tuple[Table, ...]]:
    """Run what is missing and make the tables of a group, by their number in the paper: ours, then the published.

    Figures stand side by side in one table; verdicts and best solutions are two tables.
    """
    count = effort.count(QUICK_RUNS, FULL_RUNS)
    rows = do_jobs(jobs_of(group, effort.quick, count), store, EXPERIMENT, workers, effort.on_done)
    infeasible = sum(not row["feasible"] for row in rows)
    if infeasible:
        raise InputError(f"{infeasible} of {len(rows)} runs ended with an infeasible solution: no error can be stated")
    order = {name: k for k, name in enumerate(group.instances)}
    rows.sort(key=lambda row: order[row["instance"].split("?")[0]])
    tables: dict[int, tuple[Table, ...]] = {}
    if group.problem == "nrp":
        best = _best_releases(rows)
        tables[group.best_table or 0] = (_best_table(best), _published_best())
        errors = _release_errors(rows, best)
        seconds = _release_seconds(rows)
    else:
        errors = _errors(rows)
        seconds = _by_algorithm(rows, lambda row: row["seconds"])
    shown = f"({count} runs; published figures in brackets)"
    tables[group.error_table] = (
        mean_table(
            errors,
            f"Table {group.error_table}: mean error ± standard deviation, {group.problem} {shown}",
            published=load_figures("sgs", group.error_table).figures,
        ),
    )
    if count >= SMALLEST_SAMPLE:
        verdicts = {name: compare(samples).verdicts for name, samples in errors.items()}
        printed = load_verdicts("sgs", group.verdict_table)
        title = f"Table {group.verdict_table}: statistical significance, {group.problem}, 95 %"
        tables[group.verdict_table] = (
            significance_table(ALGORITHMS, verdicts, title),
            significance_table(printed.algorithms, printed.verdicts, f"{title}, as published"),
        )
    tables[group.time_table] = (
        mean_table(
            seconds,
            f"Table {group.time_table}: seconds a run on one core, {group.problem} {shown}",
            published=load_figures("sgs", group.time_table).figures,
        ),
    )
    return dict(sorted(tables.items()))


Samples = dict[str, dict[str, list[float]]]


def _by_algorithm(rows: list[dict[str, Any]], measure: Callable[[dict[str, Any]], float]) -> Samples:
    samples: Samples = defaultdict(lambda: {name: [] for name in ALGORITHMS})
    for row in rows:
        samples[row["instance"]][row["algorithm"]].append(measure(row))
    return dict(samples)


def _errors(rows: list[dict[str, Any]]) -> Samples:
    optimum = {name: open_instance(name).best_known for name in {row["instance"] for row in rows}}
    return _by_algorithm(rows, lambda row: abs(float(optimum[row["instance"]] or 0) - row["objective"]))


def _best_releases(rows: list[dict[str, Any]]) -> dict[str, tuple[int, int]]:
    """For each instance and weight the objectives of the fittest solution of all runs, as in Table 7."""
    problems = {name: open_instance(name).problem for name in {row["instance"] for row in rows}}
    best: dict[str, tuple[float, tuple[int, int]]] = {}
    for row in rows:
        name, (cost, value) = row["instance"], row["objective"]
        fitness = problems[name].scalar((cost, value))  # type: ignore[attr-defined]
        # Equal fitness: the one with more value for less cost.
        candidate = (fitness, (cost, value))
        rank = (fitness, value - cost)
        if name not in best or rank > (best[name][0], best[name][1][1] - best[name][1][0]):
            best[name] = candidate
    return {name: pair for name, (_, pair) in best.items()}


def _release_errors(rows: list[dict[str, Any]], best: dict[str, tuple[int, int]]) -> Samples:
    """Euclidean distance to the best known solution of the weight, averaged over the weights of an execution."""
    distances: dict[tuple[str, str, int], list[float]] = defaultdict(list)
    for row in rows:
        cost, value = best[row["instance"]]
        distance = hypot(row["objective"][0] - cost, row["objective"][1] - value)
        distances[row["instance"].split("?")[0], row["algorithm"], row["seed"]].append(distance)
    samples: Samples = defaultdict(lambda: {name: [] for name in ALGORITHMS})
    for (name, algorithm, _), values in distances.items():
        samples[name][algorithm].append(sum(values) / len(values))
    return dict(samples)


def _release_seconds(rows: list[dict[str, Any]]) -> Samples:
    """An execution takes the time of its eleven runs."""
    totals: dict[tuple[str, str, int], float] = defaultdict(float)
    for row in rows:
        totals[row["instance"].split("?")[0], row["algorithm"], row["seed"]] += row["seconds"]
    samples: Samples = defaultdict(lambda: {name: [] for name in ALGORITHMS})
    for (name, algorithm, _), seconds in totals.items():
        samples[name][algorithm].append(seconds)
    return dict(samples)


def _best_table(best: dict[str, tuple[int, int]]) -> Table:
    names = dict.fromkeys(name.split("?")[0] for name in best)
    header = ("instance", "", *(f"{w:.1f}" for w in WEIGHTS))
    rows = []
    for name in names:
        pairs = [best[f"{name}?weight={w}"] for w in WEIGHTS]
        rows.append((Cell(name), Cell("cost"), *(Cell(f"{pair[0]:,}") for pair in pairs)))
        rows.append((Cell(""), Cell("value"), *(Cell(f"{pair[1]:,}") for pair in pairs)))
    note = "Our own instances of the paper's sizes; the paper's are not public."
    return Table("Table 7: best solution found for each weight", header, tuple(rows), (note,))


def _published_best() -> Table:
    printed = load_best("sgs", 7)
    rows = []
    for name, solutions in printed.solutions.items():
        pairs = list(solutions.values())
        rows.append((Cell(name), Cell("cost"), *(Cell(f"{pair[0]:,}") for pair in pairs)))
        rows.append((Cell(""), Cell("value"), *(Cell(f"{pair[1]:,}") for pair in pairs)))
    header = ("instance", "", *(f"{w:.1f}" for w in WEIGHTS))
    return Table("Table 7 as published: best solution found for each weight", header, tuple(rows), printed.notes)
