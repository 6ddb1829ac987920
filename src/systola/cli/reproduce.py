"""`systola reproduce`: our results beside the published ones."""

from __future__ import annotations

import importlib
import json
import textwrap
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from systola.cli.answer import deliver, note, show, write_file
from systola.cli.options import make_folder
from systola.cli.screen import Bar
from systola.errors import Incomplete, InputError, MissingExtra

if TYPE_CHECKING:
    from systola.lab.report import Picture
    from systola.lab.reproductions.products import Made, Name, Sketch

# Options that not every paper has.
_SOME = {
    "instances": ("sns", "pugace", "mls", "pgap"),
    "algorithms": ("sgs", "sns"),
    "workers": ("sgs", "sns"),
    "threads": ("pugace", "mls", "pgap"),
    "backend": ("sgs", "sns", "pugace", "mls"),
    "seconds": ("pugace", "pgap"),
    "part": ("sgs", "sns", "pugace", "pgap"),
    "full": ("pgap",),
}
# Parts of pgap are parts of the paper; those of others are studies beside their tables.
_PARTS = {
    "sgs": ("plans", "shapes", "growth", "scalarisation"),
    "sns": ("cells", "rows"),
    "pugace": ("calibration", "runtime", "readings"),
    "pgap": ("quality", "strong", "population", "solutions", "simulation"),
}
_CHOOSING = {
    "sizes": (),
    "algorithms": _SOME["algorithms"],
    "part": _SOME["part"],
    "full": ("pgap",),
    "seconds": ("pgap",),
}
_SUFFIXES = {"text": "txt", "markdown": "md", "csv": "csv", "latex": "tex"}
_TITLES = {
    "sgs": "Systolic Genetic Search",
    "sns": "Systolic Neighborhood Search",
    "pugace": "PUGACE",
    "mls": "Multiobjective local search",
    "pgap": "PGAP",
}


def _names(context: click.Context, option: click.Parameter, value: str | None) -> list[str] | None:
    return None if value is None else [name.strip() for name in value.split(",") if name.strip()]


