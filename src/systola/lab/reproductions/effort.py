"""How much of a paper is run again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from systola.lab.experiment import Job, count_runs

OnDone = Callable[[int, int, Job], None]  # told of each run: how many are done, of how many, and which


@dataclass(frozen=True)
class Effort:
    """A quick look or all of it, how many runs, and who is told of those that are done."""

    quick: bool = False
    runs: int | None = None  # of each algorithm on each instance
    on_done: OnDone | None = None

    def count(self, quick: int, full: int) -> int:
        """The runs to make: as many as asked for, or else those of a quick look or of a full one."""
        return count_runs(self.runs, quick if self.quick else full)


USUAL_EFFORT = Effort()
