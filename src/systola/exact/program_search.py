"""The search that HiGHS makes on a problem that is a linear program over zeros and ones."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from systola.errors import InputError
from systola.exact.solver_process import BOUND, DONE, FOUND, READY, Task, has_highspy, serve
from systola.model.encodings import Array, Solutions
from systola.model.integer_program import program_of
from systola.model.objective import violation
from systola.model.population import ranks_above
from systola.model.problem import Problem, record_of, space_of
from systola.run.child_process import ChildProcess
from systola.run.search import Found, Saved, Search

_WAIT = 0.1  # seconds, from one look at what asks to stop to the next
_BEST = "best"  # among saved arrays


class ProgramSearch(Search):
    """HiGHS, in a process of its own. A step is a better solution, or its end.

    What it tells is checked: solutions are measured by the problem's own objective, and bounds are rounded to whole
    numbers with a margin for the errors of floats.

    Parameters
    ----------
    problem
        What is solved.
    measure
        Its objective: what it returns for decisions, as an array.
    threads
        How many HiGHS may use; 0 leaves it to it.
    seconds
        The budget, endless if there is none.
    """

    saves_within = True

    def __init__(
        self, problem: Problem, measure: Callable[[Array], Array], threads: int = 0, seconds: float = math.inf
    ) -> None:
        self.problem, self._measure, self._seconds = problem, measure, seconds
        self.step = self.evaluations = 0
        self._threads = threads
        self.program = program_of(problem)
        self._record = record_of(problem)
        self._sign = -1 if self.program.maximise else 1
        self._limit: int | None = None  # no solution is worth more, or less, in units of the measures
        self._process: ChildProcess[Any] | None = None
        self._best: Found | None = None
        self._asked = self._impossible = False
        self.began = math.inf  # when the process was ready to solve, by `time.perf_counter`

    @property
    def backend(self) -> str:
        return "cpu"

    @property
    def tells_on_the_way(self) -> bool:
        """Whether solutions and bounds are known before the end."""
        return has_highspy()

    @property
    def threads(self) -> int:
        return max(1, self._threads)

    def compile(self) -> None:
        self.launch()
        assert self._process is not None
        if self._process.receive() is None:
            raise InputError(f"the process of the solver HiGHS did not start: {self._process.explain()}")

    def launch(self) -> None:
        """Start the process, without waiting for it."""
        program = self.program
        task = Task(self._sign * program.costs, program.entries, program.least, program.largest, program.continuous)
        self._process = ChildProcess(serve, task, self._threads)

    def start(self, solutions: Solutions = ()) -> None:
        encoding, space = self.problem.encoding, space_of(self.problem)
        given = encoding.load(space, encoding.store(space, solutions)) if len(solutions) else [encoding.example(space)]
        for decisions in given:
            self._note(np.array(decisions))
        assert self._best is not None
        known = self.program.encode(self._best.decisions.astype(np.int64)) if self._is_feasible() else None
        assert self._process is not None
        self._process.send((known, self._seconds))

    def _note(self, decisions: Array) -> bool:
        """Whether a solution is better than the best one, and becomes it."""
        measures = self._measure(decisions)
        self.evaluations += 1
        if self._best is not None and not ranks_above(self._record, measures, self._best.measures):
            return False
        self._best = Found(measures, decisions, self.step)
        return True

    def _is_feasible(self) -> bool:
        assert self._best is not None
        return bool(violation(self._record, self._best.measures) == 0)

    def advance(self, steps: int, seconds: float = math.inf) -> int:
        made, until = 0, time.perf_counter() + seconds
        process = self._process
        while process and made < steps and not self.finished and not self._asked:
            left = until - time.perf_counter()
            if not process.pipe.poll(max(0.0, min(left, _WAIT))):
                if left <= 0:
                    break
                continue
            message = process.receive()
            if message is None:
                self.failure = InputError(
                    f"the process of the solver HiGHS has ended: {process.explain()}; give it more memory, or choose "
                    "another algorithm"
                )
                self.finished = True
            elif message[0] == READY:
                self.began = time.perf_counter()
            elif message[0] == FOUND:
                decisions = self.program.decode(message[1])
                if self._note(np.array(decisions, self._best.decisions.dtype) if self._best else decisions):
                    self.step += 1
                    made += 1
                    assert self._best is not None
                    self._best.step = self.step
            elif message[0] == BOUND:
                self._take_bound(message[1])
            elif message[0] == DONE:
                self._take_bound(message[1])
                self._impossible = message[2] and not self._is_feasible()
                self.finished = True
                self.step += 1
                made += 1
        return made

    def _take_bound(self, value: float) -> None:
        """A bound on the costs to be minimised: rounded up, but for what may be the error of floats."""
        if not math.isfinite(value):
            return
        margin = 1e-6 + 1e-9 * abs(value) + 1e-8 * len(self.program.costs)
        limit = math.ceil(value - margin)
        if self._limit is None or limit > self._limit:
            self._limit = limit

    def _worth(self) -> int:
        """Of the best solution, as what is minimised."""
        assert self._best is not None
        return self._sign * int(self._best.measures[0])

    def bound(self) -> float | None:
        if self._limit is None:
            return None
        limit = max(self._limit, -self._limit) if self._limit == 0 else self._limit
        worth = min(limit, self._worth()) if self._is_feasible() else limit  # beyond the best one it says no more
        scale = self.problem.scale
        return self._sign * worth if scale == 1 else self._sign * worth / scale

    def is_proven(self) -> bool:
        return self._is_feasible() and self._limit is not None and self._limit >= self._worth()

    @property
    def notes(self) -> list[str]:
        return ["there is no feasible solution: HiGHS has proven it"] if self._impossible else []

    def best(self) -> Found:
        assert self._best is not None
        return self._best

    def inject(self, solutions: Solutions) -> None:
        """A feasible solution that is better than the best one is told to HiGHS; SciPy's takes none."""
        encoding, space = self.problem.encoding, space_of(self.problem)
        for decisions in encoding.load(space, encoding.store(space, solutions)):
            if self._note(np.array(decisions)) and self._is_feasible() and self._process and has_highspy():
                self._process.post(self.program.encode(decisions.astype(np.int64)))

    def stop(self, at_once: bool = False) -> None:
        self._asked = True

    def close(self) -> None:
        if self._process:
            self._process.end()

    def save(self) -> Saved:
        """The best solution only: what HiGHS has proven cannot be taken over, so that a resumed run begins anew."""
        return {"step": self.step}, {_BEST: np.array(self.best().decisions)}

    def restore(self, state: dict[str, Any], arrays: dict[str, Array]) -> None:
        if _BEST not in arrays or arrays[_BEST].ndim != 1:
            raise InputError("the checkpoint must be one of an exact search like this one, but is not")
        self.start([arrays[_BEST]])
        self.step = int(state["step"])
