"""What notebooks show of an object: compact HTML without colours of its own, readable on light and dark pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

_CELL = "text-align:left;padding:.1em .8em .1em 0;vertical-align:top"
_NUMBER = "text-align:right;padding:.1em .8em .1em 0;font-variant-numeric:tabular-nums"
_MOST = 12  # rows of a list
_WIDTH, _HEIGHT = 260, 44  # pixels of a curve


def lines_html(title: str, lines: Mapping[str, str]) -> str:
    """Names and values below each other; those without a value are left out."""
    rows = []
    for name, value in lines.items():
        head = f'<th style="{_CELL};font-weight:normal;opacity:.7">{escape(name)}</th>'
        rows.append(f'<tr>{head}<td style="{_CELL}">{escape(value)}</td></tr>' if value else "")
    return _table(title, "".join(rows))


def rows_html(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of numbers; of a long one the first rows, and how many there are."""
    head = "".join(f'<th style="{_NUMBER};border-bottom:1px solid currentColor">{escape(name)}</th>' for name in header)
    lines = ["".join(f'<td style="{_NUMBER}">{escape(text)}</td>' for text in row) for row in rows[:_MOST]]
    more = f'<p style="opacity:.7">{len(rows) - _MOST:,} more</p>' if len(rows) > _MOST else ""
    return _table(title, "".join(f"<tr>{line}</tr>" for line in (head, *lines))) + more


def curve_svg(points: Sequence[tuple[float, float]], label: str) -> str:
    """A small curve in the colour of the text around it, as high as two lines; nothing if it would be a point."""
    across, along = [x for x, _ in points], [y for _, y in points]
    if len(points) < 2 or min(across) == max(across):
        return ""
    left, low = min(across), min(along)
    run, rise = max(across) - left, (max(along) - low) or 1.0
    places = " ".join(
        f"{2 + (_WIDTH - 4) * (x - left) / run:.1f},{_HEIGHT - 2 - (_HEIGHT - 4) * (y - low) / rise:.1f}"
        for x, y in points
    )
    size = f'width="{_WIDTH}" height="{_HEIGHT}" viewBox="0 0 {_WIDTH} {_HEIGHT}"'
    line = f'<polyline points="{places}" fill="none" stroke="currentColor" stroke-width="1.5"/>'
    return f'<svg {size} role="img" aria-label="{escape(label)}">{line}</svg>'


def _table(title: str, rows: str) -> str:
    caption = f'<caption style="{_CELL};font-weight:bold">{escape(title)}</caption>'
    return f'<table style="border-collapse:collapse">{caption}<tbody>{rows}</tbody></table>'
