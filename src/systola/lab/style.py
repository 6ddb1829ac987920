"""The one style of all pictures: sizes, fonts, files, and what each algorithm looks like.

Matplotlib is the extra ``plots``; it is imported when a plot is drawn. Colours are those of Okabe and Ito, told apart
by all common kinds of colour vision; dashes and markers differ, too, so that pictures can be printed in grey.
"""

from __future__ import annotations

import hashlib
import io
import warnings
from collections.abc import Iterable
from contextlib import AbstractContextManager
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from systola.errors import InputError, MissingExtra
from systola.files import write_atomically

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Columns = Literal[1, 2]
WIDTHS: dict[int, float] = {1: 3.5, 2: 7.16}
"""Inches of a picture across one or both columns of a page, as IEEE, ACM and Elsevier have them."""

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DASHES = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (6, 1.5, 1.5, 1.5)))
MARKERS = ("o", "s", "^", "D", "v")
INK, SOFT, FAINT = "#222222", "#666666", "#DDDDDD"
NUMBERS = "{x:,.10g}"

# Neighbours in this list differ in colour, dashes and marker: first those that the papers compare.
_ORDER = (
    "sgs-b sgs-v sgs-e sgs-t ega sga rs "
    "sns sns-exp sns-r sns-mr sns-r-mr sns-exp-r sns-exp-mr sns-exp-r-mr ga "
    "cellular ssga hill tabu ig sa ils its tour pls auto race black-box memetic pugace exact proof"
)
_PLACES = {name: place for place, name in enumerate(_ORDER.split())}
_DIFFERENT = len(COLOURS) * len(DASHES)  # as neither divides the other

_STYLE = {
    "font.size": 8,
    "axes.titlesize": 9,
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
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "grid.color": FAINT,
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 7.5,
    "figure.facecolor": "white",
    "svg.hashsalt": "systola",
    "svg.fonttype": "none",  # texts stay texts
    "pdf.fonttype": 42,  # TrueType, as publishers ask for
}
_SUFFIXES = (".png", ".pdf", ".svg")
_LONGEST, _NARROW = 30, 20  # letters of a name in a picture, and in one of a single column


class Look(NamedTuple):
    """How an algorithm is drawn, everywhere."""

    colour: str
    dashes: Any
    marker: str


def looks(names: Iterable[str]) -> dict[str, Look]:
    """The look of each of the algorithms of a picture.

    An algorithm of systola has its own; what follows a space in its name, as in ``sgs-b (published)``, changes
    nothing. Another name has one that follows from its letters. Only if that is taken in this picture it gets the
    next that is free.
    """
    listed = list(dict.fromkeys(names))
    exact = [name for name in listed if name in _PLACES]
    others = sorted(name for name in listed if name not in _PLACES)
    taken: set[int] = set()
    places = {}
    for name in [*exact, *others]:
        place = _place(name)
        while place in taken and len(taken) < _DIFFERENT:
            place = (place + 1) % _DIFFERENT
        taken.add(place)
        places[name] = place
    return {name: _look(places[name]) for name in listed}


def _place(name: str) -> int:
    known = _PLACES.get(name.partition(" ")[0])
    if known is None:
        known = int.from_bytes(hashlib.sha256(name.encode("utf-8", "replace")).digest()[:8], "big") % _DIFFERENT
    return known


def _look(place: int) -> Look:
    return Look(COLOURS[place % len(COLOURS)], DASHES[place % len(DASHES)], MARKERS[place % len(MARKERS)])


def plain(text: str, columns: Columns = 2, title: bool = False) -> str:
    """A name as it is, whatever Matplotlib would read in it; the middle of a long one is left out."""
    longest = (_LONGEST if columns == 2 else _NARROW) * (2 if title else 1)
    line = "".join(c if c.isprintable() else " " for c in text)
    if len(line) > longest:
        line = f"{line[: longest // 2 - 1]}…{line[-(longest - longest // 2) :]}"
    shown = line.replace("$", r"\$")
    return f" {shown}" if shown.startswith("_") else shown  # legends leave out what begins with a line


def style() -> AbstractContextManager[None]:
    """The look of all plots, while a plot is drawn; MissingExtra if Matplotlib is not installed."""
    try:
        import matplotlib
    except ImportError:
        raise MissingExtra("drawing a plot", "plots") from None
    context: AbstractContextManager[None] = matplotlib.rc_context(_STYLE)
    return context


def check_columns(columns: int) -> float:
    """The width of a picture across so many columns of a page; InputError if there is none."""
    if columns not in WIDTHS:
        raise InputError(f"a picture is 1 or 2 columns of a page wide, but got {columns!r}")
    return WIDTHS[columns]


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


def plot_of_curves(columns: Columns, entries: int) -> tuple[Figure, Any]:
    """A figure with one set of axes, and room for a legend of so many entries; see `put_legend`."""
    width = check_columns(columns)
    return blank(width, 0.5 * width if columns == 2 else 2.1 + 0.16 * -(-entries // 2))


def put_legend(figure: Figure, columns: Columns, title: str = "") -> None:
    """The legend of a figure: on its right if it is wide, else below; never over what is drawn."""
    wide = columns == 2
    entries = figure.axes[0].get_legend_handles_labels()[1]
    figure.legend(
        loc="outside right center" if wide else "outside lower center",
        ncols=1 if wide or max(map(len, entries)) > _NARROW else 2,
        handlelength=2.8,
        labelspacing=0.4,
        title=title or None,
        title_fontsize=7.5,
        alignment="left",
    )


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
    """A figure as a file of this kind, png, pdf or svg, exactly as large as it is. Equal figures give equal files."""
    dated = {"png": {"Software": None}, "pdf": {"CreationDate": None}, "svg": {"Date": None}}
    drawn = io.BytesIO()
    with style(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph", UserWarning)  # a letter that the font has not is a box
        figure.savefig(drawn, format=kind, dpi=200, metadata=dated[kind])
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
