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

from systola.errors import InputError, SystolaError
from systola.files import write_atomically


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
