"""`systola devices`: what this machine can run on, and what our kernels take of a GPU."""

from __future__ import annotations

import json
import os
import platform
from typing import Any

import click

from systola.cli.answer import show
from systola.errors import InputError, MissingExtra

CAPABILITIES = {"75": (7, 5), "80": (8, 0), "90": (9, 0), "120": (12, 0)}
# Of a multiprocessor: registers, threads, blocks, registers handed out at a time to a warp. CUDA programming guide.
_LIMITS = {(7, 5): (65536, 1024, 16), (8, 0): (65536, 2048, 32), (9, 0): (65536, 2048, 32), (12, 0): (65536, 1536, 24)}
_WARP, _CHUNK = 32, 256


@click.command()
@click.option("--kernels", is_flag=True, help="Compile every CUDA kernel and print registers, memory, occupancy.")
@click.option("--arch", type=click.Choice(list(CAPABILITIES)), multiple=True, help="Default: 75, 90 and 120.")
@click.option("--json", "as_json", is_flag=True)
def devices(kernels: bool, arch: tuple[str, ...], as_json: bool) -> None:
    """Show processors, threads, the kernel cache, and GPUs if there are any."""
    facts = _facts()
    if kernels:
        facts["kernels"] = _kernels([CAPABILITIES[a] for a in arch or ("75", "90", "120")])
    if as_json:
        show(json.dumps(facts))
        return
    for key, value in facts.items():
        if key != "kernels":
            show(f"{key:<14} {value}")
    if kernels:
        show(f"\n{'problem':<13}{'engine':<8}{'kernel':<8}{'sm':<5}registers  shared  spills  occupancy")
        for row in facts["kernels"]:
            show(
                f"{row['problem']:<13}{row['engine']:<8}{row['kernel']:<8}{row['sm']:<5}{row['registers']:>9}"
                f"{row['shared_bytes']:>8}{row['spilled_bytes']:>8}{row['occupancy']:>11.0%}"
            )


def _facts() -> dict[str, Any]:
    import numba

    from systola.jit.cache import cache_folder
    from systola.version import __version__

    return {
        "systola": __version__,
        "processor": f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores",
        "threads": numba.config.NUMBA_NUM_THREADS,
        "numba": numba.__version__,
        "kernel cache": str(cache_folder() or "none"),
        "gpu": _gpu(),
    }


def _gpu() -> str:
    try:
        from systola.backends.nvidia import check_gpu
    except ImportError:
        return str(MissingExtra("the CUDA backend", "cu13"))
    try:
        return check_gpu()
    except OSError as error:
        return f"none ({error})"


def _kernels(capabilities: list[tuple[int, int]]) -> list[dict[str, Any]]:
    try:
        from systola.backends.nvidia import compile_to_ptx, link
    except ImportError:
        raise MissingExtra("compiling CUDA kernels", "cu13") from None
    from systola.backends.cuda import THREADS_PER_BLOCK, CudaSession
    from systola.backends.offline import NoDevice
    from systola.cli.samples import sample_setups

    rows = []
    for setup, engine in sample_setups():
        for kernel, args in CudaSession(setup, NoDevice()).arguments().items():
            for capability in capabilities:
                try:
                    usage = link(compile_to_ptx(kernel, args, capability), capability)
                except RuntimeError as error:
                    raise InputError(
                        f"{kernel} could not be linked for sm_{capability[0]}{capability[1]}: {error}"
                    ) from None
                rows.append(
                    {
                        "problem": type(setup.problem).__name__,
                        "engine": engine,
                        "kernel": kernel,
                        "sm": f"{capability[0]}{capability[1]}",
                        **vars(usage),
                        "occupancy": occupancy(usage.registers, THREADS_PER_BLOCK, capability),
                    }
                )
    return rows


def occupancy(registers: int, block: int, capability: tuple[int, int]) -> float:
    """Share of a multiprocessor's threads that can be resident, as limited by registers, threads and blocks."""
    most_registers, most_threads, most_blocks = _LIMITS[capability]
    warps = -(-block // _WARP)
    per_warp = -(-max(registers, 1) * _WARP // _CHUNK) * _CHUNK
    blocks = min(most_registers // (per_warp * warps), most_threads // block, most_blocks)
    return blocks * block / most_threads
