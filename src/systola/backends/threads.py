"""The number of the running CUDA thread, so that kernels can be written without importing numba.cuda."""

from __future__ import annotations


def thread_number() -> int:
    """Index of this thread in the launch; has a meaning in compiled kernels only."""
    raise RuntimeError("thread_number is for CUDA kernels")
