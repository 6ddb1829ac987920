"""Best known values in a `BEST.csv` beside files of instances."""

from __future__ import annotations

import csv
from pathlib import Path


def listed(spec: str) -> int | None:
    """The best known value of a file, or of a problem of a file as gap1.txt#2; None where it is not listed."""
    path, _, number = spec.partition("#")
    name = Path(path).stem + (f"-{number}" if number else "")
    table = Path(path).parent / "BEST.csv"
    if not table.exists():
        return None
    with table.open() as lines:
        return next((int(row["best_known"]) for row in csv.DictReader(lines) if row["name"] == name), None)
