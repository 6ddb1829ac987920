"""Barriers, shuffles, votes, matches and reductions, against what the lanes bring, in Python."""

from __future__ import annotations

from functools import reduce

import numpy as np
import pytest

from ptx.errors import LaunchError
from ptx.needs import needs_compiler
from ptx.snippet import kernel, prepared

pytestmark = needs_compiler
BEGIN = """
    ld.param.u64 %l0, [out];
    mov.u32 %w0, %tid.x;
    mad.wide.u32 %l1, %w0, 4, %l0;
    ld.global.u32 %w1, [%l1];
"""
END = "st.global.u32 [%l1], %w2;\nret;"
VALUES = [(37 * i + 5) % 101 - 40 for i in range(64)]


def run(body: str, values: list[int] = VALUES, seed: int = 3, races: bool = False) -> list[int]:
    """Each thread reads its value into %w1 and leaves its result in %w2."""
    out = np.array([v % 2**32 for v in values], np.uint32)
    prepared(kernel(BEGIN + body + END)).launch([1], [len(values)], [out.ctypes.data], [out], seed=seed, races=races)
    return out.tolist()


def unsigned(values: list[int]) -> list[int]:
    return [v % 2**32 for v in values]


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("barrier", ["bar.sync 0;", "barrier.sync 0;", "barrier.sync.aligned 3;"])
def test_shared_memory_is_read_after_a_barrier(barrier: str, seed: int) -> None:
    body = f"""
        .shared .align 4 .b8 common[256];
        mov.u32 %w3, common;
        mad.lo.u32 %w4, %w0, 4, %w3;
        st.shared.u32 [%w4], %w1;
        {barrier}
        sub.u32 %w5, 63, %w0;
        mad.lo.u32 %w4, %w5, 4, %w3;
        ld.shared.u32 %w2, [%w4];
        {barrier}
        st.shared.u32 [%w4], %w2;
    """
    assert run(body, seed=seed, races=True) == unsigned(VALUES[::-1])


def test_a_function_that_waits() -> None:
    function = ".shared .align 4 .b8 common[4];\n.func wait()\n{\nbar.sync 0;\nret;\n}\n"
    body = """
        setp.eq.u32 %p0, %w0, 5;
        @%p0 st.shared.u32 [common], %w1;
        call.uni wait;
        ld.shared.u32 %w2, [common];
    """
    out = np.arange(40, 50, dtype=np.uint32)
    module = prepared(kernel(BEGIN + body + END, declared=function))
    module.launch([1], [10], [out.ctypes.data], [out], seed=3, races=True)
    assert out.tolist() == [45] * 10


def test_shared_memory_given_by_the_launch() -> None:
    text = kernel(
        BEGIN + "mad.lo.u32 %w4, %w0, 4, 0;\nmov.u32 %w3, more;\nadd.u32 %w4, %w4, %w3;\nst.shared.u32 [%w4], %w1;\n"
        "bar.sync 0;\nld.shared.u32 %w2, [%w3];\n" + END,
        declared=".shared .align 4 .b8 few[12];\n.extern .shared .align 16 .b8 more[];",
    )
    out = np.arange(7, 15, dtype=np.uint32)
    prepared(text).launch([1], [8], [out.ctypes.data], [out], dynamic_bytes=32)
    assert out.tolist() == [7] * 8
    with pytest.raises(LaunchError, match="shared memory out of bounds"):
        prepared(text).launch([1], [8], [out.ctypes.data], [out], dynamic_bytes=16)


def test_barriers_that_combine() -> None:
    body = """
        setp.gt.s32 %p0, %w1, 0;
        bar.red.popc.u32 %w3, 0, %p0;
        bar.red.and.pred %p1, 0, %p0;
        bar.red.or.pred %p2, 0, !%p0;
        selp.u32 %w4, 1, 0, %p1;
        selp.u32 %w5, 1, 0, %p2;
        mad.lo.u32 %w2, %w3, 10, %w4;
        mad.lo.u32 %w2, %w2, 10, %w5;
    """
    positive = sum(v > 0 for v in VALUES)
    assert run(body) == [positive * 100 + 1] * 64
    assert run(body, [1] * 40) == [40 * 100 + 10] * 40


def shuffled(mode: str, by: int, control: int) -> list[tuple[int, int]]:
    """Source lane and whether it is in range, by the text of the PTX manual."""
    clamp, segment = control & 31, control >> 8 & 31
    found = []
    for lane in range(32):
        last = (lane & segment) | (clamp & ~segment)
        step = by & 31
        source = {
            "up": lane - step,
            "down": lane + step,
            "bfly": lane ^ step,
            "idx": (lane & segment) | (step & ~segment),
        }[mode]
        inside = source >= last if mode == "up" else source <= last
        found.append((source if inside else lane, int(inside)))
    return found


