"""What was built is found again, and only then; a refusal of the compiler is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptx import build as building
from ptx.build import BuildError, build
from ptx.needs import needs_compiler

pytestmark = needs_compiler


def test_built_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = build("int one(void) { return 1; }", False, tmp_path)
    made = first.stat().st_mtime_ns
    assert build("int one(void) { return 1; }", False, tmp_path) == first
    assert first.stat().st_mtime_ns == made
    others = {
        build("int one(void) { return 2; }", False, tmp_path),
        build("int one(void) { return 1; }", True, tmp_path),
    }
    monkeypatch.setattr(building, "_FLAGS", (*building._FLAGS, "-DANOTHER"))
    others.add(build("int one(void) { return 1; }", False, tmp_path))
    assert len(others - {first}) == 3
    assert {path.suffix for path in tmp_path.iterdir()} == {".so"}


def test_a_refusal_is_told(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="undeclared"):
        build("int one(void) { return missing; }", False, tmp_path)
    assert list(tmp_path.iterdir()) == []
