"""`solve`: the only place where a problem, an engine and a backend are put together."""

from __future__ import annotations

import platform
import warnings
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numba
import numpy as np

from systola.backends import cpu
from systola.backends.session import Session, Setup
from systola.engines.catalog import make_engine
from systola.engines.engine import Design, Engine, Parameter
from systola.engines.pareto import PLS
from systola.engines.race import Race
from systola.errors import CheckFailed, InfeasibleWarning, InputError, ObjectiveError
from systola.islands import mpi
from systola.islands.archipelago import Archipelago
from systola.islands.islands import Islands
from systola.islands.plan import Plan, in_brief, plan_demes, run_lengths
from systola.jit.environment import check_environment
from systola.model.capabilities import Bound, capability
from systola.model.encodings import Array
from systola.model.exact import check_exactly
from systola.model.names import labels_of
from systola.model.objective import violation
from systola.model.problem import Problem, bind, can_compare, digest_of, record_of, senses_of, space_of
from systola.model.rng import check_seed
from systola.pareto.archive import nondominated
from systola.run.arguments import check_backend, check_options, check_paths, check_problem, make_stop, within_memory
from systola.run.budget import Stop, guard
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
from systola.version import __version__

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
        the recommended engine at most a minute: meeting that is noted, and the result is then not repeatable.
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
        stop = guard(make_stop(stop)) if engine in (None, "auto") else make_stop(stop)
        problem, engine = _fit(problem, engine)
        check_backend(backend, threads)
        engines = engine.engines() if isinstance(engine, Islands) else [engine]
        with within_memory(problem):
            designs = plan_demes(problem, engines) if isinstance(engine, Islands) else [engine.prepare(problem)]
            stop = _limit(stop, designs, isinstance(engine, Race))
            rows = rows_of(problem, () if start is None else start, min(d.started for d in designs))
            given = problem.encoding.load(space_of(problem), rows)
            probe = given[0] if len(given) else problem.encoding.example(space_of(problem))
        compiled, measures, dtype = measures_of(problem, probe, backend)
        saving = Path(checkpoint) if checkpoint else None, checkpoint_every
        backend = backend if compiled else "python"
        run: Execution
        if isinstance(engine, Islands):
            if backend == "cuda":
                raise InputError("islands run on the CPU, but the backend is cuda; leave it out")
            plan = Plan(problem, engines, designs, measures, dtype, seed)
            resumed, written, read = (Path(path) if path else None for path in (resume, record, replay))
            identity, most = _identify_islands(plan, engine), threads or numba.config.NUMBA_NUM_THREADS
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
            if isinstance(engine, Race):
                search = open_race(engine, setup, stop, open_one)
            else:
                search = open_one(setup)
            identity = _identify(setup, engine)
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
    problem, chosen = _fit(problem, engine)
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


def _fit(problem: Problem, engine: Engine | Islands | str | None) -> tuple[Problem, Engine | Islands]:
    """A problem that can be solved, and the engine that is meant; an InputError if they are none."""
    check_problem(problem)
    bind(type(problem))
    if engine is None or isinstance(engine, str):
        engine = make_engine("auto" if engine is None else engine, problem)
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
    return problem, engine


def _identify(setup: Setup, engine: Engine) -> dict[str, Any]:
    """What a checkpoint must have been made with."""
    return {
        "problem": digest_of(setup.problem),
        "algorithm": engine.name,
        "parameters": parameters_of(engine),
        "operators": type(setup.design.record).__name__,
        "seed": setup.seed,
        "version": __version__,
    }


def _limit(stop: Stop, designs: list[Design], races: bool) -> Stop:
    """A budget by which a run ends; an InputError if it is not even enough to begin with."""
    if not stop.limited and races:  # whose steps are of several sizes
        stop = stop | Stop(evaluations=usual_evaluations(designs[0]))
    elif not stop.limited:
        stop = stop | Stop(iterations=max(d.steps for d in designs))
    started = sum(d.started for d in designs)
    if stop.evaluations is not None and stop.evaluations < started:
        raise InputError(
            f"`evaluations` must be at least {started}, the size of the first population, but got "
            f"{stop.evaluations}; choose a smaller grid or population"
        )
    return stop


def _work_of(stop: Stop) -> str:
    counted = {"iterations": stop.iterations, "evaluations": stop.evaluations}
    return " and ".join(f"{limit:,} {name}" for name, limit in counted.items() if limit is not None) or "work"


def _identify_islands(plan: Plan, islands: Islands) -> dict[str, Any]:
    """What a checkpoint or a record of arrivals must have been made with; no longer for more demes."""
    told = {id(engine): parameters_of(engine) for engine in plan.engines}
    return {
        "problem": digest_of(plan.problem),
        "engines": run_lengths([engine.name for engine in plan.engines]),
        "parameters": run_lengths([told[id(engine)] for engine in plan.engines]),
        "operators": run_lengths([type(design.record).__name__ for design in plan.designs]),
        "islands": {k: in_brief(_as_data(v)) for k, v in islands.described().items()},
        "seed": plan.seed,
        "version": __version__,
    }


def parameters_of(engine: Engine | Islands) -> dict[str, Any]:
    """The parameters of an engine as plain data; arrays as nested lists."""
    values = {f.name: getattr(engine, f.name) for f in fields(engine)}  # type: ignore[arg-type]
    return {k: _as_data(v) for k, v in values.items() if v is not None}


def _as_data(value: Parameter) -> Any:
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if callable(value):
        return f"{value.__module__}.{value.__qualname__}"
    if is_dataclass(value):
        return {"algorithm": getattr(value, "name", type(value).__name__), **parameters_of(value)}
    return [_as_data(v) for v in value] if isinstance(value, (tuple, list)) else value


def _open_session(setup: Setup, backend: str, threads: int | None, device: Device | None) -> Session:
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
    plain = (
        cpu.evaluate_compiled(record_of(problem), decisions.copy())
        if compiled
        else evaluate_interpreted(problem, decisions)
    )
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
    check_exactly(problem, decisions, plain, run.stop.seconds)
    measures = again
    broken = violation_of(problem, measures)
    notes = list(run.notes)
    if run.stop.cap is not None and run.reason == "seconds":
        notes.append(
            f"the run met its cap of {run.stop.cap:g} s before its budget of {_work_of(run.stop)} was used up, so that "
            "it cannot be repeated; give `stop` to choose another budget"
        )
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
