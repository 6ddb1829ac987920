"""How a solution that comes from elsewhere joins the population of an engine, before a step.

Engines say by `berth` whose place it may take, and mostly it does if it is the better answer; those that do something
else with it have a body of `admit`. What they send elsewhere comes from a berth, too. Engines without cannot be demes.
"""

from __future__ import annotations

from typing import Any

from systola.increments import mark
from systola.kernel import called
from systola.operators.appraisal import gauge
from systola.population import note, ranks_above
from systola.rng import MIGRATE, draw
from systola.verbs import Body, body_of, give_body, has_body, large_verb, verb


@verb
def berth(engine: Any, number: Any, step: Any) -> Any:
    """A row of the population that is read in this step, by a random number of 32 bits."""
    return body_of("berth", engine)(engine, number, step)


@large_verb
def admit(
    engine: Any,
    space: Any,
    problem: Any,
    population: Any,
    lanes: Any,
    guests: Any,
    which: Any,
    elite: Any,
    seed: Any,
    step: Any,
) -> Any:
    """Let guests[which] in before this step; `elite` says that it was the best of all where it comes from."""
    return body_of("admit", engine)(engine, space, problem, population, lanes, guests, which, elite, seed, step)


@called
def settle(space: Any, problem: Any, population: Any, lanes: Any, guests: Any, which: Any, row: Any, step: Any) -> Any:
    """guests[which] takes this row if it is a better answer than what is there; whether it does."""
    gauge(problem, space, guests, which, lanes, 0, lanes.tally[0], lanes.trial[0])
    if not ranks_above(problem, lanes.trial[0], population.scores[row]):
        return False
    for k in range(population.x.shape[1]):
        population.x[row, k] = guests[which, k]
    for k in range(population.scores.shape[1]):
        population.scores[row, k] = lanes.trial[0, k]
    for k in range(population.tally.shape[1]):
        population.tally[row, k] = lanes.tally[0, k]
    if population.marks.shape[1] > 0:
        mark(problem, population.x, row, population.marks)
    note(problem, lanes, 0, population.x, row, population.scores[row], step - 1, 0)
    return True


def _admit_in_berth(
    self: Any,
    space: Any,
    problem: Any,
    population: Any,
    lanes: Any,
    guests: Any,
    which: Any,
    elite: Any,
    seed: Any,
    step: Any,
) -> None:
    number, _, _, _ = draw(seed, MIGRATE, step, 0, 0)
    settle(space, problem, population, lanes, guests, which, berth(self, number, step), step)


def host(record: Any, *, berth: Body, admit: Body = _admit_in_berth) -> None:
    """Let engines with records of this type be demes."""
    give_body("berth", record, berth)
    give_body("admit", record, admit)


def hosts(record: Any) -> bool:
    """Whether an engine with this record can be a deme."""
    return has_body("admit", type(record))
