"""The CPU backend: threads share the lanes of a step and meet at its end; and the same functions interpreted."""

from __future__ import annotations

import time
from typing import Any

import numba
import numpy as np

from systola.backends.lane import start_lane, step_lane
from systola.backends.session import (
    IMMIGRATION,
    Setup,
    allocate,
    as_objective_error,
    find_fault,
    grow,
    memory_size_of,
    restore,
    saved,
    total_size,
)
from systola.backends.step import Step, at_step, before_steps
from systola.engines.engine import end_step
from systola.engines.migration import NoPool, accept_immigrant, accept_next, supports_migration
from systola.errors import InputError
from systola.jit.compile import Call, called, compile_for, inlined, kernel, unaliased
from systola.jit.private import compiled_for
from systola.jit.records import widen
from systola.jit.stop_flag import ASKED, LEFT, NOW, SOON, is_asked
from systola.jit.team import (
    COUNT,
    EXIT,
    FIRST,
    HIGH,
    KIND,
    LOW,
    OUTCOME,
    SLEEP,
    STOP,
    THREADS,
    arrive,
    await_order,
    neighbour,
    new_team,
    next_part,
    release,
)
from systola.jit.thread_team import ThreadTeam
from systola.model.encodings import Array
from systola.model.objective import evaluate
from systola.model.population import Best, Population, Standing, best_lane, copy_best
from systola.model.problem import record_of, space_of

LANES = 64
_CHUNK = 64
_RETRY_SECONDS = 3.0
# Orders: the first population, of which FIRST says how many rows are given; and, of another kernel, COUNT steps from
# FIRST on; the same, but of the first one all is done except its end.
START, SWEEP, RESUME = range(STOP + 1, STOP + 4)
_DONE, _STOPPED, _UNFINISHED, _OUT_OF_ROOM = range(4)  # how a step ended


@called
def _start_lanes(engine: Any, s: Any, given: Any, rows: Any, low: Any, high: Any) -> None:
    for lane in range(low, high):
        start_lane(engine, s, given, rows, np.int64(lane))


@unaliased
def _step_lanes(engine: Any, s: Any, cells: Any, low: Any, high: Any) -> None:
    for lane in range(low, high):
        step_lane(engine, s, cells, np.int64(lane))


@inlined
def _finish_step(engine: Any, s: Any, high: Any) -> Any:
    """What the last thread to arrive does: the end of a step, and whether another one is to follow."""
    if s.lanes.stop[LEFT] != 0:
        return _UNFINISHED
    if high == s.lanes.step.shape[0] and not end_step(engine, s):
        return _OUT_OF_ROOM
    if s.lanes.stop[LEFT] != 0:
        return _UNFINISHED
    return _STOPPED if is_asked(s.lanes.stop) else _DONE


def _run_orders(engine: Any, base: Any, cells: Any, pool: Any, team: Any, me: Any) -> Any:
    """Thread `me` of the team carries out the order that there is, or, if it is not the caller, one after another.

    Of the steps in an order: how many were done, fewer if the host asked to stop; -1 less that number if room was
    lacking to end another.
    """
    while True:
        if me > 0 and not await_order(team, me):
            return SLEEP
        kind, low, high, first, count = team[KIND], team[LOW], team[HIGH], team[FIRST], team[COUNT]
        if kind == STOP:
            return EXIT
        done = np.int64(0)
        outcome = np.int64(_DONE)
        while done < count and outcome == _DONE:
            step = first + done
            s = at_step(engine, base, step)
            if kind == SWEEP and step == 1 and low == 0:
                here = arrive(team, me)
                if here < 0:
                    return EXIT
                if here > 0:
                    end_step(engine, base)
                    release(team)
            moving = kind == SWEEP or done > 0
            if moving and team[THREADS] == 1:  # a deme has one thread
                accept_next(pool, engine, s)
            for k in range(team[THREADS]):
                owner = neighbour(team, me, k)
                one, last = next_part(team, owner)
                while one < last:
                    if moving:
                        _step_lanes(engine, s, cells, one, last)
                    one, last = next_part(team, owner)
            here = arrive(team, me)
            if here < 0:
                return EXIT
            if here > 0:
                team[OUTCOME] = _finish_step(engine, s, high)
                release(team)
            outcome = team[OUTCOME]
            if outcome in (_DONE, _STOPPED):
                done += 1
        if me == 0:
            return -1 - done if outcome == _OUT_OF_ROOM else done


