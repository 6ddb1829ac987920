"""A solution as people like to see it: marks in a box, plain data that a page, a report or a notebook shows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from systola.errors import InputError
from systola.reading import Json, is_number, is_whole

if TYPE_CHECKING:
    from systola.model.encodings import Array
    from systola.model.problem import Problem

PALETTE = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00"),
    *("#56B4E9", "#B8A800", "#882255", "#44AA99", "#8A8A8A"),
)
MOST_MARKS = 2000
MOST_POINTS = 10_000  # of all lines together
_MOST_LETTERS = 200
_DIGITS = 6  # of a number in a file: more than a screen shows


@dataclass(frozen=True)
class Rect:
    """A rectangle from its upper left corner; `label` is shown by whoever points at it."""

    x: float
    y: float
    width: float
    height: float
    colour: int | None = None
    label: str = ""


@dataclass(frozen=True)
class Line:
    """Straight lines from point to point."""

    points: Sequence[tuple[float, float]]
    colour: int | None = None
    label: str = ""


@dataclass(frozen=True)
class Point:
    """A dot."""

    x: float
    y: float
    colour: int | None = None
    label: str = ""


@dataclass(frozen=True)
class Text:
    """Words that begin here; `y` is the line that they stand on."""

    x: float
    y: float
    text: str


Mark: TypeAlias = Rect | Line | Point | Text
Given: TypeAlias = "Json | np.generic | Iterable[Any] | Mark"  # what may come, right or wrong

_NAMES: dict[type[Mark], str] = {Rect: "rect", Line: "line", Point: "point", Text: "text"}
_KEYS = {"width": "w", "height": "h"}  # of a rectangle, in a file
_NUMBERS = {"x", "y", "width", "height"}


@dataclass(frozen=True)
class Drawing:
    """Marks in a box, y downwards.

    Parameters
    ----------
    width, height : number
        Of the box, in units of your own; whoever shows it scales both alike.
    marks : list of Rect, Line, Point and Text
        In this order, later ones over earlier ones; at most 2,000, with 10,000 points of lines. Their `colour` is the
        number of one of ten colours, 0 to 9, or None for that of text.
    caption : str
        A line above it.

    Examples
    --------
    >>> from systola.extend import Drawing, Rect
    >>> Drawing(3, 1, [Rect(k, 0, 1, 1, colour=k) for k in range(3)], caption="three boxes")
    <Drawing: 3 x 1, 3 marks, three boxes>
    """

    width: float
    height: float
    marks: Sequence[Mark] = ()
    caption: str = ""

    def __post_init__(self) -> None:
        for name in ("width", "height"):
            value = _number(getattr(self, name), name, "a drawing")
            if not value > 0:
                raise InputError(f"the {name} of a drawing must be greater than 0, but is {value:g}")
            object.__setattr__(self, name, value)
        object.__setattr__(self, "caption", _text(self.caption, "caption", "a drawing"))
        if isinstance(self.marks, (str, bytes)) or not isinstance(self.marks, Iterable):
            raise InputError(f"the marks of a drawing must be a list, but got {_shown(self.marks)}")
        marks = tuple(self.marks)
        if len(marks) > MOST_MARKS:
            raise InputError(f"a drawing has at most {MOST_MARKS:,} marks, but got {len(marks):,}; leave some out")
        object.__setattr__(self, "marks", tuple(_checked(mark) for mark in marks))
        points = sum(len(mark.points) for mark in self.marks if isinstance(mark, Line))
        if points > MOST_POINTS:
            raise InputError(f"the lines of a drawing have at most {MOST_POINTS:,} points, but got {points:,}")

    def __repr__(self) -> str:
        told = f", {self.caption}" if self.caption else ""
        return f"<Drawing: {self.width:g} x {self.height:g}, {len(self.marks):,} marks{told}>"

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        marks = [_plain(mark) for mark in self.marks]
        return {"width": _short(self.width), "height": _short(self.height), "caption": self.caption, "marks": marks}

    @classmethod
    def from_json(cls, data: Json) -> Drawing:
        """The inverse of `to_json`, but for digits that no screen shows; an InputError if it is something else."""
        if not isinstance(data, dict) or not isinstance(data.get("marks"), list):
            raise InputError("a drawing must have a width, a height and a list of marks")
        marks: Any = data["marks"]
        return cls(data.get("width"), data.get("height"), [_read(mark) for mark in marks], data.get("caption", ""))  # type: ignore[arg-type]

    def to_svg(self) -> str:
        """An SVG picture for a page or a file; text has the colour of the page's, on light and on dark."""
        size = max(self.width, self.height)
        top = 0.04 * size if self.caption else 0.0
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 {-top:g} {self.width:g} {self.height + top:g}" '
            f'role="img" aria-label="{escape(self.caption or "drawing")}" fill="currentColor" '
            f'font-family="sans-serif" font-size="{size / 45:g}">'
        )
        caption = _written(Text(0, -0.3 * top, self.caption), size) if self.caption else ""
        return "".join((head, caption, *(_written(mark, size) for mark in self.marks), "</svg>"))

    def _repr_html_(self) -> str:
        return f'<div style="max-width: 60em">{self.to_svg()}</div>'


def draw_solution(problem: Problem, decisions: Array) -> Drawing | None:
    """What `draw` of a problem makes of a copy of a solution; an InputError says what is wrong with it, if so."""
    name = f"{type(problem).__name__}.draw"
    try:
        drawing = problem.draw(decisions.copy())
    except Exception as error:  # it may be a user's
        raise InputError(f"{name} raised {type(error).__name__}: {error}") from error
    if drawing is not None and not isinstance(drawing, Drawing):
        raise InputError(f"{name} must return a Drawing or None, but returned {_shown(drawing)}")
    return drawing


