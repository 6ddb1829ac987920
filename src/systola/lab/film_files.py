"""Films of a grid as files: animated GIF, MP4, one HTML page with a slider; or a picture of several moments."""

from __future__ import annotations

import base64
import io
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from systola.errors import InputError
from systola.files import write_atomically
from systola.lab.film import choose_moments
from systola.lab.plots import grid_heatmap, read_frames, save
from systola.lab.style import shades, style
from systola.lab.writers.html import escape, write_page

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageFont import FreeTypeFont

MOVING = (".gif", ".mp4", ".html")
STILL = (".png", ".pdf", ".svg")

_Array = npt.NDArray[np.float64]
_FRAMES = 60  # of a moving film
_LEVELS = 24  # of colour in a GIF: more take more bytes than eyes see
_GREYS = 8  # of letters
_WIDTH, _HEIGHT = 720, 120  # pixels of the grid, about: cells of a flat one are higher than wide
_TOP, _BOTTOM, _MARGIN = 30, 34, 10
_RATE = 10  # frames a second
_LAST = 2500  # milliseconds that a GIF stays at its end


def check_film(path: str | PathLike[str]) -> Path:
    """The file that a film goes to.

    Raises
    ------
    InputError
        If its name ends otherwise than that of a film, or it is an MP4 and there is no ffmpeg.
    """
    target = Path(path)
    kind = target.suffix.lower()
    if kind not in (*MOVING, *STILL):
        raise InputError(f"the name of a film ends in {', '.join((*MOVING, *STILL))}, but got {str(path)!r}")
    if kind == ".mp4" and shutil.which("ffmpeg") is None:
        raise InputError(
            "an MP4 is made by the program ffmpeg, which is not installed; install it, or write a .gif or .html"
        )
    return target


def moments_of(path: str | PathLike[str], last: int) -> list[int]:
    """The moments of a film of so many steps: 60 if it moves, and six for a picture."""
    return choose_moments(last, _FRAMES if Path(path).suffix.lower() in MOVING else 6)


def save_film(
    frames: Sequence[npt.ArrayLike],
    steps: Sequence[int],
    path: str | PathLike[str],
    *,
    label: str = "Fitness",
    title: str = "",
) -> None:
    """Write a film as GIF, MP4 or HTML, or a picture of all its moments as PNG, PDF or SVG, by the ending of its name.

    Parameters
    ----------
    frames, steps, label, title
        As of `grid_heatmap`.
    path
        The file. Equal films give equal files, but for MP4.

    Raises
    ------
    InputError
        If there is nothing to show, shapes or numbers differ, the ending is another one, ffmpeg is missing or fails, or
        the file cannot be written.
    MissingExtra
        If Matplotlib is not installed, with which the library comes that draws moving pictures.
    """
    target = check_film(path)
    kind = target.suffix.lower()
    if kind in STILL:
        save(grid_heatmap(frames, steps, label=label, title=title), target)
        return
    cells = read_frames(frames, steps)
    made = {".gif": _gif, ".mp4": _mp4, ".html": _html}[kind](cells, steps, label, title)
    try:
        write_atomically(target, made)
    except OSError as error:
        raise InputError(
            f"a film goes into a folder that can be written, but {str(path)!r}: {error.strerror}"
        ) from None