def _make_start(engine: Any, base: Any, rows: Any, team: Any, me: Any) -> Any:
    """As `_run_orders`, for the first population: a kernel of its own, since two are compiled faster than one."""
    while True:
        if me > 0 and not await_order(team, me):
            return SLEEP
        if team[KIND] == STOP:
            return EXIT
        for k in range(team[THREADS]):
            owner = neighbour(team, me, k)
            one, last = next_part(team, owner)
            while one < last:
                _start_lanes(engine, base, team[FIRST], rows, one, last)
                one, last = next_part(team, owner)
        here = arrive(team, me)
        if here < 0:
            return EXIT
        if here > 0:
            release(team)
        if me == 0:
            return 0


def _reduce_best(problem: Any, lanes: Any, best: Any) -> None:
    """The best answer of all lanes."""
    copy_best(lanes, best_lane(problem, lanes, 0, 1), best)


def _evaluate_compiled(problem: Any, x: Any) -> Any:
    """The plain objective."""
    return evaluate(problem, x)


def _accept_immigrant(engine: Any, base: Any, immigrants: Any, step: Any) -> None:
    """The first immigrant joins the population before this step, as the best solution of its deme."""
    accept_immigrant(engine, at_step(engine, base, step), immigrants, 0, True)


run_orders = kernel(_run_orders, counting=False)
make_start = kernel(_make_start, counting=False)
reduce_best = kernel(_reduce_best)
evaluate_compiled = kernel(_evaluate_compiled)
accept = kernel(_accept_immigrant, counting=False)


