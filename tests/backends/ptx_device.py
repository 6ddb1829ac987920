"""A stand-in for a GPU: the PTX that a GPU would be given, executed on the CPU by the shared PTX tool."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from systola.backends.nvidia import compile_to_ptx

TOOL = Path(__file__).resolve().parents[3] / "shared" / "tools" / "ptx"


@cache
def translate(ptx: str, check: bool) -> Any:
    sys.path.insert(0, str(TOOL))
    import ptx2c

    return ptx2c.Module(ptx, check=check)


def flatten(args: tuple[Any, ...]) -> list[Any]:
    flat: list[Any] = []
    for arg in args:
        flat += flatten(arg) if isinstance(arg, tuple) else [arg]
    return flat


class PtxDevice:
    """Launches each kernel through its PTX; memory checked if asked, threads in an order drawn anew each time."""

    name = "executed PTX"

    def __init__(self, capability: tuple[int, int] = (7, 5), check: bool = True, race: bool = False, order: int = 7):
        self._capability = capability
        self._check, self._race, self._order = check, race, order
        self.launches: dict[str, int] = {}

    def upload(self, array: np.ndarray) -> np.ndarray:
        return array.copy(order="K")

    def download(self, array: np.ndarray) -> np.ndarray:
        return array.copy()

    def launch(self, kernel: str, threads: int, block: int, args: tuple[Any, ...]) -> None:
        module = translate(compile_to_ptx(kernel, args, self._capability), self._check)
        self.launches[kernel] = self.launches.get(kernel, 0) + 1
        order = self._order + sum(self.launches.values())
        module.launch((threads + block - 1) // block, block, flatten(args), race=self._race, seed=order)
