"""What a command has found: into files first, then on standard output, which is for nothing else."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from rich.table import Table
from rich.text import Text

from systola.cli.screen import show_number
from systola.errors import InputError, SystolaError
from systola.files import write_atomically
from systola.model.names import Labels
from systola.run.result import Result, platform_of


def deliver(answer: str | None, *writes: Callable[[], Any]) -> None:
    """Write files, then print the answer, if any. If one fails, the others are made, and then it is an error."""
    failed: list[SystolaError] = []
    acts = writes if answer is None else (*writes, lambda: show(answer))
    for act in acts:
        try:
            act()
        except SystolaError as error:
            failed.append(error)
    if len(failed) == 1:
        raise failed[0]
    if failed:
        raise SystolaError("; ".join(map(str, failed)))


def write_file(path: str | Path, content: str, what: str) -> None:
    """Write a text; an InputError says of what if that cannot be done."""
    try:
        write_atomically(Path(path), content.encode())
    except OSError as error:
        raise InputError(f"cannot write the {what} to {path}: {error.strerror}") from None


def show(text: str) -> None:
    """Print to standard output. It is no error if its reader has gone, but it is if it is closed or full."""
    if sys.stdout is None:
        raise SystolaError("the answer cannot be printed: standard output is closed")
    try:
        click.echo(text, nl=not text.endswith("\n"))
    except BrokenPipeError:
        _discard_the_rest()
    except OSError as error:
        _discard_the_rest()
        raise SystolaError(f"the answer cannot be printed: {error.strerror}") from None


def as_text(table: Table, markup: bool = True) -> str:
    """A table of Rich as it looks on standard output; with markup, styles in brackets are none of its words."""
    from rich.console import Console

    screen, text = Console(), io.StringIO()  # Rich writes to a full screen even while it captures
    Console(file=text, width=screen.width, force_terminal=screen.is_terminal, highlight=False, markup=markup).print(
        table
    )
    return text.getvalue()


def note(text: str) -> None:
    """Tell something that is not the answer: on standard error."""
    click.echo(f"systola: {text}", err=True)


def _discard_the_rest() -> None:
    """What could not be written is still in the buffer: let the interpreter flush it at its end into nothing."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, sys.stdout.fileno())
    os.close(nothing)


def describe(result: Result, best_known: float | None) -> str:
    """A result for people."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold")
    table.add_column()
    objective = show_number(result.objective)
    if not result.feasible:
        objective += f"  [red]infeasible by {show_number(result.violation)}[/red]"
    elif best_known is not None and not isinstance(result.objective, list):
        gap = abs(result.objective - best_known) / max(abs(best_known), 1e-12)
        objective += "  [green]the best known value[/green]" if gap == 0 else f"  {gap:.3%} from the best known"
    rate = result.evaluations / max(result.seconds, 1e-9)
    table.add_row("instance", Text(result.instance))  # brackets in a name are no markup
    table.add_row("algorithm", f"{result.algorithm}, seed {result.seed}")
    if result.proven:
        objective += "  [green]proven best[/green]"
    table.add_row("objective", objective)
    if result.bound is not None:
        distance = "" if result.gap is None else f"; the objective is {result.gap:.3%} from it"
        table.add_row("bound", f"{show_number(result.bound)}{distance}")
    if result.front is not None:
        table.add_row("front", f"{len(result.front):,} solutions, none dominated by another")
    table.add_row("found at", f"step {result.found_at:,} of {result.iterations:,} (stop: {result.stop})")
    table.add_row("speed", f"{result.evaluations:,} solutions in {result.seconds:.2f} s, {rate / 1e6:.3g} M/s")
    table.add_row("run on", platform_of(result))
    if result.race is not None:
        table.add_row("race", "; ".join(f"{row['algorithm']} {row['verdict']}" for row in result.race))
    if result.runs is not None:
        told = ", ".join(f"{run.seed}: {show_number(run.objective)}" for run in result.runs[:12])
        table.add_row("runs", f"{told}{', ...' if len(result.runs) > 12 else ''}")
    if result.pool is not None:
        table.add_row("pool", f"{len(result.pool):,} different solutions; --output or --json has them")
    if result.islands is not None:
        _add_islands(table, result.islands)
    chosen = [i + 1 for i in range(len(result.solution)) if result.solution[i]]
    if result.names and result.names.named:
        table.add_row(*map(Text, _by_name(result, result.names)))
    elif set(result.solution.tolist()) <= {0, 1}:
        shown = " ".join(map(str, chosen[:25])) + (f" ... ({len(chosen)} in all)" if len(chosen) > 25 else "")
        table.add_row("chosen", shown)
    else:
        table.add_row("solution", " ".join(map(str, result.solution[:40].tolist())))
    return as_text(table)


def _add_islands(table: Table, told: dict[str, Any]) -> None:
    """What demes did, in two lines."""
    from systola.islands.torus import connectivity

    where = f", on {told['ranks']} processes" if told["ranks"] > 1 else ""
    mode = "synchronous" if told["synchronous"] else "asynchronous"
    rate, share = told["iterations_per_second"], told["communication_share"]
    table.add_row("islands", f"{len(told['demes'])} demes, {mode}{where}; {rate:,.0f} iterations/s each")
    most, wanted = max(deme["iterations"] for deme in told["demes"]), told["export_every"]
    if most < wanted and len(told["demes"]) > 1:
        often = max(most // 4, connectivity(len(told["demes"])) * told["rate"])
        hint = f"; try --migration export_every={often} --migration import_every={often // 2}" if often <= most else ""
        table.add_row("migration", f"none: demes export every {wanted:,} iterations, but made {most:,} at most{hint}")
        return
    moved = f"{told['sent']:,} solutions sent, {told['received']:,} received, {told['overwritten']:,} overwritten"
    table.add_row("migration", f"{share:.1%} of the time; {moved}; {told['skipped']:,} exports without a free slot")


def _by_name(result: Result, names: Labels) -> tuple[str, str]:
    """The solution by names, as far as it fits on a few lines, and what it is called."""
    told = names.tell(result.solution)
    what = {"choice": names.value, "order": names.kind}.get(names.kind, f"{names.value}s")
    words = [f"{name}: {value}" for name, value in told.items()] if isinstance(told, dict) else list(map(str, told))
    more = f", ... ({len(words)} in all)" if len(words) > 25 else ""
    return what, ", ".join(words[:25]) + more
