"""Systolic Neighborhood Search, section 6.1: Figures 5 to 8, the fitness of a mesh over the course of a run.

Figures 5 and 6 show the mean of each row as a surface; 7 and 8 all cells at six moments.
"""

from __future__ import annotations

from os.path import join
from pathlib import Path
from typing import Any

import numpy as np

from systola.engines.catalog import make_engine
from systola.formats.catalog import open_instance
from systola.lab.film import choose_moments, film_grid
from systola.lab.plots import grid_heatmap, grid_surface, save
from systola.lab.reproductions.sns import GROUPS, check_files

FILE = "mknap2.txt"
FIGURES = {5: ("WEISH16", "sns"), 6: ("WEISH16", "sns-exp"), 7: ("WEISH01", "sns"), 8: ("WEISH01", "sns-exp")}
_SURFACES = (5, 6)
_MOMENTS = 41  # of a surface


def draw_figures(folder: str | None, target: str) -> list[Path]:
    """Draw all figures from runs with seed 1 on the instances of `folder`; gives the files written into `target`."""
    check_files(folder, tuple(group for group in GROUPS if group.quick))
    made = []
    for number, (name, algorithm) in FIGURES.items():
        problem: Any = open_instance(join(folder or "", f"{FILE}#{name}")).problem
        engine = make_engine(algorithm, problem)
        last = engine.prepare(problem).steps
        steps = _even_moments(last) if number in _SURFACES else choose_moments(last)
        unit = problem.gain * problem.scale  # the fitness of Eq. 4 has that of the profit
        frames = [frame / unit for frame in film_grid(problem, engine, steps)]
        title = f"Figure {number}: {algorithm} on {name}"
        if number in _SURFACES:
            shares = [step / last for step in steps]
            rows = [frame.mean(axis=1) for frame in frames]
            figure = grid_surface(rows, shares, label="Mean fitness of a row", title=title)
        else:
            figure = grid_heatmap(frames, steps, title=title)
        made.append(Path(target) / f"sns-figure-{number:02d}.png")
        save(figure, made[-1])
    return made


def _even_moments(last: int) -> list[int]:
    return [int(step) for step in np.unique(np.linspace(0, last, _MOMENTS).round())]
