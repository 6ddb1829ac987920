"""Small instances of the problems with the engines, for commands that look at kernels rather than answers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from systola.backends.session import Work
from systola.engines.catalog import make_engine
from systola.formats.catalog import open_instance

_BINARY = ("sgs-b", "sga", "rs", "sns-exp")
_SAMPLES: dict[str, tuple[int, tuple[str, ...]]] = {  # measures and engines
    "knapsack:100-1000": (2, (*_BINARY, "hill")),
    "mmdp:60": (1, _BINARY),
    "nrp:100-20": (2, _BINARY),
    "mkp:100x5": (2, (*_BINARY, "auto")),
    "qap:uniform-20": (1, ("pugace", "memetic", "tabu")),
    "flowshop:20x5?objectives=makespan,tardiness": (4, ("tabu", "ig", "pls")),
}


def sample_works() -> Iterator[tuple[Work, str]]:
    """One laid-out run of each pair, and the engine's name.

    Kernels are shared by the flavours of SGS, by SGA, EGA and GA, and by the variants of SNS, with and without repair;
    those of a cellular engine differ by its operators, those of a walk by its neighbourhood.
    """
    for spec, (measures, names) in _SAMPLES.items():
        problem = open_instance(spec).problem
        for name in names:
            engine = make_engine(name, problem)
            yield Work(problem, engine.prepare(problem), measures, np.int64, 1), engine.name
