"""`systola instances`: look at instances, make them, convert them."""

from __future__ import annotations

import json
from typing import Any

import click

from systola.cli.answer import as_text, note
from systola.cli.answer import show as show_text
from systola.cli.settings import read_fields, refuse_unused
from systola.errors import InputError
from systola.reading import Json

_SHOWN = 10  # entries of a list for people


@click.group()
def instances() -> None:
    """Show, generate and convert instances."""


@instances.command()
@click.argument("specs", nargs=-1, required=True, metavar="INSTANCE...")
@click.option("--problem", help="Name the problem instead of recognising it.")
@click.option("--data", type=str, metavar="FILE", help="Data of a problem of your own: JSON, CSV or .npz.")
@click.option("--set", "pairs", multiple=True, metavar="KEY=VALUE", help="A value that the file leaves open.")
@click.option("--json", "as_json", is_flag=True)
def show(specs: tuple[str, ...], problem: str | None, data: str | None, pairs: tuple[str, ...], as_json: bool) -> None:
    """Say what INSTANCE is: problem, size, data, best known value; or list the problems of a file with several."""
    from systola.formats.catalog import describe
    from systola.formats.source import Source
    from systola.model.source import is_code

    given = read_fields(pairs)
    own = [spec for spec in specs if is_code(spec)] or specs  # whose data they are
    found = [Source(spec, problem, data if spec in own else None, given, code=True).look_up() for spec in specs]
    refuse_unused(given, found)
    described = [describe(one) for one in found]
    if as_json:
        show_text(json.dumps(described))
        return
    for facts in described:
        if "problems" in facts:
            _list(facts)
            continue
        for key, value in {**{k: v for k, v in facts.items() if k != "names"}, **facts.get("names", {})}.items():
            show_text(f"{key:<14} {_show(value)}")
        show_text("")


@instances.command()
@click.argument("spec", metavar="INSTANCE")
@click.argument("path", metavar="FILE")
@click.option("--problem", help="Name the problem instead of recognising it.")
@click.option("--data", type=str, metavar="FILE", help="Data of a problem of your own: JSON, CSV or .npz.")
@click.option("--set", "pairs", multiple=True, metavar="KEY=VALUE", help="A value that the file leaves open.")
def convert(spec: str, path: str, problem: str | None, data: str | None, pairs: tuple[str, ...]) -> None:
    """Write INSTANCE, a file or a generated one, to FILE.

    FILE.json is an object with the fields of the problem, whichever it is. By any other name, knapsacks are written as
    knapPI, quadratic assignments as QAPLIB, generalized assignments as files of a single problem, flowshops as
    Taillard, or with due dates as Liefooghe et al.
    """
    from systola.formats import flowshop, generalized_assignment, json_form, knapsack, quadratic_assignment
    from systola.formats.source import Source
    from systola.problems import Flowshop, GeneralizedAssignment, Knapsack, QuadraticAssignment

    given = read_fields(pairs)
    found = Source(spec, problem, data, given, code=True).open()
    refuse_unused(given, [found])
    if path.lower().endswith(".json"):
        json_form.write(found.problem, found.kind, path)
    elif isinstance(found.problem, Knapsack):
        knapsack.write(found.problem, path, found.solution)
    elif isinstance(found.problem, QuadraticAssignment):
        quadratic_assignment.write(found.problem, path, found.best_known, found.solution)
    elif isinstance(found.problem, GeneralizedAssignment):
        generalized_assignment.write(found.problem, path, found.solution)
    elif isinstance(found.problem, Flowshop):
        flowshop.write(found.problem, path)
    else:
        kind = type(found.problem).__name__
        raise InputError(
            f"knapsacks, assignments and flowshops have other formats than JSON, but {spec} is a {kind}; write it to a "
            "file called .json"
        )
    note(f"wrote {found.problem!s} to {path}")


@instances.command()
@click.option("--json", "as_json", is_flag=True)
def generate(as_json: bool) -> None:
    """List what can be generated; the names are given to solve, compare, show and convert."""
    from systola.formats.known import list_generators

    known = list_generators()
    if as_json:
        show_text(json.dumps([{"usage": g.usage, "source": g.source} for g in known]))
        return
    width = max(len(generator.usage) for generator in known)
    for generator in known:
        show_text(f"{generator.usage:<{width}}  {generator.source}")


@instances.command()
@click.argument("problem", required=False)
@click.option("--json", "as_json", is_flag=True)
def formats(problem: str | None, as_json: bool) -> None:
    """List the formats of files that can be read, of all problems or of PROBLEM."""
    from systola.formats.known import list_formats, one_of

    known = list_formats()
    if problem is not None:
        one_of(problem, dict.fromkeys(form.problem for form in known), "problem")
    rows = [
        {"problem": form.problem, "format": form.name, "layout": form.layout, "options": list(form.options)}
        for form in known
        if problem in (None, form.problem)
    ]
    if as_json:
        show_text(json.dumps(rows))
        return
    width = max(len(str(row["format"])) for row in rows)
    for row in rows:
        options = "".join(f" ?{name}=" for name in row["options"])
        show_text(f"{row['problem']:<8}  {row['format']:<{width}}  {row['layout']}{options}")


def _list(library: dict[str, Any]) -> None:
    """The problems of a file as a table, and how to name one."""
    from rich.table import Table

    from systola.cli.screen import show_number

    rows = library["problems"]
    named = [row["instance"] for row in rows if row["name"]]
    columns = [key for key in rows[0] if key != "instance" and (key != "name" or named)]
    table = Table(box=None, padding=(0, 1), pad_edge=False, header_style="bold")
    for key in columns:
        table.add_column(key.replace("_", " "), justify="left" if key == "name" else "right", no_wrap=True)
    for row in rows:
        table.add_row(*(row[key] if key == "name" else show_number(row[key]) for key in columns))
    show_text(f"{library['source']}: {len(rows)} problems of the kind {library['problem']}")
    show_text("")
    show_text(as_text(table, markup=False))
    show_text("")
    first = rows[0]["instance"].rpartition("#")[0] + "#1"
    show_text(
        f"A problem is named by # and its number{' or name' if named else ''}: "
        f"systola solve {' or '.join([first, *named[:1]])}"
    )
    show_text("")


def _show(value: Json) -> str:
    if not isinstance(value, (list, tuple)):
        return str(value)
    more = f", ... ({len(value)} in all)" if len(value) > _SHOWN else ""
    return ", ".join(map(str, value[:_SHOWN])) + more
