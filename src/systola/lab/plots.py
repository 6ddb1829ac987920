"""Plots of results: convergence, spread, and the life of a systolic grid."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from systola.errors import InputError
from systola.lab.style import (
    INK,
    NUMBERS,
    SOFT,
    WIDTHS,
    Columns,
    blank,
    check_columns,
    looks,
    panels,
    plain,
    plot_of_curves,
    put_legend,
    save,
    style,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["boxplots", "convergence", "grid_heatmap", "grid_surface", "save"]

_Array = npt.NDArray[np.float64]

_POINTS = 500  # of a curve: finer than a printed page shows
_DECADES_BESIDE_ZERO = 1e6  # beside zero, at most so many powers of ten: rounding errors are no results
_ABREAST = 4  # frames of a heat map side by side
_MARKS = 8  # markers along a curve


def convergence(
    curves: Mapping[str, Sequence[tuple[npt.ArrayLike, npt.ArrayLike]]],
    *,
    label: str = "Best value so far",
    title: str = "",
    infeasible: Mapping[str, int] | None = None,
    optimum: float | None = None,
    columns: Columns = 2,
) -> Figure:
    """Best value against evaluations: the median over the runs, and the quartiles as a band.

    Parameters
    ----------
    curves
        For each algorithm one pair a run: evaluations (increasing) and the best value known after each.
        Between two points, and after the last, a run keeps its value. A curve starts where the last of its
        runs does.
    label
        What the values are.
    title
        A title, if any.
    infeasible
        How many more runs of an algorithm never had a feasible solution: they have no curve, but the legend tells.
    optimum
        The best value known, as a line, if any.
    columns
        Across how many columns of a page the picture goes: 1 or 2.

    Returns
    -------
    Figure
        Axes that span two powers of ten or more are logarithmic.

    Raises
    ------
    InputError
        If there is nothing to draw, or a run is empty, unordered, not finite, or its arrays differ in length.
    MissingExtra
        If Matplotlib is not installed.
    """
    if not curves:
        raise InputError("a convergence plot needs one algorithm or more, but got none; run something first")
    failed = infeasible or {}
    runs = {name: [_read_run(name, *pair) for pair in pairs] for name, pairs in curves.items()}
    for name, found in runs.items():
        if not found and not failed.get(name):
            raise InputError(f"each algorithm needs one run or more, but {name!r} has none; leave it out or run it")
    all_runs = [run for found in runs.values() for run in found]
    if not all_runs:
        raise InputError("a convergence plot needs one feasible run or more, but got none; make longer runs")
    grid = _spread_points(np.concatenate([evaluations for evaluations, _ in all_runs]))

    with style():
        figure, axes = plot_of_curves(columns, len(runs) + 1)
        for index, (name, look) in enumerate(looks(runs).items()):
            found, told = runs[name], plain(name, columns)
            if failed.get(name):
                told += f" ({failed[name]} of {len(found) + failed[name]} infeasible)"
            line = {"color": look.colour, "linestyle": look.dashes, "linewidth": 1.4, "label": told}
            marks = {"marker": look.marker, "markersize": 3.5, "markeredgewidth": 0}
            if not found:
                axes.plot([], [], **line, **marks)
                continue
            start = max(evaluations[0] for evaluations, _ in found)
            steps = np.unique(np.append(grid[grid >= start], start))
            values = np.array([best[np.searchsorted(at, steps, side="right") - 1] for at, best in found])
            low, middle, high = np.quantile(values, (0.25, 0.5, 0.75), axis=0)
            axes.fill_between(steps, low, high, step="post", color=look.colour, alpha=0.16, linewidth=0)
            every = max(len(steps) // _MARKS, 1)  # begun at another point each, so that equal curves show all markers
            axes.plot(
                steps, middle, drawstyle="steps-post", markevery=(index * every // len(runs), every), **line, **marks
            )
        known = [] if optimum is None else [optimum]
        _choose_scale(axes, "x", grid)
        _choose_scale(axes, "y", np.concatenate([known, *(best for _, best in all_runs)]))
        if optimum is not None:
            axes.axhline(optimum, color=SOFT, linewidth=0.8, linestyle=(0, (3, 2)), label="best known", zorder=1)
        axes.margins(x=0.01)
        axes.grid(axis="y")
        axes.set_xlabel("Evaluations")
        axes.set_ylabel(label)
        axes.set_title(plain(title, columns, title=True))
        put_legend(figure, columns)
    return figure


def boxplots(
    samples: Mapping[str, Sequence[float]],
    *,
    label: str = "Final value",
    title: str = "",
    infeasible: Mapping[str, Sequence[float]] | None = None,
    optimum: float | None = None,
    columns: Columns = 2,
) -> Figure:
    """The values each algorithm reached: median, quartiles, whiskers, and every run as a dot.

    Parameters
    ----------
    samples
        For each algorithm one value a run.
    label
        What the values are.
    title
        A title, if any.
    infeasible
        For each algorithm the values of its infeasible runs: crosses, which no box counts.
    optimum, columns
        As of `convergence`.

    Returns
    -------
    Figure
        One line an algorithm, the first on top. Whiskers reach the last run within 1.5 quartile distances.

    Raises
    ------
    InputError
        If there is nothing to draw, or a sample is empty or not finite.
    MissingExtra
        If Matplotlib is not installed.
    """
    if not samples:
        raise InputError("a box plot needs one sample or more, but got none; run something first")
    failed = {n: _read_values(f"the infeasible runs of {n!r}", v) for n, v in (infeasible or {}).items() if len(v)}
    values = {
        name: _read_values(f"the sample of {name!r}", sample)
        for name, sample in samples.items()
        if len(sample) or name not in failed
    }
    places = {name: len(samples) - k for k, name in enumerate(samples)}

    width = check_columns(columns)
    look = looks(samples)
    with style():
        figure, axes = blank(width, 0.85 + 0.36 * len(places))
        for name, sample in values.items():
            place, colour = places[name], look[name].colour
            low, middle, high = np.quantile(sample, (0.25, 0.5, 0.75))
            near = sample[(sample >= low - 1.5 * (high - low)) & (sample <= high + 1.5 * (high - low))]
            axes.hlines(place, near.min(), near.max(), color=SOFT, linewidth=0.9)
            axes.barh(place, high - low, 0.55, left=low, color=(colour, 0.16), edgecolor=SOFT, linewidth=0.8)
            dots = place + _scatter(len(sample))
            axes.scatter(sample, dots, s=8, marker=look[name].marker, color=colour, alpha=0.6, linewidth=0, zorder=3)
            axes.vlines(middle, place - 0.275, place + 0.275, color=INK, linewidth=1.8, zorder=4)
        for name, sample in failed.items():
            crosses = places[name] + _scatter(len(sample))
            axes.scatter(sample, crosses, s=14, marker="x", color=look[name].colour, linewidth=0.9, zorder=3)
        if failed:
            label += " (x: infeasible)"
        known = [] if optimum is None else [optimum]
        _choose_scale(axes, "x", np.concatenate([known, *values.values(), *failed.values()]))
        if optimum is not None:
            axes.axvline(optimum, color=SOFT, linewidth=0.8, linestyle=(0, (3, 2)), zorder=1)
            label += "; dashed: best known"
        axes.set_yticks(list(places.values()), [plain(name, columns) for name in places])
        axes.set_ylim(0.4, len(places) + 0.6)
        axes.tick_params(axis="y", length=0)
        if axes.get_xscale() == "linear":
            axes.locator_params(axis="x", nbins=8 if columns == 2 else 4)  # large numbers are wide
        axes.spines["left"].set_visible(False)
        axes.grid(axis="x")
        axes.set_xlabel(label)
        axes.set_title(plain(title, columns, title=True))
    return figure


def grid_heatmap(
    frames: Sequence[npt.ArrayLike], steps: Sequence[int], *, label: str = "Fitness", title: str = ""
) -> Figure:
    """The values of all cells of a grid at several moments, in one scale of colour.

    Parameters
    ----------
    frames
        For each moment a matrix, one value a cell; all of one shape.
    steps
        The step of each moment.
    label
        What the values are.
    title
        A title, if any.

    Returns
    -------
    Figure
        Wide grids lie one below the other, so that a column of cells keeps its place; others side by side.

    Raises
    ------
    InputError
        If there is nothing to draw, shapes or numbers of frames and steps differ, or values are not finite.
    MissingExtra
        If Matplotlib is not installed.
    """
    cells = read_frames(frames, steps)
    height, width = cells[0].shape
    wide = width > 2 * height
    low, high = min(float(frame.min()) for frame in cells), max(float(frame.max()) for frame in cells)

    columns = 1 if wide else min(len(cells), _ABREAST)
    rows = math.ceil(len(cells) / columns)
    each = min(max(0.035 * height, 0.45), 1.2) + 0.3 if wide else 1.9

    with style():
        width_of_all = WIDTHS[2] if wide else min(1.0 + each * columns, WIDTHS[2])
        figure, places = panels(rows, columns, width_of_all, 0.9 + each * rows)
        image: Any = None
        for index, axes in enumerate(places):
            if index >= len(cells):
                axes.set_visible(False)
                continue
            image = axes.imshow(
                cells[index],
                aspect="auto" if wide else "equal",
                cmap="cividis",
                vmin=low,
                vmax=high,
                extent=(0.5, width + 0.5, height + 0.5, 0.5),
                interpolation="antialiased",
            )
            axes.set_title(f"Step {steps[index]:,}", fontsize=8, color=SOFT, pad=3)
            axes.set_yticks(sorted({1, height}))
            axes.tick_params(axis="y", length=0, labelsize=7.5, labelleft=index % columns == 0)
            last = index + columns >= len(cells)
            axes.tick_params(axis="x", length=2 if last else 0, labelsize=7.5, labelbottom=last)
            axes.xaxis.set_major_formatter(NUMBERS)
            for spine in axes.spines.values():
                spine.set_visible(False)
        figure.supxlabel("Column", fontsize=8)
        figure.supylabel("Row", fontsize=8)
        bar = figure.colorbar(image, ax=places, shrink=0.8 if rows < 5 else 0.5, aspect=25, pad=0.015)
        bar.set_label(label)
        bar.outline.set_visible(False)
        bar.ax.tick_params(length=2, labelsize=7.5)
        bar.ax.yaxis.set_major_formatter(NUMBERS)
        if title:
            figure.suptitle(plain(title, title=True), x=0.01, horizontalalignment="left", fontsize=9)
    return figure


def read_frames(frames: Sequence[npt.ArrayLike], steps: Sequence[int]) -> _Array:
    """Matrices of one shape, a step for each; InputError if they are something else."""
    cells = [np.asarray(frame, dtype=np.float64) for frame in frames]
    if not cells or len(cells) != len(steps):
        raise InputError(
            f"a grid over time needs one frame or more and a step for each, but got {len(cells)} and {len(steps)}"
        )
    for step, frame in zip(steps, cells, strict=True):
        if frame.ndim != 2 or frame.size == 0 or frame.shape != cells[0].shape or not np.isfinite(frame).all():
            raise InputError(
                f"frames are finite matrices of one shape, {cells[0].shape} as the first, "
                f"but that of step {step} has shape {frame.shape} and "
                f"{np.count_nonzero(~np.isfinite(frame))} values that are not finite"
            )
    return np.stack(cells)


def grid_surface(rows: npt.ArrayLike, shares: Sequence[float], *, label: str = "Fitness", title: str = "") -> Figure:
    """A value of each row of a grid over the course of a run, as a surface.

    Parameters
    ----------
    rows
        For each moment the value of each row of the grid, such as the mean of its cells.
    shares
        How much of the run each moment is at, from 0 to 1, increasing.
    label
        What the values are.
    title
        A title, if any.

    Returns
    -------
    Figure
        Rows of the grid to the right, the course of the run into the page, values upwards; lighter is higher.

    Raises
    ------
    InputError
        If there are fewer than two moments or rows, their numbers differ, or something is not finite or in order.
    MissingExtra
        If Matplotlib is not installed.
    """
    values, moments = np.asarray(rows, dtype=np.float64), _read_values("the list of shares", shares)
    if values.ndim != 2 or min(values.shape) < 2 or len(moments) != len(values) or not np.isfinite(values).all():
        raise InputError(
            f"a surface needs two moments and two rows or more, all finite, and a share for each moment, "
            f"but got shape {values.shape} and {len(moments)} shares"
        )
    if moments[0] < 0 or moments[-1] > 1 or (np.diff(moments) <= 0).any():
        raise InputError(f"shares of a run grow from 0 to 1, but these go from {moments[0]:g} to {moments[-1]:g}")
    with style():
        figure, axes = blank(WIDTHS[2], 5.0, "3d")
        across, along = np.meshgrid(np.arange(1, values.shape[1] + 1), 100 * moments)
        axes.plot_surface(across, along, values, cmap="cividis", edgecolor=SOFT, linewidth=0.15, rcount=80, ccount=80)
        axes.view_init(elev=28, azim=-50)
        axes.set_xlabel("Row")
        axes.set_ylabel("Evaluations done, %")
        axes.set_zlabel(label, labelpad=10)
        axes.zaxis.set_major_formatter(NUMBERS)
        axes.tick_params(labelsize=7.5)
        if title:
            figure.suptitle(plain(title, title=True), x=0.01, horizontalalignment="left", fontsize=9)
    return figure


def _read_run(name: str, evaluations: npt.ArrayLike, best: npt.ArrayLike) -> tuple[_Array, _Array]:
    at = _read_values(f"the evaluations of a run of {name!r}", evaluations)
    values = _read_values(f"the values of a run of {name!r}", best)
    if len(at) != len(values) or (np.diff(at) < 0).any() or at[0] < 0:
        raise InputError(
            f"a run pairs each count of evaluations (0 or more, increasing) with a value, but one of "
            f"{name!r} has {len(at)} counts from {at[0]:g} to {at[-1]:g} and {len(values)} values"
        )
    return at, values


def _read_values(what: str, values: npt.ArrayLike) -> _Array:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or len(array) == 0 or not np.isfinite(array).all():
        raise InputError(f"plots draw flat, finite lists of numbers, but {what} is {array.tolist()!r:.60}")
    return array


def _spans_decades(values: _Array) -> bool:
    positive = values[values > 0]
    return len(positive) > 0 and float(values.min()) >= 0 and float(positive.max() / positive.min()) >= 100


def _spread_points(evaluations: _Array) -> _Array:
    if not _spans_decades(evaluations):
        return np.linspace(evaluations.min(), evaluations.max(), _POINTS)
    positive = evaluations[evaluations > 0]
    spread = np.geomspace(positive.min(), positive.max(), _POINTS)
    return np.concatenate([np.unique(evaluations[evaluations == 0]), spread])


def _choose_scale(axes: Axes, which: Literal["x", "y"], values: _Array) -> None:
    if not _spans_decades(values):
        getattr(axes, f"{which}axis").set_major_formatter(NUMBERS)
    elif values.min() > 0:
        axes.set(**{f"{which}scale": "log"})
    else:  # zero is a result worth showing: the axis is straight below the smallest other value
        smallest = max(values[values > 0].min(), values.max() / _DECADES_BESIDE_ZERO)
        straight = 10.0 ** math.floor(math.log10(smallest))
        getattr(axes, f"set_{which}scale")("symlog", linthresh=straight, linscale=0.5)
        axes.set(**{f"{which}lim": (-0.2 * straight, None)})


def _scatter(count: int) -> _Array:
    # Steps of the golden ratio: even, without pattern, and the same every time.
    return ((np.arange(count, dtype=np.float64) * 0.6180339887) % 1 - 0.5) * 0.36
