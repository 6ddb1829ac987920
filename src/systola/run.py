"""A run owns the loop: budget, progress, trace, checkpoint, interrupt."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numba.core.errors import NumbaError

from systola.backends.cpu import judge
from systola.backends.session import Session, Work
from systola.checkpoint import write_checkpoint
from systola.encodings import Array
from systola.errors import ObjectiveError
from systola.population import NEVER
from systola.problem import Problem, violation
from systola.stop import Stop
from systola.trace import Sample, Trace

_CALL_SECONDS = 0.1  # one call of a kernel lasts about this long, so that Ctrl-C and progress are prompt
_REPORT_SECONDS = 0.25


@dataclass(frozen=True)
class Progress:
    """What a callback is told."""

    stage: str  # "compiling", "starting" or "running"
    step: int
    evaluations: int
    seconds: float
    objective: Any = None
    violation: float = 0.0
    fraction: float | None = None  # of the budget
    memory: int = 0  # bytes of the population and its workspace
    snapshot: Callable[[], Any] | None = field(default=None, repr=False)  # copies the population to the host


Callback = Callable[[Progress], Any]


@dataclass
class Interruption:
    """Whether the user pressed Ctrl-C."""

    asked: bool = False


@contextmanager
def held_interrupts() -> Iterator[Interruption]:
    """Note Ctrl-C instead of raising at once, so that a run ends between two steps; a second one raises."""
    noted = Interruption()

    def note(number: int, frame: Any) -> None:
        if noted.asked:
            raise KeyboardInterrupt
        noted.asked = True

    if threading.current_thread() is not threading.main_thread():
        yield noted
        return
    before = signal.signal(signal.SIGINT, note)
    try:
        yield noted
    finally:
        signal.signal(signal.SIGINT, before)


def objective_of(problem: Problem, measures: Array) -> Any:
    """Measures in the problem's own units: a number, or a list for several objectives."""
    scale = problem.scale
    values = [m.item() if scale == 1 else m.item() / scale for m in measures[: len(problem.senses)]]
    return values if len(values) > 1 else values[0]


def violation_of(problem: Problem, measures: Array) -> float:
    """By how much the constraints are broken, in the problem's own units."""
    return float(violation(problem.record, measures)) / problem.scale


def reaches(problem: Problem, measures: Array, target: float) -> bool:
    """Whether a solution with these measures is feasible and at least as good as the target."""
    objective = objective_of(problem, measures)
    first = objective[0] if isinstance(objective, list) else objective
    better_side = first >= target if problem.senses[0] > 0 else first <= target
    return bool(better_side) and violation_of(problem, measures) == 0


def check_faults(problem: Problem, session: Session) -> None:
    """Raise what the objective raised in a kernel, or that it was not a number."""
    count, example = session.faults()
    if example is not None:
        raise ObjectiveError(
            f"{type(problem).__name__}.evaluate {_explain(problem, example)} for {count} solutions; one of "
            f"them is {np.array2string(example, threshold=20)}"
        )


def _explain(problem: Problem, x: Array) -> str:
    try:
        judge(problem.record, x)
    except Exception as error:
        return f"raised {type(error).__name__}: {error},"
    return "must return a number, but returned NaN"


@contextmanager
def told_plainly(problem: Problem) -> Iterator[None]:
    """While kernels are compiled: Numba's long errors become a sentence."""
    try:
        yield
    except NumbaError as error:
        told = [
            line.strip()
            for line in str(error).splitlines()
            if line.strip().startswith(("Untyped", "Unknown", "No impl"))
        ]
        raise ObjectiveError(
            f"Numba cannot compile a method of {type(problem).__name__}: "
            f"{told[-1] if told else str(error).splitlines()[0]}; without fitness, violation, flip and the other "
            "optional methods an objective may run as plain Python"
        ) from None


