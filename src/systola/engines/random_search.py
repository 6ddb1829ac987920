"""Random search: the sanity check of Pedemonte, Luna, Alba 2014, section 4.2."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from systola.engines.engine import Design, check_number
from systola.engines.population import assess, note
from systola.kernel import inlined
from systola.problem import Problem, construct
from systola.verbs import give_body


class Sampler(NamedTuple):
    """Record of random search."""

    size: int


def _phase(self: Any, step: Any) -> Any:
    return 0, 0, 0


@inlined
def _do_cell(
    self: Any,
    space: Any,
    problem: Any,
    population: Any,
    lanes: Any,
    seed: Any,
    step: Any,
    shared: Any,
    cell: Any,
    lane: Any,
) -> None:
    construct(problem, space, lanes.child, lane, seed, step, cell)
    assess(space, problem, lanes.child, lane, lanes, lane, lanes.trial[lane])
    note(problem, lanes, lane, lanes.child, lane, lanes.trial[lane], step, cell)


def _advance(
    self: Any,
    space: Any,
    problem: Any,
    population: Any,
    lanes: Any,
    seed: Any,
    step: Any,
    shared: Any,
    first: Any,
    last: Any,
    lane: Any,
) -> None:
    for cell in range(first, last):
        _do_cell(self, space, problem, population, lanes, seed, step, shared, cell, lane)


give_body("phase", Sampler, _phase)
give_body("advance", Sampler, _advance)


@dataclass(frozen=True)
class RS:
    """Random search: independent random solutions, `size` of them a step (default 2 * l * ceil(lg l))."""

    size: int | None = None

    @property
    def name(self) -> str:
        return "rs"

    def prepare(self, problem: Problem) -> Design:
        n = problem.space.n
        tau = max(1, (n - 1).bit_length())
        size = 2 * n * tau if self.size is None else self.size
        check_number("size", size, 1, 10**9)
        size = int(size)
        return Design(
            record=Sampler(size),
            cells=size,
            rows=1,
            started=1,
            per_step=size,
            slots=np.zeros(1, np.int32),
            marked=False,
            steps=n * tau,
        )
