"""`systola compare`: several algorithms, many runs, statistics."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from systola.cli.answer import deliver, note
from systola.cli.options import budget_options, make_folder, report_files, report_options, typed_command
from systola.cli.screen import Bar
from systola.cli.settings import Settings
from systola.errors import Incomplete, InputError
from systola.formats.source import Source
from systola.model.source import is_code

if TYPE_CHECKING:
    from systola.lab.study import Study
    from systola.lab.style import Columns
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
@click.option("--plot-format", type=click.Choice(["png", "pdf", "svg"]), default="png", show_default=True)
@click.option("--columns", type=click.IntRange(1, 2), default=2, show_default=True, help="Width of plots: of a page.")
@report_options
@click.option("--json", "as_json", is_flag=True)
@click.option("--quiet", is_flag=True, help="No progress.")
def compare(instances: tuple[str, ...], algorithms: str, runs: int, **options: Any) -> None:
    """Run ALGORITHMS many times on each of INSTANCES and test whether they differ.

    Kolmogorov-Smirnov, Levene, then ANOVA or Kruskal-Wallis, then pairs with Bonferroni-Dunn, at 95 %.
    Feasible runs rank before infeasible ones.
    Finished runs are kept in the store: an interrupted comparison goes on where it was.
    """
    from systola.lab.experiment import do_jobs, plan, stored
    from systola.lab.store import Store
    from systola.lab.study import EXPERIMENT, Study, check_instance, check_names, collect
    from systola.lab.tables import render
    from systola.run.budget import Stop

    names = check_names([name.strip() for name in algorithms.split(",") if name.strip()], runs)
    settings = Settings.read(options["pairs"])
    limits = ("iterations", "evaluations", "seconds", "target", "stall")
    stop = Stop(**{k: options[k] for k in limits if options[k] is not None})
    sources = _sources(instances, options["problem"], options["data"], settings.given)
    found = {spec: source.open() for spec, source in sources.items()}
    settings.check_fields(list(found.values()))
    parameters = settings.parameters_for(found.values())
    for instance in found.values():  # errors now, not after an hour
        check_instance(instance)
        for name in names:
            settings.make_engine(name, instance, parameters).prepare(instance.problem)

    jobs = plan(sources, names, runs, options["seed"], parameters, stop)
    targets = report_files(options)
    make_folder(Path(options["store"]).parent, "store")
    if options["plots"]:
        make_folder(Path(options["plots"]), "plots")
    if options["workers"] is not None and options["workers"] < 1:
        raise InputError(f"`--workers` must be at least 1, but got {options['workers']}")
    ended: Incomplete | None = None
    with Store(options["store"]) as store, Bar("runs", options["quiet"] or options["as_json"]) as bar:
        try:
            rows = do_jobs(jobs, store, EXPERIMENT, options["workers"], lambda done, of, job: bar.update(done, of))
            study = collect(found, names, jobs, store, rows, whole=bool(targets or options["plots"]))
        except Incomplete as error:  # show what there is, without tests: it may be a signal that wants a quick end
            study, ended = Study(tuple(names), found, jobs, stored(jobs, store, EXPERIMENT)), error
    if study.infeasible:
        note(
            f"{study.infeasible} of {len(study.rows)} runs ended with an infeasible solution; "
            "they rank after all feasible ones"
        )
    if options["as_json"]:
        told = json.dumps(_finite(_facts(study)))
    else:
        told = "".join(f"{render(table, options['form'])}\n" for table in study.tables())
    writes: list[Callable[[], Any]] = []
    if not ended:
        report = study.report(typed_command()) if targets else None
        writes += [partial(report.save, target) for target in targets if report]
        if options["plots"]:
            writes.append(partial(_draw, study, Path(options["plots"]), options["plot_format"], options["columns"]))
    deliver(told, *writes)
    if ended:
        raise ended


def _facts(study: Study) -> dict[str, Any]:
    outcomes = study.outcomes
    return {
        "runs": study.runs,
        "samples": outcomes.objectives,
        "violations": outcomes.violations,
        "feasible": outcomes.feasible_runs,
        "infeasible": study.infeasible,
        "missing": study.missing,
        "tests": {spec: vars(made) for spec, made in study.tests.items()},
    }


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


def _draw(study: Study, folder: Path, ending: str, columns: Columns) -> None:
    from systola.lab.study_report import draw_instance
    from systola.lab.style import save

    for spec, instance in study.instances.items():
        stem = "".join(c if c.isalnum() else "-" for c in instance.name)
        drawn = draw_instance(study, spec, columns, title=instance.name)
        if "convergence" not in drawn:
            note(f"no run on {instance.name} had a feasible solution: its convergence is not drawn")
        for name, (_, figure) in drawn.items():
            save(figure, folder / f"{stem}-{name}.{ending}")
