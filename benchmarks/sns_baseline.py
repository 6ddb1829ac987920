"""The plain C program c/sns.c from Python: compile it, run it, read back what it found."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

import baseline
from baseline import Bits, Ints, Selection

SOURCE = Path(__file__).parent / "c" / "sns.c"


@dataclass(frozen=True)
class MultiKnapsack(Selection):
    """Multidimensional knapsack; excess weight is penalised by Eq. 4 of the paper."""

    capacities: Ints


@dataclass(frozen=True)
class Outcome:
    """State after the last step, in cell order: cell (i, j) is entry i * n + j.

    Fitness is that of Eq. 4 times the smallest positive weight.
    """

    seconds: float
    best: int
    steps: int
    fitness: Ints
    solutions: Bits


def build(flags: list[str]) -> Path:
    """Compile sns.c with gcc and these flags, which may have -DPARTIAL and -DBRANCH; without, evaluation is full."""
    return baseline.build(flags, SOURCE)


def run(binary: Path, problem: MultiKnapsack, width: int, steps: int, solutions: Bits, moving: bool) -> Outcome:
    """Run SNS (as many rows as items) or SNSexp (their logarithm) from width * n solutions in cell order."""
    length = problem.length
    cells = width * length
    numbers = [
        np.array([length, len(problem.capacities), width, steps, moving]),
        problem.profits,
        problem.weights,
        problem.capacities,
    ]
    report, raw = baseline.exchange(binary, numbers, [solutions])
    fitness = np.frombuffer(raw, dtype="<i8", count=cells)
    return Outcome(
        seconds=report["seconds"],
        best=report["best"],
        steps=report["steps"],
        fitness=fitness,
        solutions=np.frombuffer(raw, dtype=np.uint8, offset=fitness.nbytes).reshape(cells, length),
    )
