"""What the decisions of a solution are called: words for tables, and labels that came with the data.

Engines and kernels know neither: a solution is numbers until it is told to people.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from systola.errors import InputError
from systola.model.encodings import Array, Binary, Bits, Digits, Encoding, Permutation
from systola.reading import Json

if TYPE_CHECKING:
    from systola.model.problem import Problem

Axis = str | tuple[str, int]  # a field, or a field and one of its axes
Axes = tuple[tuple[str, ...] | None, ...]  # the labels along each axis of a value; None where there are none

CHOICE, ORDER, ASSIGNMENT = "choice", "order", "assignment"


@dataclass(frozen=True)
class Names:
    """How people read the solutions of a problem; a problem class has one as `names`.

    Parameters
    ----------
    decision, value : str
        What a decision and its value are called, such as ``"item"`` and ``"chosen"``, ``"job"`` and ``"agent"``, or, of
        a permutation that is an order, ``"position"`` and ``"city"``.
    decisions, values : fields, or pairs of a field and an axis
        Fields with one entry for each decision, or for each value, along their first or the given axis. If one of them
        came as a table of pandas or a graph of networkx, its labels are the names; those of several must be equal.
        A permutation whose `decisions` are named is read as an assignment, any other as an order.
    """

    decision: str
    value: str
    decisions: tuple[Axis, ...] = ()
    values: tuple[Axis, ...] = ()

    def __post_init__(self) -> None:
        for name in ("decision", "value"):
            if not isinstance(getattr(self, name), str) or not getattr(self, name):
                raise InputError(f"`{name}` of Names must be a word, but got {getattr(self, name)!r}")
        for name in ("decisions", "values"):
            axes = getattr(self, name)
            if not isinstance(axes, tuple) or not all(map(_is_axis, axes)):
                raise InputError(
                    f"`{name}` of Names must be fields, or pairs of a field and an axis, such as ('flows',), but got "
                    f"{axes!r}"
                )


def _is_axis(axis: Axis) -> bool:
    if isinstance(axis, str):
        return True
    return isinstance(axis, tuple) and len(axis) == 2 and isinstance(axis[0], str) and isinstance(axis[1], int)


@dataclass(frozen=True)
class Labels:
    """The names of one instance, as a result carries them.

    Attributes
    ----------
    kind
        Whether a solution is a ``choice`` of decisions, an ``order`` of values, or an ``assignment`` of values to
        decisions.
    decision, value
        The words for one of each.
    decisions, values
        Their names, from the first; None where there are only numbers.
    """

    kind: str = ASSIGNMENT
    decision: str = "decision"
    value: str = "value"
    decisions: tuple[str, ...] | None = None
    values: tuple[str, ...] | None = None

    @property
    def named(self) -> bool:
        """Whether there is more than numbers."""
        return self.decisions is not None or self.values is not None

    def of_decisions(self, count: int) -> list[str | int]:
        """Names of the decisions; numbers count from 0 as in a solution, but places of an order from 1."""
        if self.decisions is not None:
            return list(self.decisions)
        return list(range(1, count + 1) if self.kind == ORDER else range(count))

    def of_values(self, solution: Array) -> list[str | int | bool]:
        """Names of the values of a solution."""
        if self.kind == CHOICE:
            return [bool(value) for value in solution]
        if self.values is not None:
            return [self.values[int(value)] for value in solution]
        return [int(value) for value in solution]

    def tell(self, solution: Array) -> list[str | int] | dict[str, str | int]:
        """What is chosen, the order, or the value of each decision; by name where there are names."""
        values = self.of_values(solution)
        if self.kind == ORDER:
            return values
        decisions = self.of_decisions(len(solution))
        if self.kind == CHOICE:
            return [name for name, taken in zip(decisions, values, strict=True) if taken]
        return {str(name): value for name, value in zip(decisions, values, strict=True)}

    @classmethod
    def from_json(cls, data: Json, solution: Array) -> Labels:
        """The inverse of `dataclasses.asdict`; a ValueError if the labels do not fit a solution."""
        if not isinstance(data, Mapping):
            raise ValueError("`names` must be an object")
        own: dict[str, Any] = dict(data)
        lists = {key: own.get(key) for key in ("decisions", "values")}
        if not all(value is None or isinstance(value, list) for value in lists.values()):
            raise ValueError("`names` must be lists")
        made = cls(**{**own, **{key: None if value is None else tuple(value) for key, value in lists.items()}})
        told = (made.kind, made.decision, made.value, *(made.decisions or ()), *(made.values or ()))
        sizes = made.decisions is None or len(made.decisions) == solution.size
        if made.kind == CHOICE:
            sizes = sizes and made.values is None
        elif made.values is not None and solution.size:
            sizes = sizes and solution.min() >= 0 and solution.max() < len(made.values)
        if made.kind not in (CHOICE, ORDER, ASSIGNMENT) or not all(isinstance(word, str) for word in told) or not sizes:
            raise ValueError("`names` do not fit the solution")
        return made


def words_of(encoding: Encoding, names: Names | None) -> tuple[str, Names]:
    """The kind of solutions, and the words for them: the problem's own, or those of its encoding."""
    if isinstance(encoding, Binary):
        return CHOICE, names or Names("decision", "chosen")
    if isinstance(encoding, Permutation) and not (names and names.decisions):
        return ORDER, names or Names("position", "item")
    return ASSIGNMENT, names or Names("decision", "value")


