"""Which kind of random moves to try next: those that improved more often lately are drawn more often.

For each kind three numbers are remembered: how often it was tried, how often it improved, and its share of the draws.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from systola.jit.compile import called, inlined

_MOST_KINDS = 4
REMEMBERED = 3 * _MOST_KINDS  # numbers, from `at` on
_WHOLE = 1 << 32  # shares are parts of this
_LEAST_SHARE = 20  # at least one of so many moves is of a kind, whatever came of it


@inlined
def count_trial(memory: Any, at: Any, kind: Any) -> None:
    """A move of this kind was tried."""
    memory[at + kind] += 1


@inlined
def count_improvement(memory: Any, at: Any, kind: Any) -> None:
    """It was an improvement."""
    memory[at + _MOST_KINDS + kind] += 1


@called
def share_out_kinds(memory: Any, at: Any, kinds: Any) -> None:
    """Shares by how often each kind improved; older trials count for less and less."""
    total = np.int64(0)
    for kind in range(kinds):
        tried, improved = at + kind, at + _MOST_KINDS + kind
        rate = ((memory[improved] + 1) << 24) // (memory[tried] + 16) + 1
        memory[at + 2 * _MOST_KINDS + kind] = rate
        total += rate
        memory[tried] >>= 1
        memory[improved] >>= 1
    least = _WHOLE // _LEAST_SHARE
    free = (_WHOLE - kinds * least) // total
    for kind in range(kinds):
        memory[at + 2 * _MOST_KINDS + kind] = least + free * memory[at + 2 * _MOST_KINDS + kind]


@inlined
def pick_kind(memory: Any, at: Any, kinds: Any, number: Any) -> Any:
    """A kind by its share, from a random number of 32 bits."""
    left = np.int64(number)
    kind = np.int64(0)
    while kind < kinds - 1:
        left -= memory[at + 2 * _MOST_KINDS + kind]
        if left < 0:
            break
        kind += 1
    return kind
