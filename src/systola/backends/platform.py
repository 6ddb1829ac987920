"""Where kernels run: a backend, how many threads, and of GPUs which one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numba

from systola.backends.cpu import CpuSession
from systola.backends.session import Session, Setup
from systola.errors import InputError

if TYPE_CHECKING:
    from systola.backends.cuda import Device

BACKENDS = ("cpu", "cuda", "python")


@dataclass(frozen=True)
class Platform:
    """Where kernels run.

    Parameters
    ----------
    backend
        One of `BACKENDS`; "python" interprets kernels.
    threads
        Of the CPU; None for all cores, or one where steps are too short to share.
    device
        The GPU; None for the first one.
    """

    backend: str = "cpu"
    threads: int | None = None
    device: Device | None = None

    def __post_init__(self) -> None:
        most, threads = numba.config.NUMBA_NUM_THREADS, self.threads
        is_count = isinstance(threads, int) and not isinstance(threads, bool)
        if threads is not None and not (is_count and 1 <= threads <= most):
            raise InputError(f"`1 <= threads <= {most}` must hold here, but got {threads!r}")
        if self.backend not in BACKENDS:
            raise InputError(f"the backend must be cpu, cuda or python, but got {self.backend!r}")

    @property
    def most_threads(self) -> int:
        """How many threads of the CPU kernels may use."""
        return (self.threads or int(numba.config.NUMBA_NUM_THREADS)) if self.backend == "cpu" else 1

    def open_session(self, setup: Setup) -> Session:
        """Arrays and kernels of a run here."""
        if self.backend == "cuda":
            from systola.backends.cuda import CudaSession

            return CudaSession(setup, self.device)
        return CpuSession(setup, self.threads, compiled=self.backend == "cpu")
