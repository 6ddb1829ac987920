"""Simulated runs of more and more demes: tables and a picture, in the manner of the PGAP paper's Figures 5 to 9."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

from systola.errors import InputError
from systola.lab.machine import Machine
from systola.lab.simulation import MODES, Migration, Search, Simulation, place_demes, simulate
from systola.lab.style import COLOURS, DASHES, NUMBERS, SOFT, WIDTHS, panels, style
from systola.lab.tables import Cell, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZES = (64, 256, 1024, 4096, 16_384)

_TWICE = "asynchronous (synchronous)"


@dataclass(frozen=True, eq=False)
class Row:
    """So many demes, simulated in both modes."""

    demes: int
    asynchronous: Simulation
    synchronous: Simulation

    @property
    def ratio(self) -> float:
        """Synchronous by asynchronous time for as many iterations."""
        return self.asynchronous.rate / self.synchronous.rate


def simulate_scaling(
    sizes: Sequence[int] = SIZES,
    rounds: int = 500,
    *,
    machine: Machine | None = None,
    migration: Migration | None = None,
    search: Search | None = None,
    seed: int = 1,
    on_progress: Callable[[float], None] | None = None,
) -> tuple[Row, ...]:
    """Simulate each number of demes in both modes; parameters as for `simulate`, and sizes in increasing order."""
    if not sizes or list(sizes) != sorted(set(sizes)):
        raise InputError(f"`sizes` must be numbers of demes in increasing order, but got {list(sizes)}")
    for size in sizes:  # errors now, not after a minute
        place_demes(size)
    rows, done, total = [], 0, 2 * sum(sizes)
    for size in sizes:
        runs = []
        for mode in MODES:
            before = done

            def tell(part: float, before: int = before, size: int = size) -> None:
                if on_progress:
                    on_progress((before + part * size) / total)

            runs.append(
                simulate(
                    size,
                    rounds,
                    mode,
                    machine=machine,
                    migration=migration,
                    search=search,
                    seed=seed,
                    on_progress=tell,
                )
            )
            done += size
            tell(1.0)
        rows.append(Row(size, *runs))
    return tuple(rows)


def costs_table(machine: Machine, measured: Container[str], notes: tuple[str, ...] = ()) -> Table:
    """What a simulation is made with, and which of it was measured."""
    rows = [
        (name, f"{value:.3g}", "measured" if name in measured else "assumed") for name, value in asdict(machine).items()
    ]
    told = ("In seconds, if the name says nothing else. No deme of the following tables exists.", *notes)
    return _table("Simulation: what things cost", ("Cost", "value", ""), rows, told)


def scaling_tables(rows: Sequence[Row]) -> tuple[Table, ...]:
    """Times, messages and, by the model of progress, quality; each says that it is simulated."""
    if not rows:
        raise InputError("a table needs one row or more, but got none; simulate something first")
    return (_times(rows), _messages(rows), _seconds(rows), _speedups(rows))


def _times(rows: Sequence[Row]) -> Table:
    header = (
        "Demes",
        "iterations/s",
        "(sync)",
        "communication %",
        "5 to 95 %",
        "(sync)",
        "efficiency",
        "(sync)",
        "ratio",
    )
    cells = []
    for row in rows:
        ours, theirs = row.asynchronous, row.synchronous
        low, high = 100 * np.quantile(ours.shares, (0.05, 0.95))
        cells.append(
            (
                f"{row.demes:,}",
                f"{ours.rate:,.1f} ± {ours.rates.std():,.1f}",
                f"{theirs.rate:,.1f} ± {theirs.rates.std():,.1f}",
                f"{100 * ours.share:.3f}",
                f"{low:.3f} to {high:.3f}",
                f"{100 * theirs.share:.2f}",
                f"{ours.efficiency:.3f}",
                f"{theirs.efficiency:.3f}",
                f"{row.ratio:.2f}",
            )
        )
    first = rows[0].asynchronous
    notes = (
        "Iterations per second of a deme, mean ± standard deviation over demes (as Fig. 9); the part of its time that "
        "goes into communication and waiting (Figs. 7 and 8); efficiency against a deme alone; ratio: synchronous by "
        "asynchronous time for as many iterations.",
    )
    title = (
        f"Simulation: asynchronous migration, and with barriers in brackets ({first.rounds} rounds, seed {first.seed})"
    )
    return _table(title, header, cells, notes)


def _messages(rows: Sequence[Row]) -> Table:
    names = ("sent", "received", "under_way", "skipped", "held", "overwritten")
    cells = [
        (
            f"{row.demes:,}",
            *(f"{getattr(row.asynchronous, name):,} ({getattr(row.synchronous, name):,})" for name in names),
        )
        for row in rows
    ]
    header = ("Demes", *(name.replace("_", " ") for name in names))
    notes = (
        "Messages sent, received, and under way at the end; skipped, since no slot was free; exports held back; "
        "solutions lost in a full pool.",
    )
    return _table(f"Simulation: messages, {_TWICE}", header, cells, notes)


def _seconds(rows: Sequence[Row]) -> Table:
    """As Fig. 6, with the improvement of (c)."""
    cells = []
    for row in rows:
        texts = [f"{row.demes:,}"]
        for gap, ours in row.asynchronous.reached.items():
            theirs = row.synchronous.reached[gap]
            text = f"{_show(ours)} ({_show(theirs)})"
            if ours and theirs:
                text += f" {100 * (1 - ours[0] / theirs[0]):.0f} %"
            texts.append(text)
        cells.append(tuple(texts))
    notes = (
        "Virtual seconds until the first deme has this gap, and how much less asynchronous ones are (as Fig. 6). The "
        "gap is that of a model of progress, not of a problem; – was not reached.",
    )
    return _table(f"Simulation: seconds to a gap, {_TWICE}", _gaps(rows), cells, notes)


def _speedups(rows: Sequence[Row]) -> Table:
    """As Fig. 5, against the fewest demes."""
    cells = []
    for row in rows:
        texts = [f"{row.demes:,}"]
        for gap in row.asynchronous.reached:
            pair = []
            for mode in MODES:
                base, ours = (getattr(one, mode) for one in (rows[0], row))
                first, last = base.reached[gap], ours.reached[gap]
                least = "" if first else "≥ "
                pair.append(f"{least}{(first[0] if first else base.seconds) / last[0]:.2f}" if last else "–")
            texts.append(f"{pair[0]} ({pair[1]})")
        cells.append(tuple(texts))
    notes = (
        f"Seconds of {rows[0].demes:,} demes by those of so many, each mode by itself (as Fig. 5, but demes do not "
        "shrink here); ≥ where these did not reach the gap, by their whole run.",
    )
    return _table(f"Simulation: speed-up, {_TWICE}", _gaps(rows), cells, notes)


def _gaps(rows: Sequence[Row]) -> tuple[str, ...]:
    return ("Demes", *(f"gap {gap:g}" for gap in rows[0].asynchronous.reached))


def _show(reached: tuple[float, int] | None) -> str:
    return f"{reached[0]:.3g}" if reached else "–"


def _table(title: str, header: tuple[str, ...], rows: Sequence[tuple[str, ...]], notes: tuple[str, ...]) -> Table:
    return Table(title, header, tuple(tuple(Cell(text) for text in row) for row in rows), notes)


def plot_scaling(rows: Sequence[Row]) -> Figure:
    """Iteration rate, share of communication and ratio of times over the number of demes.

    Returns
    -------
    Figure
        Bars show the standard deviation of the rates, bands the shares of nine demes in ten.

    Raises
    ------
    InputError
        If there is nothing to draw.
    MissingExtra
        If Matplotlib is not installed.
    """
    if not rows:
        raise InputError("a picture needs one row or more, but got none; simulate something first")
    demes = [row.demes for row in rows]
    with style():
        figure, (rates, shares, ratios) = panels(1, 3, WIDTHS[2], 2.6)
        for index, mode in enumerate(MODES):
            runs: list[Simulation] = [getattr(row, mode) for row in rows]
            look = {
                "color": COLOURS[index],
                "linestyle": DASHES[index],
                "linewidth": 1.5,
                "marker": "o",
                "markersize": 3,
            }
            deviations = [run.rates.std() for run in runs]
            rates.errorbar(demes, [run.rate for run in runs], deviations, capsize=2, elinewidth=0.8, label=mode, **look)
            low, high = np.transpose([100 * np.quantile(run.shares, (0.05, 0.95)) for run in runs])
            shares.fill_between(demes, low, high, color=COLOURS[index], alpha=0.16, linewidth=0)
            shares.plot(demes, [100 * run.share for run in runs], label=mode, **look)
        ratios.plot(demes, [row.ratio for row in rows], color=COLOURS[2], linewidth=1.5, marker="o", markersize=3)
        ratios.axhline(1, color=SOFT, linewidth=0.7)
        for axes, title in ((rates, "Iterations per second"), (shares, "Communication, %"), (ratios, "Ratio of times")):
            axes.set_xscale("log", base=2)
            axes.set_xticks(demes, [f"{size:,}" for size in demes], fontsize=7)
            axes.minorticks_off()
            axes.set_ylim(bottom=0)
            axes.yaxis.set_major_formatter(NUMBERS)
            axes.grid(axis="y")
            axes.set_title(title)
            axes.set_xlabel("Demes")
        rates.legend(loc="lower left", handlelength=2.6)
        figure.suptitle(
            f"Simulation, {rows[0].asynchronous.rounds} rounds", x=0.01, horizontalalignment="left", fontsize=9
        )
    return figure
