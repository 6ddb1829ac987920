"""A problem says what a solution is, what it is worth, and how its worth changes when a little of it changes.

Subclass `Problem`, annotate the data, write `evaluate`. Methods are plain Python in Numba's subset; in kernels
`self` is a record of the fields. `evaluate` returns one number, or a tuple of numbers, the solution's *measures*.
"""

from __future__ import annotations

import dataclasses
from types import FunctionType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numba import types
from numba.extending import overload

from systola.digest import digest_of_data, digest_of_functions
from systola.encodings import Array, Encoding
from systola.errors import InputError
from systola.fields import plain
from systola.increments import OPTIONAL_VERBS, PLAIN_BODIES, Guidance, Marks, Outlooks, Tables, Tallies
from systola.records import record_type
from systola.verbs import admit_helpers, body_of, give_body, has_body, objective_verb, verb

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:  # Python 3.10 has it not; only type checkers read it

    def dataclass_transform(**_: Any) -> Any:
        return lambda cls: cls


MAXIMISE = 1
MINIMISE = -1

MOST_MEASURES = 4  # in a returned tuple


@objective_verb
def evaluate(problem: Any, x: Any) -> Any:
    """The measures of plain decisions x: a number or a tuple."""
    return body_of("evaluate", problem)(problem, x)


@verb
def fitness(problem: Any, measures: Any) -> Any:
    """One number from the measures, larger is better: what an engine compares."""
    return body_of("fitness", problem)(problem, measures)


@verb
def violation(problem: Any, measures: Any) -> Any:
    """By how much the constraints are broken; zero when feasible."""
    return body_of("violation", problem)(problem, measures)


@verb
def better(problem: Any, new: Any, old: Any) -> Any:
    """Whether measures `new` beat `old` in a cell: strictly larger fitness, unless the problem breaks ties."""
    return body_of("better", problem)(problem, new, old)


@verb
def prefers(problem: Any, new: Any, old: Any) -> Any:
    """Whether measures `new` make a better answer than `old` of the same fitness; a total order, by default none."""
    return body_of("prefers", problem)(problem, new, old)


def _fitness_up(self: Any, measures: Any) -> Any:
    return measures[0]


def _fitness_down(self: Any, measures: Any) -> Any:
    return -measures[0]


def _no_violation(self: Any, measures: Any) -> Any:
    return 0


def _indifferent(self: Any, new: Any, old: Any) -> Any:
    return False


def _strictly_better(self: Any, new: Any, old: Any) -> Any:
    return fitness(self, new) > fitness(self, old)


def write_measures(value: Any, measures: Any) -> None:
    """Write what `evaluate` returned, a number or a tuple, into a row of measures."""
    if isinstance(value, tuple):
        for k in range(len(value)):
            measures[k] = value[k]
    else:
        measures[0] = value


@overload(write_measures, strict=False)  # type: ignore[untyped-decorator]
def _write_measures(value: Any, measures: Any) -> Any:
    def one(value: Any, measures: Any) -> None:
        measures[0] = value

    def two(value: Any, measures: Any) -> None:
        measures[0] = value[0]
        measures[1] = value[1]

    def three(value: Any, measures: Any) -> None:
        measures[0] = value[0]
        measures[1] = value[1]
        measures[2] = value[2]

    def four(value: Any, measures: Any) -> None:
        measures[0] = value[0]
        measures[1] = value[1]
        measures[2] = value[2]
        measures[3] = value[3]

    return (one, two, three, four)[len(value) - 1] if isinstance(value, types.BaseTuple) else one


_VERBS = ("evaluate", "fitness", "violation", "better", "prefers", *OPTIONAL_VERBS)
_NOTHING = "nothing"  # the field of a problem without data: a record needs one


