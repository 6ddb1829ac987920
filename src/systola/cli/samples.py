"""Small instances of every problem with every engine, for commands that look at kernels rather than answers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from systola.backends.session import Work
from systola.engines.catalog import make_engine
from systola.formats.catalog import open_instance

_MEASURES = {"knapsack:100-1000": 2, "mmdp:60": 1, "nrp:100-20": 2, "mkp:100x5": 2}


def sample_works() -> Iterator[tuple[Work, str]]:
    """One laid-out run of each pair, and the engine's name; kernels are shared by the flavours
    of SGS, by SGA, EGA and GA, and by the variants of SNS, with and without repair."""
    for spec, measures in _MEASURES.items():
        problem = open_instance(spec).problem
        names = ["sgs-b", "sga", "rs", "sns-exp"] + ["auto"] * problem.offers("repair")
        for name in names:
            engine = make_engine(name, problem)
            yield Work(problem, engine.prepare(problem), measures, np.int64, 1), engine.name
