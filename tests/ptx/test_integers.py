"""Integer arithmetic against Python's unbounded integers, cut to the width."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest

from ptx.needs import needs_compiler
from ptx.scalars import SCALARS
from ptx.snippet import compute

pytestmark = needs_compiler
KINDS = ["u16", "s16", "u32", "s32", "u64", "s64"]


def wrap(value: int, kind: str) -> int:
    scalar = SCALARS[kind]
    value %= 2**scalar.bits
    return value - 2**scalar.bits if scalar.is_signed and value >= 2 ** (scalar.bits - 1) else value


def samples(kind: str) -> list[int]:
    """Small numbers, those at both ends of a type's range, and some between."""
    bits = SCALARS[kind].bits
    numbers = (0, 1, 2, 7, -1, -2, -7, 2 ** (bits - 1) - 1, 2 ** (bits - 1), 2 ** (bits // 2) + 3, 0x9E3779B97F4A7C15)
    return sorted({wrap(n, kind) for n in numbers})


def pairs(kind: str) -> tuple[list[int], list[int]]:
    left, right = zip(*product(samples(kind), repeat=2), strict=True)
    return list(left), list(right)


def truncated(a: int, b: int) -> int:
    """Division as in C: towards zero."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def check(kind: str, lines: dict[str, tuple[str, str, Callable[[int, int], int]]]) -> None:
    """Each line is executed for all pairs of samples: its type of result, its text, and what it must give."""
    a, b = pairs(kind)
    body = "\n".join(text for _, text, _ in lines.values())
    found = compute(body, {name: to for name, (to, _, _) in lines.items()}, {"a": (kind, a), "b": (kind, b)})
    for name, (to, text, expected) in lines.items():
        wanted = [wrap(expected(x, y), to) for x, y in zip(a, b, strict=True)]
        assert found[name].tolist() == wanted, text


@pytest.mark.parametrize("kind", KINDS)
def test_sums_and_products(kind: str) -> None:
    bits = SCALARS[kind].bits
    check(
        kind,
        {
            "sum": (kind, f"add.{kind} %sum, %a, %b;", lambda x, y: x + y),
            "less": (kind, f"sub.{kind} %less, %a, %b;", lambda x, y: x - y),
            "low": (kind, f"mul.lo.{kind} %low, %a, %b;", lambda x, y: x * y),
            "high": (kind, f"mul.hi.{kind} %high, %a, %b;", lambda x, y: x * y >> bits),
            "madlow": (kind, f"mad.lo.{kind} %madlow, %a, %b, %a;", lambda x, y: x * y + x),
            "madhigh": (kind, f"mad.hi.{kind} %madhigh, %a, %b, %a;", lambda x, y: (x * y >> bits) + x),
            "least": (kind, f"min.{kind} %least, %a, %b;", min),
            "most": (kind, f"max.{kind} %most, %a, %b;", max),
            "apart": (kind, f"sad.{kind} %apart, %a, %b, %b;", lambda x, y: abs(x - y) + y),
        },
    )


@pytest.mark.parametrize("kind", KINDS[:4])
def test_wide_products(kind: str) -> None:
    wide = SCALARS[kind].wide.name
    check(
        kind,
        {
            "wide": (wide, f"mul.wide.{kind} %wide, %a, %b;", lambda x, y: x * y),
            "mad": (wide, f"mad.wide.{kind} %mad, %a, %b, %wide;", lambda x, y: 2 * x * y),
        },
    )


@pytest.mark.parametrize("kind", KINDS)
def test_division_truncates(kind: str) -> None:
    """By zero there is an answer, too: the one that GPUs give."""
    check(
        kind,
        {
            "quotient": (kind, f"div.{kind} %quotient, %a, %b;", lambda x, y: truncated(x, y) if y else -1),
            "rest": (kind, f"rem.{kind} %rest, %a, %b;", lambda x, y: x - truncated(x, y) * y if y else x),
        },
    )


@pytest.mark.parametrize("kind", ["s16", "s32", "s64"])
def test_signs(kind: str) -> None:
    check(
        kind,
        {
            "minus": (kind, f"neg.{kind} %minus, %a;", lambda x, y: -x),
            "size": (kind, f"abs.{kind} %size, %b;", lambda x, y: abs(y)),
        },
    )


@pytest.mark.parametrize("kind", ["u32", "s32", "u64", "s64"])
def test_carries(kind: str) -> None:
    """A sum, a difference and a product of two words, the upper word with what is carried from the lower one."""
    bits = SCALARS[kind].bits
    unsigned = f"u{bits}"
    both = [(x % 2**bits) * 2**bits + (y % 2**bits) for x, y in zip(*pairs(kind), strict=True)]
    others = both[::-1]
    words = {
        "a1": (unsigned, [n >> bits for n in both]),
        "a0": (unsigned, [n % 2**bits for n in both]),
        "b1": (unsigned, [n >> bits for n in others]),
        "b0": (unsigned, [n % 2**bits for n in others]),
    }
    body = f"""
        add.cc.{kind} %s0, %a0, %b0;
        addc.cc.{kind} %s1, %a1, %b1;
        addc.{kind} %s2, 0, 0;
        sub.cc.{kind} %d0, %a0, %b0;
        subc.cc.{kind} %d1, %a1, %b1;
        subc.{kind} %d2, 0, 0;
        mul.lo.{unsigned} %m0, %a0, %b0;
        mul.hi.{unsigned} %m1, %a0, %b0;
        mad.lo.cc.{unsigned} %m1, %a0, %b1, %m1;
        madc.hi.{unsigned} %m2, %a0, %b1, 0;
        mad.lo.cc.{unsigned} %m1, %a1, %b0, %m1;
        madc.hi.cc.{unsigned} %m2, %a1, %b0, %m2;
        addc.{unsigned} %m3, 0, 0;
        mad.lo.cc.{unsigned} %m2, %a1, %b1, %m2;
        madc.hi.{unsigned} %m3, %a1, %b1, %m3;"""
    names = ("s0", "s1", "s2", "d0", "d1", "d2", "m0", "m1", "m2", "m3")
    found = compute(body, dict.fromkeys(names, unsigned), words)

    def joined(letter: str, count: int) -> list[int]:
        rows = zip(*(found[f"{letter}{i}"].tolist() for i in range(count)), strict=True)
        return [sum(word << bits * i for i, word in enumerate(row)) for row in rows]

    assert joined("s", 3) == [x + y for x, y in zip(both, others, strict=True)]
    assert joined("d", 3) == [(x - y) % 2 ** (3 * bits) for x, y in zip(both, others, strict=True)]
    assert joined("m", 4) == [x * y for x, y in zip(both, others, strict=True)]


def test_constants() -> None:
    body = "add.s32 %a, 0, -5;\nadd.u32 %b, 0, 0xFFFFFFFFU;\nadd.s32 %c, 0, 017;\nadd.s64 %d, 0, -9223372036854775808;"
    found = compute(body, {"a": "s32", "b": "u32", "c": "s32", "d": "s64"}, {})
    assert {name: values.tolist() for name, values in found.items()} == {
        "a": [-5],
        "b": [2**32 - 1],
        "c": [15],
        "d": [-(2**63)],
    }
