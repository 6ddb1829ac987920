"""PUGACE, section V: our Tables 1 to 3 beside the published ones; the paper numbers them I to III.

The instances are public files of QAPLIB that do not come with systola: the caller names the folder that holds them.
Runs are made here, one at a time on all threads: both tables come from the same ones, and Table 3 shows their seconds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite, nan
from pathlib import Path
from statistics import fmean
from typing import Any

from systola.engines.cellular import Cellular
from systola.engines.engine import Engine, parameters_of
from systola.engines.presets import recommend
from systola.errors import InputError
from systola.formats.catalog import open_instance
from systola.lab.experiment import Job
from systola.lab.published import load_figures, load_text
from systola.lab.reproductions.c_baselines import FLAGS, c_table, load_baseline, time_c
from systola.lab.reproductions.contenders import Contender as PlainContender
from systola.lab.reproductions.contenders import Place, Results, TableGroup, results_of, run_missing
from systola.lab.reproductions.effort import USUAL_EFFORT, Effort
from systola.lab.reproductions.products import Made, Name, pick, spell
from systola.lab.reproductions.public_files import refuse_missing
from systola.lab.reproductions.timing import Seconds, other_ways, time_runs
from systola.lab.store import Store
from systola.lab.tables import Cell, Table
from systola.model.problem import digest_of, space_of
from systola.run.budget import Stop
from systola.solve import solve

EXPERIMENT = "pugace"
FULL_RUNS, QUICK_RUNS = 10, 3  # with fewer than 3, no one-sided test of 14 can be significant
LEAST_RUNS = 3
PUBLISHED_RUNS = 10
GENERATIONS = 5000
QUICK_FACILITIES = 16
MEMETIC_SECONDS = 10.0
ALPHA = 0.05
ENGINE = Cellular(  # the paper's Table I, and what its text says
    size=2048,
    topology="ring",
    radius=4,
    selection="proportional",
    crossover="pmx",
    crossover_probability=0.9,
    mutation="swap",
    mutation_probability=0.1,
    replacement="generation",
    block=64,
    local_search="best-swap",
    local_search_interval=10,
)


@dataclass(frozen=True)
class Group(TableGroup):
    """One table, and whose runs it shows."""

    algorithms: tuple[str, ...]


GROUPS = (
    Group("parameters", 1, (), ()),
    Group("hits", 2, load_figures("pugace", 2).instances, ("pugace", "memetic")),
    Group("seconds", 3, load_figures("pugace", 3).instances, ("pugace",)),
)


@dataclass(frozen=True)
class Contender(PlainContender):
    """Also with the cost to reach, NaN if it is not known."""

    best: float


def choose_groups(item: Name | None, quick: bool = False, sizes: Sequence[str] | None = None) -> tuple[Group, ...]:
    """The groups to run for one table, or for all; a quick look has the instances with up to 16 facilities."""
    groups = tuple(g for g in GROUPS if item in (None, g.table))
    if not groups:
        raise InputError(f"the PUGACE paper's Tables 1 to 3 can be reproduced, but got {spell(item or 0)}")
    known = [name for g in groups for name in g.instances]
    if sizes is not None:
        chosen = pick(sizes, list(dict.fromkeys(known)), "instance")
    elif quick:
        chosen = tuple(name for name in known if int("".join(c for c in name if c.isdigit())) <= QUICK_FACILITIES)
    else:
        return groups
    return tuple(replace(g, instances=tuple(n for n in g.instances if n in chosen)) for g in groups)


def check_files(folder: str | None, groups: tuple[Group, ...] = GROUPS) -> None:
    """All files of these groups must be there: an error now, not after an hour."""
    needed = sorted({_file_of(name) for group in groups for name in group.instances})
    if not needed:
        return
    source = "they are in QAPLIB, with .sln files of the best known solutions, which may lie beside them"
    refuse_missing("pugace", folder, needed, source)


def contenders_of(group: Group, folder: str, runs: int, seconds: float = MEMETIC_SECONDS) -> dict[Place, Contender]:
    """Who runs on what for a table. The recommended engine has a time limit, and ends at the best known cost."""
    known = load_figures("pugace", 2).optima
    found: dict[Place, Contender] = {}
    for name in group.instances:
        file = _file_of(name)
        instance = open_instance(str(Path(folder) / file), "qap")
        problem, digest = instance.problem, digest_of(instance.problem)
        best = float(known.get(name, nan) if instance.best_known is None else instance.best_known)
        for algorithm in group.algorithms:
            engine: Engine = ENGINE if algorithm == "pugace" else recommend(problem)
            stop = Stop(iterations=GENERATIONS) if algorithm == "pugace" else Stop(seconds=seconds, target=best)
            settings = parameters_of(engine)
            jobs = (Job(file, engine.name, seed, settings, stop, digest, folder) for seed in range(1, runs + 1))
            found[name, algorithm] = Contender(problem, engine, tuple(jobs), best)
    return found


def reproduce(
    group: Group,
    store: Store,
    effort: Effort = USUAL_EFFORT,
    *,
    folder: str | None,
    seconds: float | None = None,
) -> Made:
    """Run what is missing and make the table of a group, by its number in the paper."""
    if group.table == 1:
        return {1: (_parameters(),)}
    count = effort.count(QUICK_RUNS, FULL_RUNS)
    seconds = MEMETIC_SECONDS if seconds is None else seconds
    if not seconds > 0 or not isfinite(seconds):
        raise InputError(f"`seconds > 0` must hold for the memetic runs, but got {seconds}")
    contenders = contenders_of(group, folder or "", count, seconds)
    run_missing(contenders, store, EXPERIMENT, lambda one, job: _solve(one, job, effort.threads), effort.on_done)
    results = results_of(contenders, store, EXPERIMENT)
    if group.table == 2:
        return {2: (_hits(group, contenders, results, seconds),)}
    jobs = {place: one.jobs[:1] for place, one in contenders.items()}
    timed = time_runs(jobs, other_ways(effort.backend, effort.threads), store, EXPERIMENT, effort.on_done)
    # In C a run takes minutes: not for a quick look.
    c = () if effort.quick else _beside_c(group, folder or "", results, timed, store)
    return {3: (_seconds(group, results, timed), *c)}


def _beside_c(
    group: Group, folder: str, results: Results, timed: Mapping[str, Seconds], store: Store
) -> tuple[Table, ...]:
    """The same algorithm in C beside ours, if a compiler is there."""
    baseline: Any = load_baseline("qap_baseline")
    if baseline is None or not group.instances:
        return ()

    def run(path: str) -> float:
        binary, problem = baseline.build_cellular(FLAGS), baseline.read(Path(path))
        outcome = baseline.run_cellular(binary, problem, 1, GENERATIONS, ENGINE.size, block=ENGINE.block)
        return float(outcome.seconds)

    files = {name: str(Path(folder) / _file_of(name)) for name in group.instances}
    c = time_c(files, "pugace", run, store, EXPERIMENT)
    ours = {way: {name: fmean(seconds[name, "pugace"]) for name in group.instances} for way, seconds in timed.items()}
    means = {name: fmean(result["seconds"] for result in results[name, "pugace"]) for name in group.instances}
    return (c_table("Table 3: beside C, seconds a run", c, {**ours, "all threads": means}, group.instances),)


def _parameters() -> Table:
    """Table I beside what our preset has."""
    ours = {
        "population size": ENGINE.size,
        "generations": GENERATIONS,
        "thread blocks": f"{(ENGINE.size or 0) // ENGINE.block}",
        "threads per block": ENGINE.block,
        "crossover probability": ENGINE.crossover_probability,
        "mutation probability": ENGINE.mutation_probability,
        "neighborhood length": ENGINE.radius,
    }
    rows = tuple((Cell(name), Cell(str(ours[name])), Cell(value)) for name, value in load_text("pugace", 1).rows)
    note = "Thread blocks: ours are individuals that decide together, whatever executes them."
    return Table("Table 1: parameters", ("", "ours", "published"), rows, (note,))


def _file_of(name: str) -> str:
    return f"{name.lower()}.dat"


def chance_of_fewer(hits: int, runs: int, published: int, of: int = PUBLISHED_RUNS) -> float:
    """One-sided p-value of Fisher's exact test that our share of hits is below the published one."""
    from scipy import stats

    table = [[hits, runs - hits], [published, of - published]]
    return float(stats.fisher_exact(table, alternative="less").pvalue)


