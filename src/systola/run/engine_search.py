"""The search that an engine's kernels make on a backend."""

from __future__ import annotations

import math
import time
from collections import deque
from typing import Any

import numpy as np

from systola.backends.session import IMMIGRATION, Session, Setup
from systola.engines.engine import Design, Engine, parameters_of
from systola.engines.migration import supports_migration
from systola.engines.picture import Picture, picture_of
from systola.errors import InputError
from systola.jit.records import Record
from systola.model.encodings import Array, Solutions
from systola.model.population import Population
from systola.model.problem import Problem, digest_of, space_of
from systola.reading import is_whole
from systola.run.compilers import Job, Workshop, tell_nobody
from systola.run.faults import check_faults, explaining_errors
from systola.run.search import Found, Saved, Search, same_as
from systola.version import __version__

_LONG_SECONDS = 0.2  # a step that takes longer is made a few lanes at a time
_IMMIGRANTS = "immigrants"  # among saved arrays


def rows_of(problem: Problem, solutions: Solutions, most: int) -> Array:
    """Solutions to start from as rows of storage; an InputError if they are none, or too many."""
    none = solutions.shape[:1] == (0,) if isinstance(solutions, np.ndarray) else solutions in ((), [])
    if none:
        return problem.encoding.empty(space_of(problem), 0)
    rows = _store(problem, solutions)
    if len(rows) > most:
        raise InputError(f"at most {most} solutions can be started from here, but got {len(rows)}")
    return rows


def _store(problem: Problem, solutions: Solutions) -> Array:
    """Rows of storage; the encoding says what is wrong with whatever is no solution."""
    return problem.encoding.store(space_of(problem), solutions)


def identify(problem: Problem, design: Design, engine: Engine, seed: int) -> dict[str, Any]:
    """What a checkpoint of one search must have been made with."""
    return {
        "problem": digest_of(problem),
        "algorithm": engine.name,
        "parameters": parameters_of(engine),
        "operators": type(design.record).__name__,
        "seed": seed,
        "version": __version__,
    }


