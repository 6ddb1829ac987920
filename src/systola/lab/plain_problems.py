"""The smallest problems with nothing but methods: kernels made for them serve all problems like them, of any size."""

from __future__ import annotations

from typing import Any

from systola.model.encodings import Binary, Integers, Permutation
from systola.model.problem import MINIMISE, Problem

_DECISIONS = 8


class _Whole(Problem):
    encoding = Binary(_DECISIONS)
    sense = MINIMISE

    def evaluate(self, x: Any) -> Any:
        return x[0]


class _Real(Problem):
    encoding = Binary(_DECISIONS)
    sense = MINIMISE

    def evaluate(self, x: Any) -> Any:
        return 0.5 * x[0]


class _Constrained(Problem):
    encoding = Binary(_DECISIONS)
    sense = MINIMISE

    def evaluate(self, x: Any) -> Any:
        return x[0], x[1]

    def violation(self, measures: Any) -> Any:
        return measures[1]


def plain_problems() -> list[tuple[str, Problem]]:
    """One of each encoding, with an objective of whole or real numbers, or a constraint; and what to call it."""
    encodings = {
        "bits": Binary(_DECISIONS),
        "integers": Integers(_DECISIONS, 0, _DECISIONS),
        "orders": Permutation(_DECISIONS),
    }
    kinds = {"whole numbers": _Whole, "real numbers": _Real, "a constraint": _Constrained}
    return [
        (f"own problems: {name}, {what}", type(cls.__name__, (cls,), {"encoding": encoding, "__module__": __name__})())
        for name, encoding in encodings.items()
        for what, cls in kinds.items()
    ]
