"""`systola compare`: several algorithms, many runs, statistics."""

from __future__ import annotations

import json
import math
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from systola.cli.answer import deliver, note
from systola.cli.options import budget_options, make_folder
from systola.cli.screen import Bar
from systola.cli.settings import Settings
from systola.errors import Incomplete, InputError
from systola.formats.source import Source
from systola.model.problem import senses_of
from systola.model.source import is_code

if TYPE_CHECKING:
    from systola.lab.outcomes import Outcomes
    from systola.reading import Json


@click.command()
@click.argument("instances", nargs=-1, required=True)
@click.option("--algorithms", required=True, help="Names with commas between, such as sgs-b,ega,rs.")
@click.option("--runs", type=int, default=30, show_default=True)
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the first run; the next has the next.")
@budget_options
@click.option("--problem", help="Name the problem of files instead of recognising it.")
@click.option("--data", multiple=True, metavar="FILE", help="Data of a problem of your own: JSON, CSV or .npz.")
@click.option("--set", "pairs", multiple=True, metavar="KEY=VALUE", help="A field left open, or a parameter, of all.")
@click.option("--workers", type=int, help="Parallel processes. Default: all cores.")
@click.option("--store", type=str, default="results/compare.sqlite", show_default=True, help="Finished runs.")
@click.option("--format", "form", type=click.Choice(["text", "markdown", "csv", "latex"]), default="text")
@click.option("--plots", type=str, help="Write convergence and box plots into this folder.")
@click.option("--json", "as_json", is_flag=True)
@click.option("--quiet", is_flag=True, help="No progress.")
def compare(instances: tuple[str, ...], algorithms: str, runs: int, **options: Any) -> None:
    """Run ALGORITHMS many times on each of INSTANCES and test whether they differ.

    Kolmogorov-Smirnov, Levene, then ANOVA or Kruskal-Wallis, then pairs with Bonferroni-Dunn, at 95 %.
    Feasible runs rank before infeasible ones.
    Finished runs are kept in the store: an interrupted comparison goes on where it was.
    """
    from systola.lab.experiment import do_jobs, plan, stored
    from systola.lab.outcomes import gather
    from systola.lab.statistics import SMALLEST_SAMPLE
    from systola.lab.statistics import compare as test
    from systola.lab.store import Store
    from systola.lab.tables import mean_table, render, significance_table
    from systola.run.budget import Stop

    names = [name.strip() for name in algorithms.split(",") if name.strip()]
    if len(names) < 2 or len(set(names)) < len(names):
        raise InputError(f"a comparison needs two or more different algorithms, but got {algorithms!r}")
    if runs < SMALLEST_SAMPLE:
        raise InputError(f"`--runs` must be at least {SMALLEST_SAMPLE} for the tests, but got {runs}")
    settings = Settings.read(options["pairs"])
    limits = ("iterations", "evaluations", "seconds", "target", "stall")
    stop = Stop(**{k: options[k] for k in limits if options[k] is not None})
    sources = _sources(instances, options["problem"], options["data"], settings.given)
    found = {spec: source.open() for spec, source in sources.items()}
    settings.check_fields(list(found.values()))
    parameters = settings.parameters_for(found.values())
    for instance in found.values():  # errors now, not after an hour
        if len(senses_of(instance.problem)) > 1:
            raise InputError(f"{instance.name} has several objectives; compare needs one (see systola reproduce sgs)")
        for name in names:
            settings.make_engine(name, instance, parameters).prepare(instance.problem)

    jobs = plan(sources, names, runs, options["seed"], parameters, stop)
    make_folder(Path(options["store"]).parent, "store")
    if options["plots"]:
        make_folder(Path(options["plots"]), "plots")
    if options["workers"] is not None and options["workers"] < 1:
        raise InputError(f"`--workers` must be at least 1, but got {options['workers']}")
    ended: Incomplete | None = None
    whole: list[tuple[Any, dict[str, Any]]] = []
    with Store(options["store"]) as store, Bar("runs", options["quiet"] or options["as_json"]) as bar:
        try:
            rows = do_jobs(jobs, store, "compare", options["workers"], lambda done, of, job: bar.update(done, of))
        except Incomplete as error:  # show what there is, without tests: it may be a signal that wants a quick end
            rows, ended = stored(jobs, store, "compare"), error
        if options["plots"] and not ended:
            whole = [(job, store.result(job.key("compare"))) for job in jobs]
    outcomes = gather(rows, list(sources), names)
    infeasible = sum(not row["feasible"] for row in rows)
    if infeasible:
        note(f"{infeasible} of {len(rows)} runs ended with an infeasible solution; they rank after all feasible ones")
    minimise = {spec: senses_of(instance.problem)[0] < 0 for spec, instance in found.items()}
    tests = {}
    for spec in found if not ended else ():
        values, broken = outcomes.objectives[spec], outcomes.violations[spec]
        tests[spec] = test(values, minimise=minimise[spec], violations=broken)
    if options["as_json"]:
        facts: dict[str, Any] = {
            "runs": runs,
            "samples": outcomes.objectives,
            "violations": outcomes.violations,
            "feasible": outcomes.feasible_runs,
            "infeasible": infeasible,
            "missing": len(jobs) - len(rows),
            "tests": {spec: vars(made) for spec, made in tests.items()},
        }
        told = json.dumps(_finite(facts))
    else:
        tables = []
        for direction in sorted(set(minimise.values())):
            part = {spec: outcomes.feasible[spec] for spec in found if minimise[spec] == direction}
            what = f"Objective ({'smaller' if direction else 'larger'} is better), mean ± std of {runs} runs"
            tables.append(mean_table(part, what, minimise=direction, runs=outcomes.runs))
        if tests:
            tables.append(significance_table(names, {s: t.verdicts for s, t in tests.items()}, "Differences"))
        told = "".join(f"{render(table, options['form'])}\n" for table in tables)
    deliver(told, *([partial(_draw, options["plots"], found, outcomes, whole)] if whole else []))
    if ended:
        raise ended


