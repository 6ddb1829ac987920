"""Imports point downwards only, and optional packages are imported in one place, when used."""

import ast
from pathlib import Path

import pytest

import systola

ROOT = Path(systola.__file__).parent
# Each layer may import itself and those before it.
LAYERS = [
    {"errors", "version"},
    {"reading"},
    {"files", "jit"},
    {"simd"},
    {"model"},
    {"pareto"},
    {"problems"},
    {"operators"},
    {"engines"},
    {"backends"},
    {"run"},
    {"exact"},
    {"islands"},
    {"black_box"},
    {"assembly"},
    {"solve"},
    {"engine_contract"},
    {"extend"},
    {"formats"},
    {"lab"},
    {"view"},
    {"cli"},
    {"__init__", "__main__"},
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
OPTIONAL = {
    "highspy": {"exact/solver_process.py"},
    "matplotlib": {"lab/style.py"},
    "moocore": set(),
    "mpi4py": {"islands/mpi.py"},
    "networkx": set(),
    "pandas": set(),
    "PIL": set(),
    "numba.cuda": {"backends/nvidia.py", "backends/cuda.py"},
}
# What Numba documents; all else may be otherwise in the next release.
PUBLIC = ("numba.core.errors.", "numba.cuda", "numba.extending.", "numba.types")
ATTRIBUTES = {"__version__", "config", "njit", "typeof", "types"}
PRIVATE = {"jit/private.py", "backends/nvidia.py"}


def modules():
    return sorted(ROOT.rglob("*.py"))


def imported(path, top_only):
    tree = ast.parse(path.read_text())
    for node in tree.body if top_only else ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (a.name for a in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{a.name}" for a in node.names)


def level_of(parts):
    """Of a module, or of the package that it is in."""
    return LEVEL.get(".".join(parts[:2]), LEVEL.get(parts[0]))


@pytest.mark.parametrize("path", modules(), ids=lambda p: p.relative_to(ROOT).as_posix())
def test_downwards(path):
    here = level_of(path.relative_to(ROOT).with_suffix("").parts)
    for name in imported(path, top_only=False):
        package, *parts = name.split(".")
        if package == "systola" and parts and level_of(parts) is not None:
            assert level_of(parts) <= here, f"{path.name} imports {name}, which is above it"


@pytest.mark.parametrize("path", modules(), ids=lambda p: p.relative_to(ROOT).as_posix())
def test_optional_packages_are_deferred(path):
    where = path.relative_to(ROOT).as_posix()
    for name in imported(path, top_only=where != "backends/nvidia.py"):
        for package, allowed in OPTIONAL.items():
            if name.startswith(package):
                assert where in allowed, f"{where} imports {name}"


@pytest.mark.parametrize("path", modules(), ids=lambda p: p.relative_to(ROOT).as_posix())
def test_private_parts_of_numba_are_in_one_place(path):
    where = path.relative_to(ROOT).as_posix()
    if where in PRIVATE:
        return
    for name in imported(path, top_only=False):
        if name.startswith("numba."):
            assert name.startswith(PUBLIC), f"{where} imports {name}"
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "numba":
            assert node.attr in ATTRIBUTES, f"{where} uses numba.{node.attr}"


def test_modules_stay_small():
    for path in modules():
        assert len(path.read_text().splitlines()) <= 400, f"{path.name} is two files"
