"""A problem says what a solution is, what it is worth, and how its worth changes when a little of it changes.

Subclass `Problem`, annotate the data, write `evaluate`. Methods are plain Python in Numba's subset; in kernels
`self` is a record of the fields. What a problem can do beside `evaluate` it lists as capabilities.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Sequence
from html import escape
from types import FunctionType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from systola.errors import InputError
from systola.jit.digest import digest_of_data, digest_of_functions
from systola.jit.dispatch import Implementation, register, register_helpers
from systola.jit.records import record_type
from systola.model.capabilities import Capability, check_capabilities
from systola.model.drawing import Drawing
from systola.model.encodings import Array, Encoding
from systola.model.fields import plain, unpack
from systola.model.incremental import with_defaults
from systola.model.names import Names, check_names, label, labels_from_fields
from systola.model.objective import DEFAULTS, fitness_down, fitness_up
from systola.model.structure.declare import declare, functions_of, structure_record
from systola.model.structure.part import Part

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:  # not in Python 3.10; only type checkers read it

    def dataclass_transform(**_: Any) -> Any:
        return lambda cls: cls


MAXIMISE = 1
MINIMISE = -1

_METHODS = ("evaluate", "fitness", "violation")
_TAKEN = (
    "capabilities",
    "check",
    "derive",
    "draw",
    "encoding",
    "names",
    "structure",
    "summary",
    *_METHODS,
)  # no names for fields
_SPACE = "_space"  # where an instance keeps it
_NOTHING = "nothing"  # the field of a problem without data: a record needs one


@dataclass_transform(frozen_default=True)
class Problem:
    """Base of all problems; see the module's words and docs/own-problem.md.

    Class attributes
    ----------------
    encoding : Encoding
        What a solution is.
    sense : MAXIMISE or MINIMISE, or a tuple of them
        One for each objective. Objectives are the first measures. A text is the name of a field that holds it; such a
        problem says by `fitness` how solutions compare.
    scale : int
        Measures count in units of 1/scale; results are divided by it. Keeps fractions exact as integers.
    capabilities : sequence of Capability
        What the problem can do faster than by `evaluate`.
    structure : Part or sequence of Part, optional
        Instead of `evaluate`: the parts that the objective is the sum of. What moves do to it follows.
    names : Names
        What decisions and their values are called in tables; by default words that suit the encoding.
    """

    encoding: ClassVar[Encoding]
    sense: ClassVar[int | tuple[int, ...] | str] = MAXIMISE
    scale: ClassVar[int] = 1
    capabilities: ClassVar[Sequence[Capability]] = ()
    structure: ClassVar[Part | Sequence[Part] | None] = None
    names: ClassVar[Names | None] = None
    _record_type: ClassVar[Any]
    _fields: ClassVar[tuple[str, ...]]

    def __init_subclass__(cls, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        taken = [name for name in _TAKEN if name in inspect.get_annotations(cls)]
        if taken:
            raise InputError(f"`{taken[0]}` is no name for a field, but {cls.__name__} has one; choose another")
        dataclasses.dataclass(frozen=True, eq=False, repr=False)(cls)
        if cls.structure is not None and hasattr(cls, "encoding"):
            declare(cls)
        if "evaluate" not in dir(cls) or not hasattr(cls, "encoding"):
            raise InputError(
                f"a problem needs `encoding` and `evaluate` (or `structure`), but {cls.__name__} lacks one; add it"
            )
        cls._fields = tuple(f.name for f in dataclasses.fields(cls))  # type: ignore[arg-type]
        if isinstance(cls.sense, str) and cls.sense not in cls._fields:
            raise InputError(f"`sense` names the field {cls.sense!r}, which {cls.__name__} does not have; add it")
        check_capabilities(cls.__name__, cls.encoding, cls.capabilities)
        check_names(cls.__name__, cls.names, cls._fields)

    def __post_init__(self) -> None:
        bind(type(self))
        axes = {}
        for field in kernel_fields(type(self)):
            if hasattr(self, field):
                where = f"{type(self).__name__}.{field}"
                value, axes[field] = unpack(getattr(self, field), where)
                object.__setattr__(self, field, plain(value, where))
        for entry in dataclasses.fields(self):  # type: ignore[arg-type]
            value = getattr(self, entry.name, None)
            if entry.type in ("Array", "np.ndarray", np.ndarray) and isinstance(value, (int, float)):
                raise InputError(f"{type(self).__name__}.{entry.name} must be an array, but got the number {value}")
        self.check()
        if is_declared(self):
            object.__setattr__(self, "structure", structure_record(self))
        found = labels_from_fields(type(self).__name__, self.encoding, self.names, axes)
        if found:
            label(self, **found)

    def check(self) -> None:
        """Raise InputError when the data break a rule; override it. Derived fields are set here with `derive`."""

    def derive(self, **values: Any) -> None:
        """Set fields declared with `init=False`."""
        vars(self).pop(_SPACE, None)  # `check` may have asked for it before
        for name, value in values.items():
            object.__setattr__(self, name, plain(value, name))

    def draw(self, x: Array) -> Drawing | None:
        """How people like to see a solution; override it for a picture of your own.

        It is called in plain Python, with decisions as `evaluate` gets them, never in kernels. By default a declared
        `Chain` with `coordinates` is a tour, and other solutions are cells: what is chosen, assigned or ordered.

        Parameters
        ----------
        x : array
            The decisions.

        Returns
        -------
        Drawing or None
            None if there is nothing to see, as in very long solutions.
        """
        from systola.model.decision_drawing import draw_decisions  # which reads what this module makes

        return draw_decisions(self, np.asarray(x))

    def summary(self) -> str:
        """How solutions are measured, what moves cost, and what declaring more would gain: several lines for people."""
        from systola.model.summary import summarise  # which reads what this module makes

        return summarise(self)

    def __str__(self) -> str:
        """One line for people."""
        return f"{type(self).__name__}, {space_of(self).n} decisions"

    def __repr__(self) -> str:
        return f"<{self}>" if str(self).startswith(type(self).__name__) else f"<{type(self).__name__}: {self}>"

    def _repr_html_(self) -> str:
        """For notebooks."""
        return f"<pre>{escape(self.summary())}</pre>"


def bind(cls: type[Problem]) -> None:
    """Tell the dispatch what a class's functions do now: edits of what they call make a new record type."""
    declared = ["structure"] if cls.structure is not None else []
    register_functions(cls, cls.__name__, [*kernel_fields(cls), *declared] or [_NOTHING])


