"""SVG texts as parts of an HTML page: nothing that fetches or executes, and no name that another picture has, too."""

from __future__ import annotations

import re
from html import escape
from xml.etree import ElementTree

from systola.errors import InputError

_SPACE = "{http://www.w3.org/2000/svg}"
_LINK = "{http://www.w3.org/1999/xlink}href"
_DRAWS = (
    " svg g defs path rect circle ellipse line polyline polygon text tspan use image clipPath mask pattern marker "
    "linearGradient radialGradient stop symbol title desc "
)
_REFERENCE = re.compile(r"url\(\s*['\"]?#([^)'\"]+)['\"]?\s*\)")
_FETCHES = re.compile(r"@import|url\(\s*['\"]?(?!#)", re.IGNORECASE)


def inline_svg(text: str, prefix: str, label: str) -> str:
    """The picture as an element of a page.

    Parameters
    ----------
    text
        The SVG, as a file has it.
    prefix
        What its names get, so that they differ from those of other pictures.
    label
        What screen readers say.

    Raises
    ------
    InputError
        If it is not well-formed, or no SVG.
    """
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise InputError(f"a picture is a well-formed SVG, but that of {label!r} is not: {error}") from None
    if root.tag != f"{_SPACE}svg":
        raise InputError(f"a picture is an SVG, but that of {label!r} begins with <{root.tag}>")
    # Style elements are left out, as they would be of the whole page; lines are joined as those of Matplotlib say.
    return _element(root, prefix, {"role": "img", "aria-label": label, "stroke-linejoin": "round"})


def _element(element: ElementTree.Element, prefix: str, extra: dict[str, str]) -> str:
    name = element.tag.removeprefix(_SPACE)
    given = (_attribute(key, value, prefix) for key, value in element.items())
    kept = {**{key: value for key, value in given if key}, **extra}
    attributes = "".join(f' {k}="{escape(v)}"' for k, v in kept.items())
    inside = escape(element.text or "", quote=False)
    for child in element:
        if isinstance(child.tag, str) and f" {child.tag.removeprefix(_SPACE)} " in _DRAWS:
            inside += _element(child, prefix, {})
        inside += escape(child.tail or "", quote=False)
    return f"<{name}{attributes}>{inside}</{name}>"


def _attribute(name: str, value: str, prefix: str) -> tuple[str, str]:
    """An attribute that may stay, with names of its own; otherwise one without a name."""
    if name in (_LINK, "href"):
        if value.startswith("#"):
            return "href", f"#{prefix}{value[1:]}"
        return ("href", value) if value.startswith("data:image/png;base64,") else ("", "")
    if name.startswith("{") or name.lower().startswith("on") or _FETCHES.search(value):
        return "", ""
    if name == "id":
        return name, prefix + value
    return name, _REFERENCE.sub(lambda found: f"url(#{prefix}{found[1]})", value)
