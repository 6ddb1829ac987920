"""What the environment tells Numba, looked at before Numba is imported, which stops at what is wrong."""

from __future__ import annotations

import os
from contextlib import suppress

from systola.errors import InputError

_THREADS = "NUMBA_NUM_THREADS"


def _take_out_unfit() -> str | None:
    """The number of threads that was set, if it is none."""
    given = os.environ.pop(_THREADS, "")
    if not given:
        return None
    with suppress(ValueError):
        if 1 <= int(given) < 2**31:
            os.environ[_THREADS] = given
            return None
    return given


_unfit = _take_out_unfit()


def check_environment() -> None:
    """An InputError if the environment is wrong. It is not raised by the import, where nobody could catch it."""
    if _unfit is not None:
        raise InputError(f"{_THREADS} must be a whole number of at least 1, but is {_unfit!r}; correct it or unset it")
