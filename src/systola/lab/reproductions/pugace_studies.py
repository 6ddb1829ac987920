"""PUGACE, what its text says without a table: the calibration of V.C and the run times of V.C and V.F; and chr20a, by
other readings of what the paper leaves open."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import fmean, median

from systola.formats.catalog import open_instance
from systola.lab.published import load_figures
from systola.lab.reproductions.effort import USUAL_EFFORT, Effort
from systola.lab.reproductions.products import Made
from systola.lab.reproductions.public_files import refuse_missing
from systola.lab.reproductions.pugace import ENGINE, GENERATIONS, PUBLISHED_RUNS, chance_of_fewer, interval_text
from systola.lab.reproductions.pugace_readings import QUICK_READINGS, READINGS
from systola.lab.reproductions.studies import Facts, Place, Study, Trial, choose_studies, run_trials, table_of, told
from systola.lab.store import Store
from systola.lab.tables import Table
from systola.run.budget import Stop

EXPERIMENT = "pugace-studies"
FULL_RUNS, QUICK_RUNS, LEAST_RUNS = 10, 3, 3
FULL_READINGS = 30  # runs of each
STUDIES = {
    "calibration": "calibration of parameters",
    "runtime": "run time by parameter",
    "readings": "Chr20a, read in other ways",
}
SHORT = 500  # generations of the calibration
SIZES, CROSSOVERS, MUTATIONS, LENGTHS = (512, 1024, 2048), (0.7, 0.8, 0.9), (0.05, 0.1, 0.2), (2, 4)
FILES = {"calibration": ("chr25a", "kra30a"), "runtime": ("chr25a",), "readings": ("chr20a",)}
_OPTIONAL = "kra30a"
_PLACES = ("size", "crossover", "mutation", "length")

choose_groups = partial(choose_studies, STUDIES)


def check_files(folder: str | None, groups: Sequence[Study]) -> None:
    """All files of these studies must be there, but for kra30a: the paper does not say whether it is the one."""
    needed = sorted({f"{name}.dat" for study in groups for name in FILES[study.part] if name != _OPTIONAL})
    refuse_missing("pugace", folder, needed, "they are in QAPLIB")


def reproduce(study: Study, store: Store, effort: Effort = USUAL_EFFORT, *, folder: str | None) -> Made:
    """Run what is missing and make the tables of a study."""
    make = {"calibration": _calibrate, "runtime": _time, "readings": _read}[study.part]
    return {study.part: make(study, store, effort, folder or "")}


def orthogonal() -> tuple[tuple[int, float, float, int], ...]:
    """Nine of the 54 combinations: each two of the four parameters meet alike often, as in Taguchi's L9.

    The fourth has two levels only, and the second stands for the third, too.
    """
    levels = [(a, b, (a + b) % 3, (a + 2 * b) % 3) for a in range(3) for b in range(3)]
    return tuple((SIZES[a], CROSSOVERS[b], MUTATIONS[c], LENGTHS[min(d, 1)]) for a, b, c, d in levels)


def _calibrate(study: Study, store: Store, effort: Effort, folder: str) -> tuple[Table, ...]:
    runs = effort.count(QUICK_RUNS, FULL_RUNS)
    names = [name for name in FILES["calibration"] if name != _OPTIONAL or (Path(folder) / f"{name}.dat").exists()]
    trials = []
    for name in names:
        problem = open_instance(str(Path(folder) / f"{name}.dat"), "qap").problem
        for size, crossing, mutating, length in orthogonal():
            engine = replace(
                ENGINE, size=size, crossover_probability=crossing, mutation_probability=mutating, radius=length
            )
            label = f"{size} {crossing:g} {mutating:g} {length}"
            trials.append(Trial(name, label, problem, engine, Stop(iterations=SHORT)))
    results = run_trials(trials, runs, store, EXPERIMENT, effort, effort.threads)
    made = []
    for name in names:
        best = open_instance(str(Path(folder) / f"{name}.dat"), "qap").best_known
        costs = {label: [float(one["objective"]) for one in some] for (n, label), some in results.items() if n == name}
        floor = float(best) if best is not None else min(map(min, costs.values()))
        gaps = {label: [100 * (cost - floor) / floor for cost in some] for label, some in costs.items()}
        rows = [(*label.split(), f"{min(some):.2f}", f"{fmean(some):.2f}") for label, some in gaps.items()]
        notes = (
            f"Gaps in percent of {'the best known value' if best is not None else 'the best value found here'}.",
            "Nine combinations of which each two parameters meet alike often; the paper does not say which it ran.",
            *(() if len(names) > 1 else ("kra30a.dat is not in the folder and is left out.",)),
        )
        title = f"Calibration on {name}: {SHORT} generations ({told(runs)} of each)"
        made.append(table_of(title, (*_PLACES, "best gap %", "mean gap %"), rows, notes))
        made.append(_effects(name, gaps))
    return tuple(made)


def _effects(name: str, gaps: Mapping[str, Sequence[float]]) -> Table:
    """The mean gap of all combinations with a level, for each parameter."""
    means: dict[tuple[int, str], list[float]] = defaultdict(list)
    for label, some in gaps.items():
        for place, level in enumerate(label.split()):
            means[place, level] += some
    rows = []
    for place, parameter in enumerate(_PLACES):
        levels = {level: fmean(some) for (p, level), some in means.items() if p == place}
        best = min(levels, key=lambda level: levels[level])
        shown = ", ".join(f"{level}: {value:.2f}" for level, value in sorted(levels.items(), key=_by_number))
        rows.append((parameter, shown, best, _CHOSEN[parameter]))
    notes = ("Mean gap over all combinations that have the level.",)
    return table_of(f"Calibration on {name}: levels", ("", "mean gap %", "best here", "paper's choice"), rows, notes)


_CHOSEN = {"size": "2048", "crossover": "0.9", "mutation": "0.1", "length": "4"}


def _by_number(entry: tuple[str, float]) -> float:
    return float(entry[0])


def _time(study: Study, store: Store, effort: Effort, folder: str) -> tuple[Table, ...]:
    runs = effort.count(QUICK_RUNS, FULL_RUNS)
    (name,) = FILES["runtime"]
    problem = open_instance(str(Path(folder) / f"{name}.dat"), "qap").problem
    engines = {f"size {size}": replace(ENGINE, size=size) for size in SIZES}
    engines |= {f"crossover {p:g}": replace(ENGINE, crossover_probability=p) for p in CROSSOVERS}
    engines |= {f"mutation {p:g}": replace(ENGINE, mutation_probability=p) for p in MUTATIONS}
    about = {"threads": effort.threads or 0}  # seconds are another matter on others
    trials = [Trial(name, label, problem, e, Stop(iterations=SHORT), about) for label, e in engines.items()]
    results = run_trials(trials, runs, store, EXPERIMENT, effort, effort.threads)
    rows, before = [], ("", 0.0)
    for trial in trials:
        parameter = trial.label.split()[0]
        seconds = median(one["seconds"] for one in results[trial.place])
        more = f"{100 * (seconds / before[1] - 1):+.1f} %" if before[0] == parameter else "–"
        rows.append((trial.label, f"{seconds:.3f}", more, _SAID.get(trial.label, "–")))
        before = parameter, seconds
    notes = (
        f"Medians of {told(runs)} of {SHORT} generations; each parameter by itself, others as in Table 1.",
        "The paper's are of its GPU, where larger populations keep more of its processors busy; on a few cores the "
        "work of a generation grows with the population, and so does the time. It says of crossover that run time "
        "grows with its probability, without figures.",
    )
    header = ("", "seconds", "more than the row above", "paper")
    return (table_of(f"Run time on {name} by parameter", header, rows, notes),)


_SAID = {
    "size 1024": "less than 10 %",
    "size 2048": "less than 10 %",
    "mutation 0.1": "+5 %",
    "mutation 0.2": "+10 %",
}


def _read(study: Study, store: Store, effort: Effort, folder: str) -> tuple[Table, ...]:
    runs = effort.count(QUICK_RUNS, FULL_READINGS)
    (name,) = FILES["readings"]
    instance = open_instance(str(Path(folder) / f"{name}.dat"), "qap")
    printed = load_figures("pugace", 2)
    best = float(printed.optima["Chr20a"] if instance.best_known is None else instance.best_known)
    published = int(printed.figures["Chr20a", "hits"][0])
    chosen = QUICK_READINGS if study.quick else tuple(READINGS)
    stop = Stop(iterations=GENERATIONS)
    trials = [Trial(name, label, instance.problem, READINGS[label], stop) for label in chosen]
    results = run_trials(trials, runs, store, EXPERIMENT, effort, effort.threads)
    rows = [_reading(trial, results, best, published) for trial in trials]
    rows.append(("published", f"{published}/{PUBLISHED_RUNS}", interval_text(published, PUBLISHED_RUNS), "–", "–"))
    notes = (
        "Each reading differs from ours in one rule. hits %: the interval in which the chance of a hit lies with a "
        "confidence of 95 %, by Clopper and Pearson. p: of Fisher's exact test, one-sided, that the share of hits is "
        "below the published one, not corrected for the number of readings.",
    )
    header = ("reading", "hits", "hits %, 95 %", "mean gap %", "p")
    title = f"Chr20a by other readings: {GENERATIONS:,} generations ({told(runs)} of each)"
    return (table_of(title, header, rows, notes),)


def _reading(trial: Trial, results: Mapping[Place, Sequence[Facts]], best: float, published: int) -> tuple[str, ...]:
    costs = [float(one["objective"]) for one in results[trial.place]]
    hits = sum(cost <= best for cost in costs)
    gap = fmean(100 * (cost - best) / best for cost in costs)
    chance = chance_of_fewer(hits, len(costs), published)
    return trial.label, f"{hits}/{len(costs)}", interval_text(hits, len(costs)), f"{gap:.2f}", f"{chance:.4f}"
