"""The run of one search: the loop that knows of budget, progress, trace, checkpoint and interrupt, and of no kernel."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from systola.model.encodings import Array, Solutions
from systola.model.population import Population
from systola.model.problem import Problem, digest_of
from systola.run.budget import Budget, Spent, Stop
from systola.run.checkpoint import read_state, write_checkpoint
from systola.run.ending import ask_to_stop, time_limit
from systola.run.execution import CALL_SECONDS, REPORT_SECONDS, Callback, Progress
from systola.run.search import Found, Saved, Search, same_as
from systola.run.signals import Interruption, held_signals
from systola.run.trace import Sample, Trace
from systola.run.units import objective_of, reaches, violation_of
from systola.version import __version__


@dataclass
class Run:
    """One run of a search; `go` takes it to its end."""

    search: Search
    stop: Stop
    callback: Callback | None = None
    checkpoint: Path | None = None
    checkpoint_every: float = 60.0
    identity: dict[str, Any] = field(default_factory=dict)
    resumed: tuple[dict[str, Any], dict[str, Array]] | None = None  # a checkpoint to go on from

    trace: Trace = field(default_factory=Trace, init=False)
    reason: str = field(default="", init=False)
    failure: Exception | None = field(default=None, init=False)
    faults: list[str] = field(default_factory=list, init=False)
    interruption: Interruption = field(default_factory=Interruption, init=False)
    on_kernel: Callable[[str], None] | None = field(default=None, init=False)  # is told which one is compiled
    _earlier: float = field(default=0.0, init=False)
    _began: float = field(default=0.0, init=False)
    _reported: float = field(default=0.0, init=False)
    _saved: float = field(default=0.0, init=False)
    _saved_step: int = field(default=-1, init=False)  # the last that a checkpoint was written of
    _whole: float = field(default=0.0, init=False)  # seconds at the end of the last whole step
    _sampled: tuple[bytes, Any, float] = field(default=(b"", None, 0.0), init=False)  # measures, and what they mean

    problem = same_as("search.problem", Problem)
    backend = same_as("search.backend", str)
    threads = same_as("search.threads", int)
    step = same_as("search.step", int)
    evaluations = same_as("search.evaluations", int)

    @property
    def _budget(self) -> Budget:
        return Budget(self.stop, self.search.per_step)

    @property
    def repeatable(self) -> bool:
        # "seconds" alone are not in every budget: a cap may have been met.
        return self.stop.repeatable and self.reason not in ("interrupted", "callback", "failed", "seconds")

    @property
    def seconds(self) -> float:
        return self._earlier + time.perf_counter() - self._began

    def compile(self) -> None:
        self._tell(Progress("compiling", 0, 0, 0.0, memory=self.search.memory))
        if self.failure:
            raise self.failure
        self.search.on_kernel = self._tell_of_kernel
        try:
            self.search.compile()
        except BaseException:
            self.search.close()
            raise

    def _tell_of_kernel(self, what: str) -> None:
        if self.on_kernel:
            self.on_kernel(what)
        self._tell(Progress("compiling", 0, 0, 0.0, memory=self.search.memory, kernel=what))

    def ask_to_stop(self) -> None:
        self.interruption.asked = True
        ask_to_stop([self.search])

    def go(self, solutions: Solutions = ()) -> None:
        try:
            self._go(solutions)
        finally:
            self.search.close()

    def begin(self) -> None:
        """Start the clock, and go on from a checkpoint if there is one."""
        self._began = self._reported = self._saved = time.perf_counter()
        if self.resumed is not None:
            state, arrays = self.resumed
            self.search.restore(state, arrays)
            self._earlier, self.trace = state["seconds"], Trace.from_json(state["trace"])

    def _go(self, solutions: Solutions) -> None:
        self.begin()
        with time_limit(self._budget.seconds_left(self.seconds), lambda: ask_to_stop([self.search])):
            try:
                if self.resumed is None:
                    self._start(solutions)
                while self.take_turn():
                    self.tell_progress("running")
                    if self._is_due():
                        self._save()
            except KeyboardInterrupt:
                self.reason = "interrupted"
        if not self.trace.samples:
            self._sample()
        if self.checkpoint and self._saved_step < self.search.step:
            self._save()
        try:
            if self.callback:
                self._tell(self._progress("done"))
        except KeyboardInterrupt:
            self.reason = "interrupted"

    def best(self) -> Found:
        return self.search.best()

    def population(self) -> Population | None:
        return self.search.population()

    def populations(self) -> list[Population]:
        return self.search.populations()

    def report(self) -> None:
        return None

    def _start(self, solutions: Solutions) -> None:
        self.search.start(solutions)
        self.tell_progress("starting")
        while not self.search.whole and not self._must_leave():
            self.search.advance(0, CALL_SECONDS)
            self.tell_progress("starting")
            if not self.search.whole and self._is_due():
                self._save()
        self._sample()

    def take_turn(self) -> bool:
        """Let the search go on for a moment; False if the run is over."""
        spent = self._take_stock()
        if self._is_over(spent):
            return False
        self._advance(spent)
        return True

    def _advance(self, spent: Spent) -> None:
        """A call's worth of steps; none past a sample that is due or a budget."""
        search, budget = self.search, self._budget
        due = self.trace.next_step(search.step) - search.step
        steps, seconds = min(due, budget.steps_left(spent)), min(CALL_SECONDS, budget.seconds_left(spent.seconds))
        if search.advance(steps, seconds) or (search.whole and not self.trace.samples):
            self._sample()
        if search.whole:
            self._whole = self.seconds

    def _take_stock(self) -> Spent:
        """What the budget asks for; the best solution only if it must be looked at."""
        stop, search = self.stop, self.search
        # Targets only at steps that do not depend on the clock, so that a run with a target can be repeated.
        looks = stop.target is not None and search.step % self.trace.stride == 0
        found, reached = 0, False
        if looks or stop.stall is not None:
            best = search.best()
            found = best.step
            reached = looks and stop.target is not None and reaches(search.problem, best.measures, stop.target)
        return Spent(search.step, search.evaluations, self.seconds, found, reached)

    def _is_over(self, spent: Spent) -> bool:
        if self.interruption.asked:
            self.reason = "interrupted"
        if self.search.failure:
            self.failure, self.reason = self.failure or self.search.failure, self.reason or "failed"
        if not self.search.whole:
            if self._must_leave() and not self.reason:
                self.reason = "seconds"
            return self._must_leave()
        if not self.reason:
            self.reason = self._budget.met(spent) or (self.search.ending if self.search.finished else "")
        return bool(self.reason)

    def _must_leave(self) -> bool:
        """Whether to end within a step; whatever else ends a run waits for its end, or it could not be repeated."""
        over = self._budget.seconds_left(self.seconds) <= 0
        failed = self.failure is not None or self.search.failure is not None
        return over or self.interruption.asked or failed

    def _sample(self) -> None:
        search = self.search
        if search.step % self.trace.stride == 0:
            measures, problem = search.best().measures, search.problem
            if measures.tobytes() != self._sampled[0]:  # mostly the best solution is that of the last sample
                self._sampled = measures.tobytes(), objective_of(problem, measures), violation_of(problem, measures)
            self.trace.take(Sample(search.step, search.evaluations, self.seconds, *self._sampled[1:]))

    def tell_progress(self, stage: str) -> None:
        """Call the callback, if there is one and it is time."""
        if self.callback and time.perf_counter() - self._reported >= REPORT_SECONDS:
            self._reported = time.perf_counter()
            self._tell(self._progress(stage))

    def _tell(self, progress: Progress) -> None:
        if self.callback is None:
            return
        try:
            wants_end = self.callback(progress)
        except Exception as error:  # the run is not lost for it: it ends well, and then the error is raised
            self.failure, wants_end = self.failure or error, True
        if wants_end and not self.reason:
            self.reason = "callback"

    def _progress(self, stage: str) -> Progress:
        search, measures, seconds = self.search, self.search.best().measures, self.seconds
        return Progress(
            stage,
            search.step,
            search.evaluations,
            seconds,
            objective_of(search.problem, measures),
            violation_of(search.problem, measures),
            self._budget.fraction(Spent(search.step, search.evaluations, seconds)),
            search.memory,
            search.population,
            search.best,
            search.picture,
        )

    def _is_due(self) -> bool:
        if self.checkpoint is None or not (self.search.whole or self.search.saves_within):
            return False
        return time.perf_counter() - self._saved >= self.checkpoint_every

    def _save(self) -> None:
        assert self.checkpoint is not None
        self._saved = time.perf_counter()
        saved = self.saved()
        if saved is None:
            return
        state, arrays = saved
        self.faults = [f for f in self.faults if not f.startswith("checkpoint")]
        try:
            write_checkpoint(self.checkpoint, state, arrays)
            self._saved_step = self.search.step
        except OSError as error:
            # The run is worth more than its checkpoint: go on, try again next time, and say so at the end.
            self.faults.append(f"checkpoint {self.checkpoint} could not be written: {error.strerror}")

    def saved(self) -> Saved | None:
        """What a checkpoint holds; None if there is no whole step to go on from."""
        saved = self.search.save()
        if saved is None:
            return None
        seconds = self.seconds if self.search.whole else self._whole
        return {**self.identity, **saved[0], "seconds": seconds, "trace": self.trace.to_json()}, saved[1]


def run_search(
    search: Search,
    stop: Stop,
    *,
    start: Solutions = (),
    callback: Callback | None = None,
    checkpoint: str | Path | None = None,
    checkpoint_every: float = 60.0,
    resume: str | Path | None = None,
) -> Run:
    """Run a search of your own to its end, as `solve` runs an engine: signals end it well, and it can be resumed.

    Parameters
    ----------
    search : Search
        Not started yet.
    stop : Stop
        Budgets, combined with ``|``.
    start, callback, checkpoint, checkpoint_every, resume
        As for `solve`.

    Returns
    -------
    Run
        With `best()`, `reason`, `step`, `evaluations`, `seconds` and `trace`.
    """
    kind = type(search)
    identity = {"search": f"{kind.__module__}.{kind.__qualname__}", "problem": digest_of(search.problem)}
    identity["version"] = __version__
    saving = Path(checkpoint) if checkpoint else None, checkpoint_every
    run = Run(search, stop, callback, *saving, identity, read_state(resume, identity) if resume else None)
    run.compile()
    with held_signals(run.ask_to_stop) as run.interruption:
        run.go(start)
    if run.failure:
        raise run.failure
    return run
