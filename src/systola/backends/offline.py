"""A device that is not there: enough to lay out a session and compile its kernels."""

from __future__ import annotations

from typing import Any

from systola.errors import InputError
from systola.model.encodings import Array


class NoDevice:
    """Keeps arrays on the host and launches nothing."""

    name = "none"

    def upload(self, array: Array) -> Array:
        return array

    def download(self, array: Array) -> Array:
        return array

    def launch(self, kernel: str, threads: int, block: int, args: tuple[Any, ...]) -> None:
        raise InputError("this device only compiles")
