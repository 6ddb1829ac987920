"""Proofs that no number of a problem outgrows the integers of compiled code, which wrap around without a word.

They are made once, when a problem is made, from Python's own integers, which have no end: the sum of an array may
have wrapped before it is compared with anything.
"""

from __future__ import annotations

import numpy as np

from systola.errors import InputError
from systola.model.encodings import Array

WIDE = 2**62  # no measure, penalty or fitness reaches it, so that the difference of two fits into 64 bits
_MOST_PLACES = 9
NARROW = 2**31  # nor does anything that is kept in 32 bits, or that shares 64 with another


def whole_numbers(name: str, values: Array, *, signed: bool = False, limit: int = WIDE) -> Array:
    """The values in 64 bits; InputError unless they are whole numbers below the limit, and not negative."""
    if values.dtype.kind not in "iu" and values.size:
        raise InputError(f"each {name} must be a whole number, but got {values.dtype}; scale the data")
    if not signed and (values < 0).any():
        at = np.argwhere(values < 0)[0]
        raise InputError(f"`{name} >= 0` must hold, but got {values[tuple(at)]} at {(at + 1).tolist()}")
    furthest = max(int(values.max()), -int(values.min())) if values.size else 0
    if furthest >= limit:
        raise InputError(
            f"each {name} must be below 2**{limit.bit_length() - 1}, but got {furthest}; scale the data down"
        )
    return values.astype(np.int64)


def scaled_up(name: str, values: Array) -> tuple[Array, int]:
    """Decimal fractions as whole numbers, and the power of ten that they were multiplied by; nothing is rounded."""
    if values.dtype.kind != "f" or not values.size:
        return values, 1
    if not np.isfinite(values).all():
        raise InputError(f"each {name} must be a finite number, but got {values[~np.isfinite(values)][0]}")
    for places in range(_MOST_PLACES + 1):
        whole = np.rint(values * 10.0**places)
        if (whole / 10.0**places == values).all() and np.abs(whole).max() < 2**53:
            return whole.astype(np.int64), 10**places
    odd = values[np.rint(values * 10.0**_MOST_PLACES) / 10.0**_MOST_PLACES != values]
    raise InputError(
        f"each {name} must have at most {_MOST_PLACES} decimal places, and 15 digits in all, but got "
        f"{odd[0] if odd.size else np.abs(values).max()!r}; round them, with numpy.round for one"
    )


def check_whole_number(name: str, value: int) -> None:
    """InputError unless the value is a whole number of zero or more."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InputError(f"`{name} >= 0` must hold for a whole number, but got {value!r}")


def exact_sum(values: Array) -> int:
    """The sum, however large."""
    return sum(values.ravel().tolist())


def refuse_beyond(limit: int, reach: int, what: str) -> None:
    """InputError if what a problem can come to, in exact integers, reaches the limit."""
    if reach >= limit:
        raise InputError(
            f"{what} must be below 2**{limit.bit_length() - 1}, but with these data could reach {reach}; scale the "
            "data down"
        )
