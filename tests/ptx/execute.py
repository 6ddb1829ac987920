"""Launching the kernels of a PTX module on NumPy arrays, in place."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ptx.build import build
from ptx.errors import LaunchError
from ptx.parse import parse
from ptx.program import Function, Variable
from ptx.translate import translate

_MIX = 0x9E3779B97F4A7C15  # spreads small seeds over all bits


class _Room(ctypes.Structure):
    """As in runtime/memory.h."""

    _fields_ = [("begin", ctypes.c_uint64), ("bytes", ctypes.c_uint64)]


class Executable:
    """A module, translated and built; `checked` to check each access to memory."""

    def __init__(self, ptx: str, checked: bool = True):
        translation = translate(parse(ptx))
        self._entries = translation.entries
        self._checked = checked
        self._library = ctypes.CDLL(str(build(translation.source, checked)))
        self._library.launch.restype = ctypes.c_long
        self._library.problem.restype = ctypes.c_char_p
        self._library.module_rooms.restype = ctypes.POINTER(_Room)
        self._module_rooms = self._read_module_rooms()

    def _read_module_rooms(self) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        rooms = self._library.module_rooms()
        while rooms[len(found)].bytes:
            found.append((rooms[len(found)].begin, rooms[len(found)].begin + rooms[len(found)].bytes))
        return found

    def launch(
        self,
        grid: Sequence[int],
        block: Sequence[int],
        values: Sequence[Any],
        memory: Iterable[np.ndarray] = (),
        entry: str | None = None,
        dynamic_bytes: int = 0,
        seed: int = 0,
        races: bool = False,
    ) -> None:
        """Run a kernel, the first one if none is named.

        values
            One for each parameter; arrays are passed by the number that is their address.
        memory
            The arrays that the kernel may use; all others are out of bounds.
        dynamic_bytes
            Shared memory besides what the kernel declares.
        seed
            Of the order of threads and blocks; 0: the natural one.
        races
            Look for races, if the module is checked.
        """
        number = next((i for i, e in enumerate(self._entries) if entry in (None, e.name)), None)
        if number is None:
            raise KeyError(entry)
        ranges = [(a.ctypes.data, a.ctypes.data + a.nbytes) for a in memory]
        rooms = _disjoint([*ranges, *self._module_rooms])
        problems = self._library.launch(
            ctypes.c_uint32(number),
            pack(self._entries[number], values),
            _three(grid),
            _three(block),
            ctypes.c_uint64(dynamic_bytes),
            ctypes.c_uint64(seed * _MIX),
            ctypes.c_int(races and self._checked),
            (_Room * len(rooms))(*(_Room(begin, end - begin) for begin, end in rooms)),
            ctypes.c_uint32(len(rooms)),
        )
        if problems:
            told = [self._library.problem(ctypes.c_uint32(i)) for i in range(problems if problems < 4 else 4)]
            raise LaunchError(f"{problems} problems: " + "; ".join(text.decode() for text in told))


def pack(entry: Function, values: Sequence[Any]) -> bytes:
    """The bytes of a kernel's parameters."""
    if len(values) != len(entry.parameters):
        raise TypeError(f"{entry.name} takes {len(entry.parameters)} values, not {len(values)}")
    packed = bytearray()
    for variable, offset, value in zip(entry.parameters, entry.offsets(), values, strict=True):
        packed += bytes(offset - len(packed)) + _encode(variable, value)
    return bytes(packed)


def _encode(variable: Variable, value: Any) -> bytes:
    if variable.scalar.is_float or isinstance(value, (float, np.floating)):
        return np.array(value, f"f{variable.size}").tobytes()
    bits: int = int(value) % 2 ** (8 * variable.size)
    return bits.to_bytes(variable.size, "little")


def _three(sizes: Sequence[int]) -> ctypes.Array[ctypes.c_uint32]:
    return (ctypes.c_uint32 * 3)(*(*sizes, 1, 1, 1)[:3])


def _disjoint(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Sorted, and one where several overlap, as when an array is given twice."""
    joined: list[tuple[int, int]] = []
    for begin, end in sorted(ranges):
        if begin == end:
            continue
        if joined and begin < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((begin, end))
    return joined
