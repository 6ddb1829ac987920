"""How soon algorithms get how close: empirical distributions of run times, over runs and targets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from systola.errors import InputError
from systola.lab.style import Columns, looks, plain, plot_of_curves, put_legend, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GAPS = (0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0)
"""The targets: so far from the reference, as a fraction of it."""

_MARKS = 8  # along a curve


def plot_runtimes(
    curves: Mapping[str, Sequence[tuple[npt.ArrayLike, npt.ArrayLike]]],
    reference: float,
    *,
    minimise: bool,
    runs: Mapping[str, int] | None = None,
    title: str = "",
    columns: Columns = 2,
) -> Figure:
    """Which share of all pairs of a run and a target is reached after so many evaluations.

    Parameters
    ----------
    curves
        As of `convergence`.
    reference
        The best value known. Targets are the gaps `GAPS` to it.
    minimise
        Whether lower values are better.
    runs
        How many runs each algorithm made, if some have no curve because they never had a feasible solution: these
        reach no target.
    title, columns
        As of `convergence`.

    Returns
    -------
    Figure
        Higher and more to the left is better; a curve ends where its last run does.

    Raises
    ------
    InputError
        If there is nothing to draw.
    MissingExtra
        If Matplotlib is not installed.

    References
    ----------
    N. Hansen et al. (2021), COCO: a platform for comparing continuous optimizers in a black-box setting.
    """
    counts = {name: (runs or {}).get(name, len(pairs)) for name, pairs in curves.items()}
    read = {
        name: [(np.asarray(at, float), np.asarray(best, float)) for at, best in pairs] for name, pairs in curves.items()
    }
    if not any(read.values()) or not all(counts.values()):
        raise InputError("a plot of run times needs one feasible run or more, and runs of each algorithm, but got none")
    last = max(float(at[-1]) for pairs in read.values() for at, _ in pairs)
    with style():
        figure, axes = plot_of_curves(columns, len(read))
        first = min(float(at[0]) for pairs in read.values() for at, _ in pairs)
        for index, (name, look) in enumerate(looks(read).items()):
            hits = np.sort([hit for at, best in read[name] for hit in _hits(at, best, reference, minimise)])
            shares = 100 * np.arange(1, len(hits) + 1) / (counts[name] * len(GAPS))
            end = max((float(at[-1]) for at, _ in read[name]), default=last)
            x, y = np.concatenate([[first], hits, [end]]), np.append([0.0, *shares], shares[-1] if len(shares) else 0.0)
            every = max(len(x) // _MARKS, 1)
            axes.plot(
                x,
                y,
                drawstyle="steps-post",
                color=look.colour,
                linestyle=look.dashes,
                linewidth=1.4,
                marker=look.marker,
                markersize=3.5,
                markeredgewidth=0,
                markevery=(index * every // len(read), every),
                label=plain(name, columns),
            )
        if first > 0 and last / first >= 100:
            axes.set_xscale("log")
        else:
            axes.xaxis.set_major_formatter("{x:,.10g}")
        axes.set_ylim(-2, 102)
        axes.margins(x=0.01)
        axes.grid(axis="y")
        axes.set_xlabel("Evaluations")
        axes.set_ylabel("Targets reached, %")
        axes.set_title(plain(title, columns, title=True))
        put_legend(figure, columns)
    return figure


def _hits(at: npt.NDArray[np.float64], best: npt.NDArray[np.float64], reference: float, minimise: bool) -> list[float]:
    """The evaluations after which a run has reached each target; those that it has not are missing."""
    gaps = (best - reference) if minimise else (reference - best)
    scale = abs(reference) or float(np.abs(best).max()) or 1.0
    reached = [np.flatnonzero(gaps <= gap * scale + 1e-12 * scale) for gap in GAPS]
    return [float(at[found[0]]) for found in reached if len(found)]
