"""`systola warm`: compile kernels ahead, as for a container."""

from __future__ import annotations

import json
import time
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from systola.cli.answer import show

if TYPE_CHECKING:
    from systola.model.problem import Problem

# Small instances of all built-in problems: kernels do not depend on sizes.
_SPECS = (
    "knapsack:50-1000",
    "mkp:50x5",
    "mmdp:60",
    "nrp:20-10",
    "gap:c-5x20",
    "qap:uniform-10",
    "flowshop:10x5",
    "flowshop:10x5?objectives=makespan,tardiness",
)


@click.command()
@click.argument("problems", nargs=-1, metavar="[PROBLEM]...")
@click.option("--problem", help="Name the problem instead of recognising it from the file.")
@click.option("--data", type=str, metavar="FILE", help="Data of a problem of your own: JSON, CSV or .npz.")
@click.option("--set", "pairs", multiple=True, metavar="KEY=VALUE", help="A field that the file leaves open.")
@click.option("--algorithm", "algorithms", multiple=True, metavar="NAME", help="Default: auto, the recommended one.")
@click.option("--threads", type=int, metavar="N", help="Compile in so many processes. Default: all cores.")
@click.option("--json", "as_json", is_flag=True, help="Print what was done as JSON.")
@click.option("--quiet", is_flag=True, help="No progress.")
def warm(
    problems: tuple[str, ...],
    problem: str | None,
    data: str | None,
    pairs: tuple[str, ...],
    algorithms: tuple[str, ...],
    threads: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Compile the kernels for each PROBLEM, by default for all that come with systola and for problems of your own that
    have nothing but methods, so that later starts are quick.

    PROBLEM is an instance as for solve: a file, a generated one, or a class of your own (my.py:TSP). Only its types
    matter, not its size. What is in the cache already is not compiled again.
    """
    from systola.cli.settings import read_fields, refuse_unused
    from systola.formats.source import Source
    from systola.jit.cache import cache_folder
    from systola.lab.plain_problems import plain_problems
    from systola.lab.warming import warm as compile_ahead

    given = read_fields(pairs)
    sources = [Source(spec, problem, data, given, code=True) for spec in problems or _SPECS]
    opened = [source.open() for source in sources]
    refuse_unused(given, opened)
    cases: list[tuple[str, Problem]] = [(found.name, found.problem) for found in opened]
    if not problems:
        cases += [("customers' requests", _customers()), *plain_problems()]
    began, rows = time.perf_counter(), []
    with _Line(quiet or as_json) as line:
        for name, one in cases:
            for algorithm in algorithms or ("auto",):
                line.tell(name, "")
                done = compile_ahead(one, algorithm, threads=threads, tell=partial(line.tell, name))
                rows.append({"instance": name, **asdict(done)})
    total = {key: sum(row[key] for row in rows) for key in ("kernels", "size")}
    seconds, folder = time.perf_counter() - began, str(cache_folder())
    if as_json:
        show(json.dumps({"cache": folder, **total, "seconds": seconds, "problems": rows}))
        return
    for row in rows:
        show(f"{row['instance']:<44} {row['algorithm']:<12} {_told(row)}")
    show(f"{'in all':<57} {_told({**total, 'seconds': seconds})}, in {folder}")


def _told(row: dict[str, Any]) -> str:
    return f"{row['kernels']:>2} kernels, {row['seconds']:>5.1f} s, {row['size'] / 1e6:>5.2f} MB"


def _customers() -> Problem:
    """The one problem that has no generator."""
    from systola.problems import CustomerRelease

    return CustomerRelease.from_requests([3, 2, 4], [1, 2, 3], [[0], [1], [0, 2]], [(0, 1)], 4)


class _Line:
    """What is compiled, on a line of standard error that is overwritten."""

    def __init__(self, quiet: bool) -> None:
        from rich.console import Console

        self._console = Console(stderr=True)
        self._status = None if quiet or not self._console.is_terminal else self._console.status("")
        self._quiet = quiet

    def __enter__(self) -> _Line:
        if self._status:
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._status:
            self._status.stop()

    def tell(self, name: str, what: str) -> None:
        """Which kernel of which problem is next."""
        from rich.text import Text

        text = Text(f"{name}: compiling {what}" if what else f"{name}: looking at the cache")
        if self._status:
            self._status.update(text)
        elif what and not self._quiet:
            self._console.print(text)
