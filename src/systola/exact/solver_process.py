"""HiGHS in a process of its own: it can be ended at any moment, and it does not hold up the one that waits for it.

With the package highspy it begins with the best solution known, gets better ones while it runs, and tells what it finds
and what it proves. SciPy has HiGHS, too, but that tells only at its end.
"""

from __future__ import annotations

import importlib.util
import math
from multiprocessing.connection import Connection
from typing import Any, NamedTuple, Protocol

import numpy as np

from systola.model.encodings import Array
from systola.model.integer_program import FREE

_LAST_SECONDS = 0.3  # before the end of its time, in which SciPy tells what it has found

FOUND, BOUND, DONE = "found", "bound", "done"


class _Output(Protocol):
    mip_solution: Array
    mip_dual_bound: float


class _Input(Protocol):
    def setSolution(self, value: Array) -> None: ...


class _Event(Protocol):
    """What HiGHS tells a callback."""

    data_out: _Output
    data_in: _Input


class Task(NamedTuple):
    """A linear program over columns between 0 and 1, to be minimised."""

    costs: Array
    entries: tuple[Array, Array, Array]  # rows, columns, values
    least: Array
    largest: Array
    continuous: int


def has_highspy() -> bool:
    """Whether the extra is there."""
    return importlib.util.find_spec("highspy") is not None


def serve(pipe: Connection, task: Task, threads: int) -> None:
    """In the process: wait for a start (columns or None, and seconds), then solve and tell.

    Messages are (FOUND, columns), (BOUND, value) and (DONE, bound, whether there is no solution).
    """
    use_highspy = has_highspy()
    if use_highspy:
        import highspy  # noqa: F401, so that the time it takes is none of the run's
    else:
        import scipy.optimize  # noqa: F401
    pipe.send(("ready",))
    start, seconds = pipe.recv()
    if use_highspy:
        _solve_with_highspy(pipe, task, start, seconds, threads)
    else:
        _solve_with_scipy(pipe, task, seconds)


def _bounds(task: Task) -> tuple[Array, Array]:
    least = np.where(task.least == -FREE, -np.inf, task.least.astype(float))
    return least, np.where(task.largest == FREE, np.inf, task.largest.astype(float))


def _matrix(task: Task) -> Any:
    from scipy.sparse import csr_matrix

    rows, columns, values = task.entries
    return csr_matrix((values.astype(float), (rows, columns)), shape=(len(task.least), len(task.costs)))


def _solve_with_highspy(pipe: Connection, task: Task, start: Array | None, seconds: float, threads: int) -> None:
    import highspy

    solver: Any = highspy.Highs()
    matrix, n = _matrix(task), len(task.costs)
    options: dict[str, Any] = {"output_flag": False, "mip_rel_gap": 0.0, "mip_abs_gap": 0.0, "threads": threads}
    if seconds < math.inf:
        options["time_limit"] = seconds
    for name, value in options.items():
        solver.setOptionValue(name, value)
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = n, len(task.least)
    model.col_cost_ = task.costs.astype(float)
    model.col_lower_, model.col_upper_ = np.zeros(n), np.ones(n)
    model.row_lower_, model.row_upper_ = _bounds(task)
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_, model.a_matrix_.index_ = matrix.indptr, matrix.indices
    model.a_matrix_.value_ = matrix.data
    whole = n - task.continuous
    kinds = [highspy.HighsVarType.kInteger] * whole + [highspy.HighsVarType.kContinuous] * task.continuous
    model.integrality_ = kinds
    solver.passModel(model)
    if start is not None:
        solution = highspy.HighsSolution()
        solution.col_value = start.astype(float).tolist()
        solver.setSolution(solution)
    told = [-math.inf]

    def tell_bound(value: float) -> None:
        if math.isfinite(value) and value > told[0]:
            told[0] = value
            pipe.send((BOUND, value))

    def improved(event: _Event) -> None:
        pipe.send((FOUND, np.rint(event.data_out.mip_solution).astype(np.int64)))
        tell_bound(event.data_out.mip_dual_bound)

    def look(event: _Event) -> None:
        tell_bound(event.data_out.mip_dual_bound)

    def take(event: _Event) -> None:
        if pipe.poll():
            event.data_in.setSolution(pipe.recv().astype(float))

    solver.cbMipImprovingSolution += improved
    solver.cbMipInterrupt += look
    solver.cbMipUserSolution += take
    solver.run()
    info, status = solver.getInfo(), solver.getModelStatus()
    if solver.getSolution().value_valid:
        pipe.send((FOUND, np.rint(np.array(solver.getSolution().col_value)).astype(np.int64)))
    infeasible = status in (highspy.HighsModelStatus.kInfeasible, highspy.HighsModelStatus.kUnboundedOrInfeasible)
    pipe.send((DONE, info.mip_dual_bound, infeasible))


def _solve_with_scipy(pipe: Connection, task: Task, seconds: float) -> None:
    from scipy.optimize import Bounds, LinearConstraint, milp

    whole = np.ones(len(task.costs))
    whole[len(task.costs) - task.continuous :] = 0
    options: dict[str, Any] = {"mip_rel_gap": 0.0}
    if seconds < math.inf:
        options["time_limit"] = max(0.1, seconds - _LAST_SECONDS)
    rows = [] if len(task.least) == 0 else [LinearConstraint(_matrix(task), *_bounds(task))]
    found = milp(task.costs.astype(float), integrality=whole, bounds=Bounds(0, 1), constraints=rows, options=options)
    if found.x is not None:
        pipe.send((FOUND, np.rint(found.x).astype(np.int64)))
    bound = found.mip_dual_bound if found.mip_dual_bound is not None else -math.inf
    pipe.send((DONE, bound, found.status == 2))
