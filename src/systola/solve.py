"""`solve`: the only place where a problem, an engine and a backend are put together."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numba
import numpy as np

from systola.backends import cpu
from systola.backends.session import Session, Setup
from systola.black_box.ask_and_tell import AskAndTell
from systola.black_box.opening import check_measures_told, open_workers, refuse_other_ways
from systola.black_box.search import AskingSearch
from systola.choice import fit
from systola.engines.engine import Engine, check_number, parameters_of
from systola.engines.exact import Exact
from systola.engines.pareto import PLS
from systola.engines.proof import Proof
from systola.engines.race import Race
from systola.errors import InputError
from systola.exact.opening import open_exact, open_proof, with_proof
from systola.islands import mpi
from systola.islands.archipelago import Archipelago
from systola.islands.identity import identify_islands
from systola.islands.islands import Islands
from systola.islands.plan import Plan, plan_demes
from systola.jit.environment import check_environment, most_compilers
from systola.model.encodings import Array
from systola.model.problem import Problem, space_of
from systola.model.rng import check_seed
from systola.run.arguments import (
    check_backend,
    check_options,
    check_paths,
    check_problem,
    limit,
    make_stop,
    within_memory,
)
from systola.run.budget import Stop, guard
from systola.run.checkpoint import read_state
from systola.run.compiler_process import KernelPlan
from systola.run.compilers import Compilers, Workshop
from systola.run.compiling import LOG, telling_of_compiling
from systola.run.ending import attach_result
from systola.run.engine_search import EngineSearch, identify, rows_of
from systola.run.execution import Callback, Execution
from systola.run.live_line import live_line
from systola.run.log import RunLog, as_log
from systola.run.log_entries import Header
from systola.run.loop import Run
from systola.run.outcome import Told, make_result, measure_plainly
from systola.run.probing import is_known, measures_of
from systola.run.race import open_race
from systola.run.result import Result
from systola.run.search import Search
from systola.run.seeds import best_of_runs
from systola.run.signals import held_signals, interruptible

if TYPE_CHECKING:
    from systola.backends.cuda import Device


def solve(
    problem: Problem,
    engine: Engine | Islands | str | None = None,
    *,
    stop: Stop | float | None = None,
    seed: int = 1,
    backend: str = "cpu",
    threads: int | None = None,
    start: Sequence[Any] | Array | None = None,
    callback: Callback | None = None,
    checkpoint: str | Path | None = None,
    checkpoint_every: float = 60.0,
    resume: str | Path | None = None,
    instance: str = "",
    device: Device | None = None,
    record: str | Path | None = None,
    replay: str | Path | None = None,
    workers: int | Executor | None = None,
    evaluation_seconds: float | None = None,
    seeds: int | None = None,
    pool: int = 0,
    log: str | Path | RunLog | None = None,
) -> Result:
    """Search for the best solution of a problem.

    Parameters
    ----------
    problem : Problem
        One of ``systola.problems`` or your own.
    engine : Engine, Islands or str, optional
        ``SGS(...)``, ``SGA()``, ..., or a name as on the command line, ``"sgs-b"``; by default the recommended one for
        the problem. With ``Islands(...)`` several populations run side by side and send each other solutions: on the
        threads of this process, or, if it was started by mpiexec or srun, on all processes of the job, each of which
        gets the same result, but for the list of demes: the first process is told of all, others of their own.
    stop : Stop or float, optional
        Budgets, combined with ``|``, or a number of seconds; by default the engine's own number of iterations, and for
        the recommended engine at most a minute: meeting that is noted, and the result is then not repeatable. With
        `workers` by default 500 evaluations.
    seed : int
        The same seed gives the same result, bit for bit, on any number of threads and on any backend.
    backend : {"cpu", "cuda", "python"}
        "python" interprets the same kernels: very slow, good for debugging an objective.
    threads : int, optional
        Default: all cores, or one where steps are too short to share.
    start : solutions, optional
        Solutions to start from; the rest of the population is drawn.
    callback : function, optional
        Called with a `Progress` about four times a second; a true return value ends the run. In a notebook a line
        below the cell shows how far it is if there is none.
    checkpoint, checkpoint_every : path and seconds, optional
        Where and how often the state is saved; for islands a folder, in which each deme has a file.
    resume : path, optional
        A checkpoint to go on from; the result is the same as that of an uninterrupted run.
    instance : str
        A name for the result.
    record, replay : path, optional
        Of asynchronous islands: where to write what arrived where and when, and such a record, from which the same
        run is made again bit for bit.
    workers : int or concurrent.futures.Executor, optional
        Evaluate in so many processes, or by this executor; for objectives that take milliseconds or longer, compiled or
        not. The run is the same, bit for bit, for any number of them. See docs/expensive.md.
    evaluation_seconds : float, optional
        With so many processes: how long one evaluation may take.
    seeds : int, optional
        Make so many runs, with the seeds from `seed` on, each with the whole budget. The result is the best one, the
        first of equals; all of them are in its `runs`.
    pool : int
        How many different solutions the result's `pool` has at most: the best ones that the engine, or with `seeds`
        all runs, hold in the end.
    log : path, optional
        A file to which the run writes what it looks like, while it goes on; see docs/log.md. A resumed run goes on
        with its log. Each process of several has its own, with its rank in the name.

    Returns
    -------
    Result
        The best solution, or the least infeasible one when nothing feasible was found; then an `InfeasibleWarning`
        says so, too.
    """
    check_environment()
    seed = check_seed(seed)
    check_options(callback, checkpoint_every, instance)
    check_paths(checkpoint=checkpoint, resume=resume, record=record, replay=replay)
    book = as_log(log)
    book.check(several=seeds is not None)
    check_number("pool", pool, 0, 10**6)
    callback = callback or live_line(instance or type(problem).__name__)
    if seeds is not None:
        if any((checkpoint, resume, record, replay)):
            raise InputError("`seeds` makes several runs, and checkpoints and records are of one; leave them out")
        one = partial(solve, problem, engine, stop=stop, backend=backend, threads=threads, start=start, pool=pool)
        one = partial(one, callback=callback, instance=instance, device=device, workers=workers)
        check_problem(problem)
        check_number("seeds", seeds, 1, 10**6)
        one = partial(one, evaluation_seconds=evaluation_seconds)
        return best_of_runs(one, problem, range(seed, seed + seeds), pool)
    with interruptible(), ExitStack() as cleanup:
        stop, automatic = make_stop(stop), engine in (None, "auto")
        problem, engine, few = fit(problem, engine, stop, workers is not None)
        if automatic and not few and not pool and not isinstance(engine, Islands):
            engine = with_proof(problem, engine, stop, (backend, threads))
        stop = guard(stop) if automatic and not few else stop
        check_backend(backend, threads)
        engines = engine.engines() if isinstance(engine, Islands) else [engine]
        box = None
        if workers is not None:
            box = open_workers(problem, engine, seed, (backend, threads), workers, evaluation_seconds)
        elif evaluation_seconds is not None:
            raise InputError("`evaluation_seconds` is for evaluations in processes of their own; give `workers`, too")
        with within_memory(problem):
            if isinstance(engine, Islands):
                designs = plan_demes(problem, engines)
            else:
                designs = [box.design if box else engine.prepare(problem)]
            if not isinstance(engine, Exact):  # which ends by itself
                stop = limit(stop, designs, few, isinstance(engine, Race))
            rows = rows_of(problem, () if start is None else start, min(d.started for d in designs))
            given = problem.encoding.load(space_of(problem), rows)
            probe = given[0] if len(given) else problem.encoding.example(space_of(problem))
        most = threads or numba.config.NUMBA_NUM_THREADS if backend == "cpu" else 1
        compilers = Compilers(most_compilers(most))
        cleanup.callback(compilers.end)
        if not (box or isinstance(engine, Islands) or is_known(problem, probe)):
            compilers.start_ahead()
        with telling_of_compiling(type(problem).__name__, callback is None) as probing:
            compiled, measures, dtype = (False, 1, None) if box else measures_of(problem, probe, backend)
        saving, told = (Path(checkpoint) if checkpoint else None, checkpoint_every), book.follow(callback)
        backend = backend if compiled else "python"
        run: Execution
        if isinstance(engine, Islands):
            if backend == "cuda":
                raise InputError("islands run on the CPU, but the backend is cuda; leave it out")
            plan = Plan(problem, engines, designs, measures, dtype, seed)
            resumed, written, read = (Path(path) if path else None for path in (resume, record, replay))
            identity, most = identify_islands(plan, engine), threads or numba.config.NUMBA_NUM_THREADS
            run = Archipelago(
                *(plan, engine, stop, most, backend == "cpu", told, *saving, identity),
                resume=resumed,
                record=written,
                replay=read,
                world=mpi.find_world(),
            )
        elif record or replay:
            raise InputError("`record` and `replay` are for islands, but the engine is another one; leave them out")
        else:
            setup = Setup(problem, designs[0], measures, dtype, seed)

            def open_one(setup: Setup, engine: Engine) -> EngineSearch:
                with within_memory(problem):
                    session = _open_session(setup, backend, threads, device)
                    workshop = Workshop(compilers, KernelPlan(problem, engine, measures, dtype))
                    return EngineSearch(setup, session, bool(checkpoint), workshop)

            search: Search
            measure = partial(measure_plainly, problem, compiled, dtype)
            if box:
                search, box.probe = box, probe
            elif isinstance(engine, Exact):
                search = open_exact(problem, engine, stop, (backend, threads), measure)
            elif isinstance(engine, Proof):
                search = open_proof(problem, engine, stop, open_one(setup, engine.engine), measure)
            elif isinstance(engine, Race):
                search = open_race(engine, setup, stop, open_one)
                search.compilers = compilers
            else:
                search = open_one(setup, engine)
            identity = identify(problem, designs[0], engine, seed)
            state = read_state(resume, identity) if resume else None
            run = Run(search, stop, told, *saving, identity, state)
        if book.path is not None:  # before kernels are compiled: whoever watches sees that, too
            book.open(_header_of(run, engine, instance, "cpu" if box else backend, threads), resume is not None)
        with telling_of_compiling(type(problem).__name__, callback is None) as compiling:
            if isinstance(run, Run):
                run.on_kernel = compiling.tell_of_kernel
            run.compile()
        if isinstance(engine, Race):
            cleanup.pop_all()  # compilers go on while it runs, and end with it
        else:
            cleanup.close()
        LOG.info("%s, %s, seed %d: started", instance or problem, engine.name, seed)
        with held_signals(run.ask_to_stop) as run.interruption, book.watching():  # now there is something to lose
            run.go(given)
            said = replace(_told_of(run, engine, instance, compiled), pool=pool)
            result = make_result(run, replace(said, compiling=probing.seconds + compiling.seconds))
            book.end(result)
    result.notes.extend(book.notes)
    LOG.info("%s, %s, seed %d: %r", instance or problem, engine.name, seed, result)
    for note in result.notes:
        LOG.warning("%s, %s, seed %d: %s", instance or problem, engine.name, seed, note)
    if run.failure:
        attach_result(run.failure, result)
        raise run.failure
    return result


def open_search(
    problem: Problem,
    engine: Engine | str | None = None,
    *,
    seed: int = 1,
    backend: str = "cpu",
    threads: int | None = None,
) -> EngineSearch:
    """The search that `solve` would run, for a host of your own: compiled, not started.

    Parameters
    ----------
    problem, engine, seed, backend, threads
        As for `solve`; an engine, not islands.

    Returns
    -------
    EngineSearch
        With `start`, `advance`, `best`, `inject`, `save`, `restore` and `stop`: see `systola.extend.Search`.
    """
    check_environment()
    seed = check_seed(seed)
    problem, chosen, _ = fit(problem, engine, Stop())
    if isinstance(chosen, (Exact, Proof)):
        raise InputError(
            "an exact method has no kernels of cells, but a search by these is wanted; name another engine"
        )
    if isinstance(chosen, Islands):
        raise InputError("islands are several searches, but one is wanted; name the engine of a deme")
    check_backend(backend, threads)
    with within_memory(problem):
        design = chosen.prepare(problem)
        compiled, measures, dtype = measures_of(problem, problem.encoding.example(space_of(problem)), backend)
        setup = Setup(problem, design, measures, dtype, seed)
        search = EngineSearch(setup, _open_session(setup, backend if compiled else "python", threads, None))
    search.compile()
    return search


def ask_and_tell(
    problem: Problem,
    engine: Engine | str | None = None,
    *,
    stop: Stop | float | None = None,
    seed: int = 1,
    backend: str = "cpu",
    start: Sequence[Any] | Array | None = None,
    resume: str | Path | None = None,
    measures: int | None = None,
    log: str | Path | RunLog | None = None,
) -> AskAndTell:
    """A run whose solutions you measure yourself: ask for some, tell what they are worth, and so on.

    Parameters
    ----------
    problem, engine, stop, seed, backend, start
        As for `solve`; an engine, not islands. The problem's `evaluate` is not called, and may be None.
    resume : path, optional
        A checkpoint that `AskAndTell.save` has written.
    measures : int, optional
        How many numbers are told of a solution, the objectives first; by default there are no others.
    log : path, optional
        As for `solve`.

    Returns
    -------
    AskAndTell
        With `ask`, `tell`, `result` and `save`; see docs/expensive.md.
    """
    check_environment()
    seed = check_seed(seed)
    check_paths(resume=resume)
    book, budget = as_log(log), make_stop(stop)
    book.check()
    problem, chosen, few = fit(problem, engine, budget, True)
    check_backend(backend, None)
    refuse_other_ways("where you measure solutions", chosen, backend, None)
    assert not isinstance(chosen, Islands)
    with within_memory(problem):
        search = AskingSearch(problem, chosen, seed, backend == "cpu")
        search.prepare(check_measures_told(problem, measures), np.float64)
        budget = limit(budget, [search.design], few)
    identity = identify(problem, search.design, chosen, seed)
    state = read_state(resume, identity) if resume else None
    run = Run(search, budget, book.follow(None), identity=identity, resumed=state)
    book.open(_header_of(run, chosen, "", backend, 1), resume is not None)
    asking = AskAndTell(run, search, lambda run: make_result(run, _told_of(run, chosen, "", compiled=False)), book)
    asking.begin(() if start is None else start)
    return asking


def _open_session(setup: Setup, backend: str, threads: int | None, device: Device | None) -> Session:
    if backend == "cuda":
        from systola.backends.cuda import CudaSession

        return CudaSession(setup, device)
    return cpu.CpuSession(setup, threads, compiled=backend == "cpu")


def _header_of(run: Execution, engine: Engine | Islands, instance: str, backend: str, threads: int | None) -> Header:
    world = run.world if isinstance(run, Archipelago) else None
    rank, ranks, job = (world.rank, world.size, world.job) if world else (0, 1, "")
    what = run.problem, instance, engine.name, type(engine).__name__, parameters_of(engine)
    most = (threads or numba.config.NUMBA_NUM_THREADS) if backend == "cpu" else 1
    return Header(*what, run.identity, run.stop, most, backend, rank, ranks, job)


def _told_of(run: Execution, engine: Engine | Islands, instance: str, compiled: bool) -> Told:
    asking = run.search if isinstance(run, Run) and isinstance(run.search, AskingSearch) else None
    search = run.search if isinstance(run, Run) else None
    run.notes.extend(note for note in (search.notes if search else ()) if note not in run.notes)
    return Told(
        algorithm=engine.name,
        parameters=parameters_of(engine),
        instance=instance,
        compiled=compiled,
        archiving=engine if isinstance(engine, PLS) else None,
        elsewhere=asking is not None,
        measured=asking.told_of_best() if asking else None,
        bound=search.bound() if search else None,
        proven=search.is_proven() if search else False,
    )
