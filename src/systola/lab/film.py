"""The life of a systolic grid: the fitness of its cells at several moments of a run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from systola.engines.engine import Engine
from systola.engines.neighbourhood import SNS
from systola.engines.systolic import SGS
from systola.errors import InputError
from systola.model.encodings import Array
from systola.model.objective import fitness
from systola.model.problem import Problem, record_of
from systola.run.budget import Iterations
from systola.run.execution import Progress
from systola.solve import solve


def film_grid(problem: Problem, engine: Engine, steps: Sequence[int], seed: int = 1) -> list[Array]:
    """Fitness of the best solution of each cell after each number of steps; matrices [width, length].

    The run is repeated up to each moment: with the same seed it is the same run.
    """
    if not isinstance(engine, (SGS, SNS)):
        raise InputError(f"only SGS and SNS have a grid to film, but got {engine.name}")
    design = engine.prepare(problem)
    frames = []
    for step in steps:
        told: list[Progress] = []
        result = solve(problem, engine, stop=Iterations(step), seed=seed, callback=told.append)
        if result.stop == "interrupted":  # it has not come to this moment
            raise KeyboardInterrupt
        snapshot = told[-1].snapshot
        assert snapshot is not None  # the last call of a callback is at the end of the run
        population = snapshot()
        assert population is not None  # engines have one
        worth = np.array([fitness(record_of(problem), row) for row in population.scores], float)
        rows = engine.rows_of_cells(design, population.slots, step)  # as many as a cell has solutions
        frames.append(worth[np.stack(rows)].max(axis=0))
    return frames


def choose_moments(last: int, count: int = 6) -> list[int]:
    """The start, the end, and moments between at growing distances, as a search slows down."""
    moments = np.unique(np.append(0, np.geomspace(max(last / 200, 1), max(last, 1), count - 1)).astype(int))
    return [int(m) for m in moments]
