"""Best known values in a `BEST.csv` beside files of instances, or for Taillard's flowshops in that of ../shared."""

from __future__ import annotations

import csv
from pathlib import Path

from own_cases import SHARED


def listed(spec: str) -> int | None:
    """The best known value of a file, a problem of a file as gap1.txt#2, or flowshop:ta031; None if not listed."""
    path, _, number = spec.partition("#")
    table = Path(path).parent / "BEST.csv"
    if spec.startswith("flowshop:"):
        path, table = spec.removeprefix("flowshop:"), SHARED / "pfsp" / "BEST.csv"
    stem = Path(path).stem
    names = {f"{stem}-{int(number)}", f"{stem}-{int(number):02d}"} if number else {stem}
    if not table.exists():
        return None
    with table.open(newline="") as lines:
        found = (row["best_known"] for row in csv.DictReader(lines) if row["name"].split()[0] in names)
        return next((int(value) for value in found if value), None)
