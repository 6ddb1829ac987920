"""A sum of terms, each of which reads a few decisions: a move re-measures only the terms that it touches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from systola.errors import InputError
from systola.jit.compile import inlined
from systola.jit.dispatch import Implementation, dispatched, dispatched_small, register
from systola.model.elementary_moves import make_plain_move, touched, undo_plain_move
from systola.model.encodings import Array, Binary, Bits, Digits, Integers, Permutation
from systola.model.structure.part import Function, Part, field_or_made

if TYPE_CHECKING:
    from systola.model.problem import Problem


@dispatched_small
def user_term(part: Any, problem: Any, x: Any, k: Any) -> Any:
    """The k-th term."""


def _total(self: Any, problem: Any, x: Any) -> Any:
    total = 0
    for k in range(self.starts.shape[0] - 1):
        total += user_term(self, problem, x, k)
    return total


@inlined
def _is_first(self: Any, k: Any, i: Any, first: Any, stride: Any) -> Any:
    """Whether decision i is the first of those touched that term k reads, so that no term counts twice."""
    for q in range(self.starts[k], self.starts[k + 1]):
        other = self.members[q]
        if other >= i:  # they are sorted
            break
        if other >= first and (other - first) % stride == 0:
            return False
    return True


@inlined
def _total_of_touched(self: Any, problem: Any, x: Any, first: Any, last: Any, stride: Any) -> Any:
    total = 0
    for i in range(first, last, stride):
        for q in range(self.of_starts[i], self.of_starts[i + 1]):
            k = self.of_terms[q]
            if i == first or _is_first(self, k, i, first, stride):
                total += user_term(self, problem, x, k)
    return total


def _delta(self: Any, problem: Any, space: Any, x: Any, move: Any, kept: Any) -> Any:
    kind, i, j, k = move
    first, last, stride = touched(space, kind, i, j, k)
    before = _total_of_touched(self, problem, x, first, last, stride)
    make_plain_move(space, x, kind, i, j, k)
    after = _total_of_touched(self, problem, x, first, last, stride)
    undo_plain_move(space, x, kind, i, j, k)
    return after - before


@dispatched
def add_term_gains(space: Any, part: Any, problem: Any, x: Any, k: Any, i: Any, gains: Any, sign: Any) -> Any:
    """Add what term k gains by each change of a decision that it reads, other than i, with this sign."""


def _add_flips(space: Any, part: Any, problem: Any, x: Any, k: Any, i: Any, gains: Any, sign: Any) -> None:
    now = user_term(part, problem, x, k)
    for q in range(part.starts[k], part.starts[k + 1]):
        j = part.members[q]
        if j != i:
            x[j] ^= 1
            gains[j] += sign * part.weight * (user_term(part, problem, x, k) - now)
            x[j] ^= 1


def _add_reassignments(space: Any, part: Any, problem: Any, x: Any, k: Any, i: Any, gains: Any, sign: Any) -> None:
    now = user_term(part, problem, x, k)
    width = gains.shape[0] // space.n
    for q in range(part.starts[k], part.starts[k + 1]):
        j = part.members[q]
        if j != i:
            held = x[j]
            for v in range(space.low[j], space.high[j] + 1):
                if v != held:
                    x[j] = v
                    gains[j * width + v - space.low[j]] += sign * part.weight * (user_term(part, problem, x, k) - now)
            x[j] = held


register("add_term_gains", Bits, _add_flips)
register("add_term_gains", Digits, _add_reassignments)


def _add_gains(self: Any, problem: Any, space: Any, x: Any, kept: Any, gains: Any) -> None:
    for k in range(self.starts.shape[0] - 1):
        add_term_gains(space, self, problem, x, k, np.int64(-1), gains, 1)


def _before(self: Any, problem: Any, space: Any, x: Any, i: Any, gains: Any) -> None:
    for q in range(self.of_starts[i], self.of_starts[i + 1]):
        add_term_gains(space, self, problem, x, self.of_terms[q], i, gains, -1)


def _after(self: Any, problem: Any, space: Any, x: Any, i: Any, gains: Any) -> None:
    for q in range(self.of_starts[i], self.of_starts[i + 1]):
        add_term_gains(space, self, problem, x, self.of_terms[q], i, gains, 1)


@dataclass(frozen=True)
class Terms(Part):
    """A sum of terms that each read a few decisions.

    Parameters
    ----------
    term
        ``(self, x, k)``: the k-th term, from those decisions of x that `reads` names for it and no others.
    reads
        The name of a field, or a function of the instance, with the decisions that each term reads: an array with a
        row for each term (negative numbers stand for none), a list of lists, or a pair of arrays, (starts, members),
        where term k reads members[starts[k]:starts[k + 1]].
    """

    encodings = (Binary, Integers, Permutation)
    takes = {"term": ("x", "k")}

    term: Function
    reads: str | Function

    def makers(self) -> dict[str, FunctionType]:
        return {"reads": self.reads} if isinstance(self.reads, FunctionType) else {}

    def data(self, problem: Problem) -> dict[str, Any]:
        n = problem.encoding.space(problem).n
        rows = _rows(field_or_made(problem, self.reads, "`reads`"), type(problem).__name__)
        starts = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
        members = np.concatenate(rows).astype(np.int64) if rows else np.zeros(0, np.int64)
        if len(members) and members.max() >= n:
            k = int(np.searchsorted(starts, int(np.argmax(members)), side="right")) - 1
            raise InputError(
                f"`reads` of {type(problem).__name__} names decision {members.max()} for term {k}, but decisions are "
                f"0..{n - 1}"
            )
        order = np.argsort(members, kind="stable")
        of_starts = np.searchsorted(members[order], np.arange(n + 1)).astype(np.int64)
        terms = np.repeat(np.arange(len(rows)), np.diff(starts))
        return {"starts": starts, "members": members, "of_starts": of_starts, "of_terms": terms[order].astype(np.int64)}

    def implementations(self, problem: Problem, data: dict[str, Any]) -> tuple[str, dict[str, Implementation]]:
        return "Terms", {
            "part_total": _total,
            "part_delta": _delta,
            "add_gains": _add_gains,
            "before_change": _before,
            "after_change": _after,
        }

    @property
    def has_gains(self) -> bool:
        return True

    def describe(self, problem: Problem) -> str:
        data = self.data(problem)
        count, most = len(data["starts"]) - 1, int(np.diff(data["of_starts"]).max())
        mean = len(data["members"]) / (len(data["of_starts"]) - 1)
        return f"{count} terms; a decision is read by {mean:.1f} of them, at most {most}"


def _rows(reads: Array | Sequence[Sequence[int]] | tuple[Array, Array], owner: str) -> list[Array]:
    """The decisions of each term, sorted, each once."""
    problem = f"`reads` of {owner} must be rows of decisions, or a pair (starts, members)"
    try:
        if isinstance(reads, tuple) and len(reads) == 2 and np.ndim(reads[0]) == np.ndim(reads[1]) == 1:
            starts, members = (np.asarray(part) for part in reads)
            rows = [members[a:b] for a, b in pairwise(starts)]
        else:
            rows = [np.asarray(row).ravel() for row in reads]
        if any(row.dtype.kind not in "iu" and len(row) for row in rows):
            raise InputError(f"{problem}, but not all are whole numbers")
        return [np.unique(row[row >= 0]) for row in rows]
    except (TypeError, ValueError, IndexError):
        raise InputError(f"{problem}, but got {reads!r:.60}") from None
