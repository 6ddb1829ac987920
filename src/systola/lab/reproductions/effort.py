"""How much of a paper is run again, and on what."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from systola.lab.experiment import Job, count_runs

OnDone = Callable[[int, int, Job], None]  # told of each run: how many are done, of how many, and which


@dataclass(frozen=True)
class Effort:
    """A quick look or all of it, how many runs, who is told of those that are done, and what they are made on."""

    quick: bool = False
    runs: int | None = None  # of each algorithm on each instance
    on_done: OnDone | None = None
    workers: int | None = None  # processes that make runs at the same time; all cores by default
    threads: int | None = None  # of a run, where runs are made one by one; all cores by default
    backend: str = "cpu"  # with cuda, speed is measured on the GPU, too

    def count(self, quick: int, full: int) -> int:
        """The runs to make: as many as asked for, or else those of a quick look or of a full one."""
        return count_runs(self.runs, quick if self.quick else full)

    def warnings(self, quick: int, least: int, full: int) -> tuple[str, ...]:
        """What must be said of so few runs: fewer than the least that tell something, or than the paper has."""
        count = self.count(quick, full)
        if count < least:
            told = f"{count} run{'s' * (count > 1)} of each: too few"
            return (f"{told} to tell chance from difference, for which {least} are needed; --runs says how many",)
        if count < full:
            return (f"{count} run{'s' * (count > 1)} of each, where the whole reproduction has {full}",)
        return ()


USUAL_EFFORT = Effort()
