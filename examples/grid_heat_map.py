"""The life of a systolic grid: the worth of its cells over a run, as a film and as a picture of five moments.

Needs the extra "plots". Writes grid.gif and grid.png into the current folder; another flavour than B may be named:
python grid_heat_map.py T
"""

import sys

import systola as sy
from systola.lab.film import choose_moments, film_grid
from systola.lab.film_files import save_film

MOMENTS = (0, 30, 100, 300, 900)

if __name__ == "__main__":
    flavour = sys.argv[1] if len(sys.argv) > 1 else "B"
    problem, engine = sy.MMDP(300), sy.SGS(flavour)
    steps = sorted({*choose_moments(MOMENTS[-1], 36), *MOMENTS})
    frames = {step: frame / problem.scale for step, frame in zip(steps, film_grid(problem, engine, steps), strict=True)}
    told = {"label": "Worth of a cell", "title": f"MMDP of 300 bits, SGS flavour {flavour}"}
    save_film(list(frames.values()), steps, "grid.gif", **told)
    save_film([frames[step] for step in MOMENTS], MOMENTS, "grid.png", **told)
    start, end = frames[0], frames[MOMENTS[-1]]
    print(f"grid.gif, grid.png: mean of the cells {start.mean():.1f} at the start, {end.mean():.1f} at the end")
