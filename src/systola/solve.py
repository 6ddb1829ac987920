"""`solve`: the only place where a problem, an engine and a backend are put together."""

from __future__ import annotations

import platform
import warnings
from collections.abc import Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import numba
import numpy as np

from systola.backends import cpu
from systola.backends.session import Session, Setup
from systola.black_box.ask_and_tell import AskAndTell
from systola.black_box.opening import check_measures_told, fit, open_workers, refuse_other_ways
from systola.black_box.search import AskingSearch
from systola.engines.engine import Design, Engine
from systola.engines.pareto import PLS
from systola.engines.race import Race
from systola.errors import CheckFailed, InfeasibleWarning, InputError, ObjectiveError
from systola.islands import mpi
from systola.islands.archipelago import Archipelago
from systola.islands.identity import identify, identify_islands, parameters_of
from systola.islands.islands import Islands
from systola.islands.plan import Plan, plan_demes
from systola.jit.environment import check_environment
from systola.model.capabilities import Bound, capability
from systola.model.encodings import Array
from systola.model.exact import check_exactly
from systola.model.names import labels_of
from systola.model.objective import violation
from systola.model.problem import Problem, digest_of, record_of, senses_of, space_of
from systola.model.rng import check_seed
from systola.pareto.archive import nondominated
from systola.run.arguments import (
    check_backend,
    check_options,
    check_paths,
    few_evaluations,
    limit,
    make_stop,
    within_memory,
)
from systola.run.budget import Stop, explain_cap, guard
from systola.run.checkpoint import read_state
from systola.run.ending import attach_result
from systola.run.engine_search import EngineSearch, rows_of
from systola.run.execution import Callback, Execution
from systola.run.faults import explain_fault
from systola.run.loop import Run
from systola.run.probing import evaluate_interpreted, measures_of
from systola.run.race import open_race, usual_evaluations
from systola.run.result import Result
from systola.run.search import Search
from systola.run.units import objective_of, violation_of
from systola.signals import held_signals, interruptible


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
    device: Any = None,
    record: str | Path | None = None,
    replay: str | Path | None = None,
    workers: int | Executor | None = None,
    evaluation_seconds: float | None = None,
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
        `workers`, or if no engine is given and Numba cannot compile the objective, 500 evaluations, however long.
    seed : int
        The same seed gives the same result, bit for bit, on any number of threads and on any backend.
    backend : {"cpu", "cuda", "python"}
        "python" interprets the same kernels: very slow, good for debugging an objective.
    threads : int, optional
        Default: all cores, or one where steps are too short to share.
    start : solutions, optional
        Solutions to start from; the rest of the population is drawn.
    callback : function, optional
        Called with a `Progress` about four times a second; a true return value ends the run.
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
    with interruptible():  # until there is something to lose
        recommended, stop = engine in (None, "auto"), make_stop(stop)
        problem, engine, few = fit(problem, engine, workers is not None)
        check_backend(backend, threads)
        engines = engine.engines() if isinstance(engine, Islands) else [engine]
        box = None
        if workers is not None:
            box = open_workers(problem, engine, seed, (backend, threads), workers, evaluation_seconds)
        elif evaluation_seconds is not None:
            raise InputError("`evaluation_seconds` is for evaluations in processes of their own; give `workers`, too")
        with within_memory(problem):
            designs = [box.design] if box else plan_demes(problem, engines)
            stop = limit(guard(stop) if recommended and not few else stop, designs, _usual(engine, designs[0], few))
            rows = rows_of(problem, () if start is None else start, min(d.started for d in designs))
            given = problem.encoding.load(space_of(problem), rows)
            probe = given[0] if len(given) else problem.encoding.example(space_of(problem))
        compiled, measures, dtype = (False, 1, None) if box else measures_of(problem, probe, backend)
        saving = Path(checkpoint) if checkpoint else None, checkpoint_every
        backend = backend if compiled else "python"
        run: Execution
        if isinstance(engine, Islands):
            if backend == "cuda":
                raise InputError("islands run on the CPU, but the backend is cuda; leave it out")
            plan = Plan(problem, engines, designs, measures, dtype, seed)
            resumed, written, read = (Path(path) if path else None for path in (resume, record, replay))
            identity, most = identify_islands(plan, engine), threads or numba.config.NUMBA_NUM_THREADS
            run = Archipelago(
                *(plan, engine, stop, most, backend == "cpu", callback, *saving, identity),
                resume=resumed,
                record=written,
                replay=read,
                world=mpi.find_world(),
            )
        elif record or replay:
            raise InputError("`record` and `replay` are for islands, but the engine is another one; leave them out")
        else:
            setup = Setup(problem, designs[0], measures, dtype, seed)

            def open_one(setup: Setup) -> EngineSearch:
                with within_memory(problem):
                    return EngineSearch(setup, _open_session(setup, backend, threads, device), bool(checkpoint))

            search: Search
            if box:
                search, box.probe = box, probe
            elif isinstance(engine, Race):
                search = open_race(engine, setup, stop, open_one)
            else:
                search = open_one(setup)
            identity = identify(problem, designs[0], engine, seed)
            state = read_state(resume, identity) if resume else None
            run = Run(search, stop, callback, *saving, identity, state)
        run.compile()
    try:
        with held_signals(run.ask_to_stop) as run.interruption:
            run.go(given)
            result = _result_of(run, engine, instance, compiled)
    finally:
        run.close()
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
    problem, chosen, _ = fit(problem, engine)
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

    Returns
    -------
    AskAndTell
        With `ask`, `tell`, `result` and `save`; see docs/expensive.md.
    """
    check_environment()
    seed = check_seed(seed)
    check_paths(resume=resume)
    problem, chosen, _ = fit(problem, engine, True)
    check_backend(backend, None)
    refuse_other_ways("where you measure solutions", chosen, backend, None)
    assert not isinstance(chosen, Islands)
    with within_memory(problem):
        search = AskingSearch(problem, chosen, seed, backend == "cpu")
        search.prepare(check_measures_told(problem, measures), np.float64)
        budget = limit(make_stop(stop), [search.design], few_evaluations(search.design))
    identity = identify(problem, search.design, chosen, seed)
    state = read_state(resume, identity) if resume else None
    run = Run(search, budget, identity=identity, resumed=state)
    asking = AskAndTell(run, search, lambda run: _result_of(run, chosen, "", compiled=False))
    asking.begin(() if start is None else start)
    return asking


def _usual(engine: Engine | Islands, design: Design, few: bool) -> int | None:
    """How many evaluations are made by default, if it is these that are counted."""
    if few:
        return few_evaluations(design)
    return usual_evaluations(design) if isinstance(engine, Race) else None  # whose steps are of several sizes


def _open_session(setup: Setup, backend: str, threads: int | None, device: Any) -> Session:
    if backend == "cuda":
        from systola.backends.cuda import CudaSession

        return CudaSession(setup, device)
    return cpu.CpuSession(setup, threads, compiled=backend == "cpu")


def _front_of(run: Execution, engine: Engine | Islands) -> tuple[list[list[Any]] | None, Array | None]:
    """What an engine that keeps members has found: objectives and decisions, no one dominated and none twice.

    Only those with the least violation: feasible ones, if there are any.
    """
    population, problem = run.population() if isinstance(engine, PLS) else None, run.problem
    if population is None or not isinstance(engine, PLS):
        return None, None
    measures, rows = engine.members(population)
    broken = [violation(record_of(problem), row) for row in measures]
    least = min(broken, default=0)
    sound = [not value > least for value in broken]
    vectors, rows = measures[sound][:, : len(senses_of(problem))], rows[sound]
    kept = nondominated(-vectors * np.array(senses_of(problem)))
    vectors, rows = vectors[kept], rows[kept]
    ranked = np.lexsort(vectors.T[::-1])
    front = [objective_of(problem, vector) for vector in vectors[ranked]]
    return [v if isinstance(v, list) else [v] for v in front], problem.encoding.load(space_of(problem), rows[ranked])


def _result_of(run: Execution, engine: Engine | Islands, instance: str, compiled: bool) -> Result:
    problem, seconds = run.problem, run.seconds  # what follows may be compiled first, and is no part of the run
    best = run.best()
    measures, decisions = best.measures, best.decisions
    try:
        problem.encoding.store(space_of(problem), decisions[None])
    except InputError as error:
        raise CheckFailed(
            f"an operator of {engine.name} broke the encoding of {type(problem).__name__}: {error}"
        ) from None
    # A copy: what is reported stays as it is, whatever `evaluate` does to what it is given.
    asking = run.search if isinstance(run, Run) and isinstance(run.search, AskingSearch) else None
    told = asking.told_of_best() if asking else None
    if told is not None:
        plain: Any = told
    elif compiled:
        plain = cpu.evaluate_compiled(record_of(problem), decisions.copy())
    else:
        plain = evaluate_interpreted(problem, decisions)
    again = np.array(plain if isinstance(plain, tuple) else (plain,), measures.dtype)
    exact = measures.dtype == np.int64
    # Integers agree exactly; float sums made in another order may differ by rounding.
    if not (np.array_equal(again, measures) if exact else np.allclose(again, measures, rtol=1e-9, atol=1e-9)):
        raise CheckFailed(
            f"the best solution was worth {measures.tolist()} in the search but is worth {again.tolist()} by the "
            f"plain objective of {type(problem).__name__}; one of its capabilities is wrong: find it with "
            "systola.extend.check_problem"
        )
    if not np.isfinite(again).all():
        raise ObjectiveError(
            f"{type(problem).__name__}.evaluate {explain_fault(problem, decisions)} for the best solution, "
            f"{np.array2string(decisions, threshold=20)}"
        )
    if told is None:
        check_exactly(problem, decisions, plain, run.stop.seconds)
    measures = again
    broken = violation_of(problem, measures)
    notes = [*run.notes, *(asking.notes if asking else ())]
    if run.stop.cap is not None and run.reason == "seconds":
        notes.append(explain_cap(run.stop))
    if broken != 0:
        notes.append(
            f"no feasible solution was found: the best one breaks constraints by {broken:g}; search longer, or check "
            "whether there is one"
        )
        warnings.warn(notes[-1], InfeasibleWarning, stacklevel=3)
    found = measures if compiled else np.array(plain if isinstance(plain, tuple) else (plain,))
    objective = objective_of(problem, found)
    known = capability(problem, Bound)
    bound = known.value(problem) if known else None
    front, front_solutions = _front_of(run, engine)
    return Result(
        instance=instance or str(problem),
        problem=type(problem).__name__,
        algorithm=engine.name,
        parameters=parameters_of(engine),
        seed=run.identity["seed"],
        objective=objective,
        feasible=broken == 0,
        violation=broken,
        bound=bound,
        gap=abs(bound - objective) / max(abs(bound), 1e-9) if bound is not None and broken == 0 else None,
        solution=decisions,
        evaluations=run.evaluations,
        iterations=run.step,
        found_at=best.step,
        seconds=seconds,
        stop=run.reason,
        repeatable=run.repeatable,
        backend=run.backend,
        threads=run.threads,
        digest=digest_of(problem),
        limits={k: v for k, v in run.stop.__dict__.items() if v is not None},
        trace=run.trace,
        front=front,
        front_solutions=front_solutions,
        islands=run.report(),
        race=run.race(),
        names=labels_of(problem),
        notes=notes,
        versions={"python": platform.python_version(), "numpy": np.__version__, "numba": numba.__version__},
    )
