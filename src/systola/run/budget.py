"""Budgets: when a run ends. Any of them can be combined with `|`; the first that is met stops the run."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from systola.errors import InputError

FOREVER = 2**62  # steps that no run makes


@dataclass(frozen=True)
class Stop:
    """When to stop; None means no limit. Build it with the functions below, combine with ``|``."""

    iterations: int | None = None
    evaluations: int | None = None
    seconds: float | None = None
    target: float | None = None
    stall: int | None = None
    cap: float | None = None  # seconds that guard a budget of work: none is expected to need them

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            if value is None:
                continue
            if isinstance(value, np.generic):
                value = value.item()
            if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value:
                rule = "the target must be a number" if name == "target" else f"`{name} >= 0` must hold"
                raise InputError(f"{rule}, but got {value!r}")
            if name != "target" and value < 0:
                raise InputError(f"`{name} >= 0` must hold, but got {value!r}")
            if name in ("iterations", "evaluations", "stall"):
                if value in (float("inf"),) or value != int(value):
                    raise InputError(f"`{name}` must be a whole number, but got {value!r}")
                value = int(value)
            object.__setattr__(self, name, value)

    def __or__(self, other: Stop) -> Stop:
        """Both limits; of two of the same kind the smaller (for targets: the later one given)."""
        merged: dict[str, Any] = {}
        for name in self.__dataclass_fields__:
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine is None or theirs is None:
                merged[name] = theirs if mine is None else mine
            else:
                merged[name] = theirs if name == "target" else min(mine, theirs)
        return Stop(**merged)

    @property
    def limited(self) -> bool:
        """Whether the run would end by itself without a target being met."""
        return any(v is not None for v in (self.iterations, self.evaluations, self.seconds, self.stall))

    @property
    def repeatable(self) -> bool:
        """Whether the same seed always gives the same run: only a budget in seconds does not."""
        return self.seconds is None


def Iterations(n: int) -> Stop:
    """Stop after n steps."""
    return Stop(iterations=n)


def Evaluations(n: int) -> Stop:
    """Stop before more than n solutions are made."""
    return Stop(evaluations=n)


def Seconds(s: float) -> Stop:
    """Stop after s seconds."""
    return Stop(seconds=s)


def Target(value: float) -> Stop:
    """Stop once a feasible solution with this objective, or a better one, is found."""
    return Stop(target=value)


def Stall(n: int) -> Stop:
    """Stop after n steps without improvement of the best solution."""
    return Stop(stall=n)


_CAP_SECONDS = 60.0


def guard(stop: Stop) -> Stop:
    """The same budget, with a cap if nobody has set a limit: work that suits most problems takes too long for some."""
    return stop if stop.limited else stop | Stop(cap=_CAP_SECONDS)


def explain_cap(stop: Stop) -> str:
    """What is to be told if the cap was met."""
    counted = {"iterations": stop.iterations, "evaluations": stop.evaluations}
    work = " and ".join(f"{limit:,} {name}" for name, limit in counted.items() if limit is not None) or "work"
    return (
        f"the run met its cap of {stop.cap:g} s before its budget of {work} was used up, so that it cannot be "
        "repeated; give `stop` to choose another budget"
    )


class Spent(NamedTuple):
    """How far a search has come. What no limit of its budget asks for may be left out."""

    step: int = 0
    evaluations: int = 0
    seconds: float = 0.0
    found: int = 0  # the step that brought the best solution
    reached: bool = False  # whether the best solution is as good as the target


@dataclass(frozen=True)
class Budget:
    """What a search may spend, in steps that make at most so many solutions each."""

    stop: Stop
    per_step: int = 1

    def last_step(self, started: int = 0) -> int:
        """The last step that iterations and evaluations allow, after a first population of so many solutions."""
        last = FOREVER if self.stop.iterations is None else self.stop.iterations
        if self.stop.evaluations is not None:
            last = min(last, (self.stop.evaluations - started) // self.per_step)
        return last

    def in_steps(self, started: int) -> Budget:
        """The same budget with evaluations counted in steps: for one of several searches that share them."""
        last = self.last_step(started)
        return Budget(replace(self.stop, iterations=None if last == FOREVER else max(0, last), evaluations=None))

    def steps_left(self, spent: Spent) -> int:
        """How many more steps may be made before the budget is to be looked at again; its seconds not counted."""
        stop, left = self.stop, FOREVER
        if stop.iterations is not None:
            left = stop.iterations - spent.step
        if stop.evaluations is not None:
            left = min(left, (stop.evaluations - spent.evaluations) // self.per_step)
        if stop.stall is not None:
            left = min(left, spent.found + stop.stall - spent.step)
        return max(0, left)

    def seconds_left(self, seconds: float) -> float:
        """What is left after so many seconds; endless if they are not limited."""
        stop = self.stop
        limit = math.inf if stop.seconds is None else stop.seconds
        if stop.cap is not None and stop.cap < limit:
            limit = stop.cap
        return max(0.0, limit - seconds)

    def met(self, spent: Spent) -> str:
        """The name of a limit that is met, empty if none is: the first one in this order."""
        stop = self.stop
        if stop.target is not None and spent.reached:
            return "target"
        if stop.iterations is not None and spent.step >= stop.iterations:
            return "iterations"
        if stop.evaluations is not None and spent.evaluations + self.per_step > stop.evaluations:
            return "evaluations"
        if stop.stall is not None and spent.step - spent.found >= stop.stall:
            return "stall"
        return "seconds" if self.seconds_left(spent.seconds) <= 0 else ""

    def steps_until(self, fraction: float, spent: Spent) -> int:
        """How many more steps may be made until this fraction of iterations or evaluations is spent, the last of them
        included; its seconds not counted."""
        stop, left = self.stop, FOREVER
        if stop.iterations is not None:
            left = math.ceil(fraction * stop.iterations) - spent.step
        if stop.evaluations is not None:
            missing = math.ceil(fraction * stop.evaluations) - spent.evaluations
            left = min(left, -(-missing // self.per_step))
        return max(0, left)

    def fraction(self, spent: Spent) -> float | None:
        """How much of the budget is spent, 0 to 1; None if nobody can say."""
        stop = self.stop
        pairs = (
            (spent.step, stop.iterations),
            (spent.evaluations, stop.evaluations),
            (spent.seconds, stop.seconds),
            (spent.seconds, stop.cap),
        )
        parts = [have / limit for have, limit in pairs if limit]
        return min(1.0, max(parts)) if parts else None
