"""Which decision to change so that a constraint that is broken is broken less, drawn at random."""

from __future__ import annotations

from typing import Any

import numpy as np

from systola.jit.dispatch import dispatched, register
from systola.model.structure.part import Both

NONE = -1  # no decision


@dispatched
def draw_repair(part: Any, x: Any, kept: Any, r0: Any, r1: Any) -> Any:
    """Binary: a decision whose flip helps a broken constraint, by two random numbers of 32 bits; NONE if there is none
    or none was found quickly."""


def _from_both(self: Any, x: Any, kept: Any, r0: Any, r1: Any) -> Any:
    found = draw_repair(self.one, x, kept, r0, r1)
    return found if found != NONE else draw_repair(self.other, x, kept, r0, r1)


def no_repair(self: Any, x: Any, kept: Any, r0: Any, r1: Any) -> Any:
    """The implementation of `draw_repair` for parts that know of none."""
    return np.int64(NONE)


register("draw_repair", Both, _from_both)
