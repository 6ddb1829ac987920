"""Genetic algorithms on one mixed population: SGA and EGA of Pedemonte, Luna, Alba 2014, section 4.2, and the GA of
Vidal, Luna, Alba 2013, section 5.2, which makes one child of two parents.

Binary tournament, two-point crossover with probability 0.9, each bit flipped with probability 1/l. A cell makes two
children from two parents. In the elitist version a child replaces the individual in whose place it comes only if it
is better; the paper's "its parent" is read so because this, and not the selected parent, gives its Table 3.
Two generations lie in memory, the old one read, the new one written.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from systola.engines.engine import Design, check_number, implement
from systola.engines.migration import enable_migration
from systola.engines.picture import Grid, alternating
from systola.errors import InputError
from systola.jit.compile import inlined
from systola.model.encodings import Array, Bits
from systola.model.objective import better
from systola.model.population import update_best
from systola.model.problem import Problem, space_of
from systola.model.rng import STEP, below, draw
from systola.operators.evaluation import choose_delta_evaluation, evaluate_delta
from systola.simd.bits import bit, segment_mask, toggle

_PARENTS, _POINTS, _COUNTS, _PLACES = range(4)  # what the calls of `draw` in a cell are for; places come last


class Panmictic(NamedTuple):
    """Record of a generational GA."""

    size: int
    elitist: bool
    single: bool  # one child of two parents, with more of the better one
    own: bool  # one parent is the individual in whose place the child comes
    crossover_threshold: int  # a number below it means crossover; the probability in units of 2**-32
    flips: Array  # [k] uint64: a number below flips[k] means at most k flipped bits, in units of 2**-32


@inlined
def _mutate(self: Any, s: Any, child: Any, parent: Any, other: Any, segment: Any, number: Any, key: Any) -> None:
    """Flip each bit with the same probability: first how many, then which, a bit already flipped being drawn again."""
    x, flips, n = s.population.x, self.flips, s.space.n
    a, b = segment
    cell, side = key
    wanted = np.int64(0)
    while wanted < flips.shape[0] and number >= flips[wanted]:
        wanted += 1
    k = np.int64(0)
    while wanted > 0:
        r0, r1, r2, r3 = draw(s.seed, STEP, s.step, cell, _PLACES + 2 * k + side)
        k += 1
        for place in (r0, r1, r2, r3):
            i = below(place, n)
            inherited = bit(x, other, i) if a <= i < b else bit(x, parent, i)
            if wanted > 0 and bit(x, child, i) == inherited:
                toggle(x, child, i)
                wanted -= 1


def _step_constants(self: Any, step: Any) -> Any:
    return ((step - 1) & 1) * self.size, (step & 1) * self.size, 0


def _migration_slot(self: Any, number: Any, step: Any) -> Any:
    return ((step - 1) & 1) * self.size + below(number, self.size)


def _do_cell(self: Any, s: Any, cell: Any, lane: Any) -> None:
    problem, space, population, seed, step, shared = s.problem, s.space, s.population, s.seed, s.step, s.shared
    old, new, _ = shared
    x = population.x
    scores = population.scores
    r0, r1, r2, r3 = draw(seed, STEP, step, cell, _PARENTS)
    one = old + below(r0, self.size)
    rival = old + below(r1, self.size)
    if better(problem, scores[rival], scores[one]):
        one = rival
    if self.own:
        one = old + cell
    two = old + below(r2, self.size)
    rival = old + below(r3, self.size)
    if better(problem, scores[rival], scores[two]):
        two = rival

    r0, r1, r2, r3 = draw(seed, STEP, step, cell, _POINTS)
    a = below(r1, space.n + 1)
    b = below(r2, space.n)
    b += 1 if b >= a else 0
    if a > b:
        a, b = b, a
    if r0 >= np.uint64(self.crossover_threshold):
        b = a
    near = one  # the parent that most of a child is from
    if self.single:
        if better(problem, scores[two], scores[one]):
            one, two = two, one
        near = one
        if 2 * (b - a) > space.n:
            one, two = two, one
    c0, c1, _, _ = draw(seed, STEP, step, cell, _COUNTS)
    children = 1 if self.single else 2
    for side in range(children):
        parent = one if side == 0 else two
        other = two if side == 0 else one
        place = children * cell + side
        child = new + place
        if place >= self.size:
            continue
        for w in range(x.shape[1]):
            mask = segment_mask(w, a, b)
            x[child, w] = (x[parent, w] & ~mask) | (x[other, w] & mask)
        number = c0 if side == 0 else c1
        _mutate(self, s, child, parent, other, (a, b), number, (cell, np.int64(side)))
        known = near if self.single else parent
        evaluate_delta(
            s,
            known,
            x,
            child,
            lane,
            population.state[child],
            scores[child],
        )
        update_best(s, lane, x, child, scores[child], step, place)
        incumbent = old + place
        if self.elitist and not better(problem, scores[child], scores[incumbent]):
            for w in range(x.shape[1]):
                x[child, w] = x[incumbent, w]
            for k in range(scores.shape[1]):
                scores[child, k] = scores[incumbent, k]
            for k in range(population.state.shape[1]):
                population.state[child, k] = population.state[incumbent, k]


implement(Panmictic, do_cell=_do_cell, step_constants=_step_constants)
enable_migration(Panmictic, migration_slot=_migration_slot)


def flip_thresholds(n: int, probability: float) -> Array:
    """Distribution function of the number of flipped bits of n, in units of 2**-32."""
    from scipy.stats import binom

    cumulative: Array = np.round(binom.cdf(np.arange(n + 1), n, probability) * 2.0**32).astype(np.uint64)
    return cumulative[: int(np.argmax(cumulative >= 2**32)) + 1]


@dataclass(frozen=True)
class SGA:
    """Simple genetic algorithm, generational.

    Parameters
    ----------
    size : int, optional
        Population; default 2 * l * ceil(lg l), as SGS has.
    crossover_probability : float
        Of two-point crossover.
    mutation_probability : float, optional
        Of flipping a bit; default 1/l.
    """

    size: int | None = None
    crossover_probability: float = 0.9
    mutation_probability: float | None = None
    elitist = False
    single = False
    own = False

    @property
    def name(self) -> str:
        return type(self).__name__.lower()

    def prepare(self, problem: Problem) -> Design:
        space = space_of(problem)
        if not isinstance(space, Bits):
            raise InputError(
                f"{self.name.upper()} works on binary problems, but {type(problem).__name__} is encoded as "
                f"{type(space).__name__}"
            )
        l = space.n  # noqa: E741
        tau = max(1, (l - 1).bit_length())
        size = 2 * l * tau if self.size is None else self.size
        mutation = 1 / l if self.mutation_probability is None else self.mutation_probability
        check_number("size", size, 2, 10**7)
        size = int(size)
        check_number("crossover_probability", self.crossover_probability, 0, 1, whole=False)
        check_number("mutation_probability", mutation, 0, 1, whole=False)
        threshold = round(self.crossover_probability * 2**32)
        keeps_state = choose_delta_evaluation(problem)
        return Design(
            record=Panmictic(size, self.elitist, self.single, self.own, threshold, flip_thresholds(l, mutation)),
            cells=size if self.single else (size + 1) // 2,
            rows=2 * size,
            started=size,
            per_step=size,
            keeps_state=keeps_state,
            steps=l * tau,
            shape=(1, size),
            layout=Grid(alternating),
        )


@dataclass(frozen=True)
class EGA(SGA):
    """Elitist version of SGA: a child replaces the individual in its place only if it is better."""

    elitist = True


@dataclass(frozen=True)
class GA(SGA):
    """The genetic algorithm that SNS was compared with: one child of two parents, with the larger part of the better.

    Parameters
    ----------
    size, crossover_probability, mutation_probability :
        As of SGA, with the values of the paper's Table 1.
    replacement : {"generation", "better"}
        Whether a child always replaces the individual in its place (section 5.2), or only if better (Table 1).
    first_parent : {"tournament", "own"}
        Whether both parents are chosen by tournament (section 5.2), or one is the individual in whose place the child
        comes (Algorithm 5).
    """

    size: int | None = 100
    crossover_probability: float = 1.0
    mutation_probability: float | None = 0.01
    replacement: Literal["generation", "better"] = "generation"
    first_parent: Literal["tournament", "own"] = "tournament"
    single = True

    @property
    def elitist(self) -> bool:  # type: ignore[override]
        return self.replacement == "better"

    @property
    def own(self) -> bool:  # type: ignore[override]
        return self.first_parent == "own"

    def prepare(self, problem: Problem) -> Design:
        if self.replacement not in ("generation", "better"):
            raise InputError(f"the replacement must be generation or better, but got {self.replacement!r}")
        if self.first_parent not in ("tournament", "own"):
            raise InputError(f"the first_parent must be tournament or own, but got {self.first_parent!r}")
        return super().prepare(problem)
