"""The exact engine: proves its solution best, or says how far from it it may be. How it is run is in `systola.exact`.

Plain knapsacks and next release by dynamic programming on a core (Pisinger 1997; Martello, Pisinger, Toth 1999), other
linear problems by HiGHS (Huangfu, Hall 2018).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from systola.engines.engine import Design, check_number
from systola.errors import InputError
from systola.model.integer_program import is_linear
from systola.model.problem import Problem
from systola.problems.knapsack import Knapsack
from systola.problems.next_release import NextRelease

_MOST_MEGABYTES = 10**6
_MOST_STARTED = 2**20  # solutions to start from: the best one is used


class Plan(NamedTuple):
    """No kernels of cells are run."""

    memory: int


@dataclass(frozen=True)
class Exact:
    """An exact method for linear problems: the solution is proven best, or `result.gap` says how far off it may be.

    For the plain knapsack and for next release it is a dynamic program on a core. For the multidimensional knapsack,
    releases by customers, generalized assignment, and problems of your own declared by `Linear` parts it is HiGHS; with
    the extra "exact" that begins with the best solution known, and tells what it finds while it runs. It ends when it
    is done: by default there is no other limit.

    Parameters
    ----------
    memory : int
        Megabytes that the dynamic program may use for its states. If they are not enough it ends with a gap.
    """

    memory: int = 512
    name = "exact"

    def __post_init__(self) -> None:
        check_number("memory", self.memory, 1, _MOST_MEGABYTES)

    def prepare(self, problem: Problem) -> Design:
        """Of one solution; an InputError if the problem is not linear."""
        if not can_be_exact(problem):
            raise InputError(
                f"the exact method is for linear problems, such as knapsacks and generalized assignment, but "
                f"{type(problem).__name__} is none; choose auto, or declare it by Linear parts only"
            )
        return Design(Plan(self.memory), cells=1, rows=1, started=_MOST_STARTED, per_step=1, steps=2**62)


def can_be_exact(problem: Problem) -> bool:
    """Whether there is an exact method for a problem."""
    return isinstance(problem, (Knapsack, NextRelease)) or is_linear(problem)