@click.command()
@click.argument("paper", type=click.Choice(["sgs", "sns", "pugace", "mls", "pgap"]))
@click.option("--table", type=int, help="Only this table of the paper; docs/reproducing.md lists all.")
@click.option("--figure", type=int, help="Only this figure of the paper.")
@click.option(
    "--part",
    type=click.Choice([part for parts in _PARTS.values() for part in parts]),
    help="Only this part of the experiments (pgap), or a study beside the tables (sgs, sns, pugace).",
)
@click.option("--sizes", callback=_names, metavar="NAMES", help="Only these instances, as the tables name them.")
@click.option("--algorithms", callback=_names, metavar="NAMES", help="Only these algorithms (sgs, sns).")
@click.option(
    "--instances", type=str, metavar="FOLDER", help="The paper's public instances (sns, pugace); others (mls, pgap)."
)
@click.option("--quick", is_flag=True, help="A look that takes a few minutes: smaller instances, fewer runs.")
@click.option("--full", is_flag=True, default=None, help="The paper's own budget (pgap).")
@click.option(
    "--runs",
    type=int,
    help="Runs of each algorithm on each instance. Default as in the papers: 50, 30, 10; mls: 3; pgap: 1.",
)
@click.option("--workers", type=int, help="Parallel processes (sgs, sns). Default: all cores.")
@click.option("--threads", type=int, help="Threads of a run (pugace, mls, pgap). Default: all cores.")
@click.option("--backend", type=click.Choice(["cpu", "cuda"]), help="Measure speed on a GPU, too (all but pgap).")
@click.option(
    "--seconds",
    type=float,
    help="Longest run of the recommended engine (pugace), default 10; length of a scaling run (pgap), default 5.",
)
@click.option("--store", type=str, help="Finished runs. Default results/PAPER.sqlite.")
@click.option("--figures", type=str, metavar="FOLDER", help="Save all pictures there.")
@click.option("--html", type=str, metavar="FILE", help="One page with everything. Default results/PAPER.html.")
@click.option("--markdown", type=str, metavar="FILE", help="The same as Markdown, pictures beside it.")
@click.option("--latex", type=str, metavar="FILE", help="The same as LaTeX, pictures beside it.")
@click.option("--format", "form", type=click.Choice(["text", "markdown", "csv", "latex"]), default="text")
@click.option("--output", type=str, help="Write each table to a file in this folder, too.")
@click.option("--json", "as_json", is_flag=True)
@click.option("--quiet", is_flag=True, help="No progress.")
def reproduce(paper: str, quick: bool, runs: int | None, **options: Any) -> None:
    """Repeat the experiments of PAPER, sgs, sns, pugace, mls or pgap, and show its tables and figures, ours beside the
    published.

    Finished runs are kept in the store: an interrupted reproduction goes on where it was.
    """
    from systola.lab.messages import find_message_costs
    from systola.lab.reproductions.effort import Effort
    from systola.lab.reproductions.products import in_order
    from systola.lab.store import Store

    _check_part(paper, options["part"])
    study = options["part"] is not None and paper != "pgap"
    for name in ("backend", "workers") if study else ():
        if options[name] is not None:
            raise InputError(f"--{name} is for tables and figures, but {options['part']} is a study; leave it out")
    experiment = importlib.import_module(f"systola.lab.reproductions.{paper}{'_studies' * study}")
    item = _item_of(paper, options)
    groups = experiment.choose_groups(item, quick, **_taken(paper, options, _CHOOSING))
    _refuse_jobs(options)
    means = _taken(paper, options, {name: _SOME[name] for name in ("workers", "threads", "backend")})
    extra = _taken(paper, options, {"seconds": ("pugace",)})
    if paper in _SOME["instances"]:
        experiment.check_files(options["instances"], groups)
        extra["folder"] = options["instances"]
    if options["part"] == "simulation":
        rank, extra["costs"] = find_message_costs()
        if rank > 0:
            return
    kept = Path(options["store"] or f"results/{paper}.sqlite")
    make_folder(kept.parent, "store")
    for folder, what in ((options["output"], "tables"), (options["figures"], "figures")):
        if folder:
            make_folder(Path(folder), what)
    effort = Effort(quick, runs, **means)
    warnings = effort.warnings(experiment.QUICK_RUNS, experiment.LEAST_RUNS, experiment.FULL_RUNS)
    for text in warnings:
        note(text)
    collected: Made = {}
    try:
        with Store(kept) as store:
            for group in groups:
                with Bar(group.problem, options["quiet"] or options["as_json"]) as bar:
                    told = replace(effort, on_done=lambda done, of, job: bar.update(done, of))
                    made = experiment.reproduce(group, store, told, **extra)
                wanted = {name: some for name, some in made.items() if item in (None, name)}
                collected |= wanted
                _show(paper, wanted, options)
    except KeyboardInterrupt:
        raise Incomplete(f"interrupted: finished runs are in {kept}, and the same command makes the others") from None
    finally:  # when interrupted, too
        collected = in_order(collected)
        if options["as_json"] and collected:
            tables = {str(name): [asdict(one) for one in _tables(some)] for name, some in collected.items()}
            show(json.dumps({name: some for name, some in tables.items() if some}))
    whole = item is None and options["part"] is None and not options["as_json"]
    _report(paper, collected, options, kept.parent / f"{paper}.html" if whole else None, warnings)


def _check_part(paper: str, part: str | None) -> None:
    if part is not None and part not in _PARTS.get(paper, (part,)):
        raise InputError(f"the parts of {paper} are {', '.join(_PARTS[paper])}, but got {part}")


def _item_of(paper: str, options: dict[str, Any]) -> Name | None:
    """What is wanted, if it is not everything."""
    for name, papers in _SOME.items():
        if options[name] is not None and paper not in papers:
            raise InputError(f"--{name} is for {' and '.join(papers)}, but the paper is {paper}; leave it out")
    if options["table"] is not None and options["figure"] is not None:
        raise InputError("--table and --figure are two choices, but got both; leave one of them out")
    if options["figure"] is not None:
        return f"figure-{options['figure']}"
    table: int | None = options["table"]
    return table


