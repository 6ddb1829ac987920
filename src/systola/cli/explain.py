"""`systola explain`: what a problem can do, what its moves cost, and which engine `auto` takes."""

from __future__ import annotations

import click

from systola.cli.answer import show
from systola.cli.settings import read_fields, refuse_unused


@click.command()
@click.argument("spec", metavar="PROBLEM")
@click.option("--problem", help="Name the problem instead of recognising it.")
@click.option("--data", type=str, metavar="FILE", help="Data of a problem of your own: JSON, CSV or .npz.")
@click.option("--set", "pairs", multiple=True, metavar="KEY=VALUE", help="A value that the file leaves open.")
def explain(spec: str, problem: str | None, data: str | None, pairs: tuple[str, ...]) -> None:
    """Say how PROBLEM, an instance or a class of your own, is measured, what moves cost, and what would make it faster.

    Declared structure and capabilities are listed with what they give; `auto` is the engine that solve takes.
    """
    from systola.engines.presets import recommend
    from systola.formats.source import Source

    given = read_fields(pairs)
    found = Source(spec, problem, data, given, code=True).open()
    refuse_unused(given, [found])
    show(found.problem.summary())
    show(f"  auto         {recommend(found.problem)}")
