"""What one deme sends to another: some solutions, those marked that were the best of it, and who sent them when."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from systola.model.encodings import Array

_HEAD = 5  # numbers of 64 bits: receiver, sender, serial, step, how many solutions


class Parcel(NamedTuple):
    """Solutions on their way."""

    target: int
    source: int
    serial: int  # counts the parcels from this source to this target
    step: int  # of the sender
    elite: npt.NDArray[np.uint8]
    rows: Array


def size_of_parcel(rate: int, row: Array) -> int:
    """Bytes of a packed parcel of up to `rate` solutions like this one."""
    return 8 * _HEAD + rate * (1 + row.nbytes)


def pack(parcel: Parcel, room: npt.NDArray[np.uint8]) -> None:
    """Write a parcel into bytes."""
    count = len(parcel.rows)
    room[: 8 * _HEAD].view(np.int64)[:] = (parcel.target, parcel.source, parcel.serial, parcel.step, count)
    room[8 * _HEAD : 8 * _HEAD + count] = parcel.elite
    body = np.ascontiguousarray(parcel.rows).reshape(-1).view(np.uint8)
    room[8 * _HEAD + count : 8 * _HEAD + count + len(body)] = body


def count_in(room: npt.NDArray[np.uint8]) -> int:
    """How many solutions a packed parcel says it has."""
    return int(room[: 8 * _HEAD].view(np.int64)[-1])


def unpack(room: npt.NDArray[np.uint8], like: Array) -> Parcel:
    """The inverse of `pack`, for solutions like this row."""
    target, source, serial, step, count = (int(v) for v in room[: 8 * _HEAD].view(np.int64))
    begin = 8 * _HEAD + count
    rows = room[begin : begin + count * like.nbytes].copy().view(like.dtype).reshape(count, -1)
    return Parcel(target, source, serial, step, room[8 * _HEAD : begin].copy(), rows)
