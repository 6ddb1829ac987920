"""Work in a process of its own, so that a crash or a hang is something to report and not the end of a benchmark."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any


class Lost(Exception):
    """The sentence that says how a process ended."""


def rows_apart(make: Callable[..., Iterator[Any]], arguments: tuple[Any, ...], patience: float) -> Iterator[Any]:
    """What the iterator `make(*arguments)` gives in a new process; `Lost` if it crashes or is silent for too long."""
    context = get_context("spawn")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_send_all, args=(there, make, arguments))
    process.start()
    there.close()
    try:
        while True:
            if not here.poll(patience):
                raise Lost(f"no answer within {patience:.0f} s")
            try:
                kind, value = here.recv()
            except EOFError:
                process.join()
                raise Lost(f"the process ended with code {process.exitcode}") from None
            if kind == "end":
                return
            if kind == "error":
                raise Lost(value)
            yield value
    finally:
        process.kill()
        process.join()


def _send_all(pipe: Connection, make: Callable[..., Iterator[Any]], arguments: tuple[Any, ...]) -> None:
    try:
        for value in make(*arguments):
            pipe.send(("row", value))
        pipe.send(("end", None))
    except BaseException as error:
        pipe.send(("error", f"{type(error).__name__}: {error}"))
