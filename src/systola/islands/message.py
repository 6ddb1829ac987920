"""What one deme sends to another: some solutions, those marked that were the best of it, and who sent them when."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from systola.model.encodings import Array

_HEAD = 5  # numbers of 64 bits: receiver, sender, serial, step, how many solutions


class Message(NamedTuple):
    """Solutions on their way."""

    target: int
    source: int
    serial: int  # counts the messages from this source to this target
    step: int  # of the sender
    elite: npt.NDArray[np.uint8]
    rows: Array


def message_size(rate: int, row: Array) -> int:
    """Bytes of a packed message of up to `rate` solutions like this one."""
    return 8 * _HEAD + rate * (1 + row.nbytes)


def pack(message: Message, room: npt.NDArray[np.uint8]) -> None:
    """Write a message into bytes."""
    count = len(message.rows)
    room[: 8 * _HEAD].view(np.int64)[:] = (message.target, message.source, message.serial, message.step, count)
    room[8 * _HEAD : 8 * _HEAD + count] = message.elite
    body = np.ascontiguousarray(message.rows).reshape(-1).view(np.uint8)
    room[8 * _HEAD + count : 8 * _HEAD + count + len(body)] = body


def count_in(room: npt.NDArray[np.uint8]) -> int:
    """How many solutions a packed message says it has."""
    return int(room[: 8 * _HEAD].view(np.int64)[-1])


def unpack(room: npt.NDArray[np.uint8], like: Array) -> Message:
    """The inverse of `pack`, for solutions like this row."""
    target, source, serial, step, count = (int(v) for v in room[: 8 * _HEAD].view(np.int64))
    begin = 8 * _HEAD + count
    rows = room[begin : begin + count * like.nbytes].copy().view(like.dtype).reshape(count, -1)
    return Message(target, source, serial, step, room[8 * _HEAD : begin].copy(), rows)
