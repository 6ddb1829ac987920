"""The life of a systolic grid: the worth of its cells at five moments of a run, as a heat map.

Needs the extra "plots". Writes grid.png into the current folder; another flavour than B may be named:
python grid_heat_map.py T
"""

import sys

import numpy as np

import systola as sy
from systola.lab.plots import grid_heatmap, save

MOMENTS = (0, 30, 100, 300, 900)


def worth_of_cells(problem, engine, step):
    """The better of the two solutions in each cell after so many steps, as a matrix."""
    told = []
    sy.solve(problem, engine, seed=1, stop=sy.Iterations(step), callback=told.append)
    population = told[-1].snapshot()  # the last call of a callback is at the end of the run
    rows = sy.SGS.rows_of_cells(engine.prepare(problem), population.slots, step)
    worth = population.scores[:, 0] / problem.scale
    return np.maximum(worth[rows[0]], worth[rows[1]])


if __name__ == "__main__":
    flavour = sys.argv[1] if len(sys.argv) > 1 else "B"
    problem, engine = sy.MMDP(300), sy.SGS(flavour)
    frames = [worth_of_cells(problem, engine, step) for step in MOMENTS]
    figure = grid_heatmap(
        frames, MOMENTS, label="Better solution of a cell", title=f"MMDP of 300 bits, SGS flavour {flavour}"
    )
    save(figure, "grid.png")
    print(f"grid.png: mean of the cells {frames[0].mean():.1f} at the start, {frames[-1].mean():.1f} at the end")