def confidence_interval(hits: int, runs: int) -> tuple[float, float]:
    """Of the chance of a hit, 95 %, by Clopper and Pearson."""
    from scipy import stats

    found = stats.binomtest(hits, runs).proportion_ci(0.95, "exact")
    return float(found.low), float(found.high)


def interval_text(hits: int, runs: int) -> str:
    """That interval in percent."""
    low, high = confidence_interval(hits, runs)
    return f"{100 * low:.0f} to {100 * high:.0f}"


def correct_by_holm(chances: Mapping[str, float]) -> dict[str, float]:
    """P-values of several tests, corrected for their number: the least times all, the next times one fewer, ..."""
    corrected: dict[str, float] = {}
    most = 0.0
    for place, name in enumerate(sorted(chances, key=lambda name: chances[name])):
        most = max(most, min(1.0, chances[name] * (len(chances) - place)))
        corrected[name] = most
    return {name: corrected[name] for name in chances}


@dataclass(frozen=True)
class _Summary:
    """What some runs on an instance reached; gaps are in percent, as in Eq. 2 of the paper."""

    runs: int
    hits: int
    best_gap: float
    mean_gap: float
    seconds: float


def _summarise(results: Sequence[Mapping[str, Any]], best: float) -> _Summary:
    costs = [float(result["objective"]) for result in results]
    gaps = [_gap(cost, best) for cost in costs]
    hits = sum(cost <= best for cost in costs)
    return _Summary(len(costs), hits, min(gaps), fmean(gaps), fmean(result["seconds"] for result in results))


