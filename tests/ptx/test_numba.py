"""Functions compiled for a GPU by the backend's own code: their PTX, executed, does what plain Python does."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

pytest.importorskip("numba_cuda", reason="needs the extra cu13 or cu12 (numba-cuda)")

from numba import cuda

from ptx.device import arrays_of, values_of
from ptx.execute import Executable
from ptx.needs import needs_executor
from systola.backends.kernels import KERNELS
from systola.backends.nvidia import compile_to_ptx
from systola.backends.threads import thread_number

pytestmark = needs_executor
CAPABILITIES = [(7, 5), (9, 0), (12, 0)]


@njit
def mixed(a: int, b: int) -> int:
    """Divisions, remainders, shifts, comparisons and a loop with a branch."""
    total = a % b + (a >> (b & 7)) * 3 - a // b
    while a != 0 and total < 10**6:
        if a & 1:
            total += b if a > b else -b
        else:
            total ^= a & 0xFF
        a = a // 2 if a > 0 else a // 2 + 1
    return max(min(total, 10**9), -(10**9))


@njit
def measured(x: float, y: float) -> float:
    """Roots, roundings and comparisons, in floats."""
    total = 0.0
    for k in range(1, 6):
        total += math.sqrt(abs(x * k + y)) * 0.1
        if x < y:
            total -= math.floor(x) / k
        else:
            total += math.ceil(y) - int(x)
    return total


def write_integers(a: Any, b: Any, out: Any) -> None:
    i = thread_number()
    if i < len(a):
        out[i] = mixed(a[i], b[i])


def write_floats(pair: Any, out: Any) -> None:
    i = thread_number()
    if i < len(out):
        out[i] = measured(pair[0][i], pair[1][i])


def compiled(monkeypatch: Any, function: Any, args: tuple[Any, ...], capability: tuple[int, int]) -> Executable:
    monkeypatch.setitem(KERNELS, function.__name__, function)
    return Executable(compile_to_ptx(function.__name__, args, capability))


def launch(module: Executable, args: tuple[Any, ...], threads: int, seed: int = 0) -> None:
    blocks = -(-threads // 32)
    module.launch([blocks], [32], values_of(args), arrays_of(args), seed=seed, races=True)


@pytest.mark.parametrize("capability", CAPABILITIES, ids=lambda c: f"sm_{c[0]}{c[1]}")
def test_integers(monkeypatch: Any, capability: tuple[int, int]) -> None:
    module = compiled(monkeypatch, write_integers, (np.zeros(1, np.int64),) * 3, capability)

    @settings(deadline=None, max_examples=60)
    @given(st.lists(st.tuples(st.integers(-(2**40), 2**40), st.integers(1, 2**20)), min_size=1, max_size=70))
    def agrees(pairs: list[tuple[int, int]]) -> None:
        a, b = np.array(pairs, np.int64).T.copy()
        out = np.zeros(len(a), np.int64)
        launch(module, (a, b, out), len(a), seed=len(a))
        assert out.tolist() == [mixed.py_func(x, y) for x, y in pairs]

    agrees()


@pytest.mark.parametrize("capability", CAPABILITIES, ids=lambda c: f"sm_{c[0]}{c[1]}")
def test_floats_to_the_last_bit(monkeypatch: Any, capability: tuple[int, int]) -> None:
    module = compiled(monkeypatch, write_floats, ((np.zeros(1), np.zeros(1)), np.zeros(1)), capability)
    numbers = st.floats(-1e9, 1e9)

    @settings(deadline=None, max_examples=60)
    @given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=70))
    def agrees(pairs: list[tuple[float, float]]) -> None:
        x, y = np.array(pairs).T.copy()
        out = np.zeros(len(x))
        launch(module, ((x, y), out), len(x), seed=len(x))
        assert out.tolist() == [measured.py_func(*pair) for pair in pairs]

    agrees()


def turn_round(values: Any) -> None:
    """Through memory that a block shares, and the least of each warp by shuffles."""
    common = cuda.shared.array(64, np.int32)
    i = cuda.threadIdx.x
    common[i] = values[i]
    cuda.syncthreads()
    least = common[63 - i]
    for k in (16, 8, 4, 2, 1):
        least = min(least, cuda.shfl_xor_sync(0xFFFFFFFF, least, k))
    values[i] = least


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_threads_that_meet(monkeypatch: Any, seed: int) -> None:
    values = np.random.default_rng(1).integers(-99, 99, 64).astype(np.int32)
    module = compiled(monkeypatch, turn_round, (values,), (7, 5))
    wanted = [values[32:].min()] * 32 + [values[:32].min()] * 32
    module.launch([1], [64], values_of((values,)), [values], seed=seed, races=True)
    assert values.tolist() == wanted


def test_an_array_is_left(monkeypatch: Any) -> None:
    """The guard `i < len(a)` looks at one array only: another that is shorter is left, and that is told."""
    args = (np.ones(5, np.int64), np.ones(5, np.int64), np.zeros(4, np.int64))
    module = compiled(monkeypatch, write_integers, args, (7, 5))
    with pytest.raises(RuntimeError, match="global memory out of bounds: 8 bytes"):
        launch(module, args, 5)
