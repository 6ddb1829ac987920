"""What a run of islands is made with, as plain data: by that it is known whose checkpoint a file is."""

from __future__ import annotations

from typing import Any

from systola.engines.engine import as_data, parameters_of
from systola.islands.islands import Islands
from systola.islands.plan import Plan, in_brief, run_lengths
from systola.model.problem import digest_of
from systola.version import __version__


def identify_islands(plan: Plan, islands: Islands) -> dict[str, Any]:
    """What a checkpoint or a record of arrivals must have been made with; no longer for more demes."""
    told = {id(engine): parameters_of(engine) for engine in plan.engines}
    return {
        "problem": digest_of(plan.problem),
        "engines": run_lengths([engine.name for engine in plan.engines]),
        "parameters": run_lengths([told[id(engine)] for engine in plan.engines]),
        "operators": run_lengths([type(design.record).__name__ for design in plan.designs]),
        "islands": {k: in_brief(as_data(v)) for k, v in islands.described().items()},
        "seed": plan.seed,
        "version": __version__,
    }
