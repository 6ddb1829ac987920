"""What can go wrong: PTX that is not understood, and kernels that do what they must not."""

from __future__ import annotations


class Unsupported(NotImplementedError):
    """PTX that would be executed wrongly, so it is not executed; names the line."""

    def __init__(self, what: str, line: int):
        super().__init__(f"PTX line {line}: {what}")


class LaunchError(RuntimeError):
    """A kernel that left its memory, raced, trapped, or waited for threads that never came."""
