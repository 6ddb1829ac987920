"""`solve`, and the same run for hosts of your own (`open_search`) or measured by you (`ask_and_tell`)."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from systola.assembly import Assembly, choose_engine, header_of
from systola.backends.platform import Platform
from systola.backends.session import Setup
from systola.black_box.ask_and_tell import AskAndTell
from systola.black_box.opening import check_measures_told, open_workers, refuse_other_ways
from systola.black_box.search import AskingSearch
from systola.engines.engine import Engine, check_number, parameters_of
from systola.engines.exact import Exact
from systola.engines.pareto import PLS
from systola.engines.proof import Proof
from systola.engines.race import Race
from systola.errors import InputError
from systola.exact.opening import with_proof
from systola.islands.islands import Islands
from systola.jit.environment import check_environment
from systola.model.encodings import Array
from systola.model.problem import Problem, space_of
from systola.model.rng import check_seed
from systola.run.arguments import RunFiles, check_options, check_problem, limit, make_stop, within_memory
from systola.run.budget import Stop, guard
from systola.run.checkpoint import read_state
from systola.run.compiling import LOG, telling_of_compiling
from systola.run.ending import attach_result
from systola.run.engine_search import EngineSearch, identify
from systola.run.execution import Callback
from systola.run.live_line import live_line
from systola.run.log import RunLog, as_log
from systola.run.loop import Run
from systola.run.outcome import Told, make_result
from systola.run.probing import measures_of
from systola.run.result import Result
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
    check_options(callback, instance)
    paths = {"checkpoint": checkpoint, "resume": resume, "record": record, "replay": replay}
    files = RunFiles.named(checkpoint_every, **paths)
    book = as_log(log)
    book.check(several=seeds is not None)
    check_number("pool", pool, 0, 10**6)
    callback = callback or live_line(instance or type(problem).__name__)
    if seeds is not None:
        if not files.none:
            raise InputError("`seeds` makes several runs, and checkpoints and records are of one; leave them out")
        one = partial(solve, problem, engine, stop=stop, backend=backend, threads=threads, start=start, pool=pool)
        one = partial(one, callback=callback, instance=instance, device=device, workers=workers)
        check_problem(problem)
        check_number("seeds", seeds, 1, 10**6)
        one = partial(one, evaluation_seconds=evaluation_seconds)
        return best_of_runs(one, problem, range(seed, seed + seeds), pool)
    if workers is None and evaluation_seconds is not None:
        raise InputError("`evaluation_seconds` is for evaluations in processes of their own; give `workers`, too")
    platform, stop, automatic = Platform(backend, threads, device), make_stop(stop), engine in (None, "auto")
    with interruptible(), ExitStack() as cleanup:
        engine, box = choose_engine(problem, engine, stop, workers is not None), None
        if workers is not None:
            box = open_workers(problem, engine, seed, platform, workers, evaluation_seconds)
        elif automatic:
            if not pool and not isinstance(engine, Islands):
                engine = with_proof(problem, engine, stop, platform)
            stop = guard(stop)
        assembly = Assembly(problem, engine, stop, seed, platform, () if start is None else start, box)
        cleanup.callback(assembly.compilers.end)
        with telling_of_compiling(type(problem).__name__, callback is None) as probing:
            assembly.probe()
        run = assembly.open(files, book.follow(callback))
        if book.path is not None:  # before kernels are compiled: whoever watches sees that, too
            book.open(header_of(run, engine, instance, assembly.platform), resume is not None)
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
            run.go(assembly.given)
            told = _told_of(engine, instance, assembly.compiled)
            result = make_result(run, replace(told, pool=pool, compiling=probing.seconds + compiling.seconds))
            book.end(result)
    result.notes.extend(book.faults)
    result.faults.extend(book.faults)
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
    platform, chosen = Platform(backend, threads), choose_engine(problem, engine, Stop())
    if isinstance(chosen, (Exact, Proof)):
        raise InputError(
            "an exact method has no kernels of cells, but a search by these is wanted; name another engine"
        )
    if isinstance(chosen, Islands):
        raise InputError("islands are several searches, but one is wanted; name the engine of a deme")
    with within_memory(problem):
        design = chosen.prepare(problem)
        compiled, measures, dtype = measures_of(problem, problem.encoding.example(space_of(problem)), backend)
        setup = Setup(problem, design, measures, dtype, seed)
        platform = platform if compiled else replace(platform, backend="python")
        search = EngineSearch(setup, platform.open_session(setup))
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
    files, platform = RunFiles.named(resume=resume), Platform(backend)
    book, budget = as_log(log), make_stop(stop)
    book.check()
    chosen = choose_engine(problem, engine, budget, elsewhere=True)
    refuse_other_ways("where you measure solutions", chosen, platform)
    assert not isinstance(chosen, Islands)
    with within_memory(problem):
        search = AskingSearch(problem, chosen, seed, backend == "cpu")
        search.prepare(check_measures_told(problem, measures), np.float64)
        budget = limit(budget, [search.design], few=True)
    identity = identify(problem, search.design, chosen, seed)
    state = read_state(files.resume, identity) if files.resume else None
    run = Run(search, budget, book.follow(None), identity=identity, resumed=state)
    book.open(header_of(run, chosen, "", replace(platform, threads=1)), resume is not None)
    asking = AskAndTell(run, search, lambda run: make_result(run, _told_of(chosen, "", compiled=False)), book)
    asking.begin(() if start is None else start)
    return asking


def _told_of(engine: Engine | Islands, instance: str, compiled: bool) -> Told:
    return Told(engine.name, parameters_of(engine), instance, compiled, engine if isinstance(engine, PLS) else None)
