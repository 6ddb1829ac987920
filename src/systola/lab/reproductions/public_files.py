"""Instances that are public files, and do not come with systola."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from systola.errors import InputError


def refuse_missing(paper: str, folder: str | None, needed: Sequence[str], source: str) -> None:
    """All files of a paper must be in a folder: an error now, not after an hour; `source` says where they come from."""
    missing = [name for name in needed if not folder or not (Path(folder) / name).is_file()]
    if missing:
        but = f"{folder} has no {', '.join(missing)}" if folder else "no folder was named with --instances"
        raise InputError(
            f"the instances of {paper} are public files that do not come with systola: a folder must hold "
            f"{', '.join(needed)}, but {but}; {source}"
        )
