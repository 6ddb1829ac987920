"""What is meant by the problem and the engine that a user gives."""

from __future__ import annotations

from systola.engines.catalog import make_engine
from systola.engines.engine import Engine
from systola.engines.pareto import PLS
from systola.errors import InputError
from systola.islands.islands import Islands
from systola.model.problem import Problem, bind, can_compare, senses_of
from systola.run.arguments import check_problem, default_algorithm
from systola.run.budget import Stop


def fit(
    problem: Problem, engine: Engine | Islands | str | None, stop: Stop, elsewhere: bool = False
) -> tuple[Problem, Engine | Islands, bool]:
    """A problem that can be solved, the engine that is meant, and whether by default few evaluations are made."""
    check_problem(problem)
    bind(type(problem))
    if engine is None:
        engine = default_algorithm(problem, elsewhere, stop)
    if isinstance(engine, str):
        engine = make_engine(engine, problem)
    if isinstance(engine, type) or not (isinstance(engine, Islands) or hasattr(engine, "prepare")):
        raise InputError(
            f"an engine is a name such as 'sgs-b', or one with its parameters, SGS('B'), but got {engine!r}"
        )
    if not can_compare(problem) and not isinstance(engine, PLS):
        raise InputError(
            f"{type(problem).__name__} has {len(senses_of(problem))} objectives, and no method `fitness` that makes "
            f"one number of them (larger is better), by which {engine.name} could compare solutions; add it, or take "
            "PLS, which finds a front"
        )
    return problem, engine, elsewhere
