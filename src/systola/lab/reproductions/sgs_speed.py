"""Systolic Genetic Search, Tables 16 to 22 and Figures 11 to 14: how quick the programs are beside each other.

The paper compares a CPU with a GPU. Here one thread is compared with all of them, and with a GPU if there is one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

from systola.lab.published import load_figures
from systola.lab.reproductions.products import Made, Sketch, figure
from systola.lab.reproductions.timing import Seconds
from systola.lab.style import SOFT, looks, panels, style
from systola.lab.tables import Cell, Table, mean_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TIMED = ("sga", "ega", "sgs-t", "sgs-e", "sgs-v", "sgs-b")  # of which the paper has seconds
ON_GPU = ("sga", "ega", "sgs-e", "sgs-v", "sgs-b")

Rates = dict[str, dict[str, float]]  # by instance, then by column


def speed_products(
    numbers: Mapping[str, int | None],
    figures: Sequence[int],
    problem: str,
    instances: Sequence[str],
    seconds: Mapping[str, Seconds],
) -> Made:
    """All tables and figures of speed of a problem; `numbers` are those of `time`, `gpu`, `ratio` and `rate`."""
    slow, *others = seconds
    quick = others[-1] if others else slow
    made: Made = {}
    if numbers["gpu"]:
        made[numbers["gpu"]] = (_quick_seconds(numbers["gpu"], problem, instances, quick, seconds[quick]),)
    if numbers["ratio"]:
        made[numbers["ratio"]] = (_ratios(numbers["ratio"], problem, instances, seconds),)
    ours = rates(instances, seconds[slow], {quick: seconds[quick]} if others else {})
    printed = published_rates(problem, numbers, instances)
    if numbers["rate"]:
        made[numbers["rate"]] = (_rate_table(numbers["rate"], ours, printed, slow, quick),)
    for place, number in enumerate(figures):  # one for the CPU, one for the GPU
        made[figure(number)] = (_rate_sketch(number, problem, ours, printed, (slow, quick)[place], place == 1),)
    return made


def rates(instances: Sequence[str], base: Seconds, others: Mapping[str, Seconds]) -> Rates:
    """Solutions a second of all, by those of the slowest program on one thread."""
    found: Rates = {}
    for name in instances:
        slowest = max(fmean(base[name, a]) for a in TIMED if (name, a) in base)
        found[name] = {f"cpu {a}": slowest / fmean(base[name, a]) for a in TIMED if (name, a) in base}
        for seconds in others.values():
            found[name] |= {f"gpu {a}": slowest / fmean(seconds[name, a]) for a in ON_GPU if (name, a) in seconds}
    return found


def published_rates(problem: str, numbers: Mapping[str, int | None], instances: Sequence[str]) -> Rates:
    """The same from the published seconds, or as published where there is a table of it."""
    if numbers["rate"]:
        table = load_figures("sgs", numbers["rate"])
        return {
            name: {column: table.figures[name, column][0] for column in table.algorithms}
            for name in instances
            if name in table.instances
        }
    if not numbers["time"] or not numbers["gpu"]:
        return {}
    cpu, gpu = (load_figures("sgs", number).figures for number in (numbers["time"], numbers["gpu"]))
    found: Rates = {}
    for name in (name for name in instances if (name, TIMED[0]) in cpu):
        slowest = max(cpu[name, a][0] for a in TIMED)
        found[name] = {f"cpu {a}": slowest / cpu[name, a][0] for a in TIMED}
        found[name] |= {f"gpu {a}": slowest / gpu[name, a][0] for a in ON_GPU}
    return found


def _quick_seconds(number: int, problem: str, instances: Sequence[str], label: str, seconds: Seconds) -> Table:
    samples = {name: {a: seconds[name, a] for a in ON_GPU if (name, a) in seconds} for name in instances}
    printed = load_figures("sgs", number)
    title = (
        f"Table {number}: seconds a run on {_on(label)}, {problem}; published: on the paper's GPU, a GeForce GTX 480"
    )
    table = mean_table(samples, title, published=printed.figures)
    notes = (*table.notes, "One run at a time; compiling is not counted.", *(f"Paper: {n}" for n in printed.notes))
    return Table(table.title, table.header, table.rows, notes)


def _ratios(number: int, problem: str, instances: Sequence[str], seconds: Mapping[str, Seconds]) -> Table:
    printed = load_figures("sgs", number)
    slow, *others = seconds
    rows = []
    for name in instances:
        cells = []
        for algorithm in ON_GPU:
            if (name, algorithm) not in seconds[slow]:
                cells.append("")
                continue
            base = fmean(seconds[slow][name, algorithm])
            ours = [f"{base / fmean(seconds[label][name, algorithm]):.2f}" for label in others] or ["–"]
            theirs = printed.figures.get((name, algorithm))
            cells.append(", ".join(ours) + (f" ({theirs[0]:.2f})" if theirs else ""))
        rows.append((Cell(name), *map(Cell, cells)))
    against = " and ".join(map(_on, others)) or "no other way: this machine has one core"
    notes = (
        f"Ours: seconds on one thread by those on {against}. Published, in brackets: seconds of the paper's CPU "
        "program by those of its GPU program, which are different machines.",
        *(f"Paper: {note}" for note in printed.notes),
    )
    return Table(f"Table {number}: how many times as quick, {problem}", ("Instance", *ON_GPU), tuple(rows), notes)


def _rate_table(number: int, ours: Rates, printed: Rates, slow: str, quick: str) -> Table:
    columns = [f"cpu {a}" for a in TIMED] + [f"gpu {a}" for a in ON_GPU]
    shown = [column for column in columns if any(column in row for row in ours.values())]
    rows = []
    for name, row in ours.items():
        cells = []
        for column in shown:
            theirs = printed.get(name, {}).get(column)
            mine = f"{row[column]:.2f}" if column in row else "–"
            cells.append(mine + (f" ({theirs:.2f})" if theirs is not None else ""))
        rows.append((Cell(name), *map(Cell, cells)))
    names = [column.replace("cpu ", f"{slow}, ").replace("gpu ", f"{quick}, ") for column in shown]
    notes = (
        f"Solutions a second by those of the slowest program of the instance on {_on(slow)}. Published in brackets: "
        f"the paper's CPU, and its GPU where ours is {_on(quick)}.",
        *(f"Paper: {note}" for note in load_figures("sgs", number).notes),
    )
    return Table(f"Table {number}: solutions a second, normalised", ("Instance", *names), tuple(rows), notes)


def _rate_sketch(number: int, problem: str, ours: Rates, printed: Rates, label: str, gpu: bool) -> Sketch:
    which = "gpu" if gpu else "cpu"
    machine = "GPU" if gpu else "CPU"
    caption = (
        f"Figure {number}: solutions a second, normalised by the slowest program on one thread, {problem}; left ours "
        f"on {_on(label)}, right those of the paper's {machine}, from its tables."
    )
    return Sketch(caption, lambda: _draw_rates(which, ours, printed, (f"Ours, {label}", f"Published, {machine}")))


def _draw_rates(which: str, ours: Rates, printed: Rates, titles: tuple[str, str]) -> Figure:
    with style():
        drawn, axes = panels(1, 2, 7.6, 3.0)
        for place, (rates_here, title) in enumerate(zip((ours, printed), titles, strict=True)):
            names = list(rates_here)
            for algorithm, look in looks(TIMED).items():
                values: list[Any] = [rates_here[name].get(f"{which} {algorithm}") for name in names]
                if names and None not in values:
                    how: dict[str, Any] = {"color": look.colour, "linestyle": look.dashes, "marker": look.marker}
                    axes[place].plot(range(len(names)), values, markersize=3, label=algorithm, **how)
            axes[place].set_xticks(range(len(names)), [n.split(":")[-1] for n in names], rotation=60, fontsize=7)
            axes[place].set_ylim(bottom=0)
            axes[place].grid(axis="y")
            axes[place].set_title(title)
            if not names:
                axes[place].text(0.5, 0.5, "none for these instances", color=SOFT, ha="center")
        axes[0].set_ylabel("Solutions a second, normalised")
        axes[0].legend(fontsize=7)
    return drawn


def _on(label: str) -> str:
    return {"1 thread": "one thread", "GPU": "the GPU"}.get(label, label)