def _gif(cells: _Array, steps: Sequence[int], label: str, title: str) -> bytes:
    first, *others = _images(cells, steps, label, title)
    out = io.BytesIO()
    pace = [1000 // _RATE] * len(others) + [_LAST]
    first.save(out, "gif", save_all=True, append_images=others, duration=pace, loop=0, optimize=False)
    return out.getvalue()


def _mp4(cells: _Array, steps: Sequence[int], label: str, title: str) -> bytes:
    images = [image.convert("RGB") for image in _images(cells, steps, label, title)]
    images += [images[-1]] * (_LAST * _RATE // 1000)
    width, height = images[0].size
    given = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", str(_RATE), "-i", "-"]
    # Colours for all players, and even sides, which these need.
    wanted = ["-vf", "crop=trunc(iw/2)*2:trunc(ih/2)*2", "-pix_fmt", "yuv420p", "-movflags", "+faststart"]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "film.mp4"
        command = ["ffmpeg", "-loglevel", "error", "-y", *given, *wanted, str(file)]
        done = subprocess.run(command, input=b"".join(image.tobytes() for image in images), capture_output=True)
        if done.returncode:
            why = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
            raise InputError(f"ffmpeg cannot make the film: {' '.join(why)}; write .gif or .html instead")
        return file.read_bytes()


def _html(cells: _Array, steps: Sequence[int], label: str, title: str) -> bytes:
    low, high = float(cells.min()), float(cells.max())
    values = np.round((cells - low) / ((high - low) or 1.0) * 255).astype(np.uint8)
    data = base64.b64encode(values.tobytes()).decode()
    palette = "".join("".join(f"{round(255 * c):02x}" for c in shade[:3]) for shade in shades(256))
    count, height, width = values.shape
    name = escape(title or "A run")
    body = (
        f"<h1>{name}</h1>"
        f'<p><canvas width="{width}" height="{height}" role="img" aria-label="{escape(label)} of all cells" '
        f'data-frames="{data}" data-palette="{palette}" data-steps="{",".join(map(str, steps))}"></canvas></p>'
        f'<p class="controls"><button type="button" id="play">Play</button> '
        f'<label>Moment <input type="range" id="moment" min="0" max="{count - 1}" value="0"></label> '
        f'<output id="told" for="moment">Step {steps[0]:,}</output></p>'
        f'<p class="small">{escape(label)}: dark {low:,.6g}, light {high:,.6g}. Each point is a cell, {height} rows of '
        f"{width}.</p>"
    )
    script = (files("systola.lab") / "film.js").read_text(encoding="utf-8")
    return write_page(title or "A run", body, script).encode()


def _images(cells: _Array, steps: Sequence[int], label: str, title: str) -> list[Image]:
    """Frames with title, step, and what dark and light mean, in one palette."""
    from PIL import Image as images

    font = _font(15)
    low, high = float(cells.min()), float(cells.max())
    _, height, width = cells.shape
    scale, rise = max(_WIDTH // width, 1), max(_WIDTH // width, _HEIGHT // height, 1)  # pixels of a cell
    ramp = np.repeat(np.linspace(0, _LEVELS - 1, 120).round()[None], 12, axis=0).astype(np.uint8)
    size = (max(scale * width, 360) + 2 * _MARGIN, rise * height + _TOP + _BOTTOM)
    made = []
    for frame, step in zip(cells, steps, strict=True):
        image = np.full(size[::-1], _LEVELS, np.uint8)  # the palette's white
        texts = images.new("L", size, 0)
        ends = f"{low:,.6g}", f"{label}, {high:,.6g}"
        _write(texts, [(_MARGIN, title), (-_MARGIN, f"Step {step:,}")], 6, font)
        _write(texts, [(_MARGIN, ends[0])], size[1] - 26, font)
        left = _MARGIN + round(font.getlength(ends[0])) + 8
        _write(texts, [(left + ramp.shape[1] + 8, ends[1])], size[1] - 26, font)
        letters = np.asarray(texts, dtype=np.uint16) * (_GREYS - 1) // 255
        image += letters.astype(np.uint8)
        values = np.round((frame - low) / ((high - low) or 1.0) * (_LEVELS - 1)).astype(np.uint8)
        block = np.kron(values, np.ones((rise, scale), np.uint8))
        image[_TOP : _TOP + rise * height, _MARGIN : _MARGIN + scale * width] = block
        image[size[1] - 24 : size[1] - 12, left : left + ramp.shape[1]] = ramp
        drawn = images.frombytes("P", size, image.tobytes())
        drawn.putpalette(_palette())
        made.append(drawn)
    return made


def _write(texts: Image, words: list[tuple[int, str]], top: int, font: FreeTypeFont) -> None:
    """Words from the left, or, if negative, to the right."""
    from PIL import ImageDraw

    pen = ImageDraw.Draw(texts)
    for x, text in words:
        line = "".join(c if c.isprintable() else " " for c in text)
        left = x if x >= 0 else texts.width + x - round(font.getlength(line))
        pen.text((left, top), line, fill=255, font=font)


def _font(size: int) -> Any:
    """That of plots, which is a file of Matplotlib's."""
    from PIL import ImageFont

    with style():
        from matplotlib.font_manager import findfont

        return ImageFont.truetype(findfont("DejaVu Sans"), size)


def _palette() -> list[int]:
    colours = [tuple(round(255 * c) for c in shade[:3]) for shade in shades(_LEVELS)]
    greys = [tuple(round(255 - (255 - 34) * k / (_GREYS - 1)) for _ in range(3)) for k in range(_GREYS)]
    return [value for colour in (*colours, *greys) for value in colour]
