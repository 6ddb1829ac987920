"""Which engine is taken, and what is refused where solutions are measured elsewhere."""

from __future__ import annotations

from concurrent.futures import Executor
from typing import Any

import numba

from systola.black_box.worker_search import WorkerSearch
from systola.engines.catalog import make_engine
from systola.engines.engine import Engine, check_number
from systola.engines.pareto import PLS
from systola.engines.race import Race
from systola.errors import InputError
from systola.islands.islands import Islands
from systola.model.objective import MOST_MEASURES
from systola.model.problem import Problem, bind, can_compare, senses_of, space_of
from systola.run.arguments import check_problem
from systola.run.probing import compiles


def fit(
    problem: Problem, engine: Engine | Islands | str | None, black_box: bool = False
) -> tuple[Problem, Engine | Islands, bool]:
    """A problem that can be solved, the engine that is meant, and whether by default few evaluations are made."""
    check_problem(problem)
    bind(type(problem))
    if engine is None:
        engine = default_algorithm(problem, black_box)
        black_box = engine != "auto"
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
    return problem, engine, black_box


def open_workers(
    problem: Problem,
    engine: Engine | Islands,
    seed: int,
    where: tuple[str, int | None],
    workers: int | Executor,
    evaluation_seconds: float | None,
) -> WorkerSearch:
    """A search whose solutions are measured by workers; `where` are backend and threads."""
    refuse_other_ways("with `workers`", engine, *where)
    assert not isinstance(engine, Islands)
    return WorkerSearch(problem, engine, seed, where[0] == "cpu", workers, evaluation_seconds)


def default_algorithm(problem: Problem, elsewhere: bool) -> str:
    """What is taken if no engine is named, by whether solutions are evaluated elsewhere, or by interpreted code."""
    own = not type(problem).__module__.startswith("systola.")  # ours compile
    if own and not elsewhere and not numba.config.DISABLE_JIT:
        elsewhere = not compiles(problem, problem.encoding.example(space_of(problem)))
    return "black-box" if elsewhere else "auto"


def refuse_other_ways(how: str, engine: Any, backend: str, threads: int | None) -> None:
    """An InputError if the engine's kernels are to run where solutions cannot be measured from outside."""
    if isinstance(engine, Islands):
        raise InputError(f"{how} there is one population, but islands have several; name the engine of a deme")
    if isinstance(engine, Race):
        raise InputError(f"{how} one engine searches, but a race has several; name one of them, or none")
    if backend == "cuda":
        raise InputError(f"{how} the engine runs on the CPU, but the backend is cuda; leave it out")
    if threads is not None:
        raise InputError(f"{how} the engine runs on one thread, but `threads` is {threads!r}; leave it out")


def check_measures_told(problem: Problem, measures: int | None) -> int:
    """How many numbers are told of a solution: at least the objectives."""
    least = len(senses_of(problem))
    if measures is None:
        return least
    check_number("measures", measures, least, MOST_MEASURES)
    return int(measures)
