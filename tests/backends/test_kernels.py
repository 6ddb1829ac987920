"""Kernels of the CUDA backend as they are compiled and linked for a GPU, without one."""

import numpy as np
import pytest

import systola as sy
from conftest import Balance, OneMax

pytest.importorskip("numba_cuda", reason="needs the extra cu13 or cu12 (numba-cuda)")
pytest.importorskip("cuda.bindings.nvjitlink", reason="needs the extra cu13 or cu12 (nvJitLink)")

from systola.backends.cuda import THREADS_PER_BLOCK, CudaSession
from systola.backends.nvidia import check_gpu, compile_to_ptx, link
from systola.backends.offline import NoDevice
from systola.backends.session import Setup
from systola.cli.devices import occupancy
from systola.cli.samples import sample_setups


def test_kernels_link_without_spills():
    link_all((9, 0), lambda case: case == (sy.Knapsack, "rs", "sweep"))


@pytest.mark.long
@pytest.mark.parametrize("capability", [(7, 5), (9, 0), (12, 0)], ids=["sm_75", "sm_90", "sm_120"])
def test_every_kernel_links_without_spills(capability):
    assert link_all(capability, lambda case: True) == 104


def link_all(capability, wanted):
    seen = 0
    for setup, engine in sample_setups():
        for kernel, args in CudaSession(setup, NoDevice()).arguments().items():
            if not wanted((type(setup.problem), engine, kernel)):
                continue
            usage = link(compile_to_ptx(kernel, args, capability), capability)
            assert usage.cubin_bytes > 0
            assert usage.spilled_bytes == 0, f"{type(setup.problem).__name__} {engine} {kernel}"
            assert 0 < usage.registers <= 255
            assert occupancy(usage.registers, THREADS_PER_BLOCK, capability) > 0
            seen += 1
    assert seen > 0
    return seen


def test_float_sums_are_not_contracted():
    problem = Balance(np.random.default_rng(3).random(40))
    session = CudaSession(_work(problem), NoDevice())
    assert "fma.rn" not in compile_to_ptx("start", session.arguments()["start"], (9, 0))


def _work(problem):
    return Setup(problem, sy.SGS("B").prepare(problem), 1, np.float64, 1)


def test_missing_gpu_is_a_sentence():
    try:
        check_gpu()
    except OSError:
        with pytest.raises(sy.InputError, match="GPU"):
            sy.solve(OneMax(12), sy.RS(), backend="cuda")
    else:
        pytest.skip("a GPU is there")
