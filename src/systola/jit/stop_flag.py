"""The stop flag: how the host asks kernels that are at work to end, within a step if need be.

It is an array of two numbers that all lanes share. The host sets the first one from another thread, at any moment: to
end after this step, or at once. A lane that leaves work undone then sets the second one: what the population holds is
no whole step.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from systola.jit.atomics import peek
from systola.jit.compile import inlined

ASKED, LEFT = 0, 1  # places in the array
SOON, NOW = 1, 2  # what the host asks


def new_flag() -> NDArray[np.int64]:
    """A flag that is not set."""
    return np.zeros(2, np.int64)


@inlined
def is_asked(flag: Any) -> Any:
    """Whether the host asks to stop, now or soon."""
    return peek(flag, ASKED) >= SOON


@inlined
def must_leave(flag: Any) -> Any:
    """Whether to leave off because the host asks to stop now; if so, it is noted that the step is not whole."""
    if peek(flag, ASKED) >= NOW:
        flag[LEFT] = 1
        return True
    return False
