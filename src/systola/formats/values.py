"""Values of files and of the command line, made what the annotations of a class or a function ask for."""

from __future__ import annotations

import inspect
import json
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import lru_cache
from types import GenericAlias
from typing import Any

import numpy as np

from systola.errors import InputError
from systola.formats.text import shown
from systola.model.encodings import Array
from systola.reading import Json

Annotation = type | str | GenericAlias | None  # of a parameter: a class, its name, or NDArray[...]

_DEEPEST = 8  # lists in lists: no problem has arrays of more axes
_SHOWN = 40  # characters of a wrong value in a message
_ARRAYS = ("Array", "np.ndarray", "numpy.ndarray")
_PLAIN: Mapping[Any, type] = {key: kind for kind in (int, float, bool, str) for key in (kind, kind.__name__)}


@dataclass(frozen=True)
class Parameter:
    """One of the values that a class or a function is made from.

    Attributes
    ----------
    name
        As it is written.
    kind
        int, float, bool, str, `numpy.ndarray`, or None if its annotation is none of these.
    dtype
        Of an array, if the annotation says it.
    required
        Whether there is no default.
    """

    name: str
    kind: type | None
    dtype: np.dtype[Any] | None
    required: bool


@lru_cache(maxsize=64)
def parameters_of(maker: Callable[..., Any]) -> dict[str, Parameter]:
    """The fields of a problem class, or the parameters of a function, by name."""
    try:
        hints = typing.get_type_hints(maker)
    except Exception:  # names that only type checkers import, and whatever else annotations may hold
        hints = dict(getattr(maker, "__annotations__", {}))
    found = {}
    if isinstance(maker, type) and is_dataclass(maker):
        for entry in fields(maker):
            if entry.init:
                required = entry.default is MISSING and entry.default_factory is MISSING
                found[entry.name] = _parameter(entry.name, hints.get(entry.name, entry.type), required)
        return found
    for name, given in inspect.signature(maker).parameters.items():
        if given.kind not in (given.VAR_POSITIONAL, given.VAR_KEYWORD):
            found[name] = _parameter(name, hints.get(name), given.default is given.empty)
    return found


def _parameter(name: str, annotation: Annotation, required: bool) -> Parameter:
    if isinstance(annotation, str):
        annotation = annotation.strip()
    kind: type | None = _PLAIN.get(annotation) if isinstance(annotation, (str, type)) else None
    if annotation in _ARRAYS or annotation is np.ndarray or typing.get_origin(annotation) is np.ndarray:
        return Parameter(name, np.ndarray, _dtype_of(annotation), required)
    return Parameter(name, kind, None, required)


def _dtype_of(annotation: Annotation) -> np.dtype[Any] | None:
    """That of ``NDArray[np.float64]``; None if the annotation leaves it open."""
    arguments = typing.get_args(annotation)
    scalar = typing.get_args(arguments[1]) if len(arguments) > 1 else ()
    if scalar and isinstance(scalar[0], type) and issubclass(scalar[0], np.generic):
        try:
            dtype = np.dtype(scalar[0])
        except TypeError:  # an abstract one, such as np.integer
            return None
        return dtype if dtype.kind in "biuf" else None
    return None


