"""What all demes of a run are, without making them: a process makes those that it runs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any

from systola.backends.session import Setup
from systola.engines.engine import Design, Engine
from systola.engines.migration import supports_migration
from systola.errors import InputError
from systola.islands.deme import seed_of
from systola.model.linked import Link
from systola.model.problem import Problem
from systola.reading import Json


def plan_demes(problem: Problem, engines: Sequence[Engine]) -> list[Design]:
    """The design of each engine; those that are the same have the same one."""
    made: dict[Any, Design] = {}
    designs = []
    for engine in engines:
        key = _key_of(engine)
        if key not in made:
            made[key] = engine.prepare(problem)
        designs.append(made[key])
    return designs


def _key_of(engine: Engine) -> Any:
    try:
        hash(engine)
    except TypeError:  # a parameter is an array
        return id(engine)
    return engine


@dataclass(frozen=True)
class Plan:
    """The demes of a run."""

    problem: Problem
    engines: Sequence[Engine]
    designs: Sequence[Design]
    measures: int
    dtype: Any  # of the measures
    seed: int
    link: Link | None = None  # where the problem's functions are, if kernels call them by address

    def __post_init__(self) -> None:
        for design, engine in {id(d): (d, e) for d, e in zip(self.designs, self.engines, strict=True)}.values():
            if not supports_migration(design.record):
                raise InputError(
                    f"{engine.name} does not support migration, so it cannot be used in Islands; choose another engine"
                )

    def __len__(self) -> int:
        return len(self.designs)

    def setup(self, deme: int) -> Setup:
        """What a deme runs."""
        return Setup(self.problem, self.designs[deme], self.measures, self.dtype, seed_of(self.seed, deme), self.link)

    @cached_property
    def started(self) -> int:
        """Solutions in all first populations."""
        return sum(design.started for design in self.designs)

    @cached_property
    def per_step(self) -> int:
        """Solutions that all demes make in a step."""
        return sum(design.per_step for design in self.designs)


def in_brief(value: Json) -> Any:
    """Plain data that does not grow with the number of demes: as it is, or its digest."""
    text = json.dumps(value, sort_keys=True)
    return value if len(text) <= 1000 else f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def run_lengths(values: Sequence[Any]) -> Any:
    """Of each deme a value, told once for all in a row that have the same one."""
    return in_brief([[value, len(list(group))] for value, group in groupby(values)])
