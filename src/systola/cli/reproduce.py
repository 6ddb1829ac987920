"""`systola reproduce`: our results beside the published ones."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from systola.cli.options import make_folder
from systola.cli.screen import Bar


@click.command()
@click.argument("paper", type=click.Choice(["sgs"]))
@click.option("--table", type=int, help="Only this table of the paper (3 to 12).")
@click.option("--quick", is_flag=True, help="Smaller instances and 10 runs: minutes instead of many hours.")
@click.option("--runs", type=int, help="Runs of each algorithm on each instance. Default 50, as in the paper.")
@click.option("--workers", type=int, help="Parallel processes. Default: all cores.")
@click.option("--store", type=str, default="results/sgs.sqlite", show_default=True, help="Finished runs.")
@click.option("--format", "form", type=click.Choice(["text", "markdown", "csv", "latex"]), default="text")
@click.option("--output", type=str, help="Write each table to a file in this folder, too.")
@click.option("--json", "as_json", is_flag=True)
@click.option("--quiet", is_flag=True, help="No progress.")
def reproduce(paper: str, table: int | None, quick: bool, runs: int | None, **options: Any) -> None:
    """Repeat the experiments of PAPER and print its tables, ours beside the published figures.

    Finished runs are kept in the store: an interrupted reproduction goes on where it was.
    """
    from systola.lab.reproduction import choose_groups
    from systola.lab.reproduction import reproduce as make_tables
    from systola.lab.store import Store
    from systola.lab.tables import render

    suffix = {"text": "txt", "markdown": "md", "csv": "csv", "latex": "tex"}[options["form"]]
    make_folder(Path(options["store"]).parent, "store")
    if options["output"]:
        make_folder(Path(options["output"]), "tables")
    collected = {}
    with Store(options["store"]) as store:
        for group in choose_groups(table):
            with Bar(group.problem, options["quiet"] or options["as_json"]) as bar:
                tables = make_tables(
                    group, store, quick, runs, options["workers"], lambda done, of, job: bar.update(done, of)
                )
            for number, made in tables.items():
                if table is not None and number != table:
                    continue
                collected[number] = made
                text = "\n".join(render(one, options["form"]) for one in made)
                if not options["as_json"]:
                    click.echo(text)
                if options["output"]:
                    (Path(options["output"]) / f"{paper}-table-{number:02d}.{suffix}").write_text(text)
    if options["as_json"]:
        data = {str(number): [asdict(one) for one in made] for number, made in sorted(collected.items())}
        click.echo(json.dumps(data))