@dataclass
class Run:
    """One run of an engine on a backend; `go` runs it to its end."""

    work: Work
    session: Session
    stop: Stop
    callback: Callback | None = None
    checkpoint: Path | None = None
    checkpoint_every: float = 60.0
    identity: dict[str, Any] = field(default_factory=dict)

    step: int = 0
    trace: Trace = field(default_factory=Trace)
    reason: str = ""
    notes: list[str] = field(default_factory=list)
    _earlier: float = 0.0
    _began: float = 0.0
    _reported: float = 0.0
    _saved: float = 0.0
    _per_step: float = 0.0
    _within_step: bool = False  # part of a step is done: there is nothing whole to save
    _interrupt: Interruption = field(default_factory=Interruption)

    @property
    def repeatable(self) -> bool:
        """Whether the same call would give the same result."""
        return self.stop.repeatable and self.reason not in ("interrupted", "callback")

    @property
    def backend(self) -> str:
        """Its name."""
        return self.session.backend

    @property
    def threads(self) -> int:
        """How many the backend uses."""
        return self.session.threads

    @property
    def evaluations(self) -> int:
        """Solutions made so far."""
        return self.work.design.started + self.step * self.work.design.per_step

    @property
    def seconds(self) -> float:
        """Time spent, compiling not counted, earlier parts of a resumed run included."""
        return self._earlier + time.perf_counter() - self._began

    def go(self, given: Array, resumed: tuple[dict[str, Any], dict[str, Array]] | None = None) -> None:
        """Run until a budget is met or the user interrupts."""
        self._tell("compiling")
        self.session.give(given)
        with told_plainly(self.work.problem):
            self.session.start(0, 0)
            self.session.sweep(1, 0, 0, self.session.lanes)
        self.session.best()
        self._began = self._reported = self._saved = time.perf_counter()
        if resumed is not None:
            state, arrays = resumed
            self.session.restore(arrays)
            self.step, self._earlier = state["step"], state["seconds"]
            self.trace = Trace.from_json(state["trace"])
        with held_interrupts() as self._interrupt:
            try:
                if resumed is None:
                    self._cover_lanes(self.session.start, "starting")
                    check_faults(self.work.problem, self.session)
                    self._sample()
                while not self._done():
                    self._advance()
                    self._sample()
                    self._report("running")
                    if self.checkpoint and time.perf_counter() - self._saved >= self.checkpoint_every:
                        self._save()
            except KeyboardInterrupt:
                self.reason = "interrupted"
                self._measure_something()
            if self.checkpoint and not self._within_step:
                self._save()
            try:
                self._tell("done")
            except KeyboardInterrupt:
                self.reason = "interrupted"

    def _measure_something(self) -> None:
        """An interrupt in the very beginning: go on until there is one solution to give back."""
        for lane in range(self.session.lanes):
            if self.session.best().step[0] != NEVER:
                return
            self.session.start(lane, lane + 1)

    def best(self) -> tuple[Array, Array, int]:
        """Measures, decisions and step of the best solution so far."""
        best = self.session.best()
        encoding, space = self.work.problem.encoding, self.work.problem.space
        return np.array(best.score[0]), encoding.load(space, np.array(best.best))[0], int(best.step[0])

    def objective_of(self, measures: Array) -> Any:
        """Measures in the problem's own units: a number, or a list for several objectives."""
        return objective_of(self.work.problem, measures)

    def violation_of(self, measures: Array) -> float:
        """By how much the constraints are broken, in the problem's own units."""
        return violation_of(self.work.problem, measures)

    def _done(self) -> bool:
        if self._interrupt.asked:
            self.reason = "interrupted"
        if not self.reason:
            self.reason = self._met()
        return bool(self.reason)

    def _met(self) -> str:
        stop = self.stop
        # Only at steps that do not depend on the clock, so that a run with a target can be repeated.
        if stop.target is not None and self.step % self.trace.stride == 0 and self._reached(stop.target):
            return "target"
        if stop.iterations is not None and self.step >= stop.iterations:
            return "iterations"
        if stop.evaluations is not None and self.evaluations + self.work.design.per_step > stop.evaluations:
            return "evaluations"
        if stop.stall is not None and self.step - self._found() >= stop.stall:
            return "stall"
        if stop.seconds is not None and self.seconds >= stop.seconds:
            return "seconds"
        return ""

    def _found(self) -> int:
        return int(self.session.best().step[0])

    def _reached(self, target: float) -> bool:
        return reaches(self.work.problem, self.session.best().score[0], target)

    def _advance(self) -> None:
        """A call's worth of steps; none past a sample that is due or a budget."""
        stop = self.stop
        steps = self.trace.next_step(self.step) - self.step
        if stop.iterations is not None:
            steps = min(steps, stop.iterations - self.step)
        if stop.evaluations is not None:
            steps = min(steps, (stop.evaluations - self.evaluations) // self.work.design.per_step)
        if stop.stall is not None:
            steps = min(steps, self._found() + stop.stall - self.step)
        call = _CALL_SECONDS if stop.seconds is None else min(_CALL_SECONDS, stop.seconds - self.seconds)
        if self._per_step > 0:
            steps = min(steps, max(1, int(call / self._per_step)))
        else:
            steps = min(steps, 1)
        began = time.perf_counter()
        if self._per_step > 2 * _CALL_SECONDS or self._per_step == 0:
            self._cover_lanes(lambda low, high: self.session.sweep(self.step + 1, 1, low, high), "running")
            steps = 1
        else:
            self.session.sweep(self.step + 1, steps, 0, self.session.lanes)
        self.step += steps
        self._per_step = max((time.perf_counter() - began) / steps, 1e-9)
        check_faults(self.work.problem, self.session)

    def _cover_lanes(self, call: Callable[[int, int], None], stage: str) -> None:
        """All lanes of a long step, a few at a time, so that progress and Ctrl-C stay prompt."""
        low, count, self._within_step = 0, 1, True
        while low < self.session.lanes:
            high = min(low + count, self.session.lanes)
            began = time.perf_counter()
            call(low, high)
            took = time.perf_counter() - began
            count = max(1, min(4 * count, int((high - low) * _CALL_SECONDS / max(took, 1e-9))))
            low = high
            if self._interrupt.asked and low < self.session.lanes:
                raise KeyboardInterrupt
            self._report(stage)
        self._within_step = False

    def _sample(self) -> None:
        if self.step % self.trace.stride == 0:
            measures = self.session.best().score[0]
            self.trace.take(
                Sample(
                    self.step,
                    self.evaluations,
                    self.seconds,
                    self.objective_of(measures),
                    self.violation_of(measures),
                )
            )

    def _report(self, stage: str) -> None:
        if self.callback and time.perf_counter() - self._reported >= _REPORT_SECONDS:
            self._reported = time.perf_counter()
            self._tell(stage)

    def _tell(self, stage: str) -> None:
        if self.callback is None:
            return
        memory = self.session.memory
        if stage == "compiling":
            wants_end = self.callback(Progress(stage, 0, 0, 0.0, memory=memory))
        else:
            best = self.session.best()
            known = best.step[0] >= 0
            wants_end = self.callback(
                Progress(
                    stage,
                    self.step,
                    self.evaluations,
                    self.seconds,
                    self.objective_of(best.score[0]) if known else None,
                    self.violation_of(best.score[0]) if known else 0.0,
                    self._fraction(),
                    memory,
                    self.session.population,
                )
            )
        if wants_end and not self.reason:
            self.reason = "callback"

    def _fraction(self) -> float | None:
        parts = []
        if self.stop.iterations:
            parts.append(self.step / self.stop.iterations)
        if self.stop.evaluations:
            parts.append(self.evaluations / self.stop.evaluations)
        if self.stop.seconds:
            parts.append(self.seconds / self.stop.seconds)
        return min(1.0, max(parts)) if parts else None

    def _save(self) -> None:
        assert self.checkpoint is not None
        self._saved = time.perf_counter()
        state = {
            **self.identity,
            "step": self.step,
            "seconds": self.seconds,
            "trace": self.trace.to_json(),
        }
        self.notes = [n for n in self.notes if not n.startswith("checkpoint")]
        try:
            write_checkpoint(self.checkpoint, state, self.session.save())
        except OSError as error:
            # The run is worth more than its checkpoint: go on, try again next time, and say so at the end.
            self.notes.append(f"checkpoint {self.checkpoint} could not be written: {error.strerror}")