def _refuse_jobs(options: dict[str, Any]) -> None:
    from systola.islands.mpi import job_size

    if job_size() > 1 and options["part"] != "simulation":
        raise InputError(
            f"this job has {job_size()} processes, and each of them would make the same runs; start one, or add "
            "--part simulation to pgap, for which messages are measured between them"
        )


def _taken(paper: str, options: dict[str, Any], known: dict[str, tuple[str, ...]]) -> dict[str, Any]:
    """Those options that were given and that this paper has."""
    return {
        name: options[name]
        for name, papers in known.items()
        if options[name] is not None and paper in (papers or paper)
    }


def _tables(products: tuple[Any, ...]) -> list[Any]:
    from systola.lab.tables import Table

    return [one for one in products if isinstance(one, Table)]


def _show(paper: str, made: Made, options: dict[str, Any]) -> None:
    """Tables into their files and on the screen; pictures are told of, or saved."""
    from systola.lab.style import save
    from systola.lab.tables import Table, render

    form = options["form"]
    texts, writes = [], []
    for name, products in made.items():
        rendered = [render(one, form) for one in _tables(products)]
        sketches = [one for one in products if not isinstance(one, Table)]
        for one in products:
            if not isinstance(one, Table):
                told = one.caption
                if options["figures"]:
                    which = f"-{sketches.index(one) + 1}" if len(sketches) > 1 else ""
                    target = Path(options["figures"]) / f"{paper}-{_file_name(name)}{which}.png"
                    writes.append(partial(lambda sketch, path: save(sketch.draw(), path), one, target))
                    told = f"{told} ({target})"
                rendered += [f"{textwrap.fill(told, 120)}\n"] if form == "text" else []
        texts += ["\n".join(rendered)]
        if options["output"] and _tables(products):
            target = Path(options["output"]) / f"{paper}-{_file_name(name)}.{_SUFFIXES[form]}"
            writes.append(partial(write_file, target, texts[-1], "table"))
    deliver(None if options["as_json"] else "".join(f"{text}\n" for text in texts), *writes)


def _file_name(name: Name) -> str:
    if isinstance(name, int):
        return f"table-{name:02d}"
    return f"figure-{int(name[7:]):02d}" if name.startswith("figure-") else name


def _report(paper: str, made: Made, options: dict[str, Any], page: Path | None, warnings: tuple[str, ...]) -> None:
    """Write all that was made as one page, or as Markdown or LaTeX."""
    files = [Path(options[form]) for form in ("markdown", "latex", "html") if options[form]]
    if page and not options["html"]:
        files.append(page)
    if not files:
        return
    from systola.lab.report import Provenance, Report, Section
    from systola.lab.reproductions.products import Sketch, spell

    notes = [f"{text[0].upper()}{text[1:]}." for text in warnings]
    sections = []
    for name, products in made.items():
        blocks = tuple(_drawn(one, notes) if isinstance(one, Sketch) else one for one in products)
        sections.append(Section(spell(name), blocks))
    given = click.get_current_context().params
    said = {name: str(value) for name, value in given.items() if value not in (None, False) and name not in _FILES}
    report = Report(
        f"{_TITLES[paper]}: ours beside the published",
        tuple(sections),
        Provenance.here(said, "run k has seed k"),
        _command(given),
        tuple(dict.fromkeys(notes)),
    )
    for file in files:
        make_folder(file.parent, "report")
        report.save(file)
        note(f"all tables and figures are in {file}")


_FILES = ("html", "markdown", "latex", "output", "store", "figures", "quiet", "as_json", "form")


def _drawn(sketch: Sketch, notes: list[str]) -> Picture | str:
    """A picture, or its caption where pictures cannot be drawn."""
    from systola.lab.report import Picture

    try:
        return Picture(sketch.caption, sketch.draw())
    except MissingExtra as missing:
        notes.append(f"No pictures: {missing}.")
        return sketch.caption


def _command(given: dict[str, Any]) -> str:
    """What to type to make the same again."""
    words = ["systola", "reproduce", given["paper"]]
    for name, value in given.items():
        if name == "paper" or name in _FILES or value in (None, False):
            continue
        told = ",".join(value) if isinstance(value, list) else str(value)
        words += [f"--{name}"] if value is True else [f"--{name}", told]
    return " ".join(words)
