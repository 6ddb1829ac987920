"""`systola compare`: several algorithms, many runs, statistics."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import click

from systola.cli.options import budget_options, make_folder, read_settings
from systola.cli.screen import Bar
from systola.errors import InputError


@click.command()
@click.argument("instances", nargs=-1, required=True)
@click.option("--algorithms", required=True, help="Names with commas between, such as sgs-b,ega,rs.")
@click.option("--runs", type=int, default=30, show_default=True)
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the first run; the next has the next.")
@budget_options
@click.option("--set", "pairs", multiple=True, metavar="KEY=VALUE", help="A parameter, for all algorithms.")
@click.option("--workers", type=int, help="Parallel processes. Default: all cores.")
@click.option("--store", type=str, default="results/compare.sqlite", show_default=True, help="Finished runs.")
@click.option("--format", "form", type=click.Choice(["text", "markdown", "csv", "latex"]), default="text")
@click.option("--plots", type=str, help="Write convergence and box plots into this folder.")
@click.option("--json", "as_json", is_flag=True)
@click.option("--quiet", is_flag=True, help="No progress.")
def compare(instances: tuple[str, ...], algorithms: str, runs: int, **options: Any) -> None:
    """Run ALGORITHMS many times on each of INSTANCES and test whether they differ.

    Kolmogorov-Smirnov, Levene, then ANOVA or Kruskal-Wallis, then pairs with Bonferroni-Dunn, at 95 %.
    Finished runs are kept in the store: an interrupted comparison goes on where it was.
    """
    from systola.engines.catalog import make_engine
    from systola.formats.catalog import open_instance
    from systola.lab.experiment import do_jobs, plan
    from systola.lab.statistics import SMALLEST_SAMPLE
    from systola.lab.statistics import compare as test
    from systola.lab.store import Store
    from systola.lab.tables import mean_table, render, significance_table
    from systola.stop import Stop

    names = [name.strip() for name in algorithms.split(",") if name.strip()]
    if len(names) < 2 or len(set(names)) < len(names):
        raise InputError(f"a comparison needs two or more different algorithms, but got {algorithms!r}")
    if runs < SMALLEST_SAMPLE:
        raise InputError(f"`--runs` must be at least {SMALLEST_SAMPLE} for the tests, but got {runs}")
    settings = read_settings(options["pairs"])
    limits = ("iterations", "evaluations", "seconds", "target", "stall")
    stop = Stop(**{k: options[k] for k in limits if options[k] is not None})
    found = {spec: open_instance(spec) for spec in instances}
    for instance in found.values():  # errors now, not after an hour
        if len(instance.problem.senses) > 1:
            raise InputError(f"{instance.name} has several objectives; compare needs one (see systola reproduce sgs)")
        for name in names:
            make_engine(name, instance.problem, settings).prepare(instance.problem)

    jobs = plan(instances, names, runs, options["seed"], settings, stop)
    make_folder(Path(options["store"]).parent, "store")
    if options["plots"]:
        make_folder(Path(options["plots"]), "plots")
    if options["workers"] is not None and options["workers"] < 1:
        raise InputError(f"`--workers` must be at least 1, but got {options['workers']}")
    with Store(options["store"]) as store, Bar("runs", options["quiet"] or options["as_json"]) as bar:
        rows = do_jobs(jobs, store, "compare", options["workers"], lambda done, of, job: bar.update(done, of))
        samples: dict[str, dict[str, list[float]]] = {spec: defaultdict(list) for spec in instances}
        infeasible = sum(not row["feasible"] for row in rows)
        for row in rows:
            samples[row["instance"]][row["algorithm"]].append(row["objective"])
        minimise = {spec: found[spec].problem.senses[0] < 0 for spec in instances}
        tests = {spec: test({n: samples[spec][n] for n in names}, minimise=minimise[spec]) for spec in instances}
        if options["plots"]:
            _draw(options["plots"], found, samples, [(job, store.result(job.key("compare"))) for job in jobs])
    if options["as_json"]:
        facts = {k: _without_nan(vars(t)) for k, t in tests.items()}
        click.echo(json.dumps({"runs": runs, "samples": samples, "infeasible": infeasible, "tests": facts}))
        return
    if infeasible:
        click.echo(f"{infeasible} of {len(rows)} runs ended with an infeasible solution; objectives are as they are.")
    for direction in sorted(set(minimise.values())):
        part = {s: {n: samples[s][n] for n in names} for s in instances if minimise[s] == direction}
        what = f"Objective ({'smaller' if direction else 'larger'} is better), mean ± std of {runs} runs"
        click.echo(render(mean_table(part, what, minimise=direction), options["form"]))
    click.echo(
        render(significance_table(names, {s: t.verdicts for s, t in tests.items()}, "Differences"), options["form"])
    )


def _without_nan(value: Any) -> Any:
    """JSON knows no NaN, which stands where no pair was tested: null."""
    if isinstance(value, dict):
        return {k: _without_nan(v) for k, v in value.items()}
    if isinstance(value, (tuple, list)):
        return [_without_nan(v) for v in value]
    return None if isinstance(value, float) and value != value else value


def _draw(folder: str, found: dict[str, Any], samples: Any, whole: list[tuple[Any, dict[str, Any]]]) -> None:
    from systola.lab.plots import boxplots, convergence, save

    for spec, instance in found.items():
        stem = "".join(c if c.isalnum() else "-" for c in instance.name)
        curves: dict[str, list[Any]] = defaultdict(list)
        for job, result in whole:
            if job.instance == spec:
                trace = result["trace"]
                feasible = [k for k, amount in enumerate(trace["violation"]) if amount == 0]
                curve = [[trace[name][k] for k in feasible] for name in ("evaluations", "objective")]
                if feasible:
                    curves[job.algorithm].append(curve)
        if not curves:
            continue  # no run ever had a feasible solution
        save(convergence(curves, title=instance.name), Path(folder) / f"{stem}-convergence.png")
        save(boxplots(samples[spec], title=instance.name), Path(folder) / f"{stem}-boxplots.png")
