"""What engines do with operators of each kind; a record type of an engine stands for each choice of them."""

from __future__ import annotations

from typing import Any

from systola.jit.dispatch import dispatched, dispatched_call


@dispatched
def select(engine: Any, problem: Any, scores: Any, base: Any, places: Any, key: Any) -> Any:
    """The row of a parent; see `operators.selection`."""


@dispatched_call
def recombine(engine: Any, space: Any, one: Any, two: Any, child: Any, sibling: Any, work: Any, key: Any) -> Any:
    """Two children of two parents; see `operators.crossover`."""


@dispatched
def mutate(engine: Any, space: Any, x: Any, key: Any) -> Any:
    """A small change; see `operators.mutation`."""
