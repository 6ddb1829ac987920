"""Systolic Neighborhood Search, section 6.1: Figures 5 to 8, the fitness of a mesh over the course of a run.

Figures 5 and 6 show the mean of each row as a surface; 7 and 8 all cells at six moments.
"""

from __future__ import annotations

from functools import partial
from os.path import join
from typing import TYPE_CHECKING, Any

import numpy as np

from systola.engines.catalog import make_engine
from systola.formats.catalog import open_instance
from systola.lab.film import choose_moments, film_grid
from systola.lab.plots import grid_heatmap, grid_surface
from systola.lab.reproductions.products import Sketch

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FILE = "mknap2.txt"
FIGURES = {5: ("WEISH16", "sns"), 6: ("WEISH16", "sns-exp"), 7: ("WEISH01", "sns"), 8: ("WEISH01", "sns-exp")}
_SURFACES = (5, 6)
_MOMENTS = 41  # of a surface


def sketches(folder: str) -> dict[int, Sketch]:
    """All figures, from runs with seed 1 on the instances of `folder`."""
    found = {}
    for number, (name, algorithm) in FIGURES.items():
        what = "the mean fitness of each row over time" if number in _SURFACES else "all cells at six moments"
        caption = f"Figure {number}: {what}, {algorithm} on {name}, a run with seed 1."
        found[number] = Sketch(caption, partial(draw_figure, number, folder))
    return found


def draw_figure(number: int, folder: str) -> Figure:
    """One figure; a run is made for it."""
    name, algorithm = FIGURES[number]
    problem: Any = open_instance(join(folder, f"{FILE}#{name}")).problem
    engine = make_engine(algorithm, problem)
    last = engine.prepare(problem).steps
    steps = _even_moments(last) if number in _SURFACES else choose_moments(last)
    unit = problem.gain * problem.scale  # the fitness of Eq. 4 has that of the profit
    frames = [frame / unit for frame in film_grid(problem, engine, steps)]
    title = f"Figure {number}: {algorithm} on {name}"
    if number not in _SURFACES:
        return grid_heatmap(frames, steps, title=title)
    shares = [step / last for step in steps]
    rows = [frame.mean(axis=1) for frame in frames]
    return grid_surface(rows, shares, label="Mean fitness of a row", title=title)


def _even_moments(last: int) -> list[int]:
    return [int(step) for step in np.unique(np.linspace(0, last, _MOMENTS).round())]
