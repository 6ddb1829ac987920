"""A problem, an engine and a platform put together to a run: the only place where they meet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from systola.backends.linking import link
from systola.backends.platform import Platform
from systola.backends.session import Setup
from systola.black_box.worker_search import WorkerSearch
from systola.engines.catalog import make_engine
from systola.engines.engine import Engine, parameters_of
from systola.engines.exact import Exact
from systola.engines.pareto import PLS
from systola.engines.proof import Proof
from systola.engines.race import Race
from systola.errors import InputError
from systola.exact.opening import open_exact, open_proof
from systola.islands import mpi
from systola.islands.archipelago import Archipelago
from systola.islands.identity import identify_islands
from systola.islands.islands import Islands
from systola.islands.plan import Plan, plan_demes
from systola.jit.environment import most_compilers
from systola.model.encodings import Array
from systola.model.linked import Link, linked
from systola.model.problem import Problem, bind, can_compare, senses_of, space_of
from systola.run.arguments import RunFiles, check_problem, default_algorithm, limit, within_memory
from systola.run.budget import Stop
from systola.run.checkpoint import read_state
from systola.run.compiler_process import KernelPlan
from systola.run.compilers import Compilers, Workshop
from systola.run.engine_search import EngineSearch, identify, rows_of
from systola.run.execution import Callback, Execution
from systola.run.log_entries import Header
from systola.run.loop import Run
from systola.run.outcome import measure_plainly
from systola.run.probing import is_known, measures_of
from systola.run.race import open_race
from systola.run.search import Search


def choose_engine(
    problem: Problem, engine: Engine | Islands | str | None, stop: Stop, elsewhere: bool = False
) -> Engine | Islands:
    """The engine that is meant, for a problem that it can solve; `elsewhere` if solutions are measured by others."""
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
    return engine


class Assembly:
    """A run in the making: the engine laid out for the problem, then the objective probed, then the run opened.

    Parameters
    ----------
    problem, engine, stop, seed, platform
        What is solved, how, how long and where.
    start
        Solutions to start from.
    box
        The search, if solutions are measured by workers.
    """

    def __init__(
        self,
        problem: Problem,
        engine: Engine | Islands,
        stop: Stop,
        seed: int,
        platform: Platform,
        start: Sequence[Any] | Array,
        box: WorkerSearch | None = None,
    ) -> None:
        self.problem, self.engine, self.stop, self.seed = problem, engine, stop, seed
        self.platform, self._box = platform, box
        self.engines = engine.engines() if isinstance(engine, Islands) else [engine]
        with within_memory(problem):
            if isinstance(engine, Islands):
                self.designs = plan_demes(problem, self.engines)
            else:
                self.designs = [box.design if box else engine.prepare(problem)]
            if not isinstance(engine, Exact):  # which ends by itself
                self.stop = limit(stop, self.designs, box is not None, isinstance(engine, Race))
            rows = rows_of(problem, start, min(design.started for design in self.designs))
            self.given = problem.encoding.load(space_of(problem), rows)
        self.compilers = Compilers(most_compilers(platform.most_threads))
        self.compiled, self._measures = False, 1
        self._dtype: Any = None
        self._link: Link | None = None

    def probe(self) -> None:
        """Compile the objective and try it: how many numbers it gives, of which type; or it must be interpreted."""
        problem, box, given = self.problem, self._box, self.given
        example = given[0] if len(given) else problem.encoding.example(space_of(problem))
        if box:
            box.probe = example
            return
        if not (isinstance(self.engine, Islands) or is_known(problem, example)):
            self.compilers.start_ahead()
        self.compiled, self._measures, self._dtype = measures_of(problem, example, self.platform.backend)
        if not self.compiled:
            self.platform = replace(self.platform, backend="python")
        if self.platform.backend == "cpu":
            self._link = link(problem, self.engines, self._measures, self._dtype)

    def open(self, files: RunFiles, callback: Callback | None) -> Execution:
        """The run, with all its arrays; nothing of it is compiled yet."""
        if isinstance(self.engine, Islands):
            return self._open_islands(self.engine, files, callback)
        if files.record or files.replay:
            raise InputError("`record` and `replay` are for islands, but the engine is another one; leave them out")
        search = self._open_search(self.engine, files.checkpoint is not None)
        identity = identify(self.problem, self.designs[0], self.engine, self.seed)
        state = read_state(files.resume, identity) if files.resume else None
        return Run(search, self.stop, callback, files.checkpoint, files.checkpoint_every, identity, state)

    def _open_islands(self, islands: Islands, files: RunFiles, callback: Callback | None) -> Archipelago:
        if self.platform.backend == "cuda":
            raise InputError("islands run on the CPU, but the backend is cuda; leave it out")
        designs = plan_demes(linked(self.problem, self._link), self.engines) if self._link else self.designs
        plan = Plan(self.problem, self.engines, designs, self._measures, self._dtype, self.seed, self._link)
        return Archipelago(
            plan,
            islands,
            self.stop,
            # Demes that are interpreted take turns on as many threads, too.
            replace(self.platform, backend="cpu").most_threads,
            self.platform.backend == "cpu",
            callback,
            files,
            identify_islands(plan, islands),
            mpi.find_world(),
        )

    def _open_search(self, engine: Engine, keeps_steps: bool) -> Search:
        problem, stop = self.problem, self.stop
        design = engine.prepare(linked(problem, self._link)) if self._link else self.designs[0]
        setup = Setup(problem, design, self._measures, self._dtype, self.seed, self._link)
        measure = partial(measure_plainly, problem, self.compiled, self._dtype)
        if self._box:
            return self._box
        if isinstance(engine, Exact):
            return open_exact(problem, engine, stop, self.platform, measure)
        if isinstance(engine, Proof):
            return open_proof(problem, engine, stop, self._open_kernels(keeps_steps, setup, engine.engine), measure)
        if isinstance(engine, Race):
            race = open_race(engine, setup, stop, partial(self._open_kernels, keeps_steps))
            race.compilers = self.compilers
            return race
        return self._open_kernels(keeps_steps, setup, engine)

    def _open_kernels(self, keeps_steps: bool, setup: Setup, engine: Engine) -> EngineSearch:
        """The search of an engine whose kernels run on the platform."""
        with within_memory(self.problem):
            session = self.platform.open_session(setup)
            kind = setup.link.kind if setup.link else None
            workshop = Workshop(self.compilers, KernelPlan(self.problem, engine, setup.measures, setup.dtype, kind))
            return EngineSearch(setup, session, keeps_steps, workshop)


def header_of(run: Execution, engine: Engine | Islands, instance: str, platform: Platform) -> Header:
    """What the log of a run says of it."""
    world = run.world if isinstance(run, Archipelago) else None
    rank, ranks, job = (world.rank, world.size, world.job) if world else (0, 1, "")
    what = run.problem, instance, engine.name, type(engine).__name__, parameters_of(engine)
    return Header(*what, run.identity, run.stop, platform.most_threads, platform.backend, rank, ranks, job)
