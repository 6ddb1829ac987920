"""Hill climbing over whole neighbourhoods, iterated by perturbation or restarts.

A step makes the best move that is an improvement, or the first one. Where there is none, the walk is in a local
optimum. Iterated local search goes back to the best one so far and makes a few random moves from there, a perturbation
(Lourenço, Martin, Stützle 2003); with restarts, it goes on from a random solution.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from systola.engines.engine import Design, check_number
from systola.engines.walk import (
    BEST,
    CURRENT,
    best_lane_of_all,
    best_trial_of,
    design_walk,
    implement_walk,
    init_walk,
    keep_best,
)
from systola.errors import InputError
from systola.jit.records import record_type
from systola.model.encodings import sample
from systola.model.population import NEVER, copy_row
from systola.model.problem import Problem
from systola.model.rng import START, STEP, draw
from systola.operators.neighbourhoods import FIELDS, plan_neighbourhood
from systola.operators.neighbours import accept_move, apply_move, evaluate_current, move_of

_STAY, _PERTURB, _RESTART = range(3)
_ON_LOCAL_OPTIMUM = {"stay": _STAY, "perturb": _PERTURB, "restart": _RESTART}


def _end_step(self: Any, s: Any) -> Any:
    space, population, lanes, seed, step = s.space, s.population, s.lanes, s.seed, s.step
    if step == 0:
        init_walk(self, s)
        return True
    lane = best_lane_of_all(self, s)
    if lanes.move[lane] != NEVER:
        i, j = move_of(self, lanes.move[lane])
        accept_move(self, s, i, j, best_trial_of(lanes, lane))
    elif self.on_local_optimum == _RESTART:
        sample(space, population.x, CURRENT, seed, START, step, 0)
        evaluate_current(self, s)
    elif self.on_local_optimum == _PERTURB:
        copy_row(population, BEST, CURRENT)
        for k in range(self.perturbation_strength):
            r0, r1, _, _ = draw(seed, STEP, step, 0, k)
            # Of 64 bits, as there may be more than 2^32 moves.
            number = np.int64((r0 << np.uint64(31) | r1 >> np.uint64(1)) % np.uint64(self.size))
            i, j = move_of(self, number)
            apply_move(self, space, population.x, CURRENT, i, j)
        evaluate_current(self, s)
    keep_best(s)
    return True


@dataclass(frozen=True)
class HillClimbing:
    """Hill climbing; by default iterated local search.

    Parameters
    ----------
    neighbourhood : str, optional
        "flip" or "flip-two" for bits, "reassign" for integers, "swap", "insertion" or "reversal" for permutations;
        by default the one that the problem can measure incrementally, else the first of these.
    improvement : {"best", "first"}
        Best improvement, over all neighbours, or first improvement, in the order of their numbers.
    on_local_optimum : {"perturb", "restart", "stay"}
        What is done where no neighbour is better: random moves from the best local optimum, a random solution, nothing.
    perturbation_strength : int
        How many random moves a perturbation has.
    """

    neighbourhood: str | None = None
    improvement: Literal["best", "first"] = "best"
    on_local_optimum: Literal["perturb", "restart", "stay"] = "perturb"
    perturbation_strength: int = 4
    name = "hill"

    def prepare(self, problem: Problem) -> Design:
        around = plan_neighbourhood(self.neighbourhood, problem)
        for name, known in (("improvement", ("best", "first")), ("on_local_optimum", tuple(_ON_LOCAL_OPTIMUM))):
            if getattr(self, name) not in known:
                raise InputError(f"`{name}` must be one of {', '.join(known)}, but got {getattr(self, name)!r}")
        check_number("perturbation_strength", self.perturbation_strength, 1, 10**6)
        fields = (*FIELDS, "size", "first", "random_ties", "climbing", "on_local_optimum", "perturbation_strength")
        record = record_type(f"HillClimbing_{around.label}", fields)
        implement_walk(record, around, _end_step)
        choice, strength = _ON_LOCAL_OPTIMUM[self.on_local_optimum], self.perturbation_strength
        values = (around.size, self.improvement == "first", False, True, choice, strength)
        return design_walk(problem, around, record(*around.values, *values), 10_000)
