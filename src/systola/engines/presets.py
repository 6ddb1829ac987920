"""The recommended engine for a problem: what `auto` means."""

from __future__ import annotations

from systola.encodings import Bits
from systola.engines.engine import Engine
from systola.engines.neighbourhood import SNS
from systola.engines.systolic import SGS
from systola.errors import InputError
from systola.problem import Problem


def recommend(problem: Problem) -> Engine:
    """An engine that is a good first choice."""
    if problem.offers("repair"):
        return SNS(exponential=True, random=True, moving=True, repair=True, seeded=True)
    if isinstance(problem.space, Bits):
        return SGS("B")
    raise InputError(
        f"no engine for {type(problem.space).__name__} solutions comes with this version; give one to solve()"
    )
