"""Plots of what comes out of several objectives and of schedules: fronts, attainment surfaces, Gantt charts.

Objectives are in the problem's own senses: `senses` has `MINIMISE` or `MAXIMISE` for each, and all are minimised
without.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from systola.errors import InputError
from systola.lab.indicators import attainment, read_fronts
from systola.lab.style import (
    INK,
    NUMBERS,
    Columns,
    blank,
    check_columns,
    looks,
    plain,
    plot_of_curves,
    put_legend,
    save,
    shades,
    style,
)
from systola.pareto.archive import nondominated

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["plot_attainment", "plot_front", "plot_gantt", "save"]

_Array = npt.NDArray[np.float64]

_MARGIN = 0.06  # around a front, as a share of its range
_BAR = 0.78  # of the height of a machine's row


def plot_front(
    fronts: Mapping[str, npt.ArrayLike],
    labels: Sequence[str],
    *,
    senses: Sequence[int] | None = None,
    title: str = "",
    columns: Columns = 2,
) -> Figure:
    """Fronts of two objectives as steps, of three as points in space.

    Parameters
    ----------
    fronts
        For each name a front, one point a row. Points that others of the same front dominate are drawn, too, but
        steps leave them out.
    labels
        What the objectives are, two or three.
    senses
        `MINIMISE` or `MAXIMISE` for each objective; all are minimised by default.
    title
        A title, if any.
    columns
        Across how many columns of a page the picture goes: 1 or 2.

    Returns
    -------
    Figure
        Steps are the border of what a front dominates.

    Raises
    ------
    InputError
        If there is no front, or shapes, values, labels or senses do not fit.
    MissingExtra
        If Matplotlib is not installed.
    """
    read, maximised = read_fronts(fronts, senses)
    k = len(maximised)
    if not 2 <= k <= 3 or len(labels) != k:
        raise InputError(
            f"fronts of two or three objectives can be drawn, each with a label, but got {k} and {len(labels)} labels"
        )
    sign, width = np.where(maximised, -1.0, 1.0), check_columns(columns)
    with style():
        figure, axes = plot_of_curves(columns, len(read)) if k == 2 else blank(width, 0.3 + 0.65 * width, "3d")
        for name, (colour, dashes, marker) in looks(read).items():
            front = read[name]
            if k == 2:
                kept = nondominated(sign * front)
                look = {"color": colour, "marker": marker, "markersize": 4.5, "markeredgewidth": 0}
                steps = _in_order(sign * front[kept]) * sign
                axes.plot(
                    *steps.T,
                    drawstyle="steps-post",
                    linestyle=dashes,
                    linewidth=1.1,
                    label=plain(name, columns),
                    **look,
                )
                axes.plot(*front[~kept].T, linestyle="", **look)
            else:
                axes.scatter(
                    *front.T, s=18, color=colour, marker=marker, linewidth=0, alpha=0.8, label=plain(name, columns)
                )
        if k == 2:
            axes.grid()
            put_legend(figure, columns)
        else:
            axes.view_init(elev=24, azim=-58)
            axes.set_zlabel(labels[2], labelpad=9)
            axes.zaxis.set_major_formatter(NUMBERS)
            axes.tick_params(labelsize=7.5)
            figure.legend(loc="outside lower center", ncols=3 if columns == 2 else 1, handletextpad=0.4)
        _label(axes, labels, columns)
        _entitle(figure, axes, title, columns)
    return figure


def plot_attainment(
    runs: Mapping[str, Sequence[npt.ArrayLike]],
    labels: Sequence[str],
    *,
    senses: Sequence[int] | None = None,
    title: str = "",
    columns: Columns = 2,
) -> Figure:
    """What half of the runs attain in two objectives, as a line, from the best to the worst, as a band.

    Parameters
    ----------
    runs
        For each algorithm the fronts of its runs, one point a row.
    labels
        What the two objectives are.
    senses, title, columns
        As of `plot_front`.

    Returns
    -------
    Figure
        The band of an algorithm begins where one of its runs or more attain a point, and ends where all do.

    Raises
    ------
    InputError
        If there is nothing to draw, or shapes, values, labels or senses do not fit.
    MissingExtra
        If Matplotlib or moocore is not installed.
    """
    if not runs:
        raise InputError("an attainment plot needs one algorithm or more, but got none; run something first")
    for name, fronts in runs.items():
        if len(fronts) == 0:
            raise InputError(f"each algorithm needs one run or more, but {name!r} has none; leave it out or run it")
    every = {f"{name}, run {i + 1}": f for name, fronts in runs.items() for i, f in enumerate(fronts)}
    read, maximised = read_fronts(every, senses)
    if len(maximised) != 2 or len(labels) != 2:
        raise InputError(
            f"attainment is drawn of two objectives, each with a label, "
            f"but got {len(maximised)} and {len(labels)} labels"
        )
    sign = np.where(maximised, -1.0, 1.0)
    points = sign * np.concatenate(list(read.values()))
    margin = _MARGIN * np.maximum(np.ptp(points, axis=0), 1e-9)
    near, far = points.min(axis=0) - margin, points.max(axis=0) + margin

    with style():
        figure, axes = plot_of_curves(columns, len(runs))
        for name, (colour, dashes, _) in looks(runs).items():
            fronts = runs[name]
            best, median, worst = (
                _in_order(sign * attainment(fronts, level, senses)) for level in (1 / len(fronts), 0.5, 1.0)
            )
            across = np.unique(np.concatenate([best[:, 0], worst[:, 0], [far[0]]]))
            low, high = (_height(surface, across, far[1]) for surface in (best, worst))
            axes.fill_between(
                sign[0] * across, sign[1] * low, sign[1] * high, step="post", color=colour, alpha=0.16, linewidth=0
            )
            for surface in (best, worst):
                axes.step(*(sign * _border(surface, far)).T, where="post", color=colour, linewidth=0.6, alpha=0.7)
            steps = (sign * _border(median, far)).T
            told = f"{plain(name, columns)} ({len(fronts)})"
            axes.step(*steps, where="post", color=colour, linestyle=dashes, linewidth=1.8, label=told)
        axes.set_xlim(*sorted((sign * [near, far])[:, 0]))
        axes.set_ylim(*sorted((sign * [near, far])[:, 1]))
        axes.grid()
        put_legend(figure, columns, "Median of runs,\nbest to worst")
        _label(axes, labels, columns)
        _entitle(figure, axes, title, columns)
    return figure


def plot_gantt(
    completions: npt.ArrayLike,
    times: npt.ArrayLike,
    jobs: Sequence[int] | npt.NDArray[Any],
    *,
    title: str = "",
    columns: Columns = 2,
) -> Figure:
    """A schedule of a flowshop: what each machine does when.

    Parameters
    ----------
    completions
        A row for each position of the order, a column for each machine: when the job there is done.
    times
        A row for each job, a column for each machine: how long it takes.
    jobs
        The order of the jobs, counted from 0.
    title, columns
        As of `plot_front`.

    Returns
    -------
    Figure
        The first machine on top. Jobs get lighter in the order of their positions, and bars bear the number of
        their job, counted from 0, where it fits.

    Raises
    ------
    InputError
        If shapes do not fit, an order is none, or jobs overlap.
    MissingExtra
        If Matplotlib is not installed.
    """
    ends, order, lengths = _read_schedule(completions, times, jobs)
    positions, machines = ends.shape
    with style():
        figure, axes = blank(check_columns(columns), 1.1 + 0.34 * machines)
        colours = shades(positions)
        bars = []
        for machine in range(machines):
            drawn = axes.barh(
                np.full(positions, machine + 1),
                lengths[:, machine],
                _BAR,
                left=ends[:, machine] - lengths[:, machine],
                color=colours,
                edgecolor="white",
                linewidth=0.4,
            )
            bars += list(zip(drawn, order, colours, strict=True))
        axes.set_xlim(0, max(float(ends.max()), 1e-9))
        axes.set_ylim(machines + 0.5, 0.5)
        every = -(-machines // 40)  # so many labels have room below each other
        axes.set_yticks(range(1, machines + 1, every))
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        axes.xaxis.set_major_formatter(NUMBERS)
        axes.grid(axis="x")
        axes.set_xlabel("Time")
        axes.set_ylabel("Machine")
        axes.set_title(plain(title, columns, title=True))
        _number_bars(figure, axes, bars)
    return figure


def _in_order(points: _Array) -> _Array:
    """Points from the least first objective on: steps go on at the height of the last point."""
    return np.asarray(points[np.argsort(points[:, 0], kind="stable")])


def _height(surface: _Array, across: _Array, far: float) -> _Array:
    """The least second objective that a surface has up to each first one; `far` before it begins."""
    place = np.searchsorted(surface[:, 0], across, side="right") - 1
    return np.asarray(np.where(place >= 0, surface[np.maximum(place, 0), 1], far))


def _border(surface: _Array, far: _Array) -> _Array:
    """The points of a surface, led on to the end of the axes on both sides."""
    return np.concatenate([[[surface[0, 0], far[1]]], surface, [[far[0], surface[-1, 1]]]])


def _label(axes: Axes, labels: Sequence[str], columns: Columns) -> None:
    flat = len(labels) == 2
    axes.set_xlabel(labels[0], labelpad=4 if flat else 9)
    axes.set_ylabel(labels[1], labelpad=4 if flat else 9)
    axes.locator_params(nbins=6 if columns == 2 else 4)  # numbers with minus and comma are wide
    axes.xaxis.set_major_formatter(NUMBERS)
    axes.yaxis.set_major_formatter(NUMBERS)


def _entitle(figure: Figure, axes: Axes, title: str, columns: Columns) -> None:
    if axes.name != "3d":
        axes.set_title(plain(title, columns, title=True))
    elif title:
        figure.suptitle(plain(title, columns, title=True), x=0.01, horizontalalignment="left", fontsize=9)


def _read_schedule(
    completions: npt.ArrayLike, times: npt.ArrayLike, jobs: Sequence[int] | npt.NDArray[Any]
) -> tuple[_Array, npt.NDArray[np.int64], _Array]:
    """Completions, the order, and processing times in this order."""
    ends, lengths, order = np.asarray(completions, np.float64), np.asarray(times, np.float64), np.asarray(jobs)
    if ends.ndim != 2 or ends.size == 0 or order.shape != ends.shape[:1] or lengths.ndim != 2:
        raise InputError(
            "a schedule has a row of completions for each job of the order and a column for each machine, "
            f"but got {order.size} jobs, completions of shape {ends.shape} and times of shape {lengths.shape}"
        )
    if lengths.shape[1] != ends.shape[1]:
        raise InputError(f"times and completions have the same machines, but {lengths.shape[1]} and {ends.shape[1]}")
    known = order.dtype.kind in "iu" and order.min() >= 0 and order.max() < len(lengths)
    if not known or len(np.unique(order)) < len(order):
        raise InputError(f"an order has jobs 0 to {len(lengths) - 1}, none twice, but got {order.tolist()!r:.60}")
    lengths = lengths[order]
    if not (np.isfinite(ends).all() and np.isfinite(lengths).all() and (lengths >= 0).all()):
        raise InputError("times and completions of a schedule are finite, and no time is below zero; check both")
    starts = ends - lengths
    slack = 1e-9 * max(float(ends.max()), 1.0)
    late = np.argwhere(starts[1:] < ends[:-1] - slack)
    if len(late):
        p, machine = late[0]
        raise InputError(
            f"a machine works on one job at a time, but on machine {machine + 1} job {order[p + 1]} starts at "
            f"{starts[p + 1, machine]:g}, before job {order[p]} is done at {ends[p, machine]:g}"
        )
    early = np.argwhere(starts[:, 1:] < ends[:, :-1] - slack)
    if len(early) or starts[:, 0].min() < -slack:
        p, machine = early[0] + [0, 1] if len(early) else (int(starts[:, 0].argmin()), 0)
        raise InputError(
            f"a job passes one machine after the other, from time 0 on, but job {order[p]} starts on machine "
            f"{machine + 1} at {starts[p, machine]:g}"
        )
    return ends, order.astype(np.int64), lengths


def _number_bars(figure: Figure, axes: Axes, bars: list[tuple[Any, Any, Any]]) -> None:
    """Write the number of its job into each bar that is wide enough."""
    figure.draw_without_rendering()  # settles the layout, so that widths are known
    pixels_per_unit = axes.get_window_extent().width / np.ptp(axes.get_xlim())
    pixels_per_digit = 7.0 * 0.62 * figure.dpi / 72  # of this font
    for bar, job, shade in bars:
        if bar.get_width() * pixels_per_unit < (len(str(job)) + 0.6) * pixels_per_digit:
            continue
        light = float(np.dot(shade[:3], (0.299, 0.587, 0.114))) > 0.5
        axes.text(
            bar.get_x() + bar.get_width() / 2,
            bar.get_y() + bar.get_height() / 2,
            str(job),
            fontsize=7.0,
            color=INK if light else "white",
            horizontalalignment="center",
            verticalalignment="center_baseline",
        )
