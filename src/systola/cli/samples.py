"""Small instances of every problem with every engine, for commands that look at kernels rather than answers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from systola.backends.session import Work
from systola.engines.catalog import make_engine
from systola.formats.catalog import open_instance

_MEASURES = {"knapsack:100-1000": 2, "mmdp:60": 1, "nrp:100-20": 2}


def sample_works() -> Iterator[tuple[Work, str]]:
    """One laid-out run of each pair, and the engine's name; SGS flavours share a kernel, and so do SGA and EGA."""
    for spec, measures in _MEASURES.items():
        problem = open_instance(spec).problem
        for name in ("sgs-b", "sga", "rs"):
            design = make_engine(name, problem).prepare(problem)
            yield Work(problem, design, measures, np.int64, 1), name
