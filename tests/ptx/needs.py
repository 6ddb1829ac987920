"""What tests need that a clone may lack; a test without it is skipped and says why."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from ptx.build import COMPILER, find_compiler


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # of the package that it is in
        return False


_NO_COMPILER = f"needs {COMPILER}, which compiles translated PTX"
_NO_EXTRA = "needs the extra cu13 or cu12 (numba-cuda and nvJitLink), which compiles for GPUs without one"
HAS_EXTRA = _is_installed("numba_cuda") and _is_installed("cuda.bindings")

needs_compiler = pytest.mark.skipif(find_compiler() is None, reason=_NO_COMPILER)
needs_extra = pytest.mark.skipif(not HAS_EXTRA, reason=_NO_EXTRA)
needs_executor = pytest.mark.skipif(
    find_compiler() is None or not HAS_EXTRA, reason=_NO_EXTRA if find_compiler() else _NO_COMPILER
)
