"""What a fuzz run has done so far: how many inputs of each target, and what they found. One JSON file."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any


class Ledger:
    """Counts and findings, on disk after every change: a run that is ended goes on where it was."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._data: dict[str, Any] = {"done": {}, "findings": []}
        if path.exists():
            self._data = json.loads(path.read_text())

    def done(self, target: str) -> int:
        return int(self._data["done"].get(target, 0))

    @property
    def findings(self) -> list[dict[str, Any]]:
        return list(self._data["findings"])

    def add(self, target: str, inputs: int, findings: list[dict[str, Any]]) -> None:
        self._data["done"][target] = self.done(target) + inputs
        self._data["findings"] += findings
        beside = self.path.with_suffix(".new")
        beside.write_text(json.dumps(self._data, indent=1) + "\n")
        os.replace(beside, self.path)
