"""Systolic Genetic Search, Tables 7, 8 and 12: next releases, whose executions are eleven runs, one for each weight."""

from __future__ import annotations

from collections import defaultdict
from math import hypot
from typing import Any

from systola.formats.catalog import open_instance
from systola.lab.outcomes import Samples
from systola.lab.published import load_best
from systola.lab.tables import Cell, Table


def best_releases(rows: list[dict[str, Any]]) -> dict[str, tuple[int, int]]:
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


def release_errors(rows: list[dict[str, Any]], best: dict[str, tuple[int, int]]) -> Samples:
    """Euclidean distance to the best known solution of the weight, averaged over the weights of an execution."""
    distances: dict[tuple[str, str, int], list[float]] = defaultdict(list)
    for row in rows:
        cost, value = best[row["instance"]]
        distance = hypot(row["objective"][0] - cost, row["objective"][1] - value)
        distances[row["instance"].split("?")[0], row["algorithm"], row["seed"]].append(distance)
    samples: Samples = defaultdict(lambda: defaultdict(list))
    for (name, algorithm, _), values in distances.items():
        samples[name][algorithm].append(sum(values) / len(values))
    return {name: dict(by_name) for name, by_name in samples.items()}


def release_seconds(rows: list[dict[str, Any]]) -> Samples:
    """An execution takes the time of its eleven runs."""
    totals: dict[tuple[str, str, int], float] = defaultdict(float)
    for row in rows:
        totals[row["instance"].split("?")[0], row["algorithm"], row["seed"]] += row["seconds"]
    samples: Samples = defaultdict(lambda: defaultdict(list))
    for (name, algorithm, _), seconds in totals.items():
        samples[name][algorithm].append(seconds)
    return {name: dict(by_name) for name, by_name in samples.items()}


def best_table(best: dict[str, tuple[int, int]], weights: tuple[float, ...]) -> Table:
    names = dict.fromkeys(name.split("?")[0] for name in best)
    header = ("instance", "", *(f"{w:.1f}" for w in weights))
    rows = []
    for name in names:
        pairs = [best[f"{name}?weight={w}"] for w in weights]
        rows.append((Cell(name), Cell("cost"), *(Cell(f"{pair[0]:,}") for pair in pairs)))
        rows.append((Cell(""), Cell("value"), *(Cell(f"{pair[1]:,}") for pair in pairs)))
    note = "Our own instances of the paper's sizes; the paper's are not public."
    return Table("Table 7: best solution found for each weight", header, tuple(rows), (note,))


def published_best() -> Table:
    printed = load_best("sgs", 7)
    rows = []
    for name, solutions in printed.solutions.items():
        pairs = list(solutions.values())
        rows.append((Cell(name), Cell("cost"), *(Cell(f"{pair[0]:,}") for pair in pairs)))
        rows.append((Cell(""), Cell("value"), *(Cell(f"{pair[1]:,}") for pair in pairs)))
    header = ("instance", "", *(f"{w:.1f}" for w in next(iter(printed.solutions.values()))))
    notes = tuple(f"Paper: {note}" for note in printed.notes)
    return Table("Table 7 as published: best solution found for each weight", header, tuple(rows), notes)
