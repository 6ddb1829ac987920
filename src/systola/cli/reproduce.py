"""`systola reproduce`: our results beside the published ones."""

from __future__ import annotations

import importlib
import json
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import click

from systola.cli.answer import deliver, show, write_file
from systola.cli.options import make_folder
from systola.cli.screen import Bar
from systola.errors import Incomplete, InputError

# Options that not every paper has.
_SOME = {
    "instances": ("sns", "pugace", "pgap"),
    "figures": ("sns",),
    "workers": ("sgs", "sns"),
    "threads": ("pugace", "mls", "pgap"),
    "seconds": ("pugace", "pgap"),
    "part": ("pgap",),
    "full": ("pgap",),
}
_SUFFIXES = {"text": "txt", "markdown": "md", "csv": "csv", "latex": "tex"}


@click.command()
@click.argument("paper", type=click.Choice(["sgs", "sns", "pugace", "mls", "pgap"]))
@click.option(
    "--table",
    type=int,
    help="Only this table of the paper (sgs: 3 to 12; sns: 2 to 9; pugace: 2 or 3; mls: 2 to 5; pgap: 3).",
)
@click.option(
    "--part",
    type=click.Choice(["quality", "strong", "population", "solutions", "simulation"]),
    help="Only this part of the experiments (pgap).",
)
@click.option(
    "--instances", type=str, metavar="FOLDER", help="The paper's public instances (sns, pugace); others (pgap)."
)
@click.option(
    "--quick",
    is_flag=True,
    help="Smaller instances and 10 runs, mls: 1 run; pugace: all instances and 3 runs; pgap: shorter runs.",
)
@click.option("--full", is_flag=True, default=None, help="The paper's own budget (pgap).")
@click.option(
    "--runs",
    type=int,
    help="Runs of each algorithm on each instance. Default as in the papers: 50, 30, 10; mls: 3; pgap: 1.",
)
@click.option("--workers", type=int, help="Parallel processes (sgs, sns). Default: all cores.")
@click.option("--threads", type=int, help="Threads of a run (pugace, mls, pgap). Default: all cores.")
@click.option(
    "--seconds",
    type=float,
    help="Longest run of the recommended engine (pugace), default 10; length of a scaling run (pgap), default 5.",
)
@click.option("--store", type=str, help="Finished runs. Default results/PAPER.sqlite.")
@click.option("--figures", type=str, metavar="FOLDER", help="Draw Figures 5 to 8 there, instead of tables (sns).")
@click.option("--format", "form", type=click.Choice(["text", "markdown", "csv", "latex"]), default="text")
@click.option("--output", type=str, help="Write each table to a file in this folder, too.")
@click.option("--json", "as_json", is_flag=True)
@click.option("--quiet", is_flag=True, help="No progress.")
def reproduce(paper: str, table: int | None, quick: bool, runs: int | None, **options: Any) -> None:
    """Repeat the experiments of PAPER, sgs, sns, pugace, mls or pgap, and print its tables, ours beside the published.

    Finished runs are kept in the store: an interrupted reproduction goes on where it was.
    """
    from systola.islands.mpi import job_size
    from systola.lab.messages import find_message_costs
    from systola.lab.reproductions.effort import Effort
    from systola.lab.store import Store
    from systola.lab.tables import render

    experiment = importlib.import_module(f"systola.lab.reproductions.{paper}")
    for name, papers in _SOME.items():
        if options[name] is not None and paper not in papers:
            raise InputError(f"--{name} is for {' and '.join(papers)}, but the paper is {paper}; leave it out")
    choices: dict[str, Any] = {}
    if paper == "pgap":
        choices = {"part": options["part"], "full": bool(options["full"]), "seconds": options["seconds"]}
    groups = experiment.choose_groups(table, quick, **choices)
    if job_size() > 1 and options["part"] != "simulation":
        raise InputError(
            f"this job has {job_size()} processes, and each of them would make the same runs; start one, or add "
            "--part simulation to pgap, for which messages are measured between them"
        )
    if options["figures"]:
        _draw(table, options)
        return
    taken = (name for name in ("workers", "threads", "seconds") if paper in _SOME[name] and name not in choices)
    extra = {name: options[name] for name in taken}
    if paper in _SOME["instances"]:
        experiment.check_files(options["instances"], groups)
        extra["folder"] = options["instances"]
    if options["part"] == "simulation":
        rank, extra["costs"] = find_message_costs()
        if rank > 0:
            return
    form = options["form"]
    kept = Path(options["store"] or f"results/{paper}.sqlite")
    make_folder(kept.parent, "store")
    if options["output"]:
        make_folder(Path(options["output"]), "tables")
    collected: dict[int | str, Any] = {}
    try:
        with Store(kept) as store:
            for group in groups:
                with Bar(group.problem, options["quiet"] or options["as_json"]) as bar:
                    effort = Effort(quick, runs, on_done=lambda done, of, job: bar.update(done, of))
                    tables = experiment.reproduce(group, store, effort, **extra)
                wanted = {number: made for number, made in tables.items() if table in (None, number)}
                collected |= wanted
                texts = {number: "\n".join(render(one, form) for one in made) for number, made in wanted.items()}
                writes = []
                for number, text in texts.items() if options["output"] else ():
                    name = f"table-{number:02d}" if isinstance(number, int) else number
                    target = Path(options["output"]) / f"{paper}-{name}.{_SUFFIXES[form]}"
                    writes.append(partial(write_file, target, text, "table"))
                deliver(None if options["as_json"] else "".join(f"{text}\n" for text in texts.values()), *writes)
    except KeyboardInterrupt:
        raise Incomplete(f"interrupted: finished runs are in {kept}, and the same command makes the others") from None
    finally:  # when interrupted, too
        if options["as_json"] and collected:
            order = sorted(collected, key=lambda number: (isinstance(number, str), number))
            show(json.dumps({str(number): [asdict(one) for one in collected[number]] for number in order}))


def _draw(table: int | None, options: dict[str, Any]) -> None:
    from systola.lab.reproductions.figures import draw_figures

    if table is not None:
        raise InputError("--figures draws figures instead of tables, but got --table, too; leave one of them out")
    make_folder(Path(options["figures"]), "figures")
    made = [str(path) for path in draw_figures(options["instances"], options["figures"])]
    show(json.dumps(made) if options["as_json"] else "\n".join(made))
