"""Logic, shifts and bit fields against Python's integers."""

from __future__ import annotations

from itertools import product

import pytest

from ptx.needs import needs_compiler
from ptx.snippet import compute
from ptx.test_integers import pairs, samples, wrap

pytestmark = needs_compiler
AMOUNTS = [0, 1, 5, 15, 16, 17, 31, 32, 33, 63, 64, 65, 2**32 - 1]


def bits_of(value: int, width: int) -> str:
    """Binary digits, the lowest first."""
    return f"{value % 2**width:0{width}b}"[::-1]


@pytest.mark.parametrize("width", [16, 32, 64])
def test_logic(width: int) -> None:
    kind = f"b{width}"
    a, b = pairs(f"u{width}")
    body = "".join(f"{name}.{kind} %r{name}, %a, %b;\n" for name in ("and", "or", "xor"))
    body += f"not.{kind} %rnot, %a;\ncnot.{kind} %rcnot, %a;"
    names = ("rand", "ror", "rxor", "rnot", "rcnot")
    found = compute(body, dict.fromkeys(names, kind), {"a": (kind, a), "b": (kind, b)})
    both = list(zip(a, b, strict=True))
    assert found["rand"].tolist() == [x & y for x, y in both]
    assert found["ror"].tolist() == [x | y for x, y in both]
    assert found["rxor"].tolist() == [x ^ y for x, y in both]
    assert found["rnot"].tolist() == [2**width - 1 - x for x in a]
    assert found["rcnot"].tolist() == [int(x == 0) for x in a]


def test_logic_of_predicates() -> None:
    a, b = [0, 0, 1, 1], [0, 1, 0, 1]
    body = "setp.ne.u32 %p0, %a, 0;\nsetp.ne.u32 %p1, %b, 0;\nnot.pred %p2, %p0;\nselp.u32 %rnot, 1, 0, %p2;\n"
    for name in ("and", "or", "xor"):
        body += f"{name}.pred %p3, %p0, %p1;\nselp.u32 %r{name}, 1, 0, %p3;\n"
    body += "mov.pred %p4, %p1;\nselp.u32 %rmov, 1, 0, %p4;"
    names = ("rand", "ror", "rxor", "rnot", "rmov")
    found = compute(body, dict.fromkeys(names, "u32"), {"a": ("u32", a), "b": ("u32", b)})
    assert {name: values.tolist() for name, values in found.items()} == {
        "rand": [0, 0, 0, 1],
        "ror": [0, 1, 1, 1],
        "rxor": [0, 1, 1, 0],
        "rnot": [1, 1, 0, 0],
        "rmov": [0, 1, 0, 1],
    }


@pytest.mark.parametrize("width", [16, 32, 64])
def test_shift_amounts_are_clamped(width: int) -> None:
    values, amounts = zip(*product(samples(f"s{width}"), AMOUNTS), strict=True)
    body = f"shl.b{width} %left, %a, %n;\nshr.u{width} %right, %a, %n;\nshr.s{width} %signed, %a, %n;"
    outputs = {"left": f"u{width}", "right": f"u{width}", "signed": f"s{width}"}
    found = compute(body, outputs, {"a": (f"s{width}", list(values)), "n": ("u32", list(amounts))})
    both = [(value, min(amount, width)) for value, amount in zip(values, amounts, strict=True)]
    assert found["left"].tolist() == [(x << n) % 2**width for x, n in both]
    assert found["right"].tolist() == [(x % 2**width) >> n for x, n in both]
    assert found["signed"].tolist() == [x >> n for x, n in both]


def test_funnel_shifts() -> None:
    a, b, amounts = zip(*product(samples("u32"), samples("u32"), AMOUNTS), strict=True)
    body = "".join(f"shf.{way}.{mode}.b32 %{way}{mode}, %a, %b, %n;\n" for way in "lr" for mode in ("wrap", "clamp"))
    outputs = dict.fromkeys(("lwrap", "lclamp", "rwrap", "rclamp"), "b32")
    found = compute(body, outputs, {"a": ("b32", list(a)), "b": ("b32", list(b)), "n": ("u32", list(amounts))})
    for mode in ("wrap", "clamp"):
        cut = [n % 32 if mode == "wrap" else min(n, 32) for n in amounts]
        both = [(y << 32 | x, n) for x, y, n in zip(a, b, cut, strict=True)]
        assert found[f"l{mode}"].tolist() == [(x << n >> 32) % 2**32 for x, n in both]
        assert found[f"r{mode}"].tolist() == [(x >> n) % 2**32 for x, n in both]


