"""HiGHS in a process of its own: it can be ended at any moment, and it does not hold up the one that waits for it.

With the package highspy it begins with the best solution known, gets better ones while it runs, and tells what it finds
and what it proves. SciPy has HiGHS, too, but that tells only at its end.
"""

from __future__ import annotations

import importlib.util
import math
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection
from typing import Any, NamedTuple, Protocol

import numpy as np

from systola.model.encodings import Array
from systola.model.integer_program import FREE

_CORE_SHARE, _CORE_SECONDS = 0.75, 60.0  # for cores, at most
_CORE_BASE = 30  # columns of the first core, beside two for each that is divided in the relaxation
_LAST_SECONDS = 0.3  # before the end of its time, in which SciPy tells what it has found

READY, FOUND, BOUND, DONE = "ready", "found", "bound", "done"


class _Output(Protocol):
    mip_solution: Array
    mip_dual_bound: float


class _Input(Protocol):
    def setSolution(self, value: Array) -> None: ...


class _Event(Protocol):
    """What HiGHS tells a callback."""

    data_out: _Output
    data_in: _Input

    def interrupt(self, interrupt_value: bool) -> None: ...


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

    Messages are (READY,), (FOUND, columns), (BOUND, value) and (DONE, bound, whether there is no solution).
    """
    use_highspy = has_highspy()
    if use_highspy:
        import highspy  # noqa: F401, so that the time it takes is none of the run's
    else:
        import scipy.optimize  # noqa: F401
    pipe.send((READY,))
    start, seconds = pipe.recv()
    if use_highspy:
        _Solver(pipe, task, start, seconds, threads).solve()
    else:
        _solve_with_scipy(pipe, task, seconds)


def _bounds(task: Task) -> tuple[Array, Array]:
    least = np.where(task.least == -FREE, -np.inf, task.least.astype(float))
    return least, np.where(task.largest == FREE, np.inf, task.largest.astype(float))


def _matrix(task: Task) -> Any:
    from scipy.sparse import csr_matrix

    rows, columns, values = task.entries
    return csr_matrix((values.astype(float), (rows, columns)), shape=(len(task.least), len(task.costs)))


class _Solver:
    """HiGHS by the package highspy: first on cores of the columns, then on all of them.

    A core has the columns of which the linear relaxation is least sure, by their reduced costs; the others keep the
    values that they have there. Where rows are few, a core has very good solutions, and it is searched far sooner than
    the whole. After a core that is done with comes one of twice as many columns.
    """

    def __init__(self, pipe: Connection, task: Task, start: Array | None, seconds: float, threads: int) -> None:
        import highspy

        self._pipe, self._task = pipe, task
        self._cores_end = time.perf_counter() + min(_CORE_SHARE * seconds, _CORE_SECONDS)
        self._bound = -math.inf
        self._is_core = False
        self._best, self._cost = start, math.inf if start is None else float(task.costs @ start)
        self._solver: Any = highspy.Highs()
        options: dict[str, Any] = {"output_flag": False, "mip_rel_gap": 0.0, "mip_abs_gap": 0.0, "threads": threads}
        for name, value in options.items():  # no limit of time: whoever waits ends the process
            self._solver.setOptionValue(name, value)
        self._solver.passModel(_model(task))
        self._solver.cbMipImprovingSolution += self._improved
        self._solver.cbMipInterrupt += self._look
        self._solver.cbMipUserSolution += self._take

    def solve(self) -> None:
        import highspy

        done = (highspy.HighsModelStatus.kOptimal, highspy.HighsModelStatus.kInfeasible)
        impossible = (highspy.HighsModelStatus.kInfeasible, highspy.HighsModelStatus.kUnboundedOrInfeasible)
        least, largest = np.zeros(len(self._task.costs)), np.ones(len(self._task.costs))
        for fixed, values in self._cores():
            least[:], largest[:] = 0, 1
            least[fixed] = largest[fixed] = values[fixed]
            self._is_core = True
            status = self._search(least, largest)
            if status not in done:
                break
        self._is_core = False
        least[:], largest[:] = 0, 1
        status = self._search(least, largest)
        self._pipe.send((DONE, self._solver.getInfo().mip_dual_bound, status in impossible))

    def _cores(self) -> Iterator[tuple[Array, Array]]:
        """Which columns keep their values in the relaxation, and all of these values; fewer and fewer of them."""
        import highspy

        solver, whole = self._solver, len(self._task.costs) - self._task.continuous
        solver.setOptionValue("solve_relaxation", True)
        solver.run()
        solver.setOptionValue("solve_relaxation", False)
        if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return
        self._tell_bound(solver.getInfo().objective_function_value)
        solution = solver.getSolution()
        values, slopes = np.array(solution.col_value)[:whole], np.abs(np.array(solution.col_dual)[:whole])
        rounded = np.rint(values)
        order = np.argsort(np.where(values == rounded, slopes, -1.0), kind="stable")
        size = 2 * int((np.abs(values - rounded) > 1e-6).sum()) + _CORE_BASE
        while size <= whole // 2 and time.perf_counter() < self._cores_end:
            yield order[size:], rounded
            size *= 2

    def _search(self, least: Array, largest: Array) -> Any:
        """Solve with these bounds of columns, from the best solution known if it is within them."""
        import highspy

        solver, columns = self._solver, np.arange(len(least), dtype=np.int32)
        solver.changeColsBounds(len(columns), columns, least, largest)
        if self._best is not None and ((least <= self._best) & (self._best <= largest)).all():
            solution = highspy.HighsSolution()
            solution.col_value = self._best.astype(float).tolist()
            solver.setSolution(solution)
        solver.run()
        if solver.getSolution().value_valid:
            self._tell(np.rint(np.array(solver.getSolution().col_value)).astype(np.int64))
        return solver.getModelStatus()

    def _tell(self, columns: Array) -> None:
        if self._note(columns):
            self._pipe.send((FOUND, columns))

    def _note(self, columns: Array) -> bool:
        """Whether these columns are the best so far."""
        cost = float(self._task.costs @ columns)
        if cost >= self._cost:
            return False
        self._best, self._cost = columns, cost
        return True

    def _tell_bound(self, value: float) -> None:
        if math.isfinite(value) and value > self._bound:
            self._bound = value
            self._pipe.send((BOUND, value))

    def _improved(self, event: _Event) -> None:
        self._tell(np.rint(event.data_out.mip_solution).astype(np.int64))
        self._look(event)

    def _look(self, event: _Event) -> None:
        event.interrupt(self._is_core and time.perf_counter() > self._cores_end)  # else it still is from a core
        if not self._is_core:  # the bound of a core is none of the whole
            self._tell_bound(event.data_out.mip_dual_bound)

    def _take(self, event: _Event) -> None:
        if self._pipe.poll():
            columns = self._pipe.recv()
            self._note(columns)
            event.data_in.setSolution(columns.astype(float))


def _model(task: Task) -> Any:
    import highspy

    matrix, n = _matrix(task), len(task.costs)
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
    return model


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