class CpuSession:
    """A run on the CPU, compiled or interpreted."""

    accepts_immigrants = True

    def __init__(self, setup: Setup, threads: int | None, compiled: bool = True, lanes: int | None = None) -> None:
        self.lanes = lanes or LANES
        self.backend = "cpu" if compiled else "python"
        self.threads = min(threads or numba.config.NUMBA_NUM_THREADS, setup.design.cells) if compiled else 1
        self._most = self.threads
        self.reserved = 0
        self._adaptive = threads is None and self.threads > 1
        self._paces: list[float] = []  # seconds a step took, while another number of threads is tried
        self._tried = -_RETRY_SECONDS
        self._given = 0
        self._setup = setup
        self._space = space_of(setup.problem)
        self._record = record_of(setup.in_kernels) if compiled else widen(record_of(setup.problem))
        self._population, self._lanes, self._best = allocate(setup, self.lanes, _CHUNK if compiled else 1)
        self.memory = total_size(self._population, self._lanes)
        if not compiled:
            self._lanes = self._lanes._replace(decisions=self._lanes.decisions.astype(np.int64))
        self._reduce_best: Any = reduce_best if compiled else _reduce_best
        self._pool: Any = NoPool()
        self._teams: dict[bool, ThreadTeam] = {}  # by whether they make the first population

    def give(self, rows: Array) -> None:
        self._population.x[: len(rows)] = rows
        self._given = len(rows)

    def kernels(self) -> dict[str, Call]:
        if self.backend != "cpu":
            return {}
        record, team = self._setup.design.record, (new_team(1), np.int64(0))
        found = {
            "steps": Call(run_orders, (*self._arguments(SWEEP), *team)),
            "first population": Call(make_start, (*self._arguments(START), *team)),
            "best solution": Call(reduce_best, (self._record, self._lanes, self._best)),
            "objective": self._objective,
        }
        if supports_migration(record):
            row = self._setup.problem.encoding.empty(self._space, 1)
            found[IMMIGRATION] = Call(accept, (record, self._base, row, 1))
        return found

    def compile(self) -> None:
        self._command(SWEEP, 0, 0, 1, 0)
        self._command(START, 0, 0, 0, 0)
        self.best()
        if self.backend == "cpu":
            compile_for(self._objective)
        if self.backend == "cpu" and not numba.config.DISABLE_JIT:
            self._reduce_best = compiled_for(reduce_best, (self._record, self._lanes, self._best))

    def start(self, low: int, high: int) -> None:
        self._command(START, low, high, self._given, 1)

    @property
    def _objective(self) -> Call:
        """By which the answer is evaluated anew."""
        problem, encoding = self._setup.problem, self._setup.problem.encoding
        return Call(
            evaluate_compiled, (record_of(problem), encoding.load(self._space, encoding.empty(self._space, 1))[0])
        )

    def _arguments(self, kind: int) -> tuple[Any, ...]:
        design = self._setup.design
        if kind == START:
            return design.record, self._base, design.started
        return design.record, self._base, design.cells, self._pool

    def _command(self, kind: int, low: int, high: int, first: int, count: int) -> int:
        starts = kind == START
        team = self._teams.get(starts)
        work: Any = make_start if starts else run_orders
        interpreted: Any = _make_start if starts else _run_orders
        fresh = team is None or team.is_stopped
        if team is None or fresh:
            team = ThreadTeam(work if self.backend == "cpu" else interpreted, self._arguments(kind), self._most)
            self._teams[starts] = team
        if not starts and count and True in self._teams:
            self._teams.pop(True).stop()  # there is a first population now
        with as_objective_error(self._setup.problem):
            made = team.execute(kind, self._at_work if low < high and count else 1, low, high, first, count)
        if fresh and self.backend == "cpu":
            team.use_compiled(work)
        return made

    @property
    def _at_work(self) -> int:
        return max(1, min(self.threads, self._most - self.reserved))

    @property
    def _base(self) -> Step:
        """The record that kernels get; anew each time, since the population may have grown."""
        return before_steps(self._record, self._space, self._population, self._lanes, self._setup.seed)

    def compile_immigration(self) -> None:
        if IMMIGRATION in self.kernels():
            compile_for(self.kernels()[IMMIGRATION])

    def accept_immigrant(self, step: int, row: Array) -> None:
        enter = accept if self.backend == "cpu" else _accept_immigrant
        with as_objective_error(self._setup.problem):
            enter(self._setup.design.record, self._base, row[None], step)

    def ask_to_stop(self, at_once: bool) -> None:
        self._lanes.stop[ASKED] = NOW if at_once else SOON

    def is_left(self) -> bool:
        return bool(self._lanes.stop[LEFT])

    def sweep(self, step: int, steps: int, low: int, high: int) -> int:
        began = time.perf_counter()
        done, kind = 0, SWEEP
        while not (low == 0 and kind == SWEEP and self._lanes.stop[ASKED]):
            made = self._command(kind, low, high, step + done, steps - done)
            done += made if made >= 0 else -1 - made
            if made >= 0:
                break
            self._grow()
            kind = RESUME
        if self._adaptive and done == steps >= 8:
            self._adapt((time.perf_counter() - began) / steps)
        return done

    def _grow(self) -> None:
        for team in self._teams.values():
            team.stop()
        self._teams.clear()
        self._setup, self._population = grow(self._setup, self._population)
        self.memory = total_size(self._population, self._lanes)

    def _adapt(self, pace: float) -> None:
        """All threads or one, whichever is faster now: short steps, or a busy machine, make more threads a burden.

        The pace of a run changes, too, so the other choice is judged by the stretches before and after it.
        """
        now = time.perf_counter()
        if not self._paces and now - self._tried < _RETRY_SECONDS:
            return
        self._paces.append(pace)
        other = self._most if self.threads == 1 else 1
        if len(self._paces) < 3:
            self.threads = other
            return
        before, between, after = self._paces
        if 2 * between < before + after:
            self.threads = other
        self._paces.clear()
        self._tried = now

    def best(self) -> Best:
        self._reduce_best(self._record, self._lanes, self._best)
        return self._best

    def faults(self) -> tuple[int, Array | None]:
        return find_fault(self._lanes)

    def population(self) -> Population:
        return Population(*(a.copy() for a in self._population))

    def standing(self) -> Standing:
        return Standing(self._population.scores, self._population.slots, self._population.memory)

    def save(self) -> dict[str, Array]:
        return saved(self._population, self.best())

    def restore(self, arrays: dict[str, Array]) -> None:
        while self._setup.design.sections and memory_size_of(arrays) > self._setup.design.memory_size:
            self._grow()
        restore(arrays, self._setup, self._population, self._lanes)
        decisions = self._setup.problem.encoding.load(self._space, self._lanes.best[:1])[0]
        worth = (
            evaluate_compiled(record_of(self._setup.problem), decisions)
            if self.backend == "cpu"
            else evaluate(self._record, decisions.astype(np.int64))
        )
        if not np.allclose(np.array(worth, self._setup.dtype).reshape(-1), self._lanes.score[0], rtol=1e-9, atol=1e-9):
            raise InputError("the checkpoint's best solution must be worth what it says, but is not")
