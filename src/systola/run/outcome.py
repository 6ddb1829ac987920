"""The result of a run: its best solution is evaluated anew, in exact integers where there are integers."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from functools import partial
from typing import Any

import numba
import numpy as np
from numpy.typing import DTypeLike

from systola.backends import cpu
from systola.engines.pareto import PLS
from systola.errors import CheckFailed, InfeasibleWarning, InputError, ObjectiveError, warn
from systola.jit.cache import why_unkept
from systola.model.capabilities import Bound, capability
from systola.model.encodings import Array
from systola.model.exact import check_exactly
from systola.model.names import labels_of
from systola.model.objective import violation
from systola.model.problem import Problem, digest_of, record_of, senses_of, space_of
from systola.pareto.archive import nondominated
from systola.run.budget import explain_cap
from systola.run.execution import Execution
from systola.run.faults import explain_fault
from systola.run.pool import best_different
from systola.run.probing import evaluate_interpreted
from systola.run.result import Result
from systola.run.units import objective_of, violation_of


def _front_of(run: Execution, engine: PLS | None) -> tuple[list[list[Any]] | None, Array | None]:
    """What an engine that keeps members has found: objectives and decisions, no one dominated and none twice.

    Only those with the least violation: feasible ones, if there are any.
    """
    population, problem = run.population() if engine else None, run.problem
    if population is None or engine is None:
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


@dataclass(frozen=True)
class Told:
    """What a result says of its run beside what the run itself knows."""

    algorithm: str
    parameters: dict[str, Any]
    instance: str
    compiled: bool
    archiving: PLS | None = None  # the engine, if it keeps a front
    pool: int = 0
    compiling: float = 0.0  # seconds


def _evaluate_plainly(problem: Problem, compiled: bool, decisions: Array) -> Any:
    """By the plain objective; of a copy, so that what is reported stays as it is, whatever `evaluate` does to it."""
    if compiled:
        return cpu.evaluate_compiled(record_of(problem), decisions.copy())
    return evaluate_interpreted(problem, decisions)


def measure_plainly(problem: Problem, compiled: bool, dtype: DTypeLike | None, decisions: Array) -> Array:
    """What the plain objective returns for a solution, as numbers of one type."""
    plain = _evaluate_plainly(problem, compiled, decisions)
    return np.array(plain if isinstance(plain, tuple) else (plain,), dtype)


def _pool_of(run: Execution, told: Told, elsewhere: bool) -> list[dict[str, Any]]:
    problem = run.problem
    evaluate = None if elsewhere else partial(_evaluate_plainly, problem, told.compiled)
    return best_different(problem, run.populations(), run.best(), told.pool, evaluate)


def _bound_of(run: Execution, objective: float | list[float], feasible: bool) -> tuple[float | None, float | None]:
    """What no solution beats, by the search or by the problem, whichever says more, and the gap to it."""
    problem, search = run.problem, run.search
    if isinstance(objective, list):
        return None, 0.0 if search and search.is_proven() and feasible else None
    known, found = capability(problem, Bound), search.bound() if search else None
    bounds = [bound for bound in (found, known.value(problem) if known else None) if bound is not None]
    if not bounds:
        return None, None
    bound = (min if senses_of(problem)[0] > 0 else max)(bounds)
    return bound, abs(bound - objective) / max(abs(bound), 1e-9) if feasible else None


def make_result(run: Execution, told: Told) -> Result:
    """The result of a run, its best solution evaluated anew, unless others have measured it."""
    problem, seconds = run.problem, run.seconds  # what follows may be compiled first, and is no part of the run
    best, search = run.best(), run.search
    measured = search.told_of_best() if search else None
    measures, decisions = best.measures, best.decisions
    try:
        problem.encoding.store(space_of(problem), decisions[None])
    except InputError as error:
        raise CheckFailed(
            f"an operator of {told.algorithm} broke the encoding of {type(problem).__name__}: {error}"
        ) from None
    plain: Any = _evaluate_plainly(problem, told.compiled, decisions) if measured is None else measured
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
    if measured is None:
        check_exactly(problem, decisions, plain, run.stop.seconds)
    measures = again
    broken = violation_of(problem, measures)
    notes = list(dict.fromkeys([*run.faults, *(search.notes if search else ()), *filter(None, [why_unkept()])]))
    if run.stop.cap is not None and run.reason == "seconds":
        notes.append(explain_cap(run.stop))
    if search and search.step == 0 and run.reason == "evaluations":
        notes.append(
            f"nothing but the first solutions was evaluated, since a step of {told.algorithm} takes "
            f"{search.per_step:,} evaluations, more than were left; allow more, or choose another algorithm"
        )
    if broken != 0:
        notes.append(
            f"no feasible solution was found: the best one breaks constraints by {broken:g}; search longer, or check "
            "whether there is one"
        )
        warn(notes[-1], InfeasibleWarning)
    found = measures if told.compiled else np.array(plain if isinstance(plain, tuple) else (plain,))
    objective = objective_of(problem, found)
    bound, gap = _bound_of(run, objective, broken == 0)
    front, front_solutions = _front_of(run, told.archiving)
    return Result(
        instance=told.instance or str(problem),
        problem=type(problem).__name__,
        algorithm=told.algorithm,
        parameters=told.parameters,
        seed=run.identity["seed"],
        objective=objective,
        feasible=broken == 0,
        violation=broken,
        bound=bound,
        gap=gap,
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
        race=search.race() if search else None,
        pool=_pool_of(run, told, measured is not None) if told.pool else None,
        compile_seconds=told.compiling,
        names=labels_of(problem),
        notes=notes,
        faults=list(run.faults),
        versions={"python": platform.python_version(), "numpy": np.__version__, "numba": numba.__version__},
    )
