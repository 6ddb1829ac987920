"""The gain of every change of one decision, in a table that is brought up to date when one is made.

Bits: gains[i] is what the measure gains if decision i is flipped. Integers: gains[i * width + v - low[i]] is what it
gains if decision i becomes v, where `width`, the length of the table over the number of decisions, is how many values a
decision has at most. Of the decision that changes the caller takes care: it has the same gains as before, less that of
the change.
"""

from __future__ import annotations

from typing import Any

from systola.jit.dispatch import dispatched, dispatched_call, register
from systola.model.structure.part import Both


@dispatched_call
def add_gains(part: Any, problem: Any, space: Any, x: Any, kept: Any, gains: Any) -> Any:
    """Add the gains that a part has to say, from scratch; `kept` is up to date."""


@dispatched
def before_change(part: Any, problem: Any, space: Any, x: Any, i: Any, gains: Any) -> Any:
    """Decision i is about to change: take away what others will not gain any more."""


@dispatched
def after_change(part: Any, problem: Any, space: Any, x: Any, i: Any, gains: Any) -> Any:
    """Decision i has changed: add what others gain from now on."""


def _add_both(self: Any, problem: Any, space: Any, x: Any, kept: Any, gains: Any) -> None:
    add_gains(self.one, problem, space, x, kept, gains)
    add_gains(self.other, problem, space, x, kept, gains)


def _before_both(self: Any, problem: Any, space: Any, x: Any, i: Any, gains: Any) -> None:
    before_change(self.one, problem, space, x, i, gains)
    before_change(self.other, problem, space, x, i, gains)


def _after_both(self: Any, problem: Any, space: Any, x: Any, i: Any, gains: Any) -> None:
    after_change(self.one, problem, space, x, i, gains)
    after_change(self.other, problem, space, x, i, gains)


def nothing_changes(self: Any, problem: Any, space: Any, x: Any, i: Any, gains: Any) -> None:
    """The implementation of `before_change` and `after_change` where gains of others do not depend on a decision."""


register("add_gains", Both, _add_both)
register("before_change", Both, _before_both)
register("after_change", Both, _after_both)