def fit(value: Json | Array, wanted: Parameter, where: str) -> Any:
    """A value as a parameter wants it; an InputError that names the place if that cannot be."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if wanted.kind is np.ndarray:
        return _array(value, wanted.dtype, where)
    if wanted.kind is None:
        return value
    if isinstance(value, wanted.kind) and (wanted.kind is bool or not isinstance(value, bool)):
        return value
    if not isinstance(value, (bool, str)):
        if wanted.kind is float and isinstance(value, int):
            return _float(value, where)
        if wanted.kind is int and isinstance(value, float) and value.is_integer():
            return int(value)
    what = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}[wanted.kind]
    raise InputError(f"{where} must be {what}, but got {show(value)}")


def plain_value(text: str) -> Any:
    """The number, list, text or truth value that a text is, as JSON has them; any other text is itself."""
    try:
        return json.loads(text, parse_constant=str)
    except (ValueError, RecursionError):
        return text


def _float(value: int, where: str) -> float:
    try:
        return float(value)
    except OverflowError:
        raise InputError(f"{where} must be a number of 64 bits, but got {show(value)}") from None


def _array(value: Json | Array, dtype: np.dtype[Any] | None, where: str) -> Array:
    if isinstance(value, str):  # of the command line: 3,1 or [3, 1]
        text = value
        try:
            value = json.loads(text if text.lstrip().startswith("[") else f"[{text}]")
        except (ValueError, RecursionError):
            raise InputError(f"{where} must be numbers such as [3, 1], but got {shown(text)}") from None
    if not isinstance(value, (list, np.ndarray)):
        raise InputError(f"{where} must be an array of numbers, but got {show(value)}")
    array = value if isinstance(value, np.ndarray) else _from_lists(value, where)
    if array.dtype.kind not in "biuf":
        raise InputError(f"{where} must be an array of numbers, but got one of {array.dtype}")
    array = array.astype(array.dtype.newbyteorder("="))
    return array if dtype is None else _cast(array, dtype, where)


def _from_lists(value: list[Any], where: str) -> Array:
    """Lists of numbers, or lists of such lists of the same length."""
    try:
        array: Array = np.array(value) if value else np.zeros(0, np.int64)
    except (ValueError, OverflowError):
        _refuse_strange(value, where)
        raise InputError(f"{where} must be an array of numbers, but its rows differ in length") from None
    if array.dtype.kind not in "biuf" or array.ndim > _DEEPEST:
        _refuse_strange(value, where)
        raise InputError(f"{where} must be an array of numbers, but its rows differ in length")
    if array.dtype.kind == "f" and not any(isinstance(entry, float) for _, entry in _leaves(value)):
        raise InputError(f"{where} must have numbers that fit into 64 bits together, but they do not")
    return array


def _refuse_strange(value: list[Any], where: str) -> None:
    for place, entry in _leaves(value):
        at = "".join(f"[{k}]" for k in place)
        if isinstance(entry, list):
            raise InputError(f"{where} must be an array of numbers, but got lists too deep in each other at {at}")
        if not isinstance(entry, (bool, int, float)):
            raise InputError(f"{where} must be an array of numbers, but got {show(entry)} at {at}")
        if isinstance(entry, int) and not -(2**63) <= entry < 2**63:
            raise InputError(f"{where} must have numbers that fit into 64 bits, but got {show(entry)} at {at}")


def _leaves(value: list[Any]) -> Iterator[tuple[tuple[int, ...], Any]]:
    """The entries of lists in lists that are no lists, or are too deep, each with its place."""
    stack: list[tuple[tuple[int, ...], Iterator[tuple[int, Any]]]] = [((), iter(enumerate(value)))]
    while stack:
        place, entries = stack[-1]
        for k, entry in entries:
            if isinstance(entry, list) and len(place) + 2 <= _DEEPEST:
                stack.append(((*place, k), iter(enumerate(entry))))
                break
            yield (*place, k), entry
        else:
            stack.pop()


def _cast(array: Array, dtype: np.dtype[Any], where: str) -> Array:
    """The array in another type, if no number changes but for rounding to floats."""
    if dtype.kind in "iub" and array.dtype.kind != dtype.kind:
        whole = array.dtype.kind != "f" or (np.isfinite(array) & (array == np.floor(array)))
        least, most = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        wrong = ~(np.asarray(whole) & (array >= least) & (array <= most))
    elif dtype.kind in "iu":
        wrong = (array < np.iinfo(dtype).min) | (array > np.iinfo(dtype).max)
    else:
        wrong = np.zeros(0, bool)
    if wrong.any():
        at = np.argwhere(wrong)[0]
        got, place = array[tuple(at)].item(), "".join(f"[{k}]" for k in at)
        raise InputError(f"{where} must hold {dtype} numbers, but got {got} at {place}")
    return array.astype(dtype)


def show(value: Json | Array) -> str:
    """A wrong value as messages show it: what it is, and not too much of it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    if isinstance(value, str):
        return f"the text {shown(value)}"
    if isinstance(value, int) and abs(value) >= 2**64:
        return "a number that is too large"
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
