"""What a run is made with, as plain data: by that it is known whose checkpoint a file is."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from systola.engines.engine import Design, Engine
from systola.islands.islands import Islands
from systola.islands.plan import Plan, in_brief, run_lengths
from systola.model.problem import Problem, digest_of
from systola.version import __version__


def identify(problem: Problem, design: Design, engine: Engine, seed: int) -> dict[str, Any]:
    """What a checkpoint of one search must have been made with."""
    return {
        "problem": digest_of(problem),
        "algorithm": engine.name,
        "parameters": parameters_of(engine),
        "operators": type(design.record).__name__,
        "seed": seed,
        "version": __version__,
    }


def identify_islands(plan: Plan, islands: Islands) -> dict[str, Any]:
    """What a checkpoint or a record of arrivals must have been made with; no longer for more demes."""
    told = {id(engine): parameters_of(engine) for engine in plan.engines}
    return {
        "problem": digest_of(plan.problem),
        "engines": run_lengths([engine.name for engine in plan.engines]),
        "parameters": run_lengths([told[id(engine)] for engine in plan.engines]),
        "operators": run_lengths([type(design.record).__name__ for design in plan.designs]),
        "islands": {k: in_brief(_as_data(v)) for k, v in islands.described().items()},
        "seed": plan.seed,
        "version": __version__,
    }


def parameters_of(engine: Engine | Islands) -> dict[str, Any]:
    """The parameters of an engine as plain data; arrays as nested lists."""
    values = {f.name: getattr(engine, f.name) for f in fields(engine)}  # type: ignore[arg-type]
    return {k: _as_data(v) for k, v in values.items() if v is not None}


def _as_data(value: Any) -> Any:
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if callable(value):
        return f"{value.__module__}.{value.__qualname__}"
    if is_dataclass(value):
        return {"algorithm": getattr(value, "name", type(value).__name__), **parameters_of(value)}  # type: ignore[arg-type]
    return [_as_data(v) for v in value] if isinstance(value, (tuple, list)) else value