def check_names(owner: str, names: Names | None, fields: Iterable[str]) -> None:
    """An InputError unless a class's `names` are words, and fields that it has."""
    if names is None:
        return
    if not isinstance(names, Names):
        raise InputError(f"`names` of {owner} must be Names, such as sy.Names('item', 'chosen'), but got {names!r}")
    for axis in (*names.decisions, *names.values):
        field = axis if isinstance(axis, str) else axis[0]
        if field not in fields:
            raise InputError(f"`names` of {owner} speaks of the field {field!r}, which it does not have")


def labels_from_fields(owner: str, encoding: Encoding, names: Names | None, axes: Mapping[str, Axes]) -> dict[str, Any]:
    """The keywords of `label` that follow from the labels along the axes of fields; an InputError if they disagree."""
    _refuse_other_orders(owner, axes)
    kind, words = words_of(encoding, names)
    decisions, values = words.decisions, words.values
    length = getattr(encoding, "n", None)  # the field whose length is the number of decisions
    if isinstance(length, str):
        if kind == ORDER:
            values = values or (length,)
        else:
            decisions = decisions or (length,)
    found = {"decisions": _agreed(owner, axes, decisions), "values": _agreed(owner, axes, values)}
    return {key: labels for key, labels in found.items() if labels is not None}


def _agreed(owner: str, axes: Mapping[str, Axes], wanted: tuple[Axis, ...]) -> tuple[str, ...] | None:
    """The labels along these axes, which are all the same."""
    found: tuple[str, tuple[str, ...]] | None = None
    for entry in wanted:
        field, axis = (entry, 0) if isinstance(entry, str) else entry
        along = axes.get(field, ())
        labels = along[axis] if axis < len(along) else None
        if labels is None:
            continue
        if found is not None and found[1] != labels:
            raise InputError(
                f"{found[0]} and {field} of {owner} must have the same labels in the same order, but differ; "
                "reindex one"
            )
        found = found or (field, labels)
    return found[1] if found else None


def _refuse_other_orders(owner: str, axes: Mapping[str, Axes]) -> None:
    """Two tables of the same labels in another order are surely not meant: their rows do not belong together."""
    seen: dict[frozenset[str], tuple[str, tuple[str, ...]]] = {}
    for field, along in axes.items():
        for labels in along:
            if labels is None:
                continue
            other, known = seen.setdefault(frozenset(labels), (field, labels))
            if known != labels:
                what = f"{other} and {field}" if other != field else f"the rows and the columns of {field}"
                raise InputError(
                    f"{what} of {owner} must have the same labels in the same order, but theirs are in another order; "
                    "reindex one"
                )


def label(problem: Problem, decisions: Sequence[str] | None = None, values: Sequence[str] | None = None) -> None:
    """Give the decisions of a problem, or their values, names; an InputError if there are too few or too many.

    Parameters
    ----------
    problem : Problem
        Whose solutions will be told by these names.
    decisions, values
        All different; of values from 0 on.
    """
    space = problem.encoding.space(problem)
    kind, words = words_of(problem.encoding, problem.names)
    if kind == ORDER and decisions is not None:
        raise InputError(
            f"each {words.value} of {type(problem).__name__} may have a name, but not each {words.decision}"
        )
    if decisions is not None:
        _check(decisions, space.n, words.decision)
    if values is not None:
        if isinstance(space, Bits) or (isinstance(space, Digits) and (np.asarray(space.low) < 0).any()):
            raise InputError(f"values of {type(problem).__name__} may have names if they count from 0, but do not")
        _check(values, space.n if not isinstance(space, Digits) else int(space.high.max()) + 1, words.value)
    own: dict[str, Any] = {"decisions": decisions, "values": values}
    object.__setattr__(problem, "_labels", {k: tuple(v) for k, v in own.items() if v is not None})


def _check(names: Sequence[str], count: int, what: str) -> None:
    if len(names) != count:
        raise InputError(f"there must be a name for each {what}, {count} in all, but got {len(names)}")
    try:
        "".join(names).encode()
    except UnicodeEncodeError as error:
        raise InputError(f"the name of each {what} must be text, but one has {error.object[error.start]!r}") from None
    if len(set(names)) < len(names):
        seen: set[str] = set()
        twice = next(name for name in names if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise InputError(f"each {what} must have a name of its own, but {twice!r} comes again")


def labels_of(problem: Problem) -> Labels:
    """What the decisions of a problem are called."""
    kind, words = words_of(problem.encoding, problem.names)
    own = cast("dict[str, tuple[str, ...]]", getattr(problem, "_labels", {}))
    return Labels(kind, words.decision, words.value, own.get("decisions"), own.get("values"))


def plural(word: str) -> str:
    """Of a word for decisions or values: the key of their names in a file."""
    return word[:-1] + "ies" if word.endswith("y") and word[-2:-1] not in "aeiou" else word + "s"
