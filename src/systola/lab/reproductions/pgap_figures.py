"""Liu, Wang 2015, Figures 5 to 12, from runs on the cores of this machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from systola.lab.reproductions.pgap_runs import (
    Facts,
    Outcomes,
    Setting,
    iterations_to,
    mean_seconds_to,
    rates_of,
    shares_of,
)
from systola.lab.reproductions.products import Sketch
from systola.lab.simulation import MODES
from systola.lab.style import COLOURS, DASHES, SOFT, WIDTHS, panels, shades, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Layout = tuple[int, int, int]  # demes, individuals of each, threads
Layouts = Sequence[Layout]
Values = npt.NDArray[np.float64]
Limits = Mapping[float, float]  # by gap in percent, the objective that has it

PUBLISHED = {
    5: "Published: 512 to 16,384 cores; on 16,384 superlinear at 8 of 11 qualities, and ratios of 1.90 to 2.47.",
    6: "Published: 1,024 to 16,384 cores; about 60 % less time without barriers on 16,384.",
    7: "Published: 15.5 % on average without barriers, 54 % with them.",
    8: "Published: about 13 % on most of 16,384 cores, 8.5 to 18 % on all.",
    9: "Published: 441.84 iterations a second on 1,024 cores to 471.84 on 16,384 without barriers.",
    10: "Published: up to 1.08 %, on 16,384 cores.",
    11: "Published: fewer iterations without barriers on 1,024, 2,048 and 16,384 cores, on others not always.",
    12: "Published: 64, 256 and 1,024 cores; without barriers converging much faster.",
}


def strong_figures(layouts: Layouts, outcomes: Outcomes, limits: Limits) -> dict[int, Sketch]:
    """Figure 5."""
    what = "strong scaling: speed-up over the number of demes without barriers and with them, and the ratio of the two"
    return {5: _sketch(5, what, partial(_draw_strong, layouts, outcomes, limits))}


def population_figures(layouts: Layouts, outcomes: Outcomes, limits: Limits) -> dict[int, Sketch]:
    """Figures 6 to 12."""
    draw = {
        6: ("seconds to a gap, and how much less without barriers", partial(_draw_times, layouts, outcomes, limits)),
        7: ("share of communication", partial(_draw_shares, layouts, outcomes)),
        8: ("share of communication of each deme of the largest run", partial(_draw_each, layouts, outcomes)),
        9: ("iterations a second of a deme", partial(_draw_rates, layouts, outcomes)),
        10: ("gain in quality without barriers", partial(_draw_gain, layouts, outcomes)),
        11: ("iterations of a deme to a gap", partial(_draw_iterations, layouts, outcomes, limits)),
        12: ("best objective over time", partial(_draw_convergence, layouts, outcomes)),
    }
    return {number: _sketch(number, what, how) for number, (what, how) in draw.items()}


def _sketch(number: int, what: str, how: Callable[[], Figure]) -> Sketch:
    return Sketch(f"Figure {number}: {what}, on the cores of this machine. {PUBLISHED[number]}", how)


def _demes(layouts: Layouts) -> list[int]:
    return [layout[0] for layout in layouts]


def _curves(axes: Axes, layouts: Layouts, limits: Limits, value: Callable[[Layout, float], float | None]) -> None:
    """A curve for each gap; what was not reached is left out."""
    colours = shades(len(limits) + 1)
    for k, (gap, limit) in enumerate(limits.items()):
        points = [(layout[0], value(layout, limit)) for layout in layouts]
        known = [(x, y) for x, y in points if y is not None]
        if known:
            axes.plot(
                [x for x, _ in known],
                [y for _, y in known],
                marker="o",
                markersize=3,
                color=colours[k],
                label=f"{gap:g} %",
            )


def _finish(axes: Sequence[Any], layouts: Layouts, titles: Sequence[str]) -> None:
    for one, title in zip(axes, titles, strict=True):
        one.set_xscale("log", base=2)
        one.set_xticks(_demes(layouts), [str(d) for d in _demes(layouts)])
        one.minorticks_off()
        one.set_xlabel("Demes")
        one.set_title(title)
        one.grid(axis="y")


def _compare_modes(
    layouts: Layouts,
    limits: Limits,
    of_mode: Callable[[str, Layout, float], float | None],
    of_both: Callable[[Layout, float], float | None],
    titles: Sequence[str],
) -> tuple[Figure, Sequence[Any]]:
    """Curves of each mode in a panel of its own, and of how the two compare in the third."""
    figure, axes = panels(1, 3, WIDTHS[2], 2.7)
    for one, mode in zip(axes, MODES, strict=False):
        _curves(one, layouts, limits, partial(of_mode, mode))
    _curves(axes[2], layouts, limits, of_both)
    _finish(axes, layouts, titles)
    axes[0].legend(title="gap", fontsize=7)
    return figure, axes


def _draw_strong(layouts: Layouts, outcomes: Outcomes, limits: Limits) -> Figure:
    def speedup(mode: str, layout: tuple[int, int, int], limit: float) -> float | None:
        base = mean_seconds_to(outcomes[Setting(*layouts[0], mode)], limit)
        here = mean_seconds_to(outcomes[Setting(*layout, mode)], limit)
        return base / here if base and here else None

    def ratio(layout: tuple[int, int, int], limit: float) -> float | None:
        ours, theirs = (mean_seconds_to(outcomes[Setting(*layout, mode)], limit) for mode in MODES)
        return theirs / ours if ours and theirs else None

    with style():
        titles = ("Speed-up, asynchronous", "Speed-up, synchronous", "Ratio of speed-ups")
        figure, axes = _compare_modes(layouts, limits, speedup, ratio, titles)
        axes[2].axhline(1, color=SOFT, linewidth=0.7)
        for one in axes[:2]:
            one.plot(_demes(layouts), _demes(layouts), color=SOFT, linewidth=0.7, linestyle=":")
    return figure


def _draw_times(layouts: Layouts, outcomes: Outcomes, limits: Limits) -> Figure:
    def seconds(mode: str, layout: tuple[int, int, int], limit: float) -> float | None:
        return mean_seconds_to(outcomes[Setting(*layout, mode)], limit)

    def less(layout: tuple[int, int, int], limit: float) -> float | None:
        ours, theirs = (seconds(mode, layout, limit) for mode in MODES)
        return 100 * (theirs - ours) / theirs if ours is not None and theirs else None

    with style():
        titles = ("Seconds, asynchronous", "Seconds, synchronous", "Less time, %")
        figure, axes = _compare_modes(layouts, limits, seconds, less, titles)
        axes[2].axhline(0, color=SOFT, linewidth=0.7)
    return figure


def _draw_iterations(layouts: Layouts, outcomes: Outcomes, limits: Limits) -> Figure:
    def iterations(mode: str, layout: tuple[int, int, int], limit: float) -> float | None:
        each = [iterations_to(result, limit) for result in outcomes[Setting(*layout, mode)]]
        known = [n for n in each if n is not None]
        return fmean(known) if len(known) == len(each) else None

    with style():
        figure, axes = panels(1, 2, WIDTHS[2], 2.7)
        for one, mode in zip(axes, MODES, strict=True):
            _curves(one, layouts, limits, partial(iterations, mode))
        _finish(axes, layouts, ("Iterations, asynchronous", "Iterations, synchronous"))
        axes[0].legend(title="gap", fontsize=7)
    return figure


def _by_mode(layouts: Layouts, outcomes: Outcomes, title: str, value: Callable[[Sequence[Facts]], Values]) -> Figure:
    """A bar with its spread for each number of demes and mode."""
    with style():
        figure, axes = panels(1, 1, WIDTHS[1], 2.4)
        for k, mode in enumerate(MODES):
            numbers = [value(outcomes[Setting(*layout, mode)]) for layout in layouts]
            places = [place + 0.4 * k - 0.2 for place in range(len(layouts))]
            means, spreads = [n.mean() for n in numbers], [n.std() for n in numbers]
            axes[0].bar(places, means, 0.38, yerr=spreads, color=COLOURS[k], label=mode, capsize=2)
        axes[0].set_xticks(range(len(layouts)), [str(d) for d in _demes(layouts)])
        axes[0].set_xlabel("Demes")
        axes[0].set_title(title)
        axes[0].grid(axis="y")
        axes[0].legend()
    return figure


def _draw_shares(layouts: Layouts, outcomes: Outcomes) -> Figure:
    return _by_mode(layouts, outcomes, "Communication, %", lambda results: 100 * shares_of(results))


def _draw_rates(layouts: Layouts, outcomes: Outcomes) -> Figure:
    return _by_mode(layouts, outcomes, "Iterations a second of a deme", rates_of)


def _draw_each(layouts: Layouts, outcomes: Outcomes) -> Figure:
    with style():
        figure, axes = panels(1, 1, WIDTHS[1], 2.4)
        shares = 100 * shares_of(outcomes[Setting(*layouts[-1], MODES[0])][:1])
        axes[0].plot(range(1, len(shares) + 1), shares, "o", markersize=3, color=COLOURS[0])
        axes[0].set_ylim(bottom=0)
        axes[0].set_xlabel("Deme")
        axes[0].set_title("Communication, %, asynchronous")
        axes[0].grid(axis="y")
    return figure


def _draw_gain(layouts: Layouts, outcomes: Outcomes) -> Figure:
    gains = []
    for layout in layouts:
        ours, theirs = (fmean(r["objective"] for r in outcomes[Setting(*layout, mode)]) for mode in MODES)
        gains.append(100 * (theirs - ours) / theirs if theirs else 0.0)
    with style():
        figure, axes = panels(1, 1, WIDTHS[1], 2.4)
        axes[0].bar(range(len(gains)), gains, 0.5, color=COLOURS[0])
        axes[0].axhline(0, color=SOFT, linewidth=0.7)
        axes[0].set_xticks(range(len(gains)), [str(d) for d in _demes(layouts)])
        axes[0].set_xlabel("Demes")
        axes[0].set_title("Gain in quality without barriers, %")
        axes[0].grid(axis="y")
    return figure


def _draw_convergence(layouts: Layouts, outcomes: Outcomes) -> Figure:
    with style():
        figure, axes = panels(1, 2, WIDTHS[2], 2.7)
        for one, mode in zip(axes, MODES, strict=True):
            for k, layout in enumerate(layouts):
                seconds, objectives = _feasible_course(outcomes[Setting(*layout, mode)][0])
                look: dict[str, Any] = {"color": COLOURS[k % len(COLOURS)], "linestyle": DASHES[k % len(DASHES)]}
                one.step(seconds, objectives, where="post", label=f"{layout[0]} demes", **look)
            one.set_xlabel("Seconds")
            one.set_title(f"Best objective, {mode}")
            one.grid(axis="y")
        axes[0].legend()
    return figure


def _feasible_course(result: Facts) -> tuple[list[float], list[float]]:
    trace = result["trace"]
    columns = zip(trace["seconds"], trace["objective"], trace["violation"], strict=True)
    kept = [(seconds, objective) for seconds, objective, violation in columns if violation == 0]
    return [s for s, _ in kept], [o for _, o in kept]
