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
from systola.run.signals import held_signals, interruptible
from systola.solve import open_search


def film_grid(
    problem: Problem, engine: Engine, steps: Sequence[int], seed: int = 1, backend: str = "cpu"
) -> list[Array]:
    """Fitness of the best solution of each cell after each number of steps; matrices [width, length].

    Parameters
    ----------
    problem, engine, seed, backend
        As for `solve`: with the same seed it is the same run. The engine is SGS or SNS.
    steps
        The moments, in ascending order.

    Raises
    ------
    InputError
        If the engine has no grid, or moments go back.
    KeyboardInterrupt
        If a signal asks to end before the last moment.
    """
    if not isinstance(engine, (SGS, SNS)):
        raise InputError(f"only SGS and SNS have a grid to film, but got {engine.name}")
    if any(step < 0 for step in steps) or list(steps) != sorted(steps):
        raise InputError(f"the moments of a film are steps in ascending order, but got {list(steps)!r:.60}")
    design = engine.prepare(problem)
    record = record_of(problem)
    with interruptible():  # while kernels are compiled
        search = open_search(problem, engine, seed=seed, backend=backend)
    frames = []
    with held_signals(search.stop) as interruption:
        search.start()
        made = 0
        for step in steps:
            while made < step or not search.whole:  # the first population is made in parts
                made += search.advance(step - made)
                if interruption.asked:
                    raise KeyboardInterrupt
            population = search.population()
            worth = np.array([fitness(record, row) for row in population.scores], float)
            rows = engine.rows_of_cells(design, population.slots, step)  # as many as a cell has solutions
            frames.append(worth[np.stack(rows)].max(axis=0))
    return frames


def choose_moments(last: int, count: int = 6) -> list[int]:
    """The start, the end, and moments between at growing distances, as a search slows down."""
    moments = np.unique(np.append(0, np.geomspace(max(last / 200, 1), max(last, 1), count - 1)).astype(int))
    return [int(m) for m in moments]
