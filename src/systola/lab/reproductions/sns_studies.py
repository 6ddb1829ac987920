"""Systolic Neighborhood Search, what section 7 leaves for future work: what each cell contributes, and rows with other
heuristics."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from os.path import join
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np

from systola.engines.engine import Engine
from systola.engines.neighbourhood import SNS, evaluations_for
from systola.formats.catalog import open_instance
from systola.lab.reproductions.effort import USUAL_EFFORT, Effort
from systola.lab.reproductions.products import Made, Sketch
from systola.lab.reproductions.public_files import refuse_missing
from systola.lab.reproductions.sns_figures import FILE
from systola.lab.reproductions.studies import Study, Trial, choose_studies, run_trials, table_of, told
from systola.lab.store import Store
from systola.lab.tables import Table
from systola.model.encodings import Array
from systola.model.objective import fitness
from systola.model.problem import Problem, record_of, space_of
from systola.run.budget import Stop
from systola.run.signals import held_signals
from systola.solve import open_search

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EXPERIMENT = "sns-studies"
FULL_RUNS, QUICK_RUNS, LEAST_RUNS = 30, 10, 10
STUDIES = {"cells": "contribution of each cell", "rows": "other heuristics by row"}
NAMES, QUICK = ("WEISH01", "WEISH16", "PB5", "HP1"), ("WEISH01", "HP1")
MESHES = {"sns": SNS(), "sns-exp": SNS(exponential=True)}

choose_groups = partial(choose_studies, STUDIES)


def check_files(folder: str | None, groups: Sequence[Study]) -> None:
    """The file of the small instances must be there."""
    refuse_missing("sns", folder, (FILE,), "it is in Beasley's OR-Library")


def reproduce(study: Study, store: Store, effort: Effort = USUAL_EFFORT, *, folder: str | None) -> Made:
    """Run what is missing and make the tables and pictures of a study."""
    names = QUICK if study.quick else NAMES
    problems = {name: open_instance(join(folder or "", f"{FILE}#{name}")).problem for name in names}
    runs = effort.count(QUICK_RUNS, FULL_RUNS)
    if study.part == "cells":
        return {study.part: _cells(problems)}
    trials = [
        Trial(name, label, problem, engine, Stop(evaluations=_budget(problem)))
        for name, problem in problems.items()
        for label, engine in engines_by_row(space_of(problem).n).items()
    ]
    results = run_trials(trials, runs, store, EXPERIMENT, effort)
    rows = []
    for trial in trials:
        some = results[trial.place]
        values = [float(one["objective"]) for one in some if one["feasible"]]
        shown = f"{fmean(values):,.1f}" if values else "–"
        found = f"{len(values)}/{runs}"
        rows.append((trial.instance, trial.label, str(_height(trial.engine, trial.problem)), shown, found))
    notes = (
        "Mean profit of the runs that found a feasible solution, after as many solutions as in the paper's tables.",
        "Not in the paper, which leaves this for future work; of your own rows: `SNS(rows=[...])`.",
    )
    header = ("Instance", "rows that flip", "rows", "mean profit", "feasible")
    return {study.part: (table_of(f"Other heuristics by row ({told(runs)} of each)", header, rows, notes),)}


def engines_by_row(n: int) -> dict[str, SNS]:
    """Meshes whose rows do other things than the paper's."""
    powers = [2**k for k in range(max(1, (n - 1).bit_length()))]
    few = [count for count in (1, 2, 3, 4) if count <= n]
    return {
        "1, 2, 3, ... n in a run (sns)": SNS(),
        "1, 2, 4, ... in a run (sns-exp)": SNS(exponential=True),
        "1, 2, 4, ... at random (sns-exp-r)": SNS(exponential=True, random=True),
        "1, 2, 4, ... in a run, and the same at random": SNS(rows=[*powers, *(-count for count in powers)]),
        "1 in a run; 2, 3, 4 at random": SNS(rows=[1, *(-count for count in few[1:])]),
        "1, 2, 3, 4 in a run and at random": SNS(rows=[*few, *(-count for count in few)]),
        "1 in a run in all of ⌈lg n⌉ rows": SNS(rows=[1] * len(powers)),
    }


def _height(engine: Engine, problem: Problem) -> int:
    height, _ = engine.prepare(problem).shape or (0, 0)
    return height


def _budget(problem: Problem) -> int:
    return evaluations_for(space_of(problem).n)


def contributions(
    problem: Problem, engine: SNS, steps: int, seed: int = 1, backend: str = "cpu"
) -> tuple[Array, Array]:
    """How often each cell improved the solution that it held, and by how much fitness in all; [rows, columns] each."""
    design = engine.prepare(problem)
    search = open_search(problem, engine, seed=seed, backend=backend)
    counts, gains = np.zeros(design.shape or (), np.int64), np.zeros(design.shape or ())
    with held_signals(search.stop) as interruption:
        search.start()
        while not search.whole:
            search.advance(0)
        worth = _worth(problem, search.population().scores)
        for step in range(steps):
            while search.advance(1) < 1:
                if interruption.asked:
                    raise KeyboardInterrupt
            now = _worth(problem, search.population().scores)
            (rows,) = engine.rows_of_cells(design, np.zeros(0), step)  # where solutions were when cells changed them
            counts += now[rows] > worth[rows]
            gains += now[rows] - worth[rows]
            worth = now
    return counts, gains


def _worth(problem: Problem, scores: Array) -> Array:
    record = record_of(problem)
    return np.array([fitness(record, row) for row in scores], float)


def _cells(problems: dict[str, Problem]) -> tuple[Table | Sketch, ...]:
    rows, sketches = [], []
    for name, problem in problems.items():
        for label, engine in MESHES.items():
            steps = min(engine.prepare(problem).steps, 10 * space_of(problem).n)
            counts, gains = contributions(problem, engine, steps)
            height = len(counts)
            # Quarters of the rows, from those that flip fewest decisions on.
            parts = [part.sum() for part in np.array_split(counts, min(4, height))]
            worth = [part.sum() for part in np.array_split(gains, min(4, height))]
            cells = [f"{100 * part / max(counts.sum(), 1):.1f}" for part in parts]
            cells += [f"{100 * part / (gains.sum() or 1):.1f}" for part in worth]
            idle = 100 * (counts == 0).mean()
            rows.append((name, label, f"{steps:,}", f"{counts.sum():,}", *cells, f"{idle:.0f}"))
            caption = f"Improvements of each cell, {label} on {name}: a run of {steps:,} steps with seed 1."
            sketches.append(Sketch(caption, partial(_draw, counts, steps, f"{label} on {name}")))
    notes = (
        "Improvements that cells made to the solution that they held, in one run with seed 1, at most ten tours "
        "through the columns; then the shares of the four quarters of the rows, from those that flip fewest decisions "
        "on: of all improvements, and of all that they gained in fitness. Idle: cells that improved nothing.",
        "Not in the paper, which leaves this for future work.",
    )
    quarters = ("I", "II", "III", "IV")
    header = (
        *("Instance", "mesh", "steps", "improvements"),
        *(f"{q} %" for q in quarters),
        *(f"{q} gain %" for q in quarters),
        "idle %",
    )
    return table_of("Contribution of each cell", header, rows, notes), *sketches


def _draw(counts: Array, steps: int, title: str) -> Figure:
    from systola.lab.plots import grid_heatmap

    return grid_heatmap([np.log10(1 + counts)], [steps], label="log10(1 + improvements)", title=title)
