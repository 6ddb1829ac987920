"""How instructions become C: each family of instructions is a table from opcodes to rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ptx.program import Instruction
from ptx.scalars import SCALARS, Scalar
from ptx.scope import Scope, as_bits


@dataclass(frozen=True)
class Site:
    """An instruction and the scope in which it stands: all that a rule needs."""

    instruction: Instruction
    scope: Scope

    @property
    def scalar(self) -> Scalar:
        return self.instruction.scalar

    @property
    def operands(self) -> tuple[str, ...]:
        return self.instruction.operands

    def has(self, modifier: str) -> bool:
        return self.instruction.has(modifier)

    def read(self, index: int, scalar: Scalar | None = None) -> str:
        """The value of an operand, as the instruction's type if no other is given."""
        if index >= len(self.operands):
            raise self.instruction.unsupported("too few operands")
        return self.scope.read(self.operands[index], scalar or self.scalar)

    def read_bits(self, index: int, scalar: Scalar | None = None) -> str:
        """The bits of an operand, as a word."""
        return as_bits(self.read(index, scalar), scalar or self.scalar)

    def write(self, expression: str, scalar: Scalar | None = None) -> str:
        """Put a value into the first operand."""
        return self.scope.write(self.operands[0], scalar or self.scalar, expression)


Writer = Callable[[Site], str]


@dataclass(frozen=True)
class Rule:
    """C statements for an instruction, and the modifiers besides types that they take into account."""

    write: Writer
    modifiers: frozenset[str]

    def apply(self, instruction: Instruction, scope: Scope) -> str:
        """An unknown modifier is refused: to leave it out could give another result."""
        for modifier in instruction.modifiers:
            if modifier not in self.modifiers and modifier not in SCALARS:
                raise instruction.unsupported(f"unknown modifier .{modifier}")
        try:
            return self.write(Site(instruction, scope))
        except LookupError as error:
            raise instruction.unsupported(str(error)) from None


def of_two(template: str) -> Writer:
    """An expression of the first two operands, {a} and {b}."""
    return lambda site: site.write(template.format(a=site.read(1), b=site.read(2)))


def rule(write: Writer, modifiers: str = "") -> Rule:
    return Rule(write, frozenset(modifiers.split()))
