"""Texts that others chose, such as names of files and algorithms, before they become part of a report."""

from __future__ import annotations

import unicodedata


def one_line(text: str) -> str:
    """Without line breaks, nor characters that steer terminals, turn the direction of writing, or are none."""
    spaced = " ".join(text.split())
    return "".join(
        c if c.isprintable() or unicodedata.category(c) == "Zs" else "\N{REPLACEMENT CHARACTER}" for c in spaced
    )
