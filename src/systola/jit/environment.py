"""What the environment tells us, and Numba: looked at before Numba is imported, which stops at what is wrong."""

from __future__ import annotations

import os
from contextlib import suppress

from systola.errors import InputError

_THREADS = "NUMBA_NUM_THREADS"
_COMPILERS = "SYSTOLA_COMPILERS"


def _take_out_unfit() -> str | None:
    """The number of threads that was set, if it is none."""
    given = os.environ.pop(_THREADS, "")
    if not given:
        return None
    if _count(given) is None:
        return given
    os.environ[_THREADS] = given
    return None


def _count(given: str) -> int | None:
    with suppress(ValueError):
        if 1 <= int(given) < 2**31:
            return int(given)
    return None


_unfit = _take_out_unfit()


def check_environment() -> None:
    """An InputError if the environment is wrong. It is not raised by the import, where nobody could catch it."""
    if _unfit is not None:
        raise _wrong(_THREADS, _unfit)
    most_compilers(1)


def most_compilers(threads: int) -> int:
    """How many processes may compile kernels at the same time: as many as there are threads, or fewer."""
    given = os.environ.get(_COMPILERS, "")
    count = _count(given) if given else threads
    if count is None:
        raise _wrong(_COMPILERS, given)
    return min(count, threads)


def _wrong(name: str, given: str) -> InputError:
    return InputError(f"{name} must be a whole number of at least 1, but is {given!r}; correct it or unset it")
