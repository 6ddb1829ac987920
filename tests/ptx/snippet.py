"""A few instructions as a kernel: each thread loads its inputs, executes them and stores what they computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ptx.execute import Executable
from ptx.needs import HAS_EXTRA
from ptx.scalars import SCALARS, Scalar

_CAPABILITY = (8, 0)
HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
Numbers = Sequence[Any] | np.ndarray


def _dtype(scalar: Scalar) -> np.dtype[Any]:
    return np.dtype(f"{scalar.kind.replace('b', 'u').replace('s', 'i')}{scalar.size}")


def _register(scalar: Scalar) -> str:
    """Registers of eight bits do not exist."""
    return f"b{max(16, scalar.bits)}" if not scalar.is_float else scalar.name


def compute(
    body: str, outputs: Mapping[str, str], inputs: Mapping[str, tuple[str, Numbers]], declared: str = ""
) -> dict[str, np.ndarray]:
    """Execute a body once for each place of the inputs.

    Inputs are registers %name of a type, with a value for each thread; outputs are registers %name of a type, whose
    values come back. There are also predicates %p0 to %p9 and words %h, %w and %l (16, 32, 64 bits), 0 to 9, to use.
    """
    given = {name: np.array(values, _dtype(SCALARS[kind])) for name, (kind, values) in inputs.items()}
    threads = max((len(values) for values in given.values()), default=1)
    found = {name: np.zeros(threads, _dtype(SCALARS[kind])) for name, kind in outputs.items()}
    kinds = {name: SCALARS[kind] for name, kind in {**{n: k for n, (k, _) in inputs.items()}, **outputs}.items()}
    arrays = {**given, **found}
    loads = "".join(_address(name, kinds[name]) + f"ld.global.{kinds[name].name} %{name}, [%at];\n" for name in given)
    stores = "".join(_address(name, kinds[name]) + f"st.global.{kinds[name].name} [%at], %{name};\n" for name in found)
    text = (
        f"{HEAD}{declared}\n.visible .entry snippet({', '.join(f'.param .u64 {name}' for name in arrays)})\n{{\n"
        ".reg .pred %p<10>;\n.reg .b16 %h<10>;\n.reg .b32 %w<10>;\n.reg .b64 %l<10>;\n"
        ".reg .b32 %thread;\n.reg .b64 %at, %offset;\n"
        + "".join(f".reg .{_register(kinds[name])} %{name};\n" for name in arrays)
        + f"mov.u32 %thread, %tid.x;\n{loads}{body}\n{stores}ret;\n}}\n"
    )
    prepared(text).launch([1], [threads], [a.ctypes.data for a in arrays.values()], arrays.values())
    return found


def prepared(text: str, checked: bool = True) -> Executable:
    """Ready to launch; where the tools are there, NVIDIA's assembler must take the text, too, so that tests are PTX."""
    executable = Executable(text, checked)
    if HAS_EXTRA:
        from systola.backends.nvidia import link  # an extra, so that this module can be imported without

        link(text, _CAPABILITY)
    return executable


def _address(name: str, scalar: Scalar) -> str:
    return f"ld.param.u64 %at, [{name}];\nmul.wide.u32 %offset, %thread, {scalar.size};\nadd.s64 %at, %at, %offset;\n"


def kernel(body: str, parameters: str = ".param .u64 out", declared: str = "") -> str:
    """A kernel that does its own loads and stores, with the same registers to use."""
    return (
        f"{HEAD}{declared}\n.visible .entry kernel({parameters})\n{{\n"
        ".reg .pred %p<10>;\n.reg .b16 %h<10>;\n.reg .b32 %w<10>;\n.reg .b64 %l<10>;\n"
        f"{body}\n}}\n"
    )
