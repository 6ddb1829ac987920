"""A run owns the loop: budget, progress, trace, checkpoint, interrupt."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from systola.backends.session import Session, Work
from systola.checkpoint import write_checkpoint
from systola.encodings import Array
from systola.ending import ask_to_stop, time_limit
from systola.faults import check_faults, told_plainly
from systola.model.objective import violation
from systola.population import NEVER
from systola.problem import Problem, record_of, senses_of, space_of
from systola.signals import Interruption
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


def objective_of(problem: Problem, measures: Array) -> Any:
    """Measures in the problem's own units: a number, or a list for several objectives."""
    scale = problem.scale
    values = [m.item() if scale == 1 else m.item() / scale for m in measures[: len(senses_of(problem))]]
    return values if len(values) > 1 else values[0]


def violation_of(problem: Problem, measures: Array) -> float:
    """By how much the constraints are broken, in the problem's own units."""
    return float(violation(record_of(problem), measures)) / problem.scale


def reaches(problem: Problem, measures: Array, target: float) -> bool:
    """Whether a solution with these measures is feasible and at least as good as the target."""
    objective = objective_of(problem, measures)
    first = objective[0] if isinstance(objective, list) else objective
    better_side = first >= target if senses_of(problem)[0] > 0 else first <= target
    return bool(better_side) and violation_of(problem, measures) == 0


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
    resumed: tuple[dict[str, Any], dict[str, Array]] | None = None  # a checkpoint to go on from

    step: int = 0
    trace: Trace = field(default_factory=Trace)
    reason: str = ""
    failure: Exception | None = None  # what the callback raised
    notes: list[str] = field(default_factory=list)
    interruption: Interruption = field(default_factory=Interruption)
    _earlier: float = 0.0
    _began: float = 0.0
    _reported: float = 0.0
    _saved: float = 0.0
    _per_step: float = 0.0
    _started: int = 0  # solutions of the first population that were made
    _within_step: bool = False  # part of a step is done: the population is nothing whole to save
    _whole: tuple[dict[str, Any], dict[str, Array]] | None = None  # what to save then, as it was before the step

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
        return self._started + self.step * self.work.design.per_step

    @property
    def seconds(self) -> float:
        """Time spent, compiling not counted, earlier parts of a resumed run included."""
        return self._earlier + time.perf_counter() - self._began

    def compile(self) -> None:
        """Compile what the run needs, before the clock starts."""
        self._tell("compiling")
        if self.failure:
            raise self.failure
        with told_plainly(self.work.problem):
            self.session.compile()

    def ask_to_stop(self) -> None:
        """End after the step under way, if it ends soon, or within it; any thread may call it."""
        ask_to_stop([self.session])

    def go(self, given: Array) -> None:
        """Run until a budget is met or somebody interrupts."""
        self.session.give(given)
        self._began = self._reported = self._saved = time.perf_counter()
        if self.resumed is not None:
            state, arrays = self.resumed
            self.session.restore(arrays)
            self.step, self._earlier = state["step"], state["seconds"]
            self.trace = Trace.from_json(state["trace"])
            self._started = self.work.design.started
        with time_limit(self.stop.seconds and self.stop.seconds - self.seconds, self.ask_to_stop):
            try:
                if self.resumed is None:
                    self._start()
                while not self._done():
                    if self._advance():
                        self._sample()
                    self._report("running")
                    if self.checkpoint and time.perf_counter() - self._saved >= self.checkpoint_every:
                        self._save()
            except KeyboardInterrupt:
                self.reason = "interrupted"
        self._measure_something()
        if self.checkpoint and (self._whole or not self._within_step):
            self._save()
        try:
            self._tell("done")
        except KeyboardInterrupt:
            self.reason = "interrupted"

    def _start(self) -> None:
        """The first population."""
        rows = self.work.design.started
        covered = self._cover_lanes(self.session.start, "starting")
        self._started = rows * covered // self.session.lanes
        check_faults(self.work.problem, self.session)
        self._sample()

    def _measure_something(self) -> None:
        """A run that ended in the very beginning: go on until there is one solution to give back."""
        for lane in range(self.session.lanes):
            if self.session.best().step[0] != NEVER:
                break
            self.session.start(lane, lane + 1)
        self._started = max(1, self._started)
        if not self.trace.samples:
            self._sample()

    def best(self) -> tuple[Array, Array, int]:
        """Measures, decisions and step of the best solution so far."""
        best = self.session.best()
        encoding, space = self.work.problem.encoding, space_of(self.work.problem)
        return np.array(best.score[0]), encoding.load(space, np.array(best.best))[0], int(best.step[0])

    def objective_of(self, measures: Array) -> Any:
        """Measures in the problem's own units: a number, or a list for several objectives."""
        return objective_of(self.work.problem, measures)

    def violation_of(self, measures: Array) -> float:
        """By how much the constraints are broken, in the problem's own units."""
        return violation_of(self.work.problem, measures)

    def _done(self) -> bool:
        if self.interruption.asked:
            self.reason = "interrupted"
        if not self.reason:
            self.reason = self._met()
        return bool(self.reason)

    def _must_leave(self) -> bool:
        """Whether to end within a step."""
        over = self.stop.seconds is not None and self.seconds >= self.stop.seconds
        return over or self.interruption.asked or self.failure is not None

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

    def _advance(self) -> int:
        """A call's worth of steps; none past a sample that is due or a budget. How many were made."""
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
            steps = self._make_long_step()
        else:
            steps = self.session.sweep(self.step + 1, steps, 0, self.session.lanes)
            self._within_step = self.session.is_left()
        self.step += steps
        if steps:
            self._per_step = max((time.perf_counter() - began) / steps, 1e-9)
        check_faults(self.work.problem, self.session)
        return steps

    def _make_long_step(self) -> int:
        """A step, a few lanes at a time; how many were made, none if it was left."""
        if self.checkpoint:
            self._whole = self._state(), {name: array.copy() for name, array in self.session.save().items()}
        step = self.step + 1
        lanes = self._cover_lanes(lambda low, high: self.session.sweep(step, 1, low, high), "running")
        if not self._within_step:
            self._whole = None
        return int(lanes == self.session.lanes)

    def _cover_lanes(self, call: Callable[[int, int], Any], stage: str) -> int:
        """All lanes of a long step, a few at a time, so that progress and signals are prompt; how many were done."""
        low, count, self._within_step = 0, 1, True
        while low < self.session.lanes:
            high = min(low + count, self.session.lanes)
            began = time.perf_counter()
            if call(low, high) == 0 or self.session.is_left():
                self._within_step = low > 0 or self.session.is_left()
                return low
            took = time.perf_counter() - began
            count = max(1, min(4 * count, int((high - low) * _CALL_SECONDS / max(took, 1e-9))))
            low = high
            if low < self.session.lanes:
                self._report(stage)
                if self._must_leave():
                    return low
        self._within_step = False
        self._report(stage)
        return low

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
        try:
            wants_end = self.callback(self._progress(stage))
        except Exception as error:  # the run is not lost for it: it ends well, and then the error is raised
            self.failure, wants_end = self.failure or error, True
        if wants_end and not self.reason:
            self.reason = "callback"

    def _progress(self, stage: str) -> Progress:
        memory = self.session.memory
        if stage == "compiling":
            return Progress(stage, 0, 0, 0.0, memory=memory)
        best = self.session.best()
        known = best.step[0] >= 0
        return Progress(
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

    def _fraction(self) -> float | None:
        parts = []
        if self.stop.iterations:
            parts.append(self.step / self.stop.iterations)
        if self.stop.evaluations:
            parts.append(self.evaluations / self.stop.evaluations)
        if self.stop.seconds:
            parts.append(self.seconds / self.stop.seconds)
        return min(1.0, max(parts)) if parts else None

    def _state(self) -> dict[str, Any]:
        return {**self.identity, "step": self.step, "seconds": self.seconds, "trace": self.trace.to_json()}

    def _save(self) -> None:
        assert self.checkpoint is not None
        self._saved = time.perf_counter()
        state, arrays = self._whole or (self._state(), self.session.save())
        self.notes = [n for n in self.notes if not n.startswith("checkpoint")]
        try:
            write_checkpoint(self.checkpoint, state, arrays)
        except OSError as error:
            # The run is worth more than its checkpoint: go on, try again next time, and say so at the end.
            self.notes.append(f"checkpoint {self.checkpoint} could not be written: {error.strerror}")
