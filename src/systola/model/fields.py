"""The data of a problem, as kernels can see them."""

from __future__ import annotations

from typing import Any

import numpy as np

from systola.errors import InputError
from systola.model.encodings import Array


def plain(value: Any, where: str) -> Any:
    """Numbers and C-ordered arrays of the few types that kernels are compiled for."""
    if isinstance(value, str) or value is None:
        return value
    try:
        array: Array = np.asarray(value)
    except ValueError:
        raise InputError(f"{where} must be a number or an array of numbers, but its rows differ in length") from None
    if array.dtype.kind in "Of" and not isinstance(value, np.ndarray):  # what NumPy makes of large integers
        numbers = np.asarray(value, object).ravel()
        if len(numbers) and all(isinstance(number, int) for number in numbers):
            raise InputError(f"{where} must fit into 64 bits, but got {max(numbers, key=abs)}")
    if array.dtype.kind not in "biuf":
        raise InputError(f"{where} must be a number or an array of numbers, but got {type(value).__name__}")
    if array.ndim == 0:
        number = array.item()
        if isinstance(number, int) and not -(2**63) <= number < 2**63:
            raise InputError(f"{where} must fit into 64 bits, but got {number}")
        return number
    if array.dtype.kind == "f" and array.dtype != np.float64:
        array = array.astype(np.float64)
    if array.dtype.kind in "iu" and array.dtype.itemsize < 8 and array.dtype not in (np.int32, np.uint8):
        array = array.astype(np.int64)
    return np.ascontiguousarray(array)
