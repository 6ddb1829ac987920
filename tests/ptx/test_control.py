"""Branches, guards, scopes of names, calls and the end of threads."""

from __future__ import annotations

import numpy as np
import pytest

from ptx.errors import LaunchError
from ptx.needs import needs_compiler
from ptx.snippet import HEAD, compute, kernel, prepared

pytestmark = needs_compiler


def test_a_loop() -> None:
    """Steps until one, by Collatz' rule."""
    body = """
        mov.u32 %steps, 0;
        $L_next:
        setp.eq.u64 %p0, %n, 1;
        @%p0 bra $L_end;
        and.b64 %l0, %n, 1;
        setp.eq.u64 %p1, %l0, 0;
        @%p1 shr.u64 %n, %n, 1;
        @!%p1 mad.lo.u64 %n, %n, 3, 1;
        add.u32 %steps, %steps, 1;
        bra.uni $L_next;
        $L_end:"""

    def steps(n: int) -> int:
        return 0 if n == 1 else 1 + steps(n // 2 if n % 2 == 0 else 3 * n + 1)

    numbers = [1, 2, 3, 7, 27, 97]
    assert compute(body, {"steps": "u32"}, {"n": ("u64", numbers)})["steps"].tolist() == [steps(n) for n in numbers]


def test_branches_by_a_table() -> None:
    body = """
        $L_table: .branchtargets
            $L_zero,
            $L_one, $L_zero;
        mov.u32 %d, 5;
        brx.idx %n, $L_table;
        $L_zero:
        mov.u32 %d, 10;
        bra $L_end;
        $L_one:
        mov.u32 %d, 11;
        $L_end:"""
    assert compute(body, {"d": "u32"}, {"n": ("u32", [0, 1, 2])})["d"].tolist() == [10, 11, 10]


def test_names_belong_to_their_scope() -> None:
    """The same name may be a register of another type in braces, as in inline assembly."""
    body = """
        .reg .b32 %same;
        mov.u32 %same, 7;
        {
            .reg .b64 %same;
            mov.u64 %same, 0x100000001;
            mov.u64 %a, %same;
        }
        {
            .reg .b16 %same;
            mov.u16 %same, 0xFFFF;
            cvt.u64.u16 %b, %same;
        }
        cvt.u64.u32 %c, %same;"""
    found = compute(body, {"a": "u64", "b": "u64", "c": "u64"}, {})
    assert [found[name].tolist() for name in "abc"] == [[0x100000001], [0xFFFF], [7]]


FUNCTIONS = """
.func (.param .b64 result) twice_and_more(.param .b64 number, .param .b32 more)
{
    .local .align 8 .b8 own[8];
    .reg .b64 %r<4>;
    .reg .b32 %s;
    ld.param.u64 %r0, [number];
    ld.param.u32 %s, [more];
    cvt.u64.u32 %r1, %s;
    st.local.u64 [own], %r1;
    add.u64 %r2, %r0, %r0;
    ld.local.u64 %r3, [own];
    add.u64 %r2, %r2, %r3;
    st.param.b64 [result], %r2;
    ret;
}
"""


def test_calls() -> None:
    """Local memory of the caller is not that of the function that it calls."""
    body = """
        .local .align 8 .b8 mine[8];
        st.local.u64 [mine], %n;
        {
            .param .b64 number;
            .param .b32 more;
            .param .b64 result;
            st.param.b64 [number], %n;
            st.param.b32 [more], 5;
            call.uni (result), twice_and_more, (number, more);
            ld.param.b64 %d, [result];
        }
        ld.local.u64 %l1, [mine];
        mad.lo.u64 %d, %l1, 1000, %d;"""
    found = compute(body, {"d": "u64"}, {"n": ("u64", [1, 2, 3])}, declared=FUNCTIONS)
    assert found["d"].tolist() == [1007, 2009, 3011]


RECURSION = """
.func (.param .b32 result) depth(.param .b32 n)
{
    .local .align 8 .b8 room[64];
    .reg .b32 %r<3>;
    .reg .pred %p;
    ld.param.u32 %r0, [n];
    st.local.u32 [room], %r0;
    setp.eq.u32 %p, %r0, 0;
    @%p bra $L_end;
    sub.u32 %r1, %r0, 1;
    {
        .param .b32 inner;
        .param .b32 below;
        st.param.b32 [inner], %r1;
        call (below), depth, (inner);
        ld.param.b32 %r2, [below];
    }
    $L_end:
    st.param.b32 [result], %r0;
    ret;
}
"""


def test_too_deep_a_recursion_is_told() -> None:
    body = """
        {
            .param .b32 n;
            .param .b32 result;
            st.param.b32 [n], 9;
            call (result), depth, (n);
            ld.param.b32 %d, [result];
        }"""
    with pytest.raises(LaunchError, match="out of local memory"):
        compute(body, {"d": "u32"}, {}, declared=RECURSION)


def test_a_thread_ends_anywhere() -> None:
    """Also within a function; others go on."""
    function = """
.func stop_if(.param .b32 n)
{
    .reg .b32 %r;
    .reg .pred %p;
    ld.param.u32 %r, [n];
    setp.gt.u32 %p, %r, 1;
    @%p exit;
    ret;
}
"""
    body = """
        {
            .param .b32 n;
            st.param.b32 [n], %a;
            call.uni stop_if, (n);
        }
        mov.u32 %d, 9;"""
    found = compute(body, {"d": "u32"}, {"a": ("u32", [0, 1, 2, 3])}, declared=function)
    assert found["d"].tolist() == [9, 9, 0, 0]


def test_a_trap_is_told() -> None:
    text = kernel("mov.u32 %w0, %tid.x;\nsetp.eq.u32 %p0, %w0, 3;\n@%p0 trap;\nret;", parameters="")
    with pytest.raises(LaunchError, match=r"thread \(3,0,0\): trap, PTX line"):
        prepared(text).launch([1], [5], [])


def test_where_a_thread_is() -> None:
    names = [f"%{what}.{axis}" for what in ("tid", "ntid", "ctaid", "nctaid") for axis in "xyz"]
    names += ["%laneid", "%warpid", "%lanemask_lt", "%lanemask_le", "%lanemask_eq", "%lanemask_ge", "%lanemask_gt"]
    size, grid = (5, 4, 3), (2, 3, 2)
    threads = 5 * 4 * 3
    body = """
        ld.param.u64 %l0, [out];
        mov.u32 %w0, %ctaid.z;
        mov.u32 %w1, %nctaid.y;
        mov.u32 %w2, %ctaid.y;
        mad.lo.u32 %w0, %w0, %w1, %w2;
        mov.u32 %w1, %nctaid.x;
        mov.u32 %w2, %ctaid.x;
        mad.lo.u32 %w0, %w0, %w1, %w2;
        mov.u32 %w1, %tid.z;
        mad.lo.u32 %w0, %w0, 3, %w1;
        mov.u32 %w1, %tid.y;
        mad.lo.u32 %w0, %w0, 4, %w1;
        mov.u32 %w1, %tid.x;
        mad.lo.u32 %w0, %w0, 5, %w1;
        mad.wide.u32 %l0, %w0, 76, %l0;
        """
    body += "".join(f"mov.u32 %w1, {name};\nst.global.u32 [%l0+{4 * i}], %w1;\n" for i, name in enumerate(names))
    out = np.zeros((2 * 3 * 2, threads, len(names)), np.uint32)
    prepared(kernel(body + "ret;")).launch(grid, size, [out.ctypes.data], [out], seed=4, races=True)
    for block in range(12):
        for thread in range(threads):
            lane = thread % 32
            below = 2**lane - 1
            wanted = [thread % 5, thread // 5 % 4, thread // 20, *size]
            wanted += [block % 2, block // 2 % 3, block // 6, *grid, lane, thread // 32]
            wanted += [below, 2 * below + 1, below + 1, 2**32 - 1 - below, 2**32 - 2 - 2 * below]
            assert out[block, thread].tolist() == wanted


def test_a_kernel_is_chosen_by_its_name() -> None:
    text = HEAD
    for name, value in (("one", 1), ("two", 2)):
        text += f".visible .entry {name}(.param .u64 out)\n{{\n.reg .b64 %l;\nld.param.u64 %l, [out];\n"
        text += f"st.global.u32 [%l], {value};\nret;\n}}\n"
    out, module = np.zeros(1, np.uint32), prepared(text)
    for entry, value in ((None, 1), ("two", 2), ("one", 1)):
        module.launch([1], [1], [out.ctypes.data], [out], entry=entry)
        assert out.tolist() == [value]
    with pytest.raises(KeyError):
        module.launch([1], [1], [out.ctypes.data], [out], entry="three")


def test_the_order_of_threads_is_drawn() -> None:
    """Each thread notes its number where a counter points."""
    body = """
        ld.param.u64 %l0, [out];
        mov.u32 %w0, %tid.x;
        mov.u32 %w1, %ctaid.x;
        mad.lo.u32 %w0, %w1, 8, %w0;
        atom.global.add.u32 %w1, [%l0], 1;
        mad.wide.u32 %l1, %w1, 4, %l0;
        st.global.u32 [%l1+4], %w0;
        ret;"""
    module, orders = prepared(kernel(body)), []
    for seed in (0, 1, 2, 2, 3, 4):
        out = np.zeros(25, np.uint32)
        module.launch([3], [8], [out.ctypes.data], [out], seed=seed)
        orders.append(out[1:].tolist())
    assert orders[0] == list(range(24))
    assert sorted(orders[1]) == sorted(orders[2]) == orders[0]
    assert orders[1] not in (orders[0], orders[2])
    assert orders[2] == orders[3]
    blocks = {tuple(number // 8 for number in order[::8]) for order in orders}
    assert (0, 1, 2) in blocks
    assert len(blocks) > 2