def _gap(cost: float, best: float) -> float:
    if cost == best:
        return 0.0  # also where both are 0, and Eq. 2 has no value
    return 100 * (cost - best) / best if best else inf


def _solve(one: Contender, job: Job, threads: int | None) -> dict[str, Any]:
    result = solve(one.problem, one.engine, stop=job.stop, seed=job.seed, threads=threads, instance=job.instance)
    if result.stop == "interrupted":  # what it found so far is not the outcome of this run
        raise KeyboardInterrupt
    return result.to_json()


def _hits(group: Group, contenders: Mapping[Place, Contender], results: Results, limit: float) -> Table:
    printed = load_figures("pugace", 2)
    best = {name: contenders[name, "pugace"].best for name in group.instances}
    ours, memetic = (
        {name: _summarise(results[name, algorithm], best[name]) for name in group.instances}
        for algorithm in group.algorithms
    )
    published = {name: int(printed.figures[name, "hits"][0]) for name in group.instances}
    chances = correct_by_holm({name: chance_of_fewer(o.hits, o.runs, published[name]) for name, o in ours.items()})
    rows = []
    for name, own in ours.items():
        other, gap = memetic[name], printed.figures[name, "gap"][0]
        rows.append(
            (
                Cell(name),
                Cell(str(space_of(contenders[name, "pugace"].problem).n)),
                Cell(f"{best[name]:,.0f}"),
                Cell(f"{own.hits}/{own.runs} ({published[name]}/{PUBLISHED_RUNS})"),
                Cell(f"{interval_text(own.hits, own.runs)} ({interval_text(published[name], PUBLISHED_RUNS)})"),
                Cell(f"{own.best_gap:.2f} ({gap:.2f})"),
                Cell(f"{own.mean_gap:.2f}"),
                Cell(f"{chances[name]:.3f}", bold=chances[name] < ALPHA),
                Cell(f"{other.hits}/{other.runs}"),
                Cell(f"{other.mean_gap:.2f}"),
                Cell(f"{other.seconds:.2f}"),
            )
        )
    header = (
        *("Instance", "n", "best known", "hits", "hits %, 95 %", "best gap %", "mean gap %", "p"),
        *("memetic hits", "memetic mean gap %", "memetic seconds"),
    )
    reached = sum(own.hits > 0 for own in ours.values())
    below = [name for name, chance in chances.items() if chance < ALPHA]
    engine = contenders[group.instances[0], "memetic"].engine.name
    notes = (
        f"Best known value found on {reached} of {len(ours)} instances "
        f"(published: {sum(hits > 0 for hits in published.values())}). "
        f"Fewer hits than the paper beyond chance, 95 %: {', '.join(below) or 'on no instance'}.",
        "hits %: in which interval the chance of a hit lies with a confidence of 95 %, by Clopper and Pearson; the "
        "paper's, in brackets, for its ten runs.",
        f"p: of Fisher's exact test, one-sided, that our share of hits is below the published one; corrected by Holm "
        f"for {len(ours)} instances; below {ALPHA} it stands out.",
        f"memetic: the engine that systola recommends, {engine}, until it finds the best known value, {limit:g} s at "
        "most.",
        *(f"Paper: {note}" for note in printed.notes),
    )
    count = next(iter(ours.values())).runs
    title = (
        f"Table 2: hits and gaps after {GENERATIONS:,} generations ({count} run{'s' * (count > 1)}; published figures "
        "in brackets)"
    )
    return Table(title, header, tuple(rows), notes)


def _seconds(group: Group, results: Results, timed: Mapping[str, Seconds]) -> Table:
    printed = load_figures("pugace", 3)
    rows = []
    for name in group.instances:
        mean = fmean(result["seconds"] for result in results[name, "pugace"])
        each = [fmean(seconds[name, "pugace"]) for seconds in timed.values()]
        gpu, cpu, speedup = (printed.figures[name, column][0] for column in printed.algorithms)
        cells = [*(f"{value:.3f}" for value in each), f"{mean:.3f}", f"{each[0] / mean:.2f}" if each else "–"]
        rows.append((Cell(name), *map(Cell, cells), *map(Cell, (f"{gpu:.3f}", f"{cpu:.3f}", f"{speedup:.2f}"))))
    threads = sorted({result["threads"] for some in results.values() for result in some})
    on = f"{' or '.join(map(str, threads))} thread{'s' * (threads != [1])}"
    notes = (
        "Times are from different machines: ours is the one that made these runs, the paper's a Pentium dual-core at "
        "2.5 GHz with an nVidia GeForce 9800 GTX+. Speed-ups are each of one machine.",
        f"One run at a time; compiling is not counted. Means on {on}; one run of each other way.",
        *(f"Paper: {note}" for note in printed.notes),
    )
    header = ("Instance", *timed, on, "speed-up", "GPU, published", "CPU, published", "speed-up, published")
    count = len(results[group.instances[0], "pugace"]) if group.instances else 0
    return Table(f"Table 3: seconds a run on {on} ({count} run{'s' * (count > 1)})", header, tuple(rows), notes)
