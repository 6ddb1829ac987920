"""What a PTX module consists of, as `parse` finds it."""

from __future__ import annotations

from dataclasses import dataclass, field

from ptx.errors import Unsupported
from ptx.scalars import SCALARS, Scalar


def align_up(offset: int, align: int) -> int:
    return -(-offset // align) * align


@dataclass(frozen=True)
class Variable:
    """Memory with a name: global, constant, shared, local, or a parameter."""

    line: int
    space: str
    name: str
    scalar: Scalar
    count: int  # 0: as many as the launch gives (dynamic shared memory)
    align: int
    initial: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        return self.scalar.size * self.count


@dataclass(frozen=True)
class Registers:
    """A declaration of registers."""

    line: int
    scalar: Scalar
    names: tuple[str, ...]


@dataclass(frozen=True)
class Label:
    """A place to jump to; the table of an indexed branch, if it is one."""

    line: int
    name: str
    targets: tuple[str, ...] = ()


@dataclass(frozen=True)
class Brace:
    """Begin or end of a scope of names."""

    line: int
    text: str


@dataclass(frozen=True)
class Instruction:
    """`@guard opcode.modifiers operands;`"""

    line: int
    text: str
    guard: str  # "", "%p1" or "!%p1"
    opcode: str
    modifiers: tuple[str, ...]
    operands: tuple[str, ...]

    @property
    def scalar(self) -> Scalar:
        """The type that the instruction works on: by custom the last modifier."""
        return self.scalar_at(-1)

    def scalar_at(self, index: int) -> Scalar:
        name = self.modifiers[index] if len(self.modifiers) >= abs(index) else ""
        if name not in SCALARS:
            raise self.unsupported(f"type {name!r}")
        return SCALARS[name]

    def has(self, modifier: str) -> bool:
        return modifier in self.modifiers

    def one_of(self, *choices: str, default: str | None = None) -> str:
        """The one modifier among several that exclude each other."""
        found = [m for m in self.modifiers if m in choices]
        if len(found) == 1:
            return found[0]
        if found or default is None:
            raise self.unsupported(f"one of {', '.join(choices)} expected")
        return default

    def unsupported(self, why: str) -> Unsupported:
        return Unsupported(f"{why}: {self.text}", self.line)


Statement = Variable | Registers | Label | Brace | Instruction


@dataclass(frozen=True)
class Function:
    """A kernel (`.entry`) or a function; without a body if it is only declared."""

    line: int
    name: str
    is_entry: bool
    results: tuple[Variable, ...]
    parameters: tuple[Variable, ...]
    body: tuple[Statement, ...] | None

    def offsets(self) -> tuple[int, ...]:
        """Where each parameter of a kernel lies in the bytes that a launch hands over."""
        found, end = [], 0
        for variable in self.parameters:
            found.append(align_up(end, variable.align))
            end = found[-1] + variable.size
        return tuple(found)


@dataclass
class Program:
    """A module."""

    variables: list[Variable] = field(default_factory=list)
    functions: dict[str, Function] = field(default_factory=dict)
