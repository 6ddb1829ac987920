"""A search as the host sees it: whatever looks for solutions of a problem, a step at a time.

The engines of kernels are searches (`EngineSearch`), and so can be an exact solver, a race of several engines, or a
program that asks people for evaluations. Runs and demes know nothing else of what they drive.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from operator import attrgetter
from typing import Any, Protocol, TypeVar, cast

from systola.errors import InputError
from systola.model.encodings import Array, Solutions
from systola.model.objective import Returned
from systola.model.population import Population
from systola.model.problem import Problem

Saved = tuple[dict[str, Any], dict[str, Array]]  # plain data, which JSON can hold, and arrays
_T = TypeVar("_T")


def same_as(path: str, kind: type[_T]) -> _T:
    """A property of this type that is asked of another object: ``step = same_as("search.step", int)``."""
    return cast(_T, property(attrgetter(path)))


class Found:
    """The best solution so far.

    Parameters
    ----------
    measures
        What `evaluate` returns, as numbers of one type.
    decisions
        The solution, or a function that gives it: traces ask for measures only, and often.
    step
        The step that brought it, 0 for the first population.
    """

    __slots__ = ("_decisions", "measures", "step")

    def __init__(self, measures: Array, decisions: Array | Callable[[], Array], step: int) -> None:
        self.measures, self._decisions, self.step = measures, decisions, step

    @property
    def decisions(self) -> Array:
        """The solution, as `evaluate` gets it."""
        return self._decisions() if callable(self._decisions) else self._decisions


class Search(Protocol):
    """The contract between a search and whoever runs it. Subclasses inherit what most of them share.

    The unit of work is the *step*: the smallest piece after which a search is whole, so that it can be saved and its
    budget looked at. It may make solutions (evaluations), always at most `per_step` of them. Steps are counted from 1;
    0 is what `start` does. How steps are shared out to calls must not matter: whoever asks for 10 and then for 5 gets
    the same search, bit for bit, as who asks for 15; likewise if seconds cut calls short, or if the search is saved
    and restored in between. What a step does may depend on the problem, the seed, what was injected and after which
    step, never on a clock.

    All methods but `stop` are called by one thread at a time.

    Attributes
    ----------
    problem : Problem
        What is searched for.
    step : int
        Whole steps so far.
    evaluations : int
        Solutions made so far.
    per_step : int
        How many of them a step makes at most.
    whole : bool
        Whether the search stands between two steps; False within a long one, or if one was left because of `stop`.
    finished : bool
        Whether there is nothing left to do, as when an exact method has proved its solution best.
    ending : str
        Why, as the result tells it.
    saves_within : bool
        Whether `save` gives more within a step than before it, so that it is worth calling then.
    failure : Exception, optional
        Why the search cannot go on, if so; its best solution is still one.
    on_kernel : function, optional
        Is told by `compile` which kernel it is at, in a few words.
    """

    problem: Problem
    step: int
    evaluations: int
    per_step: int = 1
    whole: bool = True
    finished: bool = False
    ending: str = "finished"
    saves_within: bool = False
    failure: Exception | None = None
    on_kernel: Callable[[str], None] | None = None

    @property
    def backend(self) -> str:
        """What computes."""
        return "python"

    @property
    def threads(self) -> int:
        """How many are used."""
        return 1

    @property
    def memory(self) -> int:
        """Bytes that the search holds, if they are worth telling."""
        return 0

    def compile(self) -> None:
        """Get ready: what is done here is not counted as time of a run."""

    def start(self, solutions: Solutions = ()) -> None:
        """Begin with these solutions, if any; before anything else but `compile`, unless there is `restore`.

        Afterwards there is a best solution. The first population may need calls of `advance` to become whole.
        """

    def advance(self, steps: int, seconds: float = math.inf) -> int:
        """Make at most so many steps, about as many as fit into so many seconds; how many became whole.

        Without a limit of time that is all of them, unless the search is asked to stop or is finished. With one it may
        be none: then a part of a long step was made, which the next call goes on with, whatever number of steps that
        asks for. It must return soon after the seconds are over, and must not make more steps than it is asked for.
        """
        ...

    def best(self) -> Found:
        """The best solution so far: feasible before infeasible. It is there as soon as `start` has returned."""
        ...

    def inject(self, solutions: Solutions) -> None:
        """Offer solutions from elsewhere, which the search may make use of in the steps to come.

        The same ones after the same step change it in the same way. An InputError if they are no solutions of the
        problem, or if the search does not take any.
        """
        raise InputError(f"{type(self).__name__} does not take solutions while it runs")

    def save(self) -> Saved | None:
        """All that another such search needs to go on from the last whole step, with "step" in its plain data.

        None if there is no whole step to go on from. The arrays may be those of the search itself: whoever keeps them
        while it goes on copies them.
        """
        ...

    def restore(self, state: dict[str, Any], arrays: dict[str, Array]) -> None:
        """Instead of `start`: go on from what `save` gave, bit for bit; an InputError if it does not fit."""
        ...

    def stop(self, at_once: bool = False) -> None:
        """End after the step under way, or within it; any thread may call it, at any moment, and it returns at once.

        `advance` makes no more steps afterwards. Searches whose calls are short need do nothing.
        """

    def close(self) -> None:
        """The run is over: end processes and the like. What was found can still be asked for."""
        return

    def population(self) -> Population | None:
        """A copy of the population, if there is one."""
        return None

    def populations(self) -> list[Population]:
        """Copies of all populations that there are."""
        population = self.population()
        return [] if population is None else [population]

    def picture(self) -> dict[str, Any] | None:
        """What the search looks like now, as plain data that a log can hold; None if there is nothing to be seen."""
        return None

    def bound(self) -> float | None:
        """A value that no feasible solution beats, in the problem's own sense and units, if the search knows one."""
        return None

    def is_proven(self) -> bool:
        """Whether no feasible solution is better than the best one, as an exact search finds out."""
        return False

    def told_of_best(self) -> Returned | None:
        """What others have told of the best solution, where they measure; None where `evaluate` does."""
        return None

    @property
    def notes(self) -> list[str]:
        """What is to be told with the result."""
        return []

    def race(self) -> list[dict[str, Any]] | None:
        """Of a race of several searches: what each of them did and what became of it."""
        return None
