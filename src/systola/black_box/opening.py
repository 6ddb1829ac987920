"""Which engine is taken, and what is refused where solutions are measured elsewhere."""

from __future__ import annotations

from concurrent.futures import Executor

from systola.backends.platform import Platform
from systola.black_box.worker_search import WorkerSearch
from systola.engines.engine import Engine, check_number
from systola.engines.exact import Exact
from systola.engines.proof import Proof
from systola.engines.race import Race
from systola.errors import InputError
from systola.islands.islands import Islands
from systola.model.objective import MOST_MEASURES
from systola.model.problem import Problem, senses_of


def open_workers(
    problem: Problem,
    engine: Engine | Islands,
    seed: int,
    platform: Platform,
    workers: int | Executor,
    evaluation_seconds: float | None,
) -> WorkerSearch:
    """A search whose solutions are measured by workers."""
    refuse_other_ways("with `workers`", engine, platform)
    assert not isinstance(engine, Islands)
    return WorkerSearch(problem, engine, seed, platform.backend == "cpu", workers, evaluation_seconds)


def refuse_other_ways(how: str, engine: Engine | Islands, platform: Platform) -> None:
    """An InputError if the engine's kernels are to run where solutions cannot be measured from outside."""
    if isinstance(engine, Islands):
        raise InputError(f"{how} there is one population, but islands have several; name the engine of a deme")
    if isinstance(engine, (Exact, Proof)):
        raise InputError(f"{how} the objective is a black box, but the exact method is for linear ones; name another")
    if isinstance(engine, Race):
        raise InputError(f"{how} one engine searches, but a race has several; name one of them, or none")
    if platform.backend == "cuda":
        raise InputError(f"{how} the engine runs on the CPU, but the backend is cuda; leave it out")
    if platform.threads is not None:
        raise InputError(f"{how} the engine runs on one thread, but `threads` is {platform.threads!r}; leave it out")


def check_measures_told(problem: Problem, measures: int | None) -> int:
    """How many numbers are told of a solution: at least the objectives."""
    least = len(senses_of(problem))
    if measures is None:
        return least
    check_number("measures", measures, least, MOST_MEASURES)
    return int(measures)