class EngineSearch(Search):
    """An engine laid out for a problem, and the session in which its kernels run.

    A step that takes long is cut: lanes are independent within a step, so a call makes a few of them. What is injected
    waits in a queue; before each step from the second on one solution is accepted, as the best of another deme is.

    Parameters
    ----------
    job, session
        What is run, and where.
    keeps_steps
        Whether there is something to save within a long step, too: the state before it is then kept, at the price of
        copying it.
    workshop
        Who compiles its kernels, if it is not only this process.
    """

    backend = same_as("session.backend", str)
    threads = same_as("session.threads", int)
    memory = same_as("session.memory", int)

    def __init__(
        self, setup: Setup, session: Session, keeps_steps: bool = False, workshop: Workshop | None = None
    ) -> None:
        self.setup, self.session, self._workshop = setup, session, workshop
        self.problem = setup.problem
        self.step = self.evaluations = 0
        self.per_step = setup.design.per_step
        self.whole = True
        self._pace = 0.0  # seconds that a step takes, 0 before the first one
        opening = setup.design.opening
        self._opening = opening if opening and opening.pays(setup.problem) else None
        self._is_asked = False  # to stop
        self._immigrants: list[Array] = []  # rows of storage that wait to be accepted
        self._injected = False  # whether one of them was, before the step under way
        self._starting = False  # the step under way is the first population
        self._low = 0  # lanes of it that are done
        self._spent = 0.0  # seconds that they took
        self._latest = 1, 0.0  # lanes of the last call, and the seconds of that
        self._keeps_steps = keeps_steps
        self._kept: Saved | None = None

    def compile(self) -> None:
        with explaining_errors(self.problem):
            if self._workshop:
                self._workshop.compilers.compile(self.jobs(but=IMMIGRATION), self.on_kernel or tell_nobody)
            self.session.compile()
        if self._opening:
            self._opening.compile()

    def jobs(self, but: str = "") -> list[Job]:
        """What is to be compiled of all that it may need, but for the kernel of this name."""
        kernels = {name: call for name, call in self.session.kernels().items() if name != but}
        return self._workshop.compilers.jobs(self._workshop.plan, kernels) if self._workshop else []

    def start(self, solutions: Solutions = ()) -> None:
        rows = self.setup.design.started
        self.session.give(self._complete(rows_of(self.problem, solutions, rows), rows))
        self._starting = True
        self._open_step()
        # With the first row there is an answer: it is made whoever asks to stop, and is in the last of these lanes.
        self._run_lanes(-(-self.session.lanes // max(1, rows)))
        self.evaluations = max(1, self.evaluations)

    def _complete(self, given: Array, rows: int) -> Array:
        """What to start from: what is given, and then the best of what the problem builds, the best first."""
        room = rows - len(given)
        if self._opening is None or room == 0:
            return given
        best = deque(self._opening.solutions(self.problem, lambda: self._is_asked), maxlen=room)
        return np.concatenate([given, _store(self.problem, list(best)[::-1])]) if best else given

    def advance(self, steps: int, seconds: float = math.inf) -> int:
        made, limited = 0, seconds < math.inf
        if not self.whole:
            made = self._run_lanes(self._count_lanes(seconds))
            if limited or not self.whole:
                return made
        if made < steps:
            if limited and not 0 < self._pace <= _LONG_SECONDS:
                self._begin_long_step()
                made += self._run_lanes(1)
            else:
                made += self._sweep(steps - made, seconds)
        return made

    def _sweep(self, steps: int, seconds: float) -> int:
        """Whole steps, as many as fit into the time; one by one as long as immigrants wait."""
        session, limited, made = self.session, seconds < math.inf, 0
        if limited:
            steps = min(steps, max(1, int(seconds / self._pace)))
        while made < steps:
            injected = bool(self._immigrants) and self._accept_one()
            wanted = 1 if self._immigrants else steps - made
            self.whole = False  # until it is certain: an interrupt may come at any moment
            began = time.perf_counter()
            done = session.sweep(self.step + 1, wanted, 0, session.lanes)
            self._count_steps(done, time.perf_counter() - began)
            self.whole = not session.is_left() and (done > 0 or not injected)
            check_faults(self.problem, session)
            made += done
            if limited or done < wanted:
                break
        return made

    def _begin_long_step(self) -> None:
        if self._keeps_steps:
            state, arrays = self._state()
            self._kept = state, {name: array.copy() for name, array in arrays.items()}
        self._injected = self._accept_one()
        self._open_step()

    def _open_step(self) -> None:
        self.whole, self._low, self._spent = False, 0, 0.0

    def _count_lanes(self, seconds: float) -> int:
        """How many lanes fit into a call of so many seconds, by what the last ones took."""
        if seconds == math.inf:
            return self.session.lanes
        lanes, took = self._latest
        return max(1, min(4 * lanes, int(lanes * seconds / max(took, 1e-9))))

    def _run_lanes(self, lanes: int) -> int:
        """The next lanes of the step under way; how many steps became whole by it."""
        session, low = self.session, self._low
        high = min(low + lanes, session.lanes)
        made, began = 1, time.perf_counter()
        if self._starting:
            session.start(low, high)
        else:
            made = session.sweep(self.step + 1, 1, low, high)
        took = time.perf_counter() - began
        check_faults(self.problem, session)
        if made == 0 or session.is_left():  # asked to stop: if nothing of the step is done, it was not begun
            self.whole = low == 0 and not session.is_left() and not self._injected
            return 0
        self._latest = high - low, took
        self._low, self._spent = high, self._spent + took
        return self._close_step() if high == session.lanes else self._close_part()

    def _close_part(self) -> int:
        if self._starting:
            self.evaluations = self.setup.design.started * self._low // self.session.lanes
        return 0

    def _close_step(self) -> int:
        self.whole, self._kept = True, None
        if self._starting:
            self._starting = False
            self.evaluations = self.setup.design.started
            return 0
        self._count_steps(1, self._spent)
        return 1

    def _count_steps(self, made: int, seconds: float) -> None:
        self.step += made
        self.evaluations += made * self.per_step
        if made:
            self._pace = max(seconds / made, 1e-9)

    def best(self) -> Found:
        best, problem = self.session.best(), self.problem
        row = best.best.copy()
        return Found(best.score[0].copy(), lambda: problem.encoding.load(space_of(problem), row)[0], int(best.step[0]))

    def inject(self, solutions: Solutions) -> None:
        record = self.setup.design.record
        if not supports_migration(record):
            raise InputError(
                f"an engine without `migration_slot` takes no solutions while it runs, and {_name(record)} has none"
            )
        if not self.session.accepts_immigrants:
            raise InputError(f"the backend {self.backend} takes no solutions while a search runs; use the cpu")
        self._immigrants += list(_store(self.problem, solutions))

    def _accept_one(self) -> bool:
        """Before a step: one of those who wait; whether there was any.

        Not before the first step, which ends the first population: engines make it ready for immigrants then.
        """
        if not self._immigrants or self.step == 0:
            return False
        self.session.accept_immigrant(self.step + 1, self._immigrants.pop(0))
        return True

    def save(self) -> Saved | None:
        return self._state() if self.whole else self._kept

    def _state(self) -> Saved:
        immigrants = {_IMMIGRANTS: np.stack(self._immigrants)} if self._immigrants else {}
        return {"step": self.step}, {**self.session.save(), **immigrants}

    def restore(self, state: dict[str, Any], arrays: dict[str, Array]) -> None:
        immigrants = arrays.get(_IMMIGRANTS)
        if not is_whole(state.get("step")) or (immigrants is not None and not self._are_acceptable(immigrants)):
            raise InputError(
                "the checkpoint's step and immigrants must be those of a search like this one, but are not"
            )
        self.session.restore(arrays)
        self.step, self._immigrants = int(state["step"]), [] if immigrants is None else list(immigrants)
        self.evaluations = self.setup.design.started + self.step * self.per_step

    def _are_acceptable(self, immigrants: Array) -> bool:
        encoding, space = self.problem.encoding, space_of(self.problem)
        row = encoding.empty(space, 0)
        fits = (
            immigrants.dtype == row.dtype
            and immigrants.shape[1:] == row.shape[1:]
            and supports_migration(self.setup.design.record)
        )
        return fits and self.session.accepts_immigrants and bool(encoding.are_valid(space, immigrants).all())

    def stop(self, at_once: bool = False) -> None:
        self._is_asked = True
        self.session.ask_to_stop(at_once)

    def population(self) -> Population:
        return self.session.population()

    def picture(self) -> Picture | None:
        if self.step == 0:  # rows may not be measured yet
            return None
        return picture_of(self.problem, self.setup.design, self.session.standing(), self.step)


def _name(record: Record) -> str:
    return type(record).__name__.partition("_")[0]
