"""A machine that demes run on, as the simulation sees it: what things cost there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from systola.engines.engine import check_number
from systola.errors import InputError


@dataclass(frozen=True)
class Machine:
    """What things cost; seconds, if nothing else is said.

    A stretch is what a deme computes from one migration to the next. The defaults are those of the paper's instance
    with 1,600 items and 80 bins. Computing, stalls and the processor's time for messages were measured on a virtual
    machine of two cores, in stretches of 25 iterations; latency, bandwidth and barriers are assumed, as a cluster may
    have them. For other machines see `measure_machine`.

    Parameters
    ----------
    iteration_seconds
        Mean time of an iteration.
    spread
        Relative spread of the time of a stretch: the sigma of a log-normal distribution.
    stall_chance, stall_seconds
        How likely it is that a stretch is interrupted, by the system or other programs, and for how long.
    latency, byte_seconds, message_bytes
        A message arrives `latency + message_bytes * byte_seconds` after it was posted.
    export_seconds, import_seconds
        Time of a deme to post a message, and to take one that has arrived.
    probe_seconds
        Time of a deme to see whether anything has arrived.
    barrier_seconds
        Time of a barrier for each level of its tree: there are as many as the binary logarithm of the number of demes,
        rounded up.
    """

    iteration_seconds: float = 640e-6
    spread: float = 0.08
    stall_chance: float = 4e-4
    stall_seconds: float = 20e-3
    latency: float = 5e-6
    byte_seconds: float = 1e-9
    message_bytes: int = 12_800
    export_seconds: float = 6e-6
    import_seconds: float = 6e-6
    probe_seconds: float = 1e-6
    barrier_seconds: float = 5e-6

    def __post_init__(self) -> None:
        check_number("iteration_seconds", self.iteration_seconds, 1e-9, 1e6, whole=False)
        check_number("spread", self.spread, 0, 3, whole=False)
        check_number("stall_chance", self.stall_chance, 0, 1, whole=False)
        check_number("message_bytes", self.message_bytes, 0, 2**40)
        for field in fields(self):
            check_number(field.name, getattr(self, field.name), 0, 2**40, whole=False)


def measure_machine(stretches: Sequence[float], iterations: int, **costs: Any) -> Machine:
    """A machine by what was measured on a real one.

    Parameters
    ----------
    stretches
        Seconds of many stretches on one core. One that took more than twice the median had a stall.
    iterations
        Of each stretch.
    **costs
        Fields of `Machine` such as `latency` and `export_seconds`; others keep their defaults.

    Examples
    --------
    >>> machine = measure_machine([0.5, 0.5, 0.5, 2.5], 25, latency=1e-5)
    >>> machine.iteration_seconds, machine.spread, machine.stall_chance, machine.stall_seconds, machine.latency
    (0.02, 0.0, 0.25, 2.0, 1e-05)
    """
    check_number("iterations", iterations, 1, 10**9)
    seconds = np.asarray(stretches, dtype=np.float64)
    if seconds.ndim != 1 or len(seconds) < 2 or not (np.isfinite(seconds) & (seconds > 0)).all():
        raise InputError(
            f"a machine is measured by two stretches or more, each of positive seconds, but got {stretches!r:.60}"
        )
    unknown = set(costs) - {field.name for field in fields(Machine)}
    if unknown:
        raise InputError(
            f"`costs` must be among {', '.join(field.name for field in fields(Machine))}, but got {sorted(unknown)}"
        )
    stalled = seconds > 2 * np.median(seconds)
    usual = float(seconds[~stalled].mean())
    measured = {
        "iteration_seconds": usual / iterations,
        "spread": float(np.log(seconds[~stalled]).std()),
        "stall_chance": float(stalled.mean()),
        "stall_seconds": float(seconds[stalled].mean()) - usual if stalled.any() else 0.0,
    }
    return Machine(**{**measured, **costs})
