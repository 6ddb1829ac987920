"""Imports point downwards only, and optional packages are imported in one place, when used."""

import ast
from pathlib import Path

import pytest

import systola

ROOT = Path(systola.__file__).parent
# Each layer may import itself and those before it.
LAYERS = [
    {"errors", "signals", "version"},
    {"reading"},
    {"codegen", "digest", "environment", "files"},
    {"cache"},
    {"records", "kernel", "verbs"},
    {"jit"},
    {"rng", "bits", "stop_flag"},
    {"encodings", "dominance", "lines", "moves", "stop", "trace"},
    {"archive", "fields", "increments", "passage", "products"},
    {"problem", "checkpoint"},
    {"problems", "contracts", "exact", "population"},
    {"operators"},
    {"engines"},
    {"backends", "result"},
    {"ending", "faults"},
    {"probing"},
    {"run"},
    {"islands"},
    {"arguments"},
    {"solve"},
    {"engine_contract"},
    {"extend"},
    {"formats"},
    {"lab"},
    {"cli"},
    {"__init__", "__main__"},
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
OPTIONAL = {
    "matplotlib": {"lab/drawing.py"},
    "moocore": set(),
    "mpi4py": {"islands/mpi.py"},
    "numba.cuda": {"backends/nvidia.py", "backends/cuda.py"},
}


def modules():
    return sorted(ROOT.rglob("*.py"))


def imported(path, top_only):
    tree = ast.parse(path.read_text())
    for node in tree.body if top_only else ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (a.name for a in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{a.name}" for a in node.names)


@pytest.mark.parametrize("path", modules(), ids=lambda p: p.relative_to(ROOT).as_posix())
def test_downwards(path):
    here = path.relative_to(ROOT).parts[0].removesuffix(".py")
    for name in imported(path, top_only=False):
        parts = name.split(".")
        if parts[0] == "systola" and len(parts) > 1 and parts[1] in LEVEL:
            assert LEVEL[parts[1]] <= LEVEL[here], f"{here} imports {name}, which is above it"


@pytest.mark.parametrize("path", modules(), ids=lambda p: p.relative_to(ROOT).as_posix())
def test_optional_packages_are_deferred(path):
    where = path.relative_to(ROOT).as_posix()
    for name in imported(path, top_only=where != "backends/nvidia.py"):
        for package, allowed in OPTIONAL.items():
            if name.startswith(package):
                assert where in allowed, f"{where} imports {name}"


def test_modules_stay_small():
    for path in modules():
        assert len(path.read_text().splitlines()) <= 400, f"{path.name} is two files"
