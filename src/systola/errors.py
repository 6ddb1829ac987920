"""What users see when something is wrong: the rule, what came, where, what to do."""

from __future__ import annotations

import sys
import warnings


class SystolaError(Exception):
    """Base of every error that systola raises on purpose."""

    exit_code = 2


class InputError(SystolaError):
    """A file, an argument or a parameter breaks a rule."""


class ObjectiveError(SystolaError):
    """A user's objective raised, or returned something that is not a finite number."""


class MissingExtra(SystolaError):
    """An optional dependency is needed and not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f'{what} needs the extra "{extra}": pip install "systola[{extra}]"')
        self._parts = (what, extra)

    def __reduce__(self) -> tuple[type[MissingExtra], tuple[str, str]]:
        return type(self), self._parts  # errors cross from worker processes


class CheckFailed(SystolaError):
    """An internal check failed: the answer cannot be trusted, so none is given."""

    exit_code = 4


class Incomplete(SystolaError):
    """What needs several runs ended before all of them were made; those of an experiment that were are stored."""

    exit_code = 3


class InfeasibleWarning(UserWarning):
    """A run found no solution that keeps all constraints; the one that breaks them least is given."""


class SlowObjectiveWarning(UserWarning):
    """Numba could not compile an objective, so it runs as plain Python."""


class CacheWarning(UserWarning):
    """Compiled kernels on disk are damaged, not to be trusted, or cannot be kept; runs go on, but start slowly."""


def warn(message: str, category: type[Warning]) -> None:
    """Warn of something, at the line of the user's code that called us, however deep in the package we are."""
    level = 1
    while sys._getframe(level).f_globals.get("__name__", "").partition(".")[0] == "systola":
        level += 1
    warnings.warn(message, category, stacklevel=level + 1)
