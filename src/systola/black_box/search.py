"""A search whose solutions are measured by somebody else.

A step begins, comes to solutions that nobody has measured, and waits. When it has been told of all of them it begins
again, and may come to others. So an engine whose cells make their solutions from the population as it was asks for all
of a step at once; one that needs measures within a step asks for fewer at a time.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from systola.backends.asking import AskingSession, open_session
from systola.backends.session import Setup
from systola.engines.engine import Design, Engine
from systola.engines.picture import Picture, picture_of
from systola.errors import InputError
from systola.jit.records import widen
from systola.model.black_box import as_black_box
from systola.model.encodings import Array, Solutions
from systola.model.population import Population, ranks_above
from systola.model.problem import Problem, record_of, senses_of, space_of
from systola.reading import is_whole
from systola.run.engine_search import rows_of
from systola.run.search import Found, Saved, Search, same_as

_GIVEN = "given"  # among saved arrays: rows that the first population begins with
_TOLD = ("solutions", "values", "known")  # likewise, all solutions that were measured


class AskingSearch(Search):
    """An engine on a problem that is a black box: `waiting` says what is to be measured, `tell` what came of it.

    Parameters
    ----------
    problem, engine, seed
        As for `solve`.
    compiled
        Whether the engine's kernels are.
    """

    saves_within = True
    backend = same_as("session.backend", str)

    def __init__(self, problem: Problem, engine: Engine, seed: int, compiled: bool) -> None:
        self.problem, self.engine = problem, engine
        self._seed, self._compiled = seed, compiled
        self.design = self._prepare_engine(as_black_box(problem, len(senses_of(problem))))
        self.step = self.evaluations = 0
        self.per_step = self.design.per_step
        self.whole = True
        self.waiting: dict[int, None] = {}  # entries of the table of values, in order
        self._session: AskingSession | None = None
        self._starting = self._stopped = False
        self._fresh: Found | None = None  # the best solution of those measured since the last whole step
        self._record = widen(record_of(problem))
        space, encoding = space_of(problem), problem.encoding
        self._dtype = encoding.load(space, encoding.empty(space, 0)).dtype

    def _prepare_engine(self, twin: Problem) -> Design:
        try:
            return self.engine.prepare(twin)
        except InputError as error:
            if not self.problem.capabilities:
                raise
            raise InputError(f"{error}; capabilities are not used where solutions are measured elsewhere") from None

    def prepare(self, measures: int, dtype: DTypeLike) -> None:
        """So many measures of this type are told of a solution; before all else."""
        twin = as_black_box(self.problem, measures)
        self.design = self._prepare_engine(twin)
        self._session = open_session(Setup(twin, self.design, measures, dtype, self._seed), self._compiled)

    def compile(self) -> None:
        """`prepare` has done it."""

    @property
    def session(self) -> AskingSession:
        """Where the kernels run."""
        assert self._session is not None
        return self._session

    @property
    def memory(self) -> int:
        return self._session.memory if self._session else 0

    def start(self, solutions: Solutions = ()) -> None:
        self._given = rows_of(self.problem, solutions, self.design.started)
        self.session.give(self._given)
        self._starting, self.whole = True, False
        self._try()

    def advance(self, steps: int, seconds: float = math.inf) -> int:
        """As many steps as can be made without being told of anything."""
        made, began = 0, time.perf_counter()
        if self._starting:
            return 0 if self.waiting else self._try()
        while not self.waiting and (made < steps or not self.whole) and time.perf_counter() - began <= seconds:
            if self._stopped and self.whole:
                break
            made += self._try()
        return made

    def stop(self, at_once: bool = False) -> None:
        self._stopped = True

    def _try(self) -> int:
        """Make a step, or begin to wait; how many became whole."""
        self.whole = False
        session = self.session
        if not session.attempt(0 if self._starting else self.step + 1):
            self.waiting = dict.fromkeys(session.values.unknown().tolist())
            return 0
        self.whole, self._fresh = True, None
        if self._starting:
            self._starting = False
            self.evaluations = self.design.started
            return 0
        self.step += 1
        self.evaluations = self.design.started + self.step * self.per_step
        return 1

    def decisions(self, entry: int) -> Array:
        """The solution of an entry of the table of values."""
        return np.array(self.session.values.table.solutions[entry], self._dtype)

    def find(self, decisions: Array) -> int:
        """The entry of a solution, or -1."""
        return self.session.values.find(decisions.astype(self.session.values.table.solutions.dtype))

    def tell(self, entry: int, values: Sequence[Any]) -> None:
        """The measures of a solution that is waited for."""
        self.session.values.tell(entry, tuple(values))
        del self.waiting[entry]
        self.evaluations += 1
        measures = self.session.values.table.values[entry].copy()
        if self._fresh is None or ranks_above(self._record, measures, self._fresh.measures):
            self._fresh = Found(measures, self.decisions(entry), 0 if self._starting else self.step + 1)

    def know(self, decisions: Array, values: Sequence[Any]) -> None:
        """The measures of a solution that nobody has asked for yet."""
        table = self.session.values
        table.tell(table.enter(decisions.astype(table.table.solutions.dtype)), tuple(values))
        if self._fresh is None:
            self._fresh = Found(table.table.values[self.find(decisions)].copy(), decisions, 0)

    def told_of_best(self) -> tuple[Any, ...]:
        """What was told of the best solution, whole numbers as such."""
        best = self.best()
        entry = self.find(best.decisions)
        told = self.session.values.told(entry) if entry >= 0 else None
        return tuple(best.measures.tolist()) if told is None else told

    @property
    def has_best(self) -> bool:
        """Whether any solution was measured."""
        return self._fresh is not None or not self._starting

    def best(self) -> Found:
        if self._starting:
            if self._fresh is None:
                raise InputError("there is no solution yet: nothing was told of those that were asked for")
            return self._fresh
        best, problem = self.session.best(), self.problem
        row, measures = best.best.copy(), best.score[0].copy()
        if self._fresh is not None and ranks_above(self._record, self._fresh.measures, measures):
            return self._fresh
        return Found(measures, lambda: problem.encoding.load(space_of(problem), row)[0], int(best.step[0]))

    def save(self) -> Saved:
        """At any moment: what was told within a step is saved with the state before it."""
        told = {f"told.{name}": array for name, array in self.session.values.save().items()}
        if self._starting:
            return {"step": 0, "starting": True}, {_GIVEN: self._given, **told}
        return {"step": self.step}, {**self.session.save(), **told}

    def restore(self, state: dict[str, Any], arrays: dict[str, Array]) -> None:
        if not is_whole(state.get("step")):
            raise InputError(f"the checkpoint's step must be a whole number, but is {state.get('step')!r}")
        self._restore_values(arrays)
        if state.get("starting"):
            space, encoding = space_of(self.problem), self.problem.encoding
            given, like = arrays.get(_GIVEN), encoding.empty(space, 0)
            if given is None or given.dtype != like.dtype or given.shape[1:] != like.shape[1:]:
                raise _does_not_fit("given solutions")
            rows = encoding.load(space, given) if encoding.are_valid(space, given).all() else given
            self.start(rows if len(rows) else ())
            return
        self.session.restore(arrays)
        self._fresh = None
        self.step = int(state["step"])
        self.evaluations = self.design.started + self.step * self.per_step

    def _restore_values(self, arrays: dict[str, Array]) -> None:
        """What was told, if the checkpoint has it: one of a run without a table has not."""
        table = self.session.values.table
        found = [arrays.get(f"told.{name}") for name in _TOLD]
        if all(array is None for array in found):
            return
        solutions, values, known = (np.zeros(0) if array is None else array for array in found)
        fits = len({len(array) for array in (solutions, values, known) if array.ndim}) == 1
        fits = fits and solutions.shape[1:] == table.solutions.shape[1:] and values.shape[1:] == table.values.shape[1:]
        if not fits or values.dtype != table.values.dtype or known.shape != known.shape[:1]:
            raise _does_not_fit("measured solutions")
        if not np.isfinite(values).all() or ((known != 1) & (known != 2)).any() or solutions.dtype.kind not in "biu":
            raise _does_not_fit("measured solutions")
        if len(solutions):
            self.problem.encoding.store(space_of(self.problem), solutions)  # an InputError if they are none
        self.session.values.restore(solutions.astype(table.solutions.dtype), values, known)

    def population(self) -> Population:
        return self.session.population()

    def picture(self) -> Picture | None:
        if self.step == 0:
            return None
        return picture_of(self.problem, self.design, self.session.standing(), self.step)


def _does_not_fit(what: str) -> InputError:
    return InputError(f"the checkpoint's {what} must be those of a search like this one, but are not")