@pytest.mark.parametrize("mode", ["up", "down", "bfly", "idx"])
def test_shuffles(mode: str) -> None:
    for by, control in ((1, 0), (3, 31), (16, 0x181F), (5, 0x1C00 if mode == "up" else 0x1C1F), (33, 31)):
        if mode == "up":
            control &= 0x1F00
        body = f"""
            shfl.sync.{mode}.b32 %w3|%p0, %w1, {by}, {control}, 0xffffffff;
            selp.u32 %w4, 1, 0, %p0;
            shl.b32 %w3, %w3, 1;
            or.b32 %w2, %w3, %w4;
        """
        wanted = [
            2 * VALUES[32 * warp + source] + inside
            for warp in range(2)
            for source, inside in shuffled(mode, by, control)
        ]
        assert run(body) == unsigned(wanted)


def test_a_shuffle_from_a_lane_that_is_not_there() -> None:
    body = "shfl.sync.down.b32 %w2, %w1, 1, 31, 0xffffffff;\n"
    with pytest.raises(LaunchError, match="shuffle from lane 20, which is not there"):
        run(body, VALUES[:20])


def test_votes() -> None:
    values = [*VALUES[:32], *([1] * 32)]
    body = """
        setp.gt.s32 %p0, %w1, 0;
        vote.sync.ballot.b32 %w2, %p0, 0xffffffff;
        vote.sync.all.pred %p1, %p0, 0xffffffff;
        vote.sync.any.pred %p2, !%p0, 0xffffffff;
        vote.sync.uni.pred %p3, %p0, 0xffffffff;
        @%p1 xor.b32 %w2, %w2, 1;
        @%p2 xor.b32 %w2, %w2, 2;
        @%p3 xor.b32 %w2, %w2, 4;
    """
    ballot = sum(1 << i for i in range(32) if VALUES[i] > 0)
    assert run(body, values) == [ballot ^ 2] * 32 + [(2**32 - 1) ^ 1 ^ 4] * 32


def test_some_lanes_meet_alone() -> None:
    body = """
        and.b32 %w3, %w0, 1;
        setp.eq.u32 %p0, %w3, 0;
        @%p0 bra $L_even;
        vote.sync.ballot.b32 %w2, %p0, 0xaaaaaaaa;
        bra $L_end;
        $L_even:
        bar.warp.sync 0x55555555;
        vote.sync.ballot.b32 %w2, %p0, 0x55555555;
        $L_end:
    """
    assert run(body, VALUES[:32]) == [0x55555555, 0] * 16


def test_matches() -> None:
    values = [i // 3 for i in range(32)] + [9] * 32
    body = """
        match.any.sync.b32 %w2, %w1, 0xffffffff;
        cvt.u64.u32 %l3, %w1;
        match.all.sync.b64 %w3|%p0, %l3, 0xffffffff;
        @%p0 sub.u32 %w2, %w2, %w3;
    """
    same = [sum(1 << k for k in range(32) if values[k] == values[i]) for i in range(32)]
    assert run(body, values) == same + [0] * 32


@pytest.mark.parametrize(
    "kind", ["add.u32", "min.s32", "max.s32", "min.u32", "max.u32", "and.b32", "or.b32", "xor.b32"]
)
def test_reductions(kind: str) -> None:
    found = run(f"redux.sync.{kind} %w2, %w1, 0xffffffff;\n")
    wanted = []
    for warp in (VALUES[:32], VALUES[32:]):
        values = warp if kind.endswith("s32") else unsigned(warp)
        combine = {
            "add": lambda a, b: a + b,
            "min": min,
            "max": max,
            "and": lambda a, b: a & b,
            "or": lambda a, b: a | b,
            "xor": lambda a, b: a ^ b,
        }[kind.split(".")[0]]
        wanted += [reduce(combine, values)] * 32
    assert found == unsigned(wanted)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("setp.lt.u32 %p0, %w0, 5;\n@%p0 ret;\nbar.sync 0;\n", "that 5 threads never reach"),
        (
            "setp.lt.u32 %p0, %w0, 5;\n@%p0 bra $L_other;\nbar.sync 0;\n$L_other:\nbar.sync 1;\n",
            "waits at barrier 0, PTX line 1., others at barrier 1",
        ),
        (
            "setp.lt.u32 %p0, %w0, 5;\n@%p0 bra $L_end;\nbar.warp.sync 0xffffffff;\n$L_end:\nbar.sync 0;\n",
            "waits for lanes ffffffff, which never come",
        ),
        ("bar.warp.sync 1;\n", "not among the lanes 1 that it wants to meet"),
    ],
    ids=["left", "two barriers", "deadlock", "not a member"],
)
def test_meetings_that_fail_are_told(body: str, message: str) -> None:
    with pytest.raises(LaunchError, match=message):
        run(body + "mov.u32 %w2, 0;\n")


@pytest.mark.parametrize(
    "line", ["bar.sync 0, 32;", "bar.arrive 0, 32;", "activemask.b32 %w2;", "shfl.up.b32 %w2, %w1, 1, 0;"]
)
def test_what_is_not_known_is_refused(line: str) -> None:
    with pytest.raises(NotImplementedError, match=line.split()[0]):
        run(line + "\n")
