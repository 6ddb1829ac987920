"""Floating point arithmetic against NumPy, bit for bit, and against exact fractions."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from ptx.needs import needs_compiler
from ptx.snippet import compute

pytestmark = needs_compiler
KINDS = {"f32": np.float32, "f64": np.float64}
TINY = {"f32": 1e-40, "f64": 5e-310}  # subnormal


def samples(kind: str) -> np.ndarray:
    largest = np.finfo(KINDS[kind]).max
    return np.array(
        [0.0, -0.0, 1.0, -1.0, 0.1, -2.5, 1 / 3, 1e30, TINY[kind], -TINY[kind], largest, math.inf, -math.inf, math.nan],
        KINDS[kind],
    )


def pairs(kind: str) -> tuple[np.ndarray, np.ndarray]:
    some = samples(kind)
    return np.repeat(some, len(some)), np.tile(some, len(some))


def equal(found: np.ndarray, wanted: np.ndarray) -> bool:
    """The same bits, but any NaN for NaN: PTX leaves their bits open."""
    same = (found == wanted) & (np.signbit(found) == np.signbit(wanted))
    return bool((same | (np.isnan(found) & np.isnan(wanted))).all())


@pytest.mark.parametrize("kind", KINDS)
def test_rounded_to_the_nearest(kind: str) -> None:
    a, b = pairs(kind)
    body = "".join(f"{name}.rn.{kind} %{name}, %a, %b;\n" for name in ("add", "sub", "mul", "div"))
    body += f"neg.{kind} %minus, %a;\nabs.{kind} %size, %a;\nsqrt.rn.{kind} %root, %b;\nrcp.rn.{kind} %part, %b;\n"
    body += f"copysign.{kind} %signed, %a, %b;"
    outputs = dict.fromkeys(("add", "sub", "mul", "div", "minus", "size", "root", "part", "signed"), kind)
    found = compute(body, outputs, {"a": (kind, a), "b": (kind, b)})
    with np.errstate(all="ignore"):
        wanted = {
            "add": a + b,
            "sub": a - b,
            "mul": a * b,
            "div": a / b,
            "minus": -a,
            "size": abs(a),
            "root": np.sqrt(b),
            "part": KINDS[kind](1) / b,
            "signed": np.copysign(b, a),
        }
    for name, values in wanted.items():
        assert equal(found[name], values), name


@pytest.mark.parametrize("kind", KINDS)
def test_multiply_add_is_rounded_once(kind: str) -> None:
    draws = np.random.default_rng(1)
    a, b = draws.uniform(-2, 2, (2, 200)).astype(KINDS[kind])
    c = (-(a * b)).astype(KINDS[kind])  # so that what is left is the rounding of the product
    body = f"fma.rn.{kind} %one, %a, %b, %c;\nmul.rn.{kind} %two, %a, %b;\nadd.rn.{kind} %two, %two, %c;"
    found = compute(body, {"one": kind, "two": kind}, {"a": (kind, a), "b": (kind, b), "c": (kind, c)})
    exact = [Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z)) for x, y, z in zip(a, b, c, strict=True)]
    assert found["one"].tolist() == [float(KINDS[kind](float(value))) for value in exact]
    assert found["two"].tolist() == [0.0] * 200


@pytest.mark.parametrize("kind", KINDS)
def test_extremes_prefer_numbers_to_nan(kind: str) -> None:
    a, b = pairs(kind)
    body = f"min.{kind} %least, %a, %b;\nmax.{kind} %most, %a, %b;"
    found = compute(body, {"least": kind, "most": kind}, {"a": (kind, a), "b": (kind, b)})

    def rank(x: float) -> tuple[float, float]:
        return x, math.copysign(1, x)  # -0 before +0

    least, most = [], []
    for x, y in zip(a.tolist(), b.tolist(), strict=True):
        numbers = [n for n in (x, y) if not math.isnan(n)] or [math.nan]
        least.append(min(numbers, key=rank))
        most.append(max(numbers, key=rank))
    assert equal(found["least"], np.array(least, KINDS[kind]))
    assert equal(found["most"], np.array(most, KINDS[kind]))


def test_subnormal_numbers_are_flushed_where_said() -> None:
    tiny, smallest = TINY["f32"], float(np.finfo(np.float32).tiny)
    a = np.array([tiny, -tiny, smallest, -smallest, 1.0], np.float32)
    body = """
        add.rn.ftz.f32 %sum, %a, %z;
        mul.rn.ftz.f32 %half, %a, 0f3F000000;
        mul.rn.ftz.f32 %huge, %a, 0f7F000000;
        add.rn.f32 %kept, %a, %z;"""
    inputs = {"a": ("f32", a), "z": ("f32", np.copysign(np.float32(0), a))}
    found = compute(body, dict.fromkeys(("sum", "half", "huge", "kept"), "f32"), inputs)
    assert equal(found["sum"], np.array([0.0, -0.0, smallest, -smallest, 1.0], np.float32))
    assert equal(found["half"], np.array([0.0, -0.0, 0.0, -0.0, 0.5], np.float32))
    assert equal(found["huge"], np.array([0.0, -0.0, 2.0, -2.0, 2.0**127], np.float32))
    assert equal(found["kept"], a)


def test_saturation() -> None:
    a = np.array([-1.0, -0.0, 0.25, 1.0, 3.0, math.nan], np.float32)
    found = compute("add.sat.f32 %d, %a, 0f00000000;", {"d": "f32"}, {"a": ("f32", a)})
    assert equal(found["d"], np.array([0.0, 0.0, 0.25, 1.0, 1.0, 0.0], np.float32))


def test_approximations_are_close() -> None:
    a = np.linspace(0.1, 4, 50, dtype=np.float32)
    names = ("sqrt", "rsqrt", "rcp", "ex2", "lg2", "sin", "cos", "tanh")
    body = "".join(f"{name}.approx.f32 %{name}, %a;\n" for name in names)
    body += "div.approx.f32 %div, %a, 0f40400000;\ndiv.full.f32 %full, %a, 0f40400000;"
    found = compute(body, dict.fromkeys((*names, "div", "full"), "f32"), {"a": ("f32", a)})
    wanted = {
        "sqrt": np.sqrt(a),
        "rsqrt": 1 / np.sqrt(a),
        "rcp": 1 / a,
        "ex2": np.exp2(a),
        "lg2": np.log2(a),
        "sin": np.sin(a),
        "cos": np.cos(a),
        "tanh": np.tanh(a),
        "div": a / 3,
        "full": a / 3,
    }
    for name, values in wanted.items():
        np.testing.assert_allclose(found[name], values, rtol=2**-20, atol=2**-20, err_msg=name)


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_of_numbers(kind: str) -> None:
    a = samples(kind)
    tiny = np.finfo(KINDS[kind]).tiny
    tests = {
        "finite": np.isfinite(a),
        "infinite": np.isinf(a),
        "number": ~np.isnan(a),
        "notanumber": np.isnan(a),
        "normal": np.isfinite(a) & (abs(a) >= tiny),
        "subnormal": (a != 0) & (abs(a) < tiny),
    }
    body = "".join(f"testp.{name}.{kind} %p0, %a;\nselp.u32 %{name}, 1, 0, %p0;\n" for name in tests)
    found = compute(body, dict.fromkeys(tests, "u32"), {"a": (kind, a)})
    for name, truth in tests.items():
        assert found[name].tolist() == truth.tolist(), name


def test_constants_are_bits() -> None:
    """Also where the type says that nothing but the bits count."""
    body = """
        mov.f32 %a, 0f3FC00000;
        mov.f64 %b, 0d3FF8000000000000;
        mov.b32 %c, 0f3FC00000;
        mov.b64 %d, 0d3FF8000000000000;"""
    found = compute(body, {"a": "f32", "b": "f64", "c": "b32", "d": "b64"}, {})
    assert found["a"].tolist() == found["b"].tolist() == [1.5]
    assert found["c"].tolist() == [0x3FC00000]
    assert found["d"].tolist() == [0x3FF8000000000000]


@pytest.mark.parametrize(("name", "way"), list(product(("add", "mul", "fma", "div", "sqrt"), ("rz", "rm", "rp"))))
def test_other_roundings_are_refused(name: str, way: str) -> None:
    sources = {"fma": "%a, %a, %a", "sqrt": "%a"}.get(name, "%a, %a")
    with pytest.raises(NotImplementedError, match=f"unknown modifier .{way}"):
        compute(f"{name}.{way}.f64 %d, {sources};", {"d": "f64"}, {"a": ("f64", [1.0])})
