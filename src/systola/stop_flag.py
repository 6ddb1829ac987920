"""The stop flag: how the host asks kernels that are at work to end, within a step if need be.

It is an array of two numbers that all lanes share. The host sets the first one from another thread, at any moment: to
end after this step, or at once. A lane that leaves work undone then sets the second one: what the population holds is
no whole step.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic, overload
from numpy.typing import NDArray

from systola.jit.emit import is_for_gpu
from systola.kernel import inlined

ASKED, LEFT = 0, 1  # places in the array
SOON, NOW = 1, 2  # what the host asks


def new_flag() -> NDArray[np.int64]:
    """A flag that is not set."""
    return np.zeros(2, np.int64)


@intrinsic  # type: ignore[untyped-decorator]
def _load_now(typing: Any, flag: Any) -> Any:
    """The first number of the flag, from memory: an atomic load cannot be moved out of a loop."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, args[0])
        if is_for_gpu(builder):
            return builder.load(array.data)  # nobody sets it while a kernel runs there
        return builder.load_atomic(array.data, "monotonic", 8)

    return types.int64(flag), generate


def _asked(flag: Any) -> Any:
    return flag[ASKED]


@overload(_asked, strict=False)  # type: ignore[untyped-decorator]
def _asked_compiled(flag: Any) -> Any:
    def look(flag: Any) -> Any:
        return _load_now(flag)

    return look


@inlined
def is_asked(flag: Any) -> Any:
    """Whether the host asks to stop, now or soon."""
    return _asked(flag) >= SOON


@inlined
def must_leave(flag: Any) -> Any:
    """Whether to leave off because the host asks to stop now; if so, it is noted that the step is not whole."""
    if _asked(flag) >= NOW:
        flag[LEFT] = 1
        return True
    return False
