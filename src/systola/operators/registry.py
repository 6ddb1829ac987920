"""A kind of operator: those that come with systola by name, and a user's own function."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from systola.errors import InputError
from systola.jit.digest import digest_of_functions
from systola.jit.dispatch import register_helpers
from systola.model.encodings import Space

Operator = Callable[..., Any]


@dataclass(frozen=True)
class OperatorRegistry:
    """Operators of one kind, each with the spaces that it is for."""

    name: str
    known: Mapping[str, tuple[Operator, tuple[type, ...]]]

    def find(self, choice: str | Operator, space: Space) -> tuple[Operator, str]:
        """The function, and a label that is another one whenever the function does something else."""
        if isinstance(choice, FunctionType):
            digest, helpers = digest_of_functions({self.name: choice})
            register_helpers(helpers)
            return choice, re.sub(r"\W", "_", f"{choice.__name__}_{digest}")
        if not isinstance(choice, str) or choice not in self.known:
            near = difflib.get_close_matches(str(choice), self.known, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else "."
            raise InputError(
                f"the {self.name} must be a function or one of {', '.join(self.known)}, but got {choice!r}{hint}"
            )
        operator, spaces = self.known[choice]
        if not isinstance(space, spaces):
            fitting = [name for name, (_, fit) in self.known.items() if isinstance(space, fit)]
            advice = f"choose one of {', '.join(fitting)}" if fitting else "write one yourself or leave it out"
            raise InputError(f"the {self.name} {choice!r} is not for {type(space).__name__} solutions; {advice}")
        return operator, operator.__name__
