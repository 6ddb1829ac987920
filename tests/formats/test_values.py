"""Values as annotations ask for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.typing import NDArray

from conftest import sentence_of
from systola.formats.values import Parameter, fit, parameters_of, plain_value

if TYPE_CHECKING:
    from nowhere import Missing  # type: ignore[import-not-found]


@dataclass
class Everything:
    whole: int
    real: float
    yes: bool
    text: str
    array: np.ndarray
    typed: NDArray[np.float64]
    small: NDArray[np.uint8]
    loose: NDArray[Any]
    other: list[int]
    optional: int = 3


@dataclass
class Unresolved:
    whole: int
    array: np.ndarray
    strange: Missing


def test_parameters_of_a_class() -> None:
    found = parameters_of(Everything)
    kinds = [int, float, bool, str, np.ndarray, np.ndarray, np.ndarray, np.ndarray, None, int]
    assert [p.kind for p in found.values()] == kinds
    assert (found["typed"].dtype, found["small"].dtype, found["loose"].dtype) == (np.float64, np.uint8, None)
    assert [name for name, p in found.items() if not p.required] == ["optional"]


def test_parameters_whose_annotations_cannot_be_resolved() -> None:
    assert [p.kind for p in parameters_of(Unresolved).values()] == [int, np.ndarray, None]


def test_parameters_of_a_function() -> None:
    def make(n: int, weights: NDArray[np.int64], seed: int = 1, *rest: Any, **more: Any) -> None:
        pass

    found = parameters_of(make)
    assert [(p.name, p.kind, p.required) for p in found.values()] == [
        ("n", int, True),
        ("weights", np.ndarray, True),
        ("seed", int, False),
    ]


def wanted(kind: Any, dtype: Any = None) -> Parameter:
    return Parameter("x", kind, None if dtype is None else np.dtype(dtype), True)


@pytest.mark.parametrize(
    ("value", "kind", "result"),
    [
        (3, int, 3),
        (3.0, int, 3),
        (np.array(3), int, 3),
        (3, float, 3.0),
        (0.5, float, 0.5),
        (True, bool, True),
        ("3", str, "3"),
        ({"a": 1}, None, {"a": 1}),
    ],
)
def test_values_that_fit(value: Any, kind: Any, result: Any) -> None:
    found = fit(value, wanted(kind), "P.x")
    assert (found, type(found)) == (result, type(result))


@pytest.mark.parametrize(
    ("value", "dtype", "result", "kind"),
    [
        ([1, 2], None, [1, 2], "int64"),
        ([[1, 2], [3, 4.5]], None, [[1, 2], [3, 4.5]], "float64"),
        ([], None, [], "int64"),
        ([], "float64", [], "float64"),
        ([1, 2], "float64", [1.0, 2.0], "float64"),
        ([1.0, 2.0], "int64", [1, 2], "int64"),
        ([1, 0], "bool", [True, False], "bool"),
        ([True, False], None, [True, False], "bool"),
        ([0, 255], "uint8", [0, 255], "uint8"),
        ("3,1", None, [3, 1], "int64"),
        ("[3, 1]", None, [3, 1], "int64"),
        (np.array([1, 2], ">i4"), None, [1, 2], "int32"),
        (np.array([1, 2], np.int16), "int64", [1, 2], "int64"),
    ],
)
def test_arrays_that_fit(value: Any, dtype: Any, result: Any, kind: str) -> None:
    found = fit(value, wanted(np.ndarray, dtype), "P.x")
    assert (found.tolist(), str(found.dtype)) == (result, kind)


DEEP: list[Any] = []
for _ in range(5000):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    ("value", "kind", "dtype", "said"),
    [
        (1.5, int, None, "P.x must be a whole number, but got 1.5"),
        (True, int, None, "P.x must be a whole number, but got true"),
        ("5", int, None, "P.x must be a whole number, but got the text '5'"),
        (None, float, None, "P.x must be a number, but got null"),
        (False, float, None, "P.x must be a number, but got false"),
        (10**400, float, None, "a number of 64 bits, but got a number that is too large"),
        (1, bool, None, "P.x must be true or false, but got 1"),
        (5, str, None, "P.x must be a text, but got 5"),
        ([5], str, None, "P.x must be a text, but got a list"),
        ({}, int, None, "but got an object"),
        (np.array([1, 2]), int, None, "but got an array of shape (2,)"),
        (5, np.ndarray, None, "P.x must be an array of numbers, but got 5"),
        ("abc", np.ndarray, None, "P.x must be numbers such as [3, 1], but got 'abc'"),
        ("[" * 5000, np.ndarray, None, "must be numbers such as"),
        ([1, None], np.ndarray, None, "P.x must be an array of numbers, but got null at [1]"),
        ([[1], ["x"]], np.ndarray, None, "but got the text 'x' at [1][0]"),
        ([[1, 2], [3]], np.ndarray, None, "but its rows differ in length"),
        ([[1, 2], 3], np.ndarray, None, "but its rows differ in length"),
        ([1, 2**64], np.ndarray, None, "but got a number that is too large at [1]"),
        ([1, 2**63, -1], np.ndarray, None, "fit into 64 bits"),
        (DEEP, np.ndarray, None, "lists too deep in each other"),
        (np.array(["a"]), np.ndarray, None, "but got one of <U1"),
        ([1, 2.5], np.ndarray, "int64", "P.x must hold int64 numbers, but got 2.5 at [1]"),
        ([[1, 300]], np.ndarray, "uint8", "P.x must hold uint8 numbers, but got 300 at [0][1]"),
        ([0, 2], np.ndarray, "bool", "must hold bool numbers, but got 2 at [1]"),
        (np.array([1.0, np.nan]), np.ndarray, "int64", "but got nan at [1]"),
        (np.array([2**63], np.uint64), np.ndarray, "int64", "must hold int64 numbers"),
    ],
)
def test_values_that_do_not_fit(value: Any, kind: Any, dtype: Any, said: str) -> None:
    assert said in sentence_of(fit, value, wanted(kind, dtype), "P.x")


def test_plain_values() -> None:
    texts = ["5", "0.5", "true", "[1, 2]", "makespan,tardy", "NaN", "", "[" * 5000]
    assert [plain_value(text) for text in texts] == [5, 0.5, True, [1, 2], "makespan,tardy", "NaN", "", "[" * 5000]
