"""Tabu search over whole neighbourhoods: Glover 1989; over an aggregation of objectives as in Luong, Melab, Talbi 2011.

Each step makes the best move that is not tabu, even if it is no improvement. What it changed is tabu for a number of
steps, its tenure, unless the move gives the best solution so far (aspiration).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from systola.engines.engine import Design, check_number
from systola.engines.walk import (
    TABU_LIST,
    best_lane_of_all,
    best_trial_of,
    design_walk,
    implement_walk,
    init_walk,
    keep_best,
)
from systola.errors import InputError
from systola.jit.records import record_type
from systola.model.encodings import Order
from systola.model.population import NEVER
from systola.model.problem import Problem, space_of
from systola.model.rng import STEP, below, draw
from systola.operators.neighbourhoods import FIELDS, plan_neighbourhood
from systola.operators.neighbours import accept_move, move_of, set_tabu


def _end_step(self: Any, s: Any) -> Any:
    population, lanes, seed, step = s.population, s.lanes, s.seed, s.step
    if step == 0:
        init_walk(self, s)
        return True
    lane = best_lane_of_all(self, s)
    if lanes.move[lane] != NEVER:  # else all is forbidden; some will not be for long
        i, j = move_of(self, lanes.move[lane])
        r0, r1, _, _ = draw(seed, STEP, step, 0, 0)
        one = step + self.shortest + below(r0, self.choices)
        two = step + self.shortest + below(r1, self.choices)
        set_tabu(self, population.x, i, j, population.memory, TABU_LIST, one, two)
        accept_move(self, s, i, j, best_trial_of(lanes, lane))
    keep_best(s)
    return True


def _usual(problem: Problem, label: str) -> tuple[int, int]:
    """Tenure and its range where none are given."""
    n: int = space_of(problem).n
    if label.startswith("insertion"):
        return min(8, n), 4
    return (max(1, 9 * n // 10), n // 5) if isinstance(space_of(problem), Order) else (max(4, n // 10), 4)


@dataclass(frozen=True)
class Tabu:
    """Tabu search: the best neighbour that is allowed, step by step.

    Parameters
    ----------
    neighbourhood : str, optional
        "flip" or "flip-two" for bits, "reassign" for integers, "swap", "insertion" or "reversal" for permutations;
        by default the one that the problem can measure incrementally, else the first of these.
    tenure : int, optional
        For how many steps at least what was changed must not come back; by default 8 for insertions, as Nowicki,
        Smutnicki 1996, 0.9 times the number of decisions for other moves of a permutation, as Taillard 1991, and a
        tenth of it, at least 4, for others.
    tenure_range : int, optional
        Up to how many steps more, drawn at random; by default 0.2 times the number of decisions, or 4.
    ties : {"first", "random"}
        Which of several equally good moves is made: the first one by number, or one drawn at random.
    """

    neighbourhood: str | None = None
    tenure: int | None = None
    tenure_range: int | None = None
    ties: Literal["first", "random"] = "first"
    name = "tabu"

    def prepare(self, problem: Problem) -> Design:
        around = plan_neighbourhood(self.neighbourhood, problem)
        tenure, tenure_range = _usual(problem, around.label)
        tenure = tenure if self.tenure is None else self.tenure
        tenure_range = tenure_range if self.tenure_range is None else self.tenure_range
        if self.ties not in ("first", "random"):
            raise InputError(f"`ties` must be one of first, random, but got {self.ties!r}")
        check_number("tenure", tenure, 0, 10**9)
        check_number("tenure_range", tenure_range, 0, 10**9)
        fields = (*FIELDS, "first", "random_ties", "climbing", "shortest", "choices")
        record = record_type(f"Tabu_{around.label}", fields)
        implement_walk(record, around, _end_step)
        values = (False, self.ties == "random", False, tenure, tenure_range + 1)
        return design_walk(problem, around, record(*around.values, *values), 10_000)
