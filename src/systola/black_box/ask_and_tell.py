"""Ask and tell: a run that is turned around. Whoever has it asks for solutions, measures them, and tells."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from systola.black_box.evaluation import shown
from systola.black_box.search import AskingSearch
from systola.errors import InputError
from systola.model.encodings import Array, Solutions
from systola.model.problem import space_of
from systola.run.checkpoint import write_checkpoint
from systola.run.log import RunLog
from systola.run.loop import Run
from systola.run.result import Result

_UNFINISHED = "unfinished"


class AskAndTell:
    """A run whose solutions are measured by whoever asks for them; `systola.ask_and_tell` makes one.

    The same seed and the same measures give the same run as `solve`, bit for bit, in whatever portions solutions are
    asked for, and in whatever order they are told of.
    """

    def __init__(self, run: Run, search: AskingSearch, summarise: Callable[[Run], Result], log: RunLog) -> None:
        self._run, self._search, self._summarise, self._log = run, search, summarise, log
        self._asked: set[int] = set()  # entries of the present batch
        self._over = False

    def begin(self, given: Solutions) -> None:
        """Start it, or go on from a checkpoint; `ask_and_tell` has done so."""
        self._run.begin()
        if self._run.resumed is None:
            self._search.start(given)
        self._go_on()

    def _go_on(self) -> None:
        """As far as it can without being told of anything."""
        self._asked.clear()
        while not self._search.waiting and not self._over:
            self._over = not self._run.take_turn()
        if self._over:
            self._run.tell_progress("done")
            self._log.end(self.result())

    def ask(self, count: int | None = None) -> Array:
        """Solutions to be measured that were not asked for before.

        Parameters
        ----------
        count : int, optional
            At most so many; by default all that can be measured now.

        Returns
        -------
        array
            A solution in each row. There are fewer than `count`, or none, if the engine has to be told of others first,
            or if the run is over.
        """
        if count is not None and (isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 1):
            raise InputError(f"`count >= 1` must hold, a whole number, but got {count!r}")
        entries = [] if self._over else [entry for entry in self._search.waiting if entry not in self._asked][:count]
        self._asked.update(entries)
        return self._rows(entries)

    @property
    def unanswered(self) -> Array:
        """Solutions that were asked for, and not told of yet; a row each."""
        return self._rows([entry for entry in self._search.waiting if entry in self._asked])

    def _rows(self, entries: list[int]) -> Array:
        problem = self._search.problem
        found = problem.encoding.load(space_of(problem), problem.encoding.empty(space_of(problem), len(entries)))
        for row, entry in enumerate(entries):
            found[row] = self._search.decisions(entry)
        return found

    def tell(self, solutions: Solutions, values: ArrayLike) -> None:
        """What solutions that were asked for are worth; some of them or all, in any order.

        Parameters
        ----------
        solutions
            One in each row, or a single one.
        values
            A number for each, as `evaluate` would return it; if there are several measures, a row of them for each.
        """
        search, problem = self._search, self._search.problem
        space, encoding = space_of(problem), problem.encoding
        rows = encoding.load(space, encoding.store(space, np.asarray(solutions)))
        table = self._read(values, len(rows))
        entries = [search.find(row) for row in rows]
        for number, (entry, row, told) in enumerate(zip(entries, rows, table, strict=True)):
            if entry in search.waiting and entries.index(entry) == number:
                continue
            known = search.session.values.told(entry) if entry >= 0 else None
            earlier = table[entries.index(entry)] if entry in search.waiting else known
            if earlier is None:
                raise InputError(
                    f"`tell` takes solutions that `ask` gave, but solution {number} is none of them: {shown(row)}"
                )
            if tuple(earlier) != tuple(told):
                raise InputError(
                    f"a solution has the same measures whenever it is told of, but solution {number} is worth {told} "
                    f"now and was worth {tuple(earlier)} before: {shown(row)}"
                )
        for entry, told in zip(entries, table, strict=True):
            if entry in search.waiting:
                search.tell(entry, told)
        self._run.tell_progress("running")
        if not search.waiting and not self._over:
            self._go_on()

    def _read(self, values: ArrayLike, count: int) -> list[tuple[Any, ...]]:
        """The measures of so many solutions; an InputError if they are none."""
        wanted = self._search.session.values.table.values.shape[1]
        try:
            told = np.asarray(values)
        except ValueError:
            told = np.array(None)
        shapes = [(count, wanted)] + [(count,)] * (wanted == 1) + [(wanted,) if wanted > 1 else ()] * (count == 1)
        if told.dtype.kind not in "biuf" or told.shape not in shapes:
            each = "a number" if wanted == 1 else f"{wanted} numbers, its measures,"
            came = f"an array of shape {told.shape}" if told.dtype.kind in "biuf" else f"{values!r}"
            raise InputError(f"`tell` needs {each} for each of {count} solutions, but got {came}")
        table = told.reshape(count, wanted)
        wrong = np.flatnonzero(~np.isfinite(table).all(axis=1))
        if len(wrong):
            raise InputError(
                f"measures must be finite numbers (`violation` says what is infeasible), but solution {wrong[0]} is "
                f"worth {table[wrong[0]].tolist()}; leave out what could not be measured, and tell of it later"
            )
        if told.dtype.kind in "iu" and (table != table.astype(np.float64).astype(object)).any():
            raise InputError("measures must have at most 53 bits, as floating-point numbers hold, but one has more")
        return [tuple(row) for row in table.tolist()]

    def result(self) -> Result:
        """The best solution so far, with all that the result of a run has; `stop` is "unfinished" before its end."""
        if not self._search.has_best:
            raise InputError("there is no result yet: `ask` for solutions and `tell` what they are worth")
        if not self._over:
            self._run.reason = _UNFINISHED
        try:
            return self._summarise(self._run)
        finally:
            if not self._over:
                self._run.reason = ""

    @property
    def over(self) -> bool:
        """Whether a budget is met: then there is nothing more to ask for."""
        return self._over

    @property
    def evaluations(self) -> int:
        """Solutions made so far."""
        return self._search.evaluations

    @property
    def iterations(self) -> int:
        """Whole steps so far."""
        return self._search.step

    def save(self, path: str | Path) -> None:
        """Write a checkpoint, with all that was told; `ask_and_tell` and `solve` can go on from it by `resume`.

        What was asked for and not told of is asked for again then.
        """
        saved = self._run.saved()
        assert saved is not None
        try:
            write_checkpoint(path, *saved)
        except OSError as error:
            raise InputError(f"the checkpoint {path} cannot be written: {error.strerror}") from None
