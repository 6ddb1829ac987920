"""Systolic Genetic Search, what section 6 leaves for future work: the points of crossover and mutation and how they are
spread over the grid, the shape of the grid, and growth with l; and the weighted sum of Eq. 9 beside Eq. 12, which the
paper chose instead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

import numpy as np

from systola.engines.exact import Exact
from systola.engines.systolic import SGS
from systola.engines.systolic_plan import crossover_plan, mutation_plan
from systola.formats.catalog import open_instance
from systola.lab.reproductions.effort import USUAL_EFFORT, Effort
from systola.lab.reproductions.products import Made, Sketch
from systola.lab.reproductions.studies import Facts, Place, Study, Trial, choose_studies, run_trials, table_of, told
from systola.lab.store import Store
from systola.lab.tables import Table
from systola.model.encodings import Array
from systola.model.problem import space_of
from systola.model.rng import draw
from systola.run.budget import Stop
from systola.solve import solve

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EXPERIMENT = "sgs-studies"
FULL_RUNS, QUICK_RUNS, LEAST_RUNS = 30, 10, 10
STUDIES = {
    "plans": "points of crossover and mutation",
    "shapes": "shapes of the grid",
    "growth": "growth with l",
    "scalarisation": "weighted sum and Tchebycheff",
}
WEIGHTS = tuple(k / 10 for k in range(11))
_SIZES = ("nrp:100-20", "nrp:100-25", "nrp:35-35", "nrp:15-40", "nrp:50-80", "nrp:100-140", "nrp:2-200")
_INSTANCES = {
    "plans": ("knapsack:200-1000", "knapsack:500-1000", "mmdp:300"),
    "shapes": ("knapsack:200-1000", "knapsack:500-1000", "mmdp:300"),
    "growth": (
        *(f"knapsack:{n}-1000" for n in (100, 200, 500, 1000)),
        *(f"mmdp:{n}" for n in (60, 120, 240, 480, 960)),
    ),
    "scalarisation": _SIZES,
}
_QUICK = {
    "plans": ("knapsack:100-1000", "mmdp:120"),
    "shapes": ("knapsack:100-1000", "mmdp:120"),
    "growth": ("knapsack:100-1000", "knapsack:200-1000", "mmdp:60", "mmdp:120", "mmdp:240"),
    "scalarisation": ("nrp:100-20", "nrp:35-35", "nrp:2-200"),
}


choose_groups = partial(choose_studies, STUDIES)


def reproduce(study: Study, store: Store, effort: Effort = USUAL_EFFORT) -> Made:
    """Run what is missing and make the tables of a study."""
    names = (_QUICK if study.quick else _INSTANCES)[study.part]
    if study.part == "scalarisation":
        return {study.part: _scalarisation(names)}
    runs = effort.count(QUICK_RUNS, FULL_RUNS)
    make = {"plans": _trials_of_plans, "shapes": _trials_of_shapes, "growth": _trials_of_growth}[study.part]
    trials = [trial for name in names for trial in make(name)]
    results = run_trials(trials, runs, store, EXPERIMENT, effort)
    if study.part == "growth":
        return {study.part: _growth(trials, results, runs)}
    return {study.part: (_quality(study.part, trials, results, runs),)}


def _opened(name: str) -> tuple[Any, float, int, int]:
    """An instance, its optimum, l and tau."""
    instance = open_instance(name)
    l = space_of(instance.problem).n  # noqa: E741 (the paper's l)
    assert instance.best_known is not None  # of the paper's instances all are known
    return instance.problem, float(instance.best_known), l, max(1, (l - 1).bit_length())


def crossover_plans(l: int, length: int, width: int) -> dict[str, tuple[Array, Array]]:  # noqa: E741
    """Ways to choose the segments that cells exchange, each as `SGS(crossover_plan=...)` takes it."""
    first, last = crossover_plan(l, length, width)
    i, j = np.indices((width, length))
    ends = np.sort(_random((width, length, 2), l + 1, 1), axis=2)
    begin = (i * (l // width) + j) % l
    return {
        "Eqs. 1 and 2": (first, last),
        "the first row's in all rows": (np.repeat(first[:1], width, 0), np.repeat(last[:1], width, 0)),
        "drawn at random, once": (ends[..., 0], ends[..., 1]),
        "half of the decisions": (np.minimum(begin, l - l // 2), np.minimum(begin, l - l // 2) + l // 2),
        "two decisions": (np.minimum(begin, l - 2), np.minimum(begin, l - 2) + 2),
        "none": (np.zeros_like(first), np.zeros_like(first)),
    }


def mutation_plans(l: int, length: int, width: int) -> dict[str, Array]:  # noqa: E741
    """Ways to choose the decisions that cells flip, each as `SGS(mutation_plan=...)` takes it."""
    turn = mutation_plan(l, length, width)
    return {
        "Eq. 3": turn,
        "the first row's in all rows": np.repeat(turn[:1], width, 0),
        "drawn at random, once": _random((width, length), l, 2),
    }


def _random(shape: tuple[int, ...], below: int, purpose: int) -> Array:
    numbers = [int(draw(np.uint64(1), purpose, 0, k, 0)[0]) * below >> 32 for k in range(int(np.prod(shape)))]
    return np.array(numbers, np.int64).reshape(shape)


def _trials_of_plans(name: str) -> list[Trial]:
    problem, optimum, l, tau = _opened(name)  # noqa: E741
    stop = Stop(iterations=l * tau, target=optimum)
    crossings, flips = crossover_plans(l, l, tau), mutation_plans(l, l, tau)
    usual, eq3 = next(iter(crossings)), next(iter(flips))
    engines = {f"crossover: {label}": SGS(crossover_plan=plan) for label, plan in crossings.items() if label != usual}
    engines |= {f"mutation: {label}": SGS(mutation_plan=plan) for label, plan in flips.items() if label != eq3}
    engines = {"Eqs. 1 to 3": SGS(), **engines}
    return [Trial(name, label, problem, engine, stop) for label, engine in engines.items()]


def _trials_of_shapes(name: str) -> list[Trial]:
    """Grids of about as many cells, and as many solutions made."""
    problem, optimum, l, tau = _opened(name)  # noqa: E741
    trials = []
    for width in (1, max(2, tau // 2), tau, 2 * tau, 4 * tau, l):
        length = max(1, l * tau // width)
        stop = Stop(iterations=max(1, (l * tau) ** 2 // (length * width)), target=optimum)
        label = f"{width} rows of {length}" + " (the paper's)" * (width == tau)
        trials.append(Trial(name, label, problem, SGS(length=length, width=width), stop))
    return trials


def _trials_of_growth(name: str) -> list[Trial]:
    problem, optimum, l, tau = _opened(name)  # noqa: E741
    return [Trial(name, "sgs-b", problem, SGS(), Stop(iterations=l * tau, target=optimum))]


def _hits(trial: Trial, results: Mapping[Place, Sequence[Facts]]) -> tuple[list[Facts], list[float]]:
    """Runs that found the optimum, and the errors of all."""
    best, some = trial.stop.target or 0.0, results[trial.place]
    return [one for one in some if one["objective"] == best], [abs(one["objective"] - best) for one in some]


def _quality(part: str, trials: Sequence[Trial], results: Mapping[Place, Sequence[Facts]], runs: int) -> Table:
    rows = []
    for trial in trials:
        hits, errors = _hits(trial, results)
        evaluations = f"{median(one['evaluations'] for one in hits):,.0f}" if hits else "–"
        rows.append((trial.instance, trial.label, f"{len(hits)}/{runs}", f"{fmean(errors):.3g}", evaluations))
    notes = (
        "A run ends when it has found the optimum, or has made as many solutions as the paper's run of SGS_B; the last "
        "column is the median of those that found it.",
        "Not in the paper, which leaves this for future work.",
    )
    header = ("Instance", {"plans": "plan", "shapes": "grid"}[part], "hits", "mean error", "solutions to the optimum")
    return table_of(f"{STUDIES[part].capitalize()}: sgs-b ({told(runs)} of each)", header, rows, notes)


def _growth(trials: Sequence[Trial], results: Mapping[Place, Sequence[Facts]], runs: int) -> tuple[Table, Sketch]:
    rows: list[tuple[str, ...]] = []
    curves: dict[str, list[tuple[int, float]]] = {}
    for trial in trials:
        _, _, l, tau = _opened(trial.instance)  # noqa: E741
        hits, _ = _hits(trial, results)
        problem = trial.instance.split(":")[0]
        if not hits:
            rows.append((trial.instance, str(l), f"0/{runs}", "–", "–", "–", "–"))
            continue
        steps, made = (median(one[what] for one in hits) for what in ("iterations", "evaluations"))
        curves.setdefault(problem, []).append((l, made))
        seconds = median(one["seconds"] for one in hits)
        share = f"{100 * steps / (l * tau):.2f}"
        rows.append(
            (trial.instance, str(l), f"{len(hits)}/{runs}", f"{steps:,.0f}", share, f"{made:,.0f}", f"{seconds:.3f}")
        )
    notes = [
        "Steps, solutions and seconds of one thread until the optimum is found, medians of the runs that found it; "
        "share: of the l ⌈lg l⌉ steps that the paper's runs have.",
        *(_exponent(problem, points) for problem, points in curves.items() if len(points) > 1),
        "Not in the paper, which leaves this for future work.",
    ]
    header = ("Instance", "l", "hits", "steps", "share %", "solutions", "seconds")
    table = table_of(f"Growth with l: sgs-b ({told(runs)} of each)", header, rows, notes)
    return table, Sketch("Solutions that sgs-b makes until it finds the optimum, by l.", partial(_draw_growth, curves))


def _exponent(problem: str, points: Sequence[tuple[int, float]]) -> str:
    l, made = np.log(np.array(points, float)).T  # noqa: E741
    slope = np.polyfit(l, made, 1)[0]
    return (
        f"{problem}: solutions to the optimum grow as l to the {slope:.2f}, by least squares over {len(points)} sizes."
    )


def _draw_growth(curves: Mapping[str, Sequence[tuple[int, float]]]) -> Figure:
    from systola.lab.style import plot_of_curves, put_legend, style

    with style():
        figure, axes = plot_of_curves(2, len(curves))
        for problem, points in curves.items():
            axes.plot(*zip(*points, strict=True), marker="o", label=problem)
        axes.set(xscale="log", yscale="log", xlabel="Decisions l", ylabel="Solutions to the optimum")
        put_legend(figure, 2)
    return figure


def weighted_sums(costs: Array, values: Array, normalised: bool) -> list[tuple[int, int]]:
    """For each weight, (cost, value) of a release that is best by Eq. 9; it can be said requirement by requirement."""
    found = []
    for weight in WEIGHTS:
        by_value = weight * values / (values.sum() if normalised else 1)
        by_cost = (1 - weight) * costs / (costs.sum() if normalised else 1)
        chosen = by_value > by_cost
        found.append((int(costs[chosen].sum()), int(values[chosen].sum())))
    return found


def _scalarisation(names: Sequence[str]) -> tuple[Table]:
    """Eq. 9 with the objectives as they are and normalised (Eqs. 11), and Eq. 12: best releases of all weights."""
    rows = []
    for name in names:
        problem: Any = open_instance(name).problem
        ways = {
            "Eq. 9, as printed": weighted_sums(problem.costs, problem.values, False),
            "Eq. 9 of Eqs. 11": weighted_sums(problem.costs, problem.values, True),
            "Eq. 12, chosen": [_best_by_distance(name, weight) for weight in WEIGHTS],
        }
        for label, pairs in ways.items():
            points = sorted({(cost / problem.all_cost, value / problem.all_value) for cost, value in pairs})
            inside = sum(0 < cost < 1 for cost, _ in points)
            widest = max((b[0] - a[0] for a, b in pairwise(points)), default=1.0)
            row = (name, label, f"{len(points)}", f"{inside}", f"{_area(points):.4f}", f"{widest:.3f}")
            rows.append(row)
    notes = (
        "Best releases for the eleven weights, each proven: what differs is the equation alone. Different: of the "
        "eleven; inside: neither nothing nor everything. Area: dominated, of the unit square of cost and value. Widest "
        "gap: between neighbours, of the cost of everything.",
        "Eq. 9 is decided requirement by requirement, since it is a sum. The paper chose Eq. 12 for a better spread "
        "of solutions.",
        "Our own instances of the paper's sizes; as printed, Eq. 9 depends on the units, and values are in hundredths.",
    )
    header = ("Instance", "by", "different", "inside", "area", "widest gap")
    return (table_of("Weighted sum (Eq. 9) and Tchebycheff (Eq. 12): best releases", header, rows, notes),)


def _best_by_distance(name: str, weight: float) -> tuple[int, int]:
    result = solve(open_instance(f"{name}?weight={weight}").problem, Exact(), seed=1)
    cost, value = result.objective
    return int(cost), int(value)


def _area(points: Sequence[tuple[float, float]]) -> float:
    """Of the unit square, what these (cost, value) dominate: no less cost, no more value."""
    area = best = 0.0
    ends = [*(cost for cost, _ in points[1:]), 1.0]
    for (cost, value), end in zip(points, ends, strict=True):
        best = max(best, value)
        area += (end - cost) * best
    return area
