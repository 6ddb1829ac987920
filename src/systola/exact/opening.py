"""Which exact search a problem gets."""

from __future__ import annotations

import math
from collections.abc import Callable

import numba

from systola.backends.platform import Platform
from systola.engines.engine import Engine
from systola.engines.exact import Exact
from systola.engines.proof import Proof
from systola.errors import InputError
from systola.exact.knapsack_search import KnapsackSearch, Sack
from systola.exact.program_search import ProgramSearch
from systola.exact.proof_search import ProofSearch
from systola.exact.release_search import ReleaseSearch
from systola.model.encodings import Array
from systola.model.integer_program import is_linear, program_of
from systola.model.problem import Problem
from systola.problems.knapsack import Knapsack
from systola.problems.next_release import NextRelease
from systola.run.budget import Stop
from systola.run.engine_search import EngineSearch
from systola.run.search import Search


def with_proof(problem: Problem, engine: Engine, stop: Stop, platform: Platform) -> Engine:
    """What `auto` means where an exact method is better, or can prove what is found; else the engine itself.

    Only on a CPU, and only within budgets that are no counts of the engine's work: these are for runs that are
    repeated. Beside an engine only with a budget in seconds, since that run depends on the clock anyway, and on two
    threads or more.
    """
    counted = any(limit is not None for limit in (stop.iterations, stop.evaluations, stop.stall))
    if platform.backend != "cpu" or counted or numba.config.DISABLE_JIT:
        return engine
    if isinstance(problem, (Knapsack, NextRelease)):
        return Exact()
    if stop.seconds is None or platform.most_threads < 2 or not is_linear(problem):
        return engine
    try:
        program_of(problem)
    except InputError:  # fractions, or too large numbers
        return engine
    return Proof(engine)


def open_proof(
    problem: Problem, engine: Proof, stop: Stop, search: EngineSearch, measure: Callable[[Array], Array]
) -> ProofSearch:
    """An exact method beside the search of an engine."""
    seconds = _seconds(stop)
    return ProofSearch(search, ProgramSearch(problem, measure, 1, seconds), engine.engine.name, seconds)


def open_exact(
    problem: Problem, engine: Exact, stop: Stop, platform: Platform, measure: Callable[[Array], Array]
) -> Search:
    """The search of the exact engine; `measure` is the problem's objective."""
    if platform.backend == "cuda":
        raise InputError("the exact method runs on the CPU, but the backend is cuda; leave it out")
    if isinstance(problem, Knapsack):
        sack = Sack(problem.profits, problem.weights, problem.capacity)
        return KnapsackSearch(problem, sack, engine.memory << 20)
    if isinstance(problem, NextRelease):
        return ReleaseSearch(problem, engine.memory << 20)
    return ProgramSearch(problem, measure, platform.threads or 0, _seconds(stop))


def _seconds(stop: Stop) -> float:
    return min((limit for limit in (stop.seconds, stop.cap) if limit is not None), default=math.inf)
