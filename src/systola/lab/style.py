"""What all plots share: style, colours, panels, files.

Matplotlib is the extra ``plots``; it is imported when a plot is drawn. Colours are those of Okabe and Ito,
told apart by all common kinds of colour vision; lines differ in dashes too.
"""

from __future__ import annotations

import io
from contextlib import AbstractContextManager
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from systola.errors import InputError, MissingExtra
from systola.files import write_atomically

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DASHES = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (6, 1.5, 1.5, 1.5)))
INK, SOFT, FAINT = "#222222", "#666666", "#DDDDDD"
NUMBERS = "{x:,.10g}"

_STYLE = {
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.labelcolor": INK,
    "axes.edgecolor": SOFT,
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "text.color": INK,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "grid.color": FAINT,
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "figure.facecolor": "white",
    "svg.hashsalt": "systola",
    "svg.fonttype": "none",  # texts stay texts
    "pdf.fonttype": 42,  # TrueType, as publishers ask for
}
_SUFFIXES = (".png", ".pdf", ".svg")


def style() -> AbstractContextManager[None]:
    """The look of all plots, while a plot is drawn; MissingExtra if Matplotlib is not installed."""
    try:
        import matplotlib
    except ImportError:
        raise MissingExtra("drawing a plot", "plots") from None
    context: AbstractContextManager[None] = matplotlib.rc_context(_STYLE)
    return context


def panels(
    rows: int, columns: int, width: float, height: float, projection: str | None = None
) -> tuple[Figure, list[Any]]:
    """A figure of so many inches and its axes, row by row; flat ones, unless `projection` is ``3d``."""
    from matplotlib.figure import Figure  # not pyplot: no window, no global list of figures

    figure = Figure(figsize=(width, height), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False, subplot_kw={"projection": projection})
    return figure, list(grid.flat)


def blank(width: float, height: float, projection: str | None = None) -> tuple[Figure, Any]:
    """A figure of so many inches with one set of axes."""
    figure, axes = panels(1, 1, width, height, projection)
    return figure, axes[0]


def shades(count: int) -> list[tuple[float, ...]]:
    """So many colours from dark to light, in this order for all common kinds of colour vision."""
    from matplotlib import colormaps

    return [colormaps["cividis"](i / max(count - 1, 1)) for i in range(count)]


def check_target(path: str | PathLike[str]) -> Path:
    """The file that a plot goes to; InputError if its name has another ending than that of a plot."""
    target = Path(path)
    if target.suffix.lower() not in _SUFFIXES:
        raise InputError(f"the name of a plot ends in {', '.join(_SUFFIXES)}, but got {str(path)!r}")
    return target


def figure_bytes(figure: Figure, kind: str) -> bytes:
    """A figure as a file of this kind: png, pdf or svg. Equal figures give equal files."""
    dated = {"png": {"Software": None}, "pdf": {"CreationDate": None}, "svg": {"Date": None}}
    drawn = io.BytesIO()
    with style():
        figure.savefig(drawn, format=kind, dpi=200, bbox_inches="tight", pad_inches=0.08, metadata=dated[kind])
    return drawn.getvalue()


def save(figure: Figure, path: str | PathLike[str]) -> None:
    """Write a figure as PNG, PDF or SVG, by the ending of its name. Equal figures give equal files.

    Raises
    ------
    InputError
        If the ending is another one, or the file cannot be written.
    """
    target = check_target(path)
    drawn = figure_bytes(figure, target.suffix.lower()[1:])
    try:
        write_atomically(target, drawn)
    except OSError as error:
        raise InputError(f"a plot goes into a folder that can be written, but {str(path)!r}: {error}") from error
