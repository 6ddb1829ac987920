"""Loads, stores, atomic operations and spaces of memory, and the checks of accesses."""

from __future__ import annotations

import numpy as np
import pytest

from ptx.errors import LaunchError
from ptx.execute import Executable
from ptx.needs import needs_compiler
from ptx.snippet import compute, kernel, prepared

pytestmark = needs_compiler
LOAD_OUT = "ld.param.u64 %l0, [out];\n"


def run(
    body: str, out: np.ndarray, threads: int = 1, declared: str = "", seed: int = 0, races: bool = False
) -> np.ndarray:
    """A kernel that is given the address of one array."""
    text = kernel(LOAD_OUT + body + "\nret;", declared=declared)
    prepared(text).launch([1], [threads], [out.ctypes.data], [out], seed=seed, races=races)
    return out


@pytest.mark.parametrize("kind", ["u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"])
def test_each_width(kind: str) -> None:
    """A load into a wider register is filled by the sign or by zeros; a store writes the low bytes only."""
    values = np.array([0, 1, 0x7F, 0x80, 0xFFFF, 2**31, 2**63, 2**64 - 1], np.uint64)
    into = "s64" if kind.startswith("s") else "u64"
    size = int(kind[1:]) // 8
    out = np.concatenate([values, np.full(16, 2**64 - 1, np.uint64)])
    body = ""
    for i in range(8):
        body += f"ld.global.{kind} %l1, [%l0+{8 * i}];\nst.global.u64 [%l0+{64 + 8 * i}], %l1;\n"
        body += f"st.global.{kind} [%l0+{128 + 8 * i}], %l1;\n"
    run(body, out)
    narrow = values.view(f"{'i' if kind.startswith('s') else 'u'}{size}")[:: 8 // size]
    assert out[8:16].tolist() == narrow.astype(into.replace("s", "int").replace("u", "uint")).view(np.uint64).tolist()
    stored = out[16:24].view(np.uint8).reshape(8, 8)
    assert stored[:, :size].tolist() == values.view(np.uint8).reshape(8, 8)[:, :size].tolist()
    assert (stored[:, size:] == 255).all()


def test_floats_keep_their_bits() -> None:
    bits = np.array([0x7FF0000000000001, 0x8000000000000000], np.uint64)  # a signalling NaN, -0
    out = np.concatenate([bits, np.zeros(2, np.uint64)])
    run(".reg .f64 %f<2>;\nld.global.v2.f64 {%f0, %f1}, [%l0];\nst.global.v2.f64 [%l0+16], {%f0, %f1};", out)
    assert out[2:].tolist() == bits.tolist()


@pytest.mark.parametrize(("kind", "count"), [("u8", 4), ("u16", 4), ("u32", 4), ("u64", 2)])
def test_vectors(kind: str, count: int) -> None:
    size = int(kind[1:]) // 8
    out = np.zeros(2 * count, f"u{size}")
    out[:count] = range(1, count + 1)
    word = "%l" if size == 8 else "%w" if size == 4 else "%h"
    first = 1 if word == "%l" else 0
    names = [f"{word}{first + i}" for i in range(count)]
    body = f"ld.global.v{count}.{kind} {{{', '.join(names)}}}, [%l0];\n"
    body += f"st.global.v{count}.{kind} [%l0+{count * size}], {{{', '.join(reversed(names))}}};"
    run(body, out)
    assert out[count:].tolist() == list(range(count, 0, -1))


def test_words_are_taken_apart_and_put_together() -> None:
    body = """
        mov.b64 {%w0, %w1}, %a;
        mov.b64 %swapped, {%w1, %w0};
        mov.b32 {%h0, %h1}, %w0;
        mov.b32 %turned, {%h1, %h0};
        mov.b64 {_, %upper}, %a;"""
    found = compute(body, {"swapped": "b64", "turned": "b32", "upper": "b32"}, {"a": ("b64", [0x1122334455667788])})
    assert found["swapped"].tolist() == [0x5566778811223344]
    assert found["turned"].tolist() == [0x77885566]
    assert found["upper"].tolist() == [0x11223344]


def test_parameters_of_all_types() -> None:
    parameters = (
        ".param .u64 out, .param .u8 a, .param .s32 b, .param .f32 c, .param .u16 d, .param .f64 e, .param .s64 f"
    )
    body = (
        LOAD_OUT
        + """
        .reg .f32 %x;
        .reg .f64 %y;
        ld.param.u8 %h0, [a];
        cvt.s64.u16 %l1, %h0;
        ld.param.s32 %w0, [b];
        cvt.s64.s32 %l2, %w0;
        ld.param.f32 %x, [c];
        cvt.rzi.s64.f32 %l3, %x;
        ld.param.u16 %h1, [d];
        cvt.u64.u16 %l4, %h1;
        ld.param.f64 %y, [e];
        cvt.rzi.s64.f64 %l5, %y;
        ld.param.s64 %l6, [f];
        st.global.v2.s64 [%l0], {%l1, %l2};
        st.global.v2.s64 [%l0+16], {%l3, %l4};
        st.global.v2.s64 [%l0+32], {%l5, %l6};
        ret;"""
    )
    out = np.zeros(6, np.int64)
    values = [out.ctypes.data, np.uint8(200), np.int32(-7), np.float32(40.5), 65535, 1e12, -(2**62)]
    prepared(kernel(body, parameters)).launch([1], [1], values, [out])
    assert out.tolist() == [200, -7, 40, 65535, 10**12, -(2**62)]


def test_a_wrong_number_of_values_is_refused() -> None:
    with pytest.raises(TypeError, match="takes 1 values, not 2"):
        prepared(kernel("ret;")).launch([1], [1], [1, 2])


def test_variables_of_the_module() -> None:
    declared = """
        .global .align 4 .u32 counter = 40;
        .const .align 8 .f64 table[2] = {0d3FF8000000000000, 0d4004000000000000};
        .global .align 1 .b8 letters[4] = {1, 2, 3, 0xFF};"""
    body = """
        .reg .f64 %x, %y;
        ld.global.u32 %w0, [counter];
        add.u32 %w0, %w0, 2;
        st.global.u32 [counter], %w0;
        mov.u64 %l1, counter;
        cvta.global.u64 %l1, %l1;
        ld.u32 %w1, [%l1];
        cvt.u64.u32 %l2, %w1;
        ld.const.f64 %x, [table];
        ld.const.f64 %y, [table+8];
        add.rn.f64 %x, %x, %y;
        cvt.rzi.s64.f64 %l3, %x;
        mov.u64 %l4, letters+3;
        ld.global.s8 %l5, [%l4];
        st.global.u64 [%l0], %l2;
        st.global.u64 [%l0+8], %l3;
        st.global.s64 [%l0+16], %l5;"""
    assert run(body, np.zeros(3, np.int64), declared=declared).tolist() == [42, 4, -1]


def test_atomic_operations() -> None:
    """The old value comes back; `red` gives none."""
    lines = [
        ("add.s32", 5, "7", 12),
        ("add.u32", 5, "-6", 2**32 - 1),
        ("min.s32", 5, "-2", 2**32 - 2),
        ("min.u32", 5, "-2", 5),
        ("max.s32", 5, "-2", 5),
        ("max.u32", 5, "-2", 2**32 - 2),
        ("and.b32", 12, "10", 8),
        ("or.b32", 12, "10", 14),
        ("xor.b32", 12, "10", 6),
        ("exch.b32", 12, "10", 10),
        ("cas.b32", 12, "12, 99", 99),
        ("cas.b32", 12, "13, 99", 12),
        ("inc.u32", 5, "9", 6),
        ("inc.u32", 9, "9", 0),
        ("dec.u32", 5, "9", 4),
        ("dec.u32", 0, "9", 9),
        ("add.f32", 0x3FC00000, "0f3F800000", 0x40200000),
    ]
    out = np.zeros(2 * len(lines), np.uint32)
    out[::2] = [before for _, before, _, _ in lines]
    body = ""
    for i, (operation, _, value, _) in enumerate(lines):
        register = "%x" if operation.endswith("f32") else "%w1"
        body += f"atom.global.{operation} {register}, [%l0+{8 * i}], {value};\n"
        body += f"st.global.b32 [%l0+{8 * i + 4}], {register};\n"
    run(".reg .f32 %x;\n" + body, out)
    assert out[1::2].tolist() == [before for _, before, _, _ in lines]
    assert out[::2].tolist() == [after for *_, after in lines]


def test_atomic_sums_of_many_threads() -> None:
    out = np.zeros(2, np.int64)
    run("red.global.add.u64 [%l0], 3;\natom.add.u64 %l1, [%l0+8], -1;", out, threads=100, races=True, seed=5)
    assert out.tolist() == [300, -100]


def test_local_memory_belongs_to_a_thread() -> None:
    body = """
        .local .align 8 .b8 depot[16];
        mov.u32 %w0, %tid.x;
        mov.u64 %l1, depot;
        cvta.local.u64 %l2, %l1;
        st.local.u32 [depot+8], %w0;
        ld.u32 %w1, [%l2+8];
        cvta.to.local.u64 %l3, %l2;
        ld.local.u32 %w2, [%l3+8];
        add.u32 %w1, %w1, %w2;
        mul.wide.u32 %l4, %w0, 4;
        add.u64 %l0, %l0, %l4;
        st.global.u32 [%l0], %w1;"""
    assert run(body, np.zeros(5, np.uint32), threads=5, seed=3).tolist() == [0, 2, 4, 6, 8]


def test_spaces_are_told_apart() -> None:
    body = """
        .local .align 8 .b8 depot[16];
        .shared .align 8 .b8 common[16];
        mov.u64 %l1, depot;
        cvta.local.u64 %l1, %l1;
        mov.u64 %l2, common;
        cvta.shared.u64 %l2, %l2;
        mov.u32 %w9, 0;
        """
    for address in ("%l0", "%l1", "%l2"):
        for space in ("global", "local", "shared"):
            body += f"isspacep.{space} %p0, {address};\nselp.u32 %w0, 1, 0, %p0;\n"
            body += "shl.b32 %w9, %w9, 1;\nor.b32 %w9, %w9, %w0;\n"
    assert run(body + "st.global.u32 [%l0], %w9;", np.zeros(1, np.uint32)).tolist() == [0b100_010_001]


@pytest.mark.parametrize(
    ("access", "message"),
    [
        ("ld.global.u32 %w0, [%l0+8];", "global memory out of bounds: 4 bytes"),
        ("ld.global.u64 %l1, [%l0+-8];", "global memory out of bounds: 8 bytes"),
        ("st.global.v2.u32 [%l0+8], {%w0, %w1};", "global memory out of bounds: 8 bytes"),
        ("ld.u8 %h0, [0];", "global memory out of bounds: 1 bytes"),
        ("atom.global.add.u32 %w0, [%l0+64], 1;", "global memory out of bounds: 4 bytes"),
        ("ld.global.u32 %w0, [%l0+2];", "misaligned access: 4 bytes"),
        ("st.shared.u32 [16], %w0;", "shared memory out of bounds: 4 bytes"),
        ("ld.local.u32 %w0, [%l9+16];", "local memory out of bounds: 4 bytes"),
    ],
)
def test_what_is_not_given_is_out_of_bounds(access: str, message: str) -> None:
    """The thread that does it ends there; the message names the line of the PTX."""
    body = ".local .align 8 .b8 depot[16];\n.shared .align 8 .b8 common[16];\nmov.u64 %l9, depot;\nmov.u32 %w2, 5;\n"
    text = kernel(f"{LOAD_OUT}{body}{access}\nst.global.u32 [%l0], %w2;\nret;")
    line = text[: text.index(access)].count("\n") + 1
    out = np.zeros(2, np.uint32)
    with pytest.raises(
        LaunchError, match=rf"1 problems: block \(0,0,0\) thread \(0,0,0\): {message} at .*line {line}$"
    ):
        Executable(text).launch([1], [1], [out.ctypes.data], [out])
    assert out.tolist() == [0, 0]


def test_arrays_next_to_each_other_are_not_one() -> None:
    whole = np.zeros(4, np.uint32)
    text = kernel(f"{LOAD_OUT}st.global.v2.u32 [%l0], {{1, 2}};\nret;")
    Executable(text).launch([1], [1], [whole.ctypes.data], [whole[:2], whole[2:]])
    Executable(text).launch([1], [1], [whole.ctypes.data], [whole[:1], whole[:2]])
    with pytest.raises(LaunchError, match="out of bounds"):
        Executable(text).launch([1], [1], [whole.ctypes.data], [whole[:1], whole[1:]])


def test_unchecked_all_spaces_are_the_same() -> None:
    body = (
        LOAD_OUT
        + """
        .local .align 8 .b8 depot[8];
        .shared .align 8 .b8 common[8];
        ld.global.u64 %l1, [%l0];
        st.local.u64 [depot], %l1;
        ld.local.u64 %l2, [depot];
        st.shared.u64 [common], %l2;
        ld.shared.u64 %l3, [common];
        st.u64 [%l0+8], %l3;
        ret;"""
    )
    for checked in (False, True):
        out = np.array([7, 0], np.uint64)
        prepared(kernel(body), checked).launch([1], [1], [out.ctypes.data], [out])
        assert out.tolist() == [7, 7]


def test_fences_and_hints_do_nothing() -> None:
    body = """
        membar.gl;
        fence.acq_rel.gpu;
        prefetch.global.L2 [%l0];
        nanosleep.u32 100;
        ld.volatile.global.u32 %w0, [%l0];
        ld.global.nc.L1::no_allocate.L2::128B.u32 %w0, [%l0];
        st.relaxed.gpu.global.u32 [%l0], 3;"""
    assert run(body, np.zeros(1, np.uint32)).tolist() == [3]
