"""How the best objective developed: bounded in memory however long the run.

Samples are taken at multiples of a stride of steps. When there are too many, every other one is dropped and the
stride doubles. So the samples depend on the steps only, never on the clock, and a resumed run has the same ones.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from systola.reading import is_number, is_whole

MOST_SAMPLES = 512


@dataclass(frozen=True)
class Sample:
    """The best solution known after a step."""

    step: int
    evaluations: int
    seconds: float
    objective: Any
    violation: float


@dataclass
class Trace:
    """Samples of a run, oldest first."""

    stride: int = 1
    samples: list[Sample] = field(default_factory=list)

    def next_step(self, step: int) -> int:
        """The next step after `step` at which a sample is due."""
        return (step // self.stride + 1) * self.stride

    def take(self, sample: Sample) -> None:
        """Keep a sample if it is due."""
        if sample.step % self.stride:
            return
        self.samples.append(sample)
        if len(self.samples) > MOST_SAMPLES:
            self.stride *= 2
            self.samples = [s for s in self.samples if s.step % self.stride == 0]

    def to_json(self) -> dict[str, Any]:
        """Plain data, by column."""
        names = ("step", "evaluations", "seconds", "objective", "violation")
        return {"stride": self.stride, **{n: [getattr(s, n) for s in self.samples] for n in names}}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Trace:
        """The inverse of `to_json`; a ValueError if it is something else."""
        try:
            columns = [data[n] for n in ("step", "evaluations", "seconds", "objective", "violation")]
            trace = cls(data["stride"], [Sample(*row) for row in zip(*columns, strict=True)])
        except KeyError as error:
            raise ValueError(f"a trace must have {error}, but this one does not") from None
        except (TypeError, ValueError):
            raise ValueError("a trace must have columns of the same length, but these differ") from None
        if not is_whole(trace.stride, 1) or not all(map(_is_valid, trace.samples)):
            raise ValueError("a trace must have a stride and samples of numbers")
        return trace


def _is_valid(sample: Sample) -> bool:
    objectives = sample.objective if isinstance(sample.objective, list) else [sample.objective]
    whole = is_whole(sample.step) and is_whole(sample.evaluations)
    return whole and bool(objectives) and all(map(is_number, (sample.seconds, sample.violation, *objectives)))
