"""The only module that imports numba.cuda: compile for a GPU, with or without one at hand."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import numba
import numba.cuda.dispatcher
from numba import cuda
from numba.cuda.cudadrv import nvvm
from numba.extending import overload

from systola.backends.kernels import KERNELS
from systola.backends.threads import thread_number
from systola.model.objective import evaluate, write_measures
from systola.model.population import try_evaluate


@overload(thread_number, strict=False)  # type: ignore[untyped-decorator]
def _thread_number() -> Any:
    return lambda: cuda.grid(1)


@overload(try_evaluate, strict=False, target="cuda")  # type: ignore[untyped-decorator]
def _try_evaluate(problem: Any, x: Any, measures: Any) -> Any:
    def trust(problem: Any, x: Any, measures: Any) -> bool:
        write_measures(evaluate(problem, x), measures)  # a GPU raises nothing
        return True

    return trust


jit: Callable[..., Any] = cuda.jit


@contextmanager
def exact_arithmetic() -> Iterator[None]:
    """Compile without contracting multiply-add, so that float sums equal the CPU's to the last bit."""
    original = nvvm.compile_ir

    def compile_exactly(ir: str | list[str], **options: Any) -> Any:
        return original(ir, **{**options, "fma": False})

    nvvm.compile_ir = compile_exactly
    try:
        yield
    finally:
        nvvm.compile_ir = original


def check_gpu() -> str:
    """Name of the GPU; OSError says why there is none."""
    try:
        return str(cuda.get_current_device().name)
    except Exception as error:  # the driver raises many kinds
        lines = [line.strip() for line in str(error).splitlines() if line.strip(" :")]
        raise OSError(lines[1] if len(lines) > 1 else "".join(lines) or type(error).__name__) from None


def compile_to_ptx(kernel: str, args: tuple[Any, ...], capability: tuple[int, int]) -> str:
    """PTX of a kernel for arguments of these types; needs no GPU."""
    return _compile(kernel, tuple(numba.typeof(a) for a in args), capability)


@cache
def _compile(kernel: str, types: tuple[Any, ...], capability: tuple[int, int]) -> str:
    asked = numba.cuda.dispatcher.get_current_device
    # Numba asks the driver for the capability when a kernel calls another function; answer for it.
    numba.cuda.dispatcher.get_current_device = lambda: type("Offline", (), {"compute_capability": capability})
    try:
        with exact_arithmetic():
            ptx, _ = cuda.compile_ptx(KERNELS[kernel], types, cc=capability)
    finally:
        numba.cuda.dispatcher.get_current_device = asked
    return str(ptx)


@dataclass(frozen=True)
class Usage:
    """What a compiled kernel takes of a GPU."""

    registers: int
    shared_bytes: int
    spilled_bytes: int
    cubin_bytes: int


@cache
def link(ptx: str, capability: tuple[int, int]) -> Usage:
    """Link PTX to machine code with nvJitLink and read what it uses."""
    from cuda.bindings import nvjitlink

    code = ptx.encode()
    handle = nvjitlink.create(2, [f"-arch=sm_{capability[0]}{capability[1]}", "-verbose"])
    nvjitlink.add_data(handle, nvjitlink.InputType.PTX, code, len(code), "kernel.ptx")
    nvjitlink.complete(handle)
    cubin = bytearray(nvjitlink.get_linked_cubin_size(handle))
    nvjitlink.get_linked_cubin(handle, cubin)
    log = bytearray(nvjitlink.get_info_log_size(handle))
    nvjitlink.get_info_log(handle, log)
    nvjitlink.destroy(handle)
    text = log.decode(errors="replace")

    def number(pattern: str) -> int:
        found = re.search(pattern, text)
        return int(found[1]) if found else 0

    return Usage(
        number(r"Used (\d+) registers"),
        number(r"(\d+) bytes smem"),
        number(r"(\d+) bytes spill stores"),
        len(cubin),
    )
