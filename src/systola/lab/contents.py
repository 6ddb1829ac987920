"""What the papers show: every table and figure, and whether `systola reproduce` makes it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

from systola.errors import InputError

Kind = Literal["table", "figure"]
Status = Literal["made", "shown", "diagram"]

STATUSES: dict[Status, str] = {
    "made": "made by `systola reproduce`, ours beside the published",
    "shown": "shown as published, ours cannot be made",
    "diagram": "explains something, and shows no result",
}


@dataclass(frozen=True)
class Item:
    """A table or a figure of a paper.

    Attributes
    ----------
    kind
        ``table`` or ``figure``.
    number
        Its number in the paper; Roman numerals as numbers.
    title
        What it is about, in our words.
    status
        ``made`` by `systola reproduce`, ``shown`` as published because ours cannot be made, or a ``diagram``.
    why
        Why it cannot be made, or under which condition it can; empty if there is none.
    """

    kind: Kind
    number: int
    title: str
    status: Status
    why: str


@cache
def load_contents(paper: str) -> tuple[Item, ...]:
    """All tables and figures of a paper, in order.

    Parameters
    ----------
    paper
        ``sgs``, ``sns``, ``pugace``, ``mls`` or ``pgap``.

    Raises
    ------
    InputError
        If the paper is not one of these.
    """
    text = (files("systola.lab") / "data" / "contents.json").read_text(encoding="utf-8")
    papers = json.loads(text)
    if paper not in papers:
        raise InputError(f"papers are {', '.join(papers)}, but got {paper!r}")
    return tuple(Item(**item) for item in papers[paper])
