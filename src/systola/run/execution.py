"""What `solve` needs of a run, of one search or of islands: to start it, to end it, and to make a result of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from systola.model.encodings import Solutions
from systola.model.population import Population
from systola.model.problem import Problem
from systola.run.budget import Stop
from systola.run.search import Found, Search
from systola.run.signals import Interruption
from systola.run.trace import Trace

REPORT_SECONDS = 0.25  # from one call of a callback to the next
CALL_SECONDS = 0.1  # one call of `advance` lasts about this long, so that Ctrl-C and progress are prompt


@dataclass(frozen=True)
class Progress:
    """What a callback is told."""

    stage: str  # "compiling", "starting", "running" or "done"
    step: int
    evaluations: int
    seconds: float
    objective: Any = None  # of the best solution; None while kernels are compiled
    violation: float = 0.0
    fraction: float | None = None  # of the budget
    memory: int = 0  # bytes of the population and its workspace
    snapshot: Callable[[], Population | None] | None = field(default=None, repr=False)  # copies it to the host
    best: Callable[[], Found] | None = field(default=None, repr=False)
    picture: Callable[[], dict[str, Any] | None] | None = field(default=None, repr=False)  # see `Search.picture`
    kernel: str = ""  # while compiling: which one, "kernel 2 of 4: ..."


Callback = Callable[[Progress], Any]


class Execution(Protocol):
    """A run: `compile`, then `go`; what it has found is there afterwards."""

    interruption: Interruption  # of whoever holds signals back while it goes

    @property
    def problem(self) -> Problem:
        """What was searched for."""
        ...

    @property
    def search(self) -> Search | None:
        """What it runs; None if there are several."""
        ...

    @property
    def stop(self) -> Stop:
        """The budget it was given."""
        ...

    @property
    def identity(self) -> dict[str, Any]:
        """What its checkpoints must have been made with: problem, parameters, seed, version."""
        ...

    @property
    def reason(self) -> str:
        """Why it ended: the name of a limit, "finished", "interrupted" or "callback"."""
        ...

    @property
    def failure(self) -> Exception | None:
        """What the callback raised."""
        ...

    @property
    def faults(self) -> list[str]:
        """What went wrong without ending the run."""
        ...

    @property
    def repeatable(self) -> bool:
        """Whether the same call would give the same result."""
        ...

    @property
    def backend(self) -> str:
        """What computed."""
        ...

    @property
    def threads(self) -> int:
        """How many did."""
        ...

    @property
    def step(self) -> int:
        """Steps made."""
        ...

    @property
    def evaluations(self) -> int:
        """Solutions made."""
        ...

    @property
    def seconds(self) -> float:
        """Time spent, compiling not counted, earlier parts of a resumed run included."""
        ...

    @property
    def trace(self) -> Trace:
        """How the best solution developed."""
        ...

    def compile(self) -> None:
        """Get ready, before the clock starts."""

    def go(self, solutions: Solutions = ()) -> None:
        """Run, from these solutions if any, until a budget is met or somebody interrupts."""

    def ask_to_stop(self) -> None:
        """End after the step under way, if it ends soon, or within it; any thread may call it."""

    def best(self) -> Found:
        """The best solution."""
        ...

    def population(self) -> Population | None:
        """A copy of the population, if there is one."""

    def populations(self) -> list[Population]:
        """Copies of all populations that this process holds."""
        ...

    def report(self) -> dict[str, Any] | None:
        """What islands did; None of a single search."""
