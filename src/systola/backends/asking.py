"""The session of a black box: a step is tried, and undone if it meets solutions whose measures nobody knows yet.

Steps are functions of what there was before and of the seed, so a step that was undone makes the same solutions when it
is tried again. Cells are independent of each other, so those of all cells are asked for together; a cell that needs
measures to go on is left at its next look at the stop flag.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.core.errors import NumbaError

from systola.backends.lane import start_row
from systola.backends.session import (
    Setup,
    allocate,
    as_objective_error,
    grow,
    memory_size_of,
    restore,
    saved,
    total_size,
)
from systola.backends.step import at_step, before_steps
from systola.engines.engine import end_step, step_cells
from systola.jit.atomics import peek, store
from systola.jit.compile import inlined, kernel
from systola.jit.private import compiled_for
from systola.jit.records import widen
from systola.jit.stop_flag import ASKED, LEFT
from systola.model.black_box import set_table
from systola.model.encodings import Array
from systola.model.population import Best, Population, Standing, copy_best
from systola.model.problem import record_of, space_of
from systola.model.value_table import Values

_DONE, _UNKNOWN, _OUT_OF_ROOM = range(3)  # how a try ended
_NOTHING = -1  # the step of a call that only compiles
_TABLE_BYTES = 2**26  # of solutions that are remembered


@inlined
def _is_unknown(s: Any) -> Any:
    """Whether a solution was met that has no measures yet."""
    return peek(s.lanes.stop, ASKED) != 0


@inlined
def _go_on(s: Any) -> None:
    """To the next cell, whatever the last one met."""
    store(s.lanes.stop, ASKED, 0)


def _try_step(engine: Any, base: Any, cells: Any, rows: Any, step: Any, collecting: Any, best: Any) -> Any:
    """Make a step, or the first population, step 0, of which the rows below rows[0] of rows[1] are given.

    If it is only to collect what is unknown, each cell goes as far as it can, and the step is not ended.
    """
    s = at_step(engine, base, step)
    _go_on(s)
    s.lanes.stop[LEFT] = 0
    if step == 0:
        for row in range(rows[1]):
            if collecting:
                _go_on(s)
            if not _is_unknown(s):
                start_row(engine, base, rows[0], row, np.int64(0))
    elif step > 0:
        if step == 1:
            end_step(engine, base)
            if _is_unknown(s):
                return _UNKNOWN
        width = np.int64(1) if collecting else cells
        for first in range(0, cells, width):
            _go_on(s)
            step_cells(engine, s, np.int64(first), np.int64(first) + width, np.int64(0))
        if not collecting and not _is_unknown(s):
            ended = end_step(engine, s)
            if not ended and not _is_unknown(s):
                return _OUT_OF_ROOM
    if collecting or _is_unknown(s):
        return _UNKNOWN
    if step >= 0:
        copy_best(s.lanes, 0, best)
    return _DONE


try_step = kernel(_try_step, counting=False)


class AskingSession:
    """A run whose problem is a black box, on one thread and with one lane."""

    def __init__(self, setup: Setup, compiled: bool) -> None:
        self._setup, self._compiled = setup, compiled
        self._population, self._lanes, self._best = allocate(setup, 1, 1)
        if not compiled:
            self._lanes = self._lanes._replace(decisions=self._lanes.decisions.astype(np.int64))
        row = self._lanes.decisions[0]
        most = max(_TABLE_BYTES // (row.nbytes + 8 * setup.measures + 17), 4 * setup.design.per_step)
        self.values = Values(row, setup.measures, setup.dtype, most, self._lanes.stop)
        self._given = 0
        self._before: tuple[Array, ...] | None = None  # of the step that is being tried
        self._call: Any = None

    @property
    def memory(self) -> int:
        """Bytes."""
        return total_size(self._population, self._lanes, (self.values.table.solutions, self.values.table.values))

    @property
    def backend(self) -> str:
        """What runs the kernels."""
        return "cpu" if self._compiled else "python"

    def compile(self) -> None:
        """Compile all that is needed, or load it from disk."""
        if self._compiled:
            self._run(_NOTHING, False)

    def give(self, rows: Array) -> None:
        """Rows of storage that the first population begins with."""
        self._population.x[: len(rows)] = rows
        self._given = len(rows)

    def attempt(self, step: int) -> bool:
        """Make a step, 0 for the first population; False if there are unknown solutions to be measured first.

        Then all is as it was before, and `values` has them.
        """
        while True:
            self._begin()
            self.values.take_met()
            outcome = self._run(step, False)
            if outcome == _OUT_OF_ROOM:
                self._undo()
                self._before = None
                self._setup, self._population = grow(self._setup, self._population)
                continue
            if outcome == _DONE and not self.values.take_met():
                self._before = None
                self.values.tidy(self._best_decisions())
                return True
            self._undo()
            self._run(step, True)
            self._undo()
            if not self.values.is_short_of_room:
                return False
            self.values.grow()

    def _run(self, step: int, collecting: bool) -> int:
        setup, twin = self._setup, self._setup.problem
        set_table(twin, self.values.table)
        record = record_of(twin) if self._compiled else widen(record_of(twin))
        base = before_steps(record, space_of(twin), self._population, self._lanes, setup.seed)
        design, rows = setup.design, (np.int64(self._given), np.int64(setup.design.started))
        args = (design.record, base, np.int64(design.cells), rows, np.int64(step), collecting, self._best)
        if not self._compiled:
            # What is measured later is compared with anything until then.
            with np.errstate(all="ignore"), as_objective_error(twin):
                return int(_try_step(*args))
        if self._call is None:
            try_step(*args[:4], np.int64(_NOTHING), *args[5:])
            self._call = compiled_for(try_step, args)
        with as_objective_error(twin):
            return int(self._call(*args))

    def _arrays(self) -> tuple[Array, ...]:
        return (*self._population, *self._lanes)

    def _begin(self) -> None:
        if self._before is None:
            self._before = tuple(array.copy() for array in self._arrays())

    def _undo(self) -> None:
        assert self._before is not None
        for array, earlier in zip(self._arrays(), self._before, strict=True):
            array[...] = earlier

    def _best_decisions(self) -> Array:
        problem = self._setup.problem
        plain = problem.encoding.load(space_of(problem), self._best.best)
        return np.asarray(plain[0], self._lanes.decisions.dtype)

    def best(self) -> Best:
        """The best solution after the last whole step."""
        return self._best

    def population(self) -> Population:
        """A copy."""
        return Population(*(a.copy() for a in self._population))

    def standing(self) -> Standing:
        """How good the population is; not copied."""
        return Standing(self._population.scores, self._population.slots, self._population.memory)

    def save(self) -> dict[str, Array]:
        """All that a run needs to go on after its last whole step."""
        return saved(self._population, self._best)

    def restore(self, arrays: dict[str, Array]) -> None:
        """The inverse of `save`."""
        while self._setup.design.sections and memory_size_of(arrays) > self._setup.design.memory_size:
            self._setup, self._population = grow(self._setup, self._population)
        restore(arrays, self._setup, self._population, self._lanes)
        copy_best(self._lanes, 0, self._best)


def open_session(setup: Setup, compiled: bool) -> AskingSession:
    """A session, compiled; interpreted if that is wanted, or if the user's `fitness` or `violation` cannot be."""
    session = AskingSession(setup, compiled)
    try:
        session.compile()
    except NumbaError:
        return AskingSession(setup, False)
    return session