def _shown(value: Given) -> str:
    return repr(value)[:60]


def _number(value: Given, name: str, of: str) -> float:
    """A finite number, NumPy's included."""
    plain: Any = value.item() if isinstance(value, np.generic) else value
    if not is_number(plain) or not math.isfinite(plain):
        raise InputError(f"the {name} of {of} must be a finite number, but is {_shown(value)}")
    return float(plain)


def _text(value: Given, name: str, of: str) -> str:
    if not isinstance(value, str):
        raise InputError(f"the {name} of {of} must be a text, but is {_shown(value)}")
    return value if len(value) <= _MOST_LETTERS else value[: _MOST_LETTERS - 1] + "…"


def _colour(value: Given, of: str) -> int | None:
    plain: Any = value.item() if isinstance(value, np.generic) else value
    if plain is None or is_whole(plain, 0, len(PALETTE) - 1):
        return plain  # type: ignore[no-any-return]
    raise InputError(f"the colour of {of} must be a whole number from 0 to {len(PALETTE) - 1}, but is {_shown(value)}")


def _checked(mark: Mark) -> Mark:
    """The same mark in plain numbers; an InputError says what is wrong with it."""
    name = _NAMES.get(type(mark))
    if name is None:
        raise InputError(f"a mark of a drawing must be a Rect, Line, Point or Text, but got {_shown(mark)}")
    of = f"a {name}"
    fields: dict[str, Any] = dict(mark.__dict__)
    for key in _NUMBERS & set(fields):
        fields[key] = _number(fields[key], key, of)
    for key in {"label", "text"} & set(fields):
        fields[key] = _text(fields[key], key, of)
    if "colour" in fields:
        fields["colour"] = _colour(fields["colour"], of)
    if "points" in fields:
        fields["points"] = _points(fields["points"])
    if min(fields.get("width", 0), fields.get("height", 0)) < 0:
        raise InputError(f"the width and height of a rect must not be negative, but got {_shown(mark)}")
    return type(mark)(**fields)


def _points(value: Given) -> tuple[tuple[float, float], ...]:
    given: Any = value
    try:
        pairs = [tuple(pair) for pair in given]
    except TypeError:
        pairs = [()]
    if not all(len(pair) == 2 for pair in pairs):
        raise InputError(f"the points of a line must be pairs of numbers, (x, y), but got {_shown(value)}")
    return tuple((_number(x, "x", "a point"), _number(y, "y", "a point")) for x, y in pairs)


def _short(value: float) -> float | int:
    rounded = float(f"{value:.{_DIGITS}g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 1e15 else rounded


def _plain(mark: Mark) -> dict[str, Any]:
    told: dict[str, Any] = {"mark": _NAMES[type(mark)]}
    for key, value in mark.__dict__.items():
        if key == "points":
            told[key] = [_short(number) for pair in value for number in pair]
        elif value is not None and (key == "text" or value != ""):
            told[_KEYS.get(key, key)] = _short(value) if key in _NUMBERS else value
    return told


def _read(data: Json) -> Mark:
    kinds = {name: kind for kind, name in _NAMES.items()}
    kind = kinds.get(str(data.get("mark"))) if isinstance(data, dict) else None
    if kind is None or not isinstance(data, dict):
        raise InputError(f"a mark of a drawing must be one of {', '.join(kinds)}, but got {_shown(data)}")
    fields: dict[str, Any] = {}
    for name in kind.__dataclass_fields__:
        key = _KEYS.get(name, name)
        if key in data:
            fields[name] = data[key]
        elif name not in ("colour", "label"):
            raise InputError(f"a {_NAMES[kind]} must have {key!r}, but this one does not")
    if kind is Line:
        numbers = fields["points"]
        if not isinstance(numbers, list) or len(numbers) % 2:
            raise InputError("the points of a line must be a list of numbers, x and y in turn")
        fields["points"] = list(zip(numbers[::2], numbers[1::2], strict=True))
    return kind(**fields)


def _written(mark: Mark, size: float) -> str:
    """A mark in SVG."""
    if isinstance(mark, Text):
        return f'<text x="{mark.x:g}" y="{mark.y:g}">{escape(mark.text)}</text>'
    plain = "currentColor" if mark.colour is None else PALETTE[mark.colour]
    # A page may set other colours; programs that know no variables take the attribute.
    ink = plain if mark.colour is None else f"var(--systola-{mark.colour}, {plain})"
    label = f"<title>{escape(mark.label)}</title>" if mark.label else ""
    if isinstance(mark, Line):
        points = " ".join(f"{x:g},{y:g}" for x, y in mark.points)
        look = f'fill="none" stroke="{plain}" stroke-width="{size / 400:g}" style="stroke:{ink}"'
        return f'<polyline points="{points}" {look}>{label}</polyline>'
    look = f'fill="{plain}" style="fill:{ink}"'
    if isinstance(mark, Point):
        return f'<circle cx="{mark.x:g}" cy="{mark.y:g}" r="{size / 150:g}" {look}>{label}</circle>'
    box = f'x="{mark.x:g}" y="{mark.y:g}" width="{mark.width:g}" height="{mark.height:g}"'
    return f"<rect {box} {look}>{label}</rect>"
