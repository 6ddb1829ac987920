"""Which backends tests compare on which pairs of problem and engine: read from the tests that pytest collects."""

from __future__ import annotations

import contextlib
import io
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
COMPARING = (
    TESTS / "golden" / "test_golden.py",
    TESTS / "golden" / "test_golden_ptx.py",
    TESTS / "backends" / "test_cuda.py",
)
BACKENDS = {"I": "interpreted", "1": "one thread", "N": "many threads", "P": "executed PTX"}


@dataclass
class Cell:
    """Letters of the backends that the usual tests compare, and of those that only long tests compare."""

    usual: set[str] = field(default_factory=set)
    long: set[str] = field(default_factory=set)

    def __str__(self) -> str:
        usual, late = ("".join(b for b in BACKENDS if b in letters) for letters in (self.usual, self.long - self.usual))
        return f"{usual}/{late}" if late else usual

    def has(self, backend: str) -> bool:
        return backend in self.usual or backend in self.long


class _Collector:
    """A plugin that notes the tests with the mark `parity`, whose parameters are `problem` and `engine`."""

    def __init__(self) -> None:
        self.cells: dict[tuple[str, str], Cell] = defaultdict(Cell)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        for item in session.items:
            if isinstance(item, pytest.Function):
                self._note(item)

    def _note(self, item: pytest.Function) -> None:
        is_long = item.get_closest_marker("long") is not None
        for mark in item.iter_markers("parity"):
            given = item.callspec.params
            cell = self.cells[str(given["problem"]), str(given["engine"])]
            (cell.long if is_long else cell.usual).update(mark.args[0])


def collect() -> dict[tuple[str, str], Cell]:
    """A cell for each pair that tests compare."""
    collector, said = _Collector(), io.StringIO()
    options = ["--collect-only", "-q", "-n", "0", "-p", "no:cacheprovider", "--rootdir", str(TESTS.parent)]
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        ended = pytest.main([*options, *map(str, COMPARING)], plugins=[collector])
    if ended != pytest.ExitCode.OK:
        raise RuntimeError(f"the tests could not be collected:\n{said.getvalue()[-2000:]}")
    return dict(collector.cells)