@pytest.mark.parametrize("width", [32, 64])
def test_counts_and_order_of_bits(width: int) -> None:
    values = [*samples(f"u{width}"), *(2**i for i in range(width))]
    body = f"""
        popc.b{width} %ones, %a;
        clz.b{width} %zeros, %a;
        brev.b{width} %back, %a;
        bfind.u{width} %high, %a;
        bfind.shiftamt.u{width} %amount, %a;
        bfind.s{width} %sign, %a;"""
    names = {**dict.fromkeys(("ones", "zeros", "high", "amount", "sign"), "u32"), "back": f"b{width}"}
    found = compute(body, names, {"a": (f"b{width}", values)})
    digits = [bits_of(v, width) for v in values]
    assert found["ones"].tolist() == [d.count("1") for d in digits]
    assert found["zeros"].tolist() == [width - v.bit_length() for v in values]
    assert found["back"].tolist() == [int(d, 2) for d in digits]
    assert found["high"].tolist() == [(v.bit_length() - 1) % 2**32 for v in values]
    assert found["amount"].tolist() == [width - v.bit_length() if v else 2**32 - 1 for v in values]
    unlike_sign = [max(d.rfind("0" if d[-1] == "1" else "1"), -1) for d in digits]
    assert found["sign"].tolist() == [place % 2**32 for place in unlike_sign]


FIELDS = [(0, 0), (0, 1), (0, 8), (4, 8), (4, 0), (31, 1), (28, 12), (32, 4), (60, 12), (63, 1), (64, 3), (3, 64)]


@pytest.mark.parametrize("width", [32, 64])
def test_bit_fields(width: int) -> None:
    values, fields = zip(*product(samples(f"u{width}"), [*FIELDS, (0, 255), (256 + 4, 256 + 8)]), strict=True)
    inputs = {
        "a": (f"b{width}", list(values)),
        "b": (f"b{width}", list(values[::-1])),
        "place": ("u32", [place for place, _ in fields]),
        "n": ("u32", [n for _, n in fields]),
    }
    body = f"""
        bfe.u{width} %plain, %a, %place, %n;
        bfe.s{width} %signed, %a, %place, %n;
        bfi.b{width} %put, %a, %b, %place, %n;"""
    found = compute(body, {"plain": f"u{width}", "signed": f"s{width}", "put": f"b{width}"}, inputs)
    plain, signed, put = [], [], []
    for a, b, (place, n) in zip(values, values[::-1], fields, strict=True):
        at, length = place % 256, n % 256
        digits, under = bits_of(a, width), list(bits_of(b, width))
        field = digits[at : at + length]
        plain.append(int(field[::-1] or "0", 2))
        sign = digits[min(at + length - 1, width - 1)] if length else "0"
        signed.append(wrap(int((field + sign * width)[:width][::-1], 2), f"s{width}"))
        for i in range(min(length, max(width - at, 0))):
            under[at + i] = digits[i]
        put.append(int("".join(under)[::-1], 2))
    assert found["plain"].tolist() == plain
    assert found["signed"].tolist() == signed
    assert found["put"].tolist() == put


def test_bytes_are_permuted() -> None:
    a, b = 0x03828100, 0x87068504
    choices = [0x3210, 0x7654, 0x0000, 0x1357, 0xFA98, 0x0C4D]
    inputs = {"a": ("b32", [a] * 6), "b": ("b32", [b] * 6), "n": ("b32", choices)}
    found = compute("prmt.b32 %d, %a, %b, %n;", {"d": "b32"}, inputs)
    either = (b << 32 | a).to_bytes(8, "little")

    def byte(digit: int) -> int:
        return (255 if either[digit % 8] >= 128 else 0) if digit >= 8 else either[digit]

    wanted = [bytes(byte(choice >> 4 * i & 15) for i in range(4)) for choice in choices]
    assert [int(d).to_bytes(4, "little") for d in found["d"]] == wanted


@pytest.mark.parametrize("table", [0x80, 0xFE, 0x96, 0xE8, 0x1A, 0xCA])
def test_logic_by_table(table: int) -> None:
    a, b, c = zip(*product(samples("u32"), repeat=3), strict=True)
    inputs = {"a": ("b32", list(a)), "b": ("b32", list(b)), "c": ("b32", list(c))}
    found = compute(f"lop3.b32 %d, %a, %b, %c, {table};", {"d": "b32"}, inputs)
    wanted = []
    for x, y, z in zip(a, b, c, strict=True):
        cases = [4 * (x >> i & 1) + 2 * (y >> i & 1) + (z >> i & 1) for i in range(32)]
        wanted.append(sum((table >> case & 1) << i for i, case in enumerate(cases)))
    assert found["d"].tolist() == wanted
