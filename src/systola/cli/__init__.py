"""The command line. Commands are imported when called, so that `systola --help` is quick."""

from __future__ import annotations

import importlib
import os
import sys
import threading
from contextlib import suppress
from typing import Any

import click

from systola.run.signals import BEHIND
from systola.version import __version__

_COMMANDS = {
    "solve": "Search for the best solution of an instance.",
    "compare": "Run several algorithms many times and test the differences.",
    "watch": "Watch runs in the browser, live or afterwards.",
    "draw": "Draw saved results: fronts, attainment, Gantt charts, convergence.",
    "reproduce": "Set our results beside the published ones.",
    "simulate": "Simulate migration among thousands of demes.",
    "explain": "Say what a problem can do, and what its moves cost.",
    "warm": "Compile kernels ahead, so that later starts are quick.",
    "instances": "Show, generate and convert instances.",
    "devices": "Show what this machine can run on.",
    "bench": "Measure the speed of this machine.",
}


class _Lazy(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in _COMMANDS:
            return None
        command: click.Command = getattr(importlib.import_module(f"systola.cli.{name}"), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="systola")
def cli() -> None:
    """Parallel metaheuristics for selection, assignment and scheduling problems.

    Try:  systola solve knapsack:1000-1000
    """


def main(args: list[str] | None = None) -> Any:
    """Entry point: errors become a sentence and an exit code."""
    if args is not None:
        return _run(args)
    try:
        code = _run(args)
    except SystemExit as done:
        code = done.code
    if any(thread.name == BEHIND for thread in threading.enumerate()):
        # All is written; what a race still compiles is not worth waiting for, but Python would.
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(code if isinstance(code, int) else 0)
    sys.exit(code)


def _run(args: list[str] | None) -> Any:
    from systola.errors import SystolaError
    from systola.islands import mpi
    from systola.jit.environment import check_environment
    from systola.run.signals import INTERRUPTED, ended_by_signals

    try:
        mpi.find_world()  # first of all, so that a process that fails can tell the others of its job
        check_environment()
        with ended_by_signals(for_good=args is None):
            typed = sys.argv[1:] if args is None else args
            return cli.main(args=args, prog_name="systola", standalone_mode=False, obj=typed) or 0
    except (click.exceptions.Abort, KeyboardInterrupt):
        mpi.fail(lambda: click.echo("systola: interrupted", err=True), INTERRUPTED)
        sys.exit(INTERRUPTED)
    except click.ClickException as error:
        mpi.fail(error.show, 2)
        sys.exit(2)
    except click.exceptions.Exit as done:
        sys.exit(done.exit_code)
    except SystolaError as error:
        sentence = f"systola: {error}"
        mpi.fail(lambda: click.echo(sentence, err=True), error.exit_code)
        sys.exit(error.exit_code)
    except MemoryError:
        click.echo("systola: this needs more memory than the machine gives; choose something smaller", err=True)
        sys.exit(2)
    except BrokenPipeError:
        sys.exit(0)
