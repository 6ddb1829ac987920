"""Luong, Melab, Talbi 2011, section 6: our Tables 1 to 5 beside the published ones.

Multiobjective local search on flowshops. The instances are generated. Runs are made here, one at a time on all threads,
since their seconds are what the paper is about; Table 5 comes from runs of its own, which are timed part by part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os.path import join
from statistics import fmean
from typing import Any

from systola.engines.engine import Engine, parameters_of
from systola.engines.pareto import PLS
from systola.engines.tabu import Tabu
from systola.errors import InputError
from systola.formats.catalog import open_instance
from systola.lab.experiment import Job
from systola.lab.profile import MOMENTS, REPEATS, profile_search
from systola.lab.published import load_figures
from systola.lab.reproductions.contenders import Contender, Place, Results, TableGroup, results_of, run_missing
from systola.lab.reproductions.effort import USUAL_EFFORT, Effort
from systola.lab.reproductions.products import Made, Name, pick, spell, text_table
from systola.lab.reproductions.public_files import refuse_missing
from systola.lab.reproductions.timing import Seconds, other_ways, time_runs
from systola.lab.store import Store
from systola.lab.tables import Cell, Table
from systola.model.problem import digest_of, senses_of
from systola.run.budget import Stop
from systola.solve import solve

EXPERIMENT = "mls"
FULL_RUNS, QUICK_RUNS, LEAST_RUNS = 3, 1, 1  # the paper has 50; its times hardly vary, and nor do ours
ITERATIONS = 10_000
SIZES = {  # the first instance of each size
    **{"20-10": "ta011", "20-20": "ta021", "50-10": "ta041", "50-20": "ta051"},
    **{"100-10": "ta071", "100-20": "ta081", "200-10": "ta091", "200-20": "ta101"},
}
QUICK_SIZES = ("20-10", "20-20", "50-10")
TABU = Tabu(neighbourhood="insertion")
DOMINATING = PLS("dominating", neighbourhood="insertion")
NON_DOMINATED = PLS("non-dominated", neighbourhood="insertion")


@dataclass(frozen=True)
class Group(TableGroup):
    """One table, and whose runs it shows."""

    engines: Mapping[str, Engine]
    profiled: bool = False


GROUPS = (
    Group("memories", 1, (), {}),
    Group("tabu search", 2, tuple(SIZES), {"tabu": TABU}),
    Group("dominating neighbours", 3, tuple(SIZES), {"dominating": DOMINATING}),
    Group("non-dominated neighbours", 4, tuple(SIZES), {"non-dominated": NON_DOMINATED}),
    Group("profile", 5, tuple(SIZES), {"dominating": DOMINATING, "non-dominated": NON_DOMINATED}, profiled=True),
)
_ENGINES = {
    "tabu": "tabu search over the sum of the objectives",
    "dominating": "PLS that accepts dominating neighbours",
    "non-dominated": "PLS that accepts all non-dominated neighbours",
}


def choose_groups(item: Name | None, quick: bool = False, sizes: Sequence[str] | None = None) -> tuple[Group, ...]:
    """The groups to run for one table, or for all; a quick look has the three smallest sizes, and one run."""
    groups = tuple(g for g in GROUPS if item in (None, g.table))
    if not groups:
        raise InputError(f"the MLS paper's Tables 1 to 5 can be reproduced, but got {spell(item or 0)}")
    if sizes is None and not quick:
        return groups
    chosen = QUICK_SIZES if sizes is None else pick(sizes, tuple(SIZES), "size")
    return tuple(replace(g, instances=tuple(n for n in g.instances if n in chosen)) for g in groups)


def check_files(folder: str | None, groups: Sequence[Group] = GROUPS) -> None:
    """A folder must hold the files of all sizes, if one is named."""
    if folder is None:
        return
    needed = [_file_of(name) for name in dict.fromkeys(name for group in groups for name in group.instances)]
    refuse_missing("mls", folder, needed, "they are Taillard's instances with the due dates of Liefooghe et al.")


def _file_of(size: str) -> str:
    """The first instance of a size, as the public files are called."""
    jobs, machines = size.split("-")
    return f"{int(jobs):03d}_{int(machines):02d}_01.txt"


def contenders_of(group: Group, runs: int, folder: str | None = None) -> dict[Place, Contender]:
    """Who runs on what for a table; a profile is made once."""
    found: dict[Place, Contender] = {}
    for name in group.instances:
        options = "?objectives=makespan,tardiness,tardy"
        spec = f"flowshop:{SIZES[name]}{options}" if folder is None else f"{_file_of(name)}{options}"
        problem = open_instance(spec if folder is None else join(folder, spec)).problem
        digest = digest_of(problem)
        for label, engine in group.engines.items():
            algorithm = engine.name + "-profile" * group.profiled
            settings, stop = parameters_of(engine), Stop(iterations=ITERATIONS)
            seeds = range(1, 2 if group.profiled else runs + 1)
            jobs = tuple(Job(spec, algorithm, seed, settings, stop, digest, folder or "") for seed in seeds)
            found[name, label] = Contender(problem, engine, jobs)
    return found


def reproduce(group: Group, store: Store, effort: Effort = USUAL_EFFORT, *, folder: str | None = None) -> Made:
    """Run what is missing and make the table of a group, by its number in the paper."""
    if not group.engines:
        ours = "Ours cannot be made: the compiler of our kernels chooses among the memories of a GPU."
        return {1: (text_table("mls", 1, "which memory of the paper's GPU holds what", (ours,)),)}
    contenders = contenders_of(group, effort.count(QUICK_RUNS, FULL_RUNS), folder)
    run = _profile if group.profiled else _solve
    run_missing(contenders, store, EXPERIMENT, lambda one, job: run(one, job, effort.threads), effort.on_done)
    results = results_of(contenders, store, EXPERIMENT)
    if group.profiled:
        return {group.table: _shares(group, results)}
    jobs = {place: one.jobs[:1] for place, one in contenders.items()}
    timed = time_runs(jobs, other_ways(effort.backend, effort.threads), store, EXPERIMENT, effort.on_done)
    return {group.table: (_seconds(group, results, timed),)}


def _solve(one: Contender, job: Job, threads: int | None) -> dict[str, Any]:
    result = solve(one.problem, one.engine, stop=job.stop, seed=job.seed, threads=threads, instance=job.instance)
    if result.stop == "interrupted":  # what it found so far is not the outcome of this run
        raise KeyboardInterrupt
    return replace(result, front_solutions=None).to_json()  # thousands of schedules, of which none is shown


def _profile(one: Contender, job: Job, threads: int | None) -> dict[str, Any]:
    assert isinstance(one.engine, PLS)
    made = profile_search(one.problem, one.engine, ITERATIONS, job.seed, threads or 1)  # as published, on one core
    design = one.engine.prepare(one.problem)
    return {
        "objective": made.best[: len(senses_of(one.problem))],
        "feasible": True,
        "evaluations": design.started + ITERATIONS * design.per_step,
        "iterations": ITERATIONS,
        "seconds": ITERATIONS * made.step,
        "threads": made.threads,
        "shares": made.shares(),
    }


def _seconds(group: Group, results: Results, timed: Mapping[str, Seconds]) -> Table:
    printed = load_figures("mls", group.table)
    counted = "solutions" in printed.algorithms
    (label,) = group.engines
    rows = []
    for name in group.instances:
        some = results[name, label]
        mean = fmean(result["seconds"] for result in some)
        each = [fmean(seconds[name, label]) for seconds in timed.values()]
        cells = [*(f"{value:.2f}" for value in each), f"{mean:.2f}"]
        cells += [f"{each[0] / mean:.2f}" if each else "–", f"{ITERATIONS / mean:,.0f}"]
        for cpu, gpu in MACHINES.values():
            theirs = [printed.figures[name, column][0] for column in (cpu, gpu)]
            cells += [f"{theirs[0]:.1f}", f"{theirs[1]:.1f}", f"{printed.figures[name, f'{gpu}-speedup'][0]:.1f}"]
        if counted:
            found = fmean(len(result["front"]) for result in some)
            cells += [f"{found:,.1f}", f"{printed.figures[name, 'solutions'][0]:,.0f}"]
        rows.append((Cell(name), *map(Cell, cells)))
    on = _threads(results)
    header = ["Instance", *timed, on, "speed-up", "iterations/s"]
    for machine in MACHINES:
        header += [f"{machine}: CPU", "GPU", "speed-up"]
    count = len(results[group.instances[0], label]) if group.instances else 0
    notes = (
        "Seconds. Published: one core of a Xeon at 3 GHz, and with it a GeForce GTX 285; one core of a Core i7 at "
        "3.2 GHz, and with it a GeForce GTX 480; both GPUs with texture memory. Ours is this machine: seconds "
        "compare machines as much as programs, and only speed-ups, each of one machine, can be set beside each other.",
        "One run at a time; compiling is not counted. The paper has means of 50 runs, and does not say which of the "
        "ten instances of a size it took; ours is the first.",
        *([_SIZES_OF_FRONTS] if counted else []),
        *(f"Paper: {note}" for note in printed.notes),
    )
    title = (
        f"Table {group.table}: {_ENGINES[label]}, {ITERATIONS:,} iterations ({count} run{'s' * (count > 1)} on {on})"
    )
    return Table(title, (*header, *["solutions", "solutions, published"][: 2 * counted]), tuple(rows), notes)


MACHINES = {"Xeon": ("xeon", "gtx285-tex"), "i7": ("i7", "gtx480-tex")}
_SIZES_OF_FRONTS = (
    "solutions: those that none dominates at the end, with different objectives; means. Ours are those of all restarts "
    "together: the archive is kept when a search starts again. The paper does not say whether its number is of all "
    "restarts or of one; of one search alone they would be fewer."
)


def _shares(group: Group, results: Results) -> tuple[Table, ...]:
    """A table for each engine; notes come after the last."""
    printed = load_figures("mls", group.table)
    parts = ("evaluation", "archiving", "search")
    tables: list[Table] = []
    for label in group.engines:
        rows = []
        for name in group.instances:
            (result,) = results[name, label]
            published = (printed.figures[name, f"{label} {part}"][0] for part in parts)
            cells = (f"{ours:.1f} ({theirs:g})" for ours, theirs in zip(result["shares"], published, strict=True))
            rows.append((Cell(name), *map(Cell, cells)))
        title = (
            f"Table {group.table}{', continued' * bool(tables)}: {_ENGINES[label]}, percent of the time on "
            f"{_threads(results)} (1 run; published figures in brackets)"
        )
        tables.append(Table(title, ("Instance", *parts), tuple(rows)))
    notes = (
        f"Measured at {MOMENTS} moments of a run, {REPEATS} times each: its next step; the same sweep over all "
        "neighbours with nothing done with them (evaluation); choosing the next solution and looking at it (search). "
        "Shares are medians; archiving is the rest, or 0.0 where noise leaves none. The parts are programs of their "
        "own, which compilers arrange differently: a difference of five points may be chance.",
        *(f"Paper: {note}" for note in printed.notes),
    )
    return (*tables[:-1], replace(tables[-1], notes=notes))


def _threads(results: Results) -> str:
    threads = sorted({result["threads"] for some in results.values() for result in some})
    return f"{' or '.join(map(str, threads))} thread{'s' * (threads != [1])}"
