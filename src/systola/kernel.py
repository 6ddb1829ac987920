"""Compiled functions whose disk cache can never be stale.

Numba's own cache looks at the file of the function only, not at what it calls. Here the cache folder is named after
a digest of all sources of the package and of the versions that matter: any edit or upgrade starts a new folder.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

# Threads that spin at a barrier starve each other on a busy machine, threads that sleep at once wake too late for steps
# of 100 microseconds: spin a little, then sleep. Must be set before the first parallel call.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("GOMP_SPINCOUNT", "20000")

import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator
from numba.extending import register_jitable

from systola.codegen import spare_machine_code

_KEPT_FOLDERS = 4
_WITHOUT_KERNELS = ("cli", "formats", "lab")  # editing these leaves the cache valid, unless they are compiled
_COMPILED = re.compile(rb"^@(kernel|inlined|called)\b", re.MULTILINE)

F = TypeVar("F", bound=Callable[..., Any])


def inlined(function: F) -> F:
    """For helpers that kernels call: plain Python when interpreted, inlined without reference counts when compiled."""
    made: F = register_jitable(forceinline=True, _nrt=False)(function)
    return made


def called(function: F) -> F:
    """As `inlined`, but for helpers so large that a call is nothing beside them: compiled once, not at every call."""
    made: F = register_jitable(_nrt=False)(function)
    return made


@lru_cache(maxsize=1)
def source_digest() -> str:
    """Digest of the package's kernels, Numba's version and Python's."""
    root = Path(__file__).parent
    digest = hashlib.sha256(f"{numba.__version__} {sys.version}".encode())
    for path in sorted(root.rglob("*.py")):
        source = path.read_bytes()
        if path.relative_to(root).parts[0] in _WITHOUT_KERNELS and not _COMPILED.search(source):
            continue
        digest.update(path.relative_to(root).as_posix().encode())
        digest.update(source)
    return digest.hexdigest()[:16]


@lru_cache(maxsize=1)
def cache_folder() -> Path:
    """Where compiled kernels are kept: SYSTOLA_CACHE_DIR, else the user's cache folder, else a temporary one."""
    chosen = os.environ.get("SYSTOLA_CACHE_DIR")
    base = Path(chosen) if chosen else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "systola"
    folder = base / source_digest()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError:
        return Path(tempfile.mkdtemp(prefix="systola-"))
    folder.touch()
    ours = (f for f in base.iterdir() if f.is_dir() and re.fullmatch("[0-9a-f]{16}", f.name))
    kept = sorted(ours, key=lambda f: f.stat().st_mtime, reverse=True)
    for old in kept[_KEPT_FOLDERS:]:
        shutil.rmtree(old, ignore_errors=True)
    return folder


class _Locator(_CacheLocator):  # type: ignore[misc]
    def __init__(self, py_func: Callable[..., Any], py_file: str) -> None:
        self._name = f"{py_func.__module__}.{py_func.__qualname__}"

    def get_cache_path(self) -> str:
        return str(cache_folder())

    def get_source_stamp(self) -> str:
        return source_digest()

    def get_disambiguator(self) -> str:
        return hashlib.sha256(self._name.encode()).hexdigest()[:10]

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> _Locator:
        return cls(py_func, py_file)


class _Impl(CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = [_Locator]


class _Cache(FunctionCache):  # type: ignore[misc]
    _impl_class = _Impl


def kernel(*, parallel: bool = False) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function on its first call, without the GIL, and keep the result on disk."""

    def compile_lazily(function: Callable[..., Any]) -> Any:
        # Numba compiles parallel loops with NumPy's errors; whatever is around them with Python's compiles all twice.
        dispatcher = numba.njit(parallel=parallel, nogil=True, error_model="numpy")(function)
        if not numba.config.DISABLE_JIT:
            dispatcher._cache = _Cache(function)
            spare_machine_code(dispatcher)
        return dispatcher

    return compile_lazily
