"""The report of a comparison: what tests say, in words; tables, pictures, parameters, and where it comes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean, median_low
from typing import TYPE_CHECKING, Any

import numpy as np

from systola.errors import MissingExtra
from systola.lab.blocks import Cell, Picture, Provenance, Section, Table
from systola.lab.plots import boxplots, convergence
from systola.lab.report import Report
from systola.lab.runtime_plot import GAPS, plot_runtimes
from systola.lab.study import Study
from systola.lab.style import Columns
from systola.lab.words import join, tell_algorithms, tell_instance, tell_method, warn_of_few_runs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Captioned = tuple[str, "Figure"]

ALPHA = 0.05
_EVERYWHERE = "Feasible runs rank before infeasible ones, then less violation before more, then the better objective."


def report_study(study: Study, command: str = "") -> Report:
    """The report; without pictures, and a note that says so, if Matplotlib is not installed."""
    notes = [
        f"{study.missing} of {len(study.jobs)} runs are missing: there are no tests." if study.missing else "",
        f"{study.infeasible} of {len(study.rows)} runs ended with an infeasible solution." if study.infeasible else "",
        warn_of_few_runs(study.runs, study.algorithms, ALPHA),
    ]
    sections = [_summary(study)]
    places: dict[str, list[Picture]] = {}
    try:
        for name in study.instances if study.results else ():
            places[name] = [Picture(*pair) for pair in draw_instance(study, name).values()]
    except MissingExtra as missing:
        notes.append(f"Pictures are left out: {missing}")
    for name in study.instances:
        told = (tell_instance(name, study.tests[name]),) if name in study.tests else ()
        sections.append(Section(name, (*told, instance_table(study, name), *places.get(name, ()))))
    sections.append(_parameters(study))
    title = f"{join(study.algorithms)} on {_some(list(study.instances))}"
    return Report(title, tuple(sections), _provenance(study), command, tuple(note for note in notes if note))


def rank_table(study: Study) -> Table:
    """The mean rank of each algorithm over the instances, and how often it is better or worse than another."""
    ranks = mean_ranks(study)
    rows = []
    for name in study.algorithms:
        mean = fmean(ranks[instance][name] for instance in ranks)
        first = sum(ranks[instance][name] == min(ranks[instance].values()) for instance in ranks)
        verdicts = [
            test.verdict(name, other) for test in study.tests.values() for other in study.algorithms if other != name
        ]
        counts = [verdicts.count(sign) for sign in (1, -1, 0)]
        rows.append([name, f"{mean:.2f}", f"{first}", *map(str, counts)])
    best = min(float(row[1]) for row in rows)
    cells = tuple(
        (Cell(row[0]), Cell(row[1], bold=float(row[1]) == best), *(Cell(text) for text in row[2:])) for row in rows
    )
    notes = (
        "Mean rank: algorithms are ranked on each instance by the ranks of their runs, 1 is the best.",
        "Better, worse, neither: verdicts of the tests against each other algorithm on each instance.",
        _EVERYWHERE,
    )
    return Table("Ranks", ("Algorithm", "mean rank", "first on", "better", "worse", "neither"), cells, notes)


def mean_ranks(study: Study) -> dict[str, dict[str, float]]:
    """On each instance the rank of each algorithm, 1 for the best; equal ones share a rank."""
    from scipy.stats import rankdata

    outcomes, ranks = study.outcomes, {}
    for instance in study.instances:
        sign = 1 if study.minimises(instance) else -1
        runs = [
            (amount, sign * value)
            for name in study.algorithms
            for amount, value in zip(
                outcomes.violations[instance][name], outcomes.objectives[instance][name], strict=True
            )
        ]
        order = {run: place for place, run in enumerate(sorted(set(runs)))}
        places = iter(rankdata([order[run] for run in runs]))
        means = [fmean(next(places) for _ in outcomes.objectives[instance][name]) for name in study.algorithms]
        ranks[instance] = dict(zip(study.algorithms, map(float, rankdata(means)), strict=True))
    return ranks


def instance_table(study: Study, instance: str) -> Table:
    """All that is known of the runs on one instance, a row for each algorithm."""
    outcomes, known = study.outcomes, study.instances[instance].best_known
    sign = 1 if study.minimises(instance) else -1
    leading = _leading(study, instance)
    rows = []
    for name in study.algorithms:
        runs = sorted(
            (amount, sign * value)
            for amount, value in zip(
                outcomes.violations[instance][name], outcomes.objectives[instance][name], strict=True
            )
        )
        if not runs:
            rows.append((Cell(name), *[Cell("")] * (10 if known is not None else 8)))
            continue
        values = outcomes.feasible[instance][name]
        share = 1 - len(values) / len(runs)
        picked = [_run_cell(*run, sign) for run in (runs[0], median_low(runs), runs[-1])]
        mean = Cell("–", infeasible=1.0)
        if values:
            mean = Cell(_number(fmean(values)), name in leading, fmean(values), share)
        spread = (
            Cell(f"{np.std(values, ddof=1):,.4g}", False, float(np.std(values, ddof=1)), share)
            if len(values) > 1
            else Cell("")
        )
        cells = [*picked, mean, spread, Cell(f"{len(values)}/{len(runs)}", value=len(values) / len(runs))]
        if known is not None:
            hits = sum(amount == 0 and value <= sign * known for amount, value in runs)
            gap = sign * (fmean(values) - known) / abs(known) if values and known else None
            cells.append(Cell(f"{hits}/{len(runs)}", value=hits / len(runs)))
            cells.append(Cell("–", infeasible=1.0) if gap is None else Cell(f"{100 * gap:.3f}", False, gap, share))
        rows.append((Cell(name), *cells, *_work(study, instance, name)))
    header = ["Algorithm", "best", "median", "worst", "mean", "std", "feasible"]
    notes = ["Best, median and worst run; mean and standard deviation of feasible runs.", _EVERYWHERE]
    if known is not None:
        header += ["hits", "gap %"]
        notes.append(f"Hits: runs that reached the best known objective, {_number(known)}; gap: the mean against it.")
    goal = "minimised" if sign > 0 else "maximised"
    title = f"{instance}, {goal}: {study.runs} runs of each algorithm"
    return Table(title, (*header, "evaluations", "seconds"), tuple(rows), tuple(notes))


def _summary(study: Study) -> Section:
    if not study.tests:
        return Section("In short", tuple(study.tables()))
    told = [*tell_algorithms(study.algorithms, study.tests), tell_method(study.algorithms, ALPHA)]
    return Section("In short", (*told, rank_table(study), *study.tables()))


def draw_instance(study: Study, instance: str, columns: Columns = 2, title: str = "") -> dict[str, Captioned]:
    """Figures of the runs on one instance, with captions: convergence and run times only if a run is feasible."""
    outcomes, curves, known = study.outcomes, study.curves(instance), study.instances[instance].best_known
    line = " The dashed line is the best known objective." if known is not None else ""
    runs, feasible = outcomes.runs[instance], outcomes.feasible[instance]
    boxes = boxplots(feasible, infeasible=outcomes.infeasible[instance], optimum=known, columns=columns, title=title)
    caption = f"Final objectives on {instance}: quartiles as a box, the median as a line in it, and every run.{line}"
    drawn = {"boxplots": (caption, boxes)}
    if not any(curves.values()):
        return drawn
    never = {name: runs[name] - len(some) for name, some in curves.items()}
    courses = convergence(curves, infeasible=never, optimum=known, columns=columns, title=title)
    caption = f"Convergence on {instance}: median of the runs, and their quartiles as a band.{line}"
    minimise = study.minimises(instance)
    values = [value for some in feasible.values() for value in some] + ([] if known is None else [known])
    reference = min(values) if minimise else max(values)
    times = plot_runtimes(curves, reference, minimise=minimise, runs=runs, columns=columns, title=title)
    gaps = ", ".join(f"{100 * gap:g}" for gap in GAPS)
    about = (
        f"Run times on {instance}: the share of runs and targets reached after so many evaluations. Targets are within "
        f"{gaps} % of {_number(reference)}, the best that is known or was found."
    )
    return {"convergence": (caption, courses), **drawn, "run-times": (about, times)}


def _parameters(study: Study) -> Section:
    """The parameters of each algorithm as they were resolved, once if they are the same on all instances."""
    found: dict[str, dict[str, str]] = {name: {} for name in study.algorithms}
    for job, result in study.results:
        found[job.algorithm][job.instance] = _tell(result["parameters"])
    rows: list[tuple[str, str, str]] = []
    for name, by_instance in found.items():
        told = set(by_instance.values())
        if len(told) == 1:
            rows.append((name, "all", told.pop()))
        else:
            rows += [(name, instance, text) for instance, text in by_instance.items()]
    cells = tuple(tuple(Cell(text) for text in row) for row in rows)
    origin = tuple((Cell(name), Cell(one.kind), Cell(one.source)) for name, one in study.instances.items())
    tables = [Table("Parameters", ("Algorithm", "instance", "parameters"), cells)] if cells else []
    tables.append(Table("Instances", ("Instance", "problem", "source"), origin))
    return Section("Parameters and instances", tuple(tables))


def _provenance(study: Study) -> Provenance:
    first = study.jobs[0]
    stop = {name: value for name, value in vars(first.stop).items() if value is not None}
    seeds = sorted({job.seed for job in study.jobs})
    told = {
        "algorithms": ", ".join(study.algorithms),
        "instances": ", ".join(study.instances),
        "budget of a run": _tell(stop) or "that of the algorithm",
        "parameters of all": _tell(first.settings),
        "runs": f"{study.runs} of each algorithm on each instance",
        "digests of instances": ", ".join(dict.fromkeys(f"{job.instance} {job.digest[:12]}" for job in study.jobs)),
    }
    return Provenance.here(told, f"{seeds[0]} to {seeds[-1]}")


def _leading(study: Study, instance: str) -> set[str]:
    """The best mean of those with the most feasible runs, as in the table of means."""
    feasible, runs = study.outcomes.feasible[instance], study.outcomes.runs[instance]
    shares = {name: len(values) / runs[name] for name, values in feasible.items() if values}
    means = {name: fmean(feasible[name]) for name, share in shares.items() if share == max(shares.values())}
    best = (min if study.minimises(instance) else max)(means.values(), default=None)
    return {name for name, mean in means.items() if mean == best}


def _run_cell(violation: float, signed: float, sign: int) -> Cell:
    value = sign * signed
    if violation:
        return Cell(f"{_number(value)} (infeasible)", value=value, infeasible=1.0)
    return Cell(_number(value), value=value)


def _work(study: Study, instance: str, algorithm: str) -> tuple[Cell, Cell]:
    mine = [row for row in study.rows if (row["instance"], row["algorithm"]) == (instance, algorithm)]
    evaluations, seconds = (fmean(row[key] for row in mine) for key in ("evaluations", "seconds"))
    return Cell(f"{evaluations:,.0f}", value=evaluations), Cell(f"{seconds:,.3g}", value=seconds)


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.7g}"


def _tell(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items())


def _some(names: Sequence[str]) -> str:
    return join(names) if len(names) <= 3 else f"{len(names)} instances"
