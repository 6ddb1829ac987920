"""A problem written as a linear program over zeros and ones, for solvers that want one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from systola.errors import InputError
from systola.model.capabilities import Formulation, capability
from systola.model.encodings import Array
from systola.model.problem import MAXIMISE, Problem, is_declared, senses_of, space_of
from systola.model.structure.declare import parts_of
from systola.model.structure.linear import Linear

FREE = 2**62  # a bound of a row that is none
_EXACT = 2**53  # above that floats, by which solvers compute, skip whole numbers
_MOST_ENTRIES = 5_000_000


def _same(values: Array) -> Array:
    return values


@dataclass(frozen=True)
class IntegerProgram:
    """The best sum of costs over columns that are 0 or 1, such that the sum of each row is within its bounds.

    Parameters
    ----------
    costs
        A whole number for each column; their sum is the problem's objective.
    maximise
        Whether the largest sum is wanted.
    entries
        Rows, columns and values of the matrix, where it is not zero.
    least, largest
        Bounds of each row; `-FREE` and `FREE` if there is none.
    continuous
        So many of the last columns may be any number between 0 and 1: they are whole where all others are.
    encode, decode
        Columns of decisions, and the other way round.
    """

    costs: Array
    maximise: bool
    entries: tuple[Array, Array, Array]
    least: Array
    largest: Array
    continuous: int = 0
    encode: Callable[[Array], Array] = _same
    decode: Callable[[Array], Array] = _same

    def __post_init__(self) -> None:
        sizes = {
            "the sum of all costs": sum(map(abs, self.costs.tolist())),
            "a coefficient": max((abs(int(v)) for v in (self.entries[2].max(), self.entries[2].min())), default=0)
            if len(self.entries[2])
            else 0,
        }
        for what, size in sizes.items():
            if size >= _EXACT:
                raise InputError(
                    f"an exact method on floats needs numbers below 2**53, but {what} is {size}; scale the data down"
                )
        if len(self.entries[2]) > _MOST_ENTRIES:
            raise InputError(
                f"an exact method takes up to {_MOST_ENTRIES:,} coefficients, but there are {len(self.entries[2]):,}; "
                "choose another algorithm"
            )


def is_linear(problem: Problem) -> bool:
    """Whether a problem can be written so."""
    if capability(problem, Formulation):
        return True
    parts = parts_of(problem) if is_declared(problem) else ()
    return bool(parts) and all(isinstance(part, Linear) for part in parts) and len(senses_of(problem)) == 1


def program_of(problem: Problem) -> IntegerProgram:
    """A linear problem written so."""
    known = capability(problem, Formulation)
    if known:
        made: IntegerProgram = known.program(problem)
        return made
    n, costs, blocks = space_of(problem).n, np.zeros(space_of(problem).n, np.int64), []
    for part in parts_of(problem):
        assert isinstance(part, Linear)
        data = part.data(problem)
        if not part.is_constraint:
            costs = costs + _whole(problem, data["coefficients"]) * int(_whole(problem, np.array([part.weight]))[0])
            continue
        starts = data["starts"]
        rows = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        values = _whole(problem, data["values"][: len(rows)])
        none = np.full(len(starts) - 1, FREE)
        least = -none if part.relation == "<=" else _whole(problem, data["least"])
        largest = none if part.relation == ">=" else _whole(problem, data["largest"])
        blocks.append((rows, data["columns"][: len(rows)], values, least, largest))
    offsets = np.cumsum([0, *(len(block[3]) for block in blocks)])
    together = [(block[0] + at, *block[1:]) for block, at in zip(blocks, offsets[:-1], strict=True)]
    joined = [np.concatenate([block[k] for block in together]) if together else np.zeros(0, np.int64) for k in range(5)]
    assert len(costs) == n
    return IntegerProgram(
        costs, senses_of(problem)[0] == MAXIMISE, (joined[0], joined[1], joined[2]), joined[3], joined[4]
    )


def _whole(problem: Problem, values: Array) -> Array:
    if values.dtype.kind not in "biu" and not np.array_equal(values, np.rint(values)):
        raise InputError(
            f"an exact method proves whole numbers, but the coefficients of {type(problem).__name__} are fractions; "
            "scale them to whole numbers"
        )
    return values.astype(np.int64)
