"""PGAP: Liu, Wang 2015, section 4, at the size of one machine: our Table 3 beside the published one, and its
Figures 5 to 12.

Instances are generated, or files of a folder that the caller names. Runs are made here, one at a time, since seconds
are what most of it is about.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, inf, isfinite
from statistics import fmean
from typing import Any

from systola.engines.engine import parameters_of
from systola.engines.steady_state import SteadyState
from systola.errors import InputError
from systola.islands.islands import Islands
from systola.lab.experiment import Job
from systola.lab.published import PublishedFigures, load_figures
from systola.lab.reproductions.effort import USUAL_EFFORT, Effort, OnDone
from systola.lab.reproductions.pgap_configuration import configuration
from systola.lab.reproductions.pgap_instances import Case, check_folder, generate_cases, read_cases
from systola.lab.reproductions.pgap_runs import EXPERIMENT, finished
from systola.lab.reproductions.pgap_scaling import (
    ScalingTest,
    count_solutions,
    scale_population,
    scale_strongly,
    simulate_here,
)
from systola.lab.reproductions.products import Made, Name, figure, pick, spell, text_table
from systola.lab.statistics import count_signs
from systola.lab.store import Store
from systola.lab.tables import Cell, Table
from systola.model.problem import digest_of
from systola.run.budget import Stop
from systola.solve import solve

ONE = SteadyState(crossover_probability=1, mutation_probability=1)  # as Chu, Beasley 1997, whom Table 3 follows
TWO = Islands(ONE, 2)


@dataclass(frozen=True)
class Budget:
    """How much is done.

    Attributes
    ----------
    stall, iterations
        Table 3: iterations without improvement after which a deme ends, and the most that it makes.
    most_jobs
        Table 3: larger instances are left out.
    instance, seconds
        What scaling runs solve, and for how long.
    sizes, rounds
        Of the simulation.
    """

    stall: int
    iterations: int | None
    most_jobs: int | None
    instance: str
    seconds: float
    sizes: tuple[int, ...]
    rounds: int


QUICK = Budget(20_000, 100_000, 100, "gap:e-10x100", 1.0, (64, 256), 50)
USUAL = Budget(50_000, 1_000_000, None, "gap:e-20x400", 5.0, (64, 256, 1024), 100)
FULL = Budget(500_000, None, None, "gap:e-80x1600", 60.0, (64, 256, 1024, 4096, 16_384), 500)  # as in the paper


@dataclass(frozen=True)
class Group:
    """One part of the paper's section 4."""

    problem: str  # what it is about
    part: str
    budget: Budget
    sizes: tuple[str, ...] | None = None  # instances of Table 3, if not all


FULL_RUNS, QUICK_RUNS, LEAST_RUNS = 1, 1, 1  # as in the paper
PARTS = {
    "parameters": "parameters of migration",
    "quality": "one deme and two",
    "strong": "strong scaling",
    "population": "population scaling",
    "solutions": "different solutions",
    "simulation": "simulation, %",
}


def choose_groups(
    item: Name | None,
    quick: bool = False,
    sizes: Sequence[str] | None = None,
    *,
    part: str | None = None,
    full: bool = False,
    seconds: float | None = None,
) -> tuple[Group, ...]:
    """The parts to do: that of a table, one by its name, or all; with a small, the usual or the paper's budget, but for
    the seconds of scaling runs if these are given."""
    if item is not None and item not in _PART_OF:
        raise InputError(f"the PGAP paper's Tables 1 to 3 and Figures 5 to 12 can be reproduced, but got {spell(item)}")
    if quick and full:
        raise InputError("--quick and --full are two budgets, but got both; leave one of them out")
    chosen = part if item is None else _PART_OF[item]
    if part not in (None, chosen):
        raise InputError(f"{spell(item or 0)} is the part {chosen}, but got --part {part}, too; leave one of them out")
    budget = QUICK if quick else FULL if full else USUAL
    if seconds is not None:
        if not seconds > 0 or not isfinite(seconds):
            raise InputError(f"`seconds > 0` must hold for a run, but got {seconds}")
        budget = replace(budget, seconds=seconds)
    named = None if sizes is None else tuple(sizes)
    return tuple(Group(about, name, budget, named) for name, about in PARTS.items() if chosen in (None, name))


_PART_OF: dict[Name, str] = {
    **{1: "parameters", 2: "parameters", 3: "quality", figure(5): "strong"},
    **{figure(number): "population" for number in range(6, 13)},
}


def check_files(folder: str | None, groups: tuple[Group, ...] = ()) -> None:
    """A folder must hold instances, if one is named."""
    if folder is not None:
        check_folder(folder)


def reproduce(
    group: Group,
    store: Store,
    effort: Effort = USUAL_EFFORT,
    *,
    folder: str | None = None,
    costs: Mapping[str, float] | None = None,
) -> Made:
    """Run what is missing and make the tables of a part, by its number in the paper or by its name.

    `costs` are those of messages as `measure_messages` gives them, for the simulation.
    """
    count = effort.count(QUICK_RUNS, FULL_RUNS)
    budget = group.budget
    if group.part == "parameters":
        return {1: (text_table("pgap", 1, "parameters of migration"),), 2: (configuration(),)}
    if group.part == "quality":
        most = budget.most_jobs if group.sizes is None else None
        cases = read_cases(folder, most) if folder else generate_cases(most)
        if group.sizes is not None:
            names = pick(group.sizes, [case.name for case in cases], "instance", "gap:")
            cases = tuple(case for case in cases if case.name in names)
        contenders = contenders_of(cases, budget, count)
        _run_missing(contenders, store, effort.on_done)
        return {3: (_quality(contenders, store, budget),)}
    if group.part == "simulation":
        return {
            group.part: simulate_here(store, budget.instance, budget.sizes, budget.rounds, effort.on_done, costs or {})
        }
    measure = {"strong": scale_strongly, "population": scale_population, "solutions": count_solutions}[group.part]
    return measure(ScalingTest(store, budget.instance, budget.seconds, count, effort.threads, effort.on_done))


