"""Races are found whatever the order of threads; meetings put accesses into order."""

from __future__ import annotations

import numpy as np
import pytest

from ptx.errors import LaunchError
from ptx.needs import needs_compiler
from ptx.snippet import kernel, prepared

pytestmark = needs_compiler
BEGIN = """
    ld.param.u64 %l0, [out];
    mov.u32 %w0, %tid.x;
    mov.u32 %w1, %ctaid.x;
    setp.eq.u32 %p0, %w0, 0;
    setp.eq.u32 %p1, %w0, 1;
    setp.eq.u32 %p2, %w0, 40;
    mad.wide.u32 %l1, %w0, 4, %l0;
"""
READ = "ld.global.u32 %w2, [%l0];"
WRITE = "st.global.u32 [%l0], 1;"
ATOMIC = "red.global.add.u32 [%l0], 1;"


def is_found(body: str, grid: int = 1, seed: int = 0) -> bool:
    """Whether a race is found: two blocks of 64 threads share 64 words."""
    out = np.zeros(64, np.uint32)
    module = prepared(kernel(BEGIN + body + "\nret;"))
    try:
        module.launch([grid], [64], [out.ctypes.data], [out], seed=seed, races=True)
    except LaunchError as error:
        return "race with thread" in str(error)
    return False


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    "body",
    [
        WRITE,
        f"@%p0 {WRITE}\n@!%p0 {READ}",
        f"{READ}\n@%p1 {WRITE}",
        f"@%p0 {READ}\n@%p1 {READ}\n@%p1 {READ}\n@%p1 {WRITE}",
        f"@%p0 {WRITE}\n@!%p0 {ATOMIC}",
        f"@%p0 {READ}\n@!%p0 {ATOMIC}",
        f"{ATOMIC}\n@%p1 {READ}",
        "st.global.u32 [%l1], 1;\n@%p0 ld.global.u64 %l2, [%l0];",
    ],
    ids=["writes", "read", "written", "read twice", "atomic", "read before atomic", "read after atomic", "overlap"],
)
def test_found_in_any_order(body: str, seed: int) -> None:
    assert is_found(body, seed=seed)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "body",
    [
        READ,
        ATOMIC,
        f"@%p0 {READ}\n@%p0 {WRITE}\n@%p0 {READ}\n@%p0 {ATOMIC}",
        "st.global.u32 [%l1], 1;\nld.global.u32 %w2, [%l1];\nst.global.u32 [%l1], 2;",
        f"@%p0 {WRITE}\nbar.sync 0;\n{READ}\nbar.sync 0;\n@%p2 {WRITE}\nbar.sync 0;\n{ATOMIC}",
        f"setp.ge.u32 %p3, %w0, 32;\n@%p3 ret;\n@%p0 {WRITE}\nbar.warp.sync 0xffffffff;\n{READ}\n"
        f"bar.warp.sync 0xffffffff;\n@%p1 {WRITE}",
    ],
    ids=["reads", "atomics", "one thread", "own words", "barriers", "a warp"],
)
def test_none_where_there_is_none(body: str, seed: int) -> None:
    assert not is_found(body, seed=seed)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "body",
    [
        f"@%p0 {WRITE}\nbar.warp.sync 0xffffffff;\n@%p2 {READ}",
        f"@%p0 {READ}\n@%p1 {READ}\n@%p2 {READ}\nbar.warp.sync 0xffffffff;\n@%p0 {WRITE}",
        f"@%p0 {WRITE}\nshfl.sync.idx.b32 %w3, %w0, 0, 31, 0xffffffff;\n@%p1 {READ}",
    ],
    ids=["another warp reads", "another warp has read", "a shuffle orders nothing"],
)
def test_a_warp_that_meets_does_not_order_all(body: str, seed: int) -> None:
    assert is_found(body, seed=seed)


@pytest.mark.parametrize("seed", range(3))
def test_blocks_are_never_ordered(seed: int) -> None:
    body = f"setp.eq.u32 %p3, %w1, 0;\nand.pred %p4, %p0, %p3;\n@%p4 {WRITE}\nbar.sync 0;\nbar.sync 0;\n@!%p3 {READ}"
    assert is_found(body, grid=2, seed=seed)
    assert not is_found(body, grid=1, seed=seed)
    read_by_both = f"{READ}\nbar.sync 0;\nsetp.eq.u32 %p3, %w1, 0;\nand.pred %p4, %p0, %p3;\n@%p4 {WRITE}"
    assert is_found(read_by_both, grid=2, seed=seed)
    assert not is_found(read_by_both, grid=1, seed=seed)


def test_shared_memory_too() -> None:
    body = ".shared .align 4 .b8 common[4];\nst.shared.u32 [common], %w0;"
    assert is_found(body)
