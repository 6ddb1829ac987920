"""A stand-in for a GPU: the PTX that a GPU would be given, executed on the CPU by the shared PTX tool."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from systola.backends.nvidia import compile_to_ptx

TOOL = Path(__file__).resolve().parents[3] / "shared" / "tools" / "ptx"


def _flatten(args: tuple[Any, ...]) -> list[Any]:
    flat: list[Any] = []
    for arg in args:
        flat += _flatten(arg) if isinstance(arg, tuple) else [arg]
    return flat


class PtxDevice:
    """Launches each kernel through its PTX, memory checked, threads in an order drawn from `order`."""

    name = "executed PTX"

    def __init__(self, capability: tuple[int, int] = (7, 5), check: bool = True, race: bool = False, order: int = 7):
        sys.path.insert(0, str(TOOL))
        import ptx2c

        self._tool = ptx2c
        self._capability = capability
        self._check, self._race, self._order = check, race, order
        self._modules: dict[str, Any] = {}
        self.launches = 0

    def upload(self, array: np.ndarray) -> np.ndarray:
        return array.copy(order="K")

    def download(self, array: np.ndarray) -> np.ndarray:
        return array.copy()

    def launch(self, kernel: str, threads: int, block: int, args: tuple[Any, ...]) -> None:
        if kernel not in self._modules:
            self._modules[kernel] = self._tool.Module(compile_to_ptx(kernel, args, self._capability), check=self._check)
        self.launches += 1
        self._modules[kernel].launch(
            (threads + block - 1) // block,
            block,
            _flatten(args),
            race=self._race,
            seed=self._order + self.launches if self._order else 0,
        )
