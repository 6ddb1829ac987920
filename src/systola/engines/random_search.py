"""Random search: the sanity check of Pedemonte, Luna, Alba 2014, section 4.2."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from systola.engines.engine import Design, check_number, implement
from systola.errors import InputError
from systola.jit.dispatch import dispatched, register
from systola.model.capabilities import Construction, Flips, offers
from systola.model.encodings import sample
from systola.model.incremental import construct, measures_from_state
from systola.model.population import update_best
from systola.model.problem import Problem, record_type_of, space_of
from systola.model.rng import STEP
from systola.operators.evaluation import evaluate_full


class Sampler(NamedTuple):
    """Record of random search."""

    size: int


class UniformSampler(NamedTuple):
    """Record of a random search that draws all solutions alike, also where the problem can construct feasible ones."""

    size: int


@dispatched
def sample_and_evaluate(s: Any, lane: Any, cell: Any) -> Any:
    """Make a random solution in lanes.child[lane], its measures in lanes.trial[lane]."""


def _sample_by_state(s: Any, lane: Any, cell: Any) -> None:
    problem, space, lanes, seed, step = s.problem, s.space, s.lanes, s.seed, s.step
    construct(problem, space, lanes.child, lane, lanes.state[lane], seed, step, cell)
    measures_from_state(problem, lanes.state[lane], lanes.trial[lane])


def _sample_plainly(s: Any, lane: Any, cell: Any) -> None:
    lanes = s.lanes
    construct(s.problem, s.space, lanes.child, lane, lanes.state[lane], s.seed, s.step, cell)
    evaluate_full(s, lanes.child, lane, lane, lanes.state[lane], lanes.trial[lane])


def _do_cell(self: Any, s: Any, cell: Any, lane: Any) -> None:
    lanes, step = s.lanes, s.step
    sample_and_evaluate(s, lane, cell)
    update_best(s, lane, lanes.child, lane, lanes.trial[lane], step, cell)


def _do_cell_uniformly(self: Any, s: Any, cell: Any, lane: Any) -> None:
    lanes, step = s.lanes, s.step
    sample(s.space, lanes.child, lane, s.seed, STEP, step, cell)
    evaluate_full(s, lanes.child, lane, lane, lanes.state[lane], lanes.trial[lane])
    update_best(s, lane, lanes.child, lane, lanes.trial[lane], step, cell)


implement(Sampler, do_cell=_do_cell)
implement(UniformSampler, do_cell=_do_cell_uniformly)


@dataclass(frozen=True)
class RS:
    """Random search: independent random solutions.

    Parameters
    ----------
    size : int, optional
        How many a step; default 2 * l * ceil(lg l).
    sampling : {"constructed", "uniform"}
        Whether they come from the problem's `construct`, if it has one, as in Pedemonte, Luna, Alba 2014; or whether
        all solutions are alike, infeasible ones, too, as in Vidal, Luna, Alba 2013.
    """

    size: int | None = None
    sampling: Literal["constructed", "uniform"] = "constructed"

    @property
    def name(self) -> str:
        return "rs"

    def prepare(self, problem: Problem) -> Design:
        n = space_of(problem).n
        tau = max(1, (n - 1).bit_length())
        size = 2 * n * tau if self.size is None else self.size
        check_number("size", size, 1, 10**9)
        size = int(size)
        if self.sampling not in ("constructed", "uniform"):
            raise InputError(f"the sampling must be constructed or uniform, but got {self.sampling!r}")
        keeps_state = offers(problem, Flips) and offers(problem, Construction)
        register("sample_and_evaluate", record_type_of(problem), _sample_by_state if keeps_state else _sample_plainly)
        return Design(
            record=Sampler(size) if self.sampling == "constructed" else UniformSampler(size),
            cells=size,
            rows=1,
            started=1,
            per_step=size,
            steps=n * tau,
        )
