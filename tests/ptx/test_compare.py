"""Comparison and choice."""

from __future__ import annotations

import math
import operator

import numpy as np
import pytest

from ptx import test_floats, test_integers
from ptx.needs import needs_compiler
from ptx.snippet import compute

pytestmark = needs_compiler
SIGNS = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}
UNSIGNED = {"lo": operator.lt, "ls": operator.le, "hi": operator.gt, "hs": operator.ge}


@pytest.mark.parametrize("kind", test_integers.KINDS)
def test_integers_by_their_sign(kind: str) -> None:
    a, b = test_integers.pairs(kind)
    signs = {**SIGNS, **(UNSIGNED if kind.startswith("u") else {})}
    body = "".join(f"setp.{name}.{kind} %p0, %a, %b;\nselp.u32 %{name}, 1, 0, %p0;\n" for name in signs)
    found = compute(body, dict.fromkeys(signs, "u32"), {"a": (kind, a), "b": (kind, b)})
    for name, sign in signs.items():
        assert found[name].tolist() == [int(sign(x, y)) for x, y in zip(a, b, strict=True)], name


@pytest.mark.parametrize("kind", test_floats.KINDS)
def test_floats_with_nan(kind: str) -> None:
    """Ordered comparisons with NaN are false, ne too; unordered ones are true."""
    a, b = test_floats.pairs(kind)
    names = [*SIGNS, *(f"{name}u" for name in SIGNS), "num", "nan"]
    body = "".join(f"setp.{name}.{kind} %p0, %a, %b;\nselp.u32 %r{name}, 1, 0, %p0;\n" for name in names)
    found = compute(body, {f"r{name}": "u32" for name in names}, {"a": (kind, a), "b": (kind, b)})
    nan = np.isnan(a) | np.isnan(b)
    for name, sign in SIGNS.items():
        assert found[f"r{name}"].tolist() == (sign(a, b) & ~nan).tolist(), name
        assert found[f"r{name}u"].tolist() == (sign(a, b) | nan).tolist(), name
    assert found["rnum"].tolist() == (~nan).tolist()
    assert found["rnan"].tolist() == nan.tolist()


def test_two_predicates_and_a_third_combined() -> None:
    a, b, c = [1, 1, 2, 2], [1, 2, 1, 2], [0, 1, 1, 0]
    body = "setp.ne.u32 %p9, %c, 0;\nsetp.lt.s32 %p0|%p1, %a, %b;\n"
    body += "selp.u32 %yes, 1, 0, %p0;\nselp.u32 %no, 1, 0, %p1;\n"
    for name in ("and", "or", "xor"):
        body += (
            f"setp.lt.{name}.s32 %p0|%p1, %a, %b, %p9;\nselp.u32 %y{name}, 1, 0, %p0;\nselp.u32 %n{name}, 1, 0, %p1;\n"
        )
    body += "setp.lt.and.s32 %p0, %a, %b, !%p9;\nselp.u32 %ynot, 1, 0, %p0;\nset.lt.and.u32.s32 %mask, %a, %b, %p9;\n"
    body += "set.lt.f32.s32 %one, %a, %b;"
    names = ("yes", "no", "yand", "nand", "yor", "nor", "yxor", "nxor", "ynot", "mask")
    inputs = {"a": ("s32", a), "b": ("s32", b), "c": ("u32", c)}
    found = compute(body, {**dict.fromkeys(names, "u32"), "one": "f32"}, inputs)
    rows = [(x < y, bool(z)) for x, y, z in zip(a, b, c, strict=True)]
    wanted = {
        "yes": [less for less, _ in rows],
        "no": [not less for less, _ in rows],
        "yand": [less and more for less, more in rows],
        "nand": [not less and more for less, more in rows],
        "yor": [less or more for less, more in rows],
        "nor": [not less or more for less, more in rows],
        "yxor": [less != more for less, more in rows],
        "nxor": [(not less) != more for less, more in rows],
        "ynot": [less and not more for less, more in rows],
        "mask": [2**32 - 1 if less and more else 0 for less, more in rows],
        "one": [float(less) for less, _ in rows],
    }
    assert {name: values.tolist() for name, values in found.items()} == wanted


def test_choice() -> None:
    body = """
        mov.u16 %h1, 3;
        setp.ne.u32 %p0, %c, 0;
        selp.b16 %h, %h1, 7, %p0;
        selp.b32 %w, 1, %c, %p0;
        not.pred %p1, %p0;
        selp.s64 %l, -1, 2, %p1;
        selp.f64 %f, 0d3FF8000000000000, 0dC000000000000000, %p0;
        slct.u64.s32 %s, 5, 6, %c;
        cvt.rn.f32.s32 %x, %c;
        slct.f32.f32 %t, 0f3F800000, 0f40000000, %x;"""
    outputs = {"h": "b16", "w": "b32", "l": "s64", "f": "f64", "s": "u64", "x": "f32", "t": "f32"}
    found = compute(body, outputs, {"c": ("s32", [0, 1, -4])})
    assert found["h"].tolist() == [7, 3, 3]
    assert found["w"].tolist() == [0, 1, 1]
    assert found["l"].tolist() == [-1, 2, 2]
    assert found["f"].tolist() == [-2.0, 1.5, 1.5]
    assert found["s"].tolist() == [5, 5, 6]
    assert found["t"].tolist() == [1.0, 1.0, 2.0]


def test_nan_chooses_the_second() -> None:
    found = compute("slct.u32.f32 %d, 1, 2, %a;", {"d": "u32"}, {"a": ("f32", [0.0, -0.5, math.nan])})
    assert found["d"].tolist() == [1, 2, 2]