@dataclass_transform(frozen_default=True)
class Problem:
    """Base of all problems; see the module's words and docs/own-problem.md.

    Class attributes
    ----------------
    encoding : Encoding
        What a solution is.
    sense : MAXIMISE or MINIMISE, or a tuple of them
        One for each objective. Objectives are the first measures.
    scale : int
        Measures count in units of 1/scale; results are divided by it. Keeps fractions exact as integers.
    """

    encoding: ClassVar[Encoding]
    sense: ClassVar[int | tuple[int, ...]] = MAXIMISE
    scale: ClassVar[int] = 1
    _records: ClassVar[tuple[Any, Any]]  # of instances without tallies of their own, and of those with
    _fields: ClassVar[tuple[str, ...]]

    def __init_subclass__(cls, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        dataclasses.dataclass(frozen=True, eq=False, repr=False)(cls)
        if "evaluate" not in dir(cls) or not hasattr(cls, "encoding"):
            raise InputError(f"a problem needs `encoding` and `evaluate`, but {cls.__name__} lacks one; add it")
        cls._fields = tuple(f.name for f in dataclasses.fields(cls))  # type: ignore[arg-type]

    @classmethod
    def bind(cls) -> None:
        """Tell the verbs what this class's methods do now: edits of what they call make a new record type."""
        bodies: dict[str, Any] = {v: getattr(cls, v) for v in _VERBS if hasattr(cls, v)}
        if isinstance(cls.sense, int) or len(cls.sense) == 1:
            bodies.setdefault("fitness", _fitness_up if cls.sense in (MAXIMISE, (MAXIMISE,)) else _fitness_down)
        bodies.setdefault("violation", _no_violation)
        bodies.setdefault("better", _strictly_better)
        bodies.setdefault("prefers", _indifferent)
        bodies = {**PLAIN_BODIES, **bodies}
        digest, helpers = digest_of_functions({k: b for k, b in bodies.items() if isinstance(b, FunctionType)})
        admit_helpers(helpers)
        stem, fields = f"{cls.__name__}_{digest}", cls._kernel_fields() or [_NOTHING]
        cls._records = record_type(stem, fields), record_type(f"{stem}_tallied", fields)
        for record in cls._records:
            for name, body in bodies.items():
                give_body(name, record, body)

    @classmethod
    def _kernel_fields(cls) -> list[str]:
        """Fields that kernels see: all but those annotated as text."""
        return [f.name for f in dataclasses.fields(cls) if f.type not in (str, "str")]  # type: ignore[arg-type]

    def __post_init__(self) -> None:
        self.bind()
        for field in self._kernel_fields():
            if hasattr(self, field):
                object.__setattr__(self, field, plain(getattr(self, field), f"{type(self).__name__}.{field}"))
        for entry in dataclasses.fields(self):  # type: ignore[arg-type]
            value = getattr(self, entry.name, None)
            if entry.type in ("Array", "np.ndarray", np.ndarray) and isinstance(value, (int, float)):
                raise InputError(f"{type(self).__name__}.{entry.name} must be an array, but got the number {value}")
        self.check()

    def check(self) -> None:
        """Raise InputError when the data break a rule; override it. Derived fields are set here with `derive`."""

    def derive(self, **values: Any) -> None:
        """Set fields declared with `init=False`."""
        for name, value in values.items():
            object.__setattr__(self, name, plain(value, name))

    @property
    def senses(self) -> tuple[int, ...]:
        """The sense of each objective."""
        return self.sense if isinstance(self.sense, tuple) else (self.sense,)

    @property
    def record_type(self) -> Any:
        """The type of its record. Engines give it bodies by what the problem offers; so what one instance offers and
        another may not is part of its name."""
        return self._records[self.tallies() is not None]

    @property
    def record(self) -> Any:
        """The data as kernels see them."""
        made = self.record_type
        return made(*(getattr(self, f, 0) for f in made._fields))

    @property
    def space(self) -> Any:
        """The space of solutions as kernels see it."""
        return self.encoding.space(self)

    def marks(self) -> Marks:
        """What is kept of each solution; overridden with `mark`, `cross` and `remark`."""
        return Marks(0, np.int32, 1)

    def tallies(self) -> Tallies | None:
        """What `flip`, `reassign` or `swap` keep of a solution; overridden with `count` and `weigh`. By default its
        measures."""
        return None

    def tables(self) -> Tables | None:
        """What `exchange` keeps of a solution that is searched around; overridden with `tabulate`."""
        return None

    def guidance(self) -> Guidance | None:
        """What `refine` goes by and works with; overridden with it. None if this instance cannot be refined."""
        return None

    def outlooks(self) -> Outlooks | None:
        """What `look` keeps of a solution; overridden with it."""
        return None

    def scratch(self) -> int:
        """With `polish`: how many integers it needs to work with."""
        return 0

    def warmth(self) -> float:
        """A small loss of fitness, as iterated greedy counts them; overridden with `find_place`."""
        return 1.0

    def ranking(self) -> Array:
        """With `repair`: all decisions, the most useful first."""
        return np.arange(self.space.n, dtype=np.int32)

    def chances(self) -> Array:
        """With `repair`: how likely each decision is to be taken in a good solution."""
        return np.full(self.space.n, 0.5)

    def bound(self) -> float | None:
        """A value that no feasible solution can beat, in the problem's own sense and units, if one is known."""
        return None

    def offers(self, verb_name: str) -> bool:
        """Whether the problem has a body for an optional verb."""
        return has_body(verb_name, self._records[0])

    def digest(self) -> str:
        """Digest of the data and the code: two problems with the same digest are the same problem."""
        data = [getattr(self, f) for f in self._fields]
        return digest_of_data(self._records[0].__name__, repr(self.encoding), self.senses, self.scale, data)

    def describe(self) -> str:
        """One line for people."""
        return f"{type(self).__name__}, {self.space.n} decisions"
