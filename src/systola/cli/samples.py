"""Small instances of the problems with the engines, for commands that look at kernels rather than answers."""

from __future__ import annotations

from collections.abc import Iterator

from systola.backends.session import Setup
from systola.engines.catalog import make_engine
from systola.formats.catalog import open_instance
from systola.model.problem import space_of
from systola.run.probing import measures_of

_BINARY = ("sgs-b", "sga", "rs", "sns-exp")
_SAMPLES: dict[str, tuple[str, ...]] = {
    "knapsack:100-1000": (*_BINARY, "hill"),
    "mmdp:60": _BINARY,
    "nrp:100-20": _BINARY,
    "mkp:100x5": (*_BINARY, "auto"),
    "qap:uniform-20": ("pugace", "memetic", "tabu"),
    "flowshop:20x5?objectives=makespan,tardiness": ("tabu", "ig", "pls"),
}


def sample_setups() -> Iterator[tuple[Setup, str]]:
    """One laid-out run of each pair, and the engine's name.

    Kernels are shared by the flavours of SGS, by SGA, EGA and GA, and by the variants of SNS, with and without repair;
    those of a cellular engine differ by its operators, those of a walk by its neighbourhood.
    """
    for spec, names in _SAMPLES.items():
        problem = open_instance(spec).problem
        _, measures, dtype = measures_of(problem, problem.encoding.example(space_of(problem)), "cpu")
        for name in names:
            engine = make_engine(name, problem)
            yield Setup(problem, engine.prepare(problem), measures, dtype, 1), engine.name
