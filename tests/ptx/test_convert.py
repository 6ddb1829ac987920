"""Conversion between types."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from ptx.needs import needs_compiler
from ptx.scalars import SCALARS
from ptx.snippet import compute
from ptx.test_integers import samples, wrap

pytestmark = needs_compiler
INTEGERS = ["u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"]
ROUNDED = {"rni": round, "rzi": math.trunc, "rmi": math.floor, "rpi": math.ceil}
NUMBERS = [
    0.0,
    -0.0,
    0.5,
    1.5,
    2.5,
    -0.5,
    -1.5,
    100.7,
    -100.7,
    255.9,
    3e9,
    -3e9,
    1e19,
    -1e19,
    3e38,
    math.inf,
    -math.inf,
]


def limits(kind: str) -> tuple[int, int]:
    bits = SCALARS[kind].bits
    return (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if kind.startswith("s") else (0, 2**bits - 1)


@pytest.mark.parametrize("source", INTEGERS)
def test_between_integers(source: str) -> None:
    """Cut to the width, or clamped to the range (.sat); a register wider than the type is filled by the sign."""
    values, (least, most) = samples(source), limits(source)
    clamped = [to for to in INTEGERS if least < limits(to)[0] or most > limits(to)[1]]
    body = "".join(f"cvt.{to}.{source} %{to}, %a;\n" for to in INTEGERS)
    body += "".join(f"cvt.sat.{to}.{source} %sat{to}, %a;\n" for to in clamped)
    body += f"cvt.s8.{source} %wide, %a;"
    outputs = {**{to: to for to in INTEGERS}, **{f"sat{to}": to for to in clamped}, "wide": "s32"}
    found = compute(body, outputs, {"a": (source, values)})
    for to in INTEGERS:
        assert found[to].tolist() == [wrap(v, to) for v in values], to
    for to in clamped:
        low, high = limits(to)
        assert found[f"sat{to}"].tolist() == [min(max(v, low), high) for v in values], to
    assert found["wide"].tolist() == [wrap(v, "s8") for v in values]


@pytest.mark.parametrize("source", ["f32", "f64"])
def test_floats_to_integers_are_clamped(source: str) -> None:
    """NaN is zero, unless one of the types has 64 bits: then it is the highest bit alone."""
    values = np.array([*NUMBERS, math.nan], source.replace("f32", "f4").replace("f64", "f8"))
    ways = list(product(ROUNDED, INTEGERS))
    body = "".join(f"cvt.{way}.{to}.{source} %{way}{to}, %a;\n" for way, to in ways)
    found = compute(body, {f"{way}{to}": to for way, to in ways}, {"a": (source, values)})
    for way, to in ways:
        low, high = limits(to)
        wanted = []
        for value in values.tolist():
            if math.isnan(value):
                has_64_bits = source == "f64" or SCALARS[to].bits == 64
                wanted.append(wrap(2 ** (SCALARS[to].bits - 1), to) if has_64_bits else 0)
            elif math.isinf(value):
                wanted.append(high if value > 0 else low)
            else:
                wanted.append(min(max(ROUNDED[way](value), low), high))
        assert found[f"{way}{to}"].tolist() == wanted, (way, to)


@pytest.mark.parametrize("source", INTEGERS)
def test_integers_to_floats(source: str) -> None:
    values = samples(source)
    body = f"cvt.rn.f32.{source} %single, %a;\ncvt.rn.f64.{source} %double, %a;"
    found = compute(body, {"single": "f32", "double": "f64"}, {"a": (source, values)})
    whole = np.array(values, np.uint64 if source == "u64" else np.int64)
    assert found["double"].tolist() == whole.astype(np.float64).tolist()
    assert found["single"].tolist() == whole.astype(np.float32).tolist()


def test_between_floats() -> None:
    double = np.array([0.1, -2.5, 1e300, 1e-310, 1e-40, math.inf, math.nan, -0.0])
    with np.errstate(over="ignore"):
        single = double.astype(np.float32)
    body = """
        cvt.rn.f32.f64 %narrow, %a;
        cvt.rn.ftz.f32.f64 %flushed, %a;
        cvt.f64.f32 %wide, %b;
        cvt.ftz.f64.f32 %flat, %b;
        cvt.rni.f64.f64 %whole, %a;
        cvt.rzi.f32.f32 %cut, %b;
        cvt.sat.f32.f32 %part, %b;"""
    outputs = {
        "narrow": "f32",
        "flushed": "f32",
        "wide": "f64",
        "flat": "f64",
        "whole": "f64",
        "cut": "f32",
        "part": "f32",
    }
    found = compute(body, outputs, {"a": ("f64", double), "b": ("f32", single)})
    no_subnormals = np.where(abs(single) < np.finfo(np.float32).tiny, np.copysign(np.float32(0), single), single)
    np.testing.assert_array_equal(found["narrow"], single)
    np.testing.assert_array_equal(found["flushed"], no_subnormals)
    np.testing.assert_array_equal(found["wide"], single.astype(np.float64))
    np.testing.assert_array_equal(found["flat"], no_subnormals.astype(np.float64))
    np.testing.assert_array_equal(found["whole"], np.rint(double))
    np.testing.assert_array_equal(found["cut"], np.trunc(single))
    np.testing.assert_array_equal(found["part"], np.nan_to_num(np.clip(single, 0, 1)))


@pytest.mark.parametrize("line", ["cvt.rz.f32.f64 %d, %a;", "cvt.rp.f32.f64 %d, %a;", "cvt.rn.f16.f64 %h0, %a;"])
def test_other_roundings_and_halves_are_refused(line: str) -> None:
    with pytest.raises(NotImplementedError, match="PTX line"):
        compute(line, {"d": "f32"}, {"a": ("f64", [1.0])})
