"""Straightforward C beside ours: the programs of `benchmarks/c`, where they and a compiler are there.

They do not come with the package: without a checkout of the sources, or without gcc, there are no such figures.
"""

from __future__ import annotations

import importlib
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import systola
from systola.formats.catalog import open_instance
from systola.lab.experiment import Job
from systola.lab.store import Store
from systola.lab.tables import Cell, Table
from systola.model.problem import digest_of

FLAGS = ["-O3", "-march=native"]


def load_baseline(name: str) -> ModuleType | None:
    """A module of `benchmarks` that compiles and runs a C program; None if it cannot be used here."""
    folder = Path(systola.__file__).parents[2] / "benchmarks"
    if shutil.which("gcc") is None or not (folder / f"{name}.py").is_file():
        return None
    if str(folder) not in sys.path:
        sys.path.append(str(folder))
    return importlib.import_module(name)


def time_c(
    specs: Mapping[str, str], label: str, run: Callable[[str], float], store: Store, experiment: str
) -> dict[str, float]:
    """Seconds of a C program on each instance, one run of each, kept in the store."""
    seconds = {}
    for name, spec in specs.items():
        job = Job(name, f"{label} in C", 1, {"flags": FLAGS}, digest=digest_of(open_instance(spec).problem))
        key = job.key(experiment)
        if not store.has(key):
            taken = run(spec)
            store.add(key, {"objective": 0, "feasible": True, "evaluations": 0, "iterations": 0, "seconds": taken})
        seconds[name] = float(store.result(key)["seconds"])
    return seconds


def run_systolic(spec: str) -> float:
    """Seconds of SGS_B in C on a knapsack or an MMDP, as many steps as ours makes, from random solutions."""
    baseline: Any = load_baseline("baseline")
    problem: Any = open_instance(spec).problem
    if spec.startswith("knapsack"):
        plain = baseline.Knapsack(problem.profits, problem.weights, int(problem.capacity))
    else:
        plain = baseline.MMDP(int(problem.n))
    length, tau = plain.length, baseline.rows(plain.length)
    draws = np.random.default_rng(1)
    first, second = (draws.integers(0, 2, (length * tau, length), np.uint8) for _ in range(2))
    outcome = baseline.run(baseline.build(FLAGS), plain, tau, length * tau, first, second)
    return float(outcome.seconds)


def c_table(title: str, c: Mapping[str, float], ours: Mapping[str, Mapping[str, float]], names: Sequence[str]) -> Table:
    """Seconds in C and of ours in each way, and how many times as quick ours are."""
    rows = []
    for name in names:
        each = {label: seconds[name] for label, seconds in ours.items()}
        cells = [f"{c[name]:.3f}"]
        for value in each.values():
            cells += [f"{value:.3f}", f"{c[name] / value:.1f}"]
        rows.append((Cell(name), *map(Cell, cells)))
    header = ["Instance", "C, 1 thread"]
    for label in ours:
        header += [label, "times as quick"]
    note = (
        f"C: the straightforward program of benchmarks/c, gcc {' '.join(FLAGS)}, one run. It evaluates each solution "
        "in full, as the papers' programs do; ours does not evaluate what did not change."
    )
    return Table(title, tuple(header), tuple(rows), (note,))