@dataclass(frozen=True)
class Contender:
    """One deme or two on an instance, and all runs."""

    case: Case
    engine: SteadyState | Islands
    jobs: tuple[Job, ...]


def contenders_of(cases: Sequence[Case], budget: Budget, runs: int) -> dict[tuple[str, str], Contender]:
    """Who runs on what for Table 3, by instance and `one` or `two`."""
    stop = Stop(stall=budget.stall, iterations=budget.iterations)
    found: dict[tuple[str, str], Contender] = {}
    for case in cases:
        digest = digest_of(case.problem)
        engines: dict[str, SteadyState | Islands] = {"one": ONE, "two": TWO}
        for label, engine in engines.items():
            settings = parameters_of(engine)
            jobs = (Job(case.name, engine.name, seed, settings, stop, digest) for seed in range(1, runs + 1))
            found[case.name, label] = Contender(case, engine, tuple(jobs))
    return found


def _run_missing(contenders: Mapping[Any, Contender], store: Store, on_done: OnDone | None) -> None:
    """Seed by seed, so that an interrupted reproduction has as many runs of each as possible."""
    pairs = zip(*([(one, job) for job in one.jobs] for one in contenders.values()), strict=True)
    queue = [pair for batch in pairs for pair in batch]
    for done, (one, job) in enumerate(queue, 1):
        key = job.key(EXPERIMENT)
        if not store.has(key):
            store.add(key, finished(solve(one.case.problem, one.engine, stop=job.stop, seed=job.seed, threads=1)))
        if on_done:
            on_done(done, len(queue), job)


def _quality(contenders: Mapping[tuple[str, str], Contender], store: Store, budget: Budget) -> Table:
    printed = load_figures("pgap", 3)
    rows, signs, same, runs = [], [], [], 0
    for name in dict.fromkeys(name for name, _ in contenders):
        case = contenders[name, "one"].case
        bound = case.problem.bound()
        pair, cells = [], []
        for label in ("one", "two"):
            results = [store.result(job.key(EXPERIMENT)) for job in contenders[name, label].jobs]
            runs = len(results)
            pair.append(_loss(case, results))
            value = -case.problem.sign * pair[-1]
            gap = 100 * (pair[-1] + case.problem.sign * bound) / abs(bound) if bound else inf
            cells += [f"{value:,.0f}" if runs == 1 else f"{value:,.1f}", f"{gap:.2f}"] if isfinite(value) else ["–"] * 2
            cells.append(f"{fmean(result['evaluations'] for result in results):,.0f}")
        signs.append(pair[0] - pair[1] if pair[0] != pair[1] else 0.0)
        better = "two" if signs[-1] > 0 else "one" if signs[-1] < 0 else "="
        if case.row and ceil(printed.figures[case.row, "bound"][0]) == bound:
            same.append(name)
        best = "–" if case.best is None else f"{case.best:,.0f}"
        texts = [f"{bound:,.0f}", best, *cells, better, *_published(printed, case.row)]
        rows.append((Cell(name), *map(Cell, texts)))
    header = (
        *("Instance", "bound", "best known", "one deme", "gap %", "solutions", "two demes", "gap %", "solutions"),
        *("better", "bound, published", "one, published", "gap %", "two, published", "gap %"),
    )
    wins, ties, losses, chance = count_signs(signs)
    most = f", {budget.iterations:,} at most" if budget.iterations else ""
    notes = (
        f"Two demes better on {wins} of {len(signs)} instances, as good on {ties}, worse on {losses}; one-sided sign "
        f"test, without ties: p = {chance:.4f}. Published: 31 of 39 by the text, 30 and one tie by the figures.",
        f"A run ends, and so does each of two demes, after {budget.stall:,} iterations without improvement{most}; the "
        "paper's after 500,000. Two demes run on one core in turns, and make more solutions than one: see `solutions`.",
        "Gaps are to the bound, ours the Lagrangian one.",
        "Published figures are those of the paper's instance of the same type and size; it is the same one only if the "
        f"bounds agree: {', '.join(same) or 'none does'}.",
        *(f"Paper: {note}" for note in printed.notes),
    )
    title = f"Table 3: one deme and two on one core ({runs} run{'s' * (runs > 1)} of each)"
    return Table(title, header, tuple(rows), notes)


def _loss(case: Case, results: Sequence[Mapping[str, Any]]) -> float:
    """The mean objective, negated if it is maximised; infinite if a run found nothing feasible."""
    return fmean(-case.problem.sign * result["objective"] if result["feasible"] else inf for result in results)


def _published(printed: PublishedFigures, row: str) -> list[str]:
    if not row:
        return ["–"] * 5
    bound, one, gap, two, other = (
        printed.figures[row, column][0]
        for column in ("bound", "baseline", "baseline gap", "two demes", "two demes gap")
    )
    return [f"{bound:,g}", f"{one:,.0f}", f"{gap:.2f}", f"{two:,.0f}", f"{other:.2f}"]
