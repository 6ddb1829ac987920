"""`warm`: compile what a run needs, without running it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from systola.assembly import choose_engine
from systola.backends.cpu import CpuSession
from systola.backends.linking import link
from systola.backends.platform import Platform
from systola.backends.session import IMMIGRATION
from systola.engines.engine import Engine
from systola.engines.pareto import PLS
from systola.engines.race import Race
from systola.errors import InputError
from systola.islands.islands import Islands
from systola.jit.cache import cache_folder, size_on_disk
from systola.jit.environment import check_environment, most_compilers
from systola.model.problem import Problem, senses_of, space_of
from systola.pareto.archive import nondominated
from systola.run.arguments import within_memory
from systola.run.budget import Stop
from systola.run.compiler_process import KernelPlan
from systola.run.compilers import Compilers, Job, tell_nobody
from systola.run.faults import explaining_errors
from systola.run.probing import measures_of
from systola.run.signals import interruptible


@dataclass(frozen=True)
class Warmed:
    """What `warm` has done.

    Attributes
    ----------
    algorithm : str
        Whose kernels there are now.
    kernels : int
        How many were compiled and kept; none if all were there.
    seconds : float
        How long that took.
    size : int
        How many bytes they take on disk.
    """

    algorithm: str
    kernels: int
    seconds: float
    size: int


def warm(
    problem: Problem,
    engine: Engine | str | None = None,
    *,
    threads: int | None = None,
    tell: Callable[[str], None] | None = None,
) -> Warmed:
    """Compile the kernels that `solve` needs for a problem, and keep them on disk: later starts take them from there.

    Kernels are for types: those of one instance serve all of the same problem and algorithm whose data have the same
    types, whatever their sizes.

    Parameters
    ----------
    problem, engine
        As for `solve`; an engine, not islands.
    threads : int, optional
        How many processes compile at the same time. Default: as many as there are cores.
    tell : function, optional
        Called with a few words before each kernel that this process compiles.

    Returns
    -------
    Warmed
        How many kernels it were, how long it took, and their size.

    Raises
    ------
    InputError
        If there is no folder to keep kernels in.
    """
    check_environment()
    platform = Platform("cpu", threads)
    with interruptible():
        chosen = choose_engine(problem, engine, Stop())
        if isinstance(chosen, Islands):
            raise InputError("kernels of islands are those of their demes; name the engine of a deme")
        if cache_folder() is None:
            raise InputError("compiled kernels have no place on disk; set SYSTOLA_CACHE_DIR to a folder of yours")
        began, (kernels, size) = time.perf_counter(), size_on_disk()
        compilers = Compilers(most_compilers(platform.most_threads))
        try:
            compiled, measures, dtype = measures_of(problem, problem.encoding.example(space_of(problem)), "cpu")
            if compiled:
                found = link(problem, [chosen], measures, dtype)
                plan = KernelPlan(problem, chosen, measures, dtype, found.kind if found else None)
                _compile(plan, compilers, tell or tell_nobody)
        finally:
            compilers.end()
        kernels_now, size_now = size_on_disk()
        return Warmed(chosen.name, kernels_now - kernels, time.perf_counter() - began, size_now - size)


def _compile(plan: KernelPlan, compilers: Compilers, tell: Callable[[str], None]) -> None:
    jobs: list[Job] = []
    for own in _plans(plan):
        setup = own.setup()
        with within_memory(own.problem):
            session = CpuSession(setup, 1)
        if setup.design.opening:
            setup.design.opening.compile()
        needed = [job for job in compilers.jobs(own, session.kernels()) if job.name != IMMIGRATION or own is not plan]
        jobs += [job for job in needed if job.name not in {other.name for other in jobs} or job.name != "objective"]
    with explaining_errors(plan.problem):
        compilers.compile(jobs, tell)
    if isinstance(plan.engine, PLS):  # whose result is a front
        nondominated(np.zeros((2, len(senses_of(plan.problem))), plan.dtype))


def _plans(plan: KernelPlan) -> list[KernelPlan]:
    """Of a race, those of its engines that fit the problem."""
    if not isinstance(plan.engine, Race):
        return [plan]
    found = []
    for engine in plan.engine.engines:
        try:
            engine.prepare(plan.problem)
        except InputError:
            if engine is plan.engine.engines[0]:
                raise
        else:
            found.append(replace(plan, engine=engine))
    return found
