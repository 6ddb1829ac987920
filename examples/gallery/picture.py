"""The look that all figures of the gallery share. Matplotlib is needed for the figures only: pip install matplotlib"""

import io
from pathlib import Path

import systola as sy
from systola.lab.style import COLOURS, FAINT, INK, SOFT, blank, style

__all__ = ["COLOURS", "FAINT", "INK", "SOFT", "draw", "map_axes"]

_SHADES = 64  # colours of a file, so that it is small


def draw(name, title, paint, *data):
    """Write a PNG into the current folder: `paint(axes, *data)` on axes of the usual size."""
    try:
        with style():
            figure, axes = blank(6.4, 4.4)
            axes.set_title(title)
            paint(axes, *data)
            drawn = io.BytesIO()
            figure.savefig(drawn, format="png", dpi=110)
    except sy.MissingExtra:
        print("for a figure: pip install matplotlib")
        return
    from PIL import Image  # Matplotlib brings it

    small = Image.open(drawn).convert("RGB").quantize(_SHADES, Image.Quantize.FASTOCTREE)
    small.putpalette([value + (value == 254) for value in small.getpalette()])  # white stays white
    small.save(Path(name), optimize=True)
    print(f"figure: {name}")


def map_axes(axes):
    """Axes of a map: as wide as high for the same distance, without numbers."""
    axes.set_aspect("equal")
    axes.set_axis_off()
