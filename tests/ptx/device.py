"""A stand-in for a GPU: kernels of systola's CUDA backend, compiled as for a GPU, executed on the CPU."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from ptx.execute import Executable

Array = np.ndarray[Any, np.dtype[Any]]


@cache
def executable(ptx: str, checked: bool) -> Executable:
    return Executable(ptx, checked)


def arrays_of(args: tuple[Any, ...]) -> list[Array]:
    """All arrays among arguments, those in tuples too."""
    found: list[Array] = []
    for arg in args:
        if isinstance(arg, tuple):
            found += arrays_of(arg)
        elif isinstance(arg, np.ndarray):
            found.append(arg)
    return found


def values_of(args: tuple[Any, ...]) -> list[Any]:
    """Arguments as Numba passes them to a kernel: tuples by their members, and an array by its
    owner, parent, number of items, size of an item, address, shape and strides.
    """
    values: list[Any] = []
    for arg in args:
        if isinstance(arg, tuple):
            values += values_of(arg)
        elif isinstance(arg, np.ndarray):
            values += [0, 0, arg.size, arg.itemsize, arg.ctypes.data, *arg.shape, *arg.strides]
        else:
            values.append(arg)
    return values


class PtxDevice:
    """Launches each kernel through its PTX, threads in an order drawn anew each time.

    check
        That each access lies in an array that the kernel was given.
    race
        That no two threads of a launch use the same byte, one of them to write; needs `check`.
    order
        Seed of the order of threads.
    """

    name = "executed PTX"

    def __init__(self, capability: tuple[int, int] = (7, 5), check: bool = True, race: bool = False, order: int = 7):
        from systola.backends.nvidia import compile_to_ptx  # an extra, so that this module can be imported without

        self._compile = compile_to_ptx
        self._capability = capability
        self._check, self._race, self._order = check, race, order
        self.launches: dict[str, int] = {}

    def upload(self, array: Array) -> Array:
        copied: Array = array.copy(order="K")
        return copied

    def download(self, array: Array) -> Array:
        copied: Array = array.copy()
        return copied

    def launch(self, kernel: str, threads: int, block: int, args: tuple[Any, ...]) -> None:
        module = executable(self._compile(kernel, args, self._capability), self._check)
        self.launches[kernel] = self.launches.get(kernel, 0) + 1
        order = self._order + sum(self.launches.values())
        grid = (threads + block - 1) // block
        module.launch([grid], [block], values_of(args), arrays_of(args), seed=order, races=self._race)