def register_functions(cls: type[Problem], stem: str, fields: list[str]) -> None:
    """Let records of a new type, with these fields, do what the class's functions do."""
    functions: dict[str, Implementation] = {name: getattr(cls, name) for name in _METHODS if hasattr(cls, name)}
    for entry in cls.capabilities:
        functions |= entry.functions()
    senses = (cls.sense,) if isinstance(cls.sense, int) else cls.sense
    if not isinstance(senses, str):  # of several objectives the first one, for lack of a better: see `can_compare`
        default: Implementation = fitness_up if senses[0] == MAXIMISE else fitness_down
        functions.setdefault("fitness", default)
    functions = with_defaults({**DEFAULTS, **functions})
    written = {k: b for k, b in functions.items() if isinstance(b, FunctionType)}
    declared = cls.structure is not None
    digest, helpers = digest_of_functions(written | functions_of(cls) if declared else written)
    register_helpers(helpers, small=declared)
    cls._record_type = record_type(f"{stem}_{digest}", fields)
    for name, function in functions.items():
        register(name, cls._record_type, function)


def kernel_fields(cls: type[Problem]) -> list[str]:
    """Fields that kernels see: all but those annotated as text."""
    return [f.name for f in dataclasses.fields(cls) if f.type not in (str, "str")]  # type: ignore[arg-type]


def is_declared(problem: Problem) -> bool:
    """Whether the objective of a problem is declared as parts."""
    return type(problem).structure is not None


def record_type_of(problem: Problem) -> Any:
    """The type of a problem's record, by which kernels dispatch."""
    return problem._record_type


def record_of(problem: Problem) -> Any:
    """The data of a problem as kernels see them."""
    made = problem._record_type
    return made(*(getattr(problem, f, 0) for f in made._fields))


def space_of(problem: Problem) -> Any:
    """The space of a problem's solutions as kernels see it."""
    kept = vars(problem)
    if _SPACE not in kept:  # else bounds of integers would be checked at each look
        kept[_SPACE] = problem.encoding.space(problem)
    return kept[_SPACE]


def senses_of(problem: Problem) -> tuple[int, ...]:
    """The sense of each objective."""
    sense: Any = getattr(problem, problem.sense) if isinstance(problem.sense, str) else problem.sense
    return tuple(int(value) for value in np.atleast_1d(sense))


def can_compare(problem: Problem) -> bool:
    """Whether solutions have a fitness that means something: with several objectives, a problem must say which."""
    return len(senses_of(problem)) == 1 or hasattr(problem, "fitness")


def digest_of(problem: Problem) -> str:
    """Digest of the data and the code: two problems with the same digest are the same problem."""
    data = [getattr(problem, f) for f in problem._fields]
    return digest_of_data(
        problem._record_type.__name__, repr(problem.encoding), senses_of(problem), problem.scale, data
    )
