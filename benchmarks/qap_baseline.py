"""The plain C programs c/pugace.c and c/rts.c from Python: compile them, run them, check and read what they found."""

from __future__ import annotations

import json
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import baseline
from baseline import Ints

CELLULAR_SOURCE = Path(__file__).parent / "c" / "pugace.c"
TABU_SOURCE = Path(__file__).parent / "c" / "rts.c"


@dataclass(frozen=True)
class QuadraticAssignment:
    """Quadratic assignment; the cost of a permutation is the sum of flows[i, k] * distances[p[i], p[k]]."""

    flows: Ints
    distances: Ints

    def cost(self, permutation: Ints) -> int:
        """Cost of a permutation, from scratch."""
        return int((self.flows * self.distances[np.ix_(permutation, permutation)]).sum())


@dataclass(frozen=True)
class CellularOutcome:
    """What a run of the cellular algorithm found, and the time of its generations alone.

    `found` is the generation in which the best solution first appeared. The last two are set only where children were
    watched: the mean number of positions in which a child differs from the closer of its parents, and the share of the
    children that differ in none.
    """

    seconds: float
    best: int
    permutation: Ints
    generations: int
    found: int
    evaluations: int
    differences: float | None
    copies: float | None


@dataclass(frozen=True)
class TabuOutcome:
    """What a run of the tabu search found. Each iteration counts for n (n - 1) / 2 moves."""

    seconds: float
    best: int
    permutation: Ints
    iterations: int
    found: int
    moves_per_second: float


def read(path: Path) -> QuadraticAssignment:
    """Problem in a QAPLIB file: its size, and both matrices row by row."""
    length, *numbers = (int(word) for word in path.read_text().split())
    flows, distances = np.array(numbers, dtype=np.int64).reshape(2, length, length)
    return QuadraticAssignment(flows, distances)


def build_cellular(flags: list[str]) -> Path:
    """Compile pugace.c with gcc and these flags, which may have -DNUMBER=long; numbers are int without."""
    return baseline.build(flags, CELLULAR_SOURCE)


def build_tabu(flags: list[str]) -> Path:
    """Compile rts.c with gcc and these flags, which may have -DNUMBER=int and -DHOIST; numbers are long without."""
    return baseline.build(flags, TABU_SOURCE)


def run_cellular(
    binary: Path,
    problem: QuadraticAssignment,
    seed: int,
    generations: int = 5000,
    population: int = 2048,
    crossover: float = 0.9,
    mutation: float = 0.1,
    reach: int = 4,
    every: int = 10,
    block: int = 0,
    delta: bool = False,
    watch: int = 0,
) -> CellularOutcome:
    """Run the cellular algorithm, by default with the parameters of Table I and decisions for each individual.

    Local search is made `every` so many generations, and evaluates exchanges in full or by their `delta`. Individuals
    of a `block` share their decisions, unless it is 0. Children of the last `watch` generations are compared with
    their parents, which takes time.
    """
    numbers = [population, generations, crossover, mutation, reach, every, block, seed]
    report, permutation = _run(binary, problem, [*map(str, numbers), "delta" if delta else "full", str(watch)])
    return CellularOutcome(permutation=permutation, **{"differences": None, "copies": None, **report})


def run_tabu(
    binary: Path, problem: QuadraticAssignment, iterations: int, seed: int, target: int | None = None
) -> TabuOutcome:
    """Run the tabu search from a random solution, until a cost is not above the target if there is one."""
    arguments = [str(iterations), str(seed)] + ([] if target is None else [str(target)])
    report, permutation = _run(binary, problem, arguments)
    return TabuOutcome(permutation=permutation, **report)


def _run(binary: Path, problem: QuadraticAssignment, arguments: list[str]) -> tuple[dict[str, Any], Ints]:
    """What a program reports, and its permutation, once its cost is known to be the one reported."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "input.dat"
        matrices = (np.asarray(matrix, dtype=np.int64) for matrix in (problem.flows, problem.distances))
        source.write_text(
            f"{len(problem.flows)}\n" + "\n".join(" ".join(map(str, m.ravel().tolist())) for m in matrices)
        )
        done = subprocess.run([str(binary), str(source), *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{binary.name} failed: {done.stderr.strip()}")
    report = json.loads(done.stdout)
    permutation = np.array(report.pop("permutation"), dtype=np.int64)
    if not np.array_equal(np.sort(permutation), np.arange(len(problem.flows))):
        raise RuntimeError(f"{binary.name} printed something other than a permutation: {permutation.tolist()}")
    if problem.cost(permutation) != report["best"]:
        raise RuntimeError(f"{binary.name} reports {report['best']}; the cost is {problem.cost(permutation)}")
    return report, permutation
