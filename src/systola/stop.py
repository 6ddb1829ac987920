"""Budgets: when a run ends. Any of them can be combined with `|`; the first that is met stops the run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from systola.errors import InputError


@dataclass(frozen=True)
class Stop:
    """When to stop; None means no limit. Build it with the functions below, combine with ``|``."""

    iterations: int | None = None
    evaluations: int | None = None
    seconds: float | None = None
    target: float | None = None
    stall: int | None = None

    def __post_init__(self) -> None:
        for name in ("iterations", "evaluations", "seconds", "target", "stall"):
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