def _sources(
    specs: tuple[str, ...], problem: str | None, data: tuple[str, ...], given: dict[str, Any]
) -> dict[str, Source]:
    """What to open, by the name in tables: a problem of one's own once for each file of data."""
    found = {}
    for spec in specs:
        if is_code(spec) and data:
            found.update({f"{spec} {file}": Source(spec, None, file, given, code=True) for file in data})
        else:
            found[spec] = Source(spec, None if is_code(spec) else problem, None, given, code=True)
    if data and not any(map(is_code, specs)):
        raise InputError(f"--data is for a problem of your own, FILE.py:NAME, but got {', '.join(specs)}; leave it out")
    return found


def _finite(value: Json) -> Any:
    """JSON knows no NaN, which stands where nothing was tested, and no infinity: null."""
    if isinstance(value, dict):
        return {k: _finite(v) for k, v in value.items()}
    if isinstance(value, (tuple, list)):
        return [_finite(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _draw(folder: str, found: dict[str, Any], outcomes: Outcomes, whole: list[tuple[Any, dict[str, Any]]]) -> None:
    from systola.lab.plots import boxplots, convergence, save

    for spec, instance in found.items():
        stem = "".join(c if c.isalnum() else "-" for c in instance.name)
        curves: dict[str, list[Any]] = {name: [] for name in outcomes.runs[spec]}
        for job, result in whole:
            if job.instance == spec:
                trace = result["trace"]
                feasible = [k for k, amount in enumerate(trace["violation"]) if amount == 0]
                curve = [[trace[name][k] for k in feasible] for name in ("evaluations", "objective")]
                if feasible:
                    curves[job.algorithm].append(curve)
        if any(curves.values()):
            never = {name: outcomes.runs[spec][name] - len(some) for name, some in curves.items()}
            picture = convergence(curves, title=instance.name, infeasible=never)
            save(picture, Path(folder) / f"{stem}-convergence.png")
        else:
            note(f"no run on {instance.name} had a feasible solution: its convergence is not drawn")
        picture = boxplots(outcomes.feasible[spec], title=instance.name, infeasible=outcomes.infeasible[spec])
        save(picture, Path(folder) / f"{stem}-boxplots.png")
