"""Files of instances: those that tests write, and what is known of the public ones beside the repository."""

from __future__ import annotations

import csv
from pathlib import Path

from conftest import sentence_of
from systola.formats import open_instance


def rows_of(folder: Path) -> list[dict[str, str]]:
    """The table BEST.csv of a folder, a row for each instance; nothing if the folder is not there."""
    if not folder.is_dir():
        return []
    with (folder / "BEST.csv").open() as file:
        return list(csv.DictReader(file))


def written(folder: Path, content: str, name: str = "some.txt") -> Path:
    """A file of this content."""
    path = folder / name
    path.write_text(content, encoding="utf-8")
    return path


def refusal(spec: str | Path, problem: str | None = None) -> str:
    """What is said of an instance that cannot be opened."""
    return sentence_of(open_instance, str(spec), problem)
