"""Stores filled by hand, so that the outcomes in a table are known; and the texts of a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest

import systola as sy
from systola.lab.experiment import Job
from systola.lab.store import Store
from systola.lab.tables import Table


def refuse(*_: Any, **__: Any) -> None:
    """In place of what runs something."""
    raise AssertionError("a run was started")


def interrupt_second(monkeypatch: pytest.MonkeyPatch, module: ModuleType) -> list[dict[str, Any]]:
    """Let all runs of a module but its first end as if interrupted; the options of its calls of `solve`."""
    real, calls = module.solve, []

    def interrupted(*args: Any, **options: Any) -> sy.Result:
        calls.append(options)
        result: sy.Result = real(*args, **options)
        return result if len(calls) == 1 else replace(result, stop="interrupted")

    monkeypatch.setattr(module, "solve", interrupted)
    return calls


@contextmanager
def stores_of(experiment: str) -> Iterator[Callable[[Iterable[tuple[Job, dict[str, Any]]]], Store]]:
    """A function that makes stores in which each job has the facts that come with it; they are closed at the end."""
    with ExitStack() as stores:

        def make(outcomes: Iterable[tuple[Job, dict[str, Any]]]) -> Store:
            store = stores.enter_context(Store(":memory:"))
            for job, facts in outcomes:
                store.add(job.key(experiment), {"feasible": True, "evaluations": 1, "iterations": 1, **facts})
            return store

        yield make


def cells(table: Table) -> dict[str, dict[str, str]]:
    """Texts by row and column name."""
    return {row[0].text: dict(zip(table.header[1:], (c.text for c in row[1:]), strict=True)) for row in table.rows}
